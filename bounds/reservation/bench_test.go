// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// largeReservation draws an instance of the sizes, durations and load of Li et al.'s experiments:
// 1,024 PEs, a request each 510 s on average, artime and deadline factors of 3.
func largeReservation(n int, goal model.Goal) *model.Reservation {
	rng := rand.New(rand.NewPCG(510, uint64(n)))
	in := &model.Reservation{Name: "large", Goal: goal, PEs: 1024}
	durations := []float64{60, 300, 900, 1800, 3600, 10800}
	at := 0.0
	for k := range n {
		at += float64(int(rng.ExpFloat64() * 510))
		d := durations[rng.IntN(len(durations))]
		ready := at + float64(int(3*rng.Float64()*d))
		in.Requests = append(in.Requests, model.Request{
			ID: fmt.Sprint(k), ArrivalS: at, ReadyS: ready, DurationS: d,
			DeadlineS: ready + d + float64(int(3*rng.Float64()*d)), PEs: 32 << rng.IntN(6),
		})
	}
	return in
}

func BenchmarkReservationBounds(b *testing.B) {
	ctx := context.Background()
	methods := []struct {
		name string
		run  func(t *view.Reservation) bounds.Bound
	}{
		{"area", area},
		{"quick", func(t *view.Reservation) bounds.Bound { return Quick(ctx, t)[1] }},
		{"energetic", func(t *view.Reservation) bounds.Bound { return energetic(ctx, t) }},
		{"flow", func(t *view.Reservation) bounds.Bound { return flowOf(ctx, t) }},
	}
	for _, m := range methods {
		for _, goal := range model.Goals[:2] {
			for _, n := range []int{1_000, 10_000, 100_000} {
				t := view.OfReservation(largeReservation(n, goal))
				b.Run(fmt.Sprintf("%s/%s/requests=%d", m.name, goal, n), func(b *testing.B) {
					value := 0.0
					for b.Loop() {
						value = m.run(t).Value
					}
					b.ReportMetric(value, "bound")
				})
			}
		}
	}
}

func BenchmarkReservationLP(b *testing.B) {
	for _, n := range []int{15, 30, 60} {
		t := view.OfReservation(largeReservation(n, model.GoalAccepted))
		b.Run(fmt.Sprintf("requests=%d", n), func(b *testing.B) {
			value := 0.0
			for b.Loop() {
				x, _ := require.Pair(newWork(t).lp(context.Background()))(b)
				value = x.Value
			}
			b.ReportMetric(value, "bound")
		})
	}
}
