package vcsched

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// YieldPrecision is the width of the interval of yields at which the binary
// search of MCB1 … MCB8 stops. The paper names none; the yield reported is
// that of the hosts found, so a finer one changes next to nothing. Where the
// upper bound on the yield is below 1e-3 the search stops at a thousandth of it.
const YieldPrecision = 1e-6

// MCBs are the eight multi-capacity bin-packing heuristics by the paper's
// number (index 1 to 8; index 0 is unused), section 3.4.
//
// For a yield Y that is to be reached every task has the needs a Y of CPU and m
// of memory. The tasks with the larger CPU need make one list, the others
// (equals too) the second, each sorted by the variant's key with equals in the
// instance's order. Hosts are filled one after the other: the first task that
// fits is taken from the list that goes against the imbalance of what the host
// has left (more CPU left than memory: the CPU list; when both are equal, as on
// an empty host, the CPU list too), or else from the other list, until no task
// fits. A binary search, which starts at half of min(1, H / sum of the needs),
// looks for the largest yield at which all tasks are placed.
//
// O(log(1/YieldPrecision) (n log n + q)) with q the cost of n+H queries for the
// first task that fits; see firstFit.
var MCBs = [9]func(context.Context, *model.VCSched, model.Settings) (*model.Placement, error){
	1: mcb(sumKey, 1), 2: mcb(differenceKey, 1), 3: mcb(ratioKey, 1), 4: mcb(largerKey, 1),
	5: mcb(sumKey, -1), 6: mcb(differenceKey, -1), 7: mcb(ratioKey, -1), 8: mcb(largerKey, -1),
}

// The keys of section 3.4, of the CPU need at the yield tried and the memory need.
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

// searchYield is the binary search. It returns the hosts of the largest yield
// at which the packer succeeded.
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
	// first is the first task left, at or after the given place, that needs
	// at most the CPU and memory given, and its place; -1 if there is none.
	first(from int, cpu, mem int64) (task int32, place int)
	take(place int)
}

// pack returns the hosts of the tasks, in a slice that the next call reuses,
// and whether all were placed; false if ctx ends on the way.
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
	// The sort is half of the time: no cmp.Compare, which looks for NaN.
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
		// What didn't fit on this host won't fit later: its capacities only fall.
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
