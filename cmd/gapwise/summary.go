// SPDX-License-Identifier: MIT

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/explain"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// summary prints an instance's results: a headline, a table, and in words the best and its proof.
func summary(ctx context.Context, w io.Writer, in model.Instance, results []model.Result) error {
	name := in.ID()
	if name == "" {
		name = "(no name)"
	}
	first, second := in.Metrics()[0], in.Metrics()[1]
	say := func(format string, args ...any) { fmt.Fprintln(w, words.Wrap(fmt.Sprintf(format, args...), 80, 2)) }
	fmt.Fprintln(w)
	say("%s %s, %s the %s%s", in.Kind(), name, first.Sense, first.Name, headline(in))
	for _, line := range model.AccountOf(in).Lines() {
		say("%s", line)
	}
	class := func(r model.Result) model.Class { return gapwise.ClassOf(in.Kind(), r.Algorithm) }
	results = slices.Clone(results)
	slices.SortStableFunc(results, func(a, b model.Result) int {
		return cmp.Compare(slices.Index(model.Classes(), class(a)), slices.Index(model.Classes(), class(b)))
	})
	t := runs.Table{Header: []string{"algorithm", "status", "objective", "bound", "gap", "time"}}
	var objectives, bounds []float64
	for _, r := range results {
		objectives, bounds = append(objectives, r.Objective), append(bounds, r.Bound)
	}
	objective, bound := runs.Timed(first, objectives, figure), runs.Timed(first, bounds, figure)
	for _, r := range results {
		t.Groups = append(t.Groups, runs.GroupOf(class(r)))
		t.Rows = append(t.Rows, []string{r.Algorithm, string(r.Status), objective(r.Objective), bound(r.Bound), percent(r.Gap), duration(r.Elapsed)})
	}
	if err := t.Render(w, "text"); err != nil {
		return err
	}
	// The best of the comparable results: of the policies if there are any, and then also the best that saw the
	// whole instance.
	best, other, verified, solutions := -1, -1, 0, 0
	for i, r := range results {
		if r.Solution == nil {
			continue
		}
		if !r.Unverified {
			verified++
		}
		solutions++
		at := &best
		if best >= 0 && class(results[best]) == model.Online && class(r) != model.Online {
			at = &other
		}
		if *at < 0 || first.Sense.Better(r.Objective, results[*at].Objective) {
			*at = i
		}
	}
	infeasible := tellingProof(results)
	switch {
	case best >= 0:
		r := results[best]
		if other < 0 {
			say("best: %s, %s", measured(first, r.Objective), measured(second, r.SecondObjective))
		} else {
			o := results[other]
			say("best policy: %s, %s, %s", r.Algorithm, measured(first, r.Objective), measured(second, r.SecondObjective))
			say("best of those that see the whole instance: %s, %s, %s", o.Algorithm, measured(first, o.Objective), measured(second, o.SecondObjective))
		}
		if ctx.Err() != nil { // a user who interrupts is in a hurry
		} else if half, secondHalf, err := runs.Halves(in, r.Solution); err != nil {
			return err
		} else if !math.IsNaN(half) {
			say("95 %% confidence intervals by %d batch means: ± %s, ± %.3g", runs.Batches, strings.TrimSpace(fmt.Sprintf("%.3g %s", half, first.Unit)), secondHalf)
		}
		for _, r := range results {
			switch r.SolutionOf {
			case "":
			case "start":
				say("%s has the start's solution: it found none better", r.Algorithm)
			default:
				if r.Algorithm == "auto" {
					if r.BoundOf == "" || r.BoundOf == r.SolutionOf {
						say("auto's solution is of %s", r.SolutionOf)
						break
					}
					how := "bound"
					if r.Status == model.StatusOptimal {
						how = "proof"
					}
					say("auto's solution is of %s, its %s of %s", r.SolutionOf, how, r.BoundOf)
					break
				}
				say("%s has the solution of %s, which ran first: it found none better", r.Algorithm, r.SolutionOf)
			}
		}
		if w, ok := explain.WaitsOf(in, r.Objective, r.Bound); ok && other < 0 {
			say("%s", w)
		}
		details(say, r)
		if left := runs.Left(in, r.Solution); left != "" && ctx.Err() == nil {
			say("%s", left)
		}
		fmt.Fprintf(w, "verified: %d of %d solutions\n", verified, solutions)
		if verified < solutions {
			say("not verified: interrupted while the judge was at work; gapwise verify judges what -o wrote")
		}
		if r.Reason != "" {
			say("%s", r.Reason)
		}
		unsolved(say, results)
	case infeasible != nil:
		say("infeasible: %s", infeasible.Reason)
		details(say, *infeasible)
	default:
		unsolved(say, results)
	}
	return nil
}

// unsolved explains why results have no solution.
func unsolved(say func(string, ...any), results []model.Result) {
	for _, r := range results {
		if r.Solution == nil && r.Reason != "" {
			say("%s: %s", r.Algorithm, r.Reason)
			details(say, r)
		}
	}
}

// details prints the lines that an algorithm's details have.
func details(say func(string, ...any), r model.Result) {
	if r.Details != nil {
		for _, line := range r.Details.Lines(r) {
			say("%s", line)
		}
	}
}

// measured returns a value with its measure: "makespan 23 s", a long time also in hours or days.
func measured(m model.Metric, value float64) string {
	text := strings.TrimSpace(fmt.Sprintf("%s %s %s", m.Name, figure(value), m.Unit))
	if long := m.Long(value); long != "" {
		text += " (" + long + ")"
	}
	return text
}

// tellingProof returns the most informative proof of infeasibility: one with a conflict, else one that names the
// exceeded amount, else HiGHS's, which gives no reason.
func tellingProof(results []model.Result) *model.Result {
	var best *model.Result
	most := -1
	for i := range results {
		r := &results[i]
		if r.Status != model.StatusInfeasible || r.Reason == "" {
			continue
		}
		says := 1
		switch {
		case r.Details != nil:
			says = 2
		case strings.HasPrefix(r.Algorithm, "highs"):
			says = 0
		}
		if says > most {
			best, most = r, says
		}
	}
	return best
}
