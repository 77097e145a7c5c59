// Package model says what an instance of each problem is, what a solution is,
// and the words in which every solver reports: objective, bound, gap, status,
// result. It holds data and arithmetic only and imports nothing else of
// gapwise, so every other package can stand on it.
//
// Own file format: one JSON object, "kind" first, snake_case keys, units in
// the key, unknown keys refused, a version number. DecodeInstance,
// DecodeSolution and DecodeResult read it; json.Marshal writes it.
package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Kind names a problem; the kinds are declared beside their instances.
type Kind string

// Errors that callers may test for with errors.Is.
var (
	// ErrInvalid marks an instance or a solution that breaks its format's rules.
	ErrInvalid = errors.New("invalid")
	// ErrInfeasible marks a solution whose decisions don't form a feasible
	// solution, or an instance for which a solver has proved that none exists.
	ErrInfeasible = errors.New("infeasible")
	// ErrNoSolution is what an algorithm returns that ended without a
	// solution and without a proof that there is none.
	ErrNoSolution = errors.New("no solution found")
	// ErrUnsupported marks an instance with a feature that a solver doesn't know.
	ErrUnsupported = errors.New("unsupported")
)

// ElementError is a rule that an instance breaks at one element of one of its
// lists (or elsewhere: then List is empty). It wraps ErrInvalid.
type ElementError struct {
	Kind   Kind
	List   string // key of the list, with the keys on the way: "network.links"
	Index  int    // of the element
	Line   int    // of the file, 0 if there is none
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

// Unwrap is ErrInvalid.
func (*ElementError) Unwrap() error { return ErrInvalid }

// Instance is everything that a solver may know about one problem, as data.
type Instance interface {
	Kind() Kind
	// ID is the instance's name, for reports; it may be empty.
	ID() string
	// Validate reports the first rule that the instance breaks, as an error
	// that wraps ErrInvalid.
	Validate() error
	// Objective computes a solution's value from its decisions alone. It
	// errs if the solution is not one of this instance; it doesn't check
	// every constraint: package verify does.
	Objective(Solution) (Objective, error)
	// Metrics describes the figures of Objective: first the one that is
	// optimised, then the one that breaks ties, then the others. They belong
	// to the instance and not to its kind: what a Reservation counts depends
	// on its goal.
	Metrics() []Metric
}

// Solution is a set of decisions, with no derived figures.
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

// String is "maximise" or "minimise".
func (s Sense) String() string {
	if s == Minimise {
		return "minimise"
	}
	return "maximise"
}

// Objective is the value of a solution. Ties in Value are broken by Second,
// the problem's stated second objective, which improves in SecondSense.
type Objective struct {
	Value       float64
	Second      float64
	Sense       Sense
	SecondSense Sense
	// Others holds the instance's further metrics; NaN without a value.
	Others []float64
}

// Better reports whether o is strictly better than p: by Value, then by Second.
func (o Objective) Better(p Objective) bool {
	if o.Value != p.Value {
		return o.Sense.Better(o.Value, p.Value)
	}
	return o.SecondSense.Better(o.Second, p.Second)
}

// Gap is |objective - bound| / |objective|, as HiGHS defines it: 0 when both
// are 0, +Inf when only the objective is 0, NaN (unknown) when either is NaN
// or the bound is infinite. It is never negative: whether the objective
// beats its bound, which would be a defect, is for the caller to look at.
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

// DefaultGap is the relative gap up to which a solution counts as optimal
// unless Settings ask for another.
const DefaultGap = 1e-6

// Status is what is proved about a result.
type Status string

// The statuses. Optimal and infeasible are proofs; "the solver returned" is not.
const (
	StatusOptimal    Status = "optimal"    // a solution, and a bound within the gap asked for
	StatusFeasible   Status = "feasible"   // a solution
	StatusInfeasible Status = "infeasible" // proved: there is no solution
	StatusUnknown    Status = "unknown"    // neither a solution nor a proof that there is none
)

// Valid reports whether s is one of the four statuses.
func (s Status) Valid() bool {
	switch s {
	case StatusOptimal, StatusFeasible, StatusInfeasible, StatusUnknown:
		return true
	}
	return false
}

// Settings are what every solver takes.
type Settings struct {
	// Seed is the only source of randomness. The same instance, seed and
	// options give the same solution whatever Threads is.
	Seed uint64
	// TimeLimit stops the solver; 0 means none. Time decides nothing but
	// stopping.
	TimeLimit time.Duration
	// Threads is the number of workers; 0 means 1.
	Threads int
	// Gap is the relative gap at which a solution counts as optimal; 0
	// means DefaultGap.
	Gap float64
	// Parameters are for the algorithms of one problem; nil means their
	// defaults. Those of another problem's are ignored.
	Parameters Parameters
	// Start is a feasible solution to start from, or nil.
	Start Solution
	// Progress, if not nil, is called now and then, from one goroutine at a time.
	Progress func(Progress)
}

// GapLimit is Gap or its default.
func (s Settings) GapLimit() float64 {
	if s.Gap > 0 {
		return s.Gap
	}
	return DefaultGap
}

// Workers is Threads, at least 1.
func (s Settings) Workers() int { return max(1, s.Threads) }

// WithTimeLimit returns a context that ends with the time limit, too.
func (s Settings) WithTimeLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.TimeLimit > 0 {
		return context.WithTimeout(ctx, s.TimeLimit)
	}
	return context.WithCancel(ctx)
}

// Progress is a solver's report on the way. Incumbent and Bound are NaN while
// there is none.
type Progress struct {
	Algorithm string
	Incumbent float64
	Bound     float64
	Nodes     int64
	Elapsed   time.Duration
}

// Solver is a heuristic, an exact engine or a user's own program.
type Solver interface {
	Name() string
	// Solve returns the best that it found. A context that ends or a time
	// limit isn't an error: the result then carries what was found and
	// proved by then. Errors are for instances that the solver can't take
	// (ErrInvalid, ErrUnsupported) and for its own failures.
	Solve(context.Context, Instance, Settings) (Result, error)
}

// Result is what a solver hands back. A zero Result means nothing: use
// NewResult. Objective, Bound and Gap are NaN while unknown.
type Result struct {
	Instance        string // the instance's name
	InstanceHash    string // "sha256:" and 64 hex digits, see Hash
	Kind            Kind
	Algorithm       string
	Status          Status
	Objective       float64
	SecondObjective float64
	Bound           float64
	Gap             float64
	// GapLimit is the gap up to which the status is optimal; 0 for DefaultGap.
	GapLimit float64
	Elapsed  time.Duration
	Nodes    int64
	Seed     uint64
	Version  string
	Solution Solution // nil without one
	// Unverified says that the judge was interrupted: nobody vouches for the
	// solution, and the status is feasible at most.
	Unverified bool
	// Reason says in a few words why a run without a proof stopped, or how
	// infeasibility was proved; it may be empty.
	Reason string
	// Details is what the problem's solvers tell besides; nil for nothing.
	Details Details
}

// NewResult is a result that knows nothing yet.
func NewResult(algorithm string, seed uint64) Result {
	nan := math.NaN()
	return Result{Algorithm: algorithm, Seed: seed, Status: StatusUnknown,
		Objective: nan, SecondObjective: nan, Bound: nan, Gap: nan}
}

// SetSolution stores a solution and its objective, computed from its
// decisions, and sets the status to feasible.
func (r *Result) SetSolution(in Instance, s Solution) error {
	o, err := in.Objective(s)
	if err != nil {
		return fmt.Errorf("%s: objective: %w", r.Algorithm, err)
	}
	r.Solution, r.Objective, r.SecondObjective, r.Status = s, o.Value, o.Second, StatusFeasible
	return nil
}

// SetBound stores a bound that is proved to hold, unless a better one is
// there already, and brings gap and status up to date: optimal if the gap is
// at most gapLimit.
func (r *Result) SetBound(sense Sense, bound, gapLimit float64) {
	if math.IsNaN(bound) {
		return
	}
	if math.IsNaN(r.Bound) || sense.Better(r.Bound, bound) {
		r.Bound = bound
	}
	r.Gap = Gap(r.Objective, r.Bound)
	if r.GapLimit = 0; gapLimit != DefaultGap {
		r.GapLimit = gapLimit
	}
	if r.Solution != nil && (r.Status == StatusFeasible || r.Status == StatusOptimal) {
		r.Status = StatusFeasible
		if r.Gap <= gapLimit {
			r.Status = StatusOptimal
		}
	}
}
