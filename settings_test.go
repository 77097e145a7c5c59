// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// Settings out of their ranges are bad input, before anything runs.
func TestSettingsOutOfRange(t *testing.T) {
	t.Parallel()
	in := testkit.SixTasks()
	for want, o := range map[string]gapwise.Options{
		"gap is 5, must be above 0 and below 1":   {Settings: model.Settings{Gap: 5}},
		"gap is 1, must be above 0 and below 1":   {Settings: model.Settings{Gap: 1}},
		"gap is -1, must be above 0 and below 1":  {Settings: model.Settings{Gap: -1}},
		"gap is NaN, must be above 0 and below 1": {Settings: model.Settings{Gap: math.NaN()}},
		"time_limit is -1s, must not be negative": {Settings: model.Settings{TimeLimit: -time.Second}},
		"effort is -1, must be at least 1":        {Settings: model.Settings{Effort: -1}},
		"threads is -2, must be at least 1":       {Settings: model.Settings{Threads: -2}},
		"answer_limit is -1ns, must be above 0":   {Settings: model.Settings{AnswerLimit: -1}},
		"patience is -1ns, must not be negative":  {Patience: -1},
		"gap is 2, must be above 0 and below 1":   {Algorithm: "heft", Settings: model.Settings{Gap: 2}},
		"threads is -3, must be at least 1":       {Solver: model.Adapt("own", func(context.Context, *model.DAG, model.Settings) (*model.Schedule, error) { return nil, nil }), Settings: model.Settings{Threads: -3}},
	} {
		checked := o.Check(in.Kind())
		_, solved := gapwise.Solve(t.Context(), in, o)
		for _, err := range []error{checked, solved} {
			if !errors.Is(err, model.ErrInvalid) || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
	if err := (gapwise.Options{Settings: model.Settings{Gap: 0.999}}).Check(in.Kind()); err != nil {
		t.Error(err)
	}
}

// A missing instance or solution is an error of one line.
func TestNil(t *testing.T) {
	t.Parallel()
	ctx, six := t.Context(), testkit.SixTasks()
	for name, in := range map[string]model.Instance{"nil": nil, "a nil pointer": (*model.DAG)(nil)} {
		for of, call := range map[string]func() error{
			"Solve":            func() error { _, err := gapwise.Solve(ctx, in, gapwise.Options{}); return err },
			"Session":          func() error { _, _, err := new(gapwise.Session).Step(ctx, in); return err },
			"Bounds":           func() error { _, err := gapwise.Bounds(ctx, in); return err },
			"OtherBounds":      func() error { _, err := gapwise.OtherBounds(ctx, in); return err },
			"Formulation":      func() error { _, err := gapwise.Formulation(ctx, in, ""); return err },
			"CompleteSolution": func() error { _, err := gapwise.CompleteSolution(ctx, in, []byte("{}")); return err },
			"CompleteStart":    func() error { _, _, err := gapwise.CompleteStart(ctx, in, new(model.Schedule)); return err },
			"Hash":             func() error { _, err := gapwise.NewCase(in).Hash(); return err },
			"LeastHosts":       func() error { _, err := gapwise.LeastHosts(ctx, nil, gapwise.Options{}); return err },
		} {
			if err := call(); !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), "it is nil") {
				t.Errorf("%s of %s: %v", of, name, err)
			}
		}
		if _, err := verify.Verify(ctx, in, new(model.Schedule), verify.Options{}); err == nil {
			t.Errorf("%s is judged", name)
		}
		if _, err := verify.Result(ctx, in, model.Result{}, verify.Options{}); err == nil {
			t.Errorf("a result of %s is judged", name)
		}
	}
	for name, start := range map[string]model.Solution{"nil": nil, "a nil pointer": (*model.Schedule)(nil)} {
		if _, _, err := gapwise.CompleteStart(ctx, six, start); !errors.Is(err, model.ErrInvalid) {
			t.Errorf("%s is a start: %v", name, err)
		}
	}
	for name, c := range map[string]struct {
		err  error
		want string
	}{"nothing": {nil, "own: invalid solution: it is nil, and so is the error; return model.ErrNoSolution if there is none"}, "a stop": {context.Canceled, ""}} {
		ctx, cancel := context.WithCancel(ctx)
		own := model.Adapt("own", func(context.Context, *model.DAG, model.Settings) (*model.Schedule, error) {
			cancel()
			return nil, c.err
		})
		r, err := gapwise.Solve(ctx, six, gapwise.Options{Solver: own})
		if got := fmt.Sprint(err); err != nil && got != c.want || err == nil && (c.want != "" || r.Status != model.StatusUnknown) {
			t.Errorf("%s: %v, %v", name, r.Status, err)
		}
	}
}
