// SPDX-License-Identifier: MIT

package joborder

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/num/profile"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// steps place jobs like a profile, as long as nothing is forgotten.
func TestSteps(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(26, 2))
	for range require.Rounds(2000) {
		capacity := int32(1 + rng.IntN(6))
		p := profile.Profile{Capacity: int(capacity)}
		s := steps{[]int64{0}, []int32{capacity}}
		for range 30 {
			j := job{submit: rng.Int64N(40), length: 1 + rng.Int64N(8), width: 1 + rng.Int32N(capacity)}
			want, _ := p.First(int(j.width), j.length, j.submit, 1<<62)
			p.Add(want, want+j.length, int(j.width))
			var got int64
			if rng.IntN(2) == 0 {
				got = s.place(&j)
			} else {
				got = want
				s.add(want, want+j.length, j.width)
			}
			if got != want || !slices.IsSorted(s.at) || s.free[len(s.free)-1] != capacity {
				t.Fatalf("a job %+v starts at %d, want %d; %+v", j, got, want, s)
			}
		}
		// Only steps before the time are forgotten; the rest is as before.
		at := rng.Int64N(60)
		r := steps{slices.Clone(s.at), slices.Clone(s.free)}
		r.forget(at)
		drop := len(s.at) - len(r.at)
		if drop < 0 || !slices.Equal(r.at, s.at[drop:]) || !slices.Equal(r.free, s.free[drop:]) || drop > 0 && (r.at[0] > at || s.free[drop-1] != 0) {
			t.Fatalf("forgotten up to %d: %+v of %+v", at, r, s)
		}
	}
}

// drawn returns jobs, their runtimes and a schedule of them in a random order.
func drawn(rng *rand.Rand, n int) (in *model.Batch, v *view.Batch, lengths, starts []int64) {
	in = testkit.RandomBatch(rng, 1+rng.IntN(2), 8, n)
	v = view.OfBatch(in)
	lengths, _, err := processors.Lengths(v)
	if err != nil {
		panic(err)
	}
	return in, v, lengths, serial(v, lengths, rng.Perm(n))
}

// serial is the serial schedule of an order.
func serial(v *view.Batch, lengths []int64, order []int) []int64 {
	p := profile.Profile{Capacity: v.Processors}
	starts := make([]int64, len(order))
	for _, k := range order {
		starts[k], _ = p.First(v.Jobs[k].Processes, lengths[k], v.Jobs[k].Submit, 1<<62)
		p.Add(starts[k], starts[k]+lengths[k], v.Jobs[k].Processes)
	}
	return starts
}

// waiting returns the weighted sum of the waiting times.
func waiting(v *view.Batch, starts []int64) (sum float64) {
	for k, at := range starts {
		sum += float64(v.Jobs[k].Weight) * float64(at-v.Jobs[k].Submit)
	}
	return sum
}

// permutations calls f with each order of n jobs.
func permutations(order []int, from int, f func([]int)) {
	if from == len(order) {
		f(order)
		return
	}
	for i := from; i < len(order); i++ {
		order[from], order[i] = order[i], order[from]
		permutations(order, from+1, f)
		order[from], order[i] = order[i], order[from]
	}
}

// The search finds the best of all orders of up to six jobs.
func TestBestOfAllOrders(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(26, 3))
	for range require.Rounds(1000) {
		n := 1 + rng.IntN(6)
		in, v, lengths, starts := drawn(rng, n)
		least := waiting(v, starts)
		order := make([]int, n)
		for k := range order {
			order[k] = k
		}
		permutations(order, 0, func(order []int) { least = min(least, waiting(v, serial(v, lengths, order))) })
		s := New(t.Context(), v, lengths, starts, rng.Uint64())
		s.Improve(t.Context(), 10_000)
		if got := waiting(v, s.Starts()); got > least*(1+1e-12) {
			t.Fatalf("%v, the best order has %v\n%+v", got, least, in)
		}
	}
}

// The search is never worse than its start, and its schedules are feasible. Neither the split of the effort, nor the
// jobs' names, nor the beginning of time matters.
func TestSearch(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(26, 4))
	better, rounds := 0, require.Rounds(60)
	for range rounds {
		_, v, lengths, starts := drawn(rng, 2+rng.IntN(300))
		seed := rng.Uint64()
		s := New(t.Context(), v, lengths, starts, seed)
		before := waiting(v, s.Starts())
		if before > waiting(v, starts) {
			t.Fatalf("the serial schedule has %v, the start %v", before, waiting(v, starts))
		}
		for range 10 {
			last := waiting(v, s.Starts())
			told := s.Improve(t.Context(), 20_000)
			if now := waiting(v, s.Starts()); now > last || told != (now < last) {
				t.Fatalf("told %v: from %v to %v", told, last, now)
			}
		}
		if waiting(v, s.Starts()) < before {
			better++
		}
		real := *v
		real.Jobs = slices.Clone(v.Jobs)
		for k := range real.Jobs {
			real.Jobs[k].Length = lengths[k]
		}
		if k := tooMany(&real, s.Starts()); k >= 0 {
			t.Fatalf("too few processors for job %d", k)
		}
		for k, at := range s.Starts() {
			if at < v.Jobs[k].Submit {
				t.Fatalf("job %d starts at %d, it comes at %d", k, at, v.Jobs[k].Submit)
			}
		}
		// The same effort at once.
		at := New(t.Context(), v, lengths, starts, seed)
		at.Improve(t.Context(), s.Placed-at.Placed)
		if !slices.Equal(at.Starts(), s.Starts()) {
			t.Fatalf("%d placed at once are another schedule than %d in parts", at.Placed, s.Placed)
		}
		// Twice as long, and later.
		const shift = 1 << 20
		twice, doubled, times := *v, make([]int64, len(lengths)), make([]int64, len(lengths))
		twice.Jobs = slices.Clone(v.Jobs)
		for k := range lengths {
			twice.Jobs[k].Submit, doubled[k], times[k] = 2*v.Jobs[k].Submit+shift, 2*lengths[k], 2*starts[k]+shift
		}
		other := New(t.Context(), &twice, doubled, times, seed)
		other.Improve(t.Context(), s.Placed-other.Placed)
		for k, at := range other.Starts() {
			require.Is(t, 2*s.Starts()[k]+shift, at, "job", k, "starts at", s.Starts()[k], "doubled at")
		}
	}
	if better < rounds/3 {
		t.Errorf("better %d times of %d only", better, rounds)
	}
}

// A search that is stopped at any moment has a schedule.
func TestStopped(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(26, 5))
	_, v, lengths, starts := drawn(rng, 3000)
	for looks := range 8 {
		ctx := &testkit.StopAfter{Context: context.Background(), Looks: looks}
		s := New(ctx, v, lengths, starts, 1)
		s.Improve(ctx, 1<<40)
		if got := waiting(v, s.Starts()); got > waiting(v, starts) || ctx.Err() == nil {
			t.Fatalf("stopped after %d looks: %v, at first %v", looks, got, waiting(v, starts))
		}
	}
}

// BenchmarkSearch shows the cost of placing a job in windows and in whole schedules.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			_, v, lengths, starts := drawn(rng, n)
			placed := int64(0)
			for b.Loop() {
				s := New(b.Context(), v, lengths, starts, 1)
				s.Improve(b.Context(), 50*int64(n))
				placed += s.Placed
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(placed), "ns/placed")
		})
	}
}

// tooMany returns the first job, by start, for which too few processors are free on
// one tier when each job starts at the given tick and runs to its end; -1 if there
// is none.
func tooMany(t *view.Batch, starts []int64) int {
	inUse := profile.Profile{Capacity: t.Processors}
	for _, k := range order.By(order.Of[int](len(starts)), starts) {
		j := &t.Jobs[k]
		if _, ok := inUse.First(j.Processes, j.Length, starts[k], starts[k]); !ok {
			return k
		}
		inUse.Add(starts[k], starts[k]+j.Length, j.Processes)
	}
	return -1
}
