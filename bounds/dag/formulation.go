package dag

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// MaxTerms bounds the number of coefficients of a DAG formulation.
const MaxTerms = 2_000_000

// maxWhole is the longest horizon, in whole units, for which the makespan is
// an integer variable; big coefficients cost a solver digits.
const maxWhole = 10_000

// Build builds the formulation "ordering" of d under the ideal
// transfer model, for schedules that end by the horizon (seconds; the makespan
// of any schedule will do, a good one makes the model much smaller; +Inf: all
// tasks on the machine where that takes least). It minimises the makespan C:
//
//   - binary x puts a task on a machine, s is its start;
//   - z >= 0 is the product of the x of an edge's tasks, linearised in the
//     compact way of Mallach (Compact linearization for binary quadratic
//     problems subject to assignment constraints, 4OR 2018): summed over the
//     machines of one task it is the x of the other. It carries the
//     machine-dependent length of the transfer, and is only there where
//     there is one;
//   - binary y orders two tasks, unordered by the edges, on a machine that both
//     are on, and with it s waits: start times and ordering binaries are those
//     of Venugopalan and Sinnen (ILP formulations for optimal task scheduling
//     with communication delays on parallel systems, IEEE TPDS 2015), here for
//     each machine, since costs differ;
//   - heads and tails of each task on each machine, by dynamic programming over
//     the graph, bound s, keep tasks off machines and out of orders that the
//     horizon excludes, and make the least big coefficients;
//   - a task starts after all that the y and z put before it on its machine,
//     one after another, and as much follows it; a machine ends after its load.
//
// The first two are chosen since no product of two ordering variables is
// needed and costs may differ between machines; of the rows tried beside them
// the last ones pay (an eighth of the nodes at 16 tasks), transitivity of the
// orders, upper bounds on y by x, and loads with heads and tails do not.
//
// There are O(V² M + E M²) variables and terms; above MaxTerms the error is
// model.ErrUnsupported, as for another transfer model. It is model.ErrInfeasible
// if heads and tails alone prove that no schedule ends by the horizon.
//
// Encode moves the schedule to the left first: each task as early as the order
// of starts allows. It is nil if that ends after the horizon. Decode puts each
// task on the machine of its largest x, in the order of the binaries y and then
// of the starts s; the times of the point are not used. If every cost and every
// transfer takes a whole number of units of time, then so does the makespan of a
// schedule without needless idle time, and the makespan is an integer variable.
func Build(d *model.DAG, horizon float64) (*milp.Formulation[*model.Schedule], error) {
	if err := Check(d); err != nil {
		return nil, err
	}
	if !(horizon >= 0) {
		return nil, fmt.Errorf("formulation ordering: %w horizon %v, must be 0 or more", model.ErrInvalid, horizon)
	}
	g := d.Graph()
	b := newDAGBuild(d, g, horizon)
	if !b.windows() {
		return nil, fmt.Errorf("formulation ordering: %w: no schedule ends by %v; give a later horizon", model.ErrInfeasible, horizon)
	}
	b.variables()
	b.tasks()
	b.edges()
	b.pairs()
	b.loads()
	b.Decode = func(x []float64) (*model.Schedule, error) { return b.decode(d, x) }
	b.Encode = func(s *model.Schedule) []float64 { return b.encode(d, s) }
	b.Value = func(objective float64) float64 { return objective * b.unit }
	b.Limit = b.Vars[b.c].Lower
	// A binary y that is off by the tolerance lets a task start early by that
	// part of its big coefficient, at most twice the horizon.
	b.Sensitivity = 2 * float64(b.n) * b.horizon
	return &b.Formulation, nil
}

// Check is the model.ErrUnsupported that Build would
// return for a transfer model other than ideal or for too large an instance,
// before anything is built. O(1).
func Check(d *model.DAG) error {
	if t := d.Transfers(); t != model.TransferIdeal {
		return fmt.Errorf("formulation ordering: %w: it knows no contention, the instance's transfer model is %q; set it to %q, whose optimum is a bound",
			model.ErrUnsupported, t, model.TransferIdeal)
	}
	n, m, e := float64(len(d.Tasks)), float64(len(d.Machines)), float64(len(d.Edges))
	return bounds.CheckSize("ordering", "terms", int(min(5*n*n*m+4*e*m*m, math.MaxInt32)), MaxTerms)
}

// Relaxation is a lower bound on the makespan: the linear relaxation of
// Build for the horizon, or the horizon if that is lower, as longer
// schedules need no bound. It holds under every transfer model, since
// contention only delays. The value is computed from the dual solution in a
// way that holds whatever that is worth (Neumaier, Shcherbina: Safe bounds in
// linear and mixed-integer linear programming, 2004), less a margin for
// rounding, and is 0 or the bound by heads and tails if ctx ends.
func Relaxation(ctx context.Context, d *model.DAG, horizon float64) (float64, error) {
	ideal := *d
	ideal.TransferModel = model.TransferIdeal
	f, err := Build(&ideal, horizon)
	if errors.Is(err, model.ErrInfeasible) {
		return horizon, nil
	}
	if err != nil {
		return 0, err
	}
	r, err := highs.Solve(ctx, &f.Model, highs.Options{Relax: true})
	if err != nil {
		return 0, fmt.Errorf("bound: relaxation: %w", err)
	}
	bound := f.Limit
	if r.Status == highs.Optimal {
		bound = max(bound, bounds.SafeLower(&f.Model, r.Duals))
	}
	if f.Whole {
		bound = math.Ceil(bound - 1e-6)
	}
	return max(0, min(horizon, f.Value(bound)*(1-roundingMargin(f.Whole)))), nil
}

// roundingMargin is what a value loses for the rounding of the figures that it
// is computed from; whole units have none.
func roundingMargin(whole bool) float64 {
	if whole {
		return 0
	}
	return 1e-9
}
