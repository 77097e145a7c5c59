package vcsched

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// YieldPrecision is the width of the interval of yields at which the binary search of
// MCB1 … MCB8 stops; if the upper bound on the yield is below 1e-3, a thousandth of
// that. The paper names none. The yield of the result is that of its hosts, so a
// finer precision changes next to nothing.
const YieldPrecision = 1e-6

// MCBs holds the eight multi-capacity bin-packing heuristics of section 3.4 by the
// paper's number, 1 to 8; MCBs[0] is nil.
//
// At a yield Y a task with the CPU need c and the memory need m takes cY of CPU and m
// of memory. The tasks with cY > m make the CPU list, the others the memory list, each
// sorted by the variant's key, equals in the instance's order. Hosts are filled one
// after the other, until no task fits: by the first task that fits of the CPU list if
// the host has no less CPU left than memory, of the memory list otherwise; if none of
// that list fits, of the other. A binary search from half of min(1, H / Σ c) on finds
// the largest Y at which all tasks are placed.
//
// O(log(1/YieldPrecision) (n log n + q)), where q is the cost of n+H queries of
// firstFit.
var MCBs = [9]func(context.Context, *model.VCSched, model.Settings) (*model.Placement, error){
	1: mcb(sumKey, 1), 2: mcb(differenceKey, 1), 3: mcb(ratioKey, 1), 4: mcb(largerKey, 1),
	5: mcb(sumKey, -1), 6: mcb(differenceKey, -1), 7: mcb(ratioKey, -1), 8: mcb(largerKey, -1),
}

// The keys of section 3.4, of the CPU need c at the yield tried and the memory need m.
func sumKey(c, m float64) float64        { return c + m }
func differenceKey(c, m float64) float64 { return max(c, m) - min(c, m) }
func ratioKey(c, m float64) float64      { return max(c, m) / min(c, m) } // +Inf without memory
func largerKey(c, m float64) float64     { return max(c, m) }

func mcb(key func(c, m float64) float64, sign float64) func(context.Context, *model.VCSched, model.Settings) (*model.Placement, error) {
	return func(ctx context.Context, in *model.VCSched, set model.Settings) (*model.Placement, error) {
		return run(ctx, in, set, func(ctx context.Context, _ *model.VCSched, u *model.VCSchedUnits, _ model.Settings) ([]int32, error) {
			return searchYield(ctx, u, &mcbPacker{u: u, key: key, sign: sign, newList: newTreeList})
		})
	}
}

// searchYield returns the hosts, [task], of the largest yield at which the packer
// succeeds, by binary search.
func searchYield(ctx context.Context, u *model.VCSchedUnits, p *mcbPacker) ([]int32, error) {
	total := 0.0
	for _, c := range u.CPU {
		total += float64(c)
	}
	low, high := 0.0, min(1, float64(u.Hosts)*float64(u.Scale)/total)
	precision := min(YieldPrecision, high/1000)
	var best []int32
	for high-low > precision {
		y := (low + high) / 2
		hosts, ok := p.pack(ctx, y)
		switch {
		case ok:
			best, low = slices.Clone(hosts), y
		case ctx.Err() == nil:
			high = y
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

// mcbPacker packs the tasks at a given yield.
type mcbPacker struct {
	u       *model.VCSchedUnits
	key     func(c, m float64) float64
	sign    float64 // 1: ascending, -1: descending
	newList func(u *model.VCSchedUnits, order []int32) firstFit

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
	// first returns the first task left, at place from or after it, whose needs are
	// ≤ cpu and ≤ mem, and its place; -1, -1 if there is none.
	first(from int, cpu, mem int64) (task int32, place int)
	// take removes the task at the place.
	take(place int)
}

// pack returns the hosts, [task], in a slice that the next call reuses, and whether
// all tasks are placed; false if ctx ends before.
func (p *mcbPacker) pack(ctx context.Context, yield float64) ([]int32, bool) {
	u := p.u
	n := len(u.CPU)
	if p.hosts == nil {
		p.hosts, p.keyed = make([]int32, n), make([]keyedTask, n)
	}
	scale := float64(u.Scale)
	for i := range p.keyed {
		c, m := float64(u.CPU[i])*yield/scale, float64(u.Memory[i])/scale
		p.keyed[i] = keyedTask{p.sign * p.key(c, m), int32(i), m >= c}
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
	lists := [2]firstFit{p.newList(u, p.lists[0]), p.newList(u, p.lists[1])}
	// At this yield a host takes a CPU load of 1/yield.
	capacity := int64(math.Min(scale/yield, math.MaxInt64/4))
	spare := u.MemoryCap - u.Scale // memory that is there for rounding only
	left := n
	for h := 0; h < u.Hosts && left > 0; h++ {
		cpu, mem := capacity, u.MemoryCap
		// A task that didn't fit on this host won't later, since its room only shrinks.
		var from [2]int
		for {
			want := 0
			if float64(cpu)/float64(capacity) < float64(mem-spare)/scale {
				want = 1
			}
			task, place := lists[want].first(from[want], cpu, mem)
			if task < 0 {
				from[want] = n
				want = 1 - want
				if task, place = lists[want].first(from[want], cpu, mem); task < 0 {
					break
				}
			}
			from[want] = place + 1
			lists[want].take(place)
			p.hosts[task] = int32(h)
			cpu -= u.CPU[task]
			mem -= u.Memory[task]
			if left--; left&0xff == 0 && ctx.Err() != nil {
				return nil, false
			}
		}
	}
	return p.hosts, left == 0
}
