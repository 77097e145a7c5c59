// SPDX-License-Identifier: MIT

package audit

import (
	"fmt"
	"math/rand/v2"

	"github.com/gapwise/gapwise/model"
)

// relation makes another instance from one, and derives the claim on the other from a claim on the first (a metamorphic
// relation).
type relation struct {
	name string
	// other makes the other instance and never changes the first; nil where the
	// relation doesn't apply.
	other func(in model.Instance, rng *rand.Rand) (model.Instance, implication)
}

// implication turns a claim on the first optimum into the claim that must then hold for the other's.
type implication func(model.Sense, claim) claim

// change changes a copy of an instance. It returns nil where it doesn't apply.
type change[I model.Instance] func(c I, rng *rand.Rand) implication

// relates adapts a change.
func relates[I model.Instance](name string, f change[I]) relation {
	return relation{name, func(in model.Instance, rng *rand.Rand) (model.Instance, implication) {
		c := clone(in.(I))
		if implies := f(c, rng); implies != nil && c.Validate() == nil {
			return c, implies
		}
		return nil, nil
	}}
}

// Relate solves an instance, and all others that the relations of its problem make from it. It returns an
// error where two answers can't both be true. Tests of engines call it at sizes and by engines of their own.
func Relate(in model.Instance, rng *rand.Rand, solve func(model.Instance) model.Result) error {
	first := claimOf(model.SenseOf(in), solve(in))
	for _, r := range problemOf(in.Kind()).relations {
		other, implies := r.other(in, rng)
		if other == nil {
			continue
		}
		want, got := implies(model.SenseOf(in), first), claimOf(model.SenseOf(other), solve(other))
		if !want.agrees(got) {
			return fmt.Errorf("%s: the first answer implies %v, the second says %v", r.name, want, got)
		}
	}
	return nil
}

// same is the implication of relations that leave the optimum as it is.
func same(_ model.Sense, c claim) claim { return c }

// times returns the implication of relations that multiply the optimum.
func times(factor float64) implication {
	return func(_ model.Sense, c claim) claim {
		c.low *= factor
		c.high *= factor
		return c
	}
}

// plus returns the implication of relations that add x to the optimum.
func plus(x float64) implication {
	return func(_ model.Sense, c claim) claim {
		c.low += x
		c.high += x
		return c
	}
}

// noWorse is the implication of relations that can only improve the optimum: the
// solution's side of the claim holds, the bound's side is dropped.
func noWorse(sense model.Sense, c claim) claim {
	d := unknown()
	if !c.solved {
		return d
	}
	if d.solved = true; sense == model.Maximise {
		d.low = c.low
	} else {
		d.high = c.high
	}
	return d
}

// noWorseIf returns noWorse where a relation applies.
func noWorseIf(applies bool) implication {
	if applies {
		return noWorse
	}
	return nil
}

// powers are the factors by which figures are scaled: exact in float64.
var powers = []float64{0.25, 0.5, 2, 4, 1024}

// power draws one of them.
func power(rng *rand.Rand) float64 { return powers[rng.IntN(len(powers))] }

// shuffled shuffles a list.
func shuffled[E any](rng *rand.Rand, list []E) {
	rng.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
}
