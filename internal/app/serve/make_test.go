// SPDX-License-Identifier: MIT

package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// Options come by the body and by the query, and what is made is weighed as instances that are sent are.
func TestMake(t *testing.T) {
	t.Parallel()
	var in model.Instance
	require.OK(t, func() (err error) { in, err = model.DecodeInstance(example(t, "six-tasks")); return err }())
	c := usual()
	c.Generate = func(options map[string]string, most int64) (model.Instance, error) {
		if options["tasks"] == "many" {
			return &model.Batch{Name: "large", Processors: int(most)}, nil
		}
		if options["tasks"] == "none" {
			return nil, fmt.Errorf("%w options: none", model.ErrInvalid)
		}
		return &model.VCSched{Name: fmt.Sprint(options), Hosts: 1, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 1, CPU: 1}}}, nil
	}
	c.Convert = func(name string, data []byte, options map[string]string) (model.Instance, error) {
		if name != "a.dot" || string(data) != "digraph {a}" || options["strict"] != "true" || len(options) != 1 {
			return nil, fmt.Errorf("%s %s %v", name, data, options)
		}
		return in, nil
	}
	_, url := started(t, c)
	for name, x := range map[string]struct {
		path   string
		body   []byte
		status int
		want   string
	}{
		"body":       {"/v1/generate", body("options", map[string]any{"max_tasks": 4, "kind": "dag", "strict": true}), 200, `"name":"map[kind:dag max-tasks:4 strict:true]"`},
		"query":      {"/v1/generate?seed=3&max_tasks=4", body(), 200, `"name":"map[max-tasks:4 seed:3]"`},
		"both":       {"/v1/generate?seed=3", body("options", map[string]any{"seed": "3"}), 400, "the option seed is there twice"},
		"a list":     {"/v1/generate", body("options", map[string]any{"seed": []int{3}}), 400, "options"},
		"too heavy":  {"/v1/generate?tasks=many", body(), 413, "with --body 65 or more"},
		"invalid":    {"/v1/generate?tasks=none", body(), 400, "gapwise generate --help lists the options"},
		"a file":     {"/v1/convert?strict=true", body("text", "digraph {a}", "name", "a.dot"), 200, `"name":"six-tasks"`},
		"no text":    {"/v1/convert", body("name", "a.dot"), 400, "the key text is missing"},
		"a folder":   {"/v1/convert", body("text", "x", "name", "../a.dot"), 400, "without folders"},
		"other keys": {"/v1/convert", body("text", "x", "file", "x"), 400, "no such request"},
	} {
		status, text, _ := send(t, "POST", url+x.path, x.body)
		if status != x.status || !strings.Contains(string(text), x.want) {
			t.Errorf("%s: %d %s, want %d with %s", name, status, text, x.status, x.want)
		}
		if status == http.StatusOK {
			valid(t, "Made", text)
			var made struct{ Instance json.RawMessage }
			require.OK(t, json.Unmarshal(text, &made))
			if _, err := model.DecodeInstance(made.Instance); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		} else {
			valid(t, "Failure", text)
		}
	}
	_, url = started(t, usual())
	if status, _, _ := send(t, "POST", url+"/v1/generate", body()); status != http.StatusNotFound {
		t.Errorf("without a maker the status is %d", status)
	}
}
