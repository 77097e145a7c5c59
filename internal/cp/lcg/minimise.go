// SPDX-License-Identifier: MIT

package lcg

import (
	"context"
	"slices"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/run/meter"
)

// Outcome is the result of a minimisation, with its proof. No solution has an objective below Bound.
type Outcome struct {
	Values     []int64   // of the best solution; nil: none, or another one's
	Model      *cp.Model // the variables' model
	Best       int64     // its objective
	Bound      int64
	Infeasible bool // proved
	Optimal    bool // proved: Best = Bound
}

// Minimise looks for the solution of the least objective until it has proved it, ctx ends, or so many conflicts are met
// (0: no limit). If the objective upper is given, it only looks for solutions below: one of that objective is known.
// found is called with each solution, if it isn't nil.
//
// Turns of a search upwards, which assumes that the objective is at most its bound and raises the bound when that is
// refuted, take turns with searches downwards for a better solution than the best. Turns count conflicts. The nogoods
// of one serve the other.
func (k *Kernel) Minimise(ctx context.Context, upper *int64, conflicts int64, found func(o *Outcome)) Outcome {
	o := Outcome{Model: k.model, Best: infinite, Bound: -infinite}
	x := k.model.Objective
	if upper != nil {
		o.Best = *upper
		k.Require(x.AtMost(o.Best - 1))
	}
	report := func() {
		o.Values = slices.Clone(k.Values())
		if !k.off(Phases) {
			k.SetPhases(o.Values)
		}
		o.Best = o.Values[x]
		if found != nil {
			found(&o)
		}
		k.Require(x.AtMost(o.Best - 1))
	}
	turn, step := int64(100), &k.step
	for up := !k.off(Upwards); ; up = !up && !k.off(Upwards) || k.off(Downwards) {
		if k.News != nil {
			if best := k.News(); best < o.Best {
				k.backtrack(0)
				o.Best, o.Values = best, nil
				k.Require(x.AtMost(best - 1))
			}
		}
		if up {
			turn += turn / 4
		}
		if conflicts > 0 {
			if turn = min(turn, conflicts-k.Conflicts); turn <= 0 {
				return o
			}
		}
		answer, end := Refuted, k.Conflicts+turn
		for answer == Refuted || answer == Satisfied {
			// The bound of level 0 is as good as its propagation so far.
			if !k.failed {
				k.backtrack(0)
				o.Bound = max(o.Bound, k.low[2*x])
			}
			before := k.Conflicts
			if end <= before {
				break
			}
			if !up {
				answer = k.Search(ctx, end-before)
			} else {
				most := o.Bound + *step - 1
				answer = k.Search(ctx, end-before, x.AtMost(most))
				if answer == Refuted {
					// The bound has been set on level 0, perhaps a higher one.
					if k.Conflicts-before < 10 {
						*step *= 2
					} else {
						*step = max(1, *step/2)
					}
				}
			}
			if answer == Satisfied {
				*step = 1
				report()
			}
			if found != nil && answer != Unknown {
				found(&o)
			}
		}
		switch {
		case answer == Infeasible:
			o.Bound, o.Optimal = o.Best, o.Best < infinite
			o.Infeasible = !o.Optimal
			return o
		case meter.Stop(ctx, 0):
			return o
		}
	}
}
