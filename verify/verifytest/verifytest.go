// SPDX-License-Identifier: MIT

// Package verifytest holds a scheduler's solutions against the judge in the scheduler's
// own tests:
//
//	func TestMyScheduler(t *testing.T) {
//		in := testInstance(t)
//		verifytest.RequireGap(t, in, myScheduler(in), 0.05)
//	}
//
// A solution is a model.Solution, its JSON ([]byte, json.RawMessage or string), or any
// value that encoding/json writes as such. Parts that follow from the rest may be missing, as gapwise.CompleteSolution
// allows: the CPU shares of a placement, the transfers or all times of a schedule, the PEs of bookings, the processors
// of an execution. The package needs neither cgo nor HiGHS.
package verifytest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// searchTime is how long RequireGap and RequireOptimal search for a proof.
const searchTime = 10 * time.Second

// Require fails the test at once unless the solution keeps every constraint of the
// instance. The message names each broken one, with the jobs, hosts or links involved and
// the amount. It returns the solution, completed, and the judge's report with its
// objective.
func Require(t testing.TB, in model.Instance, solution any) (model.Solution, verify.Report) {
	t.Helper()
	s, report, err := judged(t.Context(), in, solution)
	if err != nil {
		t.Fatal(err)
	}
	return s, report
}

// RequireGap is Require, and fails the test unless the objective is within a relative gap
// of the optimum: |objective - bound| / |objective| is at most gap for a bound that is
// proved. The bound is the best that gapwise.Bounds has without search; where that isn't
// enough, a search of up to 10 seconds that starts from the solution raises it. A gap that can't be shown by then fails
// the test, too; the message states the bound and its source. So does a gap that isn't from 0 to below 1.
func RequireGap(t testing.TB, in model.Instance, solution any, gap float64) {
	t.Helper()
	if !(gap >= 0 && gap < 1) {
		t.Fatal(fmt.Errorf("the gap is %v, must be from 0 to below 1", gap))
	}
	if err := within(t.Context(), in, solution, gap, searchTime); err != nil {
		t.Fatal(err)
	}
}

// RequireOptimal is RequireGap with the gap up to which gapwise calls results optimal,
// 1e-6. The message of a failure states the better objective that was found, or the bound that was proved by then.
func RequireOptimal(t testing.TB, in model.Instance, solution any) {
	t.Helper()
	if err := within(t.Context(), in, solution, model.DefaultGap, searchTime); err != nil {
		t.Fatal(err)
	}
}

// judged completes and judges a solution.
func judged(ctx context.Context, in model.Instance, solution any) (model.Solution, verify.Report, error) {
	var report verify.Report
	var data []byte
	var err error
	switch x := solution.(type) {
	case []byte:
		data = x
	case json.RawMessage:
		data = x
	case string:
		data = []byte(x)
	default:
		if data, err = withoutNulls(x); err != nil {
			return nil, report, fmt.Errorf("the solution can't be written as JSON: %w", err)
		}
	}
	if err := gapwise.NewCase(in).Validate(); err != nil {
		return nil, report, err
	}
	s, err := gapwise.CompleteSolution(ctx, in, data)
	if err != nil {
		return nil, report, err
	}
	if report, err = verify.Verify(ctx, in, s, verify.Options{Valid: true}); err != nil {
		return nil, report, err
	}
	if !report.Feasible() {
		var lines strings.Builder
		for _, v := range report.Violations {
			fmt.Fprintf(&lines, "\n\t%v", v)
		}
		return s, report, fmt.Errorf("%w: the solution breaks %s:%s", model.ErrInfeasible, words.Plural(len(report.Violations), "constraint"), lines.String())
	}
	return s, report, nil
}

// withoutNulls returns a value as JSON, without its nulls: a nil slice is missing.
func withoutNulls(x any) ([]byte, error) {
	data, err := json.Marshal(x)
	if err != nil || !bytes.Contains(data, []byte("null")) {
		return data, err
	}
	var tree any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	var strip func(x any)
	strip = func(x any) {
		switch x := x.(type) {
		case map[string]any:
			maps.DeleteFunc(x, func(_ string, v any) bool { return v == nil })
			for _, v := range x {
				strip(v)
			}
		case []any:
			for _, v := range x {
				strip(v)
			}
		}
	}
	strip(tree)
	return json.Marshal(tree)
}

// within is an error unless a solution is feasible and within a gap of a bound.
func within(ctx context.Context, in model.Instance, solution any, gap float64, limit time.Duration) error {
	s, report, err := judged(ctx, in, solution)
	if err != nil {
		return err
	}
	c, sense := gapwise.NewCase(in), model.SenseOf(in)
	all, err := gapwise.Bounds(ctx, in)
	if err != nil {
		return err
	}
	bound, from := math.NaN(), "no bound"
	for _, b := range all {
		if !b.Infeasible && (math.IsNaN(bound) || sense.Better(bound, b.Value)) {
			bound, from = b.Value, "the bound "+b.Name
		}
	}
	if model.Gap(report.Objective, bound) <= gap {
		return nil
	}
	r, err := c.Solve(ctx, gapwise.Options{Settings: model.Settings{Start: s, Gap: gap, TimeLimit: limit}})
	if err != nil {
		return err
	}
	if sense.Better(bound, r.Bound) || math.IsNaN(bound) {
		bound, from = r.Bound, fmt.Sprintf("the bound by %s in %v", r.Algorithm, r.Elapsed.Round(time.Millisecond))
	}
	if model.Gap(report.Objective, bound) <= gap {
		return nil
	}
	text := fmt.Sprintf("the objective %.9g is not shown to be within %.6g %% of the optimum: %s is %.9g, a gap of %.3g %%",
		report.Objective, 100*gap, from, bound, 100*model.Gap(report.Objective, bound))
	if r.Solution != nil && sense.Better(r.Objective, report.Objective) {
		text += fmt.Sprintf("; %s found %.9g", r.Algorithm, r.Objective)
	}
	return errors.New(text)
}
