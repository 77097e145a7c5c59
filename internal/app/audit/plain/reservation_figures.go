// SPDX-License-Identifier: MIT

package plain

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// reservationFigures holds an instance in ticks of 10^-places seconds. A float64 means its printed decimal number.
// Times of more digits are rounded according to the format: deadlines up, all others down, and no request counts as
// cancelled by that alone.
type reservationFigures struct {
	in     *model.Reservation
	places int
	scale  float64 // of weights that are PE-seconds
	whole  bool    // values are whole and exact
	pes    int64   // in all
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
	twin                   int   // the job before it that is alike, or -1
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
			_, after := digits(x)
			f.places = max(f.places, len(after))
		}
		end, total = max(end, q.DeadlineS), total+float64(q.PEs)*q.DurationS
	}
	// Up to 2^52 ticks have float64s of their own; up to 2^62 sums are exact.
	exact := true
	for f.places > 0 && (f.places > 22 || end*math.Pow10(f.places) > 1<<52) {
		f.places, exact = f.places-1, false
	}
	f.scale = math.Pow10(f.places)
	if max(total, float64(in.PEs)*end)*f.scale > 1<<62 {
		return f, fmt.Errorf("%w: times of %d decimals up to %v are too long for the plain engine", model.ErrUnsupported, f.places, end)
	}
	if !exact { // weights are as exact as float64s are
		f.scale = math.Exp2(math.Floor(60 - math.Log2(total)))
	}
	f.whole = !seconds || exact && f.places == 0 && total < exactSum
	for k := range in.Requests {
		q := &in.Requests[k]
		j := reservationJob{request: k, ready: f.ticks(q.ReadyS), latest: f.latest(q), runtime: f.ticks(q.Runtime()), pes: int64(q.PEs), weight: 1, twin: -1}
		weight := func(runs float64) int64 {
			if exact {
				return j.pes * f.ticks(runs)
			}
			return int64(float64(q.PEs) * runs * f.scale)
		}
		if seconds {
			j.weight = weight(q.DurationS)
		}
		withdrawn := f.free(q)
		if used { // it counts if it starts by its cancellation
			j.weight = weight(q.Runtime())
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

// latest returns the latest start of a request.
func (f *reservationFigures) latest(q *model.Request) int64 {
	due := f.ticks(q.DeadlineS)
	if _, after := digits(q.DeadlineS); len(after) > f.places {
		due++
	}
	return max(f.ticks(q.ReadyS), due-f.ticks(q.DurationS))
}

// free reports whether a request that starts at its latest is cancelled before.
func (f *reservationFigures) free(q *model.Request) bool {
	if q.CancelS == nil || *q.CancelS > q.DeadlineS || f.ticks(*q.CancelS) >= f.latest(q) {
		return false
	}
	latest := new(big.Rat).Sub(decimal(q.DeadlineS), decimal(q.DurationS))
	return q.ReadyS > *q.CancelS || latest.Cmp(decimal(*q.CancelS)) > 0
}

// decimal returns the number that x prints as.
func decimal(x float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'f', -1, 64))
	return r
}

// digits returns the printed digits of x before and after the point.
func digits(x float64) (before, after string) {
	before, after, _ = strings.Cut(strconv.FormatFloat(x, 'f', -1, 64), ".")
	return before, after
}

// ticks returns a time in ticks, rounded down.
func (f *reservationFigures) ticks(x float64) int64 {
	before, after := digits(x)
	after = after[:min(len(after), f.places)]
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
		return float64(weight) / f.scale
	}
	return float64(weight)
}

// bookings returns the bookings of the jobs that have a start. Each gets the lowest PEs that are free, in the order of
// their starts.
func (f *reservationFigures) bookings(start []int64) *model.Bookings {
	list := make([]*model.Booking, len(f.in.Requests))
	for k := range f.in.Requests {
		q := &f.in.Requests[k]
		if f.free(q) && f.in.EffectiveGoal() != model.GoalPESeconds {
			list[k] = &model.Booking{ID: q.ID, StartS: f.time(f.latest(q)), PEs: model.PEList{{First: 0, Last: q.PEs - 1}}}
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
