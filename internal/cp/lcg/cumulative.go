// SPDX-License-Identifier: MIT

package lcg

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/internal/cp"
)

// cumulative enforces a capacity by its timetable. An activity that runs, with latest
// start s⁺ before its earliest end e⁻, runs during [s⁺, e⁻), its compulsory part. With
// h(t) the demands of the compulsory parts at t,
//
//	h(t) > capacity                                    can't be
//	h(t) + demand i > capacity, start i > t - length i  gives start i > t
//
// for each i that has no compulsory part at t, and mirrored (Beldiceanu, Carlsson: A new multi-resource cumulatives
// constraint with negative heights, 2002). The explanation is for one time t (Schutt, Feydy, Stuckey, Wallace:
// Explaining the cumulative propagator, 2011). Each activity in the sum h(t) runs, starts by t and ends after t; as
// many as are not needed are left out. The next time is chosen such that i moves as far as it can, by its length at
// most. If it would pass a step of the timetable in many such moves, it is explained for all of the step at once:
// activities that run all over [t, u), and i, which meets it. O(n log n) and, for each activity that moves, the steps
// that it passes.
//
// If a model asks for it, energy comes after it. It doesn't pay for projects and reservations. The same seven of twelve
// random projects of 30 activities on four resources were closed, with 2 % fewer conflicts in 2 to 20 times as long. No
// crowd of reservations was closed sooner.
type cumulative struct {
	c *cp.Cumulative
	lazy
	steps   []step
	changes []change
	energy  *energy // nil: none
}

// step is a time from which the height is constant up to the next step.
type step struct{ at, height int64 }

type change struct{ at, by int64 }

// manySteps is the number of moves of an activity over one step that are explained one by one.
const manySteps = 16

func (p *cumulative) attach(k *Kernel, self int32) {
	p.self = self
	k.slow[self] = true
	for _, s := range p.c.Starts {
		k.watch(2*int32(s.At), self, 0)
		k.watch(2*int32(s.At)+1, self, 0)
		k.watch(s.If.SV, self, 0)
	}
}

// part returns the compulsory part of activity i, empty if end ≤ begin.
func (p *cumulative) part(k *Kernel, i int) (begin, end int64) {
	s := p.c.Starts[i]
	if !k.holds(s.If) {
		return 0, 0
	}
	return -k.low[2*s.At+1], k.low[2*s.At] + p.c.Lengths[i]
}

func (p *cumulative) propagate(k *Kernel) {
	before := k.Events
	k.work += 4 * int64(len(p.c.Starts))
	p.changes, p.steps = p.changes[:0], p.steps[:0]
	for i := range p.c.Starts {
		if begin, end := p.part(k, i); begin < end {
			p.changes = append(p.changes, change{begin, p.c.Demands[i]}, change{end, -p.c.Demands[i]})
		}
	}
	slices.SortFunc(p.changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	height := int64(0)
	for i, c := range p.changes {
		height += c.by
		if i+1 == len(p.changes) || p.changes[i+1].at > c.at {
			if p.steps = append(p.steps, step{c.at, height}); height > p.c.Capacity {
				k.fail(p.cover(k, nil, c.at, c.at+1, -1, height-p.c.Capacity-1)...)
				return
			}
		}
	}
	for i := range p.c.Starts {
		if !p.push(k, i) || !p.pull(k, i) {
			return
		}
	}
	if p.energy != nil && k.Events == before { // else it is called again
		p.energy.propagate(k)
	}
}

// cover appends the premises of the height all over [from, to) without activity i.
// Demands of at most spare in all are left out.
func (p *cumulative) cover(k *Kernel, out []cp.Lit, from, to int64, i int, spare int64) []cp.Lit {
	for j, s := range p.c.Starts {
		begin, end := p.part(k, j)
		if j == i || begin > from || to > end {
			continue
		}
		if d := p.c.Demands[j]; d <= spare {
			spare -= d
			continue
		}
		out = append(out, s.If, s.At.AtLeast(to-p.c.Lengths[j]), s.At.AtMost(from))
	}
	return out
}

// above returns the excess of the height at a step, without activity i, over the room beside it: it is above 0 if i
// can't run then.
func (p *cumulative) above(k *Kernel, n, i int) int64 {
	x := p.steps[n]
	if begin, end := p.part(k, i); begin <= x.at && x.at < end {
		return 0 // it does run then
	}
	return x.height + p.c.Demands[i] - p.c.Capacity
}

// push raises the earliest start of activity i to a time at which it fits.
func (p *cumulative) push(k *Kernel, i int) bool {
	s, length := p.c.Starts[i], p.c.Lengths[i]
	if k.fails(s.If) {
		return true
	}
	n := max(0, p.find(k.low[2*s.At]))
	for ; n+1 < len(p.steps) && p.steps[n].at < k.low[2*s.At]+length; n++ {
		over := p.above(k, n, i)
		last := min(p.steps[n+1].at, k.low[2*s.At]+length) - 1 // the last time of the step that i would cover
		if over <= 0 || last < k.low[2*s.At] {
			continue
		}
		for over > 0 && k.low[2*s.At] < p.steps[n+1].at {
			// It covers [from, to) at least partly.
			to := min(p.steps[n+1].at, k.low[2*s.At]+length)
			from := to - 1
			if p.steps[n+1].at-to > manySteps*length {
				from, to = max(p.steps[n].at, k.low[2*s.At]), p.steps[n+1].at
				k.within(from, to)
			}
			premises := append(p.cover(k, k.analysis.block[:0], from, to, i, over-1), s.At.AtLeast(from-length+1))
			k.analysis.block = premises
			if !k.imply(s.At.AtLeast(to), premises) {
				return false
			}
			if k.fails(s.If) {
				return true
			}
		}
	}
	return true
}

// pull lowers the latest start of activity i to a time at which it fits.
func (p *cumulative) pull(k *Kernel, i int) bool {
	s, length := p.c.Starts[i], p.c.Lengths[i]
	if k.fails(s.If) {
		return true
	}
	latest := func() int64 { return -k.low[2*s.At+1] }
	for n := p.find(latest() + length - 1); n >= 0; n-- {
		if n+1 < len(p.steps) && p.steps[n+1].at <= latest() {
			return true
		}
		over := p.above(k, n, i)
		for over > 0 && latest()+length > p.steps[n].at {
			from := max(p.steps[n].at, latest())
			if n+1 < len(p.steps) && from >= p.steps[n+1].at {
				break
			}
			to := from + 1
			if n+1 < len(p.steps) && from-p.steps[n].at > manySteps*length {
				from, to = p.steps[n].at, min(p.steps[n+1].at, latest()+length)
				k.within(from, to)
			}
			premises := append(p.cover(k, k.analysis.block[:0], from, to, i, over-1), s.At.AtMost(to-1))
			k.analysis.block = premises
			if !k.imply(s.At.AtMost(from-length), premises) {
				return false
			}
			if k.fails(s.If) {
				return true
			}
		}
	}
	return true
}

// find returns the last step that begins at or before a time, or -1.
func (p *cumulative) find(at int64) int {
	n, found := slices.BinarySearchFunc(p.steps, at, func(s step, at int64) int { return cmp.Compare(s.at, at) })
	if found {
		return n
	}
	return n - 1
}

func (p *cumulative) explain(*Kernel, cp.Lit, int32, int32, []cp.Lit) []cp.Lit {
	panic("lcg: all explanations of a timetable are stored")
}
