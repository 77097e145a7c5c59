// SPDX-License-Identifier: MIT

package dag

import (
	"errors"
	"math"

	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
)

// builder is a schedule without contention under construction by a list scheduler.
// Tasks are placed in any order in which predecessors come first.
type builder struct {
	*costs
	machine       []int32   // of each task, -1 until it is placed
	start, finish []float64 // of each task, seconds
	lines         []*timeline
	rooms         []capacity // instead of lines, of machines that run several tasks at once
	uniform       bool       // see view.Graph.Uniform; fixed lengths don't change it
	arrivals      []float64  // of arrive
}

func newBuilder(c *costs) *builder {
	g := c.g
	b := &builder{costs: c, machine: make([]int32, g.Tasks), start: make([]float64, g.Tasks), finish: make([]float64, g.Tasks),
		uniform: g.Uniform && g.Machines > 1, arrivals: make([]float64, g.Machines)}
	for t := range b.machine {
		b.machine[t] = -1
	}
	if b.rooms = newRooms(g); b.rooms != nil {
		return b
	}
	b.lines = make([]*timeline, g.Machines)
	for m := range b.lines {
		b.lines[m] = newTimeline()
	}
	return b
}

// arrive returns when the data of task t's placed predecessors are there on each
// machine; it is valid until the next call. O(preds + M) if the network is uniform,
// else O(preds M).
func (b *builder) arrive(t int32) []float64 {
	g, at := b.g, b.arrivals
	clear(at)
	if !b.uniform {
		for _, e := range g.Pred(t) {
			f := g.From[e]
			if from := b.machine[f]; from >= 0 {
				for m := range at {
					at[m] = max(at[m], b.finish[f]+b.between(e, from, int32(m)))
				}
			}
		}
		return at
	}
	// The latest arrival from elsewhere is the latest of all, but on the
	// machine that this one comes from, where it is the latest from others.
	first, second, source := 0.0, 0.0, int32(-1)
	for _, e := range g.Pred(t) {
		f := g.From[e]
		from := b.machine[f]
		if from < 0 {
			continue
		}
		x := b.finish[f] + b.between(e, from, (from+1)%int32(g.Machines))
		switch {
		case from == source:
			first = max(first, x)
		case x > first:
			first, second, source = x, first, from
		default:
			second = max(second, x)
		}
		at[from] = max(at[from], b.finish[f])
	}
	for m := range at {
		if int32(m) == source {
			at[m] = max(at[m], second)
		} else {
			at[m] = max(at[m], first)
		}
	}
	return at
}

// cost returns the run time of task t on machine m in seconds.
func (b *builder) cost(t, m int32) float64 { return b.g.Cost[int(t)*b.g.Machines+int(m)] }

// find returns the earliest start of task t on machine m at ready or later, by insertion.
func (b *builder) find(t, m int32, ready float64) float64 {
	if b.rooms != nil {
		return b.rooms[m].find(b.g.Room.Need(t, m), ready, b.cost(t, m))
	}
	return b.lines[m].find(ready, b.cost(t, m))
}

// behind returns the earliest start of task t on machine m at ready or later behind the tasks there: after the end of the
// last one, or, if it runs several at once, no sooner than that starts. free is that end or start.
func (b *builder) behind(t, m int32, ready, free float64) float64 {
	if b.rooms != nil {
		return b.find(t, m, max(free, ready))
	}
	return max(free, ready)
}

// follow puts task t on machine m behind the tasks there, and returns what free is for the next one.
func (b *builder) follow(t, m int32, start float64) float64 {
	b.place(t, m, start)
	if b.rooms != nil {
		return start
	}
	return b.finish[t]
}

// errStuck reports that the data of a task's predecessors have no common machine that can run it.
var errStuck = errors.New("a list scheduler is stuck")

// earliest returns the machine on which task t finishes first by insertion, and its
// start there; -1 if it can be on none.
func (b *builder) earliest(t int32) (machine int32, start float64) {
	at := b.arrive(t)
	best := math.Inf(1)
	machine = -1
	for m := range at {
		length := b.cost(t, int32(m))
		if at[m]+length >= best {
			continue
		}
		s := b.find(t, int32(m), at[m])
		if less(s+length, best) {
			best, machine, start = s+length, int32(m), s
		}
	}
	return machine, start
}

// place puts task t on machine m at start.
func (b *builder) place(t, m int32, start float64) {
	b.machine[t], b.start[t], b.finish[t] = m, start, start+b.cost(t, m)
	if b.rooms != nil {
		b.rooms[m].add(b.g.Room.Need(t, m), start, b.finish[t], 1)
		return
	}
	b.lines[m].occupy(start, b.finish[t])
}

// unplace undoes place.
func (b *builder) unplace(t int32) {
	m := b.machine[t]
	b.machine[t] = -1
	if b.rooms != nil {
		b.rooms[m].add(b.g.Room.Need(t, m), b.start[t], b.finish[t], -1)
		return
	}
	b.lines[m].release(b.start[t], b.finish[t])
}

func (b *builder) plan() dagplay.Plan { return dagplay.NewPlan(b.g, b.machine, b.start, b.finish) }

// makespan returns the latest finish.
func (b *builder) makespan() float64 {
	last := 0.0
	for _, f := range b.finish {
		last = max(last, f)
	}
	return last
}

// checkEvery is how many tasks are placed between two checks of the context.
const checkEvery = 256
