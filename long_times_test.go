// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// longTimes are instances of n items with the longest valid times, with most running at once, and the best objective.
// The responses of 20,000 sum to 2·10^19 microseconds, more than an int64 or a uint64 holds.
var longTimes = map[string]func(n, most int) (in model.Instance, best float64){
	"batch":            func(n, most int) (model.Instance, float64) { return longBatch(n, most, 1), 1e8 * rounds(n, most) },
	"batch, two tiers": func(n, most int) (model.Instance, float64) { return longBatch(n, most, 2), 1e8 * rounds(n, most) },
	"tvc, queue":       func(n, most int) (model.Instance, float64) { return longTVC(n, most, true, ""), 1e9 * rounds(n, most) },
	"tvc, requests":    func(n, most int) (model.Instance, float64) { return longTVC(n, most, false, ""), float64(most) },
	"tvc, revenue": func(n, most int) (model.Instance, float64) {
		return longTVC(n, most, false, model.GoalRevenue), 1e16 * float64(most)
	},
	"reservation": func(n, most int) (model.Instance, float64) { return longReservation(n, most, ""), float64(most) },
	"reservation, PE seconds": func(n, most int) (model.Instance, float64) {
		return longReservation(n, most, model.GoalPESeconds), 1e15 * float64(most)
	},
	"dag": func(n, _ int) (model.Instance, float64) {
		in := &model.DAG{Name: "long", Machines: []model.Machine{{ID: "a"}}}
		for k := range n {
			in.Tasks = append(in.Tasks, model.DAGTask{ID: fmt.Sprint(k), CostS: []float64{1e15 / 16384}})
		}
		return in, 1e15 / 16384 * float64(n)
	},
}

// rounds is the mean over n items of the round in which each runs, most in each.
func rounds(n, most int) float64 {
	sum := 0
	for k := range n {
		sum += 1 + k/most
	}
	return float64(sum) / float64(n)
}

func longBatch(n, most, tiers int) *model.Batch {
	in := &model.Batch{Name: "long", Processors: most, Tiers: tiers}
	for k := range n {
		in.Jobs = append(in.Jobs, model.BatchJob{ID: fmt.Sprint(k), SubmitS: 1e9, RuntimeS: 1e8, Processes: 1, Weight: model.MostWeight})
	}
	return in
}

func longTVC(n, most int, queue bool, goal model.TVCGoal) *model.TVC {
	in := &model.TVC{Name: "long", Queue: queue, Goal: goal, FatTree: model.FatTree{K: 2, Slots: (most + 1) / 2, LinkMbps: 1e7}}
	for k := range n {
		in.Requests = append(in.Requests, model.TVCRequest{ID: fmt.Sprint(k), ArrivalS: 1e9, DurationS: 1e9, VMs: 1, BandwidthMbps: 1e7})
	}
	return in
}

func longReservation(n, most int, goal model.Goal) *model.Reservation {
	in := &model.Reservation{Name: "long", PEs: most, Goal: goal}
	for k := range n {
		in.Requests = append(in.Requests, model.Request{ID: fmt.Sprint(k), ArrivalS: 3e15, ReadyS: 3e15, DurationS: 1e15, DeadlineS: 4e15, PEs: 1})
	}
	return in
}

// Every algorithm finds the best schedule of a few of the longest times, or reports that it doesn't take them. The
// first heuristic and the bounds find the best for 20,000.
func TestLongTimes(t *testing.T) {
	t.Parallel()
	for name, draw := range longTimes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, size := range [][2]int{{12, 12}, {12, 6}, {20_000, 20_000}, {20_000, 10_000}} {
				n := size[0]
				if n > size[1] && n > 12 && testing.Short() {
					continue
				}
				in, best := draw(n, size[1])
				require.OK(t, in.Validate())
				p := require.Value(gapwise.ProblemOf(in.Kind()))(t)
				algorithms := gapwise.Algorithms(in.Kind())
				if n > 12 {
					algorithms = algorithms[:1]
				}
				for _, a := range algorithms {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // on a busy machine, too
					r, err := gapwise.Solve(ctx, in, gapwise.Options{Algorithm: a.Name, Settings: model.Settings{Seed: 1}})
					cancel()
					switch {
					case errors.Is(err, model.ErrUnsupported):
					case err != nil:
						t.Errorf("%v, %s: %v", size, a.Name, err)
					case r.Solution == nil || r.Objective != best:
						t.Errorf("%v, %s: %v, %v, want %v", size, a.Name, r.Status, r.Objective, best)
					}
				}
				all := require.Value(p.Bounds(t.Context(), in))(t)
				for i, b := range all {
					off := (best - b.Value) / best
					if in.Metrics()[0].Sense == model.Maximise {
						off = -off
					}
					far := 1e-9
					if n > size[1] && off > 0 { // one machine may run one by one the jobs that run at once
						far = 0.5
					}
					if off < -1e-15 || i == len(all)-1 && off > far {
						t.Errorf("%v: bound %s is %v, the best is %v", size, b.Name, b.Value, best)
					}
				}
			}
		})
	}
}

// The maker of a schedule refuses a queue with requests that run one by one and would end after the last exact time,
// but not a shorter one.
func TestQueueTooLate(t *testing.T) {
	t.Parallel()
	for _, n := range []int{7, 8, 20_000} {
		in := longTVC(n, 2, true, "")
		for k := range in.Requests {
			in.Requests[k].ArrivalS, in.Requests[k].VMs = 0, 2
		}
		for _, name := range []string{"fcfs", "srpt", "bgmbf-sdf"} {
			for _, stopped := range []bool{false, true} {
				ctx, cancel := context.WithCancel(t.Context())
				if stopped {
					cancel()
				}
				_, err := gapwise.Solve(ctx, in, gapwise.Options{Algorithm: name})
				cancel()
				if late := n > 8; late != errors.Is(err, model.ErrUnsupported) || !late && err != nil {
					t.Errorf("%d requests of 10^9 s, %s, stopped %v: %v", n, name, stopped, err)
				}
			}
		}
	}
}
