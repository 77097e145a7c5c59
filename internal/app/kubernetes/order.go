// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"context"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/consolidation/planstate"
	"github.com/gapwise/gapwise/model"
)

// mover finds an order of moves. Pods of a job are alike: which of those that move goes to which of their nodes
// is open until it goes.
type mover struct {
	in       *Instance
	s        *planstate.State
	plan     view.Plan
	left     []move
	after    map[move]string
	detoured map[move]bool
}

type move struct{ i, k int }

// order makes the waves: in each, as many of the moves that are left as find room after those before,
// under the budgets. If none does, pods that want each other's company go at once, or a pod takes a detour over a node
// that has room, once; if there is none, the rest is stuck. It changes which pod of a job goes where.
func (w *way) order(ctx context.Context, plan view.Plan) {
	c := w.c
	m := &mover{in: w.in, s: planstate.Of(c, c.Today()), plan: plan, after: map[move]string{}, detoured: map[move]bool{}}
	for i := range plan {
		for k, h := range plan[i] {
			if h != c.Jobs[i].Current[k] && h >= 0 && !w.in.isRoom(i) {
				m.left = append(m.left, move{i, k})
			}
		}
	}
	for len(m.left) > 0 && ctx.Err() == nil {
		wave := m.wave()
		if len(wave) == 0 {
			wave = m.company()
		}
		if len(wave) == 0 {
			wave = m.detour()
		}
		if len(wave) == 0 {
			break
		}
		w.waves = append(w.waves, wave)
	}
	for _, x := range m.left {
		w.stuck = append(w.stuck, m.named(x, int(m.plan[x.i][x.k])))
	}
	w.in.settle(m.s, plan, len(w.stuck) == 0)
	w.end = m.s.Plan
}

// company moves the pods of jobs that want each other's company and no other's, if all of them are left and their
// budgets allow that all go at once: when none is there any more, the first may start anywhere it fits.
func (m *mover) company() []Move {
	for q := range m.in.Rules {
		r := &m.in.Rules[q]
		if r.Type != model.RuleTogether || !slices.Contains(r.Others, r.Jobs[0]) {
			continue
		}
		all, ok := m.leaving(r.Others)
		if !ok || len(all) == 0 {
			continue
		}
		if wave := m.together(all); wave != nil {
			m.left = slices.DeleteFunc(m.left, func(x move) bool { return slices.Contains(all, x) })
			return wave
		}
	}
	return nil
}

// leaving returns the pods of some jobs that have a node, and whether each of them is left to move, and may at once.
func (m *mover) leaving(jobs []string) (all []move, ok bool) {
	taken := map[int]int{} // of each budget
	for i := range m.in.Jobs {
		if !slices.Contains(jobs, m.in.Jobs[i].ID) {
			continue
		}
		for k, h := range m.s.Plan[i] {
			x := move{i, k}
			switch {
			case h < 0:
				continue
			case !slices.Contains(m.left, x) || m.blocked(x, taken) != "":
				return nil, false
			}
			for _, b := range m.in.Budgets[m.in.Pods[i][k]] {
				taken[b]++
			}
			all = append(all, x)
		}
	}
	return all, true
}

// together takes pods away and has their successors start one after another where the plan has them; nil if they can't.
func (m *mover) together(all []move) (wave []Move) {
	broken, from := m.s.Broken, make([]int32, len(all))
	for n, x := range all {
		said := m.named(x, int(m.plan[x.i][x.k]))
		said.AtOnce = true
		wave = append(wave, said)
		from[n] = m.s.Plan[x.i][x.k]
	}
	for _, x := range all {
		m.s.Remove(x.i, x.k)
	}
	left := slices.Clone(all)
	for again := true; again; {
		n := len(left)
		left = slices.DeleteFunc(left, func(x move) bool { return m.shift(x, int(m.plan[x.i][x.k])) })
		again = len(left) < n
	}
	if len(left) == 0 && m.s.Broken <= broken {
		return wave
	}
	for _, x := range all {
		if m.s.Plan[x.i][x.k] >= 0 {
			m.s.Remove(x.i, x.k)
		}
	}
	for n, x := range all {
		m.s.Add(x.i, x.k, int(from[n]))
	}
	return nil
}

// named returns a move in names.
func (m *mover) named(x move, to int) Move {
	s := Move{Pod: m.in.Pods[x.i][x.k], To: m.host(to), After: m.after[x]}
	if from := m.s.Plan[x.i][x.k]; from >= 0 {
		s.From = m.host(int(from))
	}
	return s
}

func (m *mover) host(h int) string { return m.s.C.In.Hosts[h].ID }

// wave takes the moves that can be made at once, one after another.
func (m *mover) wave() (wave []Move) {
	taken, gone := map[int]int{}, map[string]bool{} // of each budget; workloads without one
	var left []move
	for again := true; again; {
		again, left = false, nil
		for _, x := range m.left {
			why, only := m.blocked(x, taken), m.unguarded(x)
			if gone[only] {
				why = "the pod of " + only + " that goes first"
			}
			if why != "" {
				m.after[x] = why
				left = append(left, x)
				continue
			}
			said, ok := m.send(x)
			if !ok {
				to := int(m.plan[x.i][x.k])
				m.after[x] = roomOn + m.host(to)
				if m.fits(x, to) {
					m.after[x] = "the pods that it must be with, or away from, on " + m.host(to)
				}
				left = append(left, x)
				continue
			}
			again = true
			for _, b := range m.in.Budgets[m.in.Pods[x.i][x.k]] {
				taken[b]++
			}
			if only != "" {
				gone[only] = true
			}
			wave = append(wave, said)
		}
		m.left = left
	}
	return wave
}

// roomOn begins the reason of a move that waits for room.
const roomOn = "room on "

// fits reports whether a node has room for a pod that moves there.
func (m *mover) fits(x move, to int) bool {
	if from := m.s.Plan[x.i][x.k]; from >= 0 {
		m.s.Remove(x.i, x.k)
		defer m.s.Add(x.i, x.k, int(from))
	}
	return m.s.Fits(x.i, to)
}

// send moves a pod to its node, or to the node of another waiting pod of its job, which then gets its node.
func (m *mover) send(x move) (Move, bool) {
	to := m.plan[x.i][x.k]
	if said := m.named(x, int(to)); m.shift(x, int(to)) {
		return said, true
	}
	for _, y := range m.left {
		other := m.plan[y.i][y.k]
		if y.i != x.i || y.k == x.k || other == to || m.s.Plan[y.i][y.k] == other || m.s.Plan[x.i][x.k] == other || m.s.C.Jobs[y.i].Current[y.k] == to {
			continue
		}
		if said := m.named(x, int(other)); m.shift(x, int(other)) {
			m.plan[x.i][x.k], m.plan[y.i][y.k] = other, to
			return said, true
		}
	}
	return Move{}, false
}

// blocked names the budget that allows no more evictions at once, "" if none does.
func (m *mover) blocked(x move, taken map[int]int) string {
	if m.s.Plan[x.i][x.k] < 0 {
		return ""
	}
	for _, b := range m.in.Budgets[m.in.Pods[x.i][x.k]] {
		if budget := &m.in.Cluster.Budgets[b]; taken[b] >= max(1, int(budget.Status.DisruptionsAllowed)) {
			return "budget " + budget.Name
		}
	}
	return ""
}

// unguarded names the workload of a pod that is to be evicted if no budget protects it, so that one pod of it goes at a
// time; "" for others, and for Jobs.
func (m *mover) unguarded(x move) string {
	p := m.in.converter.jobs[x.i].pods[x.k]
	if kind, _ := owned(p.Pod); m.in.converter.SameStep || m.s.Plan[x.i][x.k] < 0 || kind == "Job" || len(m.in.Budgets[p.id]) > 0 {
		return ""
	}
	return workload(p.Pod)
}

// shift moves a task if it may be there, and reports whether it does.
func (m *mover) shift(x move, to int) bool {
	from := m.s.Plan[x.i][x.k]
	broken := m.s.Broken
	if from >= 0 {
		m.s.Remove(x.i, x.k)
	}
	first := !m.s.Can(x.i, x.k, to) && m.first(x.i) && m.s.Fits(x.i, to) && m.s.C.Jobs[x.i].Allowed.Has(to) && !m.s.C.Jobs[x.i].Pinned
	if first || m.s.Can(x.i, x.k, to) {
		m.s.Add(x.i, x.k, to)
		if m.s.Broken <= broken || first {
			return true
		}
		m.s.Remove(x.i, x.k)
	}
	if from >= 0 {
		m.s.Add(x.i, x.k, int(from))
	}
	return false
}

// first reports whether a pod of a job is the first of those that its affinity asks for, itself among them, and has no
// other rules: kube-scheduler lets it start alone, and the others follow.
func (m *mover) first(i int) (is bool) {
	id := m.in.Jobs[i].ID
	for k := range m.in.Rules {
		r := &m.in.Rules[k]
		if !slices.Contains(r.Jobs, id) {
			if r.Type != model.RuleTogether && slices.Contains(r.Others, id) {
				return false
			}
			continue
		}
		if r.Type != model.RuleTogether {
			return false
		}
		if is = slices.Contains(r.Others, id) && len(r.Standing) == 0; !is {
			return false
		}
		for j := range m.in.Jobs {
			if slices.Contains(r.Others, m.in.Jobs[j].ID) && slices.ContainsFunc(m.s.Plan[j], func(h int32) bool { return h >= 0 }) {
				return false
			}
		}
	}
	return is
}

// detour moves the first task that can go somewhere else than it should, on a node in use if there is one.
func (m *mover) detour() []Move {
	for _, x := range m.left {
		if m.s.Plan[x.i][x.k] < 0 || m.detoured[x] {
			continue
		}
		var inUse, others []int
		for h := range m.s.C.Existing {
			if from := m.s.Plan[x.i][x.k]; int(from) == h || h == int(m.plan[x.i][x.k]) {
				continue
			}
			if m.s.Tasks[h] > 0 {
				inUse = append(inUse, h)
			} else {
				others = append(others, h)
			}
		}
		for _, h := range append(inUse, others...) {
			said := m.named(x, h)
			if said.Detour = true; m.shift(x, h) {
				m.detoured[x] = true
				return []Move{said}
			}
		}
	}
	return nil
}
