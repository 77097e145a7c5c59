// SPDX-License-Identifier: MIT

package batch

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// plainPredicted is EASY by predictions, instant by instant, in the plainest way. It returns
// starts in microseconds, and how often a prediction is corrected.
func plainPredicted(in *model.Batch) (starts []int64, corrected int) {
	n := len(in.Jobs)
	micro := func(s float64) int64 { return int64(s*1e6 + 0.5) }
	starts, predicted, ran := make([]int64, n), make([]int64, n), map[string][]int64{}
	steps, over := make([]int, n), make([]bool, n)
	for k := range starts {
		starts[k] = -1
	}
	extend := []int64{1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000}
	end := func(k int) int64 { return starts[k] + micro(in.Work(k)) }
	known := 0
	for now, left := int64(0), n; left > 0; {
		for k := range known {
			if starts[k] >= 0 && !over[k] && end(k) <= now {
				over[k] = true
				left--
				ran[in.Jobs[k].Log.User] = append(ran[in.Jobs[k].Log.User], micro(in.Work(k)))
			}
		}
		for ; known < n && micro(in.Jobs[known].SubmitS) <= now; known++ {
			j := &in.Jobs[known]
			predicted[known] = micro(j.Estimate())
			if x := ran[j.Log.User]; len(x) >= 2 {
				predicted[known] = min(predicted[known], (x[len(x)-1]+x[len(x)-2])/2)
			}
		}
		free := in.Processors
		for k := range known {
			if starts[k] < 0 || over[k] {
				continue
			}
			free -= in.Jobs[k].Processes
			for starts[k]+predicted[k] <= now && predicted[k] < micro(in.Jobs[k].Estimate()) && steps[k] < len(extend) {
				predicted[k] = min(micro(in.Jobs[k].Estimate()), predicted[k]+extend[steps[k]]*60e6)
				steps[k]++
				corrected++
			}
		}
		head := -1
		shadow, extra := int64(0), 0
		for k := range known {
			width := in.Jobs[k].Processes
			switch {
			case starts[k] >= 0:
			case head < 0 && width <= free:
				starts[k], free = now, free-width
			case head < 0:
				head = k
				var ends []int64
				for i := range known {
					if starts[i] >= 0 && !over[i] {
						ends = append(ends, max(now, starts[i]+predicted[i]))
					}
				}
				slices.Sort(ends)
				for _, at := range ends {
					then := free
					for i := range known {
						if starts[i] >= 0 && !over[i] && max(now, starts[i]+predicted[i]) <= at {
							then += in.Jobs[i].Processes
						}
					}
					if then >= width {
						shadow, extra = at, then-width
						break
					}
				}
			case width <= free && (now+predicted[k] <= shadow || width <= extra):
				if now+predicted[k] > shadow {
					extra -= width
				}
				starts[k], free = now, free-width
			}
		}
		next := int64(-1)
		for k := range n {
			at := int64(-1)
			switch {
			case k >= known:
				at = micro(in.Jobs[k].SubmitS)
			case starts[k] >= 0 && !over[k]:
				at = end(k)
			}
			if at >= 0 && (next < 0 || at < next) {
				next = at
			}
		}
		now = next
	}
	return starts, corrected
}

// EASY by predictions is the plain one, start by start.
func TestPredictionPlain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(27, 5))
	corrected, other := 0, 0
	for round := range need.Rounds(2000) {
		in := testkit.RandomBatch(rng, 1, 8, 1+rng.IntN(30))
		for k := range in.Jobs {
			in.Jobs[k].Log = &model.JobLog{User: fmt.Sprint(rng.IntN(2))}
		}
		set := model.Settings{Parameters: &model.BatchParameters{Prediction: model.BatchPredictionLastTwo}}
		e, err := EASY(t.Context(), in, set)
		if errors.Is(err, model.ErrUnsupported) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		want, n := plainPredicted(in)
		corrected += n
		plain, err := EASY(t.Context(), in, model.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		differs := false
		for i := range e.Runs {
			k := slices.IndexFunc(in.Jobs, func(j model.BatchJob) bool { return j.ID == e.Runs[i].ID })
			if at := e.Runs[i].Segments[0].StartS; int64(at*1e6+0.5) != want[k] {
				t.Fatalf("round %d: job %s starts at %v s, want %v us", round, e.Runs[i].ID, at, want[k])
			}
			differs = differs || e.Runs[i].Segments[0].StartS != plain.Runs[i].Segments[0].StartS
		}
		if differs {
			other++
		}
	}
	if corrected < 100 || other < 10 {
		t.Errorf("%d predictions are corrected, %d schedules differ from those by estimates", corrected, other)
	}
}

// Predictions are the estimates if no user is named. A scheduler that predicts nothing says so.
func TestPredictionWithoutUsers(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(27, 6))
	in := testkit.RandomBatch(rng, 1, 8, 40)
	for k := range in.Jobs {
		in.Jobs[k].Log = nil
	}
	for _, a := range Algorithms() {
		by, err := a.Solver.Solve(t.Context(), in, model.Settings{Parameters: &model.BatchParameters{Prediction: model.BatchPredictionLastTwo}})
		switch a.Name {
		case "fcfs", "sjf", "easy", "easy-sjbf", "easy-saf", "conservative":
			plain, err2 := a.Solver.Solve(t.Context(), in, model.Settings{})
			if err != nil || err2 != nil || by.Objective != plain.Objective {
				t.Errorf("%s: %v and %v, %v, %v", a.Name, by.Objective, plain.Objective, err, err2)
			}
		default:
			if !errors.Is(err, model.ErrUnsupported) {
				t.Errorf("%s: %v", a.Name, err)
			}
		}
	}
}
