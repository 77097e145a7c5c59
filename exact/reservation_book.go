package exact

import (
	"cmp"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/heuristics/reservation"
	"github.com/gapwise/gapwise/model"
)

// reservationBookings books starts, by job, in ticks and negative for
// declined, in the order of the requests, and numbers the PEs. Requests that cost nothing are
// booked at their latest start, before which they are cancelled, on the lowest
// PEs.
func reservationBookings(in *model.Reservation, t *bounds.ReservationTicks, starts []int64) (*model.Bookings, error) {
	var jobs []int
	var held []reservation.Interval
	for j, s := range starts {
		if s >= 0 {
			x := &t.Jobs[j]
			jobs = append(jobs, j)
			held = append(held, reservation.Interval{Start: float64(s), End: float64(s + x.Length), PEs: x.PEs})
		}
	}
	lists, err := reservation.Number(in.PEs, held)
	if err != nil {
		return nil, err
	}
	type booked struct {
		request int
		model.Booking
	}
	var all []booked
	for i, j := range jobs {
		k := t.Jobs[j].Request
		all = append(all, booked{k, model.Booking{ID: in.Requests[k].ID, StartS: t.Start(in, k, starts[j]), PEs: lists[i]}})
	}
	for _, k := range t.Free {
		q := &in.Requests[k]
		all = append(all, booked{k, model.Booking{ID: q.ID, StartS: q.Latest(), PEs: model.PEList{{First: 0, Last: q.PEs - 1}}}})
	}
	slices.SortFunc(all, func(a, b booked) int { return cmp.Compare(a.request, b.request) })
	b := &model.Bookings{Goal: in.Goal}
	for _, x := range all {
		b.Bookings = append(b.Bookings, x.Booking)
	}
	return b, nil
}

// bookedTicks is the starts of bookings by job, in ticks, -1 for declined.
func bookedTicks(in *model.Reservation, t *bounds.ReservationTicks, b *model.Bookings) ([]int64, error) {
	index, err := in.Index(b)
	if err != nil {
		return nil, err
	}
	job := make([]int, len(in.Requests))
	for k := range job {
		job[k] = -1
	}
	for j := range t.Jobs {
		job[t.Jobs[j].Request] = j
	}
	starts := make([]int64, len(t.Jobs))
	for j := range starts {
		starts[j] = -1
	}
	for i, k := range index {
		if j := job[k]; j >= 0 {
			// Just below a tick means that tick.
			tick := min(max(b.Bookings[i].StartS*t.PerSecond, float64(t.Jobs[j].Ready)), float64(t.Jobs[j].Latest()))
			starts[j] = int64(math.Floor(tick + 1e-3))
		}
	}
	return starts, nil
}

// serialOrders are orders in which serial schedules tend to be good: by due
// time, latest start, work and weight for the work, and by ready time.
func serialOrders(t *bounds.ReservationTicks) [][]int {
	keys := []func(*bounds.ReservationJob) float64{
		func(j *bounds.ReservationJob) float64 { return float64(j.Due) },
		func(j *bounds.ReservationJob) float64 { return float64(j.Latest()) },
		func(j *bounds.ReservationJob) float64 { return j.Area() },
		func(j *bounds.ReservationJob) float64 { return -j.Weight / max(1, j.Area()) },
		func(j *bounds.ReservationJob) float64 { return float64(j.PEs) },
		func(j *bounds.ReservationJob) float64 { return float64(j.Ready) },
		func(j *bounds.ReservationJob) float64 { return -j.Weight },
	}
	orders := make([][]int, len(keys))
	for i, key := range keys {
		order := make([]int, len(t.Jobs))
		for j := range order {
			order[j] = j
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(key(&t.Jobs[a]), key(&t.Jobs[b])) })
		orders[i] = order
	}
	return orders
}
