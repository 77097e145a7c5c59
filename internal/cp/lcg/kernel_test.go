// SPDX-License-Identifier: MIT

package lcg

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/test/require"
)

// shop draws a model of all constraints: tasks on one of some machines, with delays,
// a budget, and some nogoods.
func shop(r *rand.Rand) *cp.Model {
	m := &cp.Model{}
	tasks, machines := 1+r.IntN(4), 1+r.IntN(2)
	horizon := int64(4 + r.IntN(5))
	on := make([][]cp.Start, tasks)
	lengths := make([][]int64, tasks)
	budget := &cp.Linear{AtMost: int64(r.IntN(4 * tasks))}
	for i := range tasks {
		var xs []cp.Lit
		var group []cp.Choice
		for range machines {
			x := cp.True
			if machines > 1 {
				b := m.Bool()
				m.Decisions = append(m.Decisions, b)
				x = b.Is()
				xs = append(xs, x)
				group = append(group, cp.Choice{If: x, Value: int64(r.IntN(5))})
			}
			length := int64(1 + r.IntN(3))
			lengths[i] = append(lengths[i], length)
			on[i] = append(on[i], cp.Start{If: x, At: m.Optional(x, int64(r.IntN(2)), horizon-length)})
		}
		if machines > 1 {
			m.ExactlyOne("", xs...)
			budget.Groups = append(budget.Groups, group)
		}
	}
	m.Objective = m.Int(0, horizon)
	if machines > 1 && r.IntN(2) == 0 {
		if r.IntN(2) == 0 {
			budget.Terms = []cp.Term{{Times: -2, Var: m.Objective}}
			budget.AtMost -= int64(tasks)
		}
		m.Add(budget)
	}
	before := make([][]cp.Lit, tasks)
	for i := range before {
		before[i] = make([]cp.Lit, tasks)
		for j := range i {
			if r.IntN(3) == 0 {
				before[j][i] = cp.True
			} else {
				b := m.Bool()
				before[j][i] = b.Is()
			}
			before[i][j] = before[j][i].Not()
		}
	}
	shared := r.IntN(2) == 0 // machines that run several at once
	for l := range machines {
		if shared {
			c := &cp.Cumulative{Capacity: int64(2 + r.IntN(3)), Energy: r.IntN(2) == 0}
			for i := range tasks {
				m.Integers = append(m.Integers, on[i][l].At)
				c.Starts, c.Lengths, c.Demands = append(c.Starts, on[i][l]), append(c.Lengths, lengths[i][l]), append(c.Demands, int64(1+r.IntN(3)))
			}
			m.Add(c)
			continue
		}
		c := &cp.NoOverlap{Before: before}
		for i := range tasks {
			c.Starts, c.Lengths = append(c.Starts, on[i][l]), append(c.Lengths, lengths[i][l])
		}
		m.Add(c)
	}
	for i := range tasks {
		for j := range i {
			if r.IntN(3) == 0 {
				d := &cp.Delay{From: on[j], To: on[i]}
				for k := range machines {
					d.By = append(d.By, make([]int64, machines))
					for l := range machines {
						d.By[k][l] = lengths[j][k]
						if k != l {
							d.By[k][l] += int64(r.IntN(3))
						}
					}
				}
				m.Add(d)
			}
		}
		end := &cp.Delay{From: on[i], To: []cp.Start{{If: cp.True, At: m.Objective}}}
		for k := range machines {
			end.By = append(end.By, []int64{lengths[i][k]})
		}
		m.Add(end)
	}
	for range r.IntN(3) {
		if n := len(m.Decisions); n > 1 {
			a, b := m.Decisions[r.IntN(n)], m.Decisions[r.IntN(n)]
			m.Add(cp.Nogood{a.Is(), b.AtMost(0)})
		}
	}
	return m
}

// brute returns the best objective of a model and its solution by enumeration.
func brute(m *cp.Model) (best int64, values []int64) {
	a := cp.Assignment{Model: m, Values: make([]int64, len(m.Low))}
	best = infinite
	// Booleans come first, then each start, and the constraints are checked at the end; absent variables have one
	// value.
	var order []int
	for v := range m.Low {
		if m.Present[v] == cp.True {
			order = append(order, v)
		}
	}
	for v := range m.Low {
		if m.Present[v] != cp.True {
			order = append(order, v)
		}
	}
	var next func(i int)
	next = func(i int) {
		if i == len(order) {
			if v := a.Values[m.Objective]; v < best && meets(a) {
				best, values = v, append([]int64(nil), a.Values...)
			}
			return
		}
		v := order[i]
		if p := m.Present[v]; p != cp.True && !a.Is(p) {
			next(i + 1)
			return
		}
		for a.Values[v] = m.Low[v]; a.Values[v] <= m.High[v]; a.Values[v]++ {
			if cp.Var(v) == m.Objective && a.Values[v] >= best {
				break
			}
			next(i + 1)
		}
		a.Values[v] = m.Low[v]
	}
	next(0)
	return best, values
}

// Models of both families have the optimum of enumeration, with learning and, in turn, without. Everything that is
// derived on the way follows.
func TestMinimise(t *testing.T) {
	t.Parallel()
	n := 3000
	if testing.Short() {
		n = 1000
	}
	for name, family := range map[string]func(*rand.Rand) *cp.Model{"shops": shop, "optional activities": booking} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			feasible, infeasible, conflicts := 0, 0, int64(0)
			for seed := range n {
				r := rand.New(rand.NewPCG(uint64(seed), 1))
				m := family(r)
				if len(m.Low) > 10 {
					continue
				}
				best, witness := brute(m)
				k := NewWith(m, Options{Off: []Device{0, Learning}[seed%4/3]})
				k.limit = int64(1 + r.IntN(20))
				w := observe(k)
				if w.all = nil; witness != nil {
					w.all = [][]int64{witness}
				}
				o := k.Minimise(context.Background(), nil, 5000, func(o *Outcome) {
					if o.Best == best {
						w.all = nil // better ones are looked for now
					}
					if a := (cp.Assignment{Model: m, Values: o.Values}); o.Values != nil && !meets(a) {
						t.Fatalf("seed %d: no solution: %v", seed, o.Values)
					}
				})
				conflicts += k.Conflicts
				if w.wrong != nil {
					t.Fatalf("seed %d: %v", seed, w.wrong)
				}
				if best == infinite {
					infeasible++
				} else {
					feasible++
				}
				if o.Infeasible != (best == infinite) || best < infinite && (!o.Optimal || o.Best != best) {
					t.Fatalf("seed %d: optimum %d, got %+v", seed, best, o)
				}
			}
			if feasible < n/10 || infeasible < n/20 || conflicts < int64(n/10) {
				t.Errorf("%d feasible models, %d infeasible and %d conflicts are too few", feasible, infeasible, conflicts)
			}
		})
	}
}

// The sums of linear constraints follow from the bounds, after any sequence of events and their undoing.
func TestLinearSums(t *testing.T) {
	t.Parallel()
	rows := 0
	for seed := range 400 {
		p := newPool(seed)
		for range 3 {
			draws["linear"](p)
			draws["nogood"](p)
		}
		k := New(p.m)
		k.Minimise(context.Background(), nil, 50, nil)
		k.backtrack(0)
		for _, a := range k.all {
			r, ok := a.(*linear)
			if !ok {
				continue
			}
			rows++
			sum := int64(0)
			for g := range r.groups {
				least := int64(infinite)
				for _, x := range r.groups[g].choices {
					if !k.heldAt(x.If.Not(), int32(k.head)) {
						least = min(least, x.Value)
					}
				}
				if least < infinite {
					sum += least
				}
			}
			for _, x := range r.terms {
				sum += x.times * k.lowAt(x.sv, int32(k.head))
			}
			require.Same(t, fmt.Sprintf("seed %d: the sum", seed), r.sum, sum)
		}
	}
	if rows < 1000 {
		t.Errorf("%d rows", rows)
	}
}
