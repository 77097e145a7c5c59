// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// plainNodes is onNodes in the most direct way: it looks at each node and at each job that waits, and knows nothing of
// the pass before but the reservation.
type plainNodes struct {
	*machine
	before, jump func(a, b int32) int
	strict       bool
	length       func(k int32) int64
	reserves     func(head int32) bool
	queue        []int32
	running      []int32
	lists        map[int32][]int32
	free, then   *plainState
	arrived      []int32
	stale        bool
	head         int32
	shadow       int64
}

// plainState is what is free on each node, and how many jobs are there, -1: one alone.
type plainState struct {
	m    *view.BatchNodes
	free [][]int64
	jobs []int
}

func newPlainState(m *view.BatchNodes) *plainState {
	s := &plainState{m: m, jobs: make([]int, len(m.Group))}
	for _, g := range m.Group {
		s.free = append(s.free, slices.Clone(m.Capacity[g]))
	}
	return s
}

func (s *plainState) clone() *plainState {
	c := newPlainState(s.m)
	copy(c.jobs, s.jobs)
	for p := range s.free {
		copy(c.free[p], s.free[p])
	}
	return c
}

func (s *plainState) change(n *view.NodeNeeds, list []int32, sign int) {
	for i, p := range list {
		for r, need := range n.Each {
			s.free[p][r] -= int64(sign) * need
		}
		if i > 0 && list[i-1] == p {
			continue
		}
		switch {
		case !n.Exclusive:
			s.jobs[p] += sign
		case sign > 0:
			s.jobs[p] = -1
		default:
			s.jobs[p] = 0
		}
	}
}

// each returns how many processes fit on a node.
func (s *plainState) each(n *view.NodeNeeds, p int32) int {
	if s.jobs[p] < 0 || n.Exclusive && s.jobs[p] > 0 {
		return 0
	}
	most := int64(1 << 40)
	if n.Spread {
		most = 1
	}
	for r, need := range n.Each {
		if need > 0 {
			most = min(most, s.free[p][r]/need)
		}
	}
	return int(most)
}

// order returns the nodes of some groups, those that fit best first.
func (s *plainState) order(groups []int) (all []int32) {
	full, lowest := make([]float64, len(s.free)), make([]int32, len(s.free))
	for p := range s.free {
		g := s.m.Group[p]
		for r, c := range s.m.Capacity[g] {
			if c > 0 {
				full[p] += float64(s.free[p][r]) / float64(c)
			}
		}
		for q := range s.free { // the lowest of its class
			if s.m.Group[q] == g && slices.Equal(s.free[p], s.free[q]) && cmp.Compare(s.jobs[p], 0) == cmp.Compare(s.jobs[q], 0) {
				lowest[p] = int32(q)
				break
			}
		}
		if slices.Contains(groups, int(g)) {
			all = append(all, int32(p))
		}
	}
	slices.SortFunc(all, func(a, b int32) int {
		return cmp.Or(cmp.Compare(full[a], full[b]), cmp.Compare(s.m.Group[a], s.m.Group[b]), cmp.Compare(lowest[a], lowest[b]), cmp.Compare(a, b))
	})
	return all
}

// fit returns nodes with room by each, in the order of what is free in s.
func (s *plainState) fit(n *view.NodeNeeds, processes int, each func(p int32) int) []int32 {
	for _, groups := range n.Alternatives {
		var list []int32
		for _, p := range s.order(groups) {
			list = append(list, slices.Repeat([]int32{p}, min(each(p), processes-len(list)))...)
		}
		if len(list) == processes {
			return list
		}
	}
	return nil
}

func (s *plainNodes) needs(k int32) *view.NodeNeeds { return s.nodes.Jobs[k].Needs }

// fit returns nodes for job k; both: that are free beside the reservation, too.
func (s *plainNodes) fit(k int32, both bool) []int32 {
	n := s.needs(k)
	return s.free.fit(n, int(s.jobs[k].width), func(p int32) int {
		if both {
			return min(s.free.each(n, p), s.then.each(n, p))
		}
		return s.free.each(n, p)
	})
}

func (s *plainNodes) arrive(k int32) {
	s.queue, s.arrived = append(s.queue, k), append(s.arrived, k)
	slices.SortFunc(s.queue, func(a, b int32) int {
		if s.before == nil {
			return cmp.Compare(a, b)
		}
		return cmp.Or(s.before(a, b), cmp.Compare(a, b))
	})
}

func (s *plainNodes) end(k int32) {
	s.stale = true
	s.free.change(s.needs(k), s.lists[k], -1)
	s.running = slices.DeleteFunc(s.running, func(r int32) bool { return r == k })
}

func (s *plainNodes) revise(int32, int64) { s.stale = true }

func (s *plainNodes) begin(k int32, list []int32) {
	s.lists[k], s.running = list, append(s.running, k)
	s.free.change(s.needs(k), list, 1)
	s.start(k)
	s.decisions[len(s.decisions)-1].Processors = list
	s.queue = slices.DeleteFunc(s.queue, func(q int32) bool { return q == k })
}

func (s *plainNodes) pass() {
	for len(s.queue) > 0 {
		list := s.fit(s.queue[0], false)
		if list == nil {
			break
		}
		s.begin(s.queue[0], list)
	}
	if !s.strict && len(s.queue) > 1 {
		s.backfill()
		s.stale = false
	}
	s.arrived = nil
}

func (s *plainNodes) backfill() {
	head := s.queue[0]
	others := slices.Clone(s.queue[1:])
	if s.stale || head != s.head || s.reserves != nil || s.then != nil && s.now > s.shadow {
		s.head, s.then, s.shadow = head, nil, never
	} else {
		others = slices.DeleteFunc(slices.Clone(s.arrived), func(k int32) bool { return k == head || s.starts[k] >= 0 })
	}
	if s.jump != nil {
		slices.SortFunc(others, func(a, b int32) int { return cmp.Or(s.jump(a, b), cmp.Compare(a, b)) })
	}
	reserved := s.reserves == nil || s.reserves(head)
	for _, k := range others {
		list := s.fit(k, false)
		if list == nil {
			continue
		}
		if reserved && s.then == nil {
			s.reserve(head)
		}
		if reserved && s.length(k) > s.shadow-s.now {
			if list = s.fit(k, true); list == nil {
				continue
			}
			s.then.change(s.needs(k), list, 1)
		}
		s.begin(k, list)
	}
}

func (s *plainNodes) reserve(head int32) {
	end := func(r int32) int64 { return max(s.now, s.starts[r]+s.length(r)) }
	slices.SortFunc(s.running, func(a, b int32) int { return cmp.Compare(end(a), end(b)) })
	s.then = s.free.clone()
	for i, r := range s.running {
		s.then.change(s.needs(r), s.lists[r], -1)
		if i+1 < len(s.running) && end(s.running[i+1]) == end(r) {
			continue
		}
		n := s.needs(head)
		if list := s.free.fit(n, int(s.jobs[head].width), func(p int32) int { return s.then.each(n, p) }); list != nil {
			s.shadow = end(r)
			s.then.change(n, list, 1)
			return
		}
	}
}

// plainOf makes the plain scheduler of one on nodes.
func plainOf(o *onNodes, before, jump func(a, b int32) int) scheduler {
	return &plainNodes{machine: o.machine, before: before, jump: jump, strict: o.strict, length: o.length, reserves: o.reserves,
		lists: map[int32][]int32{}, free: newPlainState(o.nodes.Nodes), head: -1}
}

// manyNodes draws a machine of many nodes, so that sets of nodes have several words, with a long queue.
func manyNodes(rng *rand.Rand) *model.Batch {
	for {
		in := testkit.RandomNodes(rng, 30+rng.IntN(40))
		in.Processors = 0
		for g := range in.Nodes {
			in.Nodes[g].Count = 1 + rng.IntN(90)
			in.Processors += in.Nodes[g].Count
		}
		for k := range in.Jobs {
			in.Jobs[k].Processes = 1 + rng.IntN(1+rng.IntN(40+in.Processors))
			if in.Validate() != nil {
				in.Jobs[k].Processes = 1
			}
		}
		if in.Validate() == nil {
			return in
		}
	}
}

// Jobs start when they do by the plain schedulers, and on the same nodes: by all policies, orders of events, and rules
// of list schedules, with the users' estimates and with predictions, on few nodes and on many.
func TestNodesPlain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 21))
	waits, kinds := 0, map[string]int{}
	for round := range require.Rounds(1200) {
		var in *model.Batch
		switch {
		case round%10 == 0:
			in = manyNodes(rng)
		case round%3 == 0:
			in = testkit.RandomNodes(rng, 20+rng.IntN(40))
		default:
			in = testkit.RandomNodes(rng, 2+rng.IntN(12))
		}
		users := []*model.JobLog{{User: "a"}, {User: "b"}}
		for k := range in.Jobs {
			in.Jobs[k].Log = users[rng.IntN(2)]
		}
		v := view.OfBatch(in)
		lengths, _, err := processors.Lengths(v)
		require.OK(t, err)
		rule := listRules[rng.IntN(len(listRules))]
		area := func(m *machine) func(a, b int32) int {
			return func(a, b int32) int {
				return cmp.Compare(float64(m.jobs[a].estimate)*float64(m.jobs[a].width), float64(m.jobs[b].estimate)*float64(m.jobs[b].width))
			}
		}
		for _, x := range []struct {
			name  string
			by    func(*machine) scheduler
			plain func(*machine) scheduler
		}{
			{"fcfs", newFCFS, func(m *machine) scheduler { return plainOf(newFCFS(m).(*onNodes), nil, nil) }},
			{"sjf", newSJF, func(m *machine) scheduler { return plainOf(newSJF(m).(*onNodes), m.byEstimate, nil) }},
			{"easy", newEASY, func(m *machine) scheduler { return plainOf(newEASY(m).(*onNodes), nil, nil) }},
			{"easy-sjbf", newEASYSJBF, func(m *machine) scheduler { return plainOf(newEASYSJBF(m).(*onNodes), nil, m.byEstimate) }},
			{"easy-saf", newEASYSAF, func(m *machine) scheduler { return plainOf(newEASYSAF(m).(*onNodes), nil, area(m)) }},
			{"list", func(m *machine) scheduler { return newList(m, v, lengths, rule) }, func(m *machine) scheduler {
				by := func(a, b int32) int {
					return cmp.Compare(rule.key(&v.Jobs[a], lengths[a]), rule.key(&v.Jobs[b], lengths[b]))
				}
				return plainOf(newList(m, v, lengths, rule).(*onNodes), by, nil)
			}},
		} {
			predicts := x.name != "list" && rng.IntN(3) == 0
			order := []model.BatchOrder{model.BatchOrderBatch, model.BatchOrderBatch, model.BatchOrderEvent, model.BatchOrderPyss}[rng.IntN(4)]
			run := func(by func(*machine) scheduler) *model.Execution {
				p := newPolicy(by, 0)
				if p.nodes = v; predicts {
					p.predictor = newLastTwo()
				}
				return require.Value(online.Batch(context.Background(), in, p, online.BatchOptions{Order: order}))(t)
			}
			want, got := run(x.plain), run(x.by)
			for k := range want.Runs {
				a, b := &want.Runs[k].Segments[0], &got.Runs[k].Segments[0]
				if a.StartS != b.StartS || !slices.Equal(a.Place.Processors, b.Place.Processors) {
					t.Fatalf("round %d, %s, order %q, predictions %v: job %d starts at %v on %v, want %v on %v", round, x.name, order, predicts,
						k, b.StartS, b.Place.Processors, a.StartS, a.Place.Processors)
				}
				if a.StartS > in.Jobs[k].SubmitS {
					waits++
				}
			}
			kinds[x.name] += len(want.Runs)
		}
	}
	if waits < 30_000*require.Rounds(1200)/1200 || len(kinds) != 6 {
		t.Errorf("%d jobs wait; %v", waits, kinds)
	}
}
