// SPDX-License-Identifier: MIT

package reservation

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/bookings"
	"github.com/gapwise/gapwise/internal/profile"
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
func Moving(ctx context.Context, in *model.Reservation, set model.Settings) (*model.Bookings, error) {
	b, err := run(ctx, in, &mover{}, set)
	if b != nil {
		b.Online = false // that none was moved, it may be
	}
	return b, err
}

// mover is the policy of Moving. Its bookings have no PEs until they start, and then the
// lowest that are free.
type mover struct {
	pes            int
	perSecond      float64
	now            int64
	small, smaller *threshold
	requests       []*online.ReservationRequest // by number
	starts         []int64                      // of those that are accepted, as the simulation knows; -1: it isn't
	running        []plan                       // they count as reserved until their ends
	waiting        []plan
	decisions      []online.ReservationDecision
}

// plan is an accepted request.
type plan struct {
	request int
	bookings.Interval
}

// Begin implements online.ReservationPolicy.
func (m *mover) Begin(p online.ReservationPlatform) error {
	m.pes, m.perSecond = p.PEs, p.TicksPerSecond
	m.small, m.smaller = newThreshold(p, fill), newThreshold(p, fill/2)
	return nil
}

// Event implements online.ReservationPolicy.
func (m *mover) Event(e online.ReservationEvent) error {
	switch e.Type {
	case online.Submitted:
		m.requests, m.starts = append(m.requests, e.Request), append(m.starts, -1)
		m.advance(e.At)
		q := newQuery(e.Request)
		admit, move := m.small.admits(m.now, q), m.smaller.admits(m.now, q)
		if admit {
			m.request(int(e.Request.Number), move)
		}
		m.decide(e.Request.Number)
	case online.Ended, online.Withdrawn: // one that has started by now may still be among those that wait
		is := func(p plan) bool { return p.request == int(e.Request.Number) }
		m.running, m.waiting = slices.DeleteFunc(m.running, is), slices.DeleteFunc(m.waiting, is)
	}
	return nil
}

// decide decides what makes the bookings those that wait, and answers a request.
func (m *mover) decide(asked int32) {
	for _, p := range m.waiting {
		if m.starts[p.request] == p.Start {
			continue
		}
		d := online.ReservationDecision{Type: online.Move, Request: int32(p.request), At: p.Start}
		if d.Request == asked {
			d.Type = online.Accept
		}
		m.starts[p.request] = p.Start
		m.decisions = append(m.decisions, d)
	}
	if m.starts[asked] < 0 {
		m.decisions = append(m.decisions, online.ReservationDecision{Type: online.Reject, Request: asked})
	}
}

// Decide implements online.ReservationPolicy.
func (m *mover) Decide() ([]online.ReservationDecision, error) {
	all := m.decisions
	m.decisions = m.decisions[:0]
	return all, nil
}

// advance moves the time to a moment: until then, jobs have started and ended.
func (m *mover) advance(to int64) {
	m.now = to
	slices.SortFunc(m.waiting, func(a, b plan) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.request, b.request))
	})
	n := 0
	for n < len(m.waiting) && m.waiting[n].Start <= to {
		n++
	}
	m.running = append(m.running, m.waiting[:n]...)
	m.waiting = slices.Delete(m.waiting, 0, n)
	m.running = slices.DeleteFunc(m.running, func(p plan) bool { return p.End <= to })
}

// request accepts request k if it can be placed. move allows it to move others.
func (m *mover) request(k int, move bool) {
	c := &profile.Profile{Capacity: m.pes}
	for _, p := range m.running {
		c.Add(m.now, p.End, p.PEs)
	}
	base := c.Clone()
	for _, p := range m.waiting {
		c.Add(p.Start, p.End, p.PEs)
	}
	q := newQuery(m.requests[k])
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
	q := newQuery(m.requests[k])
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
			if most+q.PEs <= m.pes {
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
				if x := (float64(r.Deadline-r.Ready-r.Duration) + m.perSecond) / (float64(p.PEs) * float64(r.Duration)); pick < 0 || x > room {
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
