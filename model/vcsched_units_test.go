// SPDX-License-Identifier: MIT

package model_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func ratio(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// fitsByRationals is the definition of fitting, in rational numbers.
func fitsByRationals(in *model.VCSched, hosts []int32) bool {
	amounts := func(memory float64, resources []float64) []float64 {
		return append([]float64{memory}, resources...)
	}
	use := make([][]big.Rat, in.Hosts)
	for h := range use {
		use[h] = make([]big.Rat, 1+len(in.Resources))
	}
	var moved big.Rat
	k := 0
	for i := range in.Jobs {
		j := &in.Jobs[i]
		for t := range j.Tasks {
			for r, x := range amounts(j.Memory, j.Resources) {
				use[hosts[k]][r].Add(&use[hosts[k]][r], ratio(x))
			}
			if len(j.CurrentHosts) > 0 && j.CurrentHosts[t] != int(hosts[k]) {
				moved.Add(&moved, ratio(j.Memory))
			}
			k++
		}
	}
	most := func(x, of float64) *big.Rat {
		tolerance := ratio(view.FitTolerance)
		return tolerance.Mul(tolerance, ratio(of)).Add(tolerance, ratio(x))
	}
	smallest := in.Capacity(0).Memory
	for h := range use {
		size := in.Capacity(h)
		smallest = min(smallest, size.Memory)
		for r, has := range amounts(size.Memory, size.Resources) {
			if use[h][r].Cmp(most(has, has)) > 0 {
				return false
			}
		}
	}
	return in.MigrationBudget == nil || moved.Cmp(most(*in.MigrationBudget, smallest)) <= 0
}

// fitsInUnits is whether the placement fits in the units' resources and budget.
func fitsInUnits(u *view.VCSched, hosts []int32) bool {
	var moved int64
	for i, h := range hosts {
		moved += u.Moves(int32(i), h)
	}
	for r, needs := range u.Rigid {
		use := make([]int64, u.Hosts)
		for i, h := range hosts {
			use[h] += needs[i]
		}
		for h, x := range use {
			if x > u.Classes[u.ClassOf(int32(h))].Cap[r] {
				return false
			}
		}
	}
	return u.Current == nil || moved <= u.Budget
}

// checkUnits compares the units with the definition, in rational numbers. A placement that fits strictly fits, one that
// fits also fits in units, Fits is exact and the judge agrees. The yield bound of a load isn't below the yield of that
// load.
func checkUnits(t interface{ Fatalf(string, ...any) }, in *model.VCSched, hosts []int32) (fits, inUnits bool) {
	u := view.OfVCSched(in)
	fits, inUnits = fitsByRationals(in, hosts), fitsInUnits(u, hosts)
	if u.Fits(hosts) != fits {
		t.Fatalf("Fits says %v: %+v on %v", !fits, in, hosts)
	}
	if fits && !inUnits || fitsInUnits(u.Strict(), hosts) && !fits {
		t.Fatalf("fits: %v, in units %v, strictly %v: %+v on %v", fits, inUnits, fitsInUnits(u.Strict(), hosts), in, hosts)
	}
	if r, err := verify.Verify(context.Background(), in, in.NewPlacement(hosts, in.Yield(hosts)), verify.Options{}); err != nil || r.Feasible() != fits {
		t.Fatalf("fits: %v; the judge: %v %v: %+v on %v", fits, r, err, in, hosts)
	}
	if y, b := in.Yield(hosts), u.YieldBound(u.MaxLoad(hosts)); y > b {
		t.Fatalf("yield %v above the bound %v of its own load", y, b)
	} else if y < b*(1-1e-9) {
		t.Fatalf("bound %v far above the yield %v", b, y)
	}
	return fits, inUnits
}

func TestUnitsRelax(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInstance(t)
		checkUnits(t, in, anyHosts(t, in))
	})
}

// At the border: needs that come to a host, or to the budget, with the tolerance,
// to within some units in the last place.
func TestUnitsAtTheBorder(t *testing.T) {
	require.Is(t, verify.Tolerance, view.FitTolerance, "the tolerance of the solvers beside the judge's")
	rng := rand.New(rand.NewPCG(1, 1))
	var fit, not, doubtful int
	for range 4_000 {
		in := &model.VCSched{Hosts: 2}
		has := 1.0
		if rng.IntN(2) == 0 { // hosts of another size, with their own tolerance
			has = []float64{0.001, 0.25, 1.0 / 3, 12.5, 1000}[rng.IntN(5)]
			in.HostSizes = []model.HostSize{{Count: 1, CPU: 2, Memory: min(1000, has*float64(1+rng.IntN(2)))}, {Count: 1, CPU: has, Memory: has}}
		}
		n := 2 + rng.IntN(8)
		sum := 0.0
		var hosts []int32
		for i := range n {
			m := has * rng.Float64() / float64(n)
			if i == n-1 {
				m = (has + has*view.FitTolerance - sum) * (1 + float64(rng.IntN(5)-2)*0x1p-52)
			}
			sum += m
			in.Jobs = append(in.Jobs, model.VCSchedJob{ID: fmt.Sprint(i), Tasks: 1, CPU: min(0.5, has), Memory: min(m, has), CurrentHosts: []int{0}})
			hosts = append(hosts, 1)
		}
		if rng.IntN(2) == 0 {
			b := min(sum, math.Nextafter(has+has*view.FitTolerance, 2*has)) - has*view.FitTolerance
			in.MigrationBudget = &b
		}
		fits, inUnits := checkUnits(t, in, hosts)
		switch {
		case fits:
			fit++
		default:
			not++
		}
		if !fits && inUnits {
			doubtful++
		}
	}
	if min(fit, not, doubtful) < 200 {
		t.Errorf("%d fit, %d don't, %d of them fit in units", fit, not, doubtful)
	}
}

func TestLargeBudgetAndManyHosts(t *testing.T) {
	for _, b := range []float64{0, 1e-30, 1e6, 1e300, math.MaxFloat64} {
		in := &model.VCSched{Hosts: 3, MigrationBudget: &b, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 2, CPU: 1, Memory: 1e-3, CurrentHosts: []int{0, 0}}}}
		for _, hosts := range [][]int32{{0, 0}, {0, 1}, {1, 2}} {
			checkUnits(t, in, hosts)
		}
	}
}

// A load of at most L is a sum of needs of at most Room(L), whatever the hosts' CPU.
func TestLoadAndRoom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(0.001, 1000).Draw(t, "cpu")
		in := &model.VCSched{Hosts: 1, HostSizes: []model.HostSize{{Count: 1, CPU: x, Memory: 1}}, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 1, CPU: 0.001}}}
		c := &view.OfVCSched(in).Classes[0]
		load := rapid.Int64Range(0, 1e15).Draw(t, "load")
		floor := new(big.Rat).Mul(ratio(x), new(big.Rat).SetInt64(load))
		if want := new(big.Int).Quo(floor.Num(), floor.Denom()).Int64(); c.Room(load) != want {
			t.Fatalf("a host of %v has room for %d at load %d, want %d", x, c.Room(load), load, want)
		}
		cpu := rapid.Int64Range(0, 1e15).Draw(t, "need")
		l := c.Load(cpu)
		if c.Room(l) < cpu || l > 0 && c.Room(l-1) >= cpu {
			t.Fatalf("%d on a host of %v is said to have the load %d", cpu, x, l)
		}
		ratio := new(big.Rat).Quo(new(big.Rat).SetInt64(cpu), ratio(x))
		if want := new(big.Int).Quo(ratio.Num(), ratio.Denom()).Int64(); c.LoadDown(cpu) != want {
			t.Fatalf("%d on a host of %v is said to have the load %d, rounded down, want %d", cpu, x, c.LoadDown(cpu), want)
		}
	})
}

// The parts left out of the units follow from the parts in them.
func TestRedundantResources(t *testing.T) {
	t.Parallel()
	in := &model.VCSched{Hosts: 2, Resources: []string{"same", "none", "less", "other", "again"},
		HostSizes: []model.HostSize{{Count: 1, CPU: 1, Memory: 1, Resources: []float64{1, 0, 1, 1, 1}}, {Count: 1, CPU: 1, Memory: 2, Resources: []float64{2, 1, 3, 1, 1}}},
		Jobs: []model.VCSchedJob{{ID: "a", Tasks: 2, CPU: 1, Memory: 0.5, Resources: []float64{0.5, 0, 0.25, 1, 1}},
			{ID: "b", Tasks: 1, CPU: 1, Memory: 1, Resources: []float64{1, 0, 1, 0.25, 0.25}}}}
	require.OK(t, in.Validate())
	u := view.OfVCSched(in)
	if len(u.Rigid) != 2 || u.Rigid[1][0] != u.Scale || u.Rigid[1][2] != u.Scale/4 {
		t.Errorf("%d resources are left: %v", len(u.Rigid), u.Rigid)
	}
}
