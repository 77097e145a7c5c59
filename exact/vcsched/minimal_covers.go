package vcsched

import (
	"math"
	"slices"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/exact"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// memoryMargin is by how much more than FitTolerance the memory and budget rows
// of a formulation are widened for HiGHS: more than the tolerance to which it
// satisfies rows, so that no set of needs that fits is near a row's end, where
// a presolve or a cut may be wrong by a rounding.
const memoryMargin = exact.Margin * exact.Tolerance

// covers makes HiGHS's idea of what fits exact. Its rows are widened, which is
// a relaxation, and each set of tasks C that HiGHS puts on a host (or moves)
// and that doesn't fit exactly is forbidden by rows in small integers, which
// every placement that fits satisfies:
//
// Let v1 > v2 > … > vq be the memory needs in C, and dj the number of its tasks
// that need vj or more. A host with dj tasks of vj or more, for every j, holds at
// least as much as C: match the tasks in decreasing order. So on every host the
// number of tasks of vj or more is below dj for some j. For q = 1 that is a row;
// else a binary z is 1 where the number reaches dj, and the q of them sum to at
// most q - 1.
type covers struct {
	in   *model.VCSched
	u    *model.VCSchedUnits
	f    vcbounds.Formulation // widened, with the rows so far
	z    map[reached]int
	last []int32 // the placement forbidden last
}

// reached names a binary: host (-1: what moves) has a number of tasks of at
// least so much memory.
type reached struct {
	host   int
	memory model.Memory
	number int
}

func newCovers(in *model.VCSched, u *model.VCSchedUnits, f *vcbounds.Formulation) *covers {
	c := &covers{in: in, u: u, f: *f, z: map[reached]int{}}
	c.f.Vars, c.f.Rows = slices.Clone(f.Vars), slices.Clone(f.Rows)
	for _, r := range f.Memory {
		c.f.Rows[r].Upper += model.FitTolerance + memoryMargin
	}
	if f.Budget >= 0 {
		c.f.Rows[f.Budget].Upper += model.FitTolerance + memoryMargin
	}
	c.f.Encode = func(p *model.Placement) []float64 {
		if len(c.z) > 0 {
			return nil // f's points have no values for z
		}
		return f.Encode(p)
	}
	return c
}

// forbid adds rows against what doesn't fit in the placement; false if there is
// nothing, or HiGHS has come back with the same placement.
func (c *covers) forbid(hosts []int32) bool {
	if slices.Equal(hosts, c.last) {
		return false
	}
	c.last = slices.Clone(hosts)
	on := make([][]model.Memory, c.in.Hosts)
	var moved []model.Memory
	for i, h := range hosts {
		m := c.u.Exact[c.u.Job[i]]
		on[h] = append(on[h], m)
		if c.u.Current != nil && c.u.Current[i] >= 0 && c.u.Current[i] != h {
			moved = append(moved, m)
		}
	}
	any := false
	for _, set := range on {
		if set = minimalCover(set, c.u.ExactCap); set != nil {
			any = true
			for h := range c.in.Hosts {
				c.add(set, h)
			}
		}
	}
	if c.u.Current != nil {
		if set := minimalCover(moved, c.u.ExactBudget); set != nil {
			any = true
			c.add(set, -1)
		}
	}
	return any
}

// minimalCover is a subset of the needs, in decreasing order, that is above the
// capacity and isn't without any one of them; nil if they all fit.
func minimalCover(needs []model.Memory, capacity model.Memory) []model.Memory {
	slices.SortFunc(needs, func(a, b model.Memory) int {
		switch {
		case b.Less(a):
			return -1
		case a.Less(b):
			return 1
		}
		return 0
	})
	var sum model.Memory
	for _, m := range needs {
		sum = sum.Add(m)
	}
	if !capacity.Less(sum) {
		return nil
	}
	var kept []model.Memory
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

// add forbids the set of needs on a host, or among what moves.
func (c *covers) add(set []model.Memory, host int) {
	var steps []reached
	for k, m := range set {
		if k+1 == len(set) || set[k+1] != m {
			steps = append(steps, reached{host, m, k + 1})
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

// number is the number of tasks of at least so much memory on the host, or that
// move, as a sum of variables, and the most that it can be.
func (c *covers) number(r reached) (terms []milp.Term, most int) {
	seen := map[int]bool{}
	for i, j := range c.u.Job {
		if c.u.Exact[j].Less(r.memory) {
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
