package lcg

import (
	"context"

	"github.com/gapwise/gapwise/model/cp"
)

// Answer says how a search ended.
type Answer int

// The answers of a search.
const (
	Unknown    Answer = iota // it was stopped, or reached its limit
	Satisfied                // there is a solution
	Infeasible               // there is none
	Refuted                  // there is none under the assumptions
)

// Search looks for a solution in which the assumptions hold, for at most so many
// conflicts. The assumptions are decided first, in their order.
func (k *Kernel) Search(ctx context.Context, conflicts int64, assumptions ...cp.Lit) Answer {
	k.backtrack(0)
	end := k.Conflicts + conflicts
	restart := k.Conflicts + 100*luby(k.Restarts)
	stop := k.Events
	for {
		if !k.propagate() {
			k.Conflicts++
			premises, level := k.learn()
			k.proof.learn(k, premises)
			k.failed = false
			if level < 0 {
				k.failed = true
				return Infeasible
			}
			lbd := k.lbd(premises)
			k.backtrack(level)
			k.addNogood(premises, true, lbd)
			k.learned++
			k.decay()
			continue
		}
		if k.Events-stop > 4096 {
			stop = k.Events
			if ctx.Err() != nil {
				return Unknown
			}
		}
		switch {
		case k.level() == 0:
			k.forget()
			if k.learned > k.limit {
				k.reduce()
				k.learned, k.limit = k.learned/2, k.limit+500
				continue
			}
		case k.Conflicts >= end:
			k.backtrack(0)
			return Unknown
		case k.Conflicts >= restart:
			k.Restarts++
			restart = k.Conflicts + 100*luby(k.Restarts)
			k.backtrack(0)
			continue
		}
		l := cp.False
		for int(k.level()) < len(assumptions) {
			a := assumptions[k.level()]
			if k.fails(a) {
				k.backtrack(0)
				return Refuted
			}
			if !k.holds(a) {
				l = a
				break
			}
			k.levels = append(k.levels, int32(len(k.events)))
		}
		if l == cp.False {
			if l = k.decide(); l == cp.False {
				return Satisfied
			}
		}
		k.Decided++
		k.levels = append(k.levels, int32(len(k.events)))
		k.set(l, decided, 0)
	}
}

// decide returns the next decision, or False if all are made.
func (k *Kernel) decide() cp.Lit {
	for {
		v := k.decisions.pop()
		if v < 0 {
			return k.decideInteger()
		}
		x := cp.Var(v)
		if k.holds(x.AtLeast(1)) || k.holds(x.AtMost(0)) || k.guards[v] != nil && !k.guards[v]() {
			continue
		}
		if k.decisions.phase[v] > 0 {
			return x.AtLeast(1)
		}
		return x.AtMost(0)
	}
}

// decideInteger returns the decision that the present, unfixed integer with the least
// value, of those with it the first, has this value; False without one.
func (k *Kernel) decideInteger() cp.Lit {
	best := cp.False
	for _, v := range k.model.Integers {
		if low := k.low[2*v]; low < -k.low[2*v+1] && k.holds(k.present[v]) && (best == cp.False || low < -best.B) {
			best = v.AtMost(low)
		}
	}
	return best
}

// luby returns the i-th term of the sequence 1 1 2 1 1 2 4 ... (Luby, Sinclair,
// Zuckerman, 1993), i from 0.
func luby(i int64) int64 {
	for {
		size := int64(1)
		for size < i+1 {
			size = 2*size + 1
		}
		if size == i+1 {
			return (size + 1) / 2
		}
		i -= size / 2
	}
}
