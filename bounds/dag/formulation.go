// SPDX-License-Identifier: MIT

package dag

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/objective"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/duals"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// maxTerms is the largest number of coefficients of a formulation of Build.
const maxTerms = 2_000_000

// maxWhole is the longest horizon in units for which the makespan is an integer variable: large coefficients cost a
// solver digits.
const maxWhole = 10_000

// Build returns the formulation "ordering" of d under the ideal transfer model, for schedules that end by the horizon
// in seconds. The horizon is the makespan of any schedule (a good one gives a small model), or +Inf for the sum
// of all times of such as dagplay.OnMachine. It minimises the makespan C. For tasks i, j, machines a, b and edges (i, j):
//
//   - x_ia ∈ {0, 1}: task i is on machine a, if it can run there, Σ_a x_ia = 1; s_i is its start.
//   - z_ijab ≥ 0 is the product x_ia x_jb for an edge that takes time, linearised compactly (Mallach: Compact
//     linearization for binary quadratic problems subject to assignment constraints, 4OR 2018). Σ_b z_ijab = x_ia and
//     Σ_a z_ijab = x_jb. So s_j ≥ s_i + Σ_a cost_ia x_ia + Σ_ab length_ab z_ijab.
//   - y_ija ∈ {0, 1}: i is before j on machine a, for tasks that no path of edges orders: y_ija + y_jia ≥ x_ia + x_ja -
//     1, and s_j ≥ s_i + cost_ia if y_ija = 1, by a big coefficient. Starts and ordering binaries follow Venugopalan
//     and Sinnen (ILP formulations for optimal task scheduling with communication delays on parallel systems, IEEE TPDS
//     2015), here for each machine, since costs differ.
//   - Heads and tails of each task on each machine, by dynamic programming over the
//     graph, bound s, remove x and y that the horizon excludes, and make the big
//     coefficients as small as possible.
//   - s_i ≥ Σ cost of the tasks that y and z put before i on its machine; C ≥ s_i + Σ cost of i and of the tasks after
//     it; and C ≥ Σ_i cost_ia x_ia for each machine a.
//
// There is no product of two ordering variables, and costs may differ between machines. The last of the valid rows
// tried pay (an eighth of the nodes at 16 tasks); transitivity of the orders, y ≤ x, and loads with heads and tails
// don't.
//
// There are O(V² M + E M²) variables and terms; above maxTerms the error is
// model.ErrUnsupported, as for another transfer model. It is model.ErrInfeasible
// if heads and tails alone prove that no schedule ends by the horizon.
//
// Encode plays the schedule semi-actively first, each task as early as the order of starts allows, and returns nil if
// that ends after the horizon. Decode puts each task on the machine of its largest x, in the order of the binaries y
// and then of the starts s; it doesn't use the times of the point. If all times have a common unit (view.Graph.Unit),
// it is the model's unit, and C is an integer variable.
func Build(d *model.DAG, horizon float64) (*milp.Formulation[*model.Schedule], error) {
	b, err := build(d, horizon)
	if err != nil {
		return nil, err
	}
	return &b.Formulation, nil
}

// build is Build with the meaning of the rows and variables.
func build(d *model.DAG, horizon float64) (*dagBuild, error) {
	if err := Check(d); err != nil {
		return nil, err
	}
	if !(horizon >= 0) {
		return nil, fmt.Errorf("formulation ordering: %w horizon %v, must be 0 or more", model.ErrInvalid, horizon)
	}
	g := view.OfDAG(d)
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
	b.Scale = &objective.Scale{Factor: b.unit}
	b.Value = b.Scale.Value
	b.Limit = b.Vars[b.c].Lower
	return b, nil
}

// Check returns the model.ErrUnsupported that Build would return for a transfer
// model other than ideal, resources, or too large an instance, before anything is built.
// O(1).
func Check(d *model.DAG) error {
	if t := d.Transfers(); t != model.TransferIdeal {
		return fmt.Errorf("formulation ordering: %w: it knows no contention, the instance's transfer model is %q; set it to %q, whose optimum is a bound",
			model.ErrUnsupported, t, model.TransferIdeal)
	}
	if len(d.Resources) > 0 {
		return fmt.Errorf("formulation ordering: %w: it knows machines that run one task at a time, the instance names resources; leave them out",
			model.ErrUnsupported)
	}
	n, m, e := float64(len(d.Tasks)), float64(len(d.Machines)), float64(len(d.Edges))
	return bounds.CheckSize("ordering", "terms", int(min(5*n*n*m+4*e*m*m, math.MaxInt32)), maxTerms)
}

// Relaxation returns a lower bound on the makespan: the linear relaxation of Build for the horizon, or the horizon if
// that is lower (it bounds any longer schedule). It holds under every transfer model, since contention only delays. It
// is evaluated from the duals so that it is valid however wrong they are (duals.SafeLower), less a margin for rounding.
// If ctx ends it is 0 or the bound by heads and tails.
//
// The evidence has the duals; without some it proves heads and tails. It is nil if the bound is the horizon
// because no schedule ends by it.
func Relaxation(ctx context.Context, d *model.DAG, horizon float64) (float64, *model.Evidence, error) {
	f, err := build(d.WithoutContention(), horizon)
	if errors.Is(err, model.ErrInfeasible) {
		return horizon, nil, nil
	}
	if err != nil {
		return 0, nil, err
	}
	r, err := highs.Solve(ctx, &f.Model, milp.Options{Relax: true})
	if err != nil {
		return 0, nil, fmt.Errorf("bound: relaxation: %w", err)
	}
	bound := f.Limit
	var y []float64
	if r.Status == milp.Optimal {
		y = f.signed(r.Duals)
		if safe := duals.SafeLower(&f.Model, y); safe > bound {
			bound = safe
		} else {
			y = nil
		}
	}
	if f.Whole {
		bound = math.Ceil(bound - 1e-6)
	}
	return max(0, min(horizon, f.Value(bound)*(1-roundingMargin(f.Whole)))), f.evidence(y), nil
}

// signed returns duals without those that evidence can't have: of the wrong sign, or too small to matter.
func (b *dagBuild) signed(y []float64) []float64 {
	signed := make([]float64, len(y))
	for r, v := range y {
		if math.Abs(v) >= 1e-11 && (v > 0 || !math.IsInf(b.Rows[r].Upper, 1)) {
			signed[r] = v
		}
	}
	return signed
}

// evidence returns the multipliers of rows by kind, in seconds if a row isn't of times; nil is none. If they are more
// than the judge reads, it is a claim.
func (b *dagBuild) evidence(y []float64) *model.Evidence {
	e := &model.Evidence{Type: evidence.Ordering, Method: relaxationName, Window: []float64{0, b.horizon * b.unit}}
	part := map[string]*model.Evidence{}
	for _, kind := range evidence.OrderingRows {
		part[kind] = &model.Evidence{Type: evidence.Ordering, Resource: kind}
	}
	if b.horizon <= 0 { // whatever the weights, they prove 0
		return &model.Evidence{Type: evidence.Load, Method: relaxationName, Weights: slices.Repeat([]float64{1}, b.m)}
	}
	rows := make([]int, len(y))
	for r := range rows {
		rows[r] = r
	}
	slices.SortFunc(rows, func(r, s int) int { return cmp.Compare(b.numbers[r].number, b.numbers[s].number) })
	entries := len(e.Window) + len(part)
	for _, r := range rows {
		v := y[r]
		p, ok := part[b.numbers[r].kind]
		if !ok || v == 0 {
			continue
		}
		switch p.Resource {
		case evidence.FromRow, evidence.ToRow, evidence.BothRow:
			v *= b.unit
		}
		p.Rows, p.Weights = append(p.Rows, b.numbers[r].number), append(p.Weights, v)
		entries += 2
	}
	if entries > evidence.MostEntries(b.n, b.m) {
		return &model.Evidence{Type: evidence.Relaxation, Method: relaxationName}
	}
	for _, kind := range evidence.OrderingRows {
		if p := part[kind]; len(p.Rows) > 0 {
			e.Parts = append(e.Parts, *p)
		}
	}
	return e
}

// relaxationName is the name of the bound by Relaxation.
const relaxationName = "ordering-relaxation"

// roundingMargin returns the relative amount by which a bound is lowered for the rounding of the figures behind it;
// whole units have none.
func roundingMargin(whole bool) float64 {
	if whole {
		return 0
	}
	return 1e-9
}
