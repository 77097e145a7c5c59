// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
)

// Step is a part of a wave: moves that go one after another while some nodes are cordoned, so that kube-scheduler has each
// successor where the plan has it.
type Step struct {
	Wave int `json:"wave"` // from 1
	// Closed are nodes in use that are cordoned for the step. Those that become empty are so all the time.
	Closed []string `json:"cordoned_nodes,omitempty"`
	Moves  []Move   `json:"moves"`
}

// Played is where a simulation of kube-scheduler ends.
type Played struct {
	Alone State `json:"alone"` // with the plan's emptied nodes cordoned and no others
	// Steered is after the steps; Steps is how many these are, and Closed the most nodes in use that one of them cordons.
	Steered State `json:"steered"`
	Steps   int   `json:"steps"`
	Closed  int   `json:"most_cordoned"`
	// Left counts the moves that no step makes: they are planned again after these.
	Left int `json:"moves_left,omitempty"`
}

// steered is a move in numbers.
type steered struct {
	Move
	i, k, from, to int
}

// steerer makes the steps of a plan.
type steerer struct {
	in    *Instance
	x     *Scheduler
	fence []bool // nodes that the plan leaves empty
}

// mostScored bounds the nodes that are scored for the steps of a plan, some seconds: later steps would change anyway.
const mostScored = 3_000_000

// steer divides the waves into steps. Moves that kube-scheduler makes by itself go first. If there is none, the nodes
// that it would prefer are closed, for the move that needs fewest of them, and every move that then works is made.
// Moves without a step, or without one within mostScored, are left to the next plan. O(steps × moves × nodes).
func (in *Instance) steer(plan view.Plan, p *Plan) {
	s := &steerer{in: in, x: NewScheduler(in)}
	s.fence = in.unused(s.x.State.C, plan)
	for h, on := range s.fence {
		if on {
			p.fence = append(p.fence, in.Hosts[h].ID)
		}
	}
	names, hosts := map[string]move{}, map[string]int{}
	for i := range in.Pods {
		for k, name := range in.Pods[i] {
			names[name] = move{i, k}
		}
	}
	for h := range in.Hosts {
		hosts[in.Hosts[h].ID] = h
	}
	steps := []Step{}
	for w, wave := range p.Waves {
		var left []steered
		for _, m := range wave {
			to, there := hosts[m.To]
			if !there {
				continue // a node to buy: it has to be there first
			}
			v := steered{Move: m, i: names[m.Pod].i, k: names[m.Pod].k, from: view.Nowhere, to: to}
			if m.From != "" && !m.AtOnce {
				v.from = hosts[m.From]
			}
			left = append(left, v)
		}
		back := s.clear(left, hosts)
		for len(left) > 0 {
			var gone []steered
			if s.x.scored < mostScored {
				gone, left = s.next(left)
			}
			if len(gone) == 0 || back != nil && len(left) > 0 {
				p.Played.Left += len(left)
				if back != nil {
					p.Played.Left += len(gone)
					back()
				}
				break
			}
			step := Step{Wave: w + 1}
			for _, m := range gone {
				step.Moves = append(step.Moves, m.Move)
			}
			for h, closed := range s.x.Closed {
				if closed && !s.fence[h] {
					step.Closed = append(step.Closed, in.Hosts[h].ID)
				}
			}
			steps = append(steps, step)
		}
	}
	p.Steps = steps
	p.Played.Steered, p.Played.Steps = in.state(s.x.State.C, in.withRoom(s.x.State.Plan, plan)), len(steps)
	for k := range steps {
		p.Played.Closed = max(p.Played.Closed, len(steps[k].Closed))
	}
	p.Played.Alone = in.alone(plan, s.fence, names, p.Waves)
}

// clear takes away the pods that go at once before the first successor starts, and returns the function that has them all
// where they were; nil if there are none.
func (s *steerer) clear(wave []steered, hosts map[string]int) (back func()) {
	for _, m := range wave {
		if m.AtOnce {
			s.x.Evict(m.i, m.k)
			before := back
			back = func() {
				if s.x.State.Plan[m.i][m.k] >= 0 {
					s.x.Evict(m.i, m.k)
				}
				if before != nil {
					before()
				}
				s.x.Place(m.i, m.k, hosts[m.From])
			}
		}
	}
	return back
}

// unused returns the nodes that a plan leaves without pods that count, but for those that are kept or closed already.
func (in *Instance) unused(c *view.Consolidation, plan view.Plan) []bool {
	used, fence := c.Used(plan), make([]bool, c.Existing)
	for h := range fence {
		fence[h] = !used.Has(h) && !in.Hosts[h].Kept && !in.Hosts[h].Closed && !in.Cordoned[in.Hosts[h].ID]
	}
	return fence
}

// next makes the moves of a step, and returns the rest. It makes the moves that work without closing a node in use. If
// there are none, it closes the nodes for one move, and for more of them as long as the others still work.
func (s *steerer) next(left []steered) (gone, rest []steered) {
	copy(s.x.Closed, s.fence)
	if gone, left = s.gather(left); len(gone) > 0 {
		return gone, left
	}
	for try := 0; try < tried && len(left) > 0; try++ {
		before := slices.Clone(s.x.Closed)
		extra, first := s.closing(left, gone)
		if first < 0 {
			break
		}
		for l := range gone {
			m := &gone[len(gone)-1-l]
			s.back(m)
		}
		for _, h := range extra {
			s.x.Closed[h] = true
		}
		again, failed := s.gather(slices.Clone(gone))
		if len(failed) > 0 {
			for l := range again {
				s.back(&again[len(again)-1-l])
			}
			copy(s.x.Closed, before)
			s.gather(slices.Clone(gone))
			break
		}
		gone = again
		if s.goes(left, first) {
			gone = append(gone, left[first])
			left = slices.Delete(left, first, first+1)
		}
		more, others := s.gather(left)
		gone, left = append(gone, more...), others
	}
	return gone, left
}

// back undoes a move.
func (s *steerer) back(m *steered) {
	s.x.Evict(m.i, m.k)
	if m.from >= 0 {
		s.x.Place(m.i, m.k, m.from)
	}
}

// gather makes the moves after which kube-scheduler has one choice, the plan's, and returns those and the others. If a
// pod of a job couldn't go, the job isn't asked again in a pass: its pods are alike.
func (s *steerer) gather(left []steered) (gone, rest []steered) {
	for again := true; again; {
		again = false
		rest = nil
		stay := map[int]bool{}
		for n := range left {
			if i := left[n].i; stay[i] || !s.goes(left, n) {
				stay[i] = true
				rest = append(rest, left[n])
				continue
			}
			again = true
			gone = append(gone, left[n])
		}
		left = rest
	}
	return gone, rest
}

// goes makes a move if kube-scheduler has one choice, that node or the one of a later move of the job, which then gets
// this one's.
func (s *steerer) goes(left []steered, n int) bool {
	m := &left[n]
	to, ok := s.choice(m)
	if ok && to != m.to {
		ok = false
		for l := n + 1; l < len(left) && !ok; l++ {
			if o := &left[l]; o.i == m.i && o.to == to && o.from != m.to && m.from != to && !o.Detour && !m.Detour {
				o.to, m.to = m.to, o.to
				o.To, m.To = m.To, o.To
				ok = true
			}
		}
	}
	if ok {
		s.x.Place(m.i, m.k, m.to)
	} else if m.from >= 0 {
		s.x.Place(m.i, m.k, m.from)
	}
	return ok
}

// choice takes the pod of a move away and returns the node that its successor gets, if there is one choice, also while
// the pod that goes is there still.
func (s *steerer) choice(m *steered) (int, bool) {
	if m.from >= 0 {
		s.x.Evict(m.i, m.k)
	}
	nodes := s.x.Choice(m.i, m.k)
	if len(nodes) != 1 {
		return 0, false
	}
	if m.from >= 0 && !s.x.Closed[m.from] {
		needs := s.x.preferencesOf(m.i).needs
		s.x.used[m.from].add(needs, 1)
		while := s.x.Choice(m.i, m.k)
		s.x.used[m.from].add(needs, -1)
		if !slices.Equal(while, nodes) {
			return 0, false
		}
	}
	return nodes[0], true
}

// tried is how many moves are asked for the nodes that they need closed.
const tried = 16

// closing returns the nodes to close for one of the moves, the fewest of those tried, but no node that pods of the step
// have gone to. It also returns the number of that move, negative if none can go.
func (s *steerer) closing(left, gone []steered) (best []int, first int) {
	first = -1
	type kind struct{ i, to int }
	seen := map[kind]bool{}
	for n := range left {
		m := &left[n]
		if len(seen) == tried || seen[kind{m.i, m.to}] {
			continue
		}
		seen[kind{m.i, m.to}] = true
		extra, can := s.closingFor(m)
		can = can && !slices.ContainsFunc(gone, func(g steered) bool { return slices.Contains(extra, g.to) })
		if can && (first < 0 || len(extra) < len(best)) {
			best, first = extra, n
		}
	}
	return best, first
}

// closingFor returns the nodes that have to be closed so that kube-scheduler has one choice for a move. It closes the
// nodes that the scheduler prefers or likes as much, again and again, for scores change with the nodes that are left.
func (s *steerer) closingFor(m *steered) (extra []int, ok bool) {
	if s.x.preferencesOf(m.i).cordoned {
		return nil, false
	}
	before := slices.Clone(s.x.Closed)
	defer func() { copy(s.x.Closed, before) }()
	for range s.x.Closed {
		to, one := s.choice(m)
		nodes := s.x.Feasible(m.i, m.k)
		scores := s.x.scores(m.i, nodes)
		if m.from >= 0 {
			s.x.Place(m.i, m.k, m.from)
		}
		if one && to == m.to {
			return extra, true
		}
		at := slices.Index(nodes, m.to)
		if at < 0 {
			return nil, false
		}
		closed := len(extra)
		for n, h := range nodes {
			// If not all are examined, any may be the best of the examined ones.
			if h != m.to && (scores[n] >= scores[at] || len(nodes) > examined(len(s.x.used))) {
				s.x.Closed[h] = true
				extra = append(extra, h)
			}
		}
		if closed == len(extra) {
			if m.from < 0 || s.x.Closed[m.from] {
				return nil, false
			}
			s.x.Closed[m.from] = true // scores are others as long as the pod that goes is there
			extra = append(extra, m.from)
		}
	}
	return nil, false
}

// alone plays the waves with the emptied nodes cordoned and no others: kube-scheduler draws among the best. After
// mostScored the pods of a wave are placed at its end.
func (in *Instance) alone(plan view.Plan, fence []bool, names map[string]move, waves [][]Move) State {
	x := NewScheduler(in)
	copy(x.Closed, fence)
	rng := rand.New(rand.NewPCG(1, 1))
	var waiting []move
	for i := range x.State.Plan {
		for k, h := range x.State.Plan[i] {
			if h < 0 && !in.isRoom(i) {
				waiting = append(waiting, move{i, k})
			}
		}
	}
	place := func() {
		waiting = slices.DeleteFunc(waiting, func(m move) bool {
			nodes := x.Choice(m.i, m.k)
			if len(nodes) > 0 {
				x.Place(m.i, m.k, nodes[rng.IntN(len(nodes))])
			}
			return len(nodes) > 0
		})
	}
	for _, wave := range waves {
		for _, m := range wave {
			if v := names[m.Pod]; m.From != "" && x.State.Plan[v.i][v.k] >= 0 {
				x.Evict(v.i, v.k)
				waiting = append(waiting, v)
				if x.scored < mostScored && !m.AtOnce {
					place()
				}
			}
		}
		place()
	}
	return in.state(x.State.C, in.withRoom(x.State.Plan, plan))
}
