// SPDX-License-Identifier: MIT

package audit

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/model"
)

var reservationRelations = []relation{
	relates("times multiplied by a power of two", scaleReservation),
	relates("renamed", renameReservation),
	relates("time reversed", reverseReservation),
	relates("a request that fits anywhere", requestAnywhere),
	relates("joined with itself in time", joinReservation),
	relates("counted instead of all", countedInsteadOfAll),
	relates("reserved instead of used", reservedInsteadOfUsed),
	relates("used instead of reserved, all run in full", usedInsteadOfReserved),
	relates("a request that never runs", requestNever),
	relates("a PE more", peMore),
	relates("a later deadline", laterDeadline),
}

// lastDeadline returns the latest deadline, in seconds.
func lastDeadline(r *model.Reservation) float64 {
	last := 0.0
	for k := range r.Requests {
		last = max(last, r.Requests[k].DeadlineS)
	}
	return last
}

// eachTime applies f to every time of a request.
func eachTime(q *model.Request, f func(*float64)) {
	for _, p := range []*float64{&q.ArrivalS, &q.ReadyS, &q.DurationS, &q.DeadlineS, q.RuntimeS, q.CancelS} {
		if p != nil {
			f(p)
		}
	}
}

// wholeIf returns the implication if all times are whole and far below 2^53, so that
// sums of them are exact.
func wholeIf(r *model.Reservation, implies implication) implication {
	for k := range r.Requests {
		eachTime(&r.Requests[k], func(t *float64) {
			if *t != float64(int64(*t)) || *t >= 1<<45 {
				implies = nil
			}
		})
	}
	return implies
}

// fullIf returns the implication if no request ends early or is cancelled.
func fullIf(r *model.Reservation, implies implication) implication {
	if slices.ContainsFunc(r.Requests, func(q model.Request) bool { return q.RuntimeS != nil || q.CancelS != nil }) {
		return nil
	}
	return implies
}

// known has all requests known from the beginning: the optimum of the offline problem
// doesn't depend on the order of arrival.
func known(r *model.Reservation) {
	for k := range r.Requests {
		r.Requests[k].ArrivalS = 0
	}
}

func scaleReservation(c *model.Reservation, rng *rand.Rand) implication {
	f, implies := power(rng), wholeIf(c, same)
	if implies != nil && c.EffectiveGoal().PESeconds() {
		implies = times(f)
	}
	for k := range c.Requests {
		eachTime(&c.Requests[k], func(t *float64) { *t *= f })
	}
	return implies
}

func renameReservation(c *model.Reservation, rng *rand.Rand) implication {
	for k := range c.Requests {
		c.Requests[k].ID = fmt.Sprintf("x%d", k)
	}
	known(c)
	shuffled(rng, c.Requests)
	return same
}

// reverseReservation: bookings read backwards are bookings.
func reverseReservation(c *model.Reservation, _ *rand.Rand) implication {
	last, implies := lastDeadline(c), fullIf(c, wholeIf(c, same))
	known(c)
	for k := range c.Requests {
		q := &c.Requests[k]
		q.ReadyS, q.DeadlineS = last-q.DeadlineS, last-q.ReadyS
	}
	return implies
}

// requestAnywhere adds a request that can run after the latest deadline of all others,
// with all PEs free.
func requestAnywhere(c *model.Reservation, rng *rand.Rand) implication {
	known(c)
	q := model.Request{ID: "anywhere", DurationS: 1, DeadlineS: lastDeadline(c) + 1, PEs: 1 + rng.IntN(c.PEs)}
	k := rng.IntN(len(c.Requests) + 1)
	c.Requests = slices.Insert(c.Requests, k, q)
	return wholeIf(c, plus(c.Weight(k)))
}

// joinReservation adds the same requests again after the latest deadline.
func joinReservation(c *model.Reservation, rng *rand.Rand) implication {
	last, n := lastDeadline(c), len(c.Requests)
	for _, q := range clone(c).Requests {
		q.ID = "again-" + q.ID
		q.ReadyS += last
		q.DeadlineS += last
		if q.CancelS != nil {
			*q.CancelS += last
		}
		c.Requests = append(c.Requests, q)
	}
	known(c)
	shuffled(rng, c.Requests)
	if n > 25 {
		return nil
	}
	return wholeIf(c, times(2))
}

// countedInsteadOfAll: the goal of all requests becomes one that can always be met.
func countedInsteadOfAll(c *model.Reservation, _ *rand.Rand) implication {
	if c.EffectiveGoal() != model.GoalAll {
		return nil
	}
	c.Goal = model.GoalAccepted
	n := float64(len(c.Requests))
	return func(_ model.Sense, k claim) claim {
		d := unknown()
		switch {
		case k.infeasible:
			d.high = n - 1
		case k.solved:
			d.low, d.high, d.solved = n, n, true
		}
		return d
	}
}

// reservedInsteadOfUsed: the used PEs are part of the reserved ones.
func reservedInsteadOfUsed(c *model.Reservation, _ *rand.Rand) implication {
	used := c.EffectiveGoal() == model.GoalPESeconds
	c.Goal = model.GoalReservedPESeconds
	return noWorseIf(used)
}

// usedInsteadOfReserved: both count the same if all requests run in full.
func usedInsteadOfReserved(c *model.Reservation, _ *rand.Rand) implication {
	if c.EffectiveGoal() != model.GoalReservedPESeconds {
		return nil
	}
	c.Goal = model.GoalPESeconds
	return fullIf(c, same)
}

// requestNever adds a request that holds no PEs and counts for nothing.
func requestNever(c *model.Reservation, rng *rand.Rand) implication {
	if c.EffectiveGoal() != model.GoalPESeconds {
		return nil
	}
	known(c)
	q := model.Request{ID: "never", ReadyS: 1, DurationS: 1, DeadlineS: 2, PEs: 1 + rng.IntN(c.PEs), CancelS: new(float64)}
	c.Requests = slices.Insert(c.Requests, rng.IntN(len(c.Requests)+1), q)
	return wholeIf(c, same)
}

// peMore: the new PE can stay idle.
func peMore(c *model.Reservation, _ *rand.Rand) implication {
	c.PEs++
	return noWorse
}

func laterDeadline(c *model.Reservation, rng *rand.Rand) implication {
	if len(c.Requests) == 0 {
		return nil
	}
	q := &c.Requests[rng.IntN(len(c.Requests))]
	q.DeadlineS += q.DurationS
	return fullIf(c, noWorse)
}
