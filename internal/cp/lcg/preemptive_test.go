// SPDX-License-Identifier: MIT

package lcg

import (
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/cp"
)

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

// The checks notice an explanation that lacks a premise, and a length that is one too long.
func TestPreemptiveFaults(t *testing.T) {
	t.Parallel()
	noticed := func(spoil func(k *Kernel, w *watched), other func(c cp.Constraint) cp.Constraint) bool {
		for seed := range 1000 {
			if _, err := checkAlone("preemptive", seed, spoil, other); err != nil {
				return true
			}
		}
		return false
	}
	longer := func(c cp.Constraint) cp.Constraint {
		x, ok := c.(*cp.Preemptive)
		if !ok {
			return c
		}
		items := slices.Clone(x.Items)
		items[0].Length++
		return &cp.Preemptive{Items: items}
	}
	fewer := func(_ *Kernel, w *watched) {
		w.after = func(premises []cp.Lit) []cp.Lit { return premises[min(1, len(premises)):] }
	}
	if !noticed(nil, longer) {
		t.Error("a length that is one too long wasn't noticed")
	}
	if !noticed(fewer, nil) {
		t.Error("an explanation without its first premise wasn't noticed")
	}
}
