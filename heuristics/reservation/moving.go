// SPDX-License-Identifier: MIT

package reservation

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/bitset"
	"github.com/gapwise/gapwise/internal/bookings"
	"github.com/gapwise/gapwise/internal/heap"
	"github.com/gapwise/gapwise/internal/profile"
	"github.com/gapwise/gapwise/internal/turns"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// Moving is Selective, but may also move and renumber reservations that haven't
// started, each within its own window: all that is promised to a user is the
// window. It shows what that freedom is worth. Its bookings are those that ran in
// the end, so they don't claim to be online.
//
// It moves others only for a request below the threshold of half of Selective's
// share. Otherwise the freedom would serve the large requests most, each of which
// displaces many small ones: more PE-seconds would be accepted, and fewer
// requests.
//
// PEs are only counted until a job starts, since intervals can be numbered
// whenever the counts fit (see Number). For a request that doesn't fit, each of
// its candidate starts is tried with the reservations in its way placed
// elsewhere; if that fails, all reservations and the request are scheduled anew,
// in four orders by urgency and size.
//
// With v reservations in a request's window and n waiting, a request that fits
// takes O(v²), another O(v³ + n²).
//
// When ctx ends, it returns what was accepted by then. The error is
// model.ErrNoSolution if the goal is all and a request was declined.
func Moving(ctx context.Context, in *model.Reservation, _ model.Settings) (*model.Bookings, error) {
	m := &mover{in: in, times: view.OfReservation(in), free: bitset.New(in.PEs), running: heap.Heap[event]{Less: event.before}, out: &model.Bookings{Goal: in.Goal}}
	m.free.Fill(in.PEs)
	small, smaller := newThreshold(in, fill), newThreshold(in, fill/2)
	for k := range in.Requests {
		if turns.Stop(ctx, 50) {
			break // what was accepted by then
		}
		m.advance(m.times.Requests[k].Arrival)
		ask := newQuery(&in.Requests[k], &m.times.Requests[k])
		admit, move := small.admits(m.now, ask), smaller.admits(m.now, ask)
		if admit {
			m.request(k, move)
		}
	}
	m.advance(forever)
	return declined(in, m.out, nil)
}

// mover is the state of Moving at the time now.
type mover struct {
	in      *model.Reservation
	times   *view.Reservation
	now     int64
	free    bitset.Set
	running heap.Heap[event] // when PEs come free; until then they count as reserved until event.end
	waiting []plan
	out     *model.Bookings
}

// plan is an accepted request that hasn't started.
type plan struct {
	request int
	bookings.Interval
}

// advance moves the time to a moment: until then, jobs start, end and are
// cancelled.
func (m *mover) advance(to int64) {
	slices.SortFunc(m.waiting, func(a, b plan) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.request, b.request))
	})
	release := func(until int64) {
		for m.running.Len() > 0 && m.running.Items[0].at <= until {
			bookings.AddPEs(m.free, m.running.Pop().pes)
		}
	}
	kept := m.waiting[:0]
	for _, p := range m.waiting {
		q, t := &m.in.Requests[p.request], &m.times.Requests[p.request]
		switch {
		case !t.Runs(p.Start) && t.Cancel <= to:
			// It never runs: any PEs will do.
			m.out.Bookings = append(m.out.Bookings, model.Booking{ID: q.ID, StartS: m.times.Seconds(p.Start), PEs: model.PEList{{First: 0, Last: q.PEs - 1}}})
		case p.Start <= to:
			release(p.Start)
			pes := bookings.LowestPEs(m.free, q.PEs)
			bookings.RemovePEs(m.free, pes)
			m.running.Push(event{min(p.Start+t.Runtime, p.End), p.request, p.Start, p.End, pes})
			m.out.Bookings = append(m.out.Bookings, model.Booking{ID: q.ID, StartS: m.times.Seconds(p.Start), PEs: pes})
		default:
			kept = append(kept, p)
		}
	}
	m.waiting = kept
	release(to)
	m.now = to
}

// request accepts request k if it can be placed. move allows it to move others.
func (m *mover) request(k int, move bool) {
	c := &profile.Profile{Capacity: m.in.PEs}
	for _, r := range m.running.Items {
		c.Add(m.now, r.end, m.in.Requests[r.request].PEs)
	}
	base := c.Clone()
	for _, p := range m.waiting {
		c.Add(p.Start, p.End, p.PEs)
	}
	q := newQuery(&m.in.Requests[k], &m.times.Requests[k])
	if x, ok := leastLoaded(c, q); ok {
		m.waiting = append(m.waiting, plan{k, x})
		return
	}
	if !move {
		return
	}
	if plans, ok := m.eject(k, q, c); ok {
		m.waiting = plans
		return
	}
	if plans, ok := m.again(k, base); ok {
		m.waiting = plans
	}
}

// query returns what a waiting request asks for from now on.
func (m *mover) query(k int) query {
	q := newQuery(&m.in.Requests[k], &m.times.Requests[k])
	q.Ready = max(q.Ready, m.now)
	return q
}

// eject tries each candidate start of request k, with the reservations in its way
// placed elsewhere, and returns what then waits; ok is false if no start will do.
func (m *mover) eject(k int, q query, full *profile.Profile) (_ []plan, ok bool) {
next:
	for _, start := range candidates(full.Times(), q) {
		w := q.at(start)
		c := full.Clone()
		plans := slices.Clone(m.waiting)
		var out []int // of plans
		for {
			at, most := c.Peak(w.start, w.end)
			if most+q.PEs <= m.in.PEs {
				break
			}
			// Of those that run at the peak, take the one with the most room in
			// its window relative to its size.
			pick, room := -1, 0.0
			for i, p := range plans {
				if p.Start > at || p.End <= at || slices.Contains(out, i) {
					continue
				}
				r := m.query(p.request)
				if x := (float64(r.Deadline-r.Ready-r.Duration) + m.times.PerSecond()) / (float64(p.PEs) * float64(r.Duration)); pick < 0 || x > room {
					pick, room = i, x
				}
			}
			if pick < 0 {
				continue next // only running jobs are in the way
			}
			c.Add(plans[pick].Start, plans[pick].End, -plans[pick].PEs)
			out = append(out, pick)
		}
		mine := bookings.Interval{Start: w.start, End: w.end, PEs: q.PEs}
		c.Add(mine.Start, mine.End, mine.PEs)
		slices.SortFunc(out, func(a, b int) int {
			return cmp.Or(cmp.Compare(plans[b].area(), plans[a].area()), cmp.Compare(a, b))
		})
		for _, i := range out {
			x, ok := leastLoaded(c, m.query(plans[i].request))
			if !ok {
				continue next
			}
			c.Add(x.Start, x.End, x.PEs)
			plans[i].Interval = x
		}
		return append(plans, plan{k, mine}), true
	}
	return nil, false
}

func (p *plan) area() float64 { return float64(p.PEs) * float64(p.End-p.Start) }

// again schedules all waiting requests and request k anew, beside the running
// jobs; ok is false if one is left out in each order.
func (m *mover) again(k int, base *profile.Profile) (_ []plan, ok bool) {
	all := []int{k}
	for _, p := range m.waiting {
		all = append(all, p.request)
	}
	for _, key := range []func(q query) float64{
		func(q query) float64 { return float64(q.latest()) },
		func(q query) float64 { return float64(q.Deadline) },
		func(q query) float64 { return float64(q.latest() - q.Ready) },         // room
		func(q query) float64 { return -float64(q.PEs) * float64(q.Duration) }, // size
	} {
		slices.SortFunc(all, func(a, b int) int {
			return cmp.Or(cmp.Compare(key(m.query(a)), key(m.query(b))), cmp.Compare(a, b))
		})
		if plans, ok := m.serial(all, base.Clone()); ok {
			return plans, true
		}
	}
	return nil, false
}

// serial places requests one after another, each where the least is in use; ok is
// false if one has no place.
func (m *mover) serial(order []int, c *profile.Profile) (_ []plan, ok bool) {
	var plans []plan
	for _, k := range order {
		x, ok := leastLoaded(c, m.query(k))
		if !ok {
			return nil, false
		}
		c.Add(x.Start, x.End, x.PEs)
		plans = append(plans, plan{k, x})
	}
	return plans, true
}

// leastLoaded returns the window of a query in which the least is in use, summed
// over its ticks; ok is false if the query's PEs fit nowhere.
func leastLoaded(p *profile.Profile, q query) (best bookings.Interval, ok bool) {
	least := math.Inf(1)
	for _, start := range candidates(p.Times(), q) {
		w := q.at(start)
		load := 0.0
		p.Steps(w.start, w.end, func(from, to int64, used int) bool {
			if used+q.PEs > p.Capacity {
				load = math.Inf(1)
			}
			load += float64(used) * float64(to-from)
			return load < least
		})
		if load < least {
			best, least, ok = bookings.Interval{Start: w.start, End: w.end, PEs: q.PEs}, load, true
		}
	}
	return best, ok
}
