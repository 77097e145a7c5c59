// SPDX-License-Identifier: MIT

package lcg

import (
	"math/rand/v2"

	"github.com/gapwise/gapwise/internal/cp"
)

// booking draws a model of optional activities in windows on one to three resources, some of which pay. It minimises
// the loss by the activities that don't run.
func booking(r *rand.Rand) *cp.Model {
	m := &cp.Model{}
	n := 1 + r.IntN(4)
	horizon := int64(4 + r.IntN(6))
	var starts []cp.Start
	var lengths []int64
	lost := &cp.Linear{}
	for range n {
		length := int64(1 + r.IntN(3))
		low := int64(r.IntN(3))
		in := m.Bool()
		s := cp.Start{If: in.Is(), At: m.Optional(in.Is(), low, max(low, min(horizon-length, low+int64(r.IntN(6)))))}
		m.Decisions, m.Integers = append(m.Decisions, in), append(m.Integers, s.At)
		starts, lengths = append(starts, s), append(lengths, length)
		lost.Groups = append(lost.Groups, []cp.Choice{{If: in.Is()}, {If: in.AtMost(0), Value: int64(1 + r.IntN(3))}})
	}
	m.Objective = m.Int(0, 12)
	lost.Terms = []cp.Term{{Times: -1, Var: m.Objective}}
	m.Add(lost)
	for range 1 + r.IntN(3) {
		c := &cp.Cumulative{Starts: starts, Lengths: lengths, Capacity: int64(1 + r.IntN(4)), Energy: r.IntN(2) == 0}
		for range n {
			c.Demands = append(c.Demands, int64(1+r.IntN(3)))
		}
		m.Add(c)
	}
	for range r.IntN(3) {
		c := &cp.Charges{AtMost: int64(r.IntN(5 * n))}
		for i := range n {
			x := cp.Charged{Start: starts[i], Length: lengths[i], Absent: int64(r.IntN(6))}
			paid := int64(0)
			for t := int64(0); t <= horizon; t += int64(1 + r.IntN(4)) {
				if len(x.Rate.Times) > 0 {
					paid += int64(r.IntN(4)) * (t - x.Rate.Times[len(x.Rate.Times)-1])
				}
				x.Rate.Times, x.Rate.Paid = append(x.Rate.Times, t), append(x.Rate.Paid, paid)
			}
			c.Items = append(c.Items, x)
		}
		if r.IntN(2) == 0 {
			c.Terms = []cp.Term{{Times: -2, Var: m.Objective}}
		}
		m.Add(c)
	}
	return m
}
