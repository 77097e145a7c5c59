// SPDX-License-Identifier: MIT

package lcg

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/test/require"
)

// draws has, for each type of constraint, a function that adds one of it to a model, at random, with its preconditions.
// A new type adds itself in an init of its own test file. It is then tested like all others: each explanation by
// enumeration, each fixed assignment by its Holds, in mixes with other constraints.
var draws = map[string]func(p *pool){
	"nogood": func(p *pool) {
		var c cp.Nogood
		for range 1 + p.IntN(4) {
			c = append(c, p.bound())
		}
		p.m.Add(c)
	},
	"linear": func(p *pool) {
		c := &cp.Linear{}
		for range p.IntN(3) {
			var g []cp.Choice
			for _, s := range p.group(1 + p.IntN(3)) {
				g = append(g, cp.Choice{If: s.If, Value: p.Int64N(4)})
			}
			c.Groups = append(c.Groups, g)
		}
		for range p.IntN(4) {
			c.Terms = append(c.Terms, cp.Term{Times: p.Int64N(7) - 3, Var: p.int()})
		}
		c.AtMost = p.Int64N(9) - 3
		p.m.Add(c)
	},
	"delay": func(p *pool) {
		c := &cp.Delay{From: p.group(1 + p.IntN(3)), To: p.group(1 + p.IntN(3))}
		for range c.From {
			var by []int64
			for range c.To {
				by = append(by, p.Int64N(6)-1)
			}
			c.By = append(c.By, by)
		}
		p.m.Add(c)
	},
	"no-overlap": func(p *pool) {
		n := 1 + p.IntN(4)
		c := &cp.NoOverlap{Before: make([][]cp.Lit, n)}
		for i := range n {
			c.Starts, c.Lengths = append(c.Starts, p.start()), append(c.Lengths, p.Int64N(4))
			c.Before[i] = make([]cp.Lit, n)
			for j := range i {
				c.Before[i][j] = p.lit()
				c.Before[j][i] = c.Before[i][j].Not()
			}
		}
		p.m.Add(c)
	},
	"cumulative": func(p *pool) {
		c := &cp.Cumulative{Capacity: 1 + p.Int64N(4), Energy: p.IntN(2) == 0}
		for range 1 + p.IntN(4) {
			c.Starts, c.Lengths, c.Demands = append(c.Starts, p.start()), append(c.Lengths, 1+p.Int64N(3)), append(c.Demands, 1+p.Int64N(3))
		}
		p.m.Add(c)
	},
}

// pool draws variables and literals for constraints: new ones, or ones that others have. It draws new ones only as long
// as few assignments are possible.
type pool struct {
	*rand.Rand
	m      *cp.Model
	size   int64 // assignments
	bools  []cp.Var
	ints   []cp.Var // not optional
	starts []cp.Start
	groups [][]cp.Start
}

// newPool returns the pool of a model of one objective.
func newPool(seed int) *pool {
	p := &pool{Rand: rand.New(rand.NewPCG(uint64(seed), 5)), m: &cp.Model{}, size: 1}
	p.m.Objective = p.int()
	return p
}

// fits reports whether a variable of so many values may be added, and counts it.
func (p *pool) fits(values int64) bool {
	if p.size*values > 3000 {
		return false
	}
	p.size *= values
	return true
}

// lit draws a literal of a Boolean, or True or False.
func (p *pool) lit() cp.Lit {
	if p.IntN(12) == 0 {
		return []cp.Lit{cp.True, cp.True, cp.False}[p.IntN(3)]
	}
	var v cp.Var
	if len(p.bools) > 0 && p.IntN(2) == 0 || !p.fits(2) {
		if len(p.bools) == 0 {
			return cp.True
		}
		v = p.bools[p.IntN(len(p.bools))]
	} else {
		v = p.m.Bool()
		p.bools, p.m.Decisions = append(p.bools, v), append(p.m.Decisions, v)
	}
	if p.IntN(4) == 0 {
		return v.AtMost(0)
	}
	return v.Is()
}

// int draws an integer that isn't optional.
func (p *pool) int() cp.Var {
	low, values := p.Int64N(8)-4, 1+p.Int64N(5)
	if len(p.ints) > 0 && (p.IntN(2) == 0 || !p.fits(values)) {
		return p.ints[p.IntN(len(p.ints))]
	}
	v := p.m.Int(low, low+values-1)
	p.ints, p.m.Integers = append(p.ints, v), append(p.m.Integers, v)
	return v
}

// bound draws a literal that isn't of an optional variable.
func (p *pool) bound() cp.Lit {
	if p.IntN(2) == 0 {
		return p.lit()
	}
	v := p.int()
	b := p.m.Low[v] + p.Int64N(p.m.High[v]-p.m.Low[v]+2)
	return []cp.Lit{v.AtLeast(b), v.AtMost(b - 1)}[p.IntN(2)]
}

// start draws a start.
func (p *pool) start() cp.Start {
	if len(p.starts) > 0 && p.IntN(4) == 0 {
		return p.starts[p.IntN(len(p.starts))]
	}
	return p.startIf(p.lit())
}

func (p *pool) startIf(l cp.Lit) cp.Start {
	s := cp.Start{If: l}
	low, values := p.Int64N(6)-3, 1+p.Int64N(6)
	if l == cp.True {
		s.At = p.int()
	} else {
		if !p.fits(values) {
			values = 1
		}
		s.At = p.m.Optional(l, low, low+values-1)
		p.m.Integers = append(p.m.Integers, s.At)
	}
	p.starts = append(p.starts, s)
	return s
}

// group draws starts with exactly one present, at most so many.
func (p *pool) group(n int) []cp.Start {
	if len(p.groups) > 0 && p.IntN(3) == 0 {
		return p.groups[p.IntN(len(p.groups))]
	}
	var g []cp.Start
	var lits []cp.Lit
	for range n {
		l := p.lit()
		if n == 1 {
			l = cp.True
		}
		g, lits = append(g, p.startIf(l)), append(lits, l)
	}
	p.m.ExactlyOne("", lits...)
	p.groups = append(p.groups, g)
	return g
}

// solutions returns all solutions of a model, absent variables at their least.
func solutions(m *cp.Model) (all [][]int64) {
	a := cp.Assignment{Model: m, Values: slices.Clone(m.Low)}
	var next func(v int)
	next = func(v int) {
		if v == len(m.Low) {
			for i, p := range m.Present {
				if a.Values[i] != m.Low[i] && !a.Is(p) {
					return
				}
			}
			if meets(a) {
				all = append(all, slices.Clone(a.Values))
			}
			return
		}
		for a.Values[v] = m.Low[v]; a.Values[v] <= m.High[v]; a.Values[v]++ {
			next(v + 1)
		}
		a.Values[v] = m.Low[v]
	}
	next(0)
	return all
}

// counterexample returns a solution in which the premises hold and a literal doesn't;
// nil if there is none.
func counterexample(m *cp.Model, all [][]int64, premises []cp.Lit, l cp.Lit) []int64 {
next:
	for _, s := range all {
		a := cp.Assignment{Model: m, Values: s}
		for _, p := range premises {
			if !a.Is(p) {
				continue next
			}
		}
		if !a.Is(l) {
			return s
		}
	}
	return nil
}

// watched checks all derivations of a kernel of a small model. Each explanation has literals that held before and imply
// its conclusion, which is tested by all solutions; each nogood is one. It returns the first fault, or nil.
type watched struct {
	k     *Kernel
	all   [][]int64 // solutions that the requirements don't exclude
	wrong error     // the first fault
	spoil func(premises []cp.Lit, conclusion cp.Lit, why reason) []cp.Lit
	after func(premises []cp.Lit) []cp.Lit
}

func observe(k *Kernel) *watched {
	w := &watched{k: k}
	k.test = &hooks{
		explained: func(premises []cp.Lit, l cp.Lit, why reason, at int32) []cp.Lit {
			if w.spoil != nil {
				premises = w.spoil(premises, l, why)
			}
			if why.by == decided && l != cp.False {
				return premises // of level 0, given
			}
			for _, p := range premises {
				if !k.heldAt(p, at) {
					w.fault("%v of %v -> %v didn't hold before, by %v", p, premises, l, why)
				}
			}
			if s := counterexample(k.model, w.all, premises, l); s != nil {
				w.fault("%v -> %v by %v excludes the solution %v", premises, l, why, s)
			}
			return premises
		},
		learned: func(premises []cp.Lit) []cp.Lit {
			if w.after != nil {
				premises = w.after(premises)
			}
			if s := counterexample(k.model, w.all, premises, cp.False); s != nil {
				w.fault("the nogood %v excludes the solution %v", premises, s)
			}
			return premises
		},
	}
	return w
}

func (w *watched) fault(format string, args ...any) {
	if w.wrong == nil {
		w.wrong = fmt.Errorf(format, args...)
	}
}

// dive makes random decisions until all variables are fixed, several times. It has each event explained for a bound
// that is at most as strong, and learns from conflicts.
func (w *watched) dive(r *rand.Rand, times int) {
	k := w.k
	for range times {
		k.backtrack(0)
		for w.wrong == nil {
			first := k.head
			if !k.propagate() {
				if premises, level := k.learn(); level < 0 {
					if len(w.all) > 0 {
						w.fault("there is a solution: %v", w.all[0])
					}
					return
				} else {
					lbd := k.lbd(premises)
					k.failed = false
					k.backtrack(level)
					k.keep(premises, lbd)
				}
				continue
			}
			for e := first; e < len(k.events); e++ {
				if x := k.events[e]; x.why.by != decided {
					weaker := x.before + 1 + r.Int64N(x.bound-x.before)
					k.explanation(cp.Lit{SV: x.sv, B: weaker}, x.why, int32(e))
				}
			}
			if k.level() == 0 {
				k.forget()
			}
			var open []cp.Var
			for v := range k.present {
				if x := cp.Var(v); k.low[2*v]+k.low[2*v+1] < 0 && !k.fails(k.present[v]) {
					open = append(open, x)
				}
			}
			if len(open) == 0 {
				a := cp.Assignment{Model: k.model}
				for v := range k.present {
					a.Values = append(a.Values, k.low[2*v])
				}
				if !meets(a) {
					w.fault("%v is no solution", a.Values)
				}
				break
			}
			v := open[r.IntN(len(open))]
			b := k.low[2*v] + r.Int64N(-k.low[2*v+1]-k.low[2*v])
			k.levels = append(k.levels, int32(len(k.events)))
			k.set([]cp.Lit{v.AtMost(b), v.AtLeast(b + 1)}[r.IntN(2)], decided, 0)
		}
	}
}

// Everything that one constraint derives follows from it, and each accepted assignment holds.
func TestConstraints(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(draws)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events := int64(0)
			for seed := range 1000 {
				n, err := checkAlone(name, seed, nil, nil)
				require.OK(t, err, "seed", seed)
				events += n
			}
			if events < 10000 {
				t.Errorf("only %d events", events)
			}
		})
	}
}

// checkAlone checks all derivations of a kernel from a random constraint of a type, and returns the number of events.
// The kernel may be spoiled, or be given another constraint.
func checkAlone(name string, seed int, spoil func(k *Kernel, w *watched), other func(c cp.Constraint) cp.Constraint) (int64, error) {
	p := newPool(seed)
	draws[name](p)
	told := *p.m
	if other != nil {
		told.Constraints = slices.Clone(told.Constraints)
		for i, c := range told.Constraints {
			told.Constraints[i] = other(c)
		}
	}
	k := New(&told)
	k.model = p.m
	w := observe(k)
	w.all = solutions(p.m)
	if spoil != nil {
		spoil(k, w)
	}
	w.dive(p.Rand, 8)
	return k.Events, w.wrong
}

// mix draws a model of several constraints.
func mix(seed int) *pool {
	p := newPool(seed)
	names := slices.Sorted(maps.Keys(draws))
	for range 1 + p.IntN(4) {
		draws[names[p.IntN(len(names))]](p)
	}
	return p
}

// checkMix minimises a mixed model, checks every derivation, and compares the optimum to enumeration.
func checkMix(seed int, spoil func(k *Kernel, w *watched)) error {
	p := mix(seed)
	m := p.m
	k := NewWith(m, Options{})
	k.limit = p.Int64N(20)
	w := observe(k)
	w.all = solutions(m)
	if spoil != nil {
		spoil(k, w)
	}
	w.dive(p.Rand, 2)
	best := int64(infinite)
	for _, s := range w.all {
		best = min(best, s[m.Objective])
	}
	if w.wrong != nil {
		return w.wrong
	}
	k.backtrack(0)
	o := k.Minimise(context.Background(), nil, 5000, func(o *Outcome) {
		if a := (cp.Assignment{Model: m, Values: o.Values}); o.Values != nil && !meets(a) {
			w.fault("%v is no solution", a.Values)
		}
		// Only better ones are left from now on.
		w.all = slices.DeleteFunc(w.all, func(s []int64) bool { return s[m.Objective] >= o.Best })
	})
	switch {
	case w.wrong != nil:
		return w.wrong
	case best == infinite && !o.Infeasible || best < infinite && (!o.Optimal || o.Best != best):
		return fmt.Errorf("the optimum is %d, got %+v", best, o)
	}
	return nil
}

func TestMixes(t *testing.T) {
	t.Parallel()
	n := 3000
	if testing.Short() {
		n = 500
	}
	for seed := range n {
		require.OK(t, checkMix(seed, nil), "seed", seed)
	}
}

func FuzzMix(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, seed int) {
		require.OK(t, checkMix(seed, nil))
	})
}
