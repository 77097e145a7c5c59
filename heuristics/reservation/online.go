// SPDX-License-Identifier: MIT

package reservation

import (
	"cmp"
	"context"
	"fmt"

	"github.com/gapwise/gapwise/internal/heap"
	"github.com/gapwise/gapwise/internal/turns"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// book decides on the requests in the order of their arrival. Bookings that end early or
// are cancelled by the time of an arrival have been deleted by then, and nothing else is
// known of them before. When ctx ends, the bookings are those made by then. With the goal
// all it returns model.ErrNoSolution if a request is declined.
func (p policy) book(ctx context.Context, in *model.Reservation, set model.Settings) (*model.Bookings, error) {
	list := newAvailability(in.PEs)
	find := func(q query) (allocation, bool) { return list.Find(q, p) }
	if set.Trace != nil {
		find = traced(in, list, p, find, set.Trace)
	}
	b, err := online(ctx, in, list, find)
	if set.Trace != nil {
		set.Trace(slots(view.OfReservation(in), in.PEs, list, "slots at the end"))
	}
	return declined(in, b, err)
}

// declined returns the bookings, or model.ErrNoSolution if they lack a request and
// the goal is all.
func declined(in *model.Reservation, b *model.Bookings, err error) (*model.Bookings, error) {
	if err == nil && in.EffectiveGoal() == model.GoalAll && len(b.Bookings) < len(in.Requests) {
		return nil, fmt.Errorf("%w: %d of %d requests were declined", model.ErrNoSolution, len(in.Requests)-len(b.Bookings), len(in.Requests))
	}
	return b, err
}

// online books by a search on an empty list.
func online(ctx context.Context, in *model.Reservation, list *availability, find func(query) (allocation, bool)) (*model.Bookings, error) {
	b, times := &model.Bookings{Goal: in.Goal, Online: true}, view.OfReservation(in)
	known := heap.Heap[event]{Less: event.before}
	for k := range in.Requests {
		if turns.Stop(ctx, 10) {
			break // what was accepted by then
		}
		q, t := &in.Requests[k], &times.Requests[k]
		for known.Len() > 0 && known.Items[0].at <= t.Arrival {
			e := known.Pop()
			if err := list.Delete(e.from, e.end, e.pes); err != nil {
				return nil, err
			}
		}
		list.Advance(t.Arrival)
		a, ok := find(newQuery(q, t))
		if !ok {
			continue
		}
		if err := list.Add(a.Start, a.End, a.PEs); err != nil {
			return nil, err
		}
		b.Bookings = append(b.Bookings, model.Booking{ID: q.ID, StartS: times.Seconds(a.Start), PEs: a.PEs})
		if !t.Runs(a.Start) {
			known.Push(event{t.Cancel, k, a.Start, a.End, a.PEs})
		} else if end := a.Start + t.Runtime; end < a.End {
			known.Push(event{end, k, end, a.End, a.PEs})
		}
	}
	return b, nil
}

// event frees PEs over [from, end); it is known at the time at.
type event struct {
	at        int64 // ticks, as all times
	request   int
	from, end int64
	pes       model.PEList
}

// before orders events by time.
func (e event) before(f event) bool {
	return cmp.Or(cmp.Compare(e.at, f.at), cmp.Compare(e.request, f.request)) < 0
}
