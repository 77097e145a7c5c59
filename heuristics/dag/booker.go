// SPDX-License-Identifier: MIT

package dag

import (
	"math"
	"slices"
	"sort"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/model"
)

// booker makes a schedule of an order of the tasks and a machine for each, as SinnenSousa does. Task by task it books
// the incoming transfers on their links, one after another by their producers' finish, and then the machine. Each takes
// the first gap that is long enough. No two transfers share a link at a time, so each takes as long as alone, under any
// transfer model. Files of an edge are booked as one transfer, also those that its machine has by then: they are sent
// in the earliest booking, side by side with the others, and that takes no longer.
//
// A machine that runs several tasks at once takes a task as soon as it has room for its length, as the list schedulers do.
//
// It keeps one such schedule and tries others. Bookings before the first task that differs aren't made again. A try
// ends when a task, with the longest path after it on the machines given, ends after a limit.
type booker struct {
	g       *view.Graph
	perData []float64 // seconds of a lone transfer per unit of data, from machine m to n at [m*Machines+n]; 0: it shares no link, or stays there

	order, place []int32 // the tasks, in a topological order; where each is in it
	machine      []int32
	tail         []float64 // of each task: the longest path after it, transfers as if alone

	kept, tried bookings
	edges       []int32 // scratch
	work        int64   // in some 10 ns
}

// bookings are the lines of the machines, then the links, and the end of each task.
type bookings struct {
	lines  []line
	rooms  []capacity // of machines that run several tasks at once, with all that is in their lines
	finish []float64
}

// line holds the bookings of a machine or a link, in the order of time; of a machine with room for several as they came.
type line []booked

type booked struct {
	start, end float64
	task       int32 // that runs, or that the transfer is for
}

func newBooker(g *view.Graph, r *dagplay.Replay) *booker {
	b := &booker{g: g, perData: make([]float64, g.Machines*g.Machines), tail: make([]float64, g.Tasks), place: make([]int32, g.Tasks)}
	for _, x := range []*bookings{&b.kept, &b.tried} {
		x.lines, x.finish = make([]line, g.Machines+len(g.Links)), make([]float64, g.Tasks)
		x.rooms = newRooms(g)
	}
	for m := range int32(g.Machines) {
		for n := range int32(g.Machines) {
			if m == n || !r.Contends(m, n) {
				continue
			}
			b.perData[int(m)*g.Machines+int(n)] = 1 / loneRate(g, m, n)
		}
	}
	return b
}

// loneRate returns the rate of a transfer from machine m to n that is alone on its links.
func loneRate(g *view.Graph, m, n int32) float64 {
	rate := g.Rate[int(m)*g.Machines+int(n)]
	if g.Transfer == model.TransferTCP || g.Transfer == model.TransferTCPAll {
		for _, l := range g.Route(m, n) {
			rate = min(rate, g.Links[l]*model.TCPShare(1))
		}
	}
	return rate
}

// set starts again from an order and machines, and returns the makespan.
func (b *booker) set(order, machine []int32) float64 {
	b.order, b.machine = slices.Clone(order), slices.Clone(machine)
	for k, t := range order {
		b.place[t] = int32(k)
	}
	b.tails()
	v := b.try(0, math.Inf(1), nil)
	b.keep()
	return v
}

// tails computes the tails after a change of machines. O(E).
func (b *booker) tails() {
	g := b.g
	b.work += int64(len(g.Data)) / 2
	for _, t := range slices.Backward(g.Order) {
		longest, m := 0.0, b.machine[t]
		for _, e := range g.Succ(t) {
			s := g.To[e]
			n := b.machine[s]
			longest = max(longest, b.length(e, m, n)+g.Cost[int(s)*g.Machines+int(n)]+b.tail[s])
		}
		b.tail[t] = longest
	}
}

// length returns how long a transfer takes alone, with its start-up.
func (b *booker) length(e, m, n int32) float64 {
	if x := b.perData[int(m)*b.g.Machines+int(n)]; x > 0 && b.g.Data[e] > 0 {
		return b.g.Startup(m, n) + x*b.g.Sum[e]
	}
	return b.g.Comm(e, m, n)
}

// keep keeps the last try.
func (b *booker) keep() { b.kept, b.tried = b.tried, b.kept }

// times are when the tasks of a schedule start and its transfers are sent.
type times struct{ start, sent []float64 }

// try makes the schedule again from a place in the order on, and returns its makespan, or +Inf if that is above the
// limit. It notes the times of all bookings if note isn't nil.
func (b *booker) try(from int32, limit float64, note *times) float64 {
	g, x := b.g, &b.tried
	last := 0.0
	for i, l := range b.kept.lines {
		all := x.lines[i][:0]
		if from > 0 {
			for _, k := range l {
				if b.place[k.task] < from {
					all = append(all, k)
				}
			}
			b.work += int64(len(l)) / 8
			if n := len(all); n > 0 && i < g.Machines {
				last = max(last, all[n-1].end)
			}
		}
		if x.lines[i] = all; x.rooms != nil && i < g.Machines {
			x.rooms[i].clear()
			for _, k := range all {
				x.rooms[i].add(g.Room.Need(k.task, int32(i)), k.start, k.end, 1)
				last = max(last, k.end)
			}
			b.work += 8 * int64(len(all))
		}
	}
	copy(x.finish, b.kept.finish)
	if limit += limit * tie; last > limit { // rounding differs
		return math.Inf(1)
	}
	for _, t := range b.order[from:] {
		m := b.machine[t]
		cost, own := g.Cost[int(t)*g.Machines+int(m)], &x.lines[m]
		start := b.receive(t, note)
		if x.rooms == nil {
			start = own.find(start, cost)
			own.occupy(start, start+cost, t)
		} else {
			need := g.Room.Need(t, m)
			start = x.rooms[m].find(need, start, cost)
			x.rooms[m].add(need, start, start+cost, 1)
			*own = append(*own, booked{start, start + cost, t})
			b.work += 10
		}
		x.finish[t] = start + cost
		if last = max(last, start+cost); start+cost+b.tail[t] > limit {
			return math.Inf(1)
		}
		if note != nil {
			note.start[t] = start
		}
	}
	return last
}

// receive books the transfers to a task and returns when the last arrives.
func (b *booker) receive(t int32, note *times) float64 {
	g, x, m, ready := b.g, &b.tried, b.machine[t], 0.0
	b.edges = append(b.edges[:0], g.Pred(t)...)
	for i := 1; i < len(b.edges); i++ {
		for k := i; k > 0 && x.finish[g.From[b.edges[k]]] < x.finish[g.From[b.edges[k-1]]]; k-- {
			b.edges[k], b.edges[k-1] = b.edges[k-1], b.edges[k]
		}
	}
	b.work += 10 * int64(1+len(b.edges))
	for _, e := range b.edges {
		from := b.machine[g.From[e]]
		sent := x.finish[g.From[e]]
		arrived := sent
		if from != m || g.Local {
			perData := b.perData[int(from)*g.Machines+int(m)]
			if perData == 0 || g.Data[e] == 0 {
				arrived += g.Comm(e, from, m)
			} else {
				begin, end := b.send(g.Route(from, m), sent+g.Startup(from, m), perData*g.Sum[e], t)
				sent, arrived = max(sent, begin-g.Startup(from, m)), end // the difference is rounded
			}
		}
		if note != nil {
			note.sent[e] = sent
		}
		ready = max(ready, arrived)
	}
	return ready
}

// send books the first time at ready or later at which all links are free for so long.
func (b *booker) send(links []int32, ready, length float64, t int32) (begin, end float64) {
	lines := b.tried.lines[b.g.Machines:]
	for begin = ready; ; {
		was := begin
		for _, l := range links {
			begin = lines[l].find(begin, length)
		}
		if begin == was {
			break
		}
	}
	end = begin + length
	for _, l := range links {
		lines[l].occupy(begin, end, t)
	}
	return begin, end
}

// find returns the earliest start at ready or later with room for length.
func (l line) find(ready, length float64) float64 {
	n := len(l)
	if n == 0 || l[n-1].end <= ready {
		return ready
	}
	i := n - 1 // the first that ends after ready
	if n > 8 {
		i = sort.Search(n, func(k int) bool { return l[k].end > ready })
	} else {
		for i > 0 && l[i-1].end > ready {
			i--
		}
	}
	for ; i < n && l[i].start < ready+length; i++ {
		ready = l[i].end
	}
	return ready
}

// occupy books a time that is free.
func (l *line) occupy(start, end float64, t int32) {
	i := len(*l)
	for i > 0 && (*l)[i-1].start >= start && (*l)[i-1].end > start {
		i--
	}
	*l = slices.Insert(*l, i, booked{start, end, t})
}

// move puts a task at another place in the order, which must stay topological.
func (b *booker) move(t, to int32) {
	k := b.place[t]
	for ; k < to; k++ {
		b.order[k] = b.order[k+1]
		b.place[b.order[k]] = k
	}
	for ; k > to; k-- {
		b.order[k] = b.order[k-1]
		b.place[b.order[k]] = k
	}
	b.order[to], b.place[t] = t, to
}

// room returns the first and the last place in the order that a task can have.
func (b *booker) room(t int32) (first, last int32) {
	last = int32(b.g.Tasks - 1)
	for _, e := range b.g.Pred(t) {
		first = max(first, b.place[b.g.From[e]]+1)
	}
	for _, e := range b.g.Succ(t) {
		last = min(last, b.place[b.g.To[e]]-1)
	}
	return first, last
}
