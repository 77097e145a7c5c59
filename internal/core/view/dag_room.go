// SPDX-License-Identifier: MIT

package view

import (
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/model"
)

// Rooms are the capacities of machines that run several tasks at once, as arrays.
type Rooms struct {
	Resources int
	Capacity  []int64 // of machine m at [m*Resources+r]
	needs     []int64 // of task t at [t*Resources+r]
	own       map[int32]map[int32][]int64
}

// Need returns what task t takes on machine m while it runs, by resource. A task that takes no time takes nothing, and
// isn't to be asked for.
func (r *Rooms) Need(t, m int32) []int64 {
	if own, ok := r.own[t][m]; ok {
		return own
	}
	return r.needs[int(t)*r.Resources:][:r.Resources]
}

// Of returns the capacity of machine m.
func (r *Rooms) Of(m int32) []int64 { return r.Capacity[int(m)*r.Resources:][:r.Resources] }

// share returns the part of a resource of machine m that task t takes; 0 of a resource that the machine hasn't.
func (r *Rooms) share(t, m int32, resource int) float64 {
	if n := r.Need(t, m)[resource]; n > 0 {
		return float64(n) / float64(r.Of(m)[resource])
	}
	return 0
}

// Share returns the largest part of a resource of machine m that task t takes.
func (r *Rooms) Share(t, m int32) (most float64) {
	for k := range r.Resources {
		most = max(most, r.share(t, m, k))
	}
	return most
}

// LeastShares returns the least share of a resource that each task takes on a machine that can run it, and how many
// machines have the resource.
func (r *Rooms) LeastShares(g *Graph, resource int) (least []float64, machines float64) {
	least = make([]float64, g.Tasks)
	for t := range int32(g.Tasks) {
		least[t] = math.Inf(1)
		for m := range int32(g.Machines) {
			if g.Runs(t, m) {
				least[t] = min(least[t], r.share(t, m, resource))
			}
		}
	}
	for m := range int32(g.Machines) {
		if r.Of(m)[resource] > 0 {
			machines++
		}
	}
	return least, machines
}

// Busy returns how much of the time of a machine each task takes there by a resource, in seconds at [t*Machines+m]: its
// cost times the share of the capacity, +Inf where it can't run. What runs on a machine takes, together, no more than
// the time from 0 to the end of the schedule.
func (g *Graph) Busy(resource int) []float64 {
	busy := make([]float64, len(g.Cost))
	for t := range int32(g.Tasks) {
		for m := range int32(g.Machines) {
			k := int(t)*g.Machines + int(m)
			if busy[k] = g.Cost[k]; g.Runs(t, m) {
				busy[k] *= g.Room.share(t, m, resource)
			}
		}
	}
	return busy
}

// rooms reads the resources. They are left out if no two tasks ever fit on a machine together, since each takes more than
// half of some resource there, and all tasks take time: then machines run one task at a time. O(V M R).
func (g *Graph) rooms(d *model.DAG) {
	n := len(d.Resources)
	if n == 0 {
		return
	}
	r := &Rooms{Resources: n, Capacity: make([]int64, 0, g.Machines*n), needs: make([]int64, 0, g.Tasks*n)}
	machine := make(map[string]int32, g.Machines)
	for m := range d.Machines {
		r.Capacity = append(r.Capacity, d.Machines[m].Capacity...)
		machine[d.Machines[m].ID] = int32(m)
	}
	for t := range d.Tasks {
		r.needs = append(r.needs, d.Tasks[t].Needs...)
		for id, own := range d.Tasks[t].NeedsOn {
			if r.own == nil {
				r.own = map[int32]map[int32][]int64{}
			}
			if r.own[int32(t)] == nil {
				r.own[int32(t)] = map[int32][]int64{}
			}
			r.own[int32(t)][machine[id]] = own
		}
	}
	for m := range int32(g.Machines) {
		if !r.alone(g, m) {
			g.Room = r
			return
		}
	}
}

// alone reports whether all tasks of machine m take time and, each, more than half of one resource.
func (r *Rooms) alone(g *Graph, m int32) bool {
	capacity, alone := r.Of(m), make([]bool, r.Resources)
	for k := range alone {
		alone[k] = true
	}
	for t := range int32(g.Tasks) {
		cost := g.Cost[int(t)*g.Machines+int(m)]
		if cost == 0 {
			return false
		}
		if math.IsInf(cost, 1) {
			continue
		}
		for k, n := range r.Need(t, m) {
			alone[k] = alone[k] && n > capacity[k]-n
		}
	}
	return slices.Contains(alone, true)
}

// Running holds the tasks that run on each machine while a plan is played, of machines with capacities.
type Running struct {
	g        *Graph
	machines []running
}

// running holds the tasks that run on a machine, the first to end on top, and what is left beside them.
type running struct {
	ends heap.Heap[ending]
	left []int64
}

type ending struct {
	at   float64
	need []int64
}

// NewRunning returns machines on which nothing runs.
func NewRunning(g *Graph) *Running {
	x := &Running{g: g, machines: make([]running, g.Machines)}
	for m := range x.machines {
		x.machines[m].ends.Less = func(a, b ending) bool { return a.at < b.at }
	}
	x.Reset()
	return x
}

// Reset ends all tasks.
func (x *Running) Reset() {
	for m := range x.machines {
		y := &x.machines[m]
		y.ends.Items = y.ends.Items[:0]
		y.left = append(y.left[:0], x.g.Room.Of(int32(m))...)
	}
}

// Start starts task t, of a length, on machine m at a time, or later as soon as it has room, and returns that time. Times
// have any unit. Tasks start there in the order of the calls, so those that have ended by then are over. O(log running +
// R) for each task that ends.
func (x *Running) Start(t, m int32, at, length float64) float64 {
	y := &x.machines[m]
	if length == 0 {
		return at
	}
	need := x.g.Room.Need(t, m)
	for y.ends.Len() > 0 && (y.ends.Items[0].at <= at || !Fits(need, y.left)) {
		over := y.ends.Pop()
		at = max(at, over.at)
		for r, n := range over.need {
			y.left[r] += n
		}
	}
	for r, n := range need {
		y.left[r] -= n
	}
	y.ends.Push(ending{at + length, need})
	return at
}

// Fits reports whether all needs are at most what is left.
func Fits(need, left []int64) bool {
	for r, n := range need {
		if n > left[r] {
			return false
		}
	}
	return true
}
