// SPDX-License-Identifier: MIT

package lcg

import (
	"context"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/run/meter"
)

// Answer says how a search ended.
type Answer int

// The answers of a search.
const (
	Unknown    Answer = iota // it was stopped, or reached its limit
	Satisfied                // there is a solution: Values
	Infeasible               // there is none
	Refuted                  // there is none under the assumptions: Core
)

// Search looks for a solution in which the assumptions hold, for at most so many
// conflicts. The assumptions are decided first, in their order.
//
// One kernel serves any number of searches: nogoods learned under assumptions are true without them, so all nogoods
// stay. A search in the neighbourhood of a schedule fixes parts of it by assumptions (presences, orders), asks for a
// better one by Require(objective.AtMost(best-1)), and starts from it by SetPhases. Infeasible then says that no better
// schedule exists at all, Refuted that none does in this neighbourhood, and Core which assumptions are to blame.
func (k *Kernel) Search(ctx context.Context, conflicts int64, assumptions ...cp.Lit) Answer {
	k.backtrack(0)
	k.core = k.core[:0]
	end := k.Conflicts + conflicts
	k.interrupted = func(effort int64) bool { return meter.Stop(ctx, effort) }
	if k.interrupted(0) {
		return Unknown
	}
	for {
		if !k.propagate() {
			if !k.failed {
				k.backtrack(0)
				return Unknown
			}
			k.Conflicts++
			premises, level := k.learn()
			if level == -2 {
				k.failed = false
				k.backtrack(0)
				return Unknown
			}
			k.proof.learn(k, premises)
			k.failed = false
			if level < 0 {
				k.failed = true
				return Infeasible
			}
			lbd := k.lbd(premises)
			k.backtrack(level)
			k.keep(premises, lbd)
			k.share(premises, lbd)
			k.decay()
			continue
		}
		if k.level() == 0 {
			k.forget()
			if k.learned > k.limit {
				k.reduce()
				k.learned, k.limit = k.learned/2, k.limit+500
				continue
			}
		}
		if k.Conflicts >= end {
			k.backtrack(0)
			return Unknown
		}
		if k.learned > k.limit && k.level() > 0 {
			k.backtrack(0)
			continue
		}
		l := cp.False
		for int(k.level()) < len(assumptions) {
			a := assumptions[k.level()]
			if k.refuted(a) {
				k.findCore(a)
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
				k.values = k.values[:0]
				for v := range k.model.Low {
					k.values = append(k.values, k.low[2*v])
				}
				broken, ok := k.broken()
				k.backtrack(0)
				if !ok {
					return Unknown
				}
				if len(broken) == 0 {
					return Satisfied
				}
				for _, g := range broken {
					k.posted, k.names = int32(len(k.names)), append(k.names, g.Name)
					k.addNogood(g.Nogood, false, 0)
				}
				continue
			}
		}
		k.Decided++
		k.levels = append(k.levels, int32(len(k.events)))
		k.set(l, decided, 0)
	}
}

// broken asks Lazy about the solution.
func (k *Kernel) broken() (broken []cp.Named, ok bool) {
	if k.Lazy == nil {
		return nil, true
	}
	broken, work, ok := k.Lazy(k.values)
	k.work += work
	return broken, ok
}

// keep adds a learned nogood. Without learning, it only sets the bound that the nogood implies now.
func (k *Kernel) keep(premises []cp.Lit, lbd int32) {
	if !k.off(Learning) {
		k.addNogood(premises, true, lbd)
		k.learned++
		return
	}
	l, rest := premises[0], premises[1:]
	if k.imply(l.Not(), rest) && k.present[l.SV>>1].SV >= 0 {
		k.imply(k.present[l.SV>>1], rest)
	}
}

// Values returns the solution of the last search that found one, the value of each
// variable, valid up to the next search.
func (k *Kernel) Values() []int64 { return k.values }

// Core returns literals that can't all hold, after Refuted: each is one of the
// assumptions or weaker, at the least bound that the refutation needs. Valid up to the
// next search.
func (k *Kernel) Core() []cp.Lit { return k.core }

// Require makes a literal hold from now on, for all searches to come. It is not to be called within a search.
func (k *Kernel) Require(l cp.Lit) {
	k.backtrack(0)
	k.set(l, decided, 0)
}

// Exclude makes some literals not hold together from now on, none of them of an optional variable. It is not to be
// called within a search, nor under a proof.
func (k *Kernel) Exclude(premises ...cp.Lit) {
	k.backtrack(0)
	k.addNogood(premises, false, 0)
}

// SetPhases sets the value of each Boolean variable to try first: its value in a known solution or in a guess. Values
// other than 0 and 1 mean 1 if they are positive.
func (k *Kernel) SetPhases(values []int64) { copy(k.decisions.phase, values) }

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

// decideInteger returns the decision that the present, unfixed integer with the least value, the first of these at a
// tie, has this value; False without one.
func (k *Kernel) decideInteger() cp.Lit {
	best := cp.False
	for _, v := range k.model.Integers {
		if low := k.low[2*v]; low < -k.low[2*v+1] && k.holds(k.present[v]) && (best == cp.False || low < -best.B) {
			best = v.AtMost(low)
		}
	}
	return best
}
