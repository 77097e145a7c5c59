// SPDX-License-Identifier: MIT

package tiers

import (
	"maps"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
)

// What a job is at.
const (
	waits uint8 = iota
	runs
	lifted  // it has left its processors and gets others at the same instant
	transit // it has left its processors and gets others later
	over
)

// node is a beginning of a schedule: the events so far, in order. Between two points of time there is a span of open
// length.
//
// Jobs that share processors, one in the foreground and one in the background of each, are a group. All of its jobs may
// change tiers at once, at no cost, and none can do so by itself: so it has two orientations, the one stored and the
// other. An orientation is entered only if each process in the background then finds a use below the threshold above
// it. Another orientation, in which a process has started above one in the background, can only be left. If a group may
// enter both, their order between two points doesn't matter: the group is free, and its time in each orientation is a
// variable.
type node struct {
	spans  int // so many points have been
	phase  []uint8
	on     [][]int32 // by process: its processor
	back   []bool    // in the background, in the stored orientation
	moving []int32   // the point at which its migration began; -1: none
	placed []int32   // the point at which it got its processors
	ended  []int32
	life   []int32 // index of the group's current life; -1: none
	lives  []life
	points []point
	events []event
	before []bool // processors where anything could have started in the background before the last point
	// must holds processors; one of them is taken next, at this point (see Search.moves).
	must    []int32
	visited []string // what has been where since something else than a migration
	lifts   []lift   // jobs that move at this point
	stuck   []int32  // jobs of groups of which a job is lifted and that had an orientation to keep: they turn at this very instant
	eager   int32    // the last job that started at this point; -1: none
	taken   []int32  // its processors
	parked  int32    // the job that has left its processors by the last event, of a group that could turn; -1: none
	left    []int32  // these processors
	// again holds the jobs that migrate again, last the jobs that don't and are at their last processors: see
	// Search.parts.
	again, last uint32
	plan        []int8 // starts and ends to come, in order: see Search.plans
	// beneath holds, for a job that has left its processors and has no others yet, the jobs of its group that could be
	// in the background then: see Search.under.
	beneath [MostJobs]uint16
	bound   float64
	value   []float64 // of the variables of its program
}

// life is a group between two points at which it changes.
type life struct {
	from, to int // to: -1 while it lasts
	jobs     []int32
	back     []bool // in the first orientation
	free     bool
	rate     [2][]float64 // of each job in each orientation; what isn't free is in the first
	moves    []bool       // the job's migration isn't over
	ender    int32        // the job whose end ends it; -1: it ends with something else
}

// point is the point of a start: no sooner than the job's submission, or then.
type point struct {
	at     int
	submit float64
	then   bool
}

// What happens at a point.
const (
	starts uint8 = iota
	ends
	leaves // a group changes its orientation for good
	moves
	arrives // a migration is over
	parks   // a job leaves its processors and gets others later
)

// event is an event of a job at a point.
type event struct {
	what  uint8
	at    int
	job   int32
	on    []int32
	since int     // arrives: the point at which the migration began
	jobs  []int32 // of its group then
	back  []bool  // their tiers at that moment
}

func (p *problem) root() *node {
	n := &node{phase: make([]uint8, p.n), on: make([][]int32, p.n), back: make([]bool, p.n), moving: make([]int32, p.n), placed: make([]int32, p.n),
		ended: make([]int32, p.n), life: make([]int32, p.n), before: make([]bool, p.t.Processors), eager: -1, parked: -1}
	for k := range p.n {
		n.moving[k], n.life[k] = -1, -1
	}
	for q := range n.before {
		n.before[q] = true
	}
	return n
}

// child returns a copy, at a new point after a span or at the same.
func (p *problem) child(n *node, span bool) *node {
	c := *n
	c.phase, c.on, c.back, c.moving = slices.Clone(n.phase), slices.Clone(n.on), slices.Clone(n.back), slices.Clone(n.moving)
	c.placed, c.ended, c.life, c.lives = slices.Clone(n.placed), slices.Clone(n.ended), slices.Clone(n.life), slices.Clone(n.lives)
	c.points, c.events = slices.Clip(n.points), slices.Clip(n.events)
	c.must, c.value, c.parked, c.left = nil, nil, -1, nil
	if span {
		c.spans++
		c.before = p.available(n)
		c.eager, c.taken = -1, nil
	}
	return &c
}

// hosts returns, by processor, the jobs there in the stored orientation; -1: none.
func (p *problem) hosts(n *node) (front, back []hosted) {
	front, back = make([]hosted, p.t.Processors), make([]hosted, p.t.Processors)
	for q := range front {
		front[q].job, back[q].job = -1, -1
	}
	for k := range p.n {
		if n.phase[k] != runs {
			continue
		}
		for i, q := range n.on[k] {
			h := hosted{int32(k), p.t.Jobs[k].CPU(i)}
			if n.back[k] {
				back[q] = h
			} else {
				front[q] = h
			}
		}
	}
	return front, back
}

type hosted struct {
	job int32
	use int64
}

// available returns the processors at which any process could start in the background, for all of the span after a
// node. They have no process, or a foreground process of a use below the threshold that stays there. A job alone on its
// processors stays in the foreground unless the background is faster.
func (p *problem) available(n *node) []bool {
	all := make([]bool, p.t.Processors)
	front, back := p.hosts(n)
	for q := range all {
		x := front[q]
		if back[q].job >= 0 {
			if x.job >= 0 {
				continue
			}
			x = back[q]
		}
		if x.job < 0 {
			all[q] = true
			continue
		}
		j, l := &p.t.Jobs[x.job], &n.lives[n.life[x.job]]
		alone := len(l.jobs) == 1 && j.Foreground >= j.Efficiency
		all[q] = x.use < p.t.Threshold && (alone || !l.free && !n.back[x.job])
	}
	return all
}

// regroup makes the groups again after a change. A life goes on if its group is unchanged.
func (p *problem) regroup(n *node, ender int32) {
	front, back := p.hosts(n)
	root := make([]int32, p.n)
	for k := range root {
		root[k] = int32(k)
	}
	find := func(k int32) int32 {
		for root[k] != k {
			k = root[k]
		}
		return k
	}
	for q := range front {
		if a, b := front[q].job, back[q].job; a >= 0 && b >= 0 {
			a, b = find(a), find(b)
			root[max(a, b)] = min(a, b)
		}
	}
	groups := map[int32][]int32{}
	for k := range int32(p.n) {
		if n.phase[k] == runs {
			groups[find(k)] = append(groups[find(k)], k)
		} else {
			p.close(n, k, ender)
		}
	}
	for _, first := range slices.Sorted(maps.Keys(groups)) {
		jobs := groups[first]
		l := life{from: n.spans, to: -1, jobs: jobs, ender: -1, free: true}
		for _, k := range jobs {
			l.back, l.moves = append(l.back, n.back[k]), append(l.moves, n.moving[k] >= 0)
		}
		for o := range 2 {
			l.free = l.free && p.enters(n, front, back, jobs, o == 1)
			for _, k := range jobs {
				l.rate[o] = append(l.rate[o], p.rate(n, front, back, k, o == 1))
			}
		}
		if len(jobs) == 1 {
			most := max(l.rate[0][0], l.rate[1][0])
			l.rate[0][0], l.rate[1][0] = most, most
		}
		if at := n.life[first]; at >= 0 {
			x := &n.lives[at]
			if slices.Equal(x.jobs, jobs) && slices.Equal(x.back, l.back) && slices.Equal(x.moves, l.moves) && x.free == l.free &&
				slices.Equal(x.rate[0], l.rate[0]) && slices.Equal(x.rate[1], l.rate[1]) {
				continue
			}
		}
		for _, k := range jobs {
			p.close(n, k, ender)
		}
		n.lives = append(n.lives, l)
		for _, k := range jobs {
			n.life[k] = int32(len(n.lives) - 1)
		}
	}
}

// close ends the life of a job's group.
func (p *problem) close(n *node, k, ender int32) {
	if at := n.life[k]; at >= 0 {
		n.life[k] = -1
		if x := &n.lives[at]; x.to < 0 {
			x.to = n.spans
			if ender >= 0 && slices.Contains(x.jobs, ender) {
				x.ender = ender
			}
		}
	}
}

// enters reports whether a group may enter an orientation.
func (p *problem) enters(n *node, front, back []hosted, jobs []int32, other bool) bool {
	for _, k := range jobs {
		if n.back[k] {
			continue
		}
		for _, q := range n.on[k] {
			above := front[q]
			if back[q].job < 0 {
				continue
			}
			if other {
				above = back[q]
			}
			if above.use >= p.t.Threshold {
				return false
			}
		}
	}
	return true
}

// rate returns the rate of a job in an orientation.
func (p *problem) rate(n *node, front, back []hosted, k int32, other bool) float64 {
	j := &p.t.Jobs[k]
	switch {
	case n.moving[k] >= 0:
		return 0
	case n.back[k] == other:
		return float64(j.Foreground) / view.FullRate
	}
	least := j.Efficiency
	for i, q := range n.on[k] {
		above := front[q]
		if !n.back[k] {
			above = back[q]
		}
		if above.job >= 0 {
			least = min(least, j.BackgroundRate(j.CPU(i), view.FullRate-above.use))
		}
	}
	return float64(least) / view.FullRate
}

// turn changes the stored orientation of a job's group.
func (p *problem) turn(n *node, k int32) {
	for _, x := range n.lives[n.life[k]].jobs {
		n.back[x] = !n.back[x]
	}
}
