// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// A part is put between its markers, or at the end, and what stands around it
// stays as it is.
func TestReplace(t *testing.T) {
	for name, c := range map[string]struct{ before, want string }{
		"new": {"# Title\n", "# Title\n<!-- part: a -->\n<!-- code c0ffee of dag, Go -->\n\nnew\n<!-- end: a -->\n"},
		"again": {"x\n<!-- part: b -->\nb\n<!-- end: b -->\n<!-- part: a -->\nold\n<!-- end: a -->\ny\n",
			"x\n<!-- part: b -->\nb\n<!-- end: b -->\n<!-- part: a -->\n<!-- code c0ffee of dag, Go -->\n\nnew\n<!-- end: a -->\ny\n"},
	} {
		t.Run(name, func(t *testing.T) {
			file := t.TempDir() + "/d.md"
			check(os.WriteFile(file, []byte(c.before), 0o666))
			for range 2 { // once more changes nothing
				replace(file, "a", "code c0ffee of dag, Go", "new")
				got, err := os.ReadFile(file)
				if err != nil || string(got) != c.want {
					t.Fatalf("%q, %v, want %q", got, err, c.want)
				}
			}
		})
	}
	file := t.TempDir() + "/d.md"
	check(os.WriteFile(file, []byte("<!-- part: a -->\nold\n"), 0o666))
	fails(t, "without the end's marker", "<!-- end: a --> is missing", func() { replace(file, "a", "code c0ffee of dag, Go", "new") })
}

// Each part of the documents has a template, and the other way round but for
// parts that haven't run yet.
func TestTemplatesAndDocuments(t *testing.T) {
	t.Chdir("../..")
	documents := parse(&runner{})
	for document, parts := range documents {
		text := must(os.ReadFile(document))
		var names []string
		for _, p := range parts {
			names = append(names, p.Name())
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "<!-- run at ") && strings.Contains(line, "+dirty") {
				t.Errorf("%s: a part was run with changes that weren't committed: %s", document, line)
			}
			if name, ok := strings.CutPrefix(line, "<!-- part: "); ok {
				if name = strings.TrimSuffix(name, " -->\n"); !slices.Contains(names, name) {
					t.Errorf("%s: the part %s has no template among %v", document, name, names)
				}
			}
		}
	}
}

// Each instance of a plan's specifications belongs to one set of its figure.
func TestTVCSets(t *testing.T) {
	t.Chdir("../..")
	logs := tvcLogs()
	for figure := 4; figure <= 6; figure++ {
		all, found := sets("tvc logs", "results"), map[string]int{}
		if figure == 4 {
			all = sets("tvc figure 4", "results")
		}
		for _, fabric := range model.Fabrics {
			for k := range 2 {
				spec := instances.NewTVCSpec()
				spec.Fabric, spec.Index = fabric, 7
				if figure == 4 {
					spec.Sizes = instances.TVCSizes[k]
				} else {
					spec.SWF = "/data/" + logs[k].File + ".swf.gz"
				}
				if figure == 6 {
					spec.Queue = "yes"
				}
				name := instances.Nth(&spec, spec.Index, 10, 1).Name
				for _, x := range all {
					if regexp.MustCompile(x.Pattern).MatchString(name) {
						found[name]++
						if (x.Figure > 0) != (fabric == model.FabricNonBlocking) || !strings.Contains(x.Title, string(fabric)) {
							t.Errorf("%s belongs to %+v", name, x)
						}
					}
				}
				if both := sets("tvc both logs")[0].Pattern; figure > 4 && regexp.MustCompile(both).MatchString(name) != (fabric == model.FabricNonBlocking) {
					t.Errorf("%s, the set of both logs is %s", name, both)
				}
			}
		}
		require.Same(t, fmt.Sprintf("figure %d: the sets have %v", figure, found), 4, len(found))
		for name, n := range found {
			require.Same(t, fmt.Sprintf("sets of %s", name), 1, n)
		}
	}
	fails(t, "sets of a name that isn't there", "", func() { sets("tvc", "results") })
}

// Each instance of the batch plans belongs to one workload, at a load to one of its
// settings over costs.
func TestBatchSettings(t *testing.T) {
	t.Chdir("../..")
	for _, model := range instances.BatchModels[:2] {
		for _, load := range []float64{0.5, 0.9} {
			for _, cost := range []float64{20, 900} {
				spec := instances.NewBatchSpec()
				spec.Model, spec.Load, spec.MigrationS, spec.MeanSize, spec.Index = model, load, cost, 9.5, 5
				name, n := instances.Nth(&spec, spec.Index, 10, 1).Name, 0
				for k, x := range sets("batch figure 6", "results") {
					if !regexp.MustCompile(x.Pattern).MatchString(name) {
						continue
					}
					if n++; k != slices.Index(instances.BatchModels, model) {
						t.Errorf("%s belongs to %+v", name, x)
					}
					for _, at := range []float64{0.5, 0.9} {
						require.Same(t, fmt.Sprintf("%s is of %+v", name, x.At(at)), at == load,
							regexp.MustCompile(x.At(at).Pattern).MatchString(name))
					}
				}
				require.Same(t, fmt.Sprintf("settings of %s", name), 1, n)
			}
		}
	}
}

// EASY on one tier gets a name of its own, nothing else does.
func TestOneTier(t *testing.T) {
	t.Chdir(t.TempDir())
	check(os.Mkdir("results", 0o777))
	line := `{"plan":"p","instance":"i","instance_hash":"h","kind":"batch","params":{"load":1,"tiers":%d},"algorithm":%q,"seed":1,"status":"feasible","elapsed_s":1,"nodes":0,"verified":true,"version":"1"}` + "\n"
	text := fmt.Sprintf(line+line+line, 1, "easy", 2, "easy", 2, "measy")
	write(t, "in.jsonl", text)
	file := oneTier("in.jsonl")
	if got, want := string(must(os.ReadFile(file))), strings.Replace(text, `"easy"`, `"easy-one-tier"`, 1); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	write(t, "r.jsonl", strings.NewReplacer(`"easy"`, `"du-b"`, `"measy"`, `"du-b-open"`).Replace(text))
	all := openReading("r.jsonl")
	require.Same(t, "with open rectangles", fmt.Sprintf(line, 2, "du-b"), string(must(os.ReadFile(all))))
	for pattern, want := range map[string]string{"^j": "", "^i": string(must(os.ReadFile("r.jsonl")))} {
		require.Same(t, fmt.Sprintf("picked by %s", pattern), want,
			string(must(os.ReadFile(pick("r.jsonl", "some", pattern)))))
	}
}

// Tables 4 to 8 of the network-aware HEFT: what a column counts, and how the nine
// jumps of Table 8 are told apart.
func TestDAGSettings(t *testing.T) {
	file := t.TempDir() + "/r.jsonl"
	var text strings.Builder
	for graph := range 24 {
		for k, a := range []string{"heft", "network-aware", "improve"} {
			jump, objective := 1+graph/12, []int{200 + graph, 100, 1}[k]
			fmt.Fprintf(&text, `{"plan":"p","instance":"g-d%04d-m3-c50-b50-paper-fair-0","instance_hash":"h%d","kind":"dag","params":{"jump":%d},"algorithm":%q,"status":"feasible","objective":%d,"metrics":{"planned":100,"rounds":%d}}`+"\n",
				graph, graph, jump, a, objective, 1+k*graph)
		}
	}
	check(os.WriteFile(file, []byte(text.String()), 0o666))
	r := reader()
	all := r.dagSettings(file, "one link", "paper-fair")
	for value, want := range map[string]dagMeans{
		"1": {100, 205.5, 100, 6.5}, "1.1": {100, 201.5, 100, 2.5}, "1.4": {100, 209.5, 100, 10.5}, "2.2": {100, 217.5, 100, 18.5}} {
		require.Same(t, fmt.Sprintf("jump %s", value), want, all[0].At("jump", value))
	}
	if got := all[0].At("jump", "1"); math.Abs(got.Increase()-105.5) > 1e-9 || math.Abs(got.Decrease()-100*(1-100/205.5)) > 1e-9 {
		t.Errorf("%v, %v", got.Increase(), got.Decrease())
	}
	fails(t, "no graph", "no instance paper-two", func() { r.dagSettings(file, "two pools", "paper-two") })
}

func TestMet(t *testing.T) {
	for _, c := range []struct {
		printed string
		ours    any
		want    string
	}{{"34.38", 34.4167, "not met"}, {"34.38", json.Number("34.375"), "met"}, {"80", "80", "met"}, {"104", 102, "not met"}} {
		require.Same(t, fmt.Sprintf("%s and %v", c.printed, c.ours), c.want, met(c.printed, c.ours))
	}
	fails(t, "a word is no figure", "", func() { met("80", "many") })
}

func TestDegradation(t *testing.T) {
	d := degradation{}
	for k, name := range strings.Fields("mcb8 mcb5 mcb6 mcb7 mcb3 mcb2 mcb1 mcb4") {
		d.Rows = append(d.Rows, degraded{Algorithm: name, PaperMean: "2", PaperMax: "9", Mean: float64(k + 1), Solved: 1, Max: 9})
	}
	if d.Best() != "mcb8" || !d.DescendingFirst() || !d.SameOrder() || d.Ratios(false) != "0.50 to 4.00" || d.Ratios(true) != "0.50 to 0.50" {
		t.Errorf("best %s, descending first %v, order %v, ratios %s and %s", d.Best(), d.DescendingFirst(), d.SameOrder(), d.Ratios(false), d.Ratios(true))
	}
	d.Rows[0].Mean, d.Rows[7].Mean = 9, 1
	if d.Best() == "mcb8" || d.DescendingFirst() || d.SameOrder() {
		t.Errorf("best %s, descending first %v, order %v", d.Best(), d.DescendingFirst(), d.SameOrder())
	}
}

func TestRows(t *testing.T) {
	all := rows{Figures: &runs.Figures{By: []string{"umed"}, Columns: []string{"x"}}}
	for _, r := range []struct {
		umed, x   float64
		algorithm string
	}{{5, 2, "a"}, {5, 1, "b"}, {6, 3, "a"}, {6, 3, "b"}} {
		all.some = append(all.some, runs.Row{By: []float64{r.umed}, Algorithm: r.algorithm, Values: []float64{r.x}})
	}
	if all.Where("umed", "6").Sum("x") != 6 || all.Where("algorithm", "a").Sum("x") != 5 || all.Max("x") != 3 || all.Count("x") != 9 {
		t.Error("sum, largest or count is wrong")
	}
	for _, wrong := range []func(){func() { all.Sum("y") }, func() { number("-") }, func() { number("") }} {
		fails(t, "what isn't there has a number", "", wrong)
	}
}

// reader is a runner that reads results.
func reader() *runner { return &runner{read: map[string][]runs.Record{}} }

// fails reports a function that doesn't end with an error that says what is wanted.
func fails(t *testing.T, what, want string, do func()) {
	t.Helper()
	if err := failure(do); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: error %v, want one with %q", what, err, want)
	}
}
