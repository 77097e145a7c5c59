package lcg

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/cp"
)

// Each planted fault is found by the checks of mixed models: a premise dropped from
// the explanations of each kind of reason, a bound moved, a nogood minimised by
// later premises, a constraint that the propagators have wrong.
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
		"minimised by later premises": func(k *Kernel, w *watched) {
			w.after = func(premises []cp.Lit) []cp.Lit {
				a := &k.analysis
				return slices.DeleteFunc(premises, func(l cp.Lit) bool {
					e := a.at[l.SV]
					if l == premises[0] || k.events[e].why.by == decided {
						return false
					}
					for _, p := range k.explanation(l, k.events[e].why, e) {
						if at := k.eventOf(p); at >= 0 && k.events[at].level > 0 && (!a.in[p.SV] || a.need[p.SV] < p.B) {
							return false
						}
					}
					return true
				})
			}
		},
		"a premise of a nogood too weak": func(k *Kernel, w *watched) {
			w.after = func(premises []cp.Lit) []cp.Lit {
				premises[len(premises)-1].B--
				return premises
			}
		},
	}
	for _, kind := range []string{"conflict", "crossed", "nogood", "*lcg.linear", "*lcg.delays", "*lcg.pairs", "*lcg.disjunctive", "*lcg.cumulative"} {
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
				if checkMix(seed, fault) != nil || seed == 0 && checkLoop(fault) != nil {
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

// A kernel that has a constraint wrong by one is found out, whether it asks for too much
// or for too little.
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
			case cp.Nogood:
				if by > 0 {
					return c[1:]
				}
				return append(cp.Nogood{cp.False}, c...)
			}
			return c
		}
		for _, kind := range []string{"nogood", "linear", "delay", "no-overlap", "cumulative"} {
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

// checkLoop solves a model in which a ≥ 4 makes b ≥ 7 and b ≥ 3 makes a ≥ 5: in the
// nogood {a ≥ 5, b ≥ 7, d}, each of the first two follows from the other.
func checkLoop(spoil func(k *Kernel, w *watched)) error {
	m := &cp.Model{}
	c, d, e, a, b := m.Bool(), m.Bool(), m.Bool(), m.Int(0, 9), m.Int(0, 9)
	m.Objective = m.Int(0, 1)
	m.Decisions, m.Integers = []cp.Var{c, d, e}, []cp.Var{a, b}
	m.Add(cp.Nogood{c.Is(), b.AtMost(2)}, cp.Nogood{b.AtLeast(3), a.AtMost(4)}, cp.Nogood{a.AtLeast(4), b.AtMost(6)},
		cp.Nogood{a.AtLeast(5), b.AtLeast(7), d.Is(), e.Is()}, cp.Nogood{a.AtLeast(5), b.AtLeast(7), d.Is(), e.AtMost(0)},
		cp.Nogood{m.Objective.AtMost(0), d.AtMost(0)})
	k := NewWith(m, Options{Off: Upwards})
	w := observe(k)
	w.all = solutions(m)
	if spoil != nil {
		spoil(k, w)
	}
	k.SetPhases([]int64{1, 1, 1, 0, 0, 0})
	o := k.Minimise(context.Background(), nil, 0, func(o *Outcome) {
		w.all = slices.DeleteFunc(w.all, func(s []int64) bool { return s[m.Objective] >= o.Best })
	})
	if w.wrong == nil && o.Best != 0 {
		return fmt.Errorf("the optimum is 0, got %+v", o)
	}
	return w.wrong
}

// A premise isn't left out because of a later one.
func TestMinimisation(t *testing.T) {
	t.Parallel()
	if err := checkLoop(nil); err != nil {
		t.Error(err)
	}
}
