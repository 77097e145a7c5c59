// SPDX-License-Identifier: MIT

package lcg

import "github.com/gapwise/gapwise/internal/cp"

// analysis holds the data for learning a nogood: premises, at most one of each signed variable.
type analysis struct {
	in     []bool  // of each signed variable: it has a premise
	need   []int64 // its bound
	at     []int32 // its event, -1 if it had no premise yet
	used   []int32 // signed variables that are or were in
	latest int32   // the last event of a premise
	top    int32   // the level that the learning is about
	count  int     // premises of this level

	buffer, block []cp.Lit
	stamp         []int64
	marks         int64
}

func newAnalysis(n int) analysis {
	a := analysis{latest: -1, in: make([]bool, n), need: make([]int64, n), at: make([]int32, n)}
	for i := range a.at {
		a.at[i] = -1
	}
	return a
}

// clear forgets all premises.
func (a *analysis) clear() {
	for _, sv := range a.used {
		a.in[sv], a.at[sv] = false, -1
	}
	a.used, a.count, a.latest = a.used[:0], 0, -1
}

// blame takes in a premise, unless it holds at level 0.
func (k *Kernel) blame(l cp.Lit) {
	e := k.eventOf(l)
	if e < 0 || k.events[e].level == 0 {
		return
	}
	a := &k.analysis
	if a.in[l.SV] {
		if a.need[l.SV] >= l.B {
			return
		}
		if k.events[a.at[l.SV]].level == a.top {
			a.count--
		}
	} else if a.at[l.SV] < 0 {
		a.used = append(a.used, l.SV)
	}
	if k.events[e].level == a.top {
		a.count++
	}
	a.in[l.SV], a.need[l.SV], a.at[l.SV] = true, l.B, e
	a.latest = max(a.latest, e)
	k.decisions.bump(l.SV>>1, k.bump)
}

// resolve replaces the premise of event e by its explanation.
func (k *Kernel) resolve(e int32) {
	x, a := &k.events[e], &k.analysis
	a.in[x.sv] = false
	if x.level == a.top {
		a.count--
	}
	if x.why.by == excluded {
		k.touch(x.why.tag)
	}
	for _, p := range k.explanation(cp.Lit{SV: x.sv, B: a.need[x.sv]}, x.why, e) {
		k.blame(p)
	}
}

// learn turns the conflict into a nogood whose first premise alone holds on its level (first unique implication point)
// and whose second is of the next level. It returns the nogood and that level, to go back to: -1 if the premises hold
// without a decision, -2 if it was interrupted, since bounds that creep make chains of a hundred thousand events.
//
// It looks at the events backwards, so that each premise is explained once, by literals that held before.
func (k *Kernel) learn() (premises []cp.Lit, level int32) {
	a := &k.analysis
	defer a.clear()
	if k.test != nil {
		k.conflict = k.test.explained(k.conflict, cp.False, reason{decided, 0}, int32(len(k.events)))
	}
	a.top = 0
	for _, l := range k.conflict {
		if e := k.eventOf(l); e >= 0 {
			a.top = max(a.top, k.events[e].level)
		}
	}
	if a.top == 0 {
		return nil, -1
	}
	for _, l := range k.conflict {
		k.blame(l)
	}
	e := a.latest
	for steps := 1; ; e-- {
		if sv := k.events[e].sv; a.in[sv] && a.at[sv] == e {
			if a.count == 1 {
				break
			}
			if steps++; steps%64 == 0 && k.interrupted != nil && k.interrupted(20) {
				return nil, -2
			}
			k.resolve(e)
		}
	}
	first := k.events[e].sv
	premises = append(premises, cp.Lit{SV: first, B: a.need[first]})
	for _, sv := range a.used {
		if !a.in[sv] || sv == first {
			continue
		}
		premises = append(premises, cp.Lit{SV: sv, B: a.need[sv]})
	}
	if k.test != nil {
		premises = k.test.learned(premises)
	}
	for i := 1; i < len(premises); i++ {
		if lv := k.events[a.at[premises[i].SV]].level; lv > level {
			level = lv
			premises[1], premises[i] = premises[i], premises[1]
		}
	}
	return premises, level
}

// findCore finds the assumptions that refute another one, by the events of the assumptions before it: only these have
// been decided.
func (k *Kernel) findCore(l cp.Lit) {
	a := &k.analysis
	defer a.clear()
	a.top = -1
	k.core = append(k.core, l)
	if l.SV >= 0 {
		k.blame(l.Not())
		k.blame(k.present[l.SV>>1])
	}
	for e := a.latest; e >= 0; e-- {
		sv := k.events[e].sv
		switch {
		case !a.in[sv] || a.at[sv] != e:
		case k.events[e].why.by == decided:
			k.core = append(k.core, cp.Lit{SV: sv, B: a.need[sv]})
		default:
			k.resolve(e)
		}
	}
}

// lbd returns the number of levels of a nogood's premises.
func (k *Kernel) lbd(premises []cp.Lit) int32 {
	a := &k.analysis
	a.marks++
	n := int32(0)
	for _, l := range premises {
		if e := k.eventOf(l); e >= 0 {
			lv := int(k.events[e].level)
			for len(a.stamp) <= lv {
				a.stamp = append(a.stamp, 0)
			}
			if a.stamp[lv] != a.marks {
				a.stamp[lv] = a.marks
				n++
			}
		}
	}
	return n
}
