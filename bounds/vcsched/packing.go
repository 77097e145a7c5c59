// Package vcsched bounds the minimum yield of VCSched from above, without search,
// and holds its linear formulations.
//
// For a fixed assignment the best minimum yield is min(1, 1/L) with L the
// largest CPU load of a host. So a bound on the yield is a lower bound on L, and
// a lower bound on L comes from tests that refute a load: "the tasks don't fit in
// H hosts of this load and one memory each".
package vcsched

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/model"
)

// ClosedForm is the optimum of the linear relaxation of the paper's
// model in closed form, min(1, H / sum of the CPU needs) (section 3.1), valid
// when the memory needs sum to at most H; otherwise there is no solution. O(n).
func ClosedForm(in *model.VCSched) bounds.Bound {
	b := bounds.Bound{Name: "closed-form"}
	t := NewTasks(in.Units())
	if why := t.infeasibleBySum(); why != "" {
		b.Infeasible, b.Reason = true, why
		return b
	}
	b.Value = t.units.YieldBound(t.AreaLoad())
	return b
}

// Packing is the closed form strengthened by what two-dimensional
// packing knows without a linear program: the largest task, sets of pairwise
// conflicting tasks, and dual-feasible functions on either resource. O(n²)
// for each of some 50 loads tried.
func Packing(in *model.VCSched) bounds.Bound {
	b := bounds.Bound{Name: "packing"}
	t := NewTasks(in.Units())
	load, why := t.PackingLoad()
	if why != "" {
		b.Infeasible, b.Reason = true, why
		return b
	}
	b.Value = t.units.YieldBound(load)
	return b
}

// All returns every bound of this package on the instance, weakest first. The
// last, by column generation, stops when ctx ends and then gives what it has
// proved by then.
func All(ctx context.Context, in *model.VCSched) ([]bounds.Bound, error) {
	all := []bounds.Bound{ClosedForm(in), Packing(in)}
	if all[1].Infeasible {
		return all, nil
	}
	b, err := ColumnGeneration(ctx, in)
	return append(all, b), err
}

// Tasks are an instance's tasks grouped into types of equal needs (the
// memory needs exactly, the CPU needs in units), types by decreasing CPU need,
// then by decreasing memory need.
type Tasks struct {
	units *model.VCSchedUnits
	CPU   []int64
	Mem   []int64
	Count []int32
	Tasks [][]int32 // the tasks of each type
	Hosts int64     // at most one for each task: no more are used
	Cap   int64     // of memory
	Unit  int64     // every CPU need is a multiple of it
}

// NewTasks groups the tasks. O(n log n).
func NewTasks(u *model.VCSchedUnits) *Tasks {
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
		return 0
	})
	for _, i := range order {
		k := len(t.CPU) - 1
		if k < 0 || t.CPU[k] != u.CPU[i] || u.Exact[u.Job[t.Tasks[k][0]]] != u.Exact[u.Job[i]] {
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

// AreaLoad is the average load, rounded up to a multiple of the unit, as every
// load is one, and at least the largest task's: no assignment's largest load is
// smaller than its average load or than what one task needs. O(n).
func (t *Tasks) AreaLoad() int64 {
	var sum int64
	for k := range t.CPU {
		sum += t.CPU[k] * int64(t.Count[k])
	}
	load := (sum + t.Hosts - 1) / t.Hosts
	// Loads are multiples of the unit.
	return max((load+t.Unit-1)/t.Unit*t.Unit, t.CPU[0])
}

// PackingLoad is a load such that every assignment has a host of at least
// that load, or the reason why no assignment fits in memory.
//
// Besides the area: of the k H + 1 tasks of the largest CPU need some k + 1 share
// a host, whose load is at least k + 1 times the smallest need among them; and a
// load of mid is proved if refute shows that no assignment has a largest load of
// mid - 1 (loads are integers). Refutations needn't be monotone in the load: each
// value that lo takes has its own.
func (t *Tasks) PackingLoad() (load int64, infeasible string) {
	if why := t.infeasibleBySum(); why != "" {
		return 0, why
	}
	if why := t.refute(math.MaxInt64 / 4); why != "" {
		return 0, why
	}
	load = t.AreaLoad()
	// With tasks sorted by CPU need, the H+1 first put two on one host
	// (and so on: the kH+1 first put k+1 on one host).
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

// refute returns why the tasks can't be placed with a largest load of at most
// the given one; empty if these tests don't know. Tasks of which no two fit on one
// host need as many hosts as they are. A dual-feasible function f has
// sum f(x) ≤ f's bin value over what fits on a host, in memory or in CPU, so all
// tasks need at least sum f(x) / bin value hosts.
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

// clique is the size of a set of tasks of which no two fit on one host:
// those that need more than half of a resource, extended greedily. A type all of
// whose tasks conflict with each other counts with all of them, another with one.
// O(n²).
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
