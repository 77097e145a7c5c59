// Package vcsched bounds the minimum yield of VCSched from above, without search,
// and holds its linear formulations.
//
// With the hosts of the tasks fixed, the best minimum yield is Y = min(1, 1/L), L
// being the largest CPU load of a host. Inside this package everything is a load L
// to minimise, outside a yield Y to maximise, and each is the reciprocal of the
// other: so "lower" and "upper" swap at the door. A lower bound on L comes from
// tests that refute a load: "the tasks don't fit on H hosts of this load and one
// memory each". Model formulations stand here because their relaxations are bounds.
package vcsched

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// ClosedForm returns the optimum of the linear relaxation of the paper's model in
// closed form, Y ≤ min(1, H / Σ cpu) (section 3.1), for Σ memory ≤ H; otherwise
// there is no solution. O(n).
func ClosedForm(in *model.VCSched) bounds.Bound {
	b := bounds.Bound{Name: "closed-form"}
	t := NewTasks(in.Units())
	if why := t.infeasibleBySum(); why != "" {
		b.Infeasible, b.Reason = true, why
		b.Evidence = newReasons(in, t.units).evidence(0, true)
		return b
	}
	b.Value = t.units.YieldBound(t.AreaLoad())
	b.Evidence = newReasons(in, t.units).evidence(t.AreaLoad(), false)
	return b
}

// Packing returns the closed form strengthened by bounds for two-dimensional
// vector packing that need no linear program: the largest task, cliques of
// conflicting tasks, and dual-feasible functions on either resource. O(n²) for each
// of some 50 loads.
func Packing(in *model.VCSched) bounds.Bound {
	b := bounds.Bound{Name: "packing"}
	t := NewTasks(in.Units())
	load, why := t.PackingLoad()
	if b.Evidence = newReasons(in, t.units).evidence(load, why != ""); why != "" {
		b.Infeasible, b.Reason = true, why
		return b
	}
	b.Value = t.units.YieldBound(load)
	return b
}

// All returns every bound of this package on the instance, weakest first. Those by
// column generation are what they have proved when ctx ends.
func All(ctx context.Context, in *model.VCSched) ([]bounds.Bound, error) {
	all := []bounds.Bound{ClosedForm(in), Packing(in)}
	if all[1].Infeasible {
		return all, nil
	}
	b, err := bounds.Bound{}, error(nil)
	if highs.Built { // it has nothing to add to Packing elsewhere
		b, err = ColumnGeneration(ctx, in)
		all = append(all, b)
	}
	if err == nil && !b.Infeasible && in.MigrationBudget != nil {
		b, err = PricedMoves(ctx, in)
		all = append(all, b)
	}
	return all, err
}

// Tasks groups an instance's tasks into types of equal needs (of memory exactly, of
// CPU in units). Types come in the order of decreasing CPU need, then of decreasing
// memory need; slices by type are [type].
type Tasks struct {
	units *model.VCSchedUnits
	CPU   []int64   // CPU need of a task of the type, in 1/VCSchedUnits.Scale of a host
	Mem   []int64   // memory need of such a task, in the same unit
	Count []int32   // number of tasks of the type
	Tasks [][]int32 // their indices, counted through the instance
	Hosts int64     // number of hosts, at most one for each task: no more are used
	Cap   int64     // memory of a host, in the same unit, tolerance included
	Unit  int64     // divides every CPU need, so every load
}

// NewTasks groups the tasks. O(n log n).
func NewTasks(u *model.VCSchedUnits) *Tasks { return newTasks(u, false) }

// newTasks groups the tasks, if byHost also by the host on which they run now.
func newTasks(u *model.VCSchedUnits, byHost bool) *Tasks {
	host := func(i int32) int32 {
		if !byHost || u.Current == nil {
			return -1
		}
		return u.Current[i]
	}
	t := &Tasks{units: u, Hosts: int64(min(u.Hosts, len(u.CPU))), Cap: u.MemoryCap, Unit: u.Unit}
	order := make([]int32, len(u.CPU))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		if u.CPU[a] != u.CPU[b] {
			return cmpDown(u.CPU[a], u.CPU[b])
		}
		x, y := u.Exact[u.Job[a]], u.Exact[u.Job[b]]
		switch {
		case y.Less(x):
			return -1
		case x.Less(y):
			return 1
		}
		return int(host(a) - host(b))
	})
	for _, i := range order {
		k := len(t.CPU) - 1
		if k < 0 || t.CPU[k] != u.CPU[i] || u.Exact[u.Job[t.Tasks[k][0]]] != u.Exact[u.Job[i]] || host(t.Tasks[k][0]) != host(i) {
			t.CPU, t.Mem = append(t.CPU, u.CPU[i]), append(t.Mem, u.Memory[i])
			t.Count, t.Tasks = append(t.Count, 0), append(t.Tasks, nil)
			k++
		}
		t.Count[k]++
		t.Tasks[k] = append(t.Tasks[k], i)
	}
	return t
}

func cmpDown(a, b int64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

func (t *Tasks) infeasibleBySum() string {
	var sum int64
	for k := range t.Mem {
		sum += t.Mem[k] * int64(t.Count[k])
	}
	if sum > t.Hosts*t.Cap {
		return fmt.Sprintf("the tasks need %.6g hosts' memory, there are %d hosts", float64(sum)/float64(t.units.Scale), t.units.Hosts)
	}
	return ""
}

// AreaLoad returns max(⌈Σ cpu / H⌉, max cpu), the first term rounded up to a
// multiple of Unit, as every load is one: L is no less than the average load and
// than the need of any task. O(n).
func (t *Tasks) AreaLoad() int64 {
	var sum int64
	for k := range t.CPU {
		sum += t.CPU[k] * int64(t.Count[k])
	}
	load := (sum + t.Hosts - 1) / t.Hosts
	return max((load+t.Unit-1)/t.Unit*t.Unit, t.CPU[0])
}

// PackingLoad returns a lower bound on L, or the reason why no placement fits in
// memory. Besides AreaLoad:
//
//   - of the kH + 1 tasks with the largest CPU needs, k + 1 share a host, so
//     L ≥ (k + 1) times the smallest need among them;
//   - L ≥ mid if refute proves that no placement has L ≤ mid - 1 (loads are
//     integers). Refutations needn't be monotone in the load: each value that lo
//     takes has its own.
func (t *Tasks) PackingLoad() (load int64, infeasible string) {
	if why := t.infeasibleBySum(); why != "" {
		return 0, why
	}
	if why := t.refute(math.MaxInt64 / 4); why != "" {
		return 0, why
	}
	load = t.AreaLoad()
	var at int64
	for k := range t.CPU {
		at += int64(t.Count[k])
		if per := (at + t.Hosts - 1) / t.Hosts; per >= 2 {
			load = max(load, per*t.CPU[k])
		}
	}
	lo, hi := load, 2*load // refuted below lo; hi not known
	for t.refute(hi-1) != "" {
		lo, hi = hi, 2*hi
	}
	for range 40 {
		mid := lo + (hi-lo)/2
		if mid <= lo || float64(hi-lo) < 1e-6*float64(lo) {
			break
		}
		if t.refute(mid-1) != "" {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + t.Unit - 1) / t.Unit * t.Unit, ""
}

// refute returns why no placement has L ≤ load; "" if these tests don't know. Tasks
// of which no two fit on one host (a clique of conflicts) need a host each. A
// dual-feasible function f has Σ f(x) ≤ f(bin) over what fits on a host, in memory
// or in CPU, so all tasks need ≥ Σ f(x) / f(bin) hosts.
func (t *Tasks) refute(load int64) string {
	if n := t.clique(load); n > t.Hosts {
		return fmt.Sprintf("%d tasks of which no two fit on one host, there are %d hosts", n, t.units.Hosts)
	}
	if n := bounds.DualFeasible(t.Mem, t.Count, t.Cap); n > t.Hosts {
		return fmt.Sprintf("the memory needs alone fill at least %d hosts, there are %d hosts", n, t.units.Hosts)
	}
	if n := bounds.DualFeasible(t.CPU, t.Count, load); n > t.Hosts {
		return fmt.Sprintf("at this load the CPU needs alone fill at least %d hosts, there are %d hosts", n, t.units.Hosts)
	}
	return ""
}

// clique returns the size of a set of tasks of which no two fit on one host, by a
// greedy extension in the order of either need. A type whose tasks conflict with
// each other counts with all of them, another with one. O(n²).
func (t *Tasks) clique(load int64) int64 {
	conflict := func(a, b int) bool {
		return t.CPU[a]+t.CPU[b] > load || t.Mem[a]+t.Mem[b] > t.Cap
	}
	best := int64(0)
	for _, key := range [][]int64{t.CPU, t.Mem} {
		order := make([]int, len(t.CPU))
		for k := range order {
			order[k] = k
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmpDown(key[a], key[b]) })
		var set []int
		size := int64(0)
	next:
		for _, k := range order {
			for _, o := range set {
				if !conflict(k, o) {
					continue next
				}
			}
			set = append(set, k)
			if conflict(k, k) {
				size += int64(t.Count[k])
			} else {
				size++
			}
		}
		best = max(best, size)
	}
	return best
}
