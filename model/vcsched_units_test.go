package model_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func ratio(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// fitsByRationals is the definition of what fits, in rational numbers.
func fitsByRationals(in *model.VCSched, hosts []int32) bool {
	use := make([]big.Rat, in.Hosts)
	var moved big.Rat
	k := 0
	for i := range in.Jobs {
		j := &in.Jobs[i]
		for t := range j.Tasks {
			use[hosts[k]].Add(&use[hosts[k]], ratio(j.Memory))
			if len(j.CurrentHosts) > 0 && j.CurrentHosts[t] != int(hosts[k]) {
				moved.Add(&moved, ratio(j.Memory))
			}
			k++
		}
	}
	tol := ratio(model.FitTolerance)
	for h := range use {
		if use[h].Cmp(new(big.Rat).Add(ratio(1), tol)) > 0 {
			return false
		}
	}
	return in.MigrationBudget == nil || moved.Cmp(new(big.Rat).Add(ratio(*in.MigrationBudget), tol)) <= 0
}

// fitsInUnits is whether the placement fits in the units' memory and budget.
func fitsInUnits(u *model.VCSchedUnits, hosts []int32) bool {
	mem := make([]int64, u.Hosts)
	var moved int64
	for i, h := range hosts {
		mem[h] += u.Memory[i]
		moved += u.Moves(int32(i), h)
	}
	for _, m := range mem {
		if m > u.MemoryCap {
			return false
		}
	}
	return u.Current == nil || moved <= u.Budget
}

// checkUnits holds the units against the definition, in rational numbers: what
// fits strictly fits, what fits fits in units, Fits is exact and the judge says
// the same; and the yield bound of a load isn't below the yield of that load.
func checkUnits(t interface{ Fatalf(string, ...any) }, in *model.VCSched, hosts []int32) (fits, inUnits bool) {
	u := in.Units()
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
	if model.FitTolerance != verify.Tolerance {
		t.Fatal("the judge's tolerance is another one")
	}
	rng := rand.New(rand.NewPCG(1, 1))
	var fit, not, doubtful int
	for range 4_000 {
		in := &model.VCSched{Hosts: 2}
		n := 2 + rng.IntN(8)
		sum := 0.0
		var hosts []int32
		for i := range n {
			m := rng.Float64() / float64(n)
			if i == n-1 {
				m = (1 + model.FitTolerance - sum) * (1 + float64(rng.IntN(5)-2)*0x1p-52)
			}
			sum += m
			in.Jobs = append(in.Jobs, model.VCSchedJob{ID: fmt.Sprint(i), Tasks: 1, CPU: 0.5, Memory: min(m, 1), CurrentHosts: []int{0}})
			hosts = append(hosts, 1)
		}
		if rng.IntN(2) == 0 {
			b := min(sum, math.Nextafter(1+model.FitTolerance, 2)) - model.FitTolerance
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
