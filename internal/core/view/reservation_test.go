// SPDX-License-Identifier: MIT

package view_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gapwise/gapwise/internal/core/ticks"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func oneRequest(ready, duration, deadline float64) *model.Reservation {
	return &model.Reservation{PEs: 1, Requests: []model.Request{{ID: "a", ReadyS: ready, DurationS: duration, DeadlineS: deadline, PEs: 1}}}
}

func TestReservationTicks(t *testing.T) {
	t.Parallel()
	const never = math.MaxInt64
	request := func(arrival, ready, duration, deadline, runtime, cancel int64) []ticks.Request {
		return []ticks.Request{{Arrival: arrival, Ready: ready, Duration: duration, Deadline: deadline, Runtime: runtime, Cancel: cancel}}
	}
	for name, c := range map[string]struct {
		in   *model.Reservation
		want ticks.Times
	}{
		"seconds": {oneRequest(1, 2, 1e12), ticks.Times{Decimals: 0, Exact: true, Requests: request(0, 1, 2, 1e12, 2, never)}},
		"tenths":  {oneRequest(1.8, 1.6, 3.4), ticks.Times{Decimals: 1, Exact: true, Requests: request(0, 18, 16, 34, 16, never)}},
		"a deadline rounded down": {oneRequest(0.7, 0.1, 0.7999999999999999), ticks.Times{Decimals: 15, Exact: false,
			Requests: request(0, 7e14, 1e14, 8e14, 1e14, never)}},
		"a third, rounded": {oneRequest(1e5+1./3, 1./3, 2e5), ticks.Times{Decimals: 10, Exact: false,
			Requests: request(0, 1000003333333333, 3333333333, 2e15, 3333333333, never)}},
		"smallest": {oneRequest(5e-324, 1e-9, 1), ticks.Times{Decimals: 15, Exact: false, Requests: request(0, 0, 1e6, 1e15, 1e6, never)}},
	} {
		t.Run(name, func(t *testing.T) {
			require.OK(t, c.in.Validate())
			got := view.OfReservation(c.in)
			require.Same(t, "times", c.want, got.Times, cmpopts.IgnoreUnexported(ticks.Times{}))
		})
	}
	for _, in := range []*model.Reservation{oneRequest(1e9, 1e-9, 1e9+1), oneRequest(0, 1e-9, 1e15), oneRequest(1e308, 1, 1e308), oneRequest(0, 5e-324, 1)} {
		require.Refused(t, fmt.Sprint(in.Requests[0]), in.Validate(), model.ErrInvalid, "")
		view.OfReservation(in) // whatever it says
	}
}

// A request that is withdrawn before its latest start costs nothing to accept, and if the goal counts used PEs it has
// to start by then to count.
func TestReservationTicksWithdrawn(t *testing.T) {
	t.Parallel()
	at := func(x float64) *float64 { return &x }
	request := func(runtime, cancel *float64) model.Request {
		return model.Request{ReadyS: 2, DurationS: 4, DeadlineS: 9, PEs: 3, RuntimeS: runtime, CancelS: cancel}
	}
	requests := []model.Request{request(nil, nil), request(at(3), at(4)), request(at(3), at(5)), request(nil, at(2)), request(nil, at(1))}
	type job struct {
		Request     int
		Due, Length int64
		Counted     int64
		Weight      float64
	}
	for goal, c := range map[model.Goal]struct {
		jobs       []job
		free       []int
		freeWeight float64
		unit       int64
	}{
		model.GoalAccepted:          {[]job{{0, 9, 4, 4, 1}, {2, 8, 3, 4, 1}}, []int{1, 3, 4}, 3, 12},
		model.GoalReservedPESeconds: {[]job{{0, 9, 4, 4, 12}, {2, 8, 3, 4, 12}}, []int{1, 3, 4}, 36, 12},
		model.GoalPESeconds:         {[]job{{0, 9, 4, 4, 12}, {1, 7, 3, 3, 9}, {2, 8, 3, 3, 9}, {3, 6, 4, 4, 12}}, nil, 0, 3},
	} {
		ticks := view.OfReservation((&model.Reservation{PEs: 3, Goal: goal, Requests: requests}))
		var jobs []job
		for _, j := range ticks.Jobs {
			jobs = append(jobs, job{j.Request, j.Due, j.Length, j.Counted, j.Weight})
		}
		require.Same(t, fmt.Sprintf("%s: jobs", goal), c.jobs, jobs)
		if d := cmp.Diff(c.free, ticks.Free); d != "" || ticks.FreeWeight != c.freeWeight || ticks.WeightUnit() != c.unit {
			t.Errorf("%s: weight %v of the free, unit %d, want %v and %d (-want,+got)\n%s", goal, ticks.FreeWeight, ticks.WeightUnit(), c.freeWeight, c.unit, d)
		}
	}
}

// Against fractions: exact if it reports so, else rounded as documented; and each tick's seconds are read as the tick.
func TestReservationTicksRound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 31))
	exact := 0
	for range 20_000 {
		scale := []float64{1, 0.1, 0.001, 1e6, 1e12, 1. / 3}[rng.IntN(6)]
		x := func() float64 {
			v := float64(1+rng.IntN(1000)) * scale
			if rng.IntN(20) == 0 {
				v = rng.Float64() * scale
			}
			return v
		}
		ready, duration := x(), x()
		in := oneRequest(ready, duration, ready+duration+x())
		if in.Validate() != nil {
			continue
		}
		times := view.OfReservation(in)
		q := times.Requests[0]
		if times.Exact {
			exact++
		}
		perSecond := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(times.Decimals)), nil))
		for _, c := range []struct {
			x    float64
			tick int64
			sign int // of the rounding
		}{{ready, q.Ready, 1}, {duration, q.Duration, 1}, {in.Requests[0].DeadlineS, q.Deadline, -1}} {
			r, _ := new(big.Rat).SetString(strconv.FormatFloat(c.x, 'f', -1, 64))
			rest := r.Mul(r, perSecond).Sub(r, new(big.Rat).SetInt64(c.tick))
			if s := rest.Sign(); s != 0 && (times.Exact || s != c.sign) || rest.Abs(rest).Cmp(big.NewRat(1, 1)) >= 0 && q.Deadline > q.Ready+q.Duration {
				t.Fatalf("%v is %d ticks of 10^-%d s, exact %v", c.x, c.tick, times.Decimals, times.Exact)
			}
			if got := times.Tick(times.Seconds(c.tick)); got != c.tick {
				t.Fatalf("tick %d is %v s, read as %d", c.tick, times.Seconds(c.tick), got)
			}
		}
	}
	if exact < 5000 {
		t.Errorf("only %d are exact", exact)
	}
	times := view.OfReservation(oneRequest(0, 0.5, 100))
	for seconds, want := range map[float64]int64{0.1 + 0.2: 3, 0.29999999999999993: 3, 0.37: 3, -0.5: -5, -0.52: -6, 1e300: 1 << 60, -1e300: -1 << 60} {
		require.Same(t, fmt.Sprintf("%v is tick", seconds), want, times.Tick(seconds))
	}
}
