// SPDX-License-Identifier: MIT

package play

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/ask"
	"github.com/gapwise/gapwise/internal/core/scene"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// put puts a question as the page does, through JSON.
func put[A any](t *testing.T, d *Desk, operation string, question any) A {
	t.Helper()
	text := require.Value(json.Marshal(question))(t)
	answer, err := d.Ask(context.Background(), operation, text, func(any) {})
	require.OK(t, err, operation, string(text[:min(len(text), 200)]))
	var a A
	if text, err = json.Marshal(answer); err == nil {
		err = json.Unmarshal(text, &a)
	}
	require.OK(t, err)
	return a
}

// examples are the files that the page offers.
func examples(t *testing.T) (paths []string) {
	t.Helper()
	data := require.Value(os.ReadFile("../../../web/page/examples.json"))(t)
	var all []struct{ Kind, Path, Title string }
	require.OK(t, json.Unmarshal(data, &all))
	for _, e := range all {
		if filepath.Base(e.Path) == "cluster.json" { // the page has it read by another program
			x := put[Unread](t, new(Desk), "load", Load{Name: "cluster.json", Data: require.Value(os.ReadFile(filepath.Join("../../..", e.Path)))(t)})
			require.Same(t, "who reads "+e.Path, "kubernetes", x.Reader)
			continue
		}
		in := require.Value(instances.Load(filepath.Join("../../..", e.Path)))(t)
		if string(in.Kind()) != e.Kind || e.Title == "" {
			t.Errorf("%s is a %s, examples.json says %+v", e.Path, in.Kind(), e)
		}
		paths = append(paths, filepath.Join("../../..", e.Path))
	}
	return paths
}

func loaded(t *testing.T, d *Desk, path string) Loaded {
	t.Helper()
	return put[Loaded](t, d, "load", Load{Name: filepath.Base(path), Data: require.Value(os.ReadFile(path))(t)})
}

// Each example is drawn and judged, and each of its boxes can be moved and the rest adapted: the figures are the
// library's, and the judge's.
func TestExamples(t *testing.T) {
	for _, path := range examples(t) {
		d := new(Desk)
		l := loaded(t, d, path)
		in, err := model.DecodeInstance(l.Instance)
		require.OK(t, err, path)
		shown := put[Shown](t, d, "solve", Solve{First: true, Seed: 1, TimeLimitS: 2})
		if shown.Solution == nil || !shown.Verdict.Accepted || len(shown.Scene.Boxes) == 0 || shown.Bound == nil {
			t.Fatalf("%s: %s draws %+v", path, shown.Algorithm, shown.Verdict)
		}
		o, err := in.Objective(require.Value(model.DecodeSolution(shown.Solution))(t))
		if err != nil || o.Value != *shown.Objective || *shown.Verdict.Objective != o.Value {
			t.Errorf("%s: objective %v and %v, the library says %v, %v", path, *shown.Objective, *shown.Verdict.Objective, o, err)
		}
		again := put[Shown](t, d, "judge", Judge{Solution: shown.Solution, Bound: shown.Bound})
		if !again.Verdict.Accepted || *again.Objective != o.Value || math.Abs(*again.Gap-model.Gap(o.Value, *shown.Bound)) > 1e-12 {
			t.Errorf("%s: judged again: %+v", path, again.Verdict)
		}
		why := put[struct {
			Why []struct{ Words string }
		}](t, d, "explain", Explain{Result: shown.Result, TimeLimitS: 1})
		if len(why.Why) == 0 {
			t.Errorf("%s: nothing explains the bound of %s's result", path, shown.Algorithm)
		}
		moved := put[struct{ Value string }](t, d, "explain", Explain{Solution: shown.Solution, Known: Known{Bound: shown.Bound}, TimeLimitS: 1})
		if strings.Contains(moved.Value, "No bound is known") {
			t.Errorf("%s: %s beside the bound %v", path, moved.Value, *shown.Bound)
		}
		checkScene(t, path, shown.Scene)
		moves(t, path, d, shown)
	}
}

// checkScene checks a picture for consistency: boxes lie in rows and on the axis, and boxes of a row don't overlap, for
// the judge has accepted them.
func checkScene(t *testing.T, path string, s *scene.Scene) {
	t.Helper()
	for i, b := range s.Boxes {
		if b.Row < 0 || b.Row >= len(s.Rows) || b.Lane < 0 || b.Lanes < 1 || b.Lane+b.Lanes > s.Rows[b.Row].Lanes || b.Low < s.Low-1e-9 || b.High > s.High+1e-6 || b.High < b.Low || len(b.Facts) == 0 {
			t.Fatalf("%s: box %d is %+v of %+v", path, i, b, s.Rows)
		}
		for _, o := range s.Boxes[:i] {
			if o.Row == b.Row && o.Lane < b.Lane+b.Lanes && b.Lane < o.Lane+o.Lanes && o.Low < b.High-1e-6 && b.Low < o.High-1e-6 {
				t.Errorf("%s: %q and %q lie on each other", path, o.Label, b.Label)
			}
		}
	}
}

// moves moves boxes: to where they are, which changes nothing, and to the other end. The result is judged, and adapted.
func moves(t *testing.T, path string, d *Desk, shown Shown) {
	t.Helper()
	tried := 0
	for _, b := range shown.Scene.Boxes {
		if b.Drag == "" || tried > 40 {
			continue
		}
		tried++
		m := Move{Item: b.Item, Task: b.Task, Drop: shown.Scene.Rows[b.Row].Drop, Lane: b.Lane, At: b.Low}
		if same := put[Shown](t, d, "move", Change{Judge{Solution: shown.Solution, Bound: shown.Bound}, m}); b.Role != scene.Declined && b.Lanes == lanesOf(shown.Scene, b.Item) && math.Abs(*same.Objective-*shown.Objective) > 1e-6 {
			t.Errorf("%s: %q moved to where it is: %v is now %v, %+v", path, b.Item, *shown.Objective, *same.Objective, same.Verdict)
		}
		rows := shown.Scene.Rows
		for k := len(rows) - 1; k >= 0; k-- {
			if rows[k].Drop != "" && rows[k].Drop != m.Drop {
				m.Drop = rows[k].Drop
				break
			}
		}
		m.At += 1
		far := put[Shown](t, d, "move", Change{Judge{Solution: shown.Solution, Bound: shown.Bound}, m})
		if far.Verdict == nil || far.Scene == nil || far.Verdict.Accepted != (len(far.Verdict.Violations) == 0) {
			t.Errorf("%s: %+v gives %+v", path, m, far.Verdict)
		}
		if tried%8 == 1 {
			if mended := put[Shown](t, d, "mend", Judge{Solution: far.Solution, Bound: shown.Bound, Keep: b.Item}); mended.Verdict == nil || !mended.Verdict.Accepted {
				t.Errorf("%s: mended after %+v: %+v", path, m, mended.Verdict)
			} else if isVCSched := d.in.Kind() == model.KindVCSched; isVCSched && !slices.ContainsFunc(mended.Scene.Boxes, func(x scene.Box) bool {
				return x.Item == m.Item && x.Task == m.Task && mended.Scene.Rows[x.Row].Drop == m.Drop
			}) {
				t.Errorf("%s: after %+v mending has moved it again", path, m)
			}
		}
	}
}

func lanesOf(s *scene.Scene, item string) (n int) {
	for _, b := range s.Boxes {
		if b.Item == item && b.Drag != "" {
			n += b.Lanes
		}
	}
	return n
}

// Tables become instances of the problem that their columns name.
func TestTables(t *testing.T) {
	d := new(Desk)
	for _, c := range []struct {
		text, said string
		capacity   int
		want       model.Instance
	}{
		{"name,cpu,mem\nweb,40%,0.5\ndb,0.7,0.9\n", "t.csv: table, taken: 2 rows. assumed: 2 hosts: the table tells none", 0,
			&model.VCSched{Name: "t", Hosts: 2, Jobs: []model.VCSchedJob{{ID: "web", Tasks: 1, CPU: 0.4, Memory: 0.5}, {ID: "db", Tasks: 1, CPU: 0.7, Memory: 0.9}}}},
		{"processors;runtime\n2;60\n3;30\n", "t.csv: table, taken: 2 rows", 4,
			&model.Batch{Name: "t", Processors: 4, Tiers: 1, Jobs: []model.BatchJob{{ID: "1", RuntimeS: 60, Processes: 2}, {ID: "2", RuntimeS: 30, Processes: 3}}}},
		{"id\tpes\tduration\tdeadline\na\t2\t10\t20\n", "t.csv: table, taken: 1 row. assumed: 2 PEs: the table tells none", 0,
			&model.Reservation{Name: "t", PEs: 2, Requests: []model.Request{{ID: "a", PEs: 2, DurationS: 10, DeadlineS: 20}}}},
		{"id|vms|mbps|duration\na|3|100|10\n", "t.csv: table, taken: 1 row", 2,
			&model.TVC{Name: "t", FatTree: model.FatTree{K: 4, Slots: 2, LinkMbps: 1000}, Requests: []model.TVCRequest{{ID: "a", VMs: 3, BandwidthMbps: 100, DurationS: 10}}}},
	} {
		l := put[Loaded](t, d, "load", Load{Name: "t.csv", Text: c.text, Capacity: c.capacity})
		model.SetAccount(d.in, nil)
		if strings.Join(l.Said, ". ") != c.said || !reflect.DeepEqual(d.in, c.want) {
			t.Errorf("%q becomes %s, %q", c.text, l.Instance, l.Said)
		}
		if shown := put[Shown](t, d, "solve", Solve{Seed: 1, TimeLimitS: 2}); shown.Verdict == nil || !shown.Verdict.Accepted {
			t.Errorf("%q: %+v", c.text, shown.Verdict)
		}
	}
}

// Whatever is moved wherever, one move after the other, there is a verdict and a picture with its boxes inside, or an
// error.
func TestMovesAtRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, path := range examples(t) {
		d := new(Desk)
		loaded(t, d, path)
		now := put[Shown](t, d, "solve", Solve{First: true, Seed: 1, TimeLimitS: 2})
		for range 25 {
			s := now.Scene
			b := s.Boxes[random.IntN(len(s.Boxes))]
			m := Move{Item: b.Item, Task: b.Task, Drop: s.Rows[random.IntN(len(s.Rows))].Drop, Lane: random.IntN(100) - 20, At: (random.Float64()*3 - 1) * s.High}
			question := require.Value(json.Marshal(Change{Judge{Solution: now.Solution, Bound: now.Bound}, m}))(t)
			answer, err := d.Ask(context.Background(), "move", question, func(any) {})
			if err != nil {
				if strings.Contains(err.Error(), "panic") {
					t.Errorf("%s: %+v: %v", path, m, err)
				}
				continue
			}
			now = *answer.(*Shown)
			if now.Verdict == nil || now.Scene == nil || len(now.Scene.Boxes) == 0 {
				t.Fatalf("%s: %+v gives %+v", path, m, now)
			}
			for _, b := range now.Scene.Boxes {
				if b.Row < 0 || b.Row >= len(now.Scene.Rows) || b.Lane < 0 || b.Lanes < 1 || b.Lane+b.Lanes > now.Scene.Rows[b.Row].Lanes || b.High < b.Low {
					t.Fatalf("%s: after %+v a box is %+v", path, m, b)
				}
			}
		}
	}
}

// The conflict of an instance without a solution is drawn.
func TestConflict(t *testing.T) {
	d := new(Desk)
	put[Loaded](t, d, "load", Load{Name: "eight.json", Text: read(t, "../../../docs/examples/eight-requests.json"), Variants: map[string]string{"goal": "all"}})
	shown := put[Shown](t, d, "solve", Solve{Seed: 1, TimeLimitS: 5})
	if shown.Status != "infeasible" || shown.Scene == nil || len(shown.Scene.Boxes) != 5 || shown.Scene.Boxes[0].Role != scene.Tight {
		t.Errorf("eight requests that all must be kept: %s, %+v", shown.Status, shown.Scene)
	}
}

// A move breaks the rules that it should.
func TestMoveBreaks(t *testing.T) {
	d := new(Desk)
	loaded(t, d, "../../../docs/examples/six-tasks.json")
	shown := put[Shown](t, d, "solve", Solve{Algorithm: "heft", Seed: 1})
	require.Is(t, 25, *shown.Objective, "heft's makespan")
	worse := put[Shown](t, d, "move", Change{Judge{Solution: shown.Solution, Bound: shown.Bound}, Move{Item: "6", Drop: "machine:P1", At: 30}})
	if !worse.Verdict.Accepted || *worse.Objective != 35 {
		t.Errorf("task 6 on P1 at 30 s: %v, %+v", *worse.Objective, worse.Verdict)
	}
	broken := put[Shown](t, d, "move", Change{Judge{Solution: shown.Solution, Bound: shown.Bound}, Move{Item: "6", Drop: "machine:P1", At: 0}})
	if broken.Verdict.Accepted || !strings.Contains(broken.Verdict.Violations[0].Where, `"6"`) {
		t.Errorf("task 6 on P1 at 0 s: %+v", broken.Verdict)
	}
	mended := put[Shown](t, d, "mend", Judge{Solution: broken.Solution, Bound: shown.Bound})
	if !mended.Verdict.Accepted {
		t.Errorf("mended: %+v", mended.Verdict)
	}
	if _, err := d.Ask(context.Background(), "move", []byte(`{"solution":`+string(shown.Solution)+`,"move":{"item":"7","drop":"machine:P1"}}`), func(any) {}); err == nil {
		t.Error("a task that isn't there was moved")
	}
}

// An explanation, a trace and a proof equal the library's; a changed proof doesn't hold.
func TestExplainTraceProve(t *testing.T) {
	d := new(Desk)
	loaded(t, d, "../../../docs/examples/six-tasks.json")
	told := 0
	answer, err := d.Ask(context.Background(), "solve", []byte(`{"algorithm":"auto","seed":1,"time_limit_s":5}`), func(any) { told++ })
	if err != nil || told == 0 {
		t.Fatalf("%v, told %d times", err, told)
	}
	solved := answer.(*Shown)
	in := require.Value(instances.Load("../../../docs/examples/six-tasks.json"))(t)
	r, err := gapwise.Solve(context.Background(), in, gapwise.Options{Settings: model.Settings{Seed: 1}})
	if err != nil || *solved.Objective != r.Objective || solved.Status != string(r.Status) {
		t.Errorf("%v %s, the library says %v %s, %v", *solved.Objective, solved.Status, r.Objective, r.Status, err)
	}
	why := put[struct {
		Why []struct{ Words string }
	}](t, d, "explain", Explain{Result: solved.Result, TimeLimitS: 5})
	if len(why.Why) == 0 {
		t.Error("nothing is explained")
	}
	// What other solves have told counts, too.
	heft := put[Shown](t, d, "solve", Solve{Algorithm: "heft", Seed: 1})
	told23 := Known{Objective: solved.Objective, Bound: solved.Bound, By: "auto"}
	beside := put[struct{ Value string }](t, d, "explain", Explain{Solution: heft.Solution, Known: told23, TimeLimitS: 5})
	require.Same(t, "heft's value", "Makespan: 25 s. A known solution has 23 s, and none has less: that one is optimal.", beside.Value)
	least := 24.0
	told23.Objective = &least
	beside = put[struct{ Value string }](t, d, "explain", Explain{Solution: heft.Solution, Known: told23, TimeLimitS: 5})
	require.Same(t, "heft's value beside one that isn't optimal",
		"Makespan: 25 s. A known solution has 24 s, and none has less than 23 s; what lies between the two, 4.17 %, isn't settled.", beside.Value)
	if traced := put[Shown](t, d, "solve", Solve{Algorithm: "heft", Seed: 1, Trace: true}); len(traced.Steps) != 13 {
		t.Errorf("%d steps of heft, want 6 ranks, an order and 6 places", len(traced.Steps))
	}
	proved := put[Shown](t, d, "solve", Solve{Proof: true, Seed: 1, TimeLimitS: 5})
	if c := put[ask.CheckAnswer](t, d, "check", Check{proved.Proof}); !c.Accepted || *c.Bound != r.Objective {
		t.Errorf("the proof: %+v", c)
	}
	lines := strings.SplitAfter(proved.Proof, "\n")
	if c := put[ask.CheckAnswer](t, d, "check", Check{strings.Join(lines[:len(lines)/2], "")}); c.Accepted || c.Reason == "" {
		t.Errorf("half of the proof: %+v", c)
	}
}

// Files are read as gapwise convert reads them; of some it can be said how.
func TestLoad(t *testing.T) {
	d := new(Desk)
	const vbp = "1\n10\n2\n6 2\n3 1\n"
	for _, c := range []struct {
		packing string
		want    model.Kind
	}{{"", model.KindVCSched}, {"consolidation", model.KindConsolidation}} {
		l := put[Loaded](t, d, "load", Load{Name: "x.vbp", Text: vbp, Packing: c.packing})
		require.Same(t, "the items of "+c.packing, c.want, l.Kind)
		require.Same(t, "how they can be read", "packings", l.Reading)
	}
	data := require.Value(os.ReadFile("../../../examples/operator/day.swf"))(t)
	for _, name := range []string{"day.swf", "pasted"} {
		l := put[Loaded](t, d, "load", Load{Name: name, Data: data, First: 20})
		if l.Kind != model.KindBatch || len(l.Said) == 0 || l.Reading != "logs" {
			t.Errorf("%s becomes %+v", name, l)
		}
		l = put[Loaded](t, d, "load", Load{Name: name, Data: data})
		ran := put[Shown](t, d, "solve", Solve{Algorithm: "log", Seed: 1, TimeLimitS: 5})
		easy := put[Shown](t, d, "solve", Solve{Algorithm: "easy", Seed: 1, TimeLimitS: 5})
		if !l.Ran || ran.Algorithm != "log" || ran.Class != string(model.Online) || !ran.Verdict.Accepted || ran.Bound == nil || *ran.Objective <= *easy.Objective {
			t.Errorf("%s: the log's schedule, by %q of class %q, has %v, easy %v", name, ran.Algorithm, ran.Class, *ran.Objective, *easy.Objective)
		}
		if l := put[Loaded](t, d, "load", Load{Name: name, Data: data, First: 20, Kind: "reservation"}); l.Ran {
			t.Errorf("%s as reservations has a schedule", name)
		}
	}
	stg := "3\n0 0 0\n1 4 1 0\n2 3 1 0\n3 2 2 1 2\n4 0 1 3\n"
	if l := put[Loaded](t, d, "load", Load{Name: "x.stg", Text: stg, Platform: "uniform,machines=2"}); l.Kind != model.KindDAG {
		t.Errorf("an STG file becomes %+v", l)
	}
	for name, text := range map[string]string{"empty": "", "table": "a,b\n1,2\n", "no rows": "cpu,memory\n", "no number": "cpu,memory\nmuch,0.5\n", "too large": "cpu,memory\n0.5,1.5\n", "unknown": "cpu,memory,colour\n0.5,0.5,red\n", "no machines": stg, "wrong": `{"kind":"dag"}`} {
		question := require.Value(json.Marshal(Load{Name: name, Text: text}))(t)
		if _, err := d.Ask(context.Background(), "load", question, func(any) {}); err == nil || strings.Contains(err.Error(), "panic") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if l := put[Loaded](t, d, "load", Load{Name: "six.json", Text: read(t, "../../../docs/examples/six-tasks.json"), Variants: map[string]string{"transfers": "fair"}}); l.Variants[0].Value != "fair" {
		t.Errorf("read with fair transfers: %+v", l.Variants)
	}
	a := put[About](t, d, "about", struct{}{})
	if len(a.Kinds) != len(model.Kinds()) || a.Version != gapwise.Version || len(a.Classes) != 3 {
		t.Errorf("about: %+v", a)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	return string(require.Value(os.ReadFile(path))(t))
}

// The page loads HiGHS for the algorithms that can't do without, and for no others.
func TestLinear(t *testing.T) {
	const inside = "GAPWISE_TEST_LINEAR"
	if os.Getenv(inside) == "" {
		c := exec.Command(os.Args[0], "-test.run=^TestLinear$", "-test.v")
		// A process looks for HiGHS once.
		c.Env = append(os.Environ(), inside+"=1", "GAPWISE_HIGHS="+filepath.Join(t.TempDir(), "none"))
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS: TestLinear") {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	d, hard := new(Desk), []string{"sixteen-hosts.json", "forty-clusters.json"}
	for _, path := range examples(t) {
		in := loaded(t, d, path)
		for _, k := range put[About](t, d, "about", struct{}{}).Kinds {
			for _, a := range k.Algorithms {
				if k.Kind != in.Kind || slices.Contains(hard, filepath.Base(path)) {
					continue
				}
				question := require.Value(json.Marshal(Solve{Algorithm: a.Name, Seed: 1, TimeLimitS: 0.2,
					Quiet: true}))(t)
				_, err := d.Ask(context.Background(), "solve", question, func(any) {})
				// A variant that the linear model doesn't know is unsupported, too.
				missing, unsupported := errors.Is(err, highs.ErrMissing), errors.Is(err, model.ErrUnsupported)
				if missing && !a.Linear || !unsupported && a.Linear {
					t.Errorf("%s, %s: linear is %v, and without HiGHS: %v", path, a.Name, a.Linear, err)
				}
			}
		}
	}
}
