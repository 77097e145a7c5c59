// SPDX-License-Identifier: MIT

package lcg

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/cp"
)

// The checks of mixed models find each planted fault: a premise dropped from the explanations of each kind of reason, a
// bound moved, a constraint that the propagators have wrong.
func TestPlantedFaults(t *testing.T) {
	t.Parallel()
	kinds := func(k *Kernel, why reason) string {
		switch why.by {
		case decided:
			return "conflict"
		case crossed:
			return "crossed"
		case excluded:
			return "nogood"
		case implied:
			return fmt.Sprintf("%T", k.all[k.spans[why.tag].by])
		}
		return fmt.Sprintf("%T", k.all[why.by])
	}
	faults := map[string]func(k *Kernel, w *watched){
		"a premise of a nogood too weak": func(k *Kernel, w *watched) {
			w.after = func(premises []cp.Lit) []cp.Lit {
				premises[len(premises)-1].B--
				return premises
			}
		},
	}
	for _, kind := range []string{"conflict", "crossed", "nogood", "*lcg.linear", "*lcg.delays", "*lcg.pairs", "*lcg.disjunctive", "*lcg.cumulative", "*lcg.preemptive"} {
		spoil := func(change func(p []cp.Lit) []cp.Lit) func(k *Kernel, w *watched) {
			return func(k *Kernel, w *watched) {
				w.spoil = func(premises []cp.Lit, l cp.Lit, why reason) []cp.Lit {
					if len(premises) > 0 && kinds(k, why) == kind {
						premises = change(slices.Clone(premises))
					}
					return premises
				}
			}
		}
		faults[kind+": first premise dropped"] = spoil(func(p []cp.Lit) []cp.Lit { return p[1:] })
		faults[kind+": last premise dropped"] = spoil(func(p []cp.Lit) []cp.Lit { return p[:len(p)-1] })
		faults[kind+": bound too weak"] = spoil(func(p []cp.Lit) []cp.Lit { p[len(p)-1].B--; return p })
		faults[kind+": bound too strong"] = spoil(func(p []cp.Lit) []cp.Lit { p[0].B++; return p })
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range 3000 {
				if checkMix(seed, fault) != nil {
					return
				}
				if _, err := checkAlone("no-overlap", seed, fault, nil); err != nil {
					return
				}
			}
			t.Error("not found")
		})
	}
}

// The checks find a kernel with a constraint wrong by one, whether it asks for too much or for too little.
func TestWrongConstraints(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]int64{"too much": 1, "too little": -1} {
		other := func(c cp.Constraint) cp.Constraint {
			switch c := c.(type) {
			case *cp.Linear:
				d := *c
				d.AtMost -= by
				return &d
			case *cp.Delay:
				d := *c
				d.By = [][]int64{slices.Clone(c.By[0])}
				d.By[0][0] += by
				d.By = append(d.By, c.By[1:]...)
				return &d
			case *cp.NoOverlap:
				d := *c
				d.Lengths = slices.Clone(c.Lengths)
				d.Lengths[0] += by
				return &d
			case *cp.Cumulative:
				d := *c
				d.Capacity -= by
				return &d
			case *cp.Preemptive:
				items := slices.Clone(c.Items)
				items[0].Length += by
				return &cp.Preemptive{Items: items}
			case cp.Nogood:
				if by > 0 {
					return c[1:]
				}
				return append(cp.Nogood{cp.False}, c...)
			}
			return c
		}
		for _, kind := range []string{"nogood", "linear", "delay", "no-overlap", "cumulative", "preemptive"} {
			found := false
			for seed := 0; seed < 1000 && !found; seed++ {
				_, err := checkAlone(kind, seed, nil, other)
				found = err != nil
			}
			if !found {
				t.Errorf("%s: %s isn't found", kind, name)
			}
		}
	}
}
