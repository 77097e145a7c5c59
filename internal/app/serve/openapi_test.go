// SPDX-License-Identifier: MIT

package serve

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gapwise/gapwise/internal/test/require"
)

var update = flag.Bool("update", false, "write docs/reference/openapi.json anew")

const described = "../../../docs/reference/openapi.json"

// compiled returns a schema of the description.
var compiled = sync.OnceValue(func() func(name string) (*jsonschema.Schema, error) {
	var mu sync.Mutex
	c := jsonschema.NewCompiler()
	text, err := Describe()
	if err != nil {
		panic(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		panic(err)
	}
	// Clients may get further keys in a later version; the answers of this one have no others.
	for name, one := range doc.(map[string]any)["components"].(map[string]any)["schemas"].(map[string]any) {
		if s := one.(map[string]any); s["additionalProperties"] == nil && strings.ToLower(name) != name { // those of files are in small letters
			s["additionalProperties"] = false
		}
	}
	if err := c.AddResource("https://gapwise/openapi.json", doc); err != nil {
		panic(err)
	}
	return func(name string) (*jsonschema.Schema, error) {
		mu.Lock()
		defer mu.Unlock()
		return c.Compile("https://gapwise/openapi.json#/components/schemas/" + name)
	}
})

// valid holds an answer against the schema of the description.
func valid(t *testing.T, name string, text []byte) {
	t.Helper()
	s := require.Value(compiled()(name))(t)
	x, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = s.Validate(x)
	}
	if err != nil {
		t.Errorf("it isn't what the description says of %s: %v\n%s", name, err, text)
	}
}

// The description in docs equals the one that the types make, and the one that is served; each schema compiles. It
// refers to nothing outside of itself.
func TestDescription(t *testing.T) {
	t.Parallel()
	text := require.Value(Describe())(t)
	if *update {
		require.OK(t, os.WriteFile(described, text, 0o644))
	}
	if kept, err := os.ReadFile(described); err != nil || !bytes.Equal(kept, text) {
		t.Errorf("%s isn't what the types say (error %v); go test ./internal/app/serve -run TestDescription -update writes it", described, err)
	}
	_, url := started(t, usual())
	_, served, _ := send(t, "GET", url+"/v1/openapi.json", nil)
	var a, b any
	if json.Unmarshal(served, &a) != nil || json.Unmarshal(text, &b) != nil {
		t.Fatal("it isn't JSON")
	}
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	if !bytes.Equal(x, y) {
		t.Error("what is served is another description")
	}
	var doc struct {
		OpenAPI    string
		Paths      map[string]map[string]json.RawMessage
		Components struct {
			Schemas map[string]json.RawMessage
		}
	}
	require.OK(t, json.Unmarshal(text, &doc))
	if doc.OpenAPI != "3.1.0" || len(doc.Components.Schemas) < 12 {
		t.Errorf("version %s, %d schemas", doc.OpenAPI, len(doc.Components.Schemas))
	}
	for name := range doc.Components.Schemas {
		if _, err := compiled()(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, ref := range regexp.MustCompile(`"\$(ref|id)": "[^#][^"]*`).FindAllString(string(text), -1) {
		t.Errorf("%s is outside of the description", ref)
	}
	_, listed, _ := send(t, "GET", url+"/v1/algorithms", nil)
	valid(t, "AlgorithmsAnswer", listed)
	if !bytes.Contains(listed, []byte(`"name":"easy-sjbf"`)) {
		t.Errorf("%s", listed)
	}
	for name, want := range map[string][]string{
		"postJob":  {`"202":{"content":`, `"headers":{"Location":`, `"429":`, `"headers":{"Retry-After":`, `"401":`},
		"generate": {`"explode":true`, `"name":"options"`, `"404":`},
		"getJob":   {`"404":`},
	} {
		found := false
		for _, methods := range doc.Paths {
			for _, operation := range methods {
				var small bytes.Buffer
				require.OK(t, json.Compact(&small, operation))
				if strings.Contains(small.String(), `"operationId":"`+name+`"`) {
					found = true
					require.Says(t, name, small.String(), want...)
				}
			}
		}
		require.Is(t, found, true, name)
	}
	routes, ids := 0, map[string]bool{}
	for path, methods := range doc.Paths {
		routes += len(methods)
		for method, text := range methods {
			var operation struct{ OperationID string }
			require.OK(t, json.Unmarshal(text, &operation))
			if id := operation.OperationID; ids[id] || !regexp.MustCompile("^[a-zA-Z]+$").MatchString(id) {
				t.Errorf("%s %s: operationId is %q, must be a word of its own", method, path, id)
			} else {
				ids[id] = true
			}
		}
	}
	if want := len((&Server{}).routes()); routes != want {
		t.Errorf("%d routes are described of %d", routes, want)
	}
	// Requests of the tests match the description, and requests with other keys don't.
	for name, q := range map[string][]byte{
		"SolveRequest":    body("instance", example(t, "six-tasks"), "options", map[string]any{"time_limit_s": 0.5, "seed": 1}),
		"VerifyRequest":   body("instance", example(t, "ten-jobs"), "solution", map[string]any{"hosts": []int{1}}),
		"BoundRequest":    body("instance", example(t, "three-jobs")),
		"ExplainRequest":  body("instance", example(t, "eight-requests")),
		"CheckRequest":    body("instance", example(t, "six-tasks"), "proof", "x"),
		"GenerateRequest": body("options", map[string]any{"kind": "dag", "tasks": 4, "strict": true}),
		"DrawRequest":     body("instance", example(t, "ten-jobs"), "solution", map[string]any{"hosts": []int{1}}, "options", map[string]any{"format": "png", "dpi": 72}),
		"PlanRequest":     body("cluster", example(t, "cluster"), "files", map[string]string{"prices.csv": "a,1"}, "options", map[string]any{"max_nodes": 3}),
		"ConvertRequest":  body("text", "digraph {a}", "name", "a.dot", "options", map[string]any{"platform": "uniform"}),
	} {
		valid(t, name, q)
		s := require.Value(compiled()(name))(t)
		other, _ := jsonschema.UnmarshalJSON(io.MultiReader(strings.NewReader(`{"file":"x",`), bytes.NewReader(q[1:])))
		if s.Validate(other) == nil {
			t.Errorf("%s takes a key file", name)
		}
	}
}
