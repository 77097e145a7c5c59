// SPDX-License-Identifier: MIT

package lcg

import "github.com/gapwise/gapwise/internal/cp"

func init() {
	draws["preemptive"] = func(p *pool) {
		c := &cp.Preemptive{}
		for range 1 + p.IntN(4) {
			from, to := p.start(), p.start()
			x := cp.Windowed{If: []cp.Lit{from.If, to.If}, From: from.At, After: p.Int64N(3) - 1, To: to.At, Length: 1 + p.Int64N(3)}
			if p.IntN(4) == 0 {
				x.If = append(x.If, p.lit())
			}
			c.Items = append(c.Items, x)
		}
		p.m.Add(c)
	}
}
