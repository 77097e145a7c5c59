// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// yieldPrecision is the width of the interval of yields at which the binary search of MCB1 … MCB8 stops. If the upper
// bound on the yield is below 1e-3, it is a thousandth of that. The paper names none. The result's yield follows from
// its hosts, so a finer precision changes next to nothing.
const yieldPrecision = 1e-6

// MCB8 is the best of the eight multi-capacity bin-packing heuristics of section 3.4; its
// key is a task's larger need, descending. Algorithms lists the others.
//
// At a yield Y a task with the CPU need c and the memory need m takes cY of CPU and m of memory. The tasks with cY > m
// make the CPU list, the others the memory list, each sorted by the variant's key, equals in the instance's order.
// Hosts are filled one after the other, until no task fits. A host takes the first task that fits from the CPU list if
// it has no less CPU left than memory, from the memory list otherwise. If none of that list fits, it takes one from the
// other. A binary search from half of min(1, H / Σ c) on finds the largest Y at which all tasks are placed. With
// further resources, or hosts that differ, see vectorPacker.
//
// O(log(1/yieldPrecision) (n log n + q)), where q is the cost of n+H queries of
// firstFit.
func MCB8(ctx context.Context, in *model.VCSched, set model.Settings) (*model.Placement, error) {
	again := false
	return placed(ctx, in, set, func(ctx context.Context, u *view.VCSched, set model.Settings) ([]int32, error) {
		x := newTracer(in, u, set)
		if again {
			x.again()
		}
		again = true
		return searchYield(ctx, u, newPacker(u, largerKey, -1, x), x)
	})
}

// mcbs holds MCB1 to MCB8 by the paper's number; mcbs[0] is nil.
var mcbs = [9]func(context.Context, *model.VCSched, model.Settings) (*model.Placement, error){
	1: mcb(sumKey, 1), 2: mcb(differenceKey, 1), 3: mcb(ratioKey, 1), 4: mcb(largerKey, 1),
	5: mcb(sumKey, -1), 6: mcb(differenceKey, -1), 7: mcb(ratioKey, -1), 8: MCB8,
}

// sortKey is a key of section 3.4, by the sum, the least and the largest of a task's needs: the CPU need at the yield
// tried and the needs of the rigid resources.
type sortKey func(sum, least, largest float64) float64

func sumKey(sum, _, _ float64) float64                { return sum }
func differenceKey(_, least, largest float64) float64 { return largest - least }
func ratioKey(_, least, largest float64) float64      { return largest / least } // +Inf without memory
func largerKey(_, _, largest float64) float64         { return largest }

// mcb returns the heuristic of a key, ascending (1) or descending (-1).
func mcb(key sortKey, sign float64) func(context.Context, *model.VCSched, model.Settings) (*model.Placement, error) {
	return func(ctx context.Context, in *model.VCSched, set model.Settings) (*model.Placement, error) {
		return placed(ctx, in, set, func(ctx context.Context, u *view.VCSched, _ model.Settings) ([]int32, error) {
			return searchYield(ctx, u, newPacker(u, key, sign, nil), nil)
		})
	}
}

// packer packs the tasks at a given yield.
type packer interface {
	// pack returns the hosts, [task], in a slice that the next call reuses, and
	// whether all tasks are placed; false if ctx ends before.
	pack(ctx context.Context, yield float64) ([]int32, bool)
}

// newPacker returns the packer of MCB1 … MCB8 for equal hosts and memory alone, and
// its generalisation otherwise.
func newPacker(u *view.VCSched, key sortKey, sign float64, x *tracer) packer {
	memory := u.Classes[0].Cap[0] // a host's, but for rounding and tolerance
	if plain(u) && memory/2 < u.Scale && u.Scale/2 < memory {
		return &mcbPacker{u: u, key: key, sign: sign, newList: newTreeList, tracer: x}
	}
	return newVectorPacker(u, key, sign, x)
}

// searchYield returns the hosts, [task], of the largest yield at which the packer
// succeeds, by binary search.
func searchYield(ctx context.Context, u *view.VCSched, p packer, x *tracer) ([]int32, error) {
	total := 0.0
	for _, c := range u.CPU {
		total += float64(c)
	}
	has := 0.0
	for k := range u.Classes {
		has += float64(len(u.Classes[k].Hosts)) * float64(u.Classes[k].Room(u.Scale))
	}
	if total == float64(len(u.CPU)) { // a unit each: every yield is the same
		if hosts, ok := p.pack(ctx, 1); ok {
			x.tried(1, true, 1, 1)
			return slices.Clone(hosts), nil
		}
		if ctx.Err() != nil {
			return nil, stopped(ctx)
		}
		return nil, fmt.Errorf("%w: the tasks weren't packed", model.ErrNoSolution)
	}
	low, high := 0.0, min(1, has/total)
	precision := min(yieldPrecision, high/1000)
	var best []int32
	for high-low > precision {
		y := (low + high) / 2
		hosts, ok := p.pack(ctx, y)
		switch {
		case ok:
			best, low = slices.Clone(hosts), y
			x.tried(y, true, low, high)
		case ctx.Err() == nil:
			high = y
			x.tried(y, false, low, high)
		case best == nil:
			return nil, stopped(ctx)
		default:
			return best, nil
		}
	}
	if best == nil {
		return nil, fmt.Errorf("%w: the tasks were packed at no yield tried", model.ErrNoSolution)
	}
	return best, nil
}

// mcbPacker is the packer for equal hosts and two resources.
type mcbPacker struct {
	u       *view.VCSched
	key     sortKey
	sign    float64 // 1: ascending, -1: descending
	newList func(u *view.VCSched, order []int32) firstFit
	tracer  *tracer // nil: nobody listens

	hosts []int32
	keyed []keyedTask
	lists [2][]int32 // by CPU, by memory
}

type keyedTask struct {
	key   float64
	task  int32
	byMem bool
}

// firstFit is a list of tasks in a fixed order, from which tasks are taken.
type firstFit interface {
	// first returns the first task left, at place from or after it, with needs ≤ cpu and ≤ mem, and its place; -1, -1
	// if there is none.
	first(from int, cpu, mem int64) (task int32, place int)
	// take removes the task at the place.
	remove(place int)
}

// pack implements packer.
func (p *mcbPacker) pack(ctx context.Context, yield float64) ([]int32, bool) {
	u := p.u
	n := len(u.CPU)
	if p.hosts == nil {
		p.hosts, p.keyed = make([]int32, n), make([]keyedTask, n)
	}
	scale := float64(u.Scale)
	for i := range p.keyed {
		c, m := float64(u.CPU[i])*yield/scale, float64(u.Memory[i])/scale
		p.keyed[i] = keyedTask{p.sign * p.key(c+m, min(c, m), max(c, m)), int32(i), m >= c}
	}
	if ctx.Err() != nil {
		return nil, false
	}
	// The sort takes half of the time, so no cmp.Compare, which looks for NaN.
	slices.SortFunc(p.keyed, func(a, b keyedTask) int {
		switch {
		case a.key < b.key:
			return -1
		case a.key > b.key:
			return 1
		}
		return int(a.task) - int(b.task)
	})
	p.lists[0], p.lists[1] = p.lists[0][:0], p.lists[1][:0]
	for _, k := range p.keyed {
		if k.byMem {
			p.lists[1] = append(p.lists[1], k.task)
		} else {
			p.lists[0] = append(p.lists[0], k.task)
		}
	}
	p.tracer.yield(yield, p.lists[:])
	lists := [2]firstFit{p.newList(u, p.lists[0]), p.newList(u, p.lists[1])}
	// At this yield a host takes a CPU load of 1/yield.
	capacity := int64(math.Min(scale/yield, math.MaxInt64/4))
	memory := u.Classes[0].Cap[0]
	spare := memory - u.Scale // memory that is there for rounding only
	left := n
	for h := 0; h < u.Hosts && left > 0; h++ {
		cpu, mem := capacity, memory
		// A task that didn't fit on this host won't later, since its room only shrinks.
		var from [2]int
		for {
			want := 0
			if float64(cpu)/float64(capacity) < float64(mem-spare)/scale {
				want = 1
			}
			wanted := want
			task, place := lists[want].first(from[want], cpu, mem)
			if task < 0 {
				from[want] = n
				want = 1 - want
				if task, place = lists[want].first(from[want], cpu, mem); task < 0 {
					break
				}
			}
			if p.tracer != nil {
				p.tracer.pick(int32(h), []float64{float64(cpu) / float64(capacity), float64(mem-spare) / scale}, wanted, want, task)
			}
			from[want] = place + 1
			lists[want].remove(place)
			p.hosts[task] = int32(h)
			cpu -= u.CPU[task]
			mem -= u.Memory[task]
			if left--; left&0xff == 0 && meter.Stop(ctx, 50) {
				return nil, false
			}
		}
		if p.tracer != nil {
			p.tracer.shut(int32(h), []float64{float64(cpu) / float64(capacity), float64(mem-spare) / scale}, left)
		}
	}
	return p.hosts, left == 0
}
