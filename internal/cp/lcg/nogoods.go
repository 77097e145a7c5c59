// SPDX-License-Identifier: MIT

package lcg

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/internal/cp"
)

// nogood is a set of premises that can't all hold, at most one of each signed
// variable. The first two are watched: they don't hold, unless all others do or one is
// refuted. If it is the reason of an event, this contradicts the first premise.
type nogood struct {
	premises []cp.Lit
	learned  bool
	number   int64 // of a learned one; for others, of their constraint
	lbd      int32
	activity float64
}

// addNogood adds a nogood and sets the bounds that follow from it. A learned one comes with the premise that doesn't
// hold first, then one of the highest level.
func (k *Kernel) addNogood(premises []cp.Lit, learned bool, lbd int32) {
	number := int64(k.posted)
	if learned {
		number = k.number
		k.number++
	} else {
		premises = k.normal(premises)
		if premises == nil {
			return
		}
	}
	n := int32(len(k.nogoods))
	k.nogoods = append(k.nogoods, nogood{premises: premises, learned: learned, number: number, lbd: lbd, activity: k.bump})
	k.attach(n)
}

// normal returns the premises without repetitions and without premises that hold from the beginning; nil if one can't
// hold.
func (k *Kernel) normal(premises []cp.Lit) []cp.Lit {
	out := make([]cp.Lit, 0, len(premises))
	for _, l := range premises {
		if k.refuted(l) {
			return nil
		}
		if k.holds(l) {
			continue
		}
		if i := slices.IndexFunc(out, func(m cp.Lit) bool { return m.SV == l.SV }); i >= 0 {
			out[i].B = max(out[i].B, l.B)
			continue
		}
		out = append(out, l)
	}
	return out
}

// attach watches a nogood's first two premises and sets the bounds that follow.
func (k *Kernel) attach(n int32) {
	p := k.nogoods[n].premises
	switch len(p) {
	case 0:
		k.fail()
		k.cause.why = reason{excluded, n}
		return
	case 1:
		k.exclude(n)
		return
	}
	k.watches[p[0].SV] = append(k.watches[p[0].SV], watch{p[0].B, n, p[1]})
	k.watches[p[1].SV] = append(k.watches[p[1].SV], watch{p[1].B, n, p[0]})
	if k.holds(p[1]) {
		k.exclude(n)
	}
}

// exclude sets that the first premise of a nogood doesn't hold, all others do. If it
// is of an optional variable, this is present.
func (k *Kernel) exclude(n int32) {
	l := k.nogoods[n].premises[0]
	if k.set(l.Not(), excluded, n) && l.SV >= 0 && k.present[l.SV>>1].SV >= 0 {
		k.set(k.present[l.SV>>1], excluded, n)
	}
}

// wakeNogoods looks at the nogoods that watch a literal of sv with a bound above
// before and at most bound.
func (k *Kernel) wakeNogoods(sv int32, before, bound int64) {
	list := k.watches[sv]
	kept := 0
	k.work += int64(len(list)) / 4
	for i := 0; i < len(list); i++ {
		w := list[i]
		if w.bound <= before || w.bound > bound || k.refuted(w.blocker) {
			list[kept] = w
			kept++
			continue
		}
		p := k.nogoods[w.nogood].premises
		if p[0].SV == sv {
			p[0], p[1] = p[1], p[0]
		}
		w.blocker = p[0]
		if k.refuted(p[0]) {
			list[kept] = w
			kept++
			continue
		}
		j := 2
		for j < len(p) && k.holds(p[j]) {
			j++
		}
		k.work += 2 + int64(j)
		if j < len(p) {
			p[1], p[j] = p[j], p[1]
			k.watches[p[1].SV] = append(k.watches[p[1].SV], watch{p[1].B, w.nogood, p[0]})
			continue
		}
		list[kept] = w
		kept++
		if k.holds(p[0]) {
			k.touch(w.nogood)
			k.fail(p...)
			k.cause.why = reason{excluded, w.nogood}
		} else {
			k.exclude(w.nogood)
		}
		if k.failed {
			kept += copy(list[kept:], list[i+1:])
			break
		}
	}
	k.watches[sv] = list[:kept]
}

// touch counts the use of a nogood in a conflict.
func (k *Kernel) touch(n int32) { k.nogoods[n].activity += k.bump }

// reduce drops half of the learned nogoods with more than three levels, most levels and least use first, and all that
// can't come to hold any more. It must be at level 0 and all events forgotten, so that no nogood is a reason.
func (k *Kernel) reduce() {
	var worst []int32
	for n := range k.nogoods {
		if g := &k.nogoods[n]; g.learned && g.lbd > 3 && len(g.premises) > 2 {
			worst = append(worst, int32(n))
		}
	}
	slices.SortFunc(worst, func(a, b int32) int {
		x, y := &k.nogoods[a], &k.nogoods[b]
		return cmp.Or(cmp.Compare(y.lbd, x.lbd), cmp.Compare(x.activity, y.activity), cmp.Compare(a, b))
	})
	for _, n := range worst[:len(worst)/2] {
		k.nogoods[n].premises = nil
	}
	kept := k.nogoods[:0]
	for _, g := range k.nogoods {
		if g.premises == nil || slices.ContainsFunc(g.premises, k.refuted) {
			k.proof.delete(&g)
			continue
		}
		g.premises = slices.DeleteFunc(g.premises, k.holds)
		kept = append(kept, g)
	}
	k.nogoods = kept
	for sv := range k.watches {
		k.watches[sv] = k.watches[sv][:0]
	}
	for n := range k.nogoods {
		k.attach(int32(n))
	}
}
