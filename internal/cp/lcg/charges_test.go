// SPDX-License-Identifier: MIT

package lcg

import "github.com/gapwise/gapwise/internal/cp"

func init() {
	draws["charges"] = func(p *pool) {
		c := &cp.Charges{AtMost: p.Int64N(16) - 2}
		for range 1 + p.IntN(4) {
			x := cp.Charged{Start: p.start(), Length: 1 + p.Int64N(4), Absent: p.Int64N(6), Slope: max(0, p.Int64N(6)-3)}
			paid := int64(0)
			for t := p.Int64N(8) - 4; len(x.Rate.Times) < 1+p.IntN(5); {
				x.Rate.Times, x.Rate.Paid = append(x.Rate.Times, t), append(x.Rate.Paid, paid)
				step := 1 + p.Int64N(4)
				t, paid = t+step, paid+step*p.Int64N(4)
			}
			c.Items = append(c.Items, x)
		}
		if times := p.Int64N(5) - 2; times != 0 {
			c.Terms = []cp.Term{{Times: times, Var: p.int()}}
		}
		p.m.Add(c)
	}
}
