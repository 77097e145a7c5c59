// SPDX-License-Identifier: MIT

package vcsched

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/problem/vcsched/placement"
	"github.com/gapwise/gapwise/internal/run/meter"
)

// searchWithBudget searches an instance with a migration budget (section 6.1 of the paper), where hosts differ by the
// tasks that run on them now. It runs local search, then the host tree and the learning kernel in turns.
func (s *run) searchWithBudget(improve func(steps int)) error {
	improve(min(firstSteps*len(s.u.CPU)*len(s.u.CPU), placement.Steps(len(s.u.CPU))))
	s.keep()
	t := newHostTree(s)
	if t.pairs() > mostPairs {
		for times := 0; !s.closed() && !s.stopped(); times++ {
			improve(treeSteps)
			if s.columns(times > 0); s.beside() && times == 3 {
				return nil
			}
		}
		return nil
	}
	if s.off&devLearning != 0 {
		s.tree(t, improve)
		return nil
	}
	if s.closed() || t.decide(firstTree) {
		return nil
	}
	return s.learn(improve, func(nodes int64) { t.decide(nodes) })
}

// tree runs the host tree until the gap is closed or ctx ends.
func (s *run) tree(t *hostTree, improve func(steps int)) {
	for limit := int64(treeNodes); !s.closed() && !s.stopped() && !t.decide(limit); limit *= limitGrowth {
		improve(int(min(limit, treeSteps)))
	}
}

// decide runs the tree for so many nodes. A tree that was searched to its end proves the
// best placement optimal: it holds every placement of a smaller load.
func (t *hostTree) decide(nodes int64) bool {
	s := t.s
	if !t.run(nodes) {
		return false
	}
	switch {
	case s.hosts == nil:
		s.Infeasible(noPlacement(s.in))
	case !s.closed(): // else the tree may have been left within the gap
		s.raise(s.upper)
	}
	return true
}

// hostTree is a depth-first branch and bound that decides the host of one task after the other. It takes the largest
// task first and tries its current host first. Its memory and its budget are exact. Worst case O(H^n).
//
// Each rule drops a child of a node. Let u be a placement below the node with a
// largest load < upper, the best so far; then some such placement is left:
//
//   - incumbent-bound: loads only grow, so a host of load ≥ upper has it in every
//     placement below. u has none.
//   - task-symmetry: tasks of equal needs, of every resource, with the same current host (or none) can change places in
//     u with no change in load, use or migration. So u may be taken to have them on hosts of increasing number.
//   - host-symmetry: let g < h be hosts of equal size, load and use of every rigid
//     resource that are no current host of the task at hand or of a task left.
//     Exchanging what u still puts on g and on h changes neither what fits nor loads
//     nor migrations. So if u puts the
//     task on h, a placement as good puts it on g, which was tried before. The
//     order of equal tasks stands: g is not below the host of the equal task
//     before, and equal tasks to come, on h or above, are on g or above.
type hostTree struct {
	s       *run
	order   []int32         // tasks by decreasing size
	current []int32         // host of each task now, -1 for a new arrival
	twin    []bool          // [k]: the k-th task in order equals the one before
	waiting []int32         // [host]: tasks left that run on it now
	hosts   []int32         // of each task placed
	load    []int64         // [host], in units: the CPU needs
	use     [][]view.Memory // [host][resource of view.VCSched.Rigid]
	total   int64           // no host's load exceeds it
	limit   int64
	nodes   int64
}

func newHostTree(s *run) *hostTree {
	n := len(s.u.CPU)
	t := &hostTree{s: s, order: make([]int32, n), current: s.u.Current, twin: make([]bool, n),
		waiting: make([]int32, s.u.Hosts), hosts: make([]int32, n), load: make([]int64, s.u.Hosts), use: make([][]view.Memory, s.u.Hosts)}
	for h := range t.use {
		t.use[h] = make([]view.Memory, len(s.u.Rigid))
	}
	if t.current == nil {
		t.current = slices.Repeat([]int32{-1}, n)
	}
	t.total = s.unboundedLoad()
	for _, h := range s.u.Current {
		if h >= 0 {
			t.waiting[h]++
		}
	}
	for i := range t.order {
		t.order[i] = int32(i)
	}
	at := float64(s.lower)
	most := s.mostCaps()
	size := func(i int32) float64 {
		share := float64(s.u.CPU[i]) / at
		for r, needs := range s.u.Rigid {
			share = max(share, float64(needs[i])/float64(most[r]))
		}
		return share
	}
	order.Stable(t.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(s.u.CPU[b], s.u.CPU[a]), cmp.Compare(t.current[a], t.current[b]))
	})
	for k, i := range t.order {
		if k > 0 && s.off&devTwins == 0 {
			j := t.order[k-1]
			t.twin[k] = s.u.CPU[i] == s.u.CPU[j] && s.equalNeeds(i, j) && t.current[i] == t.current[j]
		}
	}
	return t
}

// run searches the tree; it returns false if limit or ctx cut it off.
func (t *hostTree) run(limit int64) bool {
	t.limit, t.nodes = limit, 0
	done := t.place(0, t.s.u.ExactBudget)
	t.s.Nodes += t.nodes
	return done
}

// mostPairs is the number of pairs of hosts from which on the tree isn't searched: a node takes some ten microseconds.
const mostPairs = 1 << 13

// pairs returns the number of pairs of hosts.
func (t *hostTree) pairs() int64 { return int64(t.s.u.Hosts) * int64(t.s.u.Hosts) / 2 }

// most returns the largest load that is still an improvement.
func (t *hostTree) most() int64 {
	if t.s.hosts == nil || t.s.off&devIncumbent != 0 {
		return t.total
	}
	return t.s.upper - 1
}

// place decides the hosts of the k-th task in order and of all after it, with budget
// left to move; it returns false if it was cut off.
func (t *hostTree) place(k int, budget view.Memory) bool {
	if k == len(t.order) {
		t.s.found(max(t.s.u.MaxLoad(t.hosts), t.s.u.Scale), t.hosts)
		return true
	}
	if t.nodes++; t.nodes > t.limit || t.nodes&0xff == 0 && meter.Stop(t.s.Ctx, 256+t.pairs()/2) {
		return false
	}
	i := t.order[k]
	c, m, cur := t.s.u.CPU[i], t.s.u.Exact[t.s.u.Job[i]], t.current[i]
	if cur >= 0 {
		t.waiting[cur]--
		defer func() { t.waiting[cur]++ }()
	}
	lowest := int32(0)
	if t.twin[k] {
		lowest = t.hosts[t.order[k-1]]
	}
	try := func(h int32) bool {
		size := &t.s.u.Classes[t.s.u.ClassOf(h)]
		if t.load[h]+c > size.Room(t.most()) || t.s.closed() {
			return true
		}
		for r, needs := range t.s.u.ExactRigid {
			if size.ExactCap[r].Less(t.use[h][r].Add(needs[t.s.u.Job[i]])) {
				return true
			}
		}
		left := budget
		if cur >= 0 && cur != h {
			if left.Less(m) {
				return true
			}
			left = left.Sub(m)
		}
		t.load[h] += c
		for r, needs := range t.s.u.ExactRigid {
			t.use[h][r] = t.use[h][r].Add(needs[t.s.u.Job[i]])
		}
		t.hosts[i] = h
		done := t.place(k+1, left)
		t.load[h] -= c
		for r, needs := range t.s.u.ExactRigid {
			t.use[h][r] = t.use[h][r].Sub(needs[t.s.u.Job[i]])
		}
		return done
	}
	if cur >= lowest && cur >= 0 && !try(cur) {
		return false
	}
	for h := lowest; h < int32(t.s.u.Hosts); h++ {
		if h != cur && !t.seen(h, lowest, cur) && !try(h) {
			return false
		}
	}
	return true
}

// seen reports whether a host that is exchangeable with h was tried before it.
func (t *hostTree) seen(h, lowest, cur int32) bool {
	if t.waiting[h] > 0 || t.s.off&devHosts != 0 {
		return false
	}
	for g := lowest; g < h; g++ {
		if g != cur && t.load[g] == t.load[h] && t.waiting[g] == 0 && t.s.u.ClassOf(g) == t.s.u.ClassOf(h) && slices.Equal(t.use[g], t.use[h]) {
			return true
		}
	}
	return false
}

// mostCaps returns the most that a host has of each rigid resource, in units.
func (s *run) mostCaps() []int64 {
	most := slices.Clone(s.u.Classes[0].Cap)
	for _, c := range s.u.Classes[1:] {
		for r, has := range c.Cap {
			most[r] = max(most[r], has)
		}
	}
	return most
}

// equalNeeds reports whether two tasks have equal needs of every rigid resource.
func (s *run) equalNeeds(i, j int32) bool {
	for _, needs := range s.u.ExactRigid {
		if needs[s.u.Job[i]] != needs[s.u.Job[j]] {
			return false
		}
	}
	return true
}
