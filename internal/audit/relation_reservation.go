package audit

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// copyReservation returns a copy that shares no memory with r.
func copyReservation(r *model.Reservation) *model.Reservation {
	c := *r
	c.Requests = slices.Clone(r.Requests)
	for k := range c.Requests {
		q := &c.Requests[k]
		for _, p := range []**float64{&q.RuntimeS, &q.CancelS} {
			if *p != nil {
				x := **p
				*p = &x
			}
		}
	}
	return &c
}

// eachTime applies f to every time of a request.
func eachTime(q *model.Request, f func(*float64)) {
	for _, p := range []*float64{&q.ArrivalS, &q.ReadyS, &q.DurationS, &q.DeadlineS, q.RuntimeS, q.CancelS} {
		if p != nil {
			f(p)
		}
	}
}

// lastDeadline returns the latest deadline, in seconds.
func lastDeadline(r *model.Reservation) float64 {
	last := 0.0
	for k := range r.Requests {
		last = max(last, r.Requests[k].DeadlineS)
	}
	return last
}

// whole reports whether all times are whole and far below 2^53, so that sums
// of them are exact.
func whole(r *model.Reservation) bool {
	ok := true
	for k := range r.Requests {
		eachTime(&r.Requests[k], func(t *float64) { ok = ok && *t == float64(int64(*t)) && *t < 1<<45 })
	}
	return ok
}

// plainRequests reports whether no request ends early or is cancelled.
func plainRequests(r *model.Reservation) bool {
	return !slices.ContainsFunc(r.Requests, func(q model.Request) bool { return q.RuntimeS != nil || q.CancelS != nil })
}

func reservationRelations() []relation {
	add := func(name string, other func(*model.Reservation, *rand.Rand) (*model.Reservation, bool), implies func(in, other model.Instance, c claim) claim) relation {
		return typed(name, other, implies)
	}
	// weighed multiplies the optimum by f if the goal is PE-seconds.
	weighed := func(f float64) func(in, other model.Instance, c claim) claim {
		return func(in, other model.Instance, c claim) claim {
			if in.(*model.Reservation).EffectiveGoal().PESeconds() {
				return times(f)(in, other, c)
			}
			return c
		}
	}
	var scaled []relation
	for _, f := range powers {
		scaled = append(scaled, add(fmt.Sprintf("all times %g", f), func(r *model.Reservation, _ *rand.Rand) (*model.Reservation, bool) {
			c := copyReservation(r)
			for k := range c.Requests {
				eachTime(&c.Requests[k], func(t *float64) { *t *= f })
			}
			return c, whole(r) && c.Validate() == nil
		}, weighed(f)))
	}
	return append(scaled,
		// The optimum of the offline problem doesn't depend on the order of arrival.
		add("renamed", func(r *model.Reservation, rng *rand.Rand) (*model.Reservation, bool) {
			c := copyReservation(r)
			for k := range c.Requests {
				c.Requests[k].ID = fmt.Sprintf("x%d", k)
				c.Requests[k].ArrivalS = 0
			}
			rng.Shuffle(len(c.Requests), func(a, b int) { c.Requests[a], c.Requests[b] = c.Requests[b], c.Requests[a] })
			return c, c.Validate() == nil
		}, same),
		// Bookings read backwards are bookings.
		add("time reversed", func(r *model.Reservation, _ *rand.Rand) (*model.Reservation, bool) {
			c := copyReservation(r)
			last := lastDeadline(r)
			for k := range c.Requests {
				q := &c.Requests[k]
				q.ArrivalS, q.ReadyS, q.DeadlineS = 0, last-q.DeadlineS, last-q.ReadyS
			}
			return c, whole(r) && plainRequests(r) && c.Validate() == nil
		}, same),
		// It can run after the latest deadline of all others, with all PEs free.
		add("a request that fits anywhere", func(r *model.Reservation, rng *rand.Rand) (*model.Reservation, bool) {
			c := copyReservation(r)
			last := lastDeadline(r)
			q := model.Request{ID: "anywhere", DurationS: 1, DeadlineS: last + 1, PEs: 1 + rng.IntN(r.PEs)}
			for k := range c.Requests {
				c.Requests[k].ArrivalS = 0
			}
			c.Requests = slices.Insert(c.Requests, rng.IntN(len(c.Requests)+1), q)
			return c, whole(r) && c.Validate() == nil
		}, func(in, other model.Instance, c claim) claim {
			r := other.(*model.Reservation)
			k := slices.IndexFunc(r.Requests, func(q model.Request) bool { return q.ID == "anywhere" })
			return plus(r.Weight(k))(in, other, c)
		}),
		// The second half begins when the first is over.
		add("joined with itself in time", func(r *model.Reservation, rng *rand.Rand) (*model.Reservation, bool) {
			c := copyReservation(r)
			last := lastDeadline(r)
			for _, q := range copyReservation(r).Requests {
				q.ID = "again-" + q.ID
				q.ReadyS += last
				q.DeadlineS += last
				if q.CancelS != nil {
					*q.CancelS += last
				}
				c.Requests = append(c.Requests, q)
			}
			for k := range c.Requests {
				c.Requests[k].ArrivalS = 0
			}
			rng.Shuffle(len(c.Requests), func(a, b int) { c.Requests[a], c.Requests[b] = c.Requests[b], c.Requests[a] })
			return c, whole(r) && len(r.Requests) <= 25 && c.Validate() == nil
		}, times(2)),
		// The goal of all requests becomes one that can always be met.
		add("counted instead of all", func(r *model.Reservation, _ *rand.Rand) (*model.Reservation, bool) {
			c := copyReservation(r)
			c.Goal = model.GoalAccepted
			return c, r.EffectiveGoal() == model.GoalAll
		}, func(in, _ model.Instance, c claim) claim {
			n := float64(len(in.(*model.Reservation).Requests))
			d := unknown()
			switch {
			case c.infeasible:
				d.high = n - 1
			case c.solved:
				d.low, d.high, d.solved = n, n, true
			}
			return d
		}),
		// What is used is part of what is reserved.
		add("reserved instead of used", func(r *model.Reservation, _ *rand.Rand) (*model.Reservation, bool) {
			c := copyReservation(r)
			c.Goal = model.GoalReservedPESeconds
			return c, r.EffectiveGoal() == model.GoalPESeconds
		}, noWorse),
		// Then both count the same.
		add("used instead of reserved, all run in full", func(r *model.Reservation, _ *rand.Rand) (*model.Reservation, bool) {
			c := copyReservation(r)
			c.Goal = model.GoalPESeconds
			return c, r.EffectiveGoal() == model.GoalReservedPESeconds && plainRequests(r)
		}, same),
		// It holds no PEs and counts for nothing.
		add("a request that never runs", func(r *model.Reservation, rng *rand.Rand) (*model.Reservation, bool) {
			c := copyReservation(r)
			cancel := 0.0
			q := model.Request{ID: "never", ReadyS: 1, DurationS: 1, DeadlineS: 2, PEs: 1 + rng.IntN(r.PEs), CancelS: &cancel}
			for k := range c.Requests {
				c.Requests[k].ArrivalS = 0
			}
			c.Requests = slices.Insert(c.Requests, rng.IntN(len(c.Requests)+1), q)
			return c, r.EffectiveGoal() == model.GoalPESeconds && whole(r) && c.Validate() == nil
		}, same),
		// The new PE can stay idle.
		add("a PE more", func(r *model.Reservation, _ *rand.Rand) (*model.Reservation, bool) {
			c := copyReservation(r)
			c.PEs++
			return c, true
		}, noWorse),
		add("a later deadline", func(r *model.Reservation, rng *rand.Rand) (*model.Reservation, bool) {
			c := copyReservation(r)
			if len(c.Requests) == 0 {
				return nil, false
			}
			q := &c.Requests[rng.IntN(len(c.Requests))]
			q.DeadlineS += q.DurationS
			return c, plainRequests(r) && c.Validate() == nil
		}, noWorse),
	)
}
