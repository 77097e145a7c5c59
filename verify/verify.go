// SPDX-License-Identifier: MIT

// Package verify is the independent judge. It recomputes everything about a
// solution from the instance, in exact arithmetic (every float64 is a rational
// number), and reports each violated constraint. It shares no code with any
// solver.
package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// Tolerance is the default tolerance. It is relative to the capacity of a constraint (that host's CPU or memory, a
// job's need, the smallest host's memory for a migration budget), or to the shortest of the durations that meet (see
// late). Times of reservations are compared exactly; there it bounds how far a start may be from a tick, relative to
// the shortest runtime (see bookingJudge).
const Tolerance = 1e-9

// Options configure a verification.
type Options struct {
	// Tolerance replaces the default, if not nil; 0 tolerates nothing.
	Tolerance *float64
	// Hash is model.Hash of the instance. Empty: it is computed if needed.
	Hash string
	// Valid means that the instance has passed Validate and hasn't changed since. Otherwise the judge calls Validate.
	Valid bool
}

// tolerance returns the tolerance of a problem's judge: judges of whole numbers tolerate nothing.
func (o Options) tolerance(kind model.Kind) (float64, error) {
	t := Tolerance
	if o.Tolerance != nil {
		t = *o.Tolerance
	}
	switch {
	case !(t >= 0 && t < 1):
		return 0, fmt.Errorf("verify: the tolerance is %v, must be from 0 to below 1", t)
	case kind == model.KindBatch || kind == model.KindConsolidation || kind == model.KindTVC:
		t = 0
	}
	return t, nil
}

// Violation is one constraint that a solution breaks.
type Violation struct {
	// Constraint is its name, the same in reports and in JSON: "host_memory",
	// "machine_overlap", "pe_count", "wrong_objective", ... The files of this package
	// list each problem's.
	Constraint string
	Where      string // the jobs, tasks, hosts involved
	// Amount is the excess over the allowed amount, in Unit; 0: it has no meaning.
	Amount float64
}

// Unit returns the unit of the amount: "s" for seconds, "" for a share (of a host, a duration or whatever Where names)
// and for an amount without meaning.
func (v Violation) Unit() string {
	if v.Amount == 0 {
		return ""
	}
	switch v.Constraint {
	case machineOverlap, transferPrecedence, taskPrecedence, invalidStart:
		return "s"
	}
	return ""
}

func (v Violation) String() string {
	if v.Amount == 0 {
		return fmt.Sprintf("%s: %s", v.Constraint, v.Where)
	}
	return strings.TrimSuffix(fmt.Sprintf("%s: %s, by %.6g %s", v.Constraint, v.Where, v.Amount, v.Unit()), " ")
}

// Constraints on a result of any problem.
const (
	wrongKind      = "wrong_kind"
	wrongInstance  = "wrong_instance"
	wrongObjective = "wrong_objective"
	wrongGap       = "wrong_gap"
	beatenBound    = "beaten_bound"
	wrongStatus    = "wrong_status"
	wrongDetails   = "wrong_details"
)

// Report is the judgement on a solution or a result.
type Report struct {
	Violations []Violation
	// None is the status of a result without a solution, else empty.
	None model.Status
	// Tolerance is the tolerance of the options, 0 if the problem's judge tolerates nothing.
	Tolerance float64
	// Objective and Second are computed from the decisions; NaN if the solution
	// doesn't fit the instance.
	Objective, Second float64
	// Checked and Trusted list, in words, the checked parts, and the parts that were not or can't be.
	Checked, Trusted []string
}

// Feasible reports whether nothing is violated.
func (r Report) Feasible() bool { return len(r.Violations) == 0 }

// Err returns nil for a feasible solution, otherwise an error of one line that
// wraps model.ErrInfeasible.
func (r Report) Err() error {
	switch n := len(r.Violations); n {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("verification failed: %w: %s", model.ErrInfeasible, r.Violations[0])
	default:
		return fmt.Errorf("verification failed: %w: %s (and %d more)", model.ErrInfeasible, r.Violations[0], n-1)
	}
}

// String returns the report in words, with a line for each violation.
func (r Report) String() string {
	var b strings.Builder
	tolerance := "no tolerance"
	if r.Tolerance > 0 {
		tolerance = fmt.Sprintf("tolerance %g", r.Tolerance)
	}
	switch {
	case r.Feasible() && r.None != "":
		fmt.Fprintf(&b, "%s, no solution to judge\n", r.None)
	case r.Feasible():
		fmt.Fprintf(&b, "feasible, %s, objective %.9g, second objective %.9g\n", tolerance, r.Objective, r.Second)
	default:
		s := "s"
		if len(r.Violations) == 1 {
			s = ""
		}
		fmt.Fprintf(&b, "not feasible, %s, %d violation%s\n", tolerance, len(r.Violations), s)
	}
	for _, v := range r.Violations {
		fmt.Fprintln(&b, v)
	}
	for _, l := range []struct {
		name string
		what []string
	}{{"checked", r.Checked}, {"on trust", r.Trusted}} {
		line := l.name + ": "
		for k, what := range l.what { // in lines that a terminal holds
			if k > 0 {
				if line += ","; len(line)+1+len(what) > 78 {
					fmt.Fprintln(&b, line)
					line = " "
				}
				line += " "
			}
			line += what
		}
		if len(l.what) > 0 {
			fmt.Fprintln(&b, line)
		}
	}
	return b.String()
}

func (r *Report) add(constraint string, amount float64, where string, args ...any) {
	r.Violations = append(r.Violations, Violation{constraint, fmt.Sprintf(where, args...), amount})
}

// Verify judges a solution. The report holds the errors in the solution; errors are for a missing solution, an invalid
// instance, invalid options, and an instance without a judge. If the context ends, the error wraps ctx.Err() and the
// report is empty.
func Verify(ctx context.Context, in model.Instance, s model.Solution, o Options) (Report, error) {
	r, err := judge(ctx, in, s, o)
	if ctx.Err() != nil {
		return Report{}, fmt.Errorf("verify: stopped before the judgement: %w", ctx.Err())
	}
	return r, err
}

// judge is Verify, except that its report is meaningless once the context has
// ended: each long loop checks the context and ends.
func judge(ctx context.Context, in model.Instance, s model.Solution, o Options) (Report, error) {
	if missing(in) {
		return Report{}, errors.New("verify: there is no instance")
	}
	tol, err := o.tolerance(in.Kind())
	if err != nil {
		return Report{}, err
	}
	r := Report{Tolerance: tol, Objective: math.NaN(), Second: math.NaN(), Checked: []string{"each constraint on the solution"}}
	if s == nil {
		return r, errors.New("verify: there is no solution")
	}
	if !o.Valid { // exact panics for figures that aren't finite
		if err := unlessDone(ctx, in.Validate); err != nil {
			return r, fmt.Errorf("verify: %w", err)
		}
	}
	judge, ok := judges[in.Kind()]
	if !ok || !judge(ctx, in, s, &r) {
		return r, fmt.Errorf("verify: no judge for the %T of kind %q", in, in.Kind())
	}
	return r, nil
}

// missing reports whether an instance is nil, or a nil pointer.
func missing(in model.Instance) bool {
	if in == nil {
		return true
	}
	v := reflect.ValueOf(in)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// judges holds the judge of each problem.
var judges = map[model.Kind]func(context.Context, model.Instance, model.Solution, *Report) bool{
	model.KindBatch:         judgeFor(batch),
	model.KindConsolidation: judgeFor(consolidation),
	model.KindDAG:           judgeFor(dag),
	model.KindReservation:   judgeFor(reservation),
	model.KindTVC:           judgeFor(tvc),
	model.KindVCSched:       judgeFor(vcsched),
}

// judgeFor adapts the judge of one problem. The adapted judge reports a solution
// of another problem and returns false for an instance of another problem.
func judgeFor[I model.Instance, S interface {
	comparable
	model.Solution
}](judge func(context.Context, I, S, *Report)) func(context.Context, model.Instance, model.Solution, *Report) bool {
	return func(ctx context.Context, in model.Instance, s model.Solution, r *Report) bool {
		var none S
		typed, ok := in.(I)
		if !ok {
			return false
		}
		if solution, ok := s.(S); ok && solution != none {
			judge(ctx, typed, solution, r)
		} else {
			r.add(wrongKind, 0, "a %s solution for a %s instance", s.Kind(), in.Kind())
		}
		return true
	}
}

// Result judges a whole result: whether it belongs to the instance, its solution is feasible, and its figures agree
// with each other. Its errors are as for Verify.
func Result(ctx context.Context, in model.Instance, res model.Result, o Options) (Report, error) {
	return NewJudge(in).Result(ctx, res, o)
}

// Result is the function Result on the judge's instance.
func (j *Judge) Result(ctx context.Context, res model.Result, o Options) (Report, error) {
	in := j.in
	if missing(in) {
		return Report{}, errors.New("verify: there is no instance")
	}
	tol, err := o.tolerance(in.Kind())
	if err != nil {
		return Report{}, err
	}
	r := Report{Tolerance: tol, Objective: math.NaN(), Second: math.NaN()}
	check := func(what string) { r.Checked = append(r.Checked, what) }
	trust := func(what string, there bool) {
		if there {
			r.Trusted = append(r.Trusted, what)
		}
	}
	if res.Solution == nil {
		r.None = res.Status
	} else if r, err = Verify(ctx, in, res.Solution, o); err != nil {
		return r, err
	}
	trust("that it is of this instance, for it has no hash", res.InstanceHash == "")
	hash := o.Hash
	if res.InstanceHash != "" {
		check("the instance's hash")
		if hash == "" {
			err := unlessDone(ctx, func() error {
				h, err := model.Hash(in)
				if err == nil && ctx.Err() == nil {
					hash = h
				}
				return err
			})
			if err != nil {
				return r, fmt.Errorf("verify: %w", err)
			}
		}
	}
	if res.Instance != "" {
		check("the instance's name")
	}
	if res.Instance != "" && res.Instance != in.ID() {
		r.add(wrongInstance, 0, "the result is of the instance %q, this one is %q", res.Instance, in.ID())
	}
	if res.Kind != "" && res.Kind != in.Kind() {
		r.add(wrongKind, 0, "a %s result for a %s instance", res.Kind, in.Kind())
	}
	if res.InstanceHash != "" && res.InstanceHash != hash {
		r.add(wrongInstance, 0, "the result is of the instance %q with the hash %s, this one has %s", res.Instance, res.InstanceHash, hash)
	}
	trusted := len(r.Trusted)
	if err := j.checkEvidence(ctx, &res, &r); err != nil {
		return r, err
	}
	trust(wordOf(&res), len(r.Trusted) > trusted && wordOf(&res) != "")
	trust("the reason", res.Reason != "")
	if d, ok := res.Details.(*model.TVCDetails); ok && d.NeverFit != 0 {
		if v, ok := in.(*model.TVC); ok {
			check("how many requests never fit")
			if n := neverFit(ctx, v); n != d.NeverFit && ctx.Err() == nil {
				r.add(wrongDetails, 0, "%d requests never fit, stated are %d", n, d.NeverFit)
			}
		}
	}
	if d, ok := res.Details.(*model.TVCDetails); ok && d.Preempted != nil {
		if n, ok := suspensions(in, res.Solution); ok && n > *d.Preempted {
			r.add(wrongDetails, 0, "requests are suspended %d times, stated are %d preemptions", n, *d.Preempted)
		}
	}
	if res.Details != nil {
		r.Trusted = append(r.Trusted, res.Details.Claims()...)
	}
	r.Trusted = append(r.Trusted, "algorithm, seed, time, nodes and version")
	if res.Solution == nil {
		if res.Status == model.StatusOptimal || res.Status == model.StatusFeasible {
			r.add(wrongStatus, 0, "status %q without a solution", res.Status)
		}
		return r, nil
	}
	if res.Status == model.StatusInfeasible || res.Status == model.StatusUnknown {
		r.add(wrongStatus, 0, "status %q with a solution", res.Status)
	}
	differs := func(a, b float64) bool {
		return !(math.Abs(a-b) <= 1e-9*max(1e-300, math.Abs(a), math.Abs(b)))
	}
	if !math.IsNaN(r.Objective) {
		check("both objectives")
		if differs(res.Objective, r.Objective) {
			r.add(wrongObjective, math.Abs(res.Objective-r.Objective), "the objective is %.12g, stated is %.12g", r.Objective, res.Objective)
		}
		if differs(res.SecondObjective, r.Second) {
			r.add(wrongObjective, math.Abs(res.SecondObjective-r.Second), "the second objective is %.12g, stated is %.12g", r.Second, res.SecondObjective)
		}
		if model.SenseOf(in).Better(r.Objective, res.Bound) && differs(r.Objective, res.Bound) {
			r.add(beatenBound, math.Abs(r.Objective-res.Bound), "the objective %.12g beats the bound %.12g", r.Objective, res.Bound)
		}
	}
	check("that the objective isn't better than the bound")
	check("the gap's arithmetic")
	gap := model.Gap(res.Objective, res.Bound)
	// A file holds null for an unknown gap and for an infinite one (objective 0,
	// another bound).
	if finite(gap) != finite(res.Gap) || finite(gap) && math.Abs(gap-res.Gap) > 1e-9*max(1, gap) {
		by := math.Abs(gap - res.Gap)
		if !finite(by) {
			by = 0
		}
		r.add(wrongGap, by, "objective %.12g and bound %.12g make the gap %.6g, stated is %.6g", res.Objective, res.Bound, gap, res.Gap)
	}
	if res.Status == model.StatusOptimal {
		check("that the gap is small enough for the status")
		limit := model.DefaultGap
		if l := res.GapLimit; l != 0 {
			if limit = l; !(l > 0 && l < 1) {
				r.add(wrongStatus, 0, "the gap limit is %v, must be above 0 and below 1", l)
			}
		}
		switch {
		case math.IsNaN(gap):
			r.add(wrongStatus, 0, "status %q without a bound", res.Status)
		case !(gap <= limit*(1+1e-9)), gap <= limit && !in.Metrics()[0].Closed(res.Objective, res.Bound, limit):
			r.add(wrongStatus, 0, "status %q with a gap of %.6g, the limit is %.6g", res.Status, gap, limit)
		}
	}
	return r, nil
}

// exact returns a float64 as a fraction. x must be finite.
func exact(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
