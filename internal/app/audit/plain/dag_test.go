// SPDX-License-Identifier: MIT

package plain_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

func TestDAG(t *testing.T) {
	for name, c := range map[string]struct {
		d    *model.DAG
		want float64
	}{
		"no task":         {&model.DAG{Machines: []model.Machine{{ID: "a"}}}, 0},
		"one task":        {testkit.DAG([][]float64{{3, 2, 4}}, nil), 2},
		"six tasks":       {testkit.SixTasks(), 23},
		"away or at home": {testkit.DAG([][]float64{{1, 1}, {4, 4}, {4, 4}}, [][3]float64{{1, 2, 2}, {1, 3, 2}}), 7},
		"two parts":       {testkit.DAG([][]float64{{3, 9}, {9, 3}, {2, 9}, {9, 2}}, [][3]float64{{1, 3, 100}, {2, 4, 100}}), 5},
		"no time":         {testkit.DAG([][]float64{{0, 0}, {0, 0}}, [][3]float64{{1, 2, 5}}), 0},
	} {
		t.Run(name, func(t *testing.T) {
			agree(t, c.d, c.want)
		})
	}
}

// The rules on indistinguishable parts change no optimum, at sizes where they meet each other.
func TestDAGWithoutSymmetries(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 7))
	for range 3000 {
		d := testkit.RandomDAG(rng, 5+rng.IntN(4), 2+rng.IntN(2))
		want := solved(t, d, math.NaN()).Value
		got, whole := plain.DAGWithoutSymmetries(d, enough)
		if !whole || math.Abs(got-want) > 2e-9*want {
			t.Fatalf("%v with the rules, %v without (whole %v)\n%+v", want, got, whole, d)
		}
	}
}

// On machines with capacities the search agrees with an enumeration of all machines and orders of starts, and, where it
// is too large for that, with itself without the rules on indistinguishable parts.
func TestDAGWithCapacities(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 3))
	for n := range require.Rounds(3000) {
		d := testkit.Roomy(rng, testkit.RandomDAG(rng, 1+rng.IntN(5), 1+rng.IntN(3)))
		if rng.IntN(4) == 0 {
			if testkit.Restrict(rng, d); d.Validate() != nil {
				continue
			}
		}
		want := testkit.LeastRoomy(d)
		if math.IsInf(want, 1) {
			want = math.NaN()
		}
		if agree(t, d, want); n%2 > 0 {
			continue
		}
		d = testkit.Roomy(rng, testkit.RandomDAG(rng, 5+rng.IntN(3), 2+rng.IntN(2)))
		want = solved(t, d, math.NaN()).Value
		got, whole := plain.DAGWithoutSymmetries(d, enough)
		if !whole || math.Abs(got-want) > 2e-9*want {
			t.Fatalf("%v with the rules, %v without (whole %v)\n%+v", want, got, whole, d)
		}
	}
}

// Instances on which the search of version 0.3.0 called too much optimal: its
// value can be beaten, and the right one can't.
func TestDAGFound(t *testing.T) {
	for file, value := range map[string][2]float64{
		"dag-m472": {684, 674}, "dag-m1324": {290, 287}, "dag-falsely-optimal-19": {96, 94},
		"dag-search-wrong-optimum-13-for-12": {13, 12}, "dag-search-wrong-optimum-19-for-15": {19, 15},
		"dag-search-wrong-optimum-2-for-1": {2, 1}, "dag-search-wrong-optimum-floats": {18.143, 17.88150617070685},
	} {
		in := require.Value(instances.Load(filepath.Join("..", "..", "..", "..", "exact", "dag", "testdata",
			"found", file+".json")))(t)
		if a := solved(t, in, value[0]); a.Value != value[1] {
			t.Errorf("%s: found %v, want %v", file, a.Value, value[1])
		}
		if a := solved(t, in, value[1]); a.Solution != nil {
			t.Errorf("%s: found %v, want nothing", file, a.Value)
		}
	}
}
