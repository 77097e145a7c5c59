// SPDX-License-Identifier: MIT

package ask

import (
	"context"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/model"
)

// BoundAnswer lists bounds.
type BoundAnswer struct {
	Instance   string   `json:"instance"`
	Kind       string   `json:"kind"`
	Infeasible bool     `json:"infeasible" about:"proved: there is no solution"`
	Best       *float64 `json:"best" about:"the strongest of the bounds on the objective"`
	Bounds     []Bound  `json:"bounds" about:"on the objective"`
	Others     []Bound  `json:"others" about:"on other figures, named by them"`
}

// Bound is a bound.
type Bound struct {
	Name       string          `json:"name"`
	Value      *float64        `json:"value"`
	Infeasible bool            `json:"infeasible,omitempty"`
	Reason     string          `json:"reason,omitempty"`
	Evidence   *model.Evidence `json:"evidence,omitempty" schema:"evidence"`
}

// BoundsOf returns the bounds of an instance without search.
func BoundsOf(ctx context.Context, in model.Instance) (BoundAnswer, error) {
	x := BoundAnswer{Instance: in.ID(), Kind: string(in.Kind())}
	all, err := gapwise.Bounds(ctx, in)
	if err != nil {
		return x, err
	}
	others, err := gapwise.OtherBounds(ctx, in)
	if err != nil {
		return x, err
	}
	x.Bounds, x.Others = x.list(all), x.list(others)
	sense := model.SenseOf(in)
	for _, b := range x.Bounds {
		if b.Value != nil && !x.Infeasible && (x.Best == nil || sense.Better(*x.Best, *b.Value)) {
			x.Best = b.Value
		}
	}
	return x, nil
}

// list returns bounds as data, and notes a proof that there is no solution.
func (x *BoundAnswer) list(from []bounds.Bound) []Bound {
	to := []Bound{}
	for _, b := range from {
		one := Bound{Name: b.Name, Infeasible: b.Infeasible, Reason: b.Reason, Evidence: b.Evidence}
		if !b.Infeasible {
			one.Value = Number(b.Value)
		}
		x.Infeasible = x.Infeasible || b.Infeasible
		to = append(to, one)
	}
	return to
}
