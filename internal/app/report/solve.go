// SPDX-License-Identifier: MIT

package report

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Solving configures how instances are solved for a page.
type Solving struct {
	// TimeLimit is the time limit of each algorithm and of the bounds; 0: 10 s.
	TimeLimit time.Duration
	Seed      uint64
	// Effort is the effort of the clairvoyant's search, of what-ifs; 0: DefaultEffort.
	Effort int64
	// NodeCost is the price of one more processor, or of a node, for an hour, of what-ifs; 0: unknown.
	NodeCost float64
	// Said, if not nil, is called with a line for each algorithm that is through, and
	// then with the page's summary.
	Said func(line string)
}

// DefaultTimeLimit is the time limit of each algorithm if none is given.
const DefaultTimeLimit = 10 * time.Second

// solved is an instance with the runs of all algorithms and its bounds.
type solved struct {
	in     model.Instance
	runs   []Run
	bounds []bounds.Bound // weakest first
	others []bounds.Bound // of other figures than the objective
	cut    bool           // the context ended before all algorithms ran
}

func (s Solving) say(format string, args ...any) {
	if s.Said != nil {
		s.Said(fmt.Sprintf(format, args...))
	}
}

// best returns the best solution so far; nil: there is none.
func (x *solved) best() (best model.Solution) {
	sense, value := model.SenseOf(x.in), math.NaN()
	for k := range x.runs {
		r := &x.runs[k]
		if y := runs.Number(r.Objective); r.Solution != nil && (best == nil || sense.Better(y, value)) {
			best, value = r.Solution, y
		}
	}
	return best
}

// solve runs all heuristics, weakest first, and auto from the best that they found, since it approximates the best
// possible. Each has at most the time limit. It also computes the bounds that need no search. Algorithms that don't
// take the instance are left out. How a log's own scheduler ran the jobs comes first. A context that ends is no error: the results until then count.
func (s Solving) solve(ctx context.Context, in model.Instance, log *Log) (*solved, error) {
	if s.TimeLimit == 0 {
		s.TimeLimit = DefaultTimeLimit
	}
	c := gapwise.NewCase(in)
	if err := c.Validate(); err != nil {
		return nil, err
	}
	all := &solved{in: in}
	var names []string
	for _, a := range gapwise.Algorithms(in.Kind()) {
		if !a.Exact {
			names = append(names, a.Name)
		}
	}
	names = append(names, "auto")
	switch ran, err := s.ran(ctx, c, log); {
	case err != nil:
		return nil, err
	case ran != nil:
		metric := in.Metrics()[0]
		s.say("as it ran: %s, %s %s", ran.Algorithm, metric.Name, withUnit(runs.Number(ran.Objective), metric.Unit))
		all.runs = append(all.runs, *ran)
	}
	tried := 0
	for features := runs.FeatureValues(in); tried < len(names) && ctx.Err() == nil; tried++ {
		o := gapwise.Options{Algorithm: names[tried], Settings: model.Settings{Seed: s.Seed, TimeLimit: s.TimeLimit}}
		if o.Algorithm == "auto" {
			o.Start = all.best()
		}
		x, err := benchmarks.Solve(ctx, c, features, o)
		if err == nil && !errors.Is(x.Declined, model.ErrUnsupported) {
			err = x.Declined
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Algorithm, err)
		}
		if x.Declined != nil || slices.ContainsFunc(all.runs, func(r Run) bool { return r.Algorithm == x.Record.Algorithm }) {
			continue // auto has run the heuristics again
		}
		all.runs = append(all.runs, Run{Record: x.Record, Instance: in, Solution: x.Result.Solution})
		metric, what := in.Metrics()[0], "no solution"
		if x.Result.Solution != nil {
			what = metric.Name + " " + withUnit(x.Result.Objective, metric.Unit)
		}
		s.say("%d of %d: %s, %s, %s", tried+1, len(names), x.Record.Algorithm, what, words.Duration(x.Record.ElapsedS))
	}
	all.cut = tried < len(names)
	if err := ctx.Err(); err != nil && len(all.runs) == 0 {
		return nil, fmt.Errorf("report: stopped before an algorithm had ended: %w", err)
	}
	if len(all.runs) == 0 {
		return nil, fmt.Errorf("report: %w: no algorithm takes the instance %s", model.ErrUnsupported, in.ID())
	}
	limited, cancel := context.WithTimeout(ctx, s.TimeLimit)
	defer cancel()
	var err error
	if all.bounds, err = gapwise.Bounds(limited, in); err == nil {
		all.others, err = gapwise.OtherBounds(limited, in)
	}
	if err != nil && !errors.Is(err, model.ErrUnsupported) && limited.Err() == nil {
		return nil, err
	}
	return all, nil
}
