// SPDX-License-Identifier: MIT

package plain

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// reservationFigures holds an instance in ticks of 10^-places seconds. A float64
// stands for the decimal number that it prints as.
type reservationFigures struct {
	in     *model.Reservation
	places int
	whole  bool  // values are whole and exact
	pes    int64 // in all
	jobs   []reservationJob
	dense  []int // jobs by weight per PE and tick, the largest first
	given  int64 // weight of the requests that are cancelled before their latest start: accepted with that, they need no PEs (none if what is used counts)
}

// reservationJob is a request that takes PEs if it is accepted.
type reservationJob struct {
	request                int
	ready, latest, runtime int64 // latest start
	pes                    int64
	weight                 int64 // requests, or PEs times ticks
	twin                   int   // the job before it that nothing tells from it, or -1
}

func readReservation(in *model.Reservation) (reservationFigures, error) {
	f := reservationFigures{in: in, pes: int64(in.PEs)}
	seconds, used := in.EffectiveGoal().PESeconds(), in.EffectiveGoal() == model.GoalPESeconds
	var end, total float64
	for k := range in.Requests {
		q := &in.Requests[k]
		times := []float64{q.ReadyS, q.DurationS, q.DeadlineS, q.Runtime()}
		if q.CancelS != nil && *q.CancelS <= q.DeadlineS {
			times = append(times, *q.CancelS)
		}
		for _, x := range times {
			_, after, _ := strings.Cut(strconv.FormatFloat(x, 'f', -1, 64), ".")
			f.places = max(f.places, len(after))
		}
		end, total = max(end, q.DeadlineS), total+float64(q.PEs)*q.DurationS
	}
	// Up to 2^52 ticks have float64s of their own; up to 2^62 sums are exact.
	if scale := math.Pow10(f.places); f.places > 22 || end*scale > 1<<52 || max(total, float64(in.PEs)*end)*scale > 1<<62 {
		return f, fmt.Errorf("%w: times of %d decimals up to %v are too long for the plain engine", model.ErrUnsupported, f.places, end)
	}
	f.whole = !seconds || f.places == 0 && total < exactSum
	for k := range in.Requests {
		q := &in.Requests[k]
		duration := f.ticks(q.DurationS)
		j := reservationJob{request: k, ready: f.ticks(q.ReadyS), runtime: f.ticks(q.Runtime()), pes: int64(q.PEs), weight: 1, twin: -1}
		j.latest = max(j.ready, f.ticks(q.DeadlineS)-duration)
		if seconds {
			j.weight = j.pes * duration
		}
		withdrawn := f.free(q, j.latest)
		if used { // it counts if it starts by its cancellation
			j.weight = j.pes * j.runtime
			if withdrawn {
				j.latest = f.ticks(*q.CancelS)
			}
			if j.latest < j.ready {
				continue
			}
		} else if withdrawn {
			f.given += j.weight
			continue
		}
		for i, x := range f.jobs {
			if x.request, x.twin = k, -1; x == j {
				j.twin = i
			}
		}
		f.dense = append(f.dense, len(f.jobs))
		f.jobs = append(f.jobs, j)
	}
	// a before b if its weight over its area is more: cross products in 128 bits.
	slices.SortStableFunc(f.dense, func(a, b int) int {
		x, y := f.jobs[a], f.jobs[b]
		high, low := bits.Mul64(uint64(y.weight), uint64(x.pes*x.runtime))
		high2, low2 := bits.Mul64(uint64(x.weight), uint64(y.pes*y.runtime))
		if high != high2 {
			return cmp.Compare(high, high2)
		}
		return cmp.Compare(low, low2)
	})
	return f, nil
}

// free reports whether a request that starts at its latest is cancelled before.
func (f *reservationFigures) free(q *model.Request, latest int64) bool {
	return q.CancelS != nil && *q.CancelS <= q.DeadlineS && f.ticks(*q.CancelS) < latest
}

// ticks returns a time in ticks; it is a whole number of them.
func (f *reservationFigures) ticks(x float64) int64 {
	before, after, _ := strings.Cut(strconv.FormatFloat(x, 'f', -1, 64), ".")
	n, _ := strconv.ParseInt(before+after+strings.Repeat("0", f.places-len(after)), 10, 64) // at most 2^52
	return n
}

// time returns a tick in seconds, as the nearest float64: both operands are
// exact.
func (f *reservationFigures) time(tick int64) float64 {
	return float64(tick) / math.Pow10(f.places)
}

// value returns the objective of a weight.
func (f *reservationFigures) value(weight int64) float64 {
	if f.in.EffectiveGoal().PESeconds() {
		return float64(weight) / math.Pow10(f.places)
	}
	return float64(weight)
}

// bookings returns the bookings of the jobs that have a start. In the order of
// their starts, each gets the lowest PEs that are free.
func (f *reservationFigures) bookings(start []int64) *model.Bookings {
	list := make([]*model.Booking, len(f.in.Requests))
	for k := range f.in.Requests {
		q := &f.in.Requests[k]
		if latest := max(f.ticks(q.ReadyS), f.ticks(q.DeadlineS)-f.ticks(q.DurationS)); f.free(q, latest) && f.in.EffectiveGoal() != model.GoalPESeconds {
			list[k] = &model.Booking{ID: q.ID, StartS: f.time(latest), PEs: model.PEList{{First: 0, Last: q.PEs - 1}}}
		}
	}
	order := slices.Clone(f.dense)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(start[a], start[b]) })
	busy := make([]int64, f.in.PEs) // until when
	for _, k := range order {
		j := &f.jobs[k]
		if start[k] < 0 {
			continue
		}
		x := &model.Booking{ID: f.in.Requests[j.request].ID, StartS: f.time(start[k])}
		for p, need := 0, j.pes; need > 0; p++ {
			if busy[p] <= start[k] {
				x.PEs, busy[p], need = x.PEs.Append(p), start[k]+j.runtime, need-1
			}
		}
		list[j.request] = x
	}
	b := &model.Bookings{Goal: f.in.EffectiveGoal(), Bookings: []model.Booking{}}
	for _, x := range list {
		if x != nil {
			b.Bookings = append(b.Bookings, *x)
		}
	}
	return b
}
