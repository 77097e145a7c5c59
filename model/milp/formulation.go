// SPDX-License-Identifier: MIT

package milp

// Formulation is a linear model of an instance of some problem, with the way
// from the problem's solutions to the model's points and back. S is the model's decision: a placement, a schedule,
// start times.
type Formulation[S any] struct {
	Model
	// Scheme names the formulation, as in "compact" or "time-indexed".
	Scheme string
	// Encode returns a point of the solution, one value for each variable. Nil if the model has none: it may exclude
	// solutions that are no better than others, or that break its assumptions (a horizon).
	Encode func(S) []float64
	// Decode returns the solution that the point's integer variables describe, rounded, and recomputes everything else.
	// A point that describes none is an error that wraps model.ErrInfeasible. The solution of a point that satisfies
	// the rows to within a tolerance may break the problem's own constraints by as much.
	Decode func(x []float64) (S, error)
	// Value turns the model's objective, or a bound on it, into the problem's.
	// It is monotone: increasing if both improve in the same direction. It is Scale's, but for a margin that keeps
	// bounds safe from rounding.
	Value func(objective float64) float64
	// Limit is an objective that no solution's is better than.
	Limit float64
	// Whole means that every solution has a whole number for its objective.
	Whole bool
}

// Convert returns the formulation with solutions of another type. from is used
// by Encode, to by Decode; an error of from makes Encode return nil.
func Convert[S, T any](f *Formulation[S], from func(T) (S, error), to func(S) (T, error)) *Formulation[T] {
	return &Formulation[T]{
		Model: f.Model, Scheme: f.Scheme, Value: f.Value, Limit: f.Limit, Whole: f.Whole,
		Encode: func(t T) []float64 {
			s, err := from(t)
			if err != nil {
				return nil
			}
			return f.Encode(s)
		},
		Decode: func(x []float64) (t T, err error) {
			s, err := f.Decode(x)
			if err != nil {
				return t, err
			}
			return to(s)
		},
	}
}
