package explain_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/explain"
	"github.com/gapwise/gapwise/internal/need"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/modeltest"
)

func explained(t *testing.T, in model.Instance, algorithm string) (*explain.Explanation, model.Result) {
	t.Helper()
	r, err := gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: algorithm, Settings: model.Settings{TimeLimit: 2 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	x, err := explain.Explain(t.Context(), in, r, explain.Options{TimeLimit: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return x, r
}

// Every result of a random instance of each problem is explained: why the bound, what
// holds it up, in lines of 80 columns, and as JSON that is read back.
func TestExplain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(41, 1))
	checked := map[model.Kind]int{}
	rounds := need.Rounds(40)
	for k := range rounds {
		goal := modeltest.RandomReservation(rng, 5)
		goal.Goal = model.Goals[k%4]
		for _, in := range []model.Instance{modeltest.RandomDAG(rng, 6, 3), modeltest.RandomVCSched(rng, k%3 == 0), goal,
			modeltest.RandomBatch(rng, 1+k%2, 5, 4), modeltest.RandomTVC(rng, 2, 4, k%2 == 0)} {
			x, r := explained(t, in, "")
			text := x.String()
			for _, line := range strings.Split(text, "\n") {
				if len([]rune(line)) > 100 || len([]rune(line)) > 80 && !strings.HasPrefix(line, "    ") {
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
			data, err := json.Marshal(x)
			if err != nil {
				t.Fatal(err)
			}
			var back explain.Explanation
			if err := json.Unmarshal(data, &back); err != nil || back.String() != text {
				t.Errorf("%s: read back: %v:\n%s\n%s", in.Kind(), err, back.String(), text)
			}
		}
	}
	for _, kind := range []model.Kind{model.KindDAG, model.KindVCSched, model.KindReservation} {
		if checked[kind] < rounds/4 {
			t.Errorf("%s: %v explanations were recomputed by the judge", kind, checked)
		}
	}
}

// The conflict of an infeasible placement has no placement, and any job less has, by
// enumeration.
func TestConflictOfPlacement(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(41, 2))
	found := 0
	for range need.Rounds(400) {
		in := modeltest.RandomVCSched(rng, false)
		for i := range in.Jobs { // tight in memory, in figures that enumeration takes
			in.Jobs[i].Memory = float64(300+rng.IntN(500)) / 1000
		}
		if _, fits := modeltest.BruteVCSched(in); fits {
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
			if _, fits := modeltest.BruteVCSched(&some); fits != (without != "") {
				t.Fatalf("the conflict %v without %q: fits %v", x.Conflict.Elements, without, fits)
			}
		}
	}
	if found < 5 {
		t.Errorf("%d infeasible instances", found)
	}
}

// A realised critical path, a communication path and the words for them, by hand: on six
// tasks of HEFT's model, the path 1-2-5-6 needs 22 s on its best machines.
func TestExplainSixTasks(t *testing.T) {
	t.Parallel()
	x, _ := explained(t, modeltest.SixTasks(), "heft")
	text := x.String()
	for _, want := range []string{"What holds it up", "The critical path: the last task ends at", "waits for the one before it:", "These 4 tasks wait for each other."} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%q isn't in\n%s", want, text)
		}
	}
}
