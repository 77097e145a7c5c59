// SPDX-License-Identifier: MIT

package milp

import (
	"context"
	"math"
	"time"
)

// Backend is a solver of models. Package highs has one in this process; package
// external has others, which are programs.
type Backend struct {
	// Name is the engine's name, in lower case: "highs", "cbc".
	Name string
	// Title is the solver's name in sentences: "HiGHS".
	Title string
	// Missing, if not nil, returns an error that explains what to do if the solver isn't there; nil: it is.
	Missing func() error
	// CPUTime means that experiments use the time Result.CPU.
	CPUTime bool
	// Solve solves a model. It returns soon after ctx ends, with the knowledge so far. A status that isn't optimal is
	// no error; errors are for invalid models and options, and the solver's own failures.
	Solve func(context.Context, *Model, Options) (Result, error)
}

// Options of a solve. The zero value solves to optimality with one thread. A Backend ignores options that its solver
// lacks; Gap, Threads, Start and the callbacks don't change the meaning of a result.
type Options struct {
	TimeLimit time.Duration // 0: none
	Gap       float64       // relative MIP gap at which to stop; 0: proved to 1e-9
	NodeLimit int64         // nodes of branch and bound; 0: no limit
	Threads   int           // 0: 1
	Relax     bool          // ignore integrality
	// Tolerance replaces the solver's tolerances on feasibility, optimality and
	// integrality (of HiGHS 1e-7, 1e-7 and 1e-6, from 1e-10 on); 0 leaves them. A
	// model that HiGHS fails on is solved again with 1e-6.
	Tolerance float64
	// Start is a point to start a MIP from, one value for each variable.
	// HiGHS ignores an infeasible start without saying so.
	Start []float64
	// Log, if not nil, is called with each line of the solver's log, from the
	// goroutine of the solve.
	Log func(line string)
	// Progress, if not nil, is called about ten times a second while a MIP
	// is being solved, never after Solve has returned.
	Progress func(Progress)
	// Count, if not nil, receives the solver's work since the last call, from the goroutine of the solve. A unit takes
	// 40 µs for a model of some hundred rows and variables, and longer for larger ones. The solver waits until it
	// returns, and stops if it returns true. The calls are the same in each run with one thread, and then so is where
	// the solver stops. Progress is called before each of them and at no other time.
	Count func(work int64) (stop bool)
}

// Progress is the state of a MIP on the way, in the model's objective. Incumbent is
// NaN without a feasible point.
type Progress struct {
	Incumbent, Bound, Gap float64
	Nodes                 int64
	Elapsed               time.Duration
}

// Status is the reason why the solve ended (MathOptInterface's termination status). Result.Feasible states whether
// there is a point.
type Status int

// The termination statuses. Optimal, Infeasible, Unbounded and
// InfeasibleOrUnbounded are the solver's proofs in floating-point arithmetic.
const (
	Unknown Status = iota
	Optimal
	Infeasible
	Unbounded
	InfeasibleOrUnbounded
	TimeLimit
	Interrupted // ctx ended
	NodeLimit   // or another limit on the work
)

// String returns the status in words.
func (s Status) String() string {
	return [...]string{"unknown", "optimal", "infeasible", "unbounded", "infeasible or unbounded",
		"time limit", "interrupted", "node limit"}[s]
}

// Result is the result of a solve. Unknown parts are NaN or nil.
type Result struct {
	Status     Status
	Feasible   bool    // X is a feasible point, to within the solver's tolerance
	Objective  float64 // at X
	Bound      float64 // proved by the solver in floating-point arithmetic; widen it before calling it a bound
	Gap        float64 // relative, as the solver reports it
	Nodes      int64
	Iterations int64
	X          []float64 // one value for each variable
	// Duals and Reduced are the rows' dual values and the variables' reduced
	// costs of a linear program solved to optimality: for each variable,
	// Reduced[j] = cost[j] - sum over rows of Duals[i] coef[i][j]. Package
	// external leaves them nil.
	Duals, Reduced []float64
	// Ray has a multiplier for each row of a linear program that is infeasible: positive on the row's lower side,
	// negative on its upper. With y = Ray and d = A'y no x between its bounds has Σ y_i side_i <= d'x (Farkas), up to
	// the solver's rounding. Nil where the solver has none.
	Ray []float64
	// Tolerance is the feasibility tolerance that the solve ended with; it may
	// be larger than the one asked for, see Options.
	Tolerance float64
	Elapsed   time.Duration
	CPU       time.Duration // of a solver that is a process of its own; 0: not measured
}

// NoResult returns a result of status unknown without any figure, of a solver
// with the given tolerance.
func NoResult(tolerance float64) Result {
	nan := math.NaN()
	return Result{Objective: nan, Bound: nan, Gap: nan, Tolerance: tolerance}
}
