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
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// stuck reports a solution and a bound, and then doesn't return.
type stuck struct {
	s     model.Solution
	bound float64
	end   chan bool
}

func (stuck) Name() string { return "stuck" }

func (s stuck) Solve(_ context.Context, _ model.Instance, set model.Settings) (model.Result, error) {
	set.Progress(model.Progress{Algorithm: "stuck", Solution: s.s, Bound: s.bound})
	<-s.end
	set.Progress(model.Progress{Algorithm: "stuck", Bound: 1e9}) // no one listens any more
	return model.Result{}, errors.New("too late")
}

// A solver that doesn't return is left behind, and its reports count.
func TestPatience(t *testing.T) {
	t.Parallel()
	d := testkit.SixTasks()
	best := require.Value(gapwise.Solve(t.Context(), d, gapwise.Options{Algorithm: "heft"}))(t)
	end := make(chan bool)
	defer close(end)
	ctx, cancel := context.WithCancel(t.Context())
	var told []string
	o := gapwise.Options{Solver: stuck{best.Solution, 3, end}, Patience: 10 * time.Millisecond}
	o.Progress = func(p model.Progress) {
		told = append(told, fmt.Sprint(p.Incumbent, p.Done))
		cancel()
	}
	r, err := gapwise.Solve(ctx, d, o)
	if err != nil || r.Objective != best.Objective || r.Status != model.StatusFeasible || r.Reason != "interrupted, but it did not return" || len(told) != 2 {
		t.Errorf("%+v, %v, told %v", r, err, told)
	}
	o = gapwise.Options{Solver: stuck{best.Solution, 3, end}, Patience: 10 * time.Millisecond, Settings: model.Settings{TimeLimit: 10 * time.Millisecond}}
	if r, err := gapwise.Solve(t.Context(), d, o); err != nil || r.Objective != best.Objective || r.Reason != "stopped by the time limit, but it did not return" {
		t.Errorf("%+v, %v", r, err)
	}
}

// wrong returns a schedule that doesn't keep the edges, and is long.
type wrong struct{ s *model.Schedule }

func (wrong) Name() string { return "wrong" }

func (w wrong) Solve(_ context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult("wrong", set.Seed)
	return r, r.SetSolution(in, w.s)
}

// A wrong solution is a defect, also where a better start takes its place.
func TestWrongBesideAStart(t *testing.T) {
	t.Parallel()
	d := testkit.SixTasks()
	start := require.Value(gapwise.Solve(t.Context(), d, gapwise.Options{Algorithm: "heft"}))(t)
	s := *start.Solution.(*model.Schedule)
	s.Tasks = append([]model.TaskStart(nil), s.Tasks...)
	s.Tasks[0].StartS = 1e6
	var defect *gapwise.DefectError
	if r, err := gapwise.Solve(t.Context(), d, gapwise.Options{Solver: wrong{&s}, Settings: model.Settings{Start: start.Solution}}); !errors.As(err, &defect) {
		t.Errorf("%v, %+v", err, r)
	}
}
