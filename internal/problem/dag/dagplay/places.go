// SPDX-License-Identifier: MIT

package dagplay

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/model"
)

// ErrNowhere reports that there is no schedule at all, proved.
var ErrNowhere = fmt.Errorf("%w: on whatever machines the tasks run, some of their data have no path", model.ErrNoSolution)

// Start returns a plan that can be played: OneMachine, or what a search of all machines for tasks finds first. The
// error is ErrNowhere, or model.ErrNoSolution if stop, which is told the effort since it was asked last, ends the search.
func Start(g *view.Graph, stop func(effort int64) bool) (Plan, error) {
	p := OneMachine(g)
	if !g.Sparse || !math.IsInf(Ideal(g, p), 1) {
		return p, nil
	}
	s := places{g: g, may: make([]bool, g.Tasks*g.Machines), stop: stop}
	for t := range int32(g.Tasks) {
		for m := range int32(g.Machines) {
			s.may[s.at(t, m)] = g.Runs(t, m)
		}
	}
	if found := s.narrow(g.Order) && s.place(0); s.stopped {
		return p, fmt.Errorf("%w: stopped before every task had a machine", model.ErrNoSolution)
	} else if !found {
		return p, ErrNowhere
	}
	p = Plan{Machine: make([]int32, g.Tasks), Order: make([][]int32, g.Machines)}
	for _, t := range g.Order {
		m := int32(slices.Index(s.may[s.at(t, 0):s.at(t+1, 0)], true))
		p.Machine[t], p.Order[m] = m, append(p.Order[m], t)
	}
	return p, nil
}

// places is a search for machines of tasks such that each edge has a path. It maintains arc consistency (Sabin, Freuder
// 1994): a task may be on a machine only if each of its neighbours may be on one that has a path from there, or to it.
type places struct {
	g       *view.Graph
	may     []bool  // of task t on machine m, at [t*Machines+m]
	lost    []int32 // places in may that were taken, in order
	work    int64
	stop    func(effort int64) bool
	stopped bool
}

func (s *places) at(t, m int32) int { return int(t)*s.g.Machines + int(m) }

// place gives a machine to each task from the k-th of the order on, the cheapest first, and reports whether it can.
func (s *places) place(k int) bool {
	if k == s.g.Tasks {
		return true
	}
	t := s.g.Order[k]
	var machines []int32
	for m := range int32(s.g.Machines) {
		if s.may[s.at(t, m)] {
			machines = append(machines, m)
		}
	}
	cost := func(m int32) float64 { return s.g.Cost[s.at(t, m)] }
	order.Stable(machines, func(a, b int32) int { return cmp.Compare(cost(a), cost(b)) })
	for _, m := range machines {
		if s.stop != nil && s.stop(s.work/100+1) {
			s.stopped = true
			return false
		}
		s.work = 0
		before := len(s.lost)
		for _, other := range machines {
			if other != m {
				s.lose(t, other)
			}
		}
		if s.narrow([]int32{t}) && s.place(k+1) {
			return true
		}
		for _, x := range s.lost[before:] {
			s.may[x] = true
		}
		if s.lost = s.lost[:before]; s.stopped {
			return false
		}
	}
	return false
}

func (s *places) lose(t, m int32) {
	s.may[s.at(t, m)] = false
	s.lost = append(s.lost, int32(s.at(t, m)))
}

// narrow takes the machines from tasks that have no path any more, after changes of some tasks. It reports whether each
// task has one left.
func (s *places) narrow(changed []int32) bool {
	g := s.g
	for queue := slices.Clone(changed); len(queue) > 0; queue = queue[1:] {
		t := queue[0]
		for _, forward := range []bool{true, false} {
			edges, ends := g.Succ(t), g.To
			if !forward {
				edges, ends = g.Pred(t), g.From
			}
			for _, e := range edges {
				took, left := s.support(t, ends[e], forward)
				if left == 0 {
					return false
				}
				if took {
					queue = append(queue, ends[e])
				}
			}
		}
	}
	return true
}

// support takes from task u the machines without a path from (to, if not forward) any machine of t. It reports whether
// it took some, and how many are left.
func (s *places) support(t, u int32, forward bool) (took bool, left int) {
	n := s.g.Machines
	s.work += int64(n)
	for b := range int32(n) {
		if !s.may[s.at(u, b)] {
			continue
		}
		some := false
		for a := int32(0); a < int32(n) && !some; a++ {
			pair := int(a)*n + int(b)
			if !forward {
				pair = int(b)*n + int(a)
			}
			some = s.may[s.at(t, a)] && s.g.Rate[pair] > 0
		}
		if left++; !some {
			s.lose(u, b)
			took, left = true, left-1
		}
	}
	return took, left
}
