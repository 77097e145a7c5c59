package benchmarks

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/need"
	"github.com/gapwise/gapwise/model"
)

// tiny is a valid plan to which the tests add a line.
const tiny = `
name: tiny
generators:
  - {kind: vcsched, hosts: [2, 3], jobs: [4, 6], slack: [0.3, 0.6], count: 2, seed: 5}
algorithms:
  - {name: gr}
  - {name: mcb8}
  - {name: exact, label: search}
  - {name: rrnz, sample: 2}
  - {name: sgb, only: {jobs: [4], hosts: [3]}}
seeds: [1, 2]
`

func decode(t *testing.T, text string) *Plan {
	t.Helper()
	p, err := DecodePlan([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDecodePlanRefuses(t *testing.T) {
	generator := "generators: [{kind: vcsched, hosts: [2], jobs: [4], count: 1}]\n"
	tests := map[string]struct{ plan, wantPart string }{
		"empty":               {"", "the file is empty"},
		"not YAML":            {"name: [", "plan"},
		"unknown key":         {tiny + "colour: red\n", "colour"},
		"unknown inner key":   {"name: x\ngenerators: [{kind: vcsched, hosts: [2], jobs: [4], count: 1, hots: [3]}]\nalgorithms: [{name: gr}]\n", "hots"},
		"repeated key":        {tiny + "name: again\n", "name"},
		"two documents":       {tiny + "---\nname: more\n", "one document"},
		"no name":             {generator + "algorithms: [{name: gr}]\n", "name is \"\""},
		"name is a path":      {"name: a/b\n" + generator + "algorithms: [{name: gr}]\n", "name is \"a/b\""},
		"no instances":        {"name: x\nalgorithms: [{name: gr}]\n", "neither generators nor files"},
		"no algorithms":       {"name: x\n" + generator, "no algorithms"},
		"unknown algorithm":   {"name: x\n" + generator + "algorithms: [{name: mcb9}]\n", "mcb9"},
		"unknown engine":      {"name: x\n" + generator + "algorithms: [{name: exact, engine: cplex}]\n", "cplex"},
		"unknown formulation": {"name: x\n" + generator + "algorithms: [{name: exact, engine: highs, formulation: big}]\n", "big"},
		"same label":          {"name: x\n" + generator + "algorithms: [{name: gr}, {name: gr}]\n", "label \"gr\""},
		"negative limit":      {"name: x\n" + generator + "algorithms: [{name: gr, time_limit: -1s}]\n", "negative"},
		"unknown parameter":   {"name: x\n" + generator + "algorithms: [{name: gr, only: {job: [4]}}]\n", "\"job\""},
		"unknown kind":        {"name: x\ngenerators: [{kind: knapsack, hosts: [2], jobs: [4], count: 1}]\nalgorithms: [{name: gr}]\n", "knapsack"},
		"no hosts":            {"name: x\ngenerators: [{kind: vcsched, jobs: [4], count: 1}]\nalgorithms: [{name: gr}]\n", "hosts"},
		"no requests":         {"name: x\ngenerators: [{kind: reservation, umed: [7], count: 1}]\nalgorithms: [{name: ff}]\n", "requests must be given"},
		"no size":             {"name: x\ngenerators: [{kind: reservation, requests: [10], umed: [0], count: 1}]\nalgorithms: [{name: ff}]\n", "above 0"},
		"unknown goal":        {"name: x\ngenerators: [{kind: reservation, requests: [10], goal: most, count: 1}]\nalgorithms: [{name: ff}]\n", "goal is \"most\""},
		"another kind's key":  {"name: x\ngenerators: [{kind: reservation, requests: [10], hosts: [2], count: 1}]\nalgorithms: [{name: ff}]\n", "there is no parameter"},
		"another kind's word": {"name: x\ngenerators: [{kind: dag, tasks: [10], log: x.swf, count: 1}]\nalgorithms: [{name: heft}]\n", "there is no parameter"},
		"too many":            {"name: x\ngenerators: [{kind: vcsched, hosts: [2], jobs: [4], count: 1000000000000}]\nalgorithms: [{name: gr}]\n", "at most"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := DecodePlan([]byte(tc.plan))
			if !errors.Is(err, model.ErrInvalid) {
				t.Fatalf("error is %v, want one that wraps ErrInvalid", err)
			}
			if !strings.Contains(err.Error(), tc.wantPart) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error is %q, want one line with %q", err, tc.wantPart)
			}
		})
	}
}

func TestCasesRefuses(t *testing.T) {
	tests := map[string]struct{ plan, wantPart string }{
		"specification that can't be": {"name: x\ngenerators: [{kind: vcsched, hosts: [2], jobs: [4], slack: [0.5, 1.5], count: 1}]\nalgorithms: [{name: gr}]\n", "slack"},
		"not a number":                {"name: x\ngenerators: [{kind: vcsched, hosts: [2], jobs: [4], slack: [.nan], count: 1}]\nalgorithms: [{name: gr}]\n", "slack"},
		"the same instance twice":     {"name: x\ngenerators: [{kind: vcsched, hosts: [2, 2], jobs: [4], count: 1}]\nalgorithms: [{name: gr}]\n", "twice"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := decode(t, tc.plan).Instances()
			if !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), tc.wantPart) {
				t.Errorf("error is %v, want one about %q that wraps ErrInvalid", err, tc.wantPart)
			}
		})
	}
}

// The sizes are the VCSched paper's (section 4.1) where it gives them.
func TestBuiltInPlans(t *testing.T) {
	want := map[string]int{"demo": 48, "vcsched-small": 2 * 1440, "vcsched-large": 108 * 20, "vcsched-large-redrawn": 108 * 5, "vcsched-parallel": 108 * (10 + 3), "vcsched-speed": 1440 + 108 + 36 + 20 + 80,
		"dag-1296": 4 * 1296 * 5, "dag-improve": 2 * 1296, "dag-exact": 216 + 378, "dag-lns": 16, "ablation-batch": 20, "batch-exact": 20,
		"reservation-size": 100, "reservation-load": 100, "reservation-flexibility": 100, "reservation-moving": 100, "reservation-log": 99, "reservation-exact": 70, "reservation-column-t": 260,
		"ablation-dag": 20, "ablation-kernel": 6, "ablation-reservation": 18, "ablation-tvc": 26, "ablation-vcsched": 20,
		"batch-figure6": 400, "batch-figure9": 120, "batch-figure11": 120, "batch-figure13": 300, "batch-whole": 12, "batch-peasy": 600, "batch-readings": 192,
		"tvc-embeddable": 60, "tvc-figure4": 640, "tvc-figure5": 480, "tvc-figure6": 560, "tvc-log": 24, "tvc-log-queue": 24}
	needs := map[string]string{"dag-1296": "dags", "dag-improve": "dags", "reservation-log": "swf", "tvc-figure5": "swf", "tvc-figure6": "swf", "tvc-log": "swf", "tvc-log-queue": "swf"}
	if len(Names()) != len(want) {
		t.Errorf("the plans are %v, want %d", Names(), len(want))
	}
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			p, err := LoadPlan(name)
			if err != nil {
				t.Fatal(err)
			}
			if p.Name != name || p.Description == "" {
				t.Errorf("name %q, description %q", p.Name, p.Description)
			}
			if testing.Short() {
				t.Skip("its instances aren't drawn under -short")
			}
			if needs[name] != "" {
				t.Setenv("GAPWISE_DATA", filepath.Dir(need.Data(t, needs[name])))
			}
			cases, err := p.Instances()
			if err != nil {
				t.Fatal(err)
			}
			if len(cases) != want[name] {
				t.Errorf("%d instances, want %d", len(cases), want[name])
			}
		})
	}
}

// A plan that needs a file says which, where it was looked for and where it is
// to be had; nothing is looked for outside the project unasked.
func TestPlanWithoutItsFile(t *testing.T) {
	for name, want := range map[string][]string{
		"reservation-log": {"LANL-CM5-1994-4.1-cln.swf.gz", "GAPWISE_DATA/swf", "https://www.cs.huji.ac.il/"},
		"dag-1296":        {"daggen-1296.jsonl.gz", "GAPWISE_DATA/dags", "https://github.com/frs69wq/daggen"},
	} {
		for _, folder := range []string{"", t.TempDir()} {
			t.Run(name, func(t *testing.T) {
				t.Setenv("GAPWISE_DATA", folder)
				p, err := LoadPlan(name)
				if err != nil {
					t.Fatal(err)
				}
				_, err = p.Instances()
				if !errors.Is(err, model.ErrInvalid) {
					t.Fatalf("error %v, want one that wraps ErrInvalid", err)
				}
				for _, part := range append(want, folder) {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("error %q, want %q in it", err, part)
					}
				}
			})
		}
	}
}

// A plan's log, like its files, may lie beside it.
func TestPlanOfLog(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "own.swf"), "; MaxProcs: 4\n1 0 0 10 2 -1 -1 2 10 -1 1 1 1 1 1 1 -1 -1\n")
	write(t, filepath.Join(dir, "plan.yaml"), "name: l\ngenerators: [{kind: reservation, log: own.swf, requests: [1], count: 1}]\nalgorithms: [{name: ff}]\n")
	p, err := LoadPlan(filepath.Join(dir, "plan.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if cases, err := p.Instances(); err != nil || len(cases) != 1 {
		t.Errorf("%d cases, error %v, want 1", len(cases), err)
	}
}

func TestPlanOfFiles(t *testing.T) {
	dir := t.TempDir()
	instance := `{"kind":"vcsched","version":1,"name":"%","hosts":1,"jobs":[{"id":"a","tasks":1,"cpu":0.5,"memory":0.1}]}`
	for _, f := range []string{"set/b.json", "set/a.json", "one.json"} {
		write(t, filepath.Join(dir, f), strings.ReplaceAll(instance, "%", f))
	}
	// Paths are as seen from the plan's folder; a plan may be JSON.
	write(t, filepath.Join(dir, "plan.json"), `{"name": "files", "files": ["set", "one.json"], "algorithms": [{"name": "gr", "time_limit": "2s"}]}`)
	p, err := LoadPlan(filepath.Join(dir, "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	cases, err := p.Instances()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range cases {
		in, err := c.Load()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, in.ID())
	}
	if diff := cmp.Diff([]string{"set/a.json", "set/b.json", "one.json"}, got); diff != "" {
		t.Errorf("instances (-want,+got):\n%s", diff)
	}
}

func TestAlgorithmRuns(t *testing.T) {
	p := decode(t, tiny)
	cases, err := p.Instances()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for i := range cases {
		for k := range p.Algorithms {
			runs, err := p.Algorithms[k].runs(&cases[i], func() (map[string]float64, error) { return nil, nil })
			if err != nil {
				t.Fatal(err)
			}
			if runs {
				got[p.Algorithms[k].Label]++
			}
		}
	}
	// 16 instances; every second one of each specification; 2 slacks × 2.
	if diff := cmp.Diff(map[string]int{"gr": 16, "mcb8": 16, "search": 16, "rrnz": 8, "sgb": 4}, got); diff != "" {
		t.Errorf("runs (-want,+got):\n%s", diff)
	}
}

func FuzzDecodePlan(f *testing.F) {
	f.Add([]byte(tiny))
	f.Add([]byte(`{"name": "files", "files": ["set"], "algorithms": [{"name": "gr"}]}`))
	f.Add([]byte("name: x\ngenerators: [&a {kind: vcsched, hosts: [2], jobs: [4], count: 1}, {<<: *a}]\nalgorithms: [{name: gr, gap: .nan}]\n"))
	for _, name := range Names() {
		data, err := builtIn.ReadFile("plans/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := DecodePlan(data)
		if err != nil {
			if !errors.Is(err, model.ErrInvalid) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q must be one line and wrap ErrInvalid", err)
			}
			return
		}
		labels := map[string]bool{}
		for _, a := range p.Algorithms {
			labels[a.Label] = true
		}
		if len(labels) != len(p.Algorithms) || len(labels) == 0 || len(p.Seeds) == 0 {
			t.Errorf("accepted a plan with %d labels for %d algorithms and %d seeds", len(labels), len(p.Algorithms), len(p.Seeds))
		}
	})
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
