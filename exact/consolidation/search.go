// SPDX-License-Identifier: MIT

package consolidation

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	consbounds "github.com/gapwise/gapwise/bounds/consolidation"
	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/internal/hosting"
	"github.com/gapwise/gapwise/internal/turns"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// Search is the native exact engine for Consolidation: a depth-first branch and bound over the
// tasks, the largest first, each on any host or left out. A node is a task's host that is tried.
// Instances of more than mostSearched tasks times hosts get the heuristics' solution and the quick
// bounds.
var Search = engine.Engine[*model.Consolidation, devices]{ID: "search", Parts: searchDevices, Work: work}

// devices is a set of devices that are switched off.
type devices uint32

const devTwins devices = 1

var searchDevices = []engine.Switch[devices]{
	{Bit: devTwins, Name: "twins", Summary: "of hosts that are alike and empty only the first; equal tasks in the order of their hosts"},
}

const mostSearched = 200_000

// searching is one run of the search.
type searching struct {
	*engine.Run
	c     *view.Consolidation
	s     *hosting.State
	off   devices
	tasks [][2]int
	same  []bool  // of each task: it is like the one before
	twin  []int   // of each host: the first host that is like it
	spare []int64 // [task]: what leaving it and those behind it out costs
	stays []int64 // [task]: what moving it and those behind it costs
	upper int64   // objective to beat
	nodes int64
}

func work(r *engine.Run, in *model.Consolidation, off devices, _ lcg.Device) error {
	from, err := start(r)
	if err != nil {
		return err
	}
	upper := int64(math.MaxInt64)
	if from != nil {
		if err := r.SetSolution(in, from); err != nil {
			return err
		}
		upper = int64(r.Objective)
	}
	for _, b := range consbounds.Quick(r.Ctx, in) {
		if b.Infeasible {
			r.Infeasible(b.Reason)
			return nil
		}
		r.Raise(b.Value)
	}
	r.TellBest()
	if r.Closed() {
		return nil
	}
	slots := view.Slots(in, most(in, from))
	if n := in.Tasks() * (len(in.Hosts) + len(in.Offers)*slots); n > mostSearched {
		r.Reason = fmt.Sprintf("more than %d tasks times hosts: bounds without search", mostSearched)
		return nil
	}
	s := &searching{Run: r, c: view.OfConsolidation(in, slots), off: off, upper: upper}
	s.s = hosting.New(s.c)
	s.prepare()
	s.branch(0)
	switch {
	case r.Ctx.Err() != nil || r.Closed():
	case r.Solution == nil:
		r.Infeasible("the search leaves nothing open")
	default:
		r.Raise(float64(s.upper))
	}
	return nil
}

// prepare orders tasks and hosts.
func (s *searching) prepare() {
	c := s.c
	size := make([]float64, len(c.Jobs))
	for r := range c.Resources {
		most := int64(1)
		for h := range c.Hosts {
			most = max(most, c.Hosts[h].Capacity[r])
		}
		for i := range c.Jobs {
			size[i] = max(size[i], float64(c.Jobs[i].Needs[r])/float64(most))
		}
	}
	for i := range c.Jobs {
		for k := range c.Jobs[i].Current {
			s.tasks = append(s.tasks, [2]int{i, k})
		}
	}
	slices.SortStableFunc(s.tasks, func(a, b [2]int) int {
		x, y := &c.Jobs[a[0]], &c.Jobs[b[0]]
		if x.Pinned != y.Pinned {
			if x.Pinned {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(size[b[0]], size[a[0]]), cmp.Compare(a[0], b[0]), cmp.Compare(x.Current[a[1]], y.Current[b[1]]), cmp.Compare(a[1], b[1]))
	})
	n := len(s.tasks)
	s.same, s.spare, s.stays = make([]bool, n), make([]int64, n+1), make([]int64, n+1)
	for x := n - 1; x >= 0; x-- {
		i, k := s.tasks[x][0], s.tasks[x][1]
		j := &c.Jobs[i]
		if x > 0 {
			before := s.tasks[x-1]
			s.same[x] = before[0] == i && j.Current[before[1]] == j.Current[k]
		}
		s.spare[x], s.stays[x] = s.spare[x+1], s.stays[x+1]
		if j.LeaveOut >= 0 {
			s.spare[x] += j.LeaveOut
		}
		if j.Current[k] >= 0 {
			s.stays[x] += j.Move
		}
	}
	s.twins()
}

// twins finds for each host the first that is like it: of one class, in the same domains, and
// no task is on either now. To swap two such hosts makes of a solution another one of the same figures.
func (s *searching) twins() {
	c := s.c
	home := make([]bool, len(c.Hosts))
	for i := range c.Jobs {
		for _, h := range c.Jobs[i].Current {
			if h >= 0 {
				home[h] = true
			}
		}
	}
	first := map[string]int{}
	s.twin = make([]int, len(c.Hosts))
	for h := range c.Hosts {
		s.twin[h] = h
		if home[h] {
			continue
		}
		key := fmt.Sprint(c.Hosts[h].Class)
		for q := range c.Rules {
			if d := c.Rules[q].Domain; c.In.Rules[q].Domain != "" {
				key += fmt.Sprint(" ", c.Domains[d][h])
			} else if c.Rules[q].Standing != nil {
				key += fmt.Sprint(" ", c.Rules[q].Standing[h])
			}
		}
		if x, ok := first[key]; ok {
			s.twin[h] = x
		} else {
			first[key] = h
		}
	}
}

// hopeless reports whether no plan with what is placed is better than the best or keeps the limits.
func (s *searching) hopeless(x int) bool {
	in := s.c.In
	if s.s.Over > 0 || s.s.Excess > 0 || s.s.Apart > 0 { // more tasks mend none of these
		return true
	}
	// Hosts in use stay in use, and what has moved has: open tasks add to that.
	cost, moves := s.s.Cost-s.spare[x], s.s.Moves-s.stays[x]
	if in.CostLimit != nil && cost > *in.CostLimit || in.MoveBudget != nil && moves > *in.MoveBudget {
		return true
	}
	if in.Goal == model.GoalMoves {
		return moves >= s.upper
	}
	return cost >= s.upper
}

// branch tries the hosts of the tasks from x on.
func (s *searching) branch(x int) {
	if s.nodes++; s.nodes%64 == 0 {
		if s.Nodes = s.nodes; turns.Stop(s.Ctx, 64) {
			return
		}
	}
	if s.Ctx.Err() != nil || s.Closed() || s.hopeless(x) {
		return
	}
	if x == len(s.tasks) {
		s.leaf()
		return
	}
	i, k := s.tasks[x][0], s.tasks[x][1]
	j := &s.c.Jobs[i]
	least := 0
	if s.same[x] && s.off&devTwins == 0 {
		if least = int(s.s.Plan[s.tasks[x-1][0]][s.tasks[x-1][1]]); least == view.Nowhere {
			least = len(s.c.Hosts) // after one that is left out, so is this
		}
	}
	try := func(h int) {
		s.s.Add(i, k, h)
		s.branch(x + 1)
		s.s.Remove(i, k)
	}
	now := int(j.Current[k])
	if now >= least {
		try(now)
	}
	if j.Pinned {
		return
	}
	for _, open := range []bool{true, false} { // hosts in use first
		tried := map[int]bool{}
		for h := least; h < len(s.c.Hosts); h++ {
			if h == now || !j.Allowed.Has(h) || (s.s.Tasks[h] > 0) != open || !s.s.Fits(i, h) {
				continue
			}
			if !open && s.off&devTwins == 0 {
				if tried[s.twin[h]] {
					continue
				}
				tried[s.twin[h]] = true
			}
			try(h)
		}
	}
	if j.LeaveOut >= 0 {
		s.branch(x + 1)
	}
}

// leaf stores a solution that is better.
func (s *searching) leaf() {
	if !s.s.Feasible() {
		return
	}
	first, _ := s.s.Value()
	if first >= s.upper {
		return
	}
	if err := s.Improve(s.c.Assignment(s.s.Plan)); err != nil {
		return
	}
	s.upper = first
	s.Raise(s.Bound)
	s.TellBest()
}
