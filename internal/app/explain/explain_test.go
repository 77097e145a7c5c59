// SPDX-License-Identifier: MIT

package explain_test

import (
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/app/explain"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

func explained(t *testing.T, in model.Instance, algorithm string) (*explain.Explanation, model.Result) {
	t.Helper()
	r := require.Value(gapwise.Solve(t.Context(), in,
		gapwise.Options{Algorithm: algorithm, Settings: model.Settings{TimeLimit: 2 * time.Second}}))(t)
	return require.Value(explain.Explain(t.Context(), in, r, explain.Options{TimeLimit: 2 * time.Second}))(t), r
}

// Every result of a random instance of each problem is explained: why the bound, why no better solution, in lines of 80
// columns, and as JSON that is read back.
func TestExplain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(41, 1))
	checked := map[model.Kind]int{}
	rounds := require.Rounds(40)
	for k := range rounds {
		goal := testkit.RandomReservation(rng, 5)
		goal.Goal = model.Goals[k%4]
		for _, in := range []model.Instance{testkit.RandomDAG(rng, 6, 3), testkit.RandomVCSched(rng, k%3 == 0), goal,
			testkit.RandomBatch(rng, 1+k%2, 5, 4), testkit.RandomTVC(rng, 2, 4, k%2 == 0), testkit.Consolidation(rng, 8, 4)} {
			x, r := explained(t, in, "")
			text := x.String()
			for _, line := range strings.Split(text, "\n") {
				if len([]rune(line)) > 80 {
					t.Errorf("%s: a line of %d columns: %s", in.Kind(), len(line), line)
				}
			}
			if len(x.Why) == 0 && (x.Bound != nil || r.Status == model.StatusInfeasible) {
				t.Errorf("%s: nothing is said of the bound: %s", in.Kind(), text)
			}
			if (r.Solution != nil) != (len(x.Holds) > 0) && in.Kind() != model.KindBatch {
				t.Errorf("%s: what holds it up: %s", in.Kind(), text)
			}
			if slices.ContainsFunc(x.Why, func(r explain.Reason) bool { return r.Checked }) {
				checked[in.Kind()]++
			}
			data := require.Value(json.Marshal(x))(t)
			var back explain.Explanation
			if err := json.Unmarshal(data, &back); err != nil || back.String() != text {
				t.Errorf("%s: read back: %v:\n%s\n%s", in.Kind(), err, back.String(), text)
			}
		}
	}
	for _, kind := range []model.Kind{model.KindConsolidation, model.KindDAG, model.KindVCSched, model.KindReservation} {
		if checked[kind] < rounds/4 {
			t.Errorf("%s: %v explanations were recomputed by the judge", kind, checked)
		}
	}
}

// Tables keep to 80 columns with long names, which are cut in their middle.
func TestLongNames(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(41, 9))
	id := regexp.MustCompile(`"id":"([^"]+)"`)
	cut := map[model.Kind]bool{}
	for k := range require.Rounds(10) {
		for _, in := range []model.Instance{testkit.RandomDAG(rng, 6, 3), testkit.RandomVCSched(rng, k%3 == 0), testkit.RandomReservation(rng, 5),
			testkit.RandomBatch(rng, 1, 5, 4), testkit.RandomTVC(rng, 2, 4, k%2 == 0), testkit.Consolidation(rng, 8, 4)} {
			text := string(require.Value(json.Marshal(in))(t))
			for _, found := range id.FindAllStringSubmatch(text, -1) {
				text = strings.ReplaceAll(text, `"`+found[1]+`"`, `"a-name-that-says-very-much-of-a-small-thing-in-a-large-cluster-`+found[1]+`"`)
			}
			long := require.Value(model.DecodeInstance([]byte(text)))(t)
			x, _ := explained(t, long, "")
			for line := range strings.SplitSeq(x.String(), "\n") {
				if len([]rune(line)) > 80 && strings.HasPrefix(line, "    ") {
					t.Errorf("%s: a line of %d columns: %s", in.Kind(), len([]rune(line)), line)
				}
				if strings.HasPrefix(line, "    ") && strings.Contains(line, "…") {
					cut[in.Kind()] = true
				}
			}
		}
	}
	require.Is(t, 6, len(cut), "kinds with a name that is cut")
}

// The conflict of an infeasible placement has no placement, and any job less has, by
// enumeration.
func TestConflictOfPlacement(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(41, 2))
	found := 0
	for range require.Rounds(400) {
		in := testkit.RandomVCSched(rng, false)
		for i := range in.Jobs { // tight in memory, in figures that enumeration takes
			in.Jobs[i].Memory = float64(300+rng.IntN(500)) / 1000
		}
		if _, fits := plain.Optimum(in); fits {
			continue
		}
		x, r := explained(t, in, "exact")
		if r.Status != model.StatusInfeasible || x.Conflict == nil || !x.Conflict.Minimal {
			t.Fatalf("%s: %+v", r.Status, x)
		}
		found++
		for _, without := range append([]string{""}, x.Conflict.Elements...) {
			some := *in
			some.Jobs = nil
			for _, j := range in.Jobs {
				if j.ID != without && slices.Contains(x.Conflict.Elements, j.ID) {
					some.Jobs = append(some.Jobs, j)
				}
			}
			if len(some.Jobs) == 0 {
				continue
			}
			if _, fits := plain.Optimum(&some); fits != (without != "") {
				t.Fatalf("the conflict %v without %q: fits %v", x.Conflict.Elements, without, fits)
			}
		}
	}
	if found < 5 {
		t.Errorf("%d infeasible instances", found)
	}
}

// The conflict of a cluster without a plan has no plan, and has one without any single job, by enumeration of the
// remaining instance. A rule is dropped with a job that it needs.
func TestConflictOfConsolidation(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(41, 7))
	found := 0
	for range require.Rounds(300) {
		in := testkit.Consolidation(rng, 2+rng.IntN(4), 1+rng.IntN(3))
		if _, fits := plain.Optimum(in); fits {
			continue
		}
		x, r := explained(t, in, "exact")
		if r.Status != model.StatusInfeasible || x.Conflict == nil {
			t.Fatalf("%s: %+v", r.Status, x)
		}
		if x.Conflict.Minimal { // each question had its answer in 40 ms
			found++
		}
		for _, without := range append([]string{""}, x.Conflict.Elements...) {
			var keep []int
			for k := range in.Jobs {
				if id := in.Jobs[k].ID; id != without && slices.Contains(x.Conflict.Elements, id) {
					keep = append(keep, k)
				}
			}
			if len(keep) == 0 {
				continue
			}
			part := explain.Part(in, keep).(*model.Consolidation)
			require.OK(t, part.Validate())
			if _, fits := plain.Optimum(part); fits != (without != "") && (without == "" || x.Conflict.Minimal) {
				t.Fatalf("the conflict %v without %q: fits %v of %s", x.Conflict.Elements, without, fits, in.ID())
			}
		}
	}
	if found < 5 {
		t.Errorf("%d minimal conflicts", found)
	}
}

// A realised critical path, a communication path and the words for them, by hand: on six
// tasks of HEFT's model, the path 1-2-5-6 needs 22 s on its best machines.
func TestExplainSixTasks(t *testing.T) {
	x, _ := explained(t, testkit.SixTasks(), "heft")
	text := x.String()
	require.Says(t, "the text", strings.Join(strings.Fields(text), " "), "What limits the solution",
		"The critical path: the last task ends at", "waits for the one before it:",
		"These 4 tasks wait for each other.")
}

// A task waits for the room of another one, on a machine that has some for one more only.
func TestExplainRoom(t *testing.T) {
	t.Parallel()
	d := &model.DAG{Name: "three", Resources: []string{"cores"}, Machines: []model.Machine{{ID: "P1", Capacity: []int64{3}}},
		Tasks: []model.DAGTask{{ID: "a", CostS: []float64{5}, Needs: []int64{1}}, {ID: "b", CostS: []float64{4}, Needs: []int64{2}}, {ID: "c", CostS: []float64{3}, Needs: []int64{2}}}}
	s := &model.Schedule{Tasks: []model.TaskStart{{ID: "a", Machine: "P1"}, {ID: "b", Machine: "P1"}, {ID: "c", Machine: "P1", StartS: 4}}}
	x := require.Value(explain.Explain(t.Context(), d, model.Result{Instance: d.Name, Kind: model.KindDAG, Algorithm: "hand", Status: model.StatusFeasible, Solution: s}, explain.Options{}))(t)
	require.Says(t, "the text", strings.Join(strings.Fields(x.String()), " "), "b P1 0 s 4 s nothing c P1 4 s 7 s the room of b, on the same machine")
}

// A proof is recommended exactly where one would be written.
func TestExplainRecommendsProofs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(41, 3))
	advised := map[bool]int{}
	for k := range require.Rounds(60) {
		goal := testkit.RandomReservation(rng, 5)
		goal.Goal = model.Goals[k%4]
		for _, in := range []model.Instance{testkit.RandomVectors(rng, k%2 == 0), testkit.RandomVCSched(rng, k%2 == 0), goal,
			testkit.RandomBatch(rng, 1+k%2, 5, 4), testkit.RandomTVC(rng, 2, 4, k%2 == 0), testkit.RandomDAG(rng, 5, 2)} {
			r := require.Value(gapwise.Solve(t.Context(), in, gapwise.Options{}))(t)
			// As if a search had closed more than any bound without search does.
			r.Evidence, r.Status = &model.Evidence{Type: evidence.Search}, model.StatusFeasible
			r.Bound = r.Objective + []float64{1, -1}[k%2]
			x := require.Value(explain.Explain(t.Context(), in, r, explain.Options{}))(t)
			text := strings.Join(strings.Fields(x.String()), " ")
			if !strings.Contains(text, "proved by search") {
				continue
			}
			_, err := gapwise.Solve(t.Context(), in, gapwise.Options{Settings: model.Settings{Proof: &model.ProofWriter{Writer: io.Discard}}})
			if advised[err == nil]++; strings.Contains(text, "--proof") != (err == nil) {
				t.Fatalf("solve --proof says %v; explain: %s", err, text)
			}
		}
	}
	if advised[true] == 0 || advised[false] == 0 {
		t.Errorf("takes a proof, and doesn't: %v", advised)
	}
}

// The budget is named where it binds, and only there: the instance without it has a better
// placement, by enumeration.
func TestExplainBudget(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(41, 6))
	said := map[bool]int{}
	for range require.Rounds(200) {
		in := testkit.RandomVCSched(rng, true)
		with, fits := plain.Optimum(in)
		free := *in
		free.MigrationBudget = nil
		without, can := plain.Optimum(&free)
		x, _ := explained(t, in, "exact")
		binds := can && (!fits || without > with*(1+1e-5))
		if said[binds]++; strings.Contains(strings.Join(strings.Fields(x.String()), " "), "The migration budget of") != binds {
			t.Fatalf("yield %v (%v), without a budget %v (%v): %s", with, fits, without, can, x)
		}
	}
	if said[true] == 0 || said[false] == 0 {
		t.Error(said)
	}
}

// Evidence that the judge refuses is never put in words: whatever is forged, explain reports an error or explains it.
func TestExplainForgedEvidence(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(41, 5))
	told, refused := 0, 0
	for k := range require.Rounds(200) {
		goal := testkit.RandomReservation(rng, 4)
		for _, in := range []model.Instance{testkit.RandomVCSched(rng, false), goal, testkit.RandomBatch(rng, 1, 5, 3),
			testkit.RandomTVC(rng, 2, 4, false), testkit.RandomDAG(rng, 5, 2), testkit.Consolidation(rng, 5, 3)} {
			for range 5 {
				r := model.NewResult("mine", 1)
				r.Evidence = testkit.ForgeEvidence(rng, in)
				r.Bound = 0 // follows where less is better
				if model.SenseOf(in) == model.Maximise {
					r.Bound = 1e300
				}
				if k%8 == 0 {
					r.Status, r.Bound = model.StatusInfeasible, math.NaN()
				}
				x, err := explain.Explain(t.Context(), in, r, explain.Options{})
				if err != nil {
					refused++
					continue
				}
				told += len(x.String())
			}
		}
	}
	if told == 0 || refused == 0 {
		t.Errorf("%d bytes of explanations, %d refused", told, refused)
	}
}

// The cost of tasks that are left out is told apart from that of hosts.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	in := require.Value(model.DecodeInstance([]byte(`{"kind":"consolidation","version":1,"name":"out","resources":["cpu"],"hosts":[{"id":"a","capacity":[4],"price":4}],
		"jobs":[{"id":"x","tasks":1,"needs":[4]},{"id":"y","tasks":2,"needs":[3],"leave_out_cost":7}]}`)))(t)
	x, r := explained(t, in, "")
	if held := x.Holds[0].Words; r.Objective != 18 || !strings.HasSuffix(held, "Left out: 2 tasks, 14 of the cost.") {
		t.Errorf("a cost of %v is held up so: %s", r.Objective, held)
	}
}
