package exact

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/heuristics/vcsched"
)

// runWithBudget is the search for instances with a migration budget (section
// 6.1 of the paper), where hosts differ by the tasks that run on them now: a
// depth-first branch and bound over tasks by decreasing size, each on its
// current host first. A node is cut off when the load, the memory or the budget
// left can't take the tasks left. Hosts of equal load and memory on which no
// task left runs now are tried once; equal tasks with the same current host are
// placed in the hosts' order. Worst case O(H^n).
func (s *vcschedSearch) runWithBudget() error {
	from, err := vcsched.Start(s.ctx, s.in, s.u, s.set)
	if err != nil {
		return err
	}
	imp := vcsched.NewImprover(s.u, from, s.set.Seed)
	improve := func(steps int) {
		imp.Improve(s.ctx, s.lower, steps)
		if l, h, ok := imp.Best(); ok {
			s.found(max(l, s.u.Scale), h)
		}
	}
	improve(20 * len(s.u.CPU) * len(s.u.CPU))
	t := newBudgetTree(s)
	for limit := int64(1 << 16); !s.closed() && !s.stopped(); limit *= 4 {
		if t.run(limit) {
			switch {
			case s.hosts == nil:
				s.infeasible = "no placement fits in memory within the migration budget"
			case !s.closed(): // else the tree may have been left within the gap
				s.raise(s.upper)
			}
			return nil
		}
		improve(int(min(limit, 1<<22)))
	}
	return nil
}

// budgetTree is one depth-first search.
type budgetTree struct {
	s       *vcschedSearch
	order   []int32 // tasks by decreasing size
	current []int32 // by task, -1 for a new arrival
	twin    []bool  // by place in order: equal to the task before
	waiting []int32 // tasks left that run now, by host
	hosts   []int32
	load    []int64
	mem     []int64
	sum     []int64 // CPU needs of the tasks from a place in order on
	limit   int64
	nodes   int64
}

func newBudgetTree(s *vcschedSearch) *budgetTree {
	n := len(s.u.CPU)
	t := &budgetTree{s: s, order: make([]int32, n), current: s.u.Current, twin: make([]bool, n),
		waiting: make([]int32, s.u.Hosts), hosts: make([]int32, n), load: make([]int64, s.u.Hosts), mem: make([]int64, s.u.Hosts)}
	for _, h := range s.u.Current {
		if h >= 0 {
			t.waiting[h]++
		}
	}
	for i := range t.order {
		t.order[i] = int32(i)
	}
	at := float64(s.lower)
	size := func(i int32) float64 {
		return max(float64(s.u.CPU[i])/at, float64(s.u.Memory[i])/float64(s.u.MemoryCap))
	}
	slices.SortStableFunc(t.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(s.u.CPU[b], s.u.CPU[a]), cmp.Compare(t.current[a], t.current[b]))
	})
	t.sum = make([]int64, n+1)
	for k := n - 1; k >= 0; k-- {
		i := t.order[k]
		t.sum[k] = t.sum[k+1] + s.u.CPU[i]
		if k > 0 {
			j := t.order[k-1]
			t.twin[k] = s.u.CPU[i] == s.u.CPU[j] && s.u.Memory[i] == s.u.Memory[j] && t.current[i] == t.current[j]
		}
	}
	return t
}

// run searches the whole tree; false if the node limit or ctx cut it off.
func (t *budgetTree) run(limit int64) bool {
	t.limit, t.nodes = limit, 0
	done := t.place(0, t.s.u.Budget)
	t.s.nodes += t.nodes
	return done
}

// most is the largest load that still improves.
func (t *budgetTree) most() int64 {
	if t.s.hosts == nil {
		return t.sum[0]
	}
	return t.s.upper - 1
}

// place decides the host of the k-th task and of all after it; false if cut off.
func (t *budgetTree) place(k int, budget int64) bool {
	if k == len(t.order) {
		t.s.found(max(slices.Max(t.load), t.s.u.Scale), t.hosts)
		return true
	}
	if t.nodes++; t.nodes > t.limit || t.nodes&0xfff == 0 && t.s.ctx.Err() != nil {
		return false
	}
	i := t.order[k]
	c, m, cur := t.s.u.CPU[i], t.s.u.Memory[i], t.current[i]
	if cur >= 0 {
		t.waiting[cur]--
		defer func() { t.waiting[cur]++ }()
	}
	lowest := int32(0)
	if t.twin[k] {
		lowest = t.hosts[t.order[k-1]]
	}
	try := func(h int32) bool {
		if t.load[h]+c > t.most() || t.mem[h]+m > t.s.u.MemoryCap || t.s.closed() {
			return true
		}
		left := budget
		if cur >= 0 && cur != h {
			if left -= m; left < 0 {
				return true
			}
		}
		t.load[h] += c
		t.mem[h] += m
		t.hosts[i] = h
		done := true
		if t.room() >= t.sum[k+1] {
			done = t.place(k+1, left)
		}
		t.load[h] -= c
		t.mem[h] -= m
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

// room is the CPU that the hosts can still take.
func (t *budgetTree) room() int64 {
	var room int64
	for _, l := range t.load {
		room += t.most() - l
	}
	return room
}

// seen reports whether a host like h was tried before it.
func (t *budgetTree) seen(h, lowest, cur int32) bool {
	if t.waiting[h] > 0 {
		return false
	}
	for g := lowest; g < h; g++ {
		if g != cur && t.load[g] == t.load[h] && t.mem[g] == t.mem[h] && t.waiting[g] == 0 {
			return true
		}
	}
	return false
}
