package audit

import (
	"math/rand/v2"

	"github.com/gapwise/gapwise/model"
)

// relation makes another instance from one, and says what a claim about the
// first implies for the other (a metamorphic relation). It changes copies and
// never the instance itself.
type relation struct {
	name string
	// other makes the other instance; nil where the relation doesn't apply.
	other func(in model.Instance, rng *rand.Rand) model.Instance
	// implies turns what is known of the first optimum into what must then
	// hold for the other's.
	implies func(in, other model.Instance, c claim) claim
}

// same is the implication of relations that leave the optimum as it is.
func same(_, _ model.Instance, c claim) claim { return c }

// times returns the implication of relations that multiply the optimum.
func times(factor float64) func(_, _ model.Instance, c claim) claim {
	return func(_, _ model.Instance, c claim) claim {
		c.low *= factor
		c.high *= factor
		return c
	}
}

// noWorse is the implication of relations that can only improve the optimum: the
// solution's side of the claim holds, the bound's side is dropped.
func noWorse(in, _ model.Instance, c claim) claim {
	d := unknown()
	if !c.solved {
		return d
	}
	if d.solved = true; model.SenseOf(in) == model.Maximise {
		d.low = c.low
	} else {
		d.high = c.high
	}
	return d
}

// plus returns the implication of relations that add x to the optimum.
func plus(x float64) func(_, _ model.Instance, c claim) claim {
	return func(_, _ model.Instance, c claim) claim {
		c.low += x
		c.high += x
		return c
	}
}

// typed adapts a relation between instances of one problem.
func typed[I model.Instance](name string, other func(I, *rand.Rand) (I, bool), implies func(in, other model.Instance, c claim) claim) relation {
	return relation{name, func(in model.Instance, rng *rand.Rand) model.Instance {
		o, ok := other(in.(I), rng)
		if !ok {
			return nil
		}
		return o
	}, implies}
}

// powers are the factors by which figures are scaled: exact in float64.
var powers = []float64{0.25, 0.5, 2, 4, 1024}
