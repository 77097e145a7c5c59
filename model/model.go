// SPDX-License-Identifier: MIT

// Package model defines the instances and the solutions of each problem, and the reports of every solver: objective,
// bound, gap, status, result. It holds data and arithmetic only. It imports no package of gapwise but internal ones, so
// every other package can import it.
//
// The file format of gapwise is one JSON object: "kind" first, a version
// number, snake_case keys that name their unit; unknown keys are refused.
// DecodeInstance, DecodeSolution and DecodeResult read it; json.Marshal writes
// it.
package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// Kind names a problem; the kinds are declared with their instances.
type Kind string

// Errors that callers may test for with errors.Is.
var (
	// ErrInvalid marks an instance or a solution that breaks its format's rules.
	ErrInvalid = errors.New("invalid")
	// ErrInfeasible marks a solution that isn't feasible, or an instance that a solver has proved to have no solution.
	ErrInfeasible = errors.New("infeasible")
	// ErrNoSolution is returned by an algorithm that ended without a solution
	// and without a proof that there is none.
	ErrNoSolution = errors.New("no solution found")
	// ErrUnsupported marks an instance with a feature that a solver lacks.
	ErrUnsupported = errors.New("unsupported")
)

// ElementError reports a rule that an instance breaks, and the element of a
// list at which it does. It wraps ErrInvalid.
type ElementError struct {
	Kind   Kind
	List   string // path of the list's key: "network.links"; empty: no list
	Index  int    // of the element, from 0
	Line   int    // of the file, from 1; 0: not read from a file
	Reason string
}

func (e *ElementError) Error() string {
	at := ""
	if e.Line > 0 {
		at = fmt.Sprintf("line %d: ", e.Line)
	}
	if e.List != "" {
		at += fmt.Sprintf("%s[%d]: ", e.List, e.Index)
	}
	return fmt.Sprintf("%v %s instance: %s%s", ErrInvalid, e.Kind, at, e.Reason)
}

// Unwrap returns ErrInvalid.
func (*ElementError) Unwrap() error { return ErrInvalid }

// Instance holds the data of one instance of a problem.
type Instance interface {
	Kind() Kind
	// ID returns the instance's name, for reports. It may be empty.
	ID() string
	// Validate reports the first rule that the instance breaks, as an error
	// that wraps ErrInvalid.
	Validate() error
	// Objective computes a solution's value from its decisions alone. The
	// instance must be valid. The error wraps ErrInvalid if the solution belongs to another problem or doesn't fit the
	// instance (unknown, missing or repeated ids, other numbers of elements). Constraints aren't checked: package
	// verify does that.
	Objective(Solution) (Objective, error)
	// Metrics describes the figures of Objective: the one that is optimised,
	// the one that breaks ties, then the others. They depend on the instance: a Reservation's goal decides which figure
	// it maximises.
	Metrics() []Metric
}

// Solution holds the decisions that solve an instance, no derived figures.
type Solution interface {
	Kind() Kind
}

// Sense is the direction in which an objective improves.
type Sense int

// The two senses.
const (
	Maximise Sense = 1
	Minimise Sense = -1
)

// Better reports whether a is strictly better than b.
func (s Sense) Better(a, b float64) bool {
	if s == Minimise {
		return a < b
	}
	return a > b
}

// String returns "maximise" or "minimise".
func (s Sense) String() string {
	if s == Minimise {
		return "minimise"
	}
	return "maximise"
}

// Objective is the value of a solution. Second breaks ties in Value. Instance.Metrics states the units.
type Objective struct {
	Value       float64
	Second      float64
	Sense       Sense // in which Value improves
	SecondSense Sense // in which Second improves
	// Others holds the values of Instance.Metrics()[2:]; NaN: none.
	Others []float64
}

// Better reports whether o is strictly better than p: by Value, then by Second.
func (o Objective) Better(p Objective) bool {
	if o.Value != p.Value {
		return o.Sense.Better(o.Value, p.Value)
	}
	return o.SecondSense.Better(o.Second, p.Second)
}

// Gap returns |objective - bound| / |objective|, as HiGHS defines it: 0 if both
// are 0, +Inf if only the objective is 0, NaN (unknown) if either is NaN or
// infinite. It is never negative: an objective that beats its bound, which is a
// defect, is for the caller to find.
func Gap(objective, bound float64) float64 {
	switch {
	case math.IsNaN(objective) || math.IsNaN(bound) || math.IsInf(bound, 0) || math.IsInf(objective, 0):
		return math.NaN()
	case objective == bound:
		return 0
	case objective == 0:
		return math.Inf(1)
	}
	return math.Abs(objective-bound) / math.Abs(objective)
}

// DefaultGap is the relative gap up to which a solution counts as optimal, unless Settings.Gap is set.
const DefaultGap = 1e-6

// Status is the proof state of a result.
type Status string

// The statuses. Optimal and infeasible are proofs.
const (
	StatusOptimal    Status = "optimal"    // a solution, and a bound within the gap limit
	StatusFeasible   Status = "feasible"   // a solution
	StatusInfeasible Status = "infeasible" // a proof that there is no solution
	StatusUnknown    Status = "unknown"    // neither
)

// Valid reports whether s is one of the four statuses.
func (s Status) Valid() bool {
	switch s {
	case StatusOptimal, StatusFeasible, StatusInfeasible, StatusUnknown:
		return true
	}
	return false
}

// Settings holds the settings that every solver receives with the instance.
type Settings struct {
	// Seed is the only source of randomness. The same instance and settings
	// give the same solution, on any machine, unless time ran out.
	Seed uint64
	// TimeLimit stops the solver; 0: no limit. Time decides nothing else.
	TimeLimit time.Duration
	// Effort, if not 0, stops the solver when it has counted so much work, in about
	// microseconds of a core: unlike a time limit in the same place on every machine.
	// Algorithms that count nothing work to their end.
	Effort int64
	// Threads is the number of workers; 0: 1. The proofs don't depend on it; which of several equally good solutions is
	// found may.
	Threads int
	// Gap is the relative gap up to which a solution counts as optimal; 0:
	// DefaultGap.
	Gap float64
	// Parameters are the parameters of one problem's algorithms; nil: their defaults. Those of another problem are
	// ignored.
	Parameters Parameters
	// Start is a solution to start from; nil: none. A solver makes a feasible one
	// no worse. gapwise.Solve takes a partial one, too: see gapwise.CompleteStart.
	Start Solution
	// Proof, if not nil, is where a Prover writes a proof of its bound.
	Proof *ProofWriter
	// Progress, if not nil, is called from time to time, never by two
	// goroutines at once. The solver waits until it returns. gapwise.Solve reports each solution with its objective:
	// better ones than before, and at last the one that it returns.
	Progress func(Progress)
	// Others, if not nil, means that the solver works with others on one instance. It returns the joint knowledge: the
	// best solution, nil without one, with its objective (Incumbent), and the best bound. A solver that can goes on
	// from there, and needn't run heuristics that Start comes from. Its result depends on the counted work (Solve is
	// then called in a meter.Seat), not on time.
	Others func() Progress
	// Trace, if not nil, is called for each step by an algorithm that declares itself Traced. It changes no solution.
	Trace func(Step)
	// AnswerLimit is how long an online policy that is another program has for an answer;
	// 0: a minute.
	AnswerLimit time.Duration
}

// ProofWriter takes the proof of a bound on an instance.
type ProofWriter struct {
	io.Writer
	Instance string // hash, see Hash
}

// Prover is a Solver that writes a proof if the settings ask for one.
type Prover interface {
	Solver
	// Proves reports whether it does.
	Proves() bool
}

// GapLimit returns Gap, or DefaultGap if it isn't set.
func (s Settings) GapLimit() float64 {
	if s.Gap > 0 {
		return s.Gap
	}
	return DefaultGap
}

// Workers returns Threads, at least 1.
func (s Settings) Workers() int { return max(1, s.Threads) }

// WithTimeLimit returns a context that ends when ctx does or when the time
// limit has passed.
func (s Settings) WithTimeLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.TimeLimit > 0 {
		return context.WithTimeout(ctx, s.TimeLimit)
	}
	return context.WithCancel(ctx)
}

// Progress reports the state of a solver that is still at work.
type Progress struct {
	Algorithm string
	Incumbent float64       // objective of the best solution so far; NaN: none
	Bound     float64       // proved bound on the objective; NaN: none
	Nodes     int64         // as in Result
	Elapsed   time.Duration // since the solver's start; 0: not reported
	// Solution is the incumbent if it is better than the last reported one, nil otherwise. It belongs to the receiver.
	// Incumbent may belong to a solution that isn't reported: HiGHS has it in its own terms until a solve ends.
	Solution Solution
	// Done means that the solver has ended: gapwise.Solve reports its result, which the judge has accepted. Solution is
	// nil then if it was reported before.
	Done bool
}

// Solver is a heuristic, an exact engine or a user's own program.
type Solver interface {
	// Name returns the algorithm's name, as in --algorithm.
	Name() string
	// Solve returns the best solution that it finds, with its proofs.
	//
	// The caller has validated the instance (gapwise.Solve does): Solve may
	// rely on every rule of Validate. It must not change the instance,
	// Settings.Start or Settings.Parameters, nor keep them after it returns.
	// One Solver value solves several instances at once (gapwise bench does so),
	// so Solve keeps no state in it.
	//
	// Solve returns soon (100 ms) after ctx ends or Settings.TimeLimit has passed, at any size of the instance. Steps
	// that take longer than linear time look at ctx, and a cheap solution is made first. Reaching either is no error:
	// the result holds the solution and the proofs so far. Nor is it an error to find no solution (StatusUnknown) or to
	// prove that there is none (StatusInfeasible). Errors are for an instance that the solver can't take (they wrap
	// ErrUnsupported or ErrInvalid) and for failures of the solver itself.
	//
	// Result.Bound is a proved bound or NaN. A heuristic leaves it NaN:
	// gapwise.Solve then adds the problem's quick bounds.
	Solve(context.Context, Instance, Settings) (Result, error)
}

// Result is the result of a solver. NewResult makes one; don't use the zero value. Objective, SecondObjective, Bound
// and Gap are NaN while unknown.
type Result struct {
	Instance        string // the instance's name
	InstanceHash    string // "sha256:" and 64 hex digits, see Hash
	Kind            Kind
	Algorithm       string
	Status          Status
	Objective       float64
	SecondObjective float64
	Bound           float64 // proved: no solution has a better objective
	Gap             float64 // see func Gap
	GapLimit        float64 // gap up to which the status is optimal; 0: DefaultGap
	Elapsed         time.Duration
	// Nodes counts the algorithm's expansions: nodes of a branch and bound (HiGHS's or our own), states of a search
	// over states, steps of a local search; 0 if nothing is counted. Nodes of two algorithms can't be compared.
	Nodes    int64
	Seed     uint64
	Version  string   // of gapwise
	Solution Solution // nil: none
	// Unverified reports that the judge was interrupted: the solution hasn't
	// been checked, and the status is feasible at most.
	Unverified bool
	// SolutionOf names the source of the solution if the algorithm found none better: "start", or the heuristic that
	// runs before it. Empty: the algorithm's.
	SolutionOf string
	// BoundOf names the algorithm, engine or bound that auto has its bound from; empty for other algorithms.
	BoundOf string
	// Reason states in a few words why a run without a proof stopped, or how infeasibility was proved. It may be empty.
	Reason string
	// Evidence shows how the bound, or that there is no solution, follows from the instance; nil: it isn't given.
	Evidence *Evidence
	// Account is the instance's: what the files said that it was made of; nil: it comes from none.
	Account *Account
	// Details holds the reports of only this problem's solvers; nil: none.
	Details Details
}

// NewResult returns a result of status unknown without any figure.
func NewResult(algorithm string, seed uint64) Result {
	nan := math.NaN()
	return Result{Algorithm: algorithm, Seed: seed, Status: StatusUnknown,
		Objective: nan, SecondObjective: nan, Bound: nan, Gap: nan}
}

// String returns a line: the kind, the instance, the algorithm, the status and the figures that are known.
func (r Result) String() string {
	var b strings.Builder
	if r.Kind != "" {
		fmt.Fprintf(&b, "%s %s ", r.Kind, r.Instance)
	}
	fmt.Fprintf(&b, "by %s: %s", r.Algorithm, r.Status)
	for _, f := range []struct {
		name  string
		value float64
	}{{"objective", r.Objective}, {"bound", r.Bound}, {"gap", math.Round(r.Gap*1e6) / 1e6}} {
		if !math.IsNaN(f.value) {
			fmt.Fprintf(&b, ", %s %.6g", f.name, f.value)
		}
	}
	return b.String()
}

// Value returns the objective of the solution, by the metrics of the instance.
func (r *Result) Value(m []Metric) Objective {
	return Objective{Value: r.Objective, Second: r.SecondObjective, Sense: m[0].Sense, SecondSense: m[1].Sense}
}

// SetSolution stores a solution, computes its objective and sets the status to
// feasible. The error is as for Instance.Objective.
func (r *Result) SetSolution(in Instance, s Solution) error {
	o, err := in.Objective(s)
	if err != nil {
		return fmt.Errorf("%s: objective: %w", r.Algorithm, err)
	}
	r.Solution, r.Objective, r.SecondObjective, r.Status = s, o.Value, o.Second, StatusFeasible
	return nil
}

// SetBound stores a proved bound, unless it has a better one, and updates gap
// and status: optimal if there is a solution and the gap is closed up to gapLimit. The objective belongs to the metric.
func (r *Result) SetBound(m Metric, bound, gapLimit float64) {
	if math.IsNaN(bound) {
		return
	}
	if math.IsNaN(r.Bound) || m.Sense.Better(r.Bound, bound) {
		r.Bound, r.Evidence = bound, nil
	}
	r.Gap = Gap(r.Objective, r.Bound)
	if r.GapLimit = 0; gapLimit != DefaultGap {
		r.GapLimit = gapLimit
	}
	if r.Solution != nil && (r.Status == StatusFeasible || r.Status == StatusOptimal) {
		r.Status = StatusFeasible
		if m.Closed(r.Objective, r.Bound, gapLimit) {
			r.Status = StatusOptimal
		}
	}
}
