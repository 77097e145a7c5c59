// SPDX-License-Identifier: MIT

package benchmarks

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/core/params"
	"github.com/gapwise/gapwise/internal/test/require"
)

type object = map[string]any

// planSchema makes the schema of plans from the decoder's keys.
func planSchema() object {
	text, whole := object{"type": "string", "minLength": 1}, func(least int) object { return object{"type": "integer", "minimum": least} }
	describe := func(o object, what string) object {
		described := object{"description": what}
		for k, v := range o {
			described[k] = v
		}
		return described
	}
	values := func(texts bool, what string) object { // one or several, see $defs
		if texts {
			return object{"$ref": "#/$defs/texts", "description": what}
		}
		return object{"$ref": "#/$defs/numbers", "description": what}
	}
	oneOrMore := func(of string) object {
		return object{"anyOf": []any{object{"type": of}, object{"type": "array", "items": object{"type": of}, "minItems": 1}}}
	}
	var generators, files []any
	for _, p := range gapwise.Problems() {
		keys := object{"kind": object{"const": p.Kind}, "count": describe(whole(1), "draws of each combination"), "seed": describe(whole(0), "of the draws"),
			"source": describe(text, "where to get the file that a parameter names")}
		required := []string{"kind"}
		log := false
		for _, x := range p.Generator.Parameters() {
			keys[x.Key] = values(x.Text, x.Usage)
			if x.Required {
				required = append(required, x.Key)
			}
			log = log || x.Key == "log"
		}
		generators = append(generators, object{"type": "object", "required": required, "additionalProperties": false, "properties": keys})
		if !log {
			continue
		}
		ofLog := object{"path": describe(text, "an SWF log, or a folder of logs")}
		for k, v := range keys {
			if k != "log" {
				ofLog[k] = v
			}
		}
		files = append(files, object{"type": "object", "required": append([]string{"path", "kind"}, required[1:]...), "additionalProperties": false, "properties": ofLog})
	}
	file := object{"path": describe(text, "a file, or a folder of files"), "platform": describe(text, "what task graphs without machines run on"),
		"dot": describe(text, "attributes of DOT graphs with work and data"), "files": object{"enum": []string{"kept", "each"}, "description": "whether machines keep files"},
		"network": object{"enum": []string{"lv08"}, "description": "the network model of task graphs"}, "work_unit": describe(text, "of a task graph's works")}
	for key, values := range readings() {
		file[key] = object{"enum": values, "description": "how instances are read"}
	}
	files = append([]any{text, object{"type": "object", "required": []string{"path"}, "additionalProperties": false, "properties": file}}, files...)
	time := func(what string) object {
		return object{"type": "string", "pattern": `^[0-9.]+(ns|us|µs|ms|s|m|h)([0-9.]+(ns|us|µs|ms|s|m|h))*$`, "description": what}
	}
	algorithm := object{
		"name": describe(text, "as gapwise algorithms lists it, auto, exact, all or cmd:COMMAND"), "label": describe(text, "its name in tables"),
		"engine": describe(text, "of exact"), "formulation": describe(text, "of an engine that solves linear models: highs, glpsol, cbc, scip, gurobi_cl, mps:COMMAND"),
		"time_limit": time("of a run, like 10s, 500ms or 5m"), "answer_limit": time("of each answer of an online policy that is another program"),
		"effort":  describe(whole(1), "most work that a run counts, in about microseconds of a core: the same place on every machine"),
		"gap":     object{"type": "number", "minimum": 0, "exclusiveMaximum": 1, "description": "that counts as optimal"},
		"threads": describe(whole(0), "of a run"), "sample": describe(whole(0), "4: every fourth draw alone"),
		"only": object{"type": "object", "propertyNames": object{"enum": runs.Params()}, "additionalProperties": values(false, "of the parameter"), "description": "values that instances must have"},
	}
	for _, p := range gapwise.Problems() {
		if p.Parameters != nil {
			for _, x := range params.Of(p.Parameters()) {
				algorithm[x.Key] = describe(object{"type": []string{"string", "number"}}, fmt.Sprintf("of %s: %s", p.Kind, x.Usage))
			}
		}
	}
	list := func(of any, least int, what string) object {
		return object{"type": "array", "items": of, "minItems": least, "description": what}
	}
	return object{"$schema": "https://json-schema.org/draft/2020-12/schema",
		"$id": "https://raw.githubusercontent.com/gapwise/gapwise/main/docs/reference/schema/plan.json", "title": "gapwise plan",
		"description": "An experiment of gapwise bench: every algorithm solves every instance of its problem with every seed (docs/reference/plans.md).",
		"type":        "object", "additionalProperties": false, "required": []string{"name", "algorithms"},
		"$defs": object{"numbers": oneOrMore("number"), "texts": oneOrMore("string")},
		"anyOf": []any{object{"required": []string{"generators"}}, object{"required": []string{"files"}}},
		"properties": object{
			"name": object{"type": "string", "pattern": `^[^/\\\n]+$`, "description": "a word"}, "description": object{"type": "string"},
			"generators": list(object{"oneOf": generators}, 0, "what to draw"),
			"files":      list(object{"anyOf": files}, 0, "instances, foreign graphs, logs and folders of them"),
			"algorithms": list(object{"anyOf": []any{text, object{"type": "object", "required": []string{"name"}, "additionalProperties": false, "properties": algorithm}}}, 1, "what to run"),
			"seeds":      list(whole(0), 0, "of the algorithms; [1] if there are none"),
		}}
}

// golden compares a file with the wanted text, or writes it under -update.
func golden(t *testing.T, file string, want []byte) {
	t.Helper()
	if *update {
		require.OK(t, os.WriteFile(file, want, 0o644))
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s isn't as the code has it (error %v); go test ./benchmarks -run 'TestPlanSchema|TestPlansPage' -update writes it", file, err)
	}
}

// The schema's file matches the decoder. It takes the built-in plans and the page's, and refuses shapes that the
// decoder refuses.
func TestPlanSchema(t *testing.T) {
	data := require.Value(json.MarshalIndent(planSchema(), "", "  "))(t)
	golden(t, "../docs/reference/schema/plan.json", append(data, '\n'))
	schema := require.Value(jsonschema.NewCompiler().Compile("../docs/reference/schema/plan.json"))(t)
	check := func(text string) error {
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			return err
		}
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if v, err = jsonschema.UnmarshalJSON(bytes.NewReader(data)); err != nil {
			return err
		}
		return schema.Validate(v)
	}
	plans := map[string]string{"tiny": tiny, "json": `{"name": "files", "files": ["set", {"path": "b", "goal": "accepted"}], "algorithms": ["gr"]}`,
		"log": "name: l\nfiles: [{path: a.swf, kind: reservation, requests: [5, 6], goal: pe_seconds}]\nalgorithms: [{name: network-aware, rounds: 4, gap: 0.1}]\n"}
	for _, name := range Names() {
		plans[name] = string(require.Value(Source(name))(t))
	}
	for k, text := range pagePlans(t) {
		plans[fmt.Sprintf("page %d", k+1)] = text
	}
	for name, text := range plans {
		if err := check(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := decodePlan([]byte(text)); err != nil && name != "log" {
			t.Errorf("%s: %v", name, err)
		}
	}
	const start = "name: x\ngenerators: [{kind: vcsched, hosts: [2], jobs: [4], count: 1}]\n"
	for _, text := range []string{"", "[1]", "name: x\nalgorithms: [gr]\n", start, start + "algorithms: []\n", start + "algorithms: gr\n", start + "algorithms: [gr]\ncolour: red\n",
		start + "algorithms: [{name: gr, time-limit: 1s}]\n", start + "algorithms: [{name: gr, time_limit: 5}]\n", start + "algorithms: [{label: gr}]\n",
		start + "algorithms: [{name: gr, only: {job: [4]}}]\n", start + "algorithms: [{name: gr, threads: -1}]\n", start + "algorithms: [gr]\nseeds: 3\n", start + "algorithms: [gr]\nseeds: [-3]\n",
		strings.Replace(start, "hosts", "hots", 1) + "algorithms: [gr]\n", strings.Replace(start, "vcsched", "knapsack", 1) + "algorithms: [gr]\n", strings.Replace(start, "count: 1", "count: 0", 1) + "algorithms: [gr]\n",
		strings.Replace(start, "jobs: [4], ", "", 1) + "algorithms: [gr]\n", strings.Replace(start, "[2]", "[[2]]", 1) + "algorithms: [gr]\n", strings.Replace(start, "[2]", "{a: 2}", 1) + "algorithms: [gr]\n",
		"name: a/b\nfiles: [x]\nalgorithms: [gr]\n", "name: x\nfiles: [{platform: star}]\nalgorithms: [heft]\n", "name: x\nfiles: [{path: a, goal: most}]\nalgorithms: [ff]\n",
		"name: x\nfiles: [{path: a, kind: dag, tasks: 3}]\nalgorithms: [heft]\n", "name: x\nfiles: [{path: a, kind: batch, jobs: 3, log: b}]\nalgorithms: [easy]\n", "name: x\nfiles: [{path: a, kind: reservation}]\nalgorithms: [ff]\n",
	} {
		if _, err := decodePlan([]byte(text)); err == nil {
			t.Errorf("the decoder takes %q", text)
		}
		if check(text) == nil {
			t.Errorf("the schema takes %q", text)
		}
	}
}

// pagePlans returns the plans of the page about plans.
func pagePlans(t *testing.T) []string {
	t.Helper()
	page := require.Value(os.ReadFile("../docs/reference/plans.md"))(t)
	var all []string
	for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		all = append(all, m[1])
	}
	return all
}

// The plans of the page run, one for each problem among them; its keys are all that
// there are, and its parameters those that are computed.
var update = flag.Bool("update", false, "write the golden files anew")

func TestPlansPage(t *testing.T) {
	t.Parallel()
	page := require.Value(os.ReadFile("../docs/reference/plans.md"))(t)
	var list strings.Builder
	for _, p := range gapwise.Problems() {
		fmt.Fprintf(&list, "\n| %s | unit | meaning |\n|---|---|---|\n", p.Kind)
		for _, x := range runs.ParamsOf(p) {
			if x.Computed {
				fmt.Fprintf(&list, "| `%s` | %s | %s |\n", x.Key, x.Unit, x.Help)
			}
		}
	}
	section := regexp.MustCompile(`(?s)(<!-- parameters: [^\n]*-->\n).*(<!-- end of parameters -->)`)
	golden(t, "../docs/reference/plans.md", section.ReplaceAll(page, []byte("${1}"+strings.ReplaceAll(list.String(), "$", "$$")+"\n${2}")))
	for _, keys := range [][]key{(&Plan{}).keys(nil), (&Algorithm{}).keys(), (&File{}).keys(), (&planGenerator{}).keys()} {
		for _, key := range keyNames(keys) {
			if !bytes.Contains(page, []byte("`"+key+"`")) {
				t.Errorf("the page doesn't name the key %s", key)
			}
		}
	}
	dir := t.TempDir()
	for _, from := range []string{"../docs/examples", "../docs/files"} {
		require.OK(t, os.CopyFS(dir, os.DirFS(from)))
	}
	kinds := map[string]bool{}
	for k, text := range pagePlans(t) {
		file := filepath.Join(dir, fmt.Sprintf("page%d.yaml", k))
		write(t, file, text)
		p, err := LoadPlan(file)
		if err != nil {
			t.Errorf("plan %d: %v", k+1, err)
			continue
		}
		records := runPlan(t, p, RunOptions{Results: filepath.Join(dir, p.Name+".jsonl"), Workers: 2})
		solved := 0
		for _, r := range records {
			kinds[string(r.Kind)] = true
			if r.Verified {
				solved++
			}
		}
		if solved < len(records)/2 || len(records) < 4 {
			t.Errorf("plan %s: %d runs, %d with a solution", p.Name, len(records), solved)
		}
	}
	require.Same(t, fmt.Sprintf("kinds of plans on the page, %v,", kinds), len(gapwise.Problems()), len(kinds))
}
