package plain_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/audit/plain"
	"github.com/gapwise/gapwise/model"
)

// drawReservation draws n requests on a few PEs, with windows of up to the
// given number of units longer than the duration. A unit is a second, a tenth
// or an odd number of either, and returned; some requests are equal, end early or are
// cancelled.
func drawReservation(rng *rand.Rand, n, longest, window int) (r *model.Reservation, unit float64) {
	r = &model.Reservation{Name: "drawn", PEs: 1 + rng.IntN(5), Goal: model.Goals[rng.IntN(4)]}
	num, den := []float64{1, 1, 7, 1024}[rng.IntN(4)], []float64{1, 1, 10, 1000}[rng.IntN(4)]
	time := func(units int) float64 { return float64(units) * num / den }
	late, horizon := 0, 1+rng.IntN(2+n*longest/2)
	if rng.IntN(8) == 0 {
		late = 1e9
	}
	for range n {
		arrival, duration := 0, 1+rng.IntN(longest)
		ready := rng.IntN(horizon)
		if rng.IntN(3) == 0 {
			arrival = rng.IntN(ready + 1)
		}
		end := ready + duration + rng.IntN(window+1)
		q := model.Request{PEs: 1 + rng.IntN(r.PEs), ArrivalS: time(late + arrival), ReadyS: time(late + ready), DurationS: time(duration), DeadlineS: time(late + end)}
		if rng.IntN(6) == 0 {
			early := time(1 + rng.IntN(duration))
			q.RuntimeS = &early
		}
		if rng.IntN(8) == 0 {
			cancel := time(late + arrival + rng.IntN(2+end-arrival))
			q.CancelS = &cancel
		}
		if k := len(r.Requests); k > 0 && rng.IntN(4) == 0 {
			q = r.Requests[rng.IntN(k)]
		}
		r.Requests = append(r.Requests, q)
	}
	slices.SortStableFunc(r.Requests, func(a, b model.Request) int { return cmp.Compare(a.ArrivalS, b.ArrivalS) })
	for k := range r.Requests {
		r.Requests[k].ID = fmt.Sprint("r", k)
	}
	return r, num / den
}

// bruteReservation declines each request or starts it at each time of a grid
// of the given unit, and counts the PEs in use in every unit of time. NaN: the
// goal is all requests and can't be met.
func bruteReservation(r *model.Reservation, unit float64) float64 {
	at := func(x float64) int { return int(math.Round(x / unit)) }
	first, last, best := math.MaxInt, 0, math.NaN()
	for k := range r.Requests {
		first, last = min(first, at(r.Requests[k].ReadyS)), max(last, at(r.Requests[k].DeadlineS))
	}
	used := make([]int, max(0, last-first))
	var walk func(k int, value float64)
	walk = func(k int, value float64) {
		if k == len(r.Requests) {
			if !(value <= best) {
				best = value
			}
			return
		}
		q := &r.Requests[k]
		for start := at(q.ReadyS); start+at(q.DurationS) <= at(q.DeadlineS); start++ {
			interval := used[start-first : start-first+at(q.Runtime())]
			if q.CancelS != nil && start > at(*q.CancelS) {
				interval = nil
			}
			for u := range interval {
				interval[u] += q.PEs
			}
			if len(interval) == 0 || slices.Max(interval) <= r.PEs {
				weight := r.Weight(k)
				if interval == nil {
					weight = r.WithdrawnWeight(k)
				}
				walk(k+1, value+weight)
			}
			for u := range interval {
				interval[u] -= q.PEs
			}
		}
		if r.Goal != model.GoalAll {
			walk(k+1, value)
		}
	}
	walk(0, 0)
	return best
}

func TestReservationAgainstBruteForce(t *testing.T) {
	rng, declined, impossible := rand.New(rand.NewPCG(9, 5)), 0, 0
	for range 6000 {
		n := rng.IntN(6)
		r, unit := drawReservation(rng, n, 4, []int{0, 2, 4, 6}[rng.IntN(4)])
		want := bruteReservation(r, unit)
		agree(t, r, want)
		if math.IsNaN(want) {
			impossible++
		} else if r.Goal == model.GoalAccepted && want < float64(n) {
			declined++
		}
	}
	if impossible < 300 || declined < 300 {
		t.Errorf("goals of all that can't be met: %d, requests that must be declined: %d; too few to test much", impossible, declined)
	}
}

// Instances on which a solver or the judge of version 0.3.0 was wrong.
func TestReservationFound(t *testing.T) {
	for file, want := range map[string]float64{"decimals-back-to-back": 2, "decimals-tight": 2, "far-deadline-tolerance": 2} {
		in, err := instances.Load("../../../exact/reservation/testdata/reservation-" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		agree(t, in, want)
	}
}

// Times that a whole number of ticks can't hold aren't rounded.
func TestReservationTooManyDigits(t *testing.T) {
	r := &model.Reservation{PEs: 1, Requests: []model.Request{{ID: "a", ReadyS: 1.0 / 3, DurationS: 1, DeadlineS: 1e6, PEs: 1}}}
	if _, err := plain.Solve(r, math.NaN(), enough); !errors.Is(err, model.ErrUnsupported) {
		t.Errorf("%v, want ErrUnsupported", err)
	}
}

func BenchmarkReservation(b *testing.B) {
	for _, window := range []int{5, 20, 60} {
		for _, requests := range []int{8, 10, 12, 14} {
			b.Run(fmt.Sprintf("window=%d/requests=%d", window, requests), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(9, 6))
				grow(b, func() model.Instance {
					r, _ := drawReservation(rng, requests, 20, window)
					return r
				})
			})
		}
	}
}
