// SPDX-License-Identifier: MIT

package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// jobs is an instance with a schedule that starts its job at a time.
var jobs = &model.Batch{Name: "one", Processors: 1, Tiers: 1, Jobs: []model.BatchJob{{ID: "a", Processes: 1, RuntimeS: 1, EstimateS: 1}}}

func at(start float64) *model.Execution {
	return &model.Execution{Runs: []model.Run[model.BatchPlace]{{ID: "a", Segments: []model.Segment[model.BatchPlace]{{StartS: start, EndS: start + 1,
		Place: model.BatchPlace{Tier: model.TierForeground, Processors: model.ProcessorList{0}}}}}}}
}

// A heuristic ends with its solution, without one, or with an error.
func TestHeuristic(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		err    error
		status model.Status
		reason string
		want   error
	}{"solved": {nil, model.StatusFeasible, "", nil}, "none": {fmt.Errorf("%w: too wide", model.ErrNoSolution), model.StatusUnknown, "no solution found: too wide", nil},
		"failed": {failed, model.StatusUnknown, "", failed}} {
		h := Heuristic(name, func(*Run, *model.Batch) (*model.Execution, error) { return at(2), c.err })
		r, err := h.Solve(t.Context(), jobs, model.Settings{})
		if h.Name() != name || !errors.Is(err, c.want) || r.Status != c.status || c.want == nil && r.Reason != c.reason {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		require.Refused(t, name+" on a dag", require.Err(h.Solve(t.Context(), &model.DAG{}, model.Settings{})),
			model.ErrUnsupported, "")
	}
}

// A limit on the effort ends a heuristic that is called by itself, too.
func TestSpend(t *testing.T) {
	t.Parallel()
	h := Heuristic("endless", func(r *Run, _ *model.Batch) (*model.Execution, error) {
		for !meter.Stop(r.Ctx, 10) {
		}
		return at(float64(r.Set.Workers())), nil
	})
	r, err := h.Solve(t.Context(), jobs, model.Settings{Effort: 1000, Threads: 4})
	if err != nil || r.Objective != 2 || r.Reason != "stopped before its end" {
		t.Errorf("%+v, %v", r, err)
	}
}

// The best solution stays, and is reported once; others' news are those that are better.
func TestRun(t *testing.T) {
	t.Parallel()
	var told []model.Progress
	r := New(context.Background(), "test", jobs, model.Settings{Progress: func(p model.Progress) { told = append(told, p) },
		Others: func() model.Progress { return model.Progress{Incumbent: 4, Solution: at(3)} }})
	for _, start := range []float64{5, 7, 5, 1} {
		better, err := r.Improve(at(start))
		if err != nil || better != (start == 5 && len(told) == 0 || start == 1) {
			t.Errorf("%v: %v %v", start, better, err)
		}
		r.TellBest()
	}
	if len(told) != 4 || told[0].Solution == nil || told[1].Solution != nil || told[3].Incumbent != 2 || told[3].Solution == nil {
		t.Errorf("%+v", told)
	}
	for _, than := range []float64{math.NaN(), 5, 4} {
		if s, _ := r.News(than); (s != nil) != (than != 4) {
			t.Errorf("news for %v: %v", than, s)
		}
	}
	if !r.Beside() || r.Limited() {
		t.Error("it is beside others, without a limit")
	}
}
