// SPDX-License-Identifier: MIT

// Package lcg solves the models of package cp by lazy clause generation (Ohrimenko, Stuckey, Codish: Propagation via
// lazy clause generation, 2009). It is a search over decisions with propagators that explain each bound that they set;
// it learns a nogood from each conflict.
//
// Everything is expressed in bound literals (cp.Lit), which exist only if they are used. The database holds nogoods:
// sets of literals, the premises, that can't all hold. A literal of an optional variable says "if present, at least b".
// Its negation says that the variable is present, too. So a nogood sets two literals if its last open premise is such a
// literal: that the variable is present, and the opposite bound.
package lcg

import (
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/cp"
)

// event is a bound that was set.
type event struct {
	bound, before int64 // of the signed variable: now, and until then
	sv            int32
	prev          int32 // last event of sv before this one, or -1
	level         int32
	why           reason
}

// reason says which part can explain an event.
type reason struct {
	by  int32 // number of a propagator, or one of the following
	tag int32 // of the nogood, or the propagator's own
}

const (
	decided  = -1 - iota
	crossed  // the tag is a variable that is absent, for its bounds cross
	excluded // by the nogood tag
	implied  // by the literals of k.spans[tag]
)

// propagator sets bounds that follow from a constraint, and explains them.
type propagator interface {
	// wake gets each event that the propagator watches. It may set bounds or have propagate called (Kernel.schedule).
	wake(k *Kernel, sv, tag int32)
	// propagate sets bounds. It may stop when one fails.
	propagate(k *Kernel)
	// cancel forgets what wake has noted for propagate.
	cancel()
	// explain appends literals that held before the event at, and that imply l. l is the bound needed, which may be
	// weaker than the one set.
	explain(k *Kernel, l cp.Lit, tag, at int32, out []cp.Lit) []cp.Lit
}

// lazy is a propagator that is called once, however often it is woken before.
type lazy struct{ self int32 }

func (p *lazy) wake(k *Kernel, _, _ int32) { k.schedule(p.self) }
func (p *lazy) cancel()                    {}

type watch struct {
	bound   int64 // of the premise, the key of the list is its signed variable
	nogood  int32
	blocker cp.Lit // another premise: while it doesn't hold for sure, nothing follows
}

type subscription struct{ by, tag int32 }

// Kernel is the state of a search.
type Kernel struct {
	model   *cp.Model
	low     []int64  // of each signed variable
	last    []int32  // its last event, or -1
	present []cp.Lit // of each variable
	events  []event
	head    int     // events before it have been looked at
	levels  []int32 // first event of each decision level but 0

	nogoods  []nogood
	watches  [][]watch
	subs     [][]subscription
	sums     [][]summand // of each signed variable
	all      []propagator
	slow     []bool // propagators to be called last
	pending  [2][]int32
	isQueued []bool

	delays *delays
	pairs  *pairs
	guards []func() bool // by variable: whether it matters, if only at times
	arena  []cp.Lit      // of stored explanations, in the order of their events
	spans  []span

	failed   bool
	conflict []cp.Lit // premises that all hold and can't
	cause    cause    // the origin of the conflict

	// What a proof needs to know.
	proof  *Proof
	by     int32    // propagator that is at work
	posted int32    // constraint that is being posted
	names  []string // of the model's constraints, and of those of Lazy
	owners []int32  // constraint of each propagator, see owner
	window [2]int64 // of the next inference, see within
	number int64    // of the next learned nogood

	options   Options
	step      int64    // of Minimise upwards
	telling   int32    // levels up to which a learned nogood is shared with a Team
	told      []nogood // since the end of the last round
	values    []int64  // of the last solution
	core      []cp.Lit // of the last refutation
	decisions decisions
	analysis  analysis
	test      *hooks // of tests; nil otherwise

	// News, if not nil, returns the objective of the best solution from elsewhere, MaxInt64 without one. Minimise asks
	// before each turn, and looks for better ones.
	News func() int64

	// Lazy, if not nil, gets the values of each solution of the model before it counts as one. It returns nogoods of the
	// question that the solution breaks, none if it breaks none; ok is false if it can't tell, which ends the search. The
	// nogoods are true for all searches, and of variables that are decided, or that follow from those. work is counted as
	// the kernel's own, in some 10 ns. Under a proof they have names, as the model's constraints have.
	Lazy func(values []int64) (broken []cp.Named, work int64, ok bool)

	interrupted func(effort int64) bool
	work        int64   // since it was asked: events, and the propagators' steps
	watched     []int64 // [propagator]: events that it watches, by which its work is counted

	// Counts of a run.
	Conflicts, Decided, Events int64
	bump                       float64
	learned, limit             int64 // learned nogoods since the last reduction, and how many before the next
}

// New returns a kernel for a model. Sums of the model must be below 2^62.
func New(m *cp.Model) *Kernel { return NewWith(m, Options{}) }

// NewWith returns a kernel with options for a model.
func NewWith(m *cp.Model, o Options) *Kernel {
	n := len(m.Low)
	k := &Kernel{model: m, options: o, names: slices.Clip(m.Names), low: make([]int64, 2*n), last: make([]int32, 2*n), present: m.Present,
		watches: make([][]watch, 2*n), subs: make([][]subscription, 2*n), sums: make([][]summand, 2*n), step: 1, bump: 1, limit: 2000, guards: make([]func() bool, n)}
	for v := range n {
		k.low[2*v], k.low[2*v+1] = m.Low[v], -m.High[v]
		k.last[2*v], k.last[2*v+1] = -1, -1
	}
	k.decisions = newDecisions(n, o.Seed)
	k.analysis = newAnalysis(2 * n)
	for v := range n {
		if m.Low[v] > m.High[v] {
			k.cross(cp.Var(v))
		}
	}
	for i, c := range m.Constraints {
		k.posted = int32(i)
		k.post(c)
	}
	for _, v := range m.Decisions {
		k.decisions.add(int32(v))
		k.guards[v] = nil
	}
	return k
}

// post adds a constraint.
func (k *Kernel) post(c cp.Constraint) {
	switch c := c.(type) {
	case cp.Nogood:
		k.addNogood(c, false, 0)
	case *cp.Linear:
		k.add(newLinear(k, c))
	case *cp.Delay:
		k.delay(c)
	case *cp.NoOverlap:
		k.noOverlap(c)
	case *cp.Cumulative:
		p := &cumulative{c: c}
		if c.Energy && !k.off(Overload) {
			p.energy = &energy{c: c}
		}
		k.add(p)
	case *cp.Preemptive:
		k.add(&preemptive{c: c})
	case *cp.Among:
		k.add(&among{c: c})
	case *cp.Charges:
		k.add(newCharges(k, c))
	}
}

// add adds a propagator and returns its number.
func (k *Kernel) add(p propagator) int32 {
	k.all, k.isQueued, k.slow = append(k.all, p), append(k.isQueued, false), append(k.slow, false)
	k.owners, k.watched = append(k.owners, k.posted), append(k.watched, 0)
	n := int32(len(k.all) - 1)
	if s, ok := p.(interface{ attach(k *Kernel, self int32) }); ok {
		s.attach(k, n)
	}
	k.schedule(n)
	return n
}

// watch has a propagator woken when sv's bound rises.
func (k *Kernel) watch(sv, by, tag int32) {
	if sv >= 0 {
		k.subs[sv] = append(k.subs[sv], subscription{by, tag})
		k.watched[by]++
	}
}

// schedule has a propagator's propagate called when no event is left.
func (k *Kernel) schedule(by int32) {
	if !k.isQueued[by] {
		k.isQueued[by] = true
		q := 0
		if k.slow[by] {
			q = 1
		}
		k.pending[q] = append(k.pending[q], by)
	}
}

// level returns the number of decisions that are made.
func (k *Kernel) level() int32 { return int32(len(k.levels)) }

// holds reports whether a literal holds by its bound.
func (k *Kernel) holds(l cp.Lit) bool {
	return l.SV >= 0 && k.low[l.SV] >= l.B || l.SV == cp.True.SV
}

// fails reports whether a literal's opposite holds by its bound. For an optional
// variable it can still hold by its absence.
func (k *Kernel) fails(l cp.Lit) bool {
	return l.SV >= 0 && k.low[l.SV^1] >= 1-l.B || l.SV == cp.False.SV
}

// refuted reports whether a literal can't hold.
func (k *Kernel) refuted(l cp.Lit) bool {
	return k.fails(l) && (l.SV < 0 || k.present[l.SV>>1].SV < 0 || k.holds(k.present[l.SV>>1]))
}

// set sets a bound and reports whether nothing fails by it.
func (k *Kernel) set(l cp.Lit, by, tag int32) bool {
	switch {
	case k.failed:
		return false
	case k.holds(l):
		return true
	case k.refuted(l):
		// An event for l would be the only premise of its level, and add nothing.
		premises := k.explanation(l, reason{by, tag}, int32(len(k.events)))
		if l.SV >= 0 {
			premises = append(premises, l.Not(), k.present[l.SV>>1])
		}
		k.fail(premises...)
		k.cause.why, k.cause.lit = reason{by, tag}, l
		return false
	}
	k.events = append(k.events, event{bound: l.B, before: k.low[l.SV], sv: l.SV, prev: k.last[l.SV], level: k.level(), why: reason{by, tag}})
	k.low[l.SV], k.last[l.SV] = l.B, int32(len(k.events)-1)
	k.Events++
	if k.low[l.SV]+k.low[l.SV^1] > 0 {
		return k.cross(l.Var())
	}
	return !k.failed
}

// imply sets a bound that follows from literals that hold, and stores these.
func (k *Kernel) imply(l cp.Lit, premises []cp.Lit) bool {
	if k.failed || k.holds(l) {
		return !k.failed
	}
	first := int32(len(k.arena))
	k.arena = append(k.arena, premises...)
	k.spans = append(k.spans, span{first, int32(len(k.arena)), k.by, k.window})
	k.window = [2]int64{}
	return k.set(l, implied, int32(len(k.spans)-1))
}

// cross says that a variable that isn't present for sure is absent, since its bounds
// cross.
func (k *Kernel) cross(v cp.Var) bool { return k.set(k.present[v].Not(), crossed, int32(v)) }

// fail records a conflict: premises that hold and can't all.
func (k *Kernel) fail(premises ...cp.Lit) {
	if !k.failed {
		k.failed, k.conflict = true, append(k.conflict[:0], premises...)
		k.cause, k.window = cause{reason{k.by, 0}, cp.False, k.window}, [2]int64{}
	}
}

// eventOf returns the event that made l hold, or -1 if it held from the beginning.
func (k *Kernel) eventOf(l cp.Lit) int32 {
	if l.SV < 0 {
		return -1
	}
	e := k.last[l.SV]
	for e >= 0 && k.events[e].before >= l.B {
		e = k.events[e].prev
	}
	return e
}

// lowAt returns the bound of sv before the event at.
func (k *Kernel) lowAt(sv, at int32) int64 {
	b := k.low[sv]
	for e := k.last[sv]; e >= at; e = k.events[e].prev {
		b = k.events[e].before
	}
	return b
}

// heldAt reports whether a literal held before the event at.
func (k *Kernel) heldAt(l cp.Lit, at int32) bool {
	return l.SV == cp.True.SV || l.SV >= 0 && k.lowAt(l.SV, at) >= l.B
}

// explanation returns literals that held before the event at and from which l
// follows. They are valid up to the next call.
func (k *Kernel) explanation(l cp.Lit, why reason, at int32) []cp.Lit {
	out := k.analysis.buffer[:0]
	switch why.by {
	case decided: // on level 0: given
	case crossed:
		v := cp.Var(why.tag)
		b := k.lowAt(2*int32(v), at)
		out = append(out, v.AtLeast(b), v.AtMost(b-1))
	case excluded:
		out = append(out, k.nogoods[why.tag].premises[1:]...)
	case implied:
		s := k.spans[why.tag]
		out = append(out, k.arena[s.first:s.end]...)
	default:
		out = k.all[why.by].explain(k, l, why.tag, at, out)
	}
	k.work += 10 + 4*int64(len(out))
	k.analysis.buffer = out
	if k.test != nil {
		out = k.test.explained(out, l, why, at)
		k.analysis.buffer = out
	}
	return out
}

// hooks let tests look at, and spoil, the kernel's derivations.
type hooks struct {
	explained func(premises []cp.Lit, conclusion cp.Lit, why reason, at int32) []cp.Lit
	learned   func(premises []cp.Lit) []cp.Lit
}

// workEach is the amount of work between two looks of the kernel at its context, in some 10 ns.
const workEach = 1 << 16

// propagate looks at all events and calls the propagators until nothing changes. It returns false on a conflict or an
// interruption. Bounds may rise in small steps for long, so it asks every some thousand events.
func (k *Kernel) propagate() bool {
	for !k.failed {
		if k.work += 2; k.work >= workEach {
			k.work -= workEach
			if k.interrupted != nil && k.interrupted(workEach/100) {
				return false
			}
		}
		if k.head < len(k.events) {
			e := &k.events[k.head]
			sv, before, bound := e.sv, e.before, e.bound
			k.head++
			k.count(sv, before, bound)
			k.wakeNogoods(sv, before, bound)
			if !k.failed {
				for _, s := range k.subs[sv] {
					k.by = s.by
					k.all[s.by].wake(k, sv, s.tag)
					if k.failed {
						break
					}
				}
			}
			continue
		}
		q := 0
		if len(k.pending[0]) == 0 {
			q = 1
		}
		if len(k.pending[q]) == 0 {
			return true
		}
		by := k.pending[q][0]
		k.pending[q] = k.pending[q][1:]
		k.isQueued[by] = false
		k.by = by
		k.all[by].propagate(k)
		k.work += 2 + k.watched[by]/32
		if q == 1 {
			k.work += k.watched[by]
		}
	}
	for q := range k.pending {
		for _, by := range k.pending[q] {
			k.isQueued[by] = false
		}
		k.pending[q] = k.pending[q][:0]
	}
	for _, p := range k.all {
		p.cancel()
	}
	return false
}

// backtrack undoes all decisions above a level.
func (k *Kernel) backtrack(level int32) {
	if k.level() <= level {
		return
	}
	first := k.levels[level]
	for e := int32(len(k.events)) - 1; e >= first; e-- {
		x := &k.events[e]
		k.low[x.sv], k.last[x.sv] = x.before, x.prev
		k.decisions.undo(x.sv)
		if int(e) < k.head {
			k.uncount(x.sv, x.before, x.bound)
		}
		if x.why.by == implied {
			k.arena, k.spans = k.arena[:k.spans[x.why.tag].first], k.spans[:x.why.tag]
		}
	}
	k.events, k.levels, k.head = k.events[:first], k.levels[:level], int(first)
}

// forget drops the events of level 0 once all have been looked at: facts of that level need no explanation.
func (k *Kernel) forget() {
	if k.level() != 0 || k.head != len(k.events) {
		return
	}
	k.proof.root(k)
	for i := range k.events {
		k.last[k.events[i].sv] = -1
	}
	k.events, k.head, k.arena, k.spans = k.events[:0], 0, k.arena[:0], k.spans[:0]
}

// decay lowers the weight of earlier conflicts in the order of the decisions, and of
// the nogoods.
func (k *Kernel) decay() {
	k.bump /= 0.95
	if k.bump > 1e100 {
		k.decisions.rescale(1 / k.bump)
		for n := range k.nogoods {
			k.nogoods[n].activity /= k.bump
		}
		k.bump = 1
	}
}

const infinite = math.MaxInt64 / 4
