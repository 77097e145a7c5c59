// SPDX-License-Identifier: MIT

package gapwise

import (
	"fmt"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// Join gives each result of one instance the best bound among their proofs, and updates its gap and status. A
// heuristic's solution that meets the bound of a search becomes optimal.
//
// The error is a *DefectError if two results contradict each other. An
// Unverified result, which the judge hasn't checked to the end, gives no bound
// and gets none.
func Join(in model.Instance, results []model.Result, gapLimit float64) error {
	for i := range results {
		for j := range i {
			if !results[i].Unverified && !results[j].Unverified {
				if err := contradiction(in, results[j], results[i]); err != nil {
					return err
				}
			}
		}
	}
	for i := range results {
		r := &results[i]
		if r.Unverified || r.Status == model.StatusInfeasible {
			continue
		}
		for _, other := range results {
			if !other.Unverified && other.Status != model.StatusInfeasible {
				r.SetBound(in.Metrics()[0], other.Bound, gapLimit)
				if r.Evidence == nil && r.Bound == other.Bound {
					r.Evidence = other.Evidence
				}
			}
		}
		if r.Status == model.StatusOptimal {
			r.Reason = "" // one was stopped, but together they prove it
		}
	}
	return nil
}

// contradiction returns an error if two results of an instance can't both be
// right: one proves that there is no solution, or none better than a bound, and
// the other has such a solution. An objective within a relative 1e-9 of a bound
// meets it.
func contradiction(in model.Instance, a, b model.Result) error {
	disagree := func(format string, args ...any) error {
		return &DefectError{Instance: in, Result: b, Reason: fmt.Sprintf("%s and %s disagree: ", a.Algorithm, b.Algorithm) + fmt.Sprintf(format, args...)}
	}
	for _, p := range [][2]model.Result{{a, b}, {b, a}} {
		x, y := p[0], p[1]
		switch {
		case y.Solution == nil:
		case x.Status == model.StatusInfeasible:
			return disagree("%s says infeasible, %s has a solution", x.Algorithm, y.Algorithm)
		case model.SenseOf(in).Better(y.Objective, x.Bound) && model.Gap(y.Objective, x.Bound) > 1e-9:
			return disagree("the objective %.12g of %s beats the bound %.12g of %s", y.Objective, y.Algorithm, x.Bound, x.Algorithm)
		}
	}
	return nil
}

// joint parts the names of engines in the algorithm of a result that reconcile joined.
const joint = "+"

// joined returns the names that reconcile joined. A command, which may hold a joint, is the last one.
func joined(algorithm string) (names []string) {
	for {
		name, rest, more := strings.Cut(algorithm, joint)
		if !more || strings.Contains(name, ":") {
			return append(names, algorithm)
		}
		names, algorithm = append(names, name), rest
	}
}

// reconcile compares the proofs of two engines and returns the better solution with the better bound.
func reconcile(in model.Instance, a, b model.Result, gap float64) (model.Result, error) {
	sense := model.SenseOf(in)
	if err := contradiction(in, a, b); err != nil {
		return b, err
	}
	if a.Status == model.StatusOptimal && b.Status == model.StatusOptimal && model.Gap(a.Objective, b.Objective) > 2*gap {
		return b, &DefectError{Instance: in, Result: b, Reason: fmt.Sprintf("%s and %s disagree: the optima are %.12g and %.12g", a.Algorithm, b.Algorithm, a.Objective, b.Objective)}
	}
	r := a
	if tellsMore(sense, b, a) {
		r = b
	}
	if r.Algorithm = a.Algorithm + joint + b.Algorithm; r.Details == nil {
		r.Details = b.Details
	}
	r.Elapsed, r.Nodes = a.Elapsed+b.Elapsed, a.Nodes+b.Nodes
	r.Evidence = nil // both describe their searches
	for _, x := range []model.Result{a, b} {
		r.SetBound(in.Metrics()[0], x.Bound, gap)
	}
	if r.Status == model.StatusOptimal {
		r.Reason = "" // one was stopped, but together they prove it
	}
	return r, nil
}

// tellsMore reports whether result a has a better solution than b, or a
// solution or proof where b has none.
func tellsMore(sense model.Sense, a, b model.Result) bool {
	if b.Solution == nil && b.Status != model.StatusInfeasible {
		return a.Solution != nil || a.Status == model.StatusInfeasible
	}
	return a.Solution != nil && sense.Better(a.Objective, b.Objective)
}
