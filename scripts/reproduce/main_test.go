package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

// A part is put between its markers, or at the end, and what stands around it
// stays as it is.
func TestReplace(t *testing.T) {
	for name, c := range map[string]struct{ before, want string }{
		"new": {"# Title\n", "# Title\n<!-- part: a -->\n<!-- run at c0ffee, Go -->\n\nnew\n<!-- end: a -->\n"},
		"again": {"x\n<!-- part: b -->\nb\n<!-- end: b -->\n<!-- part: a -->\nold\n<!-- end: a -->\ny\n",
			"x\n<!-- part: b -->\nb\n<!-- end: b -->\n<!-- part: a -->\n<!-- run at c0ffee, Go -->\n\nnew\n<!-- end: a -->\ny\n"},
	} {
		t.Run(name, func(t *testing.T) {
			file := t.TempDir() + "/d.md"
			if err := os.WriteFile(file, []byte(c.before), 0o666); err != nil {
				t.Fatal(err)
			}
			for range 2 { // once more changes nothing
				if err := replace(file, "a", "c0ffee", "Commit c0ffee, Go", "new"); err != nil {
					t.Fatal(err)
				}
				got, err := os.ReadFile(file)
				if err != nil || string(got) != c.want {
					t.Fatalf("%q, %v, want %q", got, err, c.want)
				}
			}
		})
	}
	file := t.TempDir() + "/d.md"
	if err := os.WriteFile(file, []byte("<!-- part: a -->\nold\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := replace(file, "a", "c0ffee", "Commit c0ffee, Go", "new"); err == nil || !strings.Contains(err.Error(), "<!-- end: a --> is missing") {
		t.Errorf("without the end's marker: %v", err)
	}
}

// Each part of the documents has a template, and the other way round but for
// parts that haven't run yet.
func TestTemplatesAndDocuments(t *testing.T) {
	t.Chdir("../..")
	documents, err := parse(&runner{})
	if err != nil {
		t.Fatal(err)
	}
	for document, parts := range documents {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
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

// Each instance of a plan's specifications belongs to one setting of its figure.
func TestTVCSettings(t *testing.T) {
	for figure := 4; figure <= 6; figure++ {
		found := map[string]int{}
		for _, fabric := range model.Fabrics {
			for k := range 2 {
				spec := instances.NewTVCSpec()
				spec.Fabric, spec.Index = fabric, 7
				if figure == 4 {
					spec.Sizes = instances.TVCSizes[k]
				} else {
					spec.SWF = "/data/" + tvcLogs()[k].File + ".swf.gz"
				}
				if figure == 6 {
					spec.Queue = "yes"
				}
				for _, x := range tvcSettings(figure, "results") {
					if regexp.MustCompile(x.Pattern).MatchString(spec.Name()) {
						found[spec.Name()]++
						if x.Figure != (fabric == model.FabricNonBlocking) || !strings.Contains(x.Title, string(fabric)) {
							t.Errorf("%s belongs to %+v", spec.Name(), x)
						}
					}
				}
			}
		}
		if len(found) != 4 {
			t.Errorf("figure %d: the settings have %v", figure, found)
		}
		for name, n := range found {
			if n != 1 {
				t.Errorf("%s is in %d settings", name, n)
			}
		}
	}
}

// Each instance of the batch plans belongs to one workload, at a load to one of its
// settings over costs.
func TestBatchSettings(t *testing.T) {
	for _, model := range instances.BatchModels[:2] {
		for _, load := range []float64{0.5, 0.9} {
			for _, cost := range []float64{20, 900} {
				spec := instances.NewBatchSpec()
				spec.Model, spec.Load, spec.MigrationS, spec.MeanSize, spec.Index = model, load, cost, 9.5, 5
				name, n := spec.Name(), 0
				for k, x := range batchSettings(6, "results") {
					if !regexp.MustCompile(x.Pattern).MatchString(name) {
						continue
					}
					if n++; k != slices.Index(instances.BatchModels, model) {
						t.Errorf("%s belongs to %+v", name, x)
					}
					for _, at := range []float64{0.5, 0.9} {
						if regexp.MustCompile(x.At(at).Pattern).MatchString(name) != (at == load) {
							t.Errorf("%s, %+v", name, x.At(at))
						}
					}
				}
				if n != 1 {
					t.Errorf("%s is in %d settings", name, n)
				}
			}
		}
	}
}

// EASY on one tier gets a name of its own, nothing else does.
func TestOneTier(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("results", 0o777); err != nil {
		t.Fatal(err)
	}
	text := `{"params":{"tiers":1,"load":0.5},"algorithm":"easy"}
{"params":{"load":1,"tiers":2},"algorithm":"easy"}
{"params":{"load":1,"tiers":2},"algorithm":"measy"}
`
	if err := os.WriteFile("in.jsonl", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	file, err := oneTier("in.jsonl", "out")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if want := strings.Replace(text, `"easy"`, `"easy-one-tier"`, 1); err != nil || string(got) != want {
		t.Errorf("%s, %v, want\n%s", got, err, want)
	}
}

func TestTrends(t *testing.T) {
	s := splitting{Rows: []splitRow{
		{Paper: [3]float64{1, 2, 3}, Ours: [3]float64{1, 1, 1}},
		{Paper: [3]float64{2, 1, 4}, Ours: [3]float64{1.01, 2, 1.2}},
		{Paper: [3]float64{3, 0.5, 2}, Ours: [3]float64{1.02, 3, 1.4}},
	}}
	if got, want := strings.Join(trends(s), " "), "more less neither neither more more"; got != want {
		t.Errorf("trends are %s, want %s", got, want)
	}
}

func TestDegradation(t *testing.T) {
	d := degradation{}
	for k, name := range mcb {
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

func TestLeads(t *testing.T) {
	all := rows{{"umed": "5", "algorithm": "a", "x": "2"}, {"umed": "5", "algorithm": "b", "x": "1"},
		{"umed": "6", "algorithm": "a", "x": "3"}, {"umed": "6", "algorithm": "b", "x": "3"}}
	if all[:2].Leads("x", "a", "b", "umed") != true || all.Leads("x", "a", "b", "umed") {
		t.Error("a leads at umed 5 and not at 6")
	}
	if all.Where("umed", "6").Sum("x") != 6 || all.Max("x") != 3 || all.Count("x") != 9 {
		t.Error("sum, largest or count is wrong")
	}
}
