// SPDX-License-Identifier: MIT

package vcsched

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// vcschedFamilies draw the CPU and the memory need of n tasks on some hosts: ordinary ones, and ones where equal items,
// exact fits and roundings meet.
var vcschedFamilies = []struct {
	name string
	draw func(rng *rand.Rand, n, hosts int) (cpu, memory []float64)
}{
	{"uniform", func(rng *rand.Rand, n, hosts int) (c, m []float64) {
		return needs(n, func(int) float64 { return 0.05 + 0.95*rng.Float64() }), needs(n, func(int) float64 { return min(1, 1.6*rng.Float64()*float64(hosts)/float64(n)) })
	}},
	{"loose memory", func(rng *rand.Rand, n, hosts int) (c, m []float64) {
		return needs(n, func(int) float64 { return 0.05 + 0.95*rng.Float64() }), needs(n, func(int) float64 { return min(1, rng.Float64()*float64(hosts)/float64(n)) })
	}},
	{"no memory", func(rng *rand.Rand, n, hosts int) (c, m []float64) {
		return needs(n, func(int) float64 { return float64(1+rng.IntN(100)) / 100 }), make([]float64, n)
	}},
	{"equal", func(rng *rand.Rand, n, hosts int) (c, m []float64) {
		kinds := 1 + rng.IntN(3)
		kc, km := needs(kinds, func(int) float64 { return float64(1+rng.IntN(20)) / 20 }), needs(kinds, func(int) float64 { return float64(rng.IntN(12)) / 20 })
		for range n {
			k := rng.IntN(kinds)
			c, m = append(c, kc[k]), append(m, km[k])
		}
		return c, m
	}},
	{"tenths", func(rng *rand.Rand, n, hosts int) (c, m []float64) {
		return needs(n, func(int) float64 { return float64(1+rng.IntN(10)) / 10 }), needs(n, func(int) float64 { return float64(rng.IntN(7)) / 10 })
	}},
	{"float32", func(rng *rand.Rand, n, hosts int) (c, m []float64) {
		d := []int{3, 6, 7, 10}[rng.IntN(4)]
		f := func(least, most int) float64 { return float64(float32(least+rng.IntN(most-least+1)) / float32(d)) }
		return needs(n, func(int) float64 { return f(1, d) }), needs(n, func(int) float64 { return f(0, (d+1)/2) })
	}},
	{"around 1/k", func(rng *rand.Rand, n, hosts int) (c, m []float64) {
		f := func() float64 {
			return 1/float64(2+rng.IntN(3)) + []float64{0, 1e-3, -1e-3, 1e-6, 1e-7, -1e-7, 1e-9, 5e-10, -1e-9, 1e-10, 1e-12}[rng.IntN(11)]
		}
		return needs(n, func(int) float64 { return f() }), needs(n, func(int) float64 { return f() })
	}},
	{"fills a host", func(rng *rand.Rand, n, hosts int) (c, m []float64) {
		return parts(rng, n, hosts, 1), parts(rng, n, hosts, 1)
	}},
	{"fills a host to the tolerance", func(rng *rand.Rand, n, hosts int) (c, m []float64) {
		return parts(rng, n, hosts, 1), parts(rng, n, hosts, 1+view.FitTolerance)
	}},
	{"tiny", func(rng *rand.Rand, n, hosts int) (c, m []float64) {
		f := func(int) float64 { return math.Pow(10, -12*rng.Float64()) }
		return needs(n, f), needs(n, f)
	}},
}

func needs(n int, draw func(int) float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = draw(i)
	}
	return all
}

// parts cuts one piece of the given size for each host into n needs, the last one of each to the last bits, more or
// less.
func parts(rng *rand.Rand, n, hosts int, size float64) []float64 {
	var all []float64
	for h := range hosts {
		k := n/hosts + (hosts-1+n%hosts-h)/hosts
		if h == hosts-1 {
			k = n - len(all)
		}
		left := size
		for i := range k {
			x := left
			if i < k-1 {
				x = left * (0.2 + 0.6*rng.Float64()) * 2 / float64(k-i)
			} else if rng.IntN(4) == 0 {
				x *= 1 + float64(rng.IntN(9)-4)*0x1p-52
			}
			left -= x
			all = append(all, min(1, max(1e-12, x)))
		}
	}
	rng.Shuffle(n, func(a, b int) { all[a], all[b] = all[b], all[a] })
	return all
}

// drawVCSched draws an instance of n tasks of the family.
func drawVCSched(rng *rand.Rand, family, n, hosts int, parallel, budget bool) *model.VCSched {
	in := &model.VCSched{Name: vcschedFamilies[family].name, Hosts: hosts}
	cpu, memory := vcschedFamilies[family].draw(rng, n, hosts)
	place := make([]float64, hosts)
	for k := 0; k < n; {
		tasks := 1
		if parallel && rng.IntN(3) == 0 {
			tasks = min(n-k, 2+rng.IntN(3))
		}
		j := model.VCSchedJob{ID: fmt.Sprint("j", len(in.Jobs)), Tasks: tasks, CPU: cpu[k], Memory: memory[k]}
		if budget && rng.IntN(4) > 0 {
			for range tasks { // as a scheduler leaves it, mostly
				h := rng.IntN(hosts)
				if place[h]+j.Memory > 1 && rng.IntN(8) > 0 {
					h = slices.Index(place, slices.Min(place))
				}
				place[h] += j.Memory
				j.CurrentHosts = append(j.CurrentHosts, h)
			}
		}
		in.Jobs = append(in.Jobs, j)
		k += tasks
	}
	if budget {
		b := 0.0
		for i := range in.Jobs {
			if rng.IntN(3) == 0 {
				b += in.Jobs[i].Memory
			}
		}
		b += []float64{0, 0, 0, -1e-10, -1e-9, -2e-9, 1e-3, -1e-3}[rng.IntN(8)]
		if b = max(0, b); rng.IntN(6) == 0 {
			b = 0
		}
		in.MigrationBudget = &b
	}
	return in
}

// For the tests outside the package.
var (
	Draw     = drawVCSched
	Families = len(vcschedFamilies)
)

// The plain engine beats no bound on any family, and no formulation beats HiGHS.
func TestVCSchedBoundsAgainstPlain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(vcschedSeed(), 4))
	for k := range need.Rounds(30) {
		in := drawVCSched(rng, k%len(vcschedFamilies), 4+rng.IntN(5), 2+rng.IntN(2), rng.IntN(2) == 0, rng.IntN(2) == 0)
		want, found := plain.Optimum(in)
		holds := func(name string, bound float64, infeasible bool) {
			t.Helper()
			if found && (infeasible || bound < want*(1-1e-9)) {
				t.Fatalf("%s says %v (infeasible: %v), the optimum is %v: %s", name, bound, infeasible, want, asJSON(in))
			}
		}
		all, err := vcbounds.All(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range all {
			holds(b.Name, b.Value, b.Infeasible)
		}
		for _, f := range vcbounds.Formulations {
			if _, err := vcbounds.Build(in, f); k%3 == 0 && err == nil && highs.Available() {
				r := solveVCSched(t, Linear(highs.Backend, f), in, model.Settings{Seed: 1})
				holds(f, r.Bound, r.Status == model.StatusInfeasible)
				if r.Solution != nil && (!found || r.Objective > want*(1+1e-9)) {
					t.Fatalf("%s finds %v, the optimum is %v (%v): %s", f, r.Objective, want, found, asJSON(in))
				}
			}
		}
	}
}
