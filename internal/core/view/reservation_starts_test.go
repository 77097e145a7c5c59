// SPDX-License-Identifier: MIT

package view_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/core/ticks"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/profile"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// ticksOf makes ticks of jobs {ready, due, length, PEs}.
func ticksOf(pes int, jobs ...[4]int64) *view.Reservation {
	t := &view.Reservation{Times: ticks.Times{Exact: true}, PEs: pes}
	for k, x := range jobs {
		t.Jobs = append(t.Jobs, view.ReservationJob{Request: k, Ready: x[0], Due: x[1], Length: x[2], Counted: x[2], PEs: int(x[3]), Weight: 1})
	}
	return t
}

func TestSerial(t *testing.T) {
	t.Parallel()
	ticks := ticksOf(6, [4]int64{0, 4, 3, 4}, [4]int64{0, 7, 3, 4}, [4]int64{1, 4, 2, 2}, [4]int64{0, 3, 1, 6}, [4]int64{2, 2, 0, 6})
	tests := map[string]struct {
		order []int
		want  []int64
	}{
		"nothing":         {nil, []int64{-1, -1, -1, -1, -1}},
		"as they come":    {[]int{0, 1, 2, 3, 4}, []int64{0, 3, 1, -1, 2}},
		"the large first": {[]int{3, 1, 0, 2}, []int64{-1, 1, 1, 0, -1}},
		"one twice":       {[]int{2, 2}, []int64{-1, -1, 1, -1, -1}},
		"into a gap":      {[]int{1, 0, 3}, []int64{-1, 0, -1, -1, -1}},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := gocmp.Diff(c.want, ticks.Serial(t.Context(), c.order)); diff != "" {
				t.Errorf("(-want,+got)\n%s", diff)
			}
			if err := ticks.Check(c.want); err != nil {
				t.Error(err)
			}
		})
	}
	wrong := map[string]struct {
		starts []int64
		goal   model.Goal
		want   string
	}{
		"early":       {[]int64{-1, -1, 0, -1, -1}, "", "window"},
		"late":        {[]int64{2, -1, -1, -1, -1}, "", "window"},
		"too many":    {[]int64{1, 2, -1, -1, -1}, "", "8 PEs are in use at 2"},
		"one is left": {[]int64{0, 3, 1, -1, 2}, model.GoalAll, "job 3 is declined"},
		"too short":   {[]int64{0}, "", "1 jobs"},
	}
	for name, c := range wrong {
		t.Run(name, func(t *testing.T) {
			other := *ticks
			other.Goal = c.goal
			if err := other.Check(c.starts); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// ShiftLeft does the same as moving each job in place, in the order of starts and with all others where they are: later
// jobs are never in the way.
func TestShiftLeftInPlace(t *testing.T) {
	t.Parallel()
	moved := 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 21))
		var jobs [][4]int64
		for range 1 + rng.IntN(12) {
			ready, length := rng.Int64N(20), 1+rng.Int64N(6)
			jobs = append(jobs, [4]int64{ready, ready + length + rng.Int64N(15), length, 1 + rng.Int64N(5)})
		}
		ticks := ticksOf(5, jobs...)
		// A plan with gaps: random starts that fit.
		p := profile.Profile{Capacity: 5}
		starts := make([]int64, len(jobs))
		var order []int
		for j := range ticks.Jobs {
			x := &ticks.Jobs[j]
			from := x.Ready + rng.Int64N(x.Latest()-x.Ready+1)
			s, ok := p.First(x.PEs, x.Length, from, x.Latest())
			if starts[j] = view.Declined; ok {
				starts[j] = s
				p.Add(s, s+x.Length, x.PEs)
				order = append(order, j)
			}
		}
		got := ticks.ShiftLeft(starts)
		want := slices.Clone(starts)
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(starts[a], starts[b]) })
		for _, j := range order {
			x := &ticks.Jobs[j]
			p.Add(want[j], want[j]+x.Length, -x.PEs)
			want[j], _ = p.First(x.PEs, x.Length, x.Ready, x.Latest())
			p.Add(want[j], want[j]+x.Length, x.PEs)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: from %v (-want,+got)\n%s", seed, starts, diff)
		}
		require.OK(t, ticks.Check(got), "seed", seed)
		if !slices.Equal(got, starts) {
			moved++
		}
	}
	if moved < 1000 {
		t.Errorf("jobs moved in %d plans only", moved)
	}
}

func TestWeightUnit(t *testing.T) {
	t.Parallel()
	request := func(duration float64, pes int) model.Request {
		return model.Request{DurationS: duration, DeadlineS: duration, PEs: pes}
	}
	far := request(1000, 3)
	far.DeadlineS = 4e15
	for name, c := range map[string]struct {
		requests []model.Request
		want     int64
	}{
		"none":           {nil, 0},
		"seconds":        {[]model.Request{request(3, 2), request(6, 4)}, 6},
		"tenths":         {[]model.Request{request(0.3, 1), request(0.7, 3)}, 3},
		"coprime":        {[]model.Request{request(1e9, 9), request(1, 7)}, 1},
		"a rounded time": {[]model.Request{far, request(1000.0000000001, 3)}, 0},
		"above 2^62":     {[]model.Request{request(1<<50, 1<<13)}, 0},
		"no float64's":   {[]model.Request{request(1<<50-1, 1<<12-1), request(1<<50-1, 1)}, 1<<50 - 1},
	} {
		in := &model.Reservation{PEs: 1 << 13, Goal: model.GoalPESeconds, Requests: c.requests}
		require.Same(t, name, c.want, view.OfReservation(in).WeightUnit())
	}
}
