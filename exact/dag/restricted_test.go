// SPDX-License-Identifier: MIT

package dag_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	gapwise "github.com/gapwise/gapwise"
	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	dagexact "github.com/gapwise/gapwise/exact/dag"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// restricted draws a graph with some of what files say beyond the textbook.
func restricted(rng *rand.Rand) *model.DAG {
	var d *model.DAG
	switch rng.IntN(3) {
	case 0:
		d = testkit.ContendedDAG(rng, 7, 4)
	case 1:
		d = testkit.StarDAG(rng, 7, 4)
	default:
		d = testkit.RandomDAG(rng, 1+rng.IntN(7), 1+rng.IntN(4))
	}
	if testkit.Restrict(rng, d); rng.IntN(2) == 0 {
		testkit.Late(rng, d)
	}
	return d
}

// The judge follows each bound from its evidence, and the kernel's proof by replaying it.
func TestRestrictedEvidence(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(41, 1))
	followed, nowhere := map[string]int{}, 0
	for k := range max(200, require.Rounds(400)) {
		d := restricted(rng)
		// The judge's units of gathering are parts of a time on one machine: too coarse if that is 10^20 times as long.
		if d.Validate() != nil || strings.Contains(d.Name, "1e-20") {
			continue
		}
		text := require.Value(d.MarshalJSON())(t)
		for _, b := range require.Value(dagbounds.All(t.Context(), d))(t) {
			if b.Evidence == nil {
				continue
			}
			f, err := verify.Evidence(t.Context(), d, b.Evidence)
			if err != nil || !f.Implies(model.Minimise, b.Value, false) {
				t.Fatalf("%d: %s says %v, its evidence %v (%v)\n%s", k, b.Name, b.Value, f.Bound, err, text)
			}
			followed[b.Name]++
		}
		var log bytes.Buffer
		hash := require.Value(model.Hash(d))(t)
		r, err := dagexact.Kernel.Solve(t.Context(), d, model.Settings{Effort: 300_000,
			Proof: &model.ProofWriter{Writer: &log, Instance: hash}})
		if errors.Is(err, model.ErrUnsupported) { // there is no schedule
			nowhere++
			continue
		}
		require.OK(t, err)
		c, err := verify.Proof(t.Context(), d, hash, &log)
		if err != nil || c.Bound < r.Bound*(1-1e-9) || c.Bound > r.Objective*(1+1e-9) {
			t.Fatalf("%d: the proof claims %v (%v), the result is %v, at least %v\n%s", k, c.Bound, err, r.Objective,
				r.Bound, text)
		}
	}
	if nowhere == 0 {
		t.Error("every instance has a schedule")
	}
	for _, name := range []string{"critical-path", "communication-path", "area", "fernandez-bussell", "gathering",
		"traffic", "load"} {
		if followed[name] == 0 {
			t.Errorf("no evidence of %s was followed", name)
		}
	}
}

// Every algorithm gives a schedule that the judge accepts, and none beats the optimum of a file that was handed over.
func TestAccelerator(t *testing.T) {
	t.Parallel()
	never := math.Inf(1)
	d := testkit.DAG([][]float64{{5, never}, {40, 4}, {3, never}}, [][3]float64{{1, 2, 2}, {2, 3, 1}})
	everyAlgorithm(t, d, 15)
}

// everyAlgorithm solves a graph by all algorithms that take it.
func everyAlgorithm(t *testing.T, d *model.DAG, want float64) {
	t.Helper()
	p := require.Value(gapwise.ProblemOf(model.KindDAG))(t)
	for _, a := range p.Algorithms {
		r, err := a.Solver.Solve(t.Context(), d, model.Settings{Seed: 1})
		if errors.Is(err, model.ErrUnsupported) {
			continue
		} else if err != nil {
			t.Errorf("%s: %v", a.Name, err)
			continue
		}
		require.Feasible(verify.Result(t.Context(), d, r, verify.Options{}))(t, a.Name)
		if r.Objective < want-1e-9 || a.Exact && (r.Status != model.StatusOptimal || r.Objective > want+1e-9) {
			t.Errorf("%s: %s %v, the optimum is %v", a.Name, r.Status, r.Objective, want)
		}
	}
}

// Data that stay on a machine take data over its rate, as SAGA's file says that was handed over: two tasks of 2 s and 6
// units of data end at 6 s apart, by 3 units a second, and at 7 s together, by 2.
func TestLocalRate(t *testing.T) {
	t.Parallel()
	d := testkit.DAG([][]float64{{2, 2}, {2, 2}}, [][3]float64{{1, 2, 6}})
	d.Network.Bandwidth = 3
	everyAlgorithm(t, d, 4)
	for m := range d.Machines {
		d.Machines[m].LocalRate = 2
	}
	everyAlgorithm(t, d, 6)
	testkit.LinkInto(d)
	everyAlgorithm(t, d, 6)
	for _, transfer := range model.TransferModels {
		alone := testkit.DAG([][]float64{{2}, {2}}, [][3]float64{{1, 2, 6}})
		alone.TransferModel, alone.Machines[0].LocalRate = transfer, 2
		everyAlgorithm(t, alone, 7)
	}
}

// Without a path there is no transfer: the file that was handed over ends at 9 s by way of the hub. A list scheduler that
// spreads what must come together again runs all on one machine. Where nothing goes, the engines prove that, and
// heuristics find nothing.
func TestNoPath(t *testing.T) {
	t.Parallel()
	sparse := testkit.DAG([][]float64{{2, 2, 2}, {4, 4, 4}, {4, 4, 4}, {2, 2, 2}},
		[][3]float64{{1, 2, 3}, {1, 3, 3}, {2, 4, 3}, {3, 4, 3}})
	sparse.Network.PathCapacity = [][]float64{{0, 3, 0}, {3, 0, 3}, {0, 3, 0}}
	everyAlgorithm(t, sparse, 9)

	apart := testkit.DAG([][]float64{{2, 3}, {3, 2}, {1, 1}}, [][3]float64{{1, 3, 1}, {2, 3, 1}})
	apart.Network.PathCapacity = [][]float64{{0, 0}, {0, 0}}
	everyAlgorithm(t, apart, 6)
	apart.TransferModel = model.TransferFair
	testkit.LinkInto(apart)
	everyAlgorithm(t, apart, 6)

	never := math.Inf(1)
	for name, d := range map[string]*model.DAG{
		"by paths": testkit.DAG([][]float64{{2, never}, {never, 2}}, [][3]float64{{1, 2, 0}}),
		"by a search": testkit.DAG([][]float64{{1, 1, never, never}, {never, never, 1, 1}, {1, 1, never, never}, {never, never, 1, 1}},
			[][3]float64{{1, 2, 1}, {2, 3, 1}, {1, 3, 1}, {3, 4, 1}}),
	} {
		m := len(d.Machines)
		d.Network.PathCapacity = nil
		for range m {
			d.Network.PathCapacity = append(d.Network.PathCapacity, make([]float64, m))
		}
		if m == 4 { // 1 and 3 go together on one machine, and 2 between them has a path to one and from another
			d.Network.PathCapacity[0][2], d.Network.PathCapacity[1][3] = 1, 1
			d.Network.PathCapacity[2][1], d.Network.PathCapacity[3][0] = 1, 1
		}
		_, found := plain.Optimum(d)
		for _, a := range require.Value(gapwise.ProblemOf(model.KindDAG))(t).Algorithms {
			r, err := a.Solver.Solve(t.Context(), d, model.Settings{Seed: 1})
			if errors.Is(err, model.ErrUnsupported) {
				continue
			}
			want := model.StatusUnknown
			if a.Exact {
				want = model.StatusInfeasible
			}
			if found || err != nil || r.Status != want || r.Solution != nil {
				t.Errorf("%s: %s: %s (%v), want %s: %s (there is one: %v)", name, a.Name, r.Status, err, want, r.Reason, found)
			}
		}
		solved := require.Value(gapwise.Solve(t.Context(), d, gapwise.Options{}))(t)
		require.Same(t, name, model.StatusInfeasible, solved.Status)
	}
}
