// SPDX-License-Identifier: MIT

package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
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
	for _, path := range []string{"generate", "draw", "kubernetes/plan"} {
		if status, _, _ := send(t, "POST", url+"/v1/"+path, body()); status != http.StatusNotFound {
			t.Errorf("%s: without a maker the status is %d", path, status)
		}
	}
}

// A picture is of a solution that the judge accepts, in the format that the options or the header Accept ask for, and isn't
// longer than other answers.
func TestDraw(t *testing.T) {
	t.Parallel()
	c := usual()
	c.Draw = func(_ context.Context, w io.Writer, in model.Instance, r model.Result, format string, pixels int64, options map[string]string) error {
		if options["width"] == "0" {
			return fmt.Errorf("%w options: width", model.ErrInvalid)
		}
		_, err := fmt.Fprintf(w, "%s of %s by %s in %v, %d", format, in.ID(), r.Algorithm, options, pixels)
		if err == nil && options["long"] != "" {
			_, err = w.Write(make([]byte, 4<<20))
		}
		return err
	}
	_, url := started(t, c)
	in := example(t, "six-tasks")
	solved := json.RawMessage(answers(t, 200, "POST", url+"/v1/solve", body("instance", in)))
	whole := body("instance", in, "solution", solved)
	const svg, png, pdf = "image/svg+xml", "image/png", "application/pdf"
	for name, x := range map[string]struct {
		query, accept string
		body          []byte
		status        int
		kind, want    string
	}{
		"anything":    {"", "*/*", whole, 200, svg, "svg of six-tasks by auto in map[], 1048576"},
		"a browser's": {"", "text/html,image/svg+xml,image/*,*/*;q=0.8", whole, 200, svg, "svg of"},
		"by Accept":   {"?dark=true&no_links=true", "image/png,*/*;q=0.8", whole, 200, png, "png of six-tasks by auto in map[dark:true no-links:true]"},
		"preferred":   {"", "image/png;q=0.5, application/pdf", whole, 200, pdf, "pdf of"},
		"equal":       {"", "image/png, image/svg+xml", whole, 200, svg, "svg of"},
		"by name":     {"?format=pdf", png, whole, 200, pdf, "pdf of"},
		"no format":   {"?format=gif", png, whole, 400, "application/json", "give svg, png or pdf"},
		"of another":  {"", "", body("instance", in, "solution", map[string]any{"kind": "batch"}), 400, "application/json", "solution"},
		"none":        {"", "", body("instance", in), 400, "application/json", "the key solution is missing"},
		"too long":    {"?long=1", "", whole, 422, "application/json", "the answer has more than"},
		"a flag":      {"?width=0", "", whole, 400, "application/json", "gapwise gantt --help"},
		"refused":     {"", "", body("instance", in, "solution", json.RawMessage(strings.Replace(string(solved), `"bound":23`, `"bound":22`, 1))), 422, "application/json", "the judge refuses the solution"},
	} {
		status, text, header := send(t, "POST", url+"/v1/draw"+x.query, x.body, "Accept", x.accept)
		if status != x.status || !strings.Contains(string(text), x.want) || header.Get("Content-Type") != x.kind {
			t.Errorf("%s: %d %s %.300s, want %d %s with %s", name, status, header.Get("Content-Type"), text, x.status, x.kind, x.want)
		}
	}
}

// A cluster comes as a list or as several, and the answer is the plan as JSON; what has none is no defect.
func TestPlan(t *testing.T) {
	t.Parallel()
	c := usual()
	c.Plan = func(ctx context.Context, found *kubernetes.Cluster, files, options map[string]string) (*kubernetes.Plan, error) {
		in, err := kubernetes.Convert(found, kubernetes.Options{Prices: kubernetes.PriceByVCPU})
		if err != nil {
			return nil, err
		}
		switch options["want"] + files["wish"] {
		case "proof":
			return nil, fmt.Errorf("%w: no plan has 1 node", kubernetes.ErrNone)
		case "time":
			return nil, fmt.Errorf("%w: it was short", model.ErrNoSolution)
		}
		return kubernetes.MakePlan(ctx, in, gapwise.Options{Settings: model.Settings{Seed: 1, Effort: 500_000}})
	}
	_, url := started(t, c)
	cluster := example(t, "cluster")
	var list struct{ Items []json.RawMessage }
	require.OK(t, json.Unmarshal(cluster, &list))
	of := func(items []json.RawMessage) any { return map[string]any{"kind": "List", "items": items} }
	whole := answers(t, 200, "POST", url+"/v1/kubernetes/plan", body("cluster", cluster), `"cost_status":"optimal"`)
	valid(t, "Plan", whole)
	parts := answers(t, 200, "POST", url+"/v1/kubernetes/plan", body("cluster", []any{of(list.Items[:2]), of(list.Items[2:])}))
	require.Same(t, "the plan of two lists", string(whole), string(parts))
	answers(t, 422, "POST", url+"/v1/kubernetes/plan?want=proof", body("cluster", cluster), "no plan has 1 node", "ask for less")
	answers(t, 422, "POST", url+"/v1/kubernetes/plan", body("cluster", cluster, "files", map[string]string{"wish": "time"}), "it was short", "give it more time")
	answers(t, 400, "POST", url+"/v1/kubernetes/plan", body("cluster", of(nil)), `"where":"cluster"`, "nodes and pods are needed")
	answers(t, 400, "POST", url+"/v1/kubernetes/plan", body(), `"where":"cluster"`)
	answers(t, 400, "POST", url+"/v1/kubernetes/plan", body("cluster", cluster, "context", "prod"), "unknown object member name")
}
