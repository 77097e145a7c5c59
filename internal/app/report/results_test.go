// SPDX-License-Identifier: MIT

package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/text/visible"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// drawnRuns are runs of three algorithms on n graphs of growing size.
func drawnRuns(n int) []Run {
	rng := rand.New(rand.NewPCG(1, 2))
	var all []Run
	for k := range n {
		tasks := 10 * float64(1+k%5)
		bound := tasks * (1 + rng.Float64())
		for j, a := range []string{"heft", "improve", "search"} {
			objective := bound * (1 + 0.2*float64(2-j)*rng.Float64())
			if k%17 == 3 && j == 0 {
				objective = math.NaN()
			}
			r := made(fmt.Sprintf("graph-%d", k), a, 1, objective, bound*0.9, 1e-4*math.Pow(tasks, float64(1+j)), map[string]float64{"tasks": tasks, "draw": float64(k)})
			if j == 2 {
				*r.Bound, r.Nodes = bound, 5
				r.Trajectory = []runs.Moment{{S: r.ElapsedS / 9, Objective: math.NaN(), Bound: bound / 2}, {S: r.ElapsedS / 3, Objective: objective * 2, Bound: bound / 2}, {S: r.ElapsedS, Objective: objective, Bound: bound}}
			}
			all = append(all, r)
		}
	}
	return all
}

func pageOf(t testing.TB, all []Run, o Options) string {
	t.Helper()
	var b bytes.Buffer
	require.OK(t, Results(context.Background(), &b, all, o))
	return b.String()
}

func TestResults(t *testing.T) {
	t.Parallel()
	text := pageOf(t, drawnRuns(20), Options{})
	require.Says(t, "the page", text, "Results of p", "60 runs of 3 algorithms on 20 instances of dag, plan p.",
		"An optimal solution is proved for 20 instances.", "1 run ended without a solution",
		`<a href="#gaps">Gaps</a>`, `<a href="#profiles">`, `<a href="#time">`, `<a href="#growth">`,
		"search: exponent 3.00", "heft: exponent 1.00", "graph-19", "59 solutions verified by gapwise 1.",
		"n = 20 problems", "gapwise bench p.yaml --instances &#39;^graph-3$&#39; -o again.jsonl")
	require.Same(t, "the page of the same runs", text, pageOf(t, drawnRuns(20), Options{}))
	wellMade(t, text)
}

// wellMade checks the properties of each page: one script and one style, which its policy names, and no address to be
// loaded.
func wellMade(t testing.TB, text string) {
	t.Helper()
	require.Same(t, "scripts", 1, strings.Count(text, "<script"))
	require.Same(t, "styles", 1, strings.Count(text, "<style"))
	if !strings.Contains(text, "default-src &#39;none&#39;") {
		t.Error("there is no policy")
	}
	for _, a := range regexp.MustCompile(`(?:src|href)\s*=\s*"([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(a[1], "#") && !strings.HasPrefix(a[1], "data:") {
			t.Errorf("the page loads %q", a[1])
		}
	}
	for k, line := range strings.Split(text, "\n") {
		require.Same(t, fmt.Sprintf("visible signs of line %d", k+1), line, visible.Text(line, "\t"))
	}
	require.Same(t, "an inline handler", "", regexp.MustCompile(`<[^>"']*\son\w+\s*=`).FindString(text))
}

// Names of any kind are text.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	evil := []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'; alert(1); //`, "`${alert(1)}`", "</style><style>*{display:none}", "\u202egnp", "a\x00b", strings.Repeat("x", 5000), "{{.}}", "javascript:alert(1)", "–", "NaN", "\x1b]0;title\a", "\u0085\r\u2066"}
	var all []Run
	for k, name := range evil {
		r := made(name, evil[(k+1)%len(evil)], 1, 10, 9, 1, map[string]float64{name: float64(k), "tasks": float64(k + 1)})
		r.Plan, r.Version, r.Commit, r.Reason, r.Options = name, name, name, name, name
		all = append(all, r)
	}
	text := pageOf(t, all, Options{Title: evil[0]})
	wellMade(t, text)
	if strings.Contains(text, evil[0]) || !strings.Contains(text, "&lt;script&gt;alert(1)") {
		t.Error("a name is markup")
	}
}

// Many runs make a page that still opens, and it states what it leaves out.
func TestManyRuns(t *testing.T) {
	t.Parallel()
	text := pageOf(t, drawnRuns(3400), Options{})
	if mb := len(text) >> 20; mb > 15 {
		t.Errorf("the page of 10,200 runs has %d MB", mb)
	}
	if !strings.Contains(text, "1400 of 3400 instances are not listed") {
		t.Error("the page doesn't say what it leaves out")
	}
}

func TestNoResults(t *testing.T) {
	if err := Results(context.Background(), &bytes.Buffer{}, nil, Options{}); err == nil {
		t.Error("nothing makes a page")
	}
	a, b := made("x", "heft", 1, 10, 5, 1, nil), made("x", "heft", 1, 11, 5, 1, nil)
	if err := Results(context.Background(), &bytes.Buffer{}, []Run{a, b}, Options{}); err == nil {
		t.Error("runs that contradict each other make a page")
	}
}

// Anything that can be read as results makes a page or an error that explains why.
func FuzzResults(f *testing.F) {
	for _, r := range drawnRuns(2) {
		f.Add(append(require.Value(json.Marshal(r.Record))(f), 10))
	}
	f.Add([]byte(`{"plan":"p","instance":"<script>","instance_hash":"","kind":"vcsched","algorithm":"x","seed":0,"status":"optimal","objective":-1e308,"bound":1e308,"elapsed_s":-1,"nodes":-3,"verified":true,"version":"","params":{"a":1e308},"trajectory":[[0,null,null],[1e300,-1,2]]}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		records, _, err := runs.DecodeRecords(bytes.NewReader(data), "fuzz")
		if err != nil || len(records) == 0 || len(records) > 50 {
			return
		}
		var all []Run
		for _, r := range records {
			r.Sealed = true // as if gapwise had written it: its figures count
			all = append(all, Run{Record: r})
		}
		var b bytes.Buffer
		if err := Results(context.Background(), &b, all, Options{}); err == nil {
			wellMade(t, b.String())
		}
	})
}

// An instance is solved, and its page has the bounds, the picture and the results.
func TestInstance(t *testing.T) {
	t.Parallel()
	in := smallGraph()
	var b bytes.Buffer
	said := 0
	require.OK(t, Instance(context.Background(), &b, in, nil,
		Solving{TimeLimit: 5e9, Seed: 1, Said: func(string) { said++ }}, Options{Pictures: 3}))
	text := b.String()
	wellMade(t, text)
	require.Says(t, "the page", text, "<h1>diamond</h1>", "It is optimal: no solution is better than the bound",
		"critical-path", "data:image/svg+xml;base64,", "has verified", "gapwise solve --algorithm")
	if said < 5 {
		t.Errorf("%d lines were said", said)
	}
}

func smallGraph() *model.DAG {
	return &model.DAG{Name: "diamond", Machines: []model.Machine{{ID: "m1"}, {ID: "m2"}}, Network: model.Network{Bandwidth: 1},
		Tasks: []model.DAGTask{{ID: "a", CostS: []float64{2, 3}}, {ID: "b", CostS: []float64{4, 2}}, {ID: "c", CostS: []float64{3, 3}}, {ID: "d", CostS: []float64{1, 2}}},
		Edges: []model.DAGEdge{{From: "a", To: "b", Data: 1}, {From: "a", To: "c", Data: 1}, {From: "b", To: "d", Data: 1}, {From: "c", To: "d", Data: 1}}}
}

// The results before the context ended are on the page, which states what it lacks; if there are none, the reason isn't
// the instance.
func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var b bytes.Buffer
	s := Solving{TimeLimit: 2e8, Seed: 1, Said: func(string) { cancel() }}
	require.OK(t, Instance(ctx, &b, smallGraph(), nil, s, Options{Pictures: 1}))
	require.Says(t, "the text", b.String(), "one-machine",
		"Algorithms that didn&#39;t run: the command was stopped before.",
		"Pictures of 1 solution: the command was stopped before.")
	require.Refused(t, "stopped from the start", Instance(ctx, &b, smallGraph(), nil, s, Options{}),
		context.Canceled, "")
}

// A log's page has its policies over time.
func TestLog(t *testing.T) {
	t.Parallel()
	in := smallLog()
	in.Account = model.NewAccount("x<y.swf", "Standard Workload Format")
	in.Account.Took(60, "jobs")
	var b bytes.Buffer
	require.OK(t, Instance(context.Background(), &b, in,
		&Log{Name: "<log>", Command: "gapwise convert x.swf"},
		Solving{TimeLimit: 2e8, Seed: 1}, Options{Pictures: 1}))
	text := b.String()
	wellMade(t, text)
	require.Says(t, "the page", text, "Policies", "Over time", "clairvoyant", "declined work",
		"x&lt;y.swf: Standard Workload Format, taken: 60 jobs", "all PEs", "gapwise convert x.swf", "&lt;log&gt;")
}

func smallLog() *model.Reservation {
	rng := rand.New(rand.NewPCG(3, 3))
	in := &model.Reservation{Name: "<log>", PEs: 16}
	at := 0.0
	for k := range 60 {
		at += math.Floor(rng.ExpFloat64() * 400)
		long := 60 + math.Floor(rng.ExpFloat64()*2000)
		in.Requests = append(in.Requests, model.Request{ID: fmt.Sprint(k + 1), ArrivalS: at, ReadyS: at, DurationS: long, DeadlineS: at + 2*long, PEs: 1 + rng.IntN(12)})
	}
	return in
}

// A solution that another run proves to be optimal is called so, and a result that a file only states is called stated,
// in the rows and in the tables' counts.
func TestStatusesAgree(t *testing.T) {
	runs := []Run{made("g", "heft", 1, 10, 8, 0.1, nil), made("g", "search", 1, 10, 10, 0.2, nil), made("g", "cpop", 1, 12, 8, 0.1, nil)}
	runs[1].Status, runs[1].Nodes = model.StatusOptimal, 5
	text := pageOf(t, runs, Options{})
	for want, n := range map[string]int{">optimal (search)<": 1, ">feasible<": 1} {
		if got := strings.Count(text, want); got != n {
			t.Errorf("%d times %q, want %d", got, want, n)
		}
	}
	for i := range runs {
		runs[i].Sealed = false
	}
	text = pageOf(t, runs, Options{})
	if strings.Contains(text, "optimal (search)") || !strings.Contains(text, ">stated optimal<") || !strings.Contains(text, "stated optimal, not re-checked here") || strings.Contains(text, "0 of 1") {
		t.Error("what is stated counts as proved")
	}
}

// The table and the page of one file agree: on how many are optimal, and the gaps; for proved runs, for runs that are
// only stated, and for a mixture.
func TestPageAgreesWithTable(t *testing.T) {
	t.Parallel()
	for name, sealed := range map[string]func(k int) bool{"proved": func(int) bool { return true }, "stated": func(int) bool { return false }, "some": func(k int) bool { return k%4 > 0 }} {
		given := drawnRuns(20)
		var records []runs.Record
		for k := range given {
			given[k].Sealed = sealed(k)
			records = append(records, given[k].Record)
		}
		figures := require.Value(runs.Tabulate(records,
			runs.TableOptions{Columns: []string{"runs", "failed", "optimal", "gap mean %", "gap median %",
				"gap max %", "deg. mean %"}}))(t)
		page := pageOf(t, given, Options{})
		for _, r := range figures.Rows {
			_, rest, _ := strings.Cut(page, `<th scope="row">`+r.Algorithm+"</th>")
			rest, _, _ = strings.Cut(rest, "</tr>")
			var cells []string
			for _, m := range regexp.MustCompile(">([^<]*)</td>").FindAllStringSubmatch(rest, -1) {
				cells = append(cells, m[1])
			}
			want := []string{string(r.Class)}
			for _, n := range r.Values[:3] {
				want = append(want, fmt.Sprint(n))
			}
			want = append(want, fmt.Sprint(len(runs.Values(r.Runs, runs.Run.Gap))))
			for _, share := range r.Values[3:] {
				want = append(want, words.Percent(share/100))
			}
			if len(cells) < len(want) || !slices.Equal(cells[:len(want)], want) {
				t.Errorf("%s, %s: the page says %q, the table %q", name, r.Algorithm, cells, want)
			}
		}
		proved := 0
		for _, k := range runs.Learn(records, nil) {
			if k.Optimal(k.Best) {
				proved++
			}
		}
		if want := fmt.Sprintf("%d of 20</b>", proved); !strings.Contains(page, want) && !strings.Contains(page, fmt.Sprintf("%d of 20<", proved)) {
			t.Errorf("%s: the page doesn't say that %d of 20 are proved optimal", name, proved)
		}
	}
}
