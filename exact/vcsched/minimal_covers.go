// SPDX-License-Identifier: MIT

package vcsched

import (
	"math"
	"slices"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// memoryMargin is the amount, beyond FitTolerance, by which a formulation's rows of rigid resources and of the budget
// are widened for HiGHS. It is more than the tolerance to which HiGHS satisfies rows, so that no set of tasks that fits
// is near a row's end, where presolve or a cut may be wrong by a rounding.
const memoryMargin = 10 * engine.Tolerance

// covers adds cover inequalities that make HiGHS's rows of memory, of the other rigid resources and of the budget
// exact. The rows are widened, which is a relaxation. Suppose HiGHS puts a set of tasks on a host (or moves it) that
// doesn't fit exactly. Then rows with small integers, which every placement that fits satisfies, forbid a minimal
// subset C of it that doesn't fit; if hosts differ, on the hosts where it doesn't fit:
//
// Let v_1 > v_2 > … > v_q be the distinct memory needs in C, d_j the number of tasks
// in C that need ≥ v_j, and N_j the number of tasks on a host that need ≥ v_j. If
// N_j ≥ d_j for all j, the host's tasks need at least as much as C (match them in
// decreasing order), so they don't fit. Hence N_j ≤ d_j - 1 for some j. With q = 1
// that is a row. Else binaries z_j with N_j ≥ d_j ⇒ z_j = 1, as N_j - (most_j - d_j + 1)
// z_j ≤ d_j - 1, satisfy Σ_j z_j ≤ q - 1.
type covers struct {
	in   *model.VCSched
	u    *view.VCSched
	f    vcbounds.Formulation // widened, with the rows so far
	z    map[reached]int
	last []int32 // the placement forbidden last
}

// reached names a binary z_j: on the host (-1: among the tasks that move), number
// tasks or more need at least that much of the resource.
type reached struct {
	host, resource int
	need           view.Memory
	number         int
}

func newCovers(in *model.VCSched, u *view.VCSched, f *vcbounds.Formulation) *covers {
	c := &covers{in: in, u: u, f: *f, z: map[reached]int{}}
	c.f.Vars, c.f.Rows = slices.Clone(f.Vars), slices.Clone(f.Rows)
	for _, rows := range f.Rigid {
		for _, r := range rows {
			c.f.Rows[r].Upper += view.FitTolerance*max(1, c.f.Rows[r].Upper) + memoryMargin
		}
	}
	if f.Budget >= 0 {
		c.f.Rows[f.Budget].Upper += view.FitTolerance*max(1, in.Sizes()[0].Memory) + memoryMargin
	}
	c.f.Encode = func(p *model.Placement) []float64 {
		x := make([]float64, len(c.f.Vars))
		copy(x, f.Encode(p))
		for s, z := range c.z {
			terms, _ := c.number(s)
			on := 0.0
			for _, t := range terms {
				on += x[t.Var]
			}
			if on >= float64(s.number) {
				x[z] = 1
			}
		}
		return x
	}
	return c
}

// forbid adds rows that exclude the placement. It returns false if the placement
// fits, or is the one that was excluded last.
func (c *covers) forbid(hosts []int32) bool {
	if slices.Equal(hosts, c.last) {
		return false
	}
	c.last = slices.Clone(hosts)
	excluded := false
	for r, needs := range c.u.ExactRigid {
		on := make([][]view.Memory, c.in.Hosts)
		for i, h := range hosts {
			on[h] = append(on[h], needs[c.u.Job[i]])
		}
		capacity := func(h int) view.Memory { return c.u.Classes[c.u.ClassOf(int32(h))].ExactCap[r] }
		for h, set := range on {
			if set = minimalCover(set, capacity(h)); set != nil {
				excluded = true
				for g := range c.in.Hosts {
					if capacity(g).Less(sumOf(set)) {
						c.add(set, r, g)
					}
				}
			}
		}
	}
	if c.u.Current != nil {
		var moved []view.Memory
		for i, h := range hosts {
			if c.u.Current[i] >= 0 && c.u.Current[i] != h {
				moved = append(moved, c.u.Exact[c.u.Job[i]])
			}
		}
		if set := minimalCover(moved, c.u.ExactBudget); set != nil {
			excluded = true
			c.add(set, 0, -1)
		}
	}
	return excluded
}

func sumOf(needs []view.Memory) (sum view.Memory) {
	for _, m := range needs {
		sum = sum.Add(m)
	}
	return sum
}

// minimalCover returns a minimal subset of the needs, in decreasing order, that sums to more than the capacity; nil if
// the sum of all doesn't.
func minimalCover(needs []view.Memory, capacity view.Memory) []view.Memory {
	slices.SortFunc(needs, func(a, b view.Memory) int {
		switch {
		case b.Less(a):
			return -1
		case a.Less(b):
			return 1
		}
		return 0
	})
	sum := sumOf(needs)
	if !capacity.Less(sum) {
		return nil
	}
	var kept []view.Memory
	for k := len(needs) - 1; k >= 0; k-- {
		if without := sum.Sub(needs[k]); capacity.Less(without) {
			sum = without
		} else {
			kept = append(kept, needs[k])
		}
	}
	slices.Reverse(kept)
	return kept
}

// add forbids the set of needs of a resource on the host, or of memory among the tasks
// that move (-1).
func (c *covers) add(set []view.Memory, resource, host int) {
	var steps []reached
	for k, m := range set {
		if k+1 == len(set) || set[k+1] != m {
			steps = append(steps, reached{host, resource, m, k + 1})
		}
	}
	if len(steps) == 1 {
		terms, _ := c.number(steps[0])
		c.f.AddRow("", math.Inf(-1), float64(steps[0].number-1), terms...)
		return
	}
	var all []milp.Term
	for _, s := range steps {
		z, ok := c.z[s]
		if !ok {
			z = c.f.AddVar(milp.Var{Upper: 1, Integer: true})
			c.z[s] = z
			terms, most := c.number(s)
			c.f.AddRow("", math.Inf(-1), float64(s.number-1), append(terms, milp.Term{Var: z, Coef: -float64(most - s.number + 1)})...)
		}
		all = append(all, milp.Term{Var: z, Coef: 1})
	}
	c.f.AddRow("", math.Inf(-1), float64(len(steps)-1), all...)
}

// number returns N_j as a sum of variables, and its largest possible value.
func (c *covers) number(r reached) (terms []milp.Term, most int) {
	seen := map[int]bool{}
	for i, j := range c.u.Job {
		if c.u.ExactRigid[r.resource][j].Less(r.need) {
			continue
		}
		if r.host >= 0 {
			most++
			if e := c.f.E[i] + r.host; !seen[e] {
				seen[e] = true
				terms = append(terms, milp.Term{Var: e, Coef: 1})
			}
			continue
		}
		if cur := c.u.Current[i]; cur >= 0 {
			most++
			for h := range c.in.Hosts {
				if h != int(cur) {
					terms = append(terms, milp.Term{Var: c.f.E[i] + h, Coef: 1})
				}
			}
		}
	}
	return terms, most
}
