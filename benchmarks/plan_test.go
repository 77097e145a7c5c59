// SPDX-License-Identifier: MIT

package benchmarks

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
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
	return require.Value(decodePlan([]byte(text)))(t)
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
		"another kind's key":  {"name: x\ngenerators: [{kind: reservation, requests: [10], hosts: [2], count: 1}]\nalgorithms: [{name: ff}]\n", "line 2: there is no key \"hosts\" of a generator of reservation; give one of kind, count, seed, source, requests"},
		"another kind's word": {"name: x\ngenerators: [{kind: dag, tasks: [10], log: x.swf, count: 1}]\nalgorithms: [{name: heft}]\n", "there is no key \"log\" of a generator of dag"},
		"hyphens":             {"name: x\n" + generator + "algorithms:\n  - {name: gr, time-limit: 1s}\n", "line 4: there is no key \"time-limit\" of an algorithm; did you mean time_limit? give one of name, label"},
		"a list of seeds":     {tiny[:len(tiny)-len("seeds: [1, 2]\n")] + "seeds: 3\n", "line 11: seeds must be a list, like [1, 2, 3]"},
		"no time":             {"name: x\n" + generator + "algorithms: [{name: gr, time_limit: 5}]\n", "line 3: algorithms[0].time_limit is \"5\", must be a time like 10s, 500ms or 5m"},
		"no number":           {"name: x\n" + generator + "algorithms: [{name: gr, gap: small}]\n", "line 3: algorithms[0].gap is \"small\", must be a number"},
		"no whole number":     {"name: x\n" + generator + "algorithms: [{name: gr, threads: 1.5}]\n", "line 3: algorithms[0].threads is \"1.5\", must be a whole number"},
		"a name in a list":    {"name: x\n" + generator + "algorithms: [[gr]]\n", "line 3: algorithms[0] must be a single value, it is a list"},
		"an empty name":       {"name: x\n" + generator + "algorithms: [{label: gr}]\n", "line 3: algorithms[0]: name is missing"},
		"misspelt algorithm":  {"name: x\nfiles: [a.json]\nalgorithms: [hefft]\n", "line 3: algorithms[0]: unknown algorithm \"hefft\", for none of [\"batch\" \"consolidation\" \"dag\" \"reservation\" \"tvc\" \"vcsched\"] (gapwise algorithms lists them); did you mean heft?"},
		"no mapping":          {"[1, 2]", "line 1: must be a mapping with the keys name, description"},
		"an alias of a list":  {"name: &a [x]\nfiles: *a\nalgorithms: *a\n", "line 1: name must be a single value, it is a list"},
		"a bad merge":         {"name: x\ngenerators: [{<<: 3}]\nalgorithms: [gr]\n", "map merge requires map"},
		"a key that's a list": {"name: x\ngenerators: [{[1]: 3}]\nalgorithms: [gr]\n", "line 2: generators[0] has a key that is no word"},
		"empty value":         {"name: x\ngenerators: [{kind: vcsched, hosts: , jobs: [4], count: 1}]\nalgorithms: [gr]\n", "line 2: generators[0].hosts must be a value or a list of values, it is empty"},
		"mapped value":        {"name: x\ngenerators: [{kind: vcsched, hosts: {a: 1}, jobs: [4], count: 1}]\nalgorithms: [gr]\n", "line 2: generators[0].hosts must be a value or a list of values, it is a mapping"},
		"nested value":        {"name: x\ngenerators: [{kind: vcsched, hosts: [[1]], jobs: [4], count: 1}]\nalgorithms: [gr]\n", "line 2: generators[0].hosts[0] must be a single value, it is a list"},
		"no draw":             {"name: x\ngenerators:\n- {kind: vcsched, hosts: 2, jobs: 4, count: 0}\nalgorithms: [gr]\n", "count"},
		"no path":             {"name: x\nfiles: [{platform: star}]\nalgorithms: [heft]\n", "line 2: files[0]: path is missing"},
		"unknown reading":     {"name: x\nfiles: [{path: a, goal: most}]\nalgorithms: [ff]\n", "line 2: files[0].goal is \"most\", must be one of [\"accepted\""},
		"misspelt platform":   {"name: x\nfiles: [{path: a, plattform: star}]\nalgorithms: [heft]\n", "line 2: there is no key \"plattform\" of a file; did you mean platform?"},
		"a log's kind":        {"name: x\nfiles: [{path: a.swf, kind: dag, tasks: 5}]\nalgorithms: [heft]\n", "line 2: files[0].kind is \"dag\", SWF logs become one of [\"batch\" \"reservation\" \"tvc\"]"},
		"a log's requests":    {"name: x\nfiles: [{path: a.swf, kind: reservation}]\nalgorithms: [ff]\n", "line 2: files[0]: requests must be given: the number of requests"},
		"a log twice":         {"name: x\nfiles: [{path: a.swf, kind: reservation, requests: 5, log: b.swf}]\nalgorithms: [ff]\n", "line 2: files[0].log isn't needed, path names the log"},
		"all twice":           {"name: x\n" + generator + "algorithms: [all, {name: all, label: more}]\n", "the algorithm all is there twice"},
		"all by an engine":    {"name: x\n" + generator + "algorithms: [{name: all, engine: highs}]\n", "takes time_limit, effort, gap, threads, sample and only"},
		"too many":            {"name: x\ngenerators: [{kind: vcsched, hosts: [2], jobs: [4], count: 1000000000000}]\nalgorithms: [{name: gr}]\n", "at most"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := decodePlan([]byte(tc.plan))
			require.Refused(t, "the error", err, model.ErrInvalid, "")
			if !strings.Contains(err.Error(), tc.wantPart) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error is %q, want one line with %q", err, tc.wantPart)
			}
			for _, internal := range []string{"unmarshal", "!!", "benchmarks.", "yaml"} {
				if strings.Contains(err.Error(), internal) {
					t.Errorf("error %q speaks of %q", err, internal)
				}
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
			require.Refused(t, "refusal", require.Err(decode(t, tc.plan).Instances()), model.ErrInvalid, tc.wantPart)
		})
	}
}

// The sizes are the VCSched paper's (section 4.1) where it gives them.
func TestBuiltInPlans(t *testing.T) {
	want := map[string]int{"demo": 48, "vcsched-small": 3 * 144 * 100, "tvc-statements": 8 * 20, "vcsched-large": 108 * 100, "vcsched-large-readings": 2 * 108 * 20, "vcsched-parallel": 108 * (10 + 3), "vcsched-speed": 1440 + 108 + 36 + 20 + 80,
		"dag-1296": 4 * 1296 * 20, "dag-improve": 2 * 1296, "dag-exact": 216 + 378, "dag-lns": 16, "ablation-batch": 50, "batch-exact": 20, "optimum-batch": 30, "optimum-batch-eight": 60,
		"reservation-size": 100, "reservation-load": 100, "reservation-flexibility": 100, "reservation-log": 99, "reservation-exact": 70, "reservation-column-t": 260,
		"auto-dag": 22, "auto-batch": 28, "auto-reservation": 16, "auto-tvc": 16, "auto-vcsched": 16, "auto-consolidation": 24, "anytime": 24, "open-batch": 60, "open-reservation": 48, "open-vcsched": 24, "open-dag": 24,
		"ablation-dag": 117, "optimum-dag": 60, "optimum-tvc": 120, "optimum-tvc-migration": 32, "ablation-reservation": 34, "ablation-tvc": 56, "ablation-vcsched": 80,
		"batch-figure6": 400, "batch-figure9": 120, "batch-figure11": 120, "batch-figure13": 300, "batch-whole": 60, "batch-peasy": 600, "batch-readings": 192,
		"tvc-embeddable": 60, "tvc-figure4": 640, "tvc-figure5": 480, "tvc-figure6": 560, "tvc-log": 24, "tvc-log-queue": 24}
	needs := map[string]string{"reservation-log": "swf", "tvc-figure5": "swf", "tvc-figure6": "swf", "tvc-log": "swf", "tvc-log-queue": "swf"}
	require.Same(t, fmt.Sprintf("plans in %v", Names()), len(want), len(Names()))
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			p := require.Value(LoadPlan(name))(t)
			if p.Name != name || p.Description == "" {
				t.Errorf("name %q, description %q", p.Name, p.Description)
			}
			if testing.Short() {
				t.Skip("its instances aren't drawn under -short")
			}
			if needs[name] != "" {
				t.Setenv("GAPWISE_DATA", filepath.Dir(require.Data(t, needs[name])))
			}
			require.Same(t, "instances", want[name], len(require.Value(p.Instances())(t)))
		})
	}
}

// A plan that needs a file says which, where it was looked for and where to get it; nothing is looked for outside the
// project unasked.
func TestPlanWithoutItsFile(t *testing.T) {
	for name, want := range map[string][]string{
		"reservation-log": {"LANL-CM5-1994-4.1-cln.swf.gz", "GAPWISE_DATA/swf", "https://www.cs.huji.ac.il/"},
		"tvc-log":         {"KTH-SP2-1996-2.1-cln.swf.gz", "GAPWISE_DATA/swf", "https://www.cs.huji.ac.il/"},
	} {
		for _, folder := range []string{"", t.TempDir()} {
			t.Run(name, func(t *testing.T) {
				t.Setenv("GAPWISE_DATA", folder)
				_, err := require.Value(LoadPlan(name))(t).Instances()
				require.Refused(t, "the error", err, model.ErrInvalid, "")
				require.Says(t, "the error", err.Error(), append(want, folder)...)
			})
		}
	}
}

// A plan's log, like its files, may lie next to it.
func TestPlanOfLog(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "own.swf"), "; MaxProcs: 4\n1 0 0 10 2 -1 -1 2 10 -1 1 1 1 1 1 1 -1 -1\n")
	write(t, filepath.Join(dir, "plan.yaml"), "name: l\ngenerators: [{kind: reservation, log: own.swf, requests: [1], count: 1}]\nalgorithms: [{name: ff}]\n")
	p := require.Value(LoadPlan(filepath.Join(dir, "plan.yaml")))(t)
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
	p := require.Value(LoadPlan(filepath.Join(dir, "plan.json")))(t)
	cases := require.Value(p.Instances())(t)
	var got []string
	for _, c := range cases {
		got = append(got, require.Value(c.Load())(t).ID())
	}
	require.Same(t, "instances", []string{"set/a.json", "set/b.json", "one.json"}, got)
}

func TestAlgorithmRuns(t *testing.T) {
	p := decode(t, tiny)
	cases := require.Value(p.Instances())(t)
	got := map[string]int{}
	for i := range cases {
		for k := range p.Algorithms {
			runs := require.Value(p.Algorithms[k].runs(&cases[i], func() (map[string]float64, error) { return nil, nil }))(t)
			if runs {
				got[p.Algorithms[k].Label]++
			}
		}
	}
	// 16 instances; every second one of each specification; 2 slacks × 2.
	require.Same(t, "runs", map[string]int{"gr": 16, "mcb8": 16, "search": 16, "rrnz": 8, "sgb": 4}, got)
}

func FuzzDecodePlan(f *testing.F) {
	f.Add([]byte(tiny))
	f.Add([]byte(`{"name": "files", "files": ["set"], "algorithms": [{"name": "gr"}]}`))
	f.Add([]byte("name: x\ngenerators: [&a {kind: vcsched, hosts: [2], jobs: [4], count: 1}, {<<: *a}]\nalgorithms: [{name: gr, gap: .nan}]\n"))
	f.Add([]byte("name: x\nfiles: [a, {path: b, platform: star, goal: all}, {path: c.swf, kind: batch, jobs: [1, 2], seed: 3}]\nalgorithms: [all, {name: heft, rounds: 3, only: {ccr: 1}}]\nseeds: []\n"))
	for _, name := range Names() {
		f.Add(require.Value(builtIn.ReadFile("plans/" + name + ".yaml"))(f))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := decodePlan(data)
		if err != nil {
			require.Refused(t, "error", err, model.ErrInvalid, "")
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
	require.OK(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.OK(t, os.WriteFile(file, []byte(text), 0o644))
}

// An algorithm runs on the instances of the problems that know it. "all" means the algorithms of the plan's problems,
// with its settings, except those that the plan also names.
func TestPlanOfSeveralProblems(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "set", "vms.json"), `{"kind":"vcsched","version":1,"name":"vms","hosts":1,"jobs":[{"id":"a","tasks":1,"cpu":0.5,"memory":0.1}]}`)
	write(t, filepath.Join(dir, "set", "requests.json"), `{"name":"requests","version":1,"pes":1,"requests":[],"kind":"reservation"}`)
	write(t, filepath.Join(dir, "set", "read.me"), "nothing to read")
	write(t, filepath.Join(dir, "plan.yaml"), "name: several\nfiles: [set]\nalgorithms: [gr, ff, {name: mcb8, label: m}]\n")
	p := require.Value(LoadPlan(filepath.Join(dir, "plan.yaml")))(t)
	runs := func(p *Plan, file string) (got []string) {
		for _, r := range runPlan(t, p, RunOptions{Results: filepath.Join(dir, file)}) {
			got = append(got, r.Algorithm+" "+filepath.Base(r.Instance))
		}
		return got
	}
	require.Same(t, "runs", []string{"ff requests.json", "gr vms.json", "m vms.json"}, runs(p, "a.jsonl"))
	write(t, filepath.Join(dir, "none.yaml"), "name: none\nfiles: [set/vms.json]\nalgorithms: [gr, ff]\n")
	p = require.Value(LoadPlan(filepath.Join(dir, "none.yaml")))(t)
	require.Refused(t, "refusal", Run(t.Context(), p, RunOptions{Results: filepath.Join(dir, "none.jsonl")}), model.ErrInvalid, `algorithm "ff" takes none of the instances: unknown algorithm "ff" for vcsched`)

	write(t, filepath.Join(dir, "all.yaml"), "name: all\nfiles: [set/vms.json]\ngenerators: [{kind: dag, tasks: 3, count: 1}]\nalgorithms: [{name: heft, label: mine}, {name: all, time_limit: 9s}, {name: gr, threads: 2}]\n")
	p = require.Value(LoadPlan(filepath.Join(dir, "all.yaml")))(t)
	limits := map[string]string{}
	for _, a := range p.Algorithms {
		limits[a.Label] = a.settings()
	}
	for label, want := range map[string]string{"mine": "algorithm=heft", "heft": "time_limit=9s", "gr": "threads=2", "mcb8": "time_limit=9s", "search": "time_limit=9s"} {
		require.Same(t, fmt.Sprintf("%s runs with", label), want, limits[label])
	}
	if p.Algorithms[0].Label != "mine" || p.Algorithms[len(p.Algorithms)-1].Label != "gr" || limits["all"] != "" {
		t.Errorf("the algorithms are %v", limits)
	}
	got := runs(p, "all.jsonl")
	if !slices.Contains(got, "gr vms.json") || slices.Contains(got, "heft vms.json") || !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "heft T3-") }) {
		t.Errorf("runs %q", got)
	}
}

// Foreign graphs come with a platform, logs with the values that a generator needs; without, the error says what to
// give.
func TestPlanOfForeignFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	zip := func(name, text string) {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write([]byte(text))
		w.Close()
		write(t, filepath.Join(dir, name), b.String())
	}
	const own = `{"kind":"dag","version":1,"name":"own","machines":[{"id":"P1"}],"tasks":[{"id":"a","cost_s":[1]}],"edges":[]}`
	write(t, filepath.Join(dir, "graphs", "a.stg"), "1\n0 0 0\n1 5 1 0\n2 0 1 1\n")
	write(t, filepath.Join(dir, "graphs", "b.dot"), "digraph { a [size=3]; b [size=4]; a -> b [size=2] }")
	write(t, filepath.Join(dir, "graphs", "own.json"), own)
	zip("graphs/zipped.json.gz", strings.Replace(own, "own", "zipped", 1))
	zip("graphs/c.stg.gz", "1\n0 0 0\n1 7 1 0\n2 0 1 1\n")
	write(t, filepath.Join(dir, "net.json"), `{"machines":[{"id":"M1","speed":2},{"id":"M2","speed":1}],"network":{"bandwidth":1}}`)
	write(t, filepath.Join(dir, "log.swf"), "; MaxProcs: 4\n1 0 0 10 2 -1 -1 2 10 -1 1 1 1 1 1 1 -1 -1\n2 5 0 10 2 -1 -1 2 10 -1 1 1 1 1 1 1 -1 -1\n")
	plan := func(files string) (names []string, err error) {
		write(t, filepath.Join(dir, "plan.yaml"), "name: f\nfiles: "+files+"\nalgorithms: [all]\n")
		p, err := LoadPlan(filepath.Join(dir, "plan.yaml"))
		if err != nil {
			return nil, err
		}
		cases, err := p.Instances()
		for _, c := range cases {
			in, err := c.Load()
			if err != nil {
				return nil, err
			}
			require.Same(t, fmt.Sprintf("%s is", c.Name), c.Kind, in.Kind())
			text := in.ID()
			if d, ok := in.(*model.DAG); ok {
				text = fmt.Sprintf("%s %d %s", text, len(d.Machines), d.Transfers())
			}
			names = append(names, text+" "+strings.ReplaceAll(c.Name, dir+"/", ""))
		}
		return names, err
	}
	for files, want := range map[string][]string{
		"[{path: graphs, platform: 'star,machines=2', transfers: fair}]": {
			"a 2 fair graphs/a.stg (platform star,machines=2; transfers fair)", "b 2 fair graphs/b.dot (platform star,machines=2; transfers fair)",
			"c 2 fair graphs/c.stg.gz (platform star,machines=2; transfers fair)", "own 1 fair graphs/own.json (platform star,machines=2; transfers fair)",
			"zipped 1 fair graphs/zipped.json.gz (platform star,machines=2; transfers fair)"},
		"[graphs/own.json, {path: graphs/a.stg, platform: net.json}]":                                                                              {"own 1 ideal graphs/own.json", "a 2 ideal graphs/a.stg (platform net.json)"},
		"[{path: log.swf, kind: reservation, requests: [1, 2], artime: 0, deadline: 1, seed: 3}, {path: log.swf, kind: batch, jobs: 0, goal2: x}]": nil,
		"[{path: log.swf, kind: reservation, requests: [1, 2], artime: 0}, {path: log.swf, kind: batch, jobs: 0}]": {
			"log-n1-af1-ar0-dl3-0 log-n1-af1-ar0-dl3-0", "log-n2-af1-ar0-dl3-0 log-n2-af1-ar0-dl3-0", "log-t1-n0-0 log-t1-n0-0"},
	} {
		got, err := plan(files)
		if (err == nil) != (want != nil) {
			t.Errorf("%s: error %v", files, err)
		} else if want != nil {
			require.Same(t, fmt.Sprintf("%s: instances", files), want, got)
		}
	}
	for files, want := range map[string]string{
		"[graphs]": "a.stg: invalid: the file tells tasks and no machines, give a platform",
		"[{path: graphs/own.json, platform: star}]":           "it is an instance with all that it needs, leave the platform out",
		"[{path: graphs/own.json, goal: accepted}]":           "own.json: invalid: dag instances have no goal \"accepted\"",
		"[{path: graphs, kind: reservation, requests: 1}]":    "no SWF log below",
		"[{path: log.swf, kind: reservation, requests: 3}]":   "the log has 2 usable jobs, 3 after the first 0 are asked for",
		"[{path: other.swf, kind: reservation, requests: 3}]": "other.swf",
		"[none.json]":                        "none.json",
		"[graphs/own.json, graphs/own.json]": "is there twice",
		"[{path: log.swf, kind: batch, jobs: 1, platform: star}]": "there is no key \"platform\" of a generator of batch",
	} {
		require.Refused(t, files, require.Err(plan(files)), model.ErrInvalid, want)
	}
}
