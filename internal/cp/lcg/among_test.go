// SPDX-License-Identifier: MIT

package lcg

import "github.com/gapwise/gapwise/internal/cp"

func init() {
	draws["among"] = func(p *pool) {
		c := &cp.Among{X: p.int()}
		c.At = p.m.Low[c.X] + p.Int64N(3) - 1
		for range p.IntN(4) {
			c.Of, c.By = append(c.Of, p.int()), append(c.By, p.Int64N(5)-2)
		}
		p.m.Add(c)
	}
}
