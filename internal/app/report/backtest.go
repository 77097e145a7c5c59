// SPDX-License-Identifier: MIT

package report

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// replay is a policy that stands for a log's own scheduler. Real schedulers look at their queue every so often, and a
// job's processors are free some time after its end.
type replay struct {
	policy    string
	passS     float64 // jobs start at multiples of so many seconds from the first submission; 0: at once
	turnoverS float64 // seconds between a job's end and the start of the next on its processors
}

// The values that fit tries, in seconds.
var (
	passes    = []float64{0, 10, 30, 60, 120, 300, 600}
	turnovers = []float64{0, 1, 2, 5, 10, 30, 60, 120, 300, 600}
)

// mostConservative bounds the jobs for which fit tries conservative backfilling, whose time grows with the square of the
// queue's length.
const mostConservative = 2000

// plain reports whether the policy runs on the instance as it is.
func (r *replay) plain() bool { return r.passS == 0 && r.turnoverS == 0 }

// words describes the passes and the turnover, after a comma; "" for none.
func (r *replay) words() (said string) {
	if r.passS > 0 {
		said += fmt.Sprintf(", a pass every %g s", r.passS)
	}
	if r.turnoverS > 0 {
		said += fmt.Sprintf(", %g s between jobs", r.turnoverS)
	}
	return said
}

// stretched returns the instance on which the policy's starts are those of the replay: submissions wait for the next
// pass, and jobs take until a pass after their end and the turnover. In.Jobs is copied.
func (r *replay) stretched(in *model.Batch) *model.Batch {
	up := func(x float64) float64 {
		if r.passS == 0 {
			return x
		}
		return math.Ceil(x/r.passS) * r.passS
	}
	out := *in
	out.Jobs = append([]model.BatchJob(nil), in.Jobs...)
	for k := range out.Jobs {
		j := &out.Jobs[k]
		j.SubmitS, j.RuntimeS = up(j.SubmitS), up(j.RuntimeS+r.turnoverS)
		if j.EstimateS > 0 {
			j.EstimateS = up(j.EstimateS + r.turnoverS)
		}
	}
	return &out
}

// back returns the schedule of a stretched instance with the starts and the places that it has, and in's own runtimes.
func (r *replay) back(in *model.Batch, s model.Solution) (*model.Execution, error) {
	e, ok := s.(*model.Execution)
	if !ok {
		return nil, fmt.Errorf("%w: a replay needs a schedule", model.ErrUnsupported)
	}
	index, err := in.Index(e)
	if err != nil {
		return nil, err
	}
	out := &model.Execution{Runs: make([]model.Run[model.BatchPlace], len(e.Runs))}
	for i := range e.Runs {
		if len(e.Runs[i].Segments) != 1 {
			return nil, fmt.Errorf("%w: a replay is of policies that run a job in one go, %s of %s is in %d parts", model.ErrUnsupported, e.Runs[i].ID, r.policy, len(e.Runs[i].Segments))
		}
		one := e.Runs[i].Segments[0]
		one.EndS = one.StartS + in.Work(index[i])
		out.Runs[i] = model.Run[model.BatchPlace]{ID: e.Runs[i].ID, Segments: []model.Segment[model.BatchPlace]{one}}
	}
	return out, nil
}

// run replays the jobs of an instance; o has the settings of the policy. Its error wraps model.ErrUnsupported for a policy
// that doesn't take the instance.
func (r *replay) run(ctx context.Context, in *model.Batch, o gapwise.Options) (*model.Execution, error) {
	o.Algorithm = r.policy
	x, declined, err := gapwise.NewCase(r.stretched(in)).Try(ctx, o)
	if err == nil {
		err = declined
	}
	if err == nil && x.Solution == nil {
		err = fmt.Errorf("%w: %s: %s", model.ErrNoSolution, r.policy, x.Reason)
	}
	if err != nil {
		return nil, err
	}
	return r.back(in, x.Solution)
}

// backtest compares a replay with the log.
type backtest struct {
	replay
	tried int     // replays
	fit   float64 // mean absolute difference of the blocks' mean waits from the log's, in seconds
}

// halves divides the jobs in two: those of every other block of time, on which a replay is fitted, a list each, and the
// others, which tell its error. Without blocks these are ten equal parts of the jobs.
func (x *whatIf) halves() (fitted [][]int32, held []int32) {
	blocks := x.blocks
	if x.block == "" {
		all := order.Of[int32](len(x.cases[0].in.Jobs))
		blocks = slices.Collect(slices.Chunk(all, (len(all)+fewestBlocks-1)/fewestBlocks))
	}
	for k, some := range blocks {
		if k%2 == 0 {
			fitted = append(fitted, some)
		} else {
			held = append(held, some...)
		}
	}
	return fitted, held
}

// betterFit is how much nearer to the log a replay must be, as a share, to take the place of a simpler one.
const betterFit = 0.01

// fit returns the replay that comes nearest to x.log in every other block of time, by the mean absolute difference of
// the blocks' mean waits: the policy, then the seconds between passes or between jobs, three times over. The blocks between
// can tell its error. About 50 replays of the log.
func (s Solving) fit(ctx context.Context, x *whatIf) (backtest, error) {
	in := x.cases[0].in
	blocks, _ := x.halves()
	var policies []string
	for _, a := range gapwise.Algorithms(model.KindBatch) {
		if a.Class == model.Online && (a.Name != "conservative" || len(in.Jobs) <= mostConservative) {
			policies = append(policies, a.Name)
		}
	}
	best := backtest{fit: math.Inf(1), replay: replay{policy: DefaultPolicy}}
	seen := map[replay]bool{}
	try := func(r replay) error {
		if seen[r] {
			return nil
		}
		seen[r] = true
		e, err := r.run(ctx, in, gapwise.Options{Settings: model.Settings{Seed: s.Seed}})
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("report: stopped before a replay of the log was fitted: %w", ctx.Err())
		case errors.Is(err, model.ErrUnsupported):
			return nil
		case err != nil:
			return err
		}
		mine := &whatIfCase{in: in, run: Run{Solution: e}}
		if err := mine.measure(); err != nil {
			return err
		}
		off := 0.0
		for _, some := range blocks {
			sum := 0.0
			for _, k := range some {
				sum += mine.waits[k] - x.log.waits[k]
			}
			off += math.Abs(sum) / float64(len(some))
		}
		if off /= float64(len(blocks)); off < best.fit*(1-betterFit) || math.IsInf(best.fit, 1) {
			best.replay, best.fit = r, off
		}
		return nil
	}
	byPolicy := func() []replay { return variants(best.replay, policies, func(r *replay, p string) { r.policy = p }) }
	bySeconds := func() []replay { // a pass every minute looks much like half a minute between jobs: both at once
		return append(variants(best.replay, passes, func(r *replay, y float64) { r.passS = y }),
			variants(best.replay, turnovers, func(r *replay, y float64) { r.turnoverS = y })...)
	}
	for _, vary := range []func() []replay{byPolicy, bySeconds, byPolicy, bySeconds, byPolicy, bySeconds} {
		for _, r := range vary() {
			if err := try(r); err != nil {
				return best, err
			}
		}
	}
	best.tried = len(seen)
	return best, nil
}

// variants returns a replay with each value of a part of it.
func variants[T any](r replay, values []T, set func(*replay, T)) (all []replay) {
	for _, x := range values {
		set(&r, x)
		all = append(all, r)
	}
	return all
}

// words explains the replay and its error.
func (b *backtest) words(fitted bool, block string) string {
	today := "Today is the policy that --policy names, at once at each event."
	if fitted {
		today = fmt.Sprintf("Today is a replay: of %s (policy, seconds between passes, seconds between jobs) the nearest to the log in every other %s, whose mean waits differ by %s in the mean.",
			words.Plural(b.tried, "replay"), block, words.Duration(b.fit))
	}
	return fmt.Sprintf("Log is what the log's own scheduler did. %s Its error, today less the log, is of the %ss between; that of figures of the whole machine, which the jobs of all %ss share, is of all. A change in parentheses is smaller than this error: it may be the replay's alone.", today, block, block)
}
