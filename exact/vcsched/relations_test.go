// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// vcschedBox is what a result proves: the optimal yield is from low to high.
type vcschedBox struct {
	low, high  float64
	infeasible bool
}

func box(r model.Result) vcschedBox {
	b := vcschedBox{high: r.Bound, infeasible: r.Status == model.StatusInfeasible}
	if r.Solution != nil {
		b.low = r.Objective
	}
	if math.IsNaN(b.high) {
		b.high = 1
	}
	return b
}

// meets fails unless some optimum is in both boxes: results of instances of the
// same optimum don't contradict each other, whatever stopped them.
func meets(t *testing.T, what string, in *model.VCSched, a, b vcschedBox) {
	t.Helper()
	if a.infeasible && b.low > 0 || b.infeasible && a.low > 0 || !a.infeasible && !b.infeasible && (a.low > b.high*(1+1e-9) || b.low > a.high*(1+1e-9)) {
		t.Fatalf("%s: %+v and %+v: %s", what, a, b, asJSON(in))
	}
}

// clone is a deep copy.
func clone(in *model.VCSched) *model.VCSched {
	c := *in
	c.Jobs = slices.Clone(in.Jobs)
	for i := range c.Jobs {
		c.Jobs[i].CurrentHosts = slices.Clone(c.Jobs[i].CurrentHosts)
	}
	return &c
}

// renamed has its jobs and hosts in another order.
func renamed(rng *rand.Rand, in *model.VCSched) *model.VCSched {
	c := clone(in)
	host := rng.Perm(in.Hosts)
	for i := range c.Jobs {
		c.Jobs[i].ID = fmt.Sprint("other", i)
		for k, h := range c.Jobs[i].CurrentHosts {
			c.Jobs[i].CurrentHosts[k] = host[h]
		}
	}
	rng.Shuffle(len(c.Jobs), func(a, b int) { c.Jobs[a], c.Jobs[b] = c.Jobs[b], c.Jobs[a] })
	return c
}

// split has every parallel job's tasks as jobs of their own: for a given
// placement of the tasks the best minimum yield is the same.
func split(in *model.VCSched) *model.VCSched {
	c := clone(in)
	c.Jobs = nil
	for _, j := range in.Jobs {
		for k := range j.Tasks {
			one := model.VCSchedJob{ID: fmt.Sprint(j.ID, ".", k), Tasks: 1, CPU: j.CPU, Memory: j.Memory}
			if len(j.CurrentHosts) > 0 {
				one.CurrentHosts = j.CurrentHosts[k : k+1]
			}
			c.Jobs = append(c.Jobs, one)
		}
	}
	return c
}

// joined is both side by side, b's hosts after a's.
func joined(a, b *model.VCSched) *model.VCSched {
	c := clone(a)
	c.Hosts += b.Hosts
	for i, j := range clone(b).Jobs {
		j.ID = fmt.Sprint("b", i)
		for k := range j.CurrentHosts {
			j.CurrentHosts[k] += a.Hosts
		}
		c.Jobs = append(c.Jobs, j)
	}
	return c
}

// Relations between instances that hold at any size: the intervals that results
// prove for the optimum must meet, stay or move the right way.
func TestVCSchedRelations(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(vcschedSeed(), 3))
	var compared, decided int
	for k := range need.Rounds(40) {
		n, hosts := 12+rng.IntN(20), 3+rng.IntN(5)
		if k%4 == 3 {
			n, hosts = 8+rng.IntN(5), 2+rng.IntN(2)
		}
		budget := k%4 == 3
		in := drawVCSched(rng, rng.IntN(len(vcschedFamilies)), n, hosts, rng.IntN(2) == 0, budget)
		seed := uint64(0)
		solve := func(in *model.VCSched, change func(*model.Settings)) (vcschedBox, model.Result) {
			seed++
			// The limit decides how much is proved, never what holds.
			set := model.Settings{Seed: seed, Gap: 2e-2, TimeLimit: 300 * time.Millisecond}
			if change != nil {
				change(&set)
			}
			var engine model.Solver = Search
			if seed%2 == 0 {
				engine = Kernel
			}
			r, err := engine.Solve(context.Background(), in, set)
			if err != nil {
				t.Fatal(err)
			}
			compared++
			if r.Status == model.StatusOptimal || r.Status == model.StatusInfeasible {
				decided++
			}
			return box(r), r
		}
		first, r := solve(in, nil)
		other, _ := solve(renamed(rng, in), nil)
		meets(t, "renamed", in, first, other)
		apart, _ := solve(split(in), nil)
		meets(t, "split", in, first, apart)
		threads, _ := solve(in, func(s *model.Settings) { s.Threads = 3 })
		meets(t, "threads", in, first, threads)
		if r.Solution != nil {
			again, _ := solve(in, func(s *model.Settings) { s.Start = r.Solution })
			meets(t, "started from its solution", in, first, again)
			if again.low < first.low*(1-1e-9) {
				t.Fatalf("started from %v, the search ends at %v: %s", first.low, again.low, asJSON(in))
			}
		}
		// An empty host more: what could be done still can. (With a budget, too.)
		more := clone(in)
		more.Hosts++
		wider, _ := solve(more, nil)
		if wider.infeasible && first.low > 0 || !wider.infeasible && first.low > wider.high*(1+1e-9) {
			t.Fatalf("with a host more: %+v after %+v: %s", wider, first, asJSON(in))
		}
		// As many hosts as tasks: no host more can gain anything, and the largest
		// need or 1 decides.
		if !budget {
			full := clone(in)
			full.Hosts = n
			if b, _ := solve(full, nil); b.infeasible || b.high < 1 {
				t.Fatalf("a host for each task: %+v: %s", b, asJSON(in))
			}
		}
		// A job that needs next to nothing: never better, and by no more than its need worse.
		small := clone(in)
		small.Jobs = append(small.Jobs, model.VCSchedJob{ID: "small", Tasks: 1, CPU: 1e-9})
		with, _ := solve(small, nil)
		if with.infeasible != first.infeasible && (with.low > 0 || first.low > 0) || !first.infeasible && (with.low > first.high*(1+1e-9) || first.low*(1-2e-9) > with.high*(1+1e-9)) {
			t.Fatalf("with a job of no size: %+v after %+v: %s", with, first, asJSON(in))
		}
		// Without the budget it can only get better.
		if budget {
			free := clone(in)
			free.MigrationBudget = nil
			b, _ := solve(free, nil)
			if b.infeasible && first.low > 0 || !b.infeasible && first.low > b.high*(1+1e-9) {
				t.Fatalf("without the budget: %+v after %+v: %s", b, first, asJSON(in))
			}
			continue
		}
		// Side by side with another: at least the worse of both.
		second := drawVCSched(rng, rng.IntN(len(vcschedFamilies)), 6+rng.IntN(8), 2+rng.IntN(3), true, false)
		b, _ := solve(second, nil)
		both, _ := solve(joined(in, second), nil)
		if low := min(first.low, b.low); low > 0 && (both.infeasible || low > both.high*(1+1e-9)) {
			t.Fatalf("side by side: %+v after %+v and %+v: %s and %s", both, first, b, asJSON(in), asJSON(second))
		}
	}
	t.Logf("%d results, %d of them decided", compared, decided)
	if decided == 0 {
		t.Errorf("none of %d decided", compared)
	}
}

// Every bound against every solution: of each engine and formulation, with and
// without a budget, of the parallel jobs and of their tasks as jobs.
func TestVCSchedBoundsAgainstSolutions(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(vcschedSeed(), 4))
	for k := range need.Rounds(30) {
		in := drawVCSched(rng, k%len(vcschedFamilies), 4+rng.IntN(5), 2+rng.IntN(2), rng.IntN(2) == 0, rng.IntN(2) == 0)
		all := []*model.VCSched{in, split(in)}
		best, any, none := 0.0, false, ""
		type bound struct {
			name  string
			value float64
		}
		var stated []bound
		for _, v := range all {
			bs, err := vcbounds.All(context.Background(), v)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range bs {
				if b.Infeasible {
					none = b.Name
				} else {
					stated = append(stated, bound{b.Name, b.Value})
				}
			}
			solvers := []model.Solver{Search, Search.Off(devCompletion), Kernel}
			for _, f := range vcbounds.Formulations {
				if _, err := vcbounds.Build(v, f); k%3 == 0 && err == nil && highs.Available() {
					solvers = append(solvers, Linear(highs.Backend, f))
				}
			}
			for _, s := range solvers {
				r := solveVCSched(t, s, v, model.Settings{Seed: 1})
				if r.Solution != nil {
					any, best = true, max(best, r.Objective)
				}
				if r.Status == model.StatusInfeasible {
					none = s.Name()
				} else {
					stated = append(stated, bound{s.Name(), r.Bound})
				}
			}
		}
		if any && none != "" {
			t.Fatalf("%s says infeasible, a solution has %v: %s", none, best, asJSON(in))
		}
		for _, b := range stated {
			if best > b.value*(1+1e-9) {
				t.Fatalf("the bound %v of %s is beaten by %v: %s", b.value, b.name, best, asJSON(in))
			}
		}
	}
}
