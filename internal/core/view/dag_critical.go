// SPDX-License-Identifier: MIT

package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// Hold is the reason why a task of a schedule didn't start earlier.
type Hold string

// The reasons why a task waited.
const (
	HoldNothing  Hold = ""         // neither a task nor data
	HoldMachine  Hold = "machine"  // the task before it on its machine, or one that left it room there, which sends it nothing
	HoldData     Hold = "data"     // the output of a task on the same machine
	HoldTransfer Hold = "transfer" // the data sent by a task on another machine
)

// CriticalTask is a task of a critical path.
type CriticalTask struct {
	Task         int // number in the instance
	StartS, EndS float64
	// By is how the task before it on the path held it up; HoldNothing for the
	// first.
	By Hold
	// Transfer is the number in the schedule's transfers, -1 unless By is
	// HoldTransfer. It arrived at ArrivedS, in seconds.
	Transfer int
	ArrivedS float64
	// IdleS is the time from the end of its wait to its start: 0 where the schedule starts it as early as its machine
	// and data allow.
	IdleS float64
}

// Critical returns the realised critical path of a schedule: the chain of tasks
// and transfers that holds up its makespan. It starts from the task that ends last (of several the first in the
// instance's order) and goes back from each task to the event that it waited for. That is the last one among the end of
// the task before it on its machine and the arrivals of its data. Ends within 1e-9 of the makespan are alike; then data
// come before the machine, and among data the first edge of the instance. The path begins with the earliest task. If no
// task and no transfer on it is idle, moved or delayed, its times add up to the makespan.
//
// Arrived is the time at which each of s.Transfers ends, in seconds and in their
// order, as the replay under contention gives it; nil if transfers don't slow
// each other down.
//
// The error wraps ErrInvalid: s isn't shaped like the instance, see MachineOf, a
// transfer is of no edge, or arrived has another length. The instance must be
// valid. O(V log V + V M + E + M²).
func Critical(d *model.DAG, s *model.Schedule, arrived []float64) ([]CriticalTask, error) {
	machine, err := d.MachineOf(s)
	if err != nil {
		return nil, err
	}
	if arrived != nil && len(arrived) != len(s.Transfers) {
		return nil, fmt.Errorf("%w schedule: has %d transfers, %d arrivals are given for them", model.ErrInvalid, len(s.Transfers), len(arrived))
	}
	g := OfDAG(d)
	sent, err := transferOf(d, s)
	if err != nil {
		return nil, err
	}
	end := make([]float64, g.Tasks)
	makespan := 0.0
	for t := range end {
		end[t] = s.Tasks[t].StartS + d.Cost(t, int(machine[t]))
		makespan = max(makespan, end[t])
	}
	before, place := beforeOnMachine(g, s, machine, end)
	tolerance := 1e-9 * makespan
	var room *roomEnds
	if g.Room != nil {
		room = newRoomEnds(g, machine, end)
	}

	var path []CriticalTask
	last := -1
	for t := range end {
		if last < 0 || end[t] > end[last] {
			last = t
		}
	}
	for t := last; t >= 0; {
		x := CriticalTask{Task: t, StartS: s.Tasks[t].StartS, EndS: end[t], Transfer: -1}
		next, until := -1, 0.0
		// Whatever held t up comes before it in the order of place, so the path
		// ends even if the schedule is invalid.
		for _, e := range g.Pred(int32(t)) {
			from := int(g.From[e])
			hold, k, at := HoldData, -1, end[from]+g.Comm(e, machine[t], machine[t])
			if machine[from] != machine[t] {
				k = sent[e]
				if k < 0 {
					continue // the schedule is invalid
				}
				hold = HoldTransfer
				if arrived != nil {
					at = arrived[k]
				} else {
					at = s.Transfers[k].StartS + g.Comm(e, machine[from], machine[t])
				}
			}
			if place[from] < place[t] && (next < 0 || at > until+tolerance) {
				next, until, x.By, x.Transfer, x.ArrivedS = from, at, hold, k, 0
				if k >= 0 {
					x.ArrivedS = at
				}
			}
		}
		b := before[t]
		if g.Room != nil {
			b = room.madeRoom(t, x.StartS, place)
		}
		if b >= 0 && (next < 0 || end[b] > until+tolerance) {
			next, until, x.By, x.Transfer, x.ArrivedS = b, end[b], HoldMachine, -1, 0
		}
		x.IdleS = max(x.StartS-until, 0)
		if x.IdleS <= tolerance {
			x.IdleS = 0
		}
		path = append(path, x)
		t = next
	}
	slices.Reverse(path)
	return path, nil
}

// roomEnds tells which task's end made room for another one on machines with capacities: for each machine, its tasks of
// some length by start and by end, and the sums of their needs up to each.
type roomEnds struct {
	g              *Graph
	machine        []int32
	starts, ends   [][]moment
	started, ended [][]int64 // [machine][i*Resources+r]: of the first i
}

type moment struct {
	at   float64
	task int32
}

// newRoomEnds sorts the tasks of a schedule. O(V log V + V R).
func newRoomEnds(g *Graph, machine []int32, end []float64) *roomEnds {
	x := &roomEnds{g: g, machine: machine, starts: make([][]moment, g.Machines), ends: make([][]moment, g.Machines),
		started: make([][]int64, g.Machines), ended: make([][]int64, g.Machines)}
	for t, m := range machine {
		if cost := g.Cost[t*g.Machines+int(m)]; cost > 0 {
			x.starts[m] = append(x.starts[m], moment{end[t] - cost, int32(t)})
			x.ends[m] = append(x.ends[m], moment{end[t], int32(t)})
		}
	}
	sums := func(list []moment, m int32) []int64 {
		slices.SortFunc(list, func(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.task, b.task)) })
		n := g.Room.Resources
		all := make([]int64, n*(len(list)+1))
		for i, y := range list {
			for r, need := range g.Room.Need(y.task, m) {
				all[(i+1)*n+r] = all[i*n+r] + need
			}
		}
		return all
	}
	for m := range x.starts {
		x.started[m], x.ended[m] = sums(x.starts[m], int32(m)), sums(x.ends[m], int32(m))
	}
	return x
}

// before returns how many moments are before a time.
func before(list []moment, at float64) int {
	n, _ := slices.BinarySearchFunc(list, at, func(y moment, at float64) int { return cmp.Compare(y.at, at) })
	return n
}

// madeRoom returns the task whose end made room for t, -1 if t had room before: the last one to end by t's start without
// whose end t wouldn't fit, of the last 16. O(log V + R) for each.
func (x *roomEnds) madeRoom(t int, start float64, place []int) int {
	m, n := x.machine[t], x.g.Room.Resources
	ends, left := x.ends[m], make([]int64, n)
	latest := start + 1e-9*math.Abs(start)
	k := before(ends, math.Nextafter(latest, math.Inf(1))) - 1
	for ; k >= 0 && k > before(ends, math.Nextafter(latest, math.Inf(1)))-17; k-- {
		at, own := ends[k].at, ends[k].task
		if place[own] >= place[t] { // so the path ends, whatever the tolerance takes for earlier
			continue
		}
		s, e := before(x.starts[m], at), before(ends, at)
		for r, c := range x.g.Room.Of(m) {
			left[r] = c - (x.started[m][s*n+r] - x.ended[m][e*n+r])
		}
		if !Fits(x.g.Room.Need(int32(t), m), left) {
			return int(own)
		}
	}
	return -1
}

// transferOf returns the number of the transfer of each edge, -1 without.
func transferOf(d *model.DAG, s *model.Schedule) ([]int, error) {
	edge := make(map[[2]string]int, len(d.Edges))
	sent := make([]int, len(d.Edges))
	for e, x := range d.Edges {
		edge[[2]string{x.From, x.To}] = e
		sent[e] = -1
	}
	for k, x := range s.Transfers {
		e, ok := edge[[2]string{x.From, x.To}]
		if !ok {
			return nil, fmt.Errorf("%w schedule: transfers[%d] from %q to %q: there is no such edge", model.ErrInvalid, k, x.From, x.To)
		}
		sent[e] = k
	}
	return sent, nil
}

// beforeOnMachine returns the task before each one on its machine, -1 without,
// and the place of each task among all by start, end and topological order.
func beforeOnMachine(g *Graph, s *model.Schedule, machine []int32, end []float64) (before, place []int) {
	topological := make([]int, g.Tasks)
	for k, t := range g.Order {
		topological[t] = k
	}
	order := make([]int, g.Tasks)
	for t := range order {
		order[t] = t
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(s.Tasks[a].StartS, s.Tasks[b].StartS), cmp.Compare(end[a], end[b]), cmp.Compare(topological[a], topological[b]))
	})
	before, place = make([]int, g.Tasks), make([]int, g.Tasks)
	lastOn := make([]int, g.Machines)
	for m := range lastOn {
		lastOn[m] = -1
	}
	for k, t := range order {
		place[t] = k
		before[t], lastOn[machine[t]] = lastOn[machine[t]], t
	}
	return before, place
}
