// SPDX-License-Identifier: MIT

package verify

import (
	"container/heap"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// crowds checks that the tasks of a machine have room, in the order of their starts: each with all that overlap it and
// started no later, since of intervals that meet in pairs all have a common moment, the last start. A task that takes
// no time needs no room. Tasks that end by the exact start of another one leave, as those after it start no sooner.
// O(n log n), and for a task without room all that end within the tolerance of its start.
func (j *dagJudge) crowds(r *Report, m int, list []stay) {
	in, room, step := j.in, newRoom(j.in.Machines[m].Capacity), 0
	var open stays
	for k := range list {
		b := &list[k]
		if stopped(j.ctx, k) {
			return
		}
		if j.length[b.task] == 0 {
			continue
		}
		for len(open) > 0 && !(double{hi: b.start}).less(open[0].finish) {
			room.give(in.Needs(int(open[0].task), m))
			heap.Pop(&open)
		}
		if !room.take(in.Needs(int(b.task), m)) {
			beside := newRoom(room.capacity)
			beside.take(room.used)
			if !j.tolerated(open, b, &step, func(a *stay) { beside.give(in.Needs(int(a.task), m)) }) {
				return
			}
			for i, sum := range beside.used {
				if over := beside.over(i); over > 0 {
					r.add(machineCapacity, float64(over), "task %q and those that run with it from %v s on need %d of %s on machine %q, which has %d",
						in.Tasks[b.task].ID, b.start, sum, in.Resources[i], in.Machines[m].ID, room.capacity[i])
				}
			}
		}
		heap.Push(&open, b)
	}
}

// tolerated calls free for each open task that overlaps b within the tolerance alone. It returns false if the context
// ends.
//
// A task that ends far after the start of b overlaps it unless b is so short that it fits before the other's start. So
// no task below that one in the heap is looked at: it ends no sooner. Far is more than lateness allows for the length of
// b, with four times its roundings. A unit in the last place of a later end is at most twice as large, or that end is
// beyond all of this.
func (j *dagJudge) tolerated(open stays, b *stay, step *int, free func(*stay)) bool {
	length := j.length[b.task]
	short := length <= j.tolerance*length+4*roundings*ulp(max(math.Abs(b.start), math.Abs(b.finish.hi)))
	todo := []int{0}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		if todo = todo[:len(todo)-1]; n >= len(open) {
			continue
		}
		if *step++; stopped(j.ctx, *step) {
			return false
		}
		a := open[n]
		far := j.tolerance*length + 4*roundings*ulp(max(math.Abs(b.start), math.Abs(a.finish.hi)))
		if !short && a.finish.sub(double{hi: b.start}).hi > far {
			continue
		}
		if j.overlap(a, b) == 0 {
			free(a)
		}
		todo = append(todo, 2*n+1, 2*n+2)
	}
	return true
}

// stays are tasks that run, in a heap: the first to end on top.
type stays []*stay

func (s stays) Len() int           { return len(s) }
func (s stays) Less(i, j int) bool { return s[i].finish.less(s[j].finish) }
func (s stays) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *stays) Push(x any)        { *s = append(*s, x.(*stay)) }
func (s *stays) Pop() any {
	last := len(*s) - 1
	x := (*s)[last]
	*s = (*s)[:last]
	return x
}

// severalAtOnce reports whether some machine could run two tasks at a time: it has no resource of which each task that
// runs there takes more than half, or one of them takes no time.
func severalAtOnce(in *model.DAG) bool {
	for m := range in.Machines {
		several := len(in.Resources) > 0
		for r := range in.Resources {
			small := false
			for t := range in.Tasks {
				cost := in.Cost(t, m)
				small = small || cost == 0 || !math.IsInf(cost, 1) && 2*in.Needs(t, m)[r] <= in.Machines[m].Capacity[r]
			}
			several = several && small
		}
		if several {
			return true
		}
	}
	return false
}

// part is how much of a machine's time tasks take there by one resource, as shares in units: all of it is whole.
//
// Tasks that run at a time need no more than the capacity, so their needs over it, each times the task's cost, add up to
// no more than the time from 0 to the makespan. Without a resource, of machines that run one task at a time, a task
// takes all of its time. The whole is a common multiple of the capacities. Of many machines that is too long a number:
// then it is a power of two, and shares are rounded down, by which no bound becomes better.
type part struct {
	in       *model.DAG
	resource int
	whole    *big.Int
	machines int // that have the resource
}

// mostPartBits is the length of a whole in bits.
const mostPartBits = 256

// partOf returns the part of evidence: its resource is one of the instance if machines run several tasks at once, else
// none.
func partOf(in *model.DAG, resource string) (*part, error) {
	p := &part{in: in, resource: -1, whole: big.NewInt(1), machines: len(in.Machines)}
	if !severalAtOnce(in) {
		if resource != "" {
			return nil, fmt.Errorf("machines run one task at a time, and it is of the resource %q", resource)
		}
		return p, nil
	}
	if p.resource = slices.Index(in.Resources, resource); p.resource < 0 {
		return nil, fmt.Errorf("machines run several tasks at once, and the resource %q isn't one of theirs", resource)
	}
	p.machines = 0
	for m := range in.Machines {
		if c := in.Machines[m].Capacity[p.resource]; c > 0 {
			p.machines++
			if x := big.NewInt(c); p.whole.BitLen() <= mostPartBits {
				p.whole.Mul(p.whole, x.Quo(x, new(big.Int).GCD(nil, nil, p.whole, x)))
			}
		}
	}
	if p.whole.BitLen() > mostPartBits {
		p.whole.Lsh(big.NewInt(1), mostPartBits)
	}
	return p, nil
}

// of returns the share of machine m that a task takes there; it can run there.
func (p *part) of(t, m int) *big.Int {
	if p.resource < 0 {
		return p.whole
	}
	need := p.in.Needs(t, m)[p.resource]
	if need == 0 {
		return new(big.Int)
	}
	x := new(big.Int).Mul(big.NewInt(need), p.whole)
	return x.Quo(x, big.NewInt(p.in.Machines[m].Capacity[p.resource]))
}

// least returns the least share of a task anywhere.
func (p *part) least(t int) (least *big.Int) {
	for m := range p.in.Machines {
		if math.IsInf(p.in.Cost(t, m), 1) {
			continue
		}
		if x := p.of(t, m); least == nil || x.Cmp(least) < 0 {
			least = x
		}
	}
	return least
}

// errOneAtATime refuses evidence whose rule adds up the times of tasks on a machine.
var errOneAtATime = errors.New("it is of machines that run one task at a time")
