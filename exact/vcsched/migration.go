package vcsched

import (
	"cmp"
	"slices"

	vcheur "github.com/gapwise/gapwise/heuristics/vcsched"
	"github.com/gapwise/gapwise/model"
)

// runWithBudget is the search for instances with a migration budget (section
// 6.1 of the paper), where hosts differ by the tasks that run on them now, and the
// last resort where 64 bits can't tell what fits: a
// depth-first branch and bound over tasks by decreasing size, each on its
// current host first. A node is cut off when the load, the memory or the budget
// left can't take what is to come. Hosts of equal load and memory on which no
// task left runs now are tried once; equal tasks with the same current host are
// placed in the hosts' order. Worst case O(H^n).
func (s *vcschedSearch) runWithBudget() error {
	from, err := vcheur.Start(s.ctx, s.in, s.u, s.set)
	if err != nil {
		return err
	}
	imp := vcheur.NewImprover(s.u, from, s.set.Seed)
	improve := func(steps int) {
		if s.off&noStart != 0 {
			return
		}
		imp.Improve(s.ctx, s.lower, steps)
		if l, h, ok := imp.Best(); ok {
			s.found(max(l, s.u.Scale), h)
		}
	}
	improve(20 * len(s.u.CPU) * len(s.u.CPU))
	s.tree(improve)
	return nil
}

// tree runs the budget tree until the gap is closed or ctx ends. A tree that
// was searched wholly proves the best placement known optimal: every placement
// of a smaller load is in it.
func (s *vcschedSearch) tree(improve func(steps int)) {
	t := newBudgetTree(s)
	for limit := int64(1 << 16); !s.closed() && !s.stopped(); limit *= 4 {
		if t.run(limit) {
			switch {
			case s.hosts == nil:
				s.infeasible = "no placement fits in memory"
				if s.in.MigrationBudget != nil {
					s.infeasible += " within the migration budget"
				}
			case !s.closed(): // else the tree may have been left within the gap
				s.raise(s.upper)
			}
			return
		}
		improve(int(min(limit, 1<<22)))
	}
}

// budgetTree is one depth-first search. Its memory and its budget are exact.
//
// Each rule that leaves a state out, and why it may. Let u be a placement that
// is better than the best known, below a node:
//
//   - incumbent: a host of load ≥ upper stays so below. u has none.
//   - room: the tasks left go to hosts of load below upper in u, so their sum is
//     at most the sum over hosts of upper - 1 - load.
//   - twins: tasks of equal needs that run on the same host now (or nowhere) can
//     change places in u at no change in load, memory or migration, so u may be
//     taken to have them on hosts of increasing number.
//   - seen: let g < h be hosts of equal load and memory on which no task left
//     runs now, and neither be the current host of the task at hand. Exchanging
//     what u still puts on g and on h changes neither loads nor migrations, so
//     if u puts the task on h there is a placement as good that puts it on g,
//     which was tried before. The twins' order stands: g is not below the host of
//     the twin before, and twins to come, on h or above, are on g or above.
type budgetTree struct {
	s       *vcschedSearch
	order   []int32 // tasks by decreasing size
	current []int32 // by task, -1 for a new arrival
	twin    []bool  // by place in order: equal to the task before
	waiting []int32 // tasks left that run now, by host
	hosts   []int32
	load    []int64
	mem     []model.Memory
	sum     []int64 // CPU needs of the tasks from a place in order on
	limit   int64
	nodes   int64
}

func newBudgetTree(s *vcschedSearch) *budgetTree {
	n := len(s.u.CPU)
	t := &budgetTree{s: s, order: make([]int32, n), current: s.u.Current, twin: make([]bool, n),
		waiting: make([]int32, s.u.Hosts), hosts: make([]int32, n), load: make([]int64, s.u.Hosts), mem: make([]model.Memory, s.u.Hosts)}
	if t.current == nil {
		t.current = slices.Repeat([]int32{-1}, n)
	}
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
		if k > 0 && s.off&noTwins == 0 {
			j := t.order[k-1]
			t.twin[k] = s.u.CPU[i] == s.u.CPU[j] && s.u.Exact[s.u.Job[i]] == s.u.Exact[s.u.Job[j]] && t.current[i] == t.current[j]
		}
	}
	return t
}

// run searches the whole tree; false if the node limit or ctx cut it off.
func (t *budgetTree) run(limit int64) bool {
	t.limit, t.nodes = limit, 0
	done := t.place(0, t.s.u.ExactBudget)
	t.s.nodes += t.nodes
	return done
}

// most is the largest load that still improves.
func (t *budgetTree) most() int64 {
	if t.s.hosts == nil || t.s.off&noIncumbent != 0 {
		return t.sum[0]
	}
	return t.s.upper - 1
}

// place decides the host of the k-th task and of all after it; false if cut off.
func (t *budgetTree) place(k int, budget model.Memory) bool {
	if k == len(t.order) {
		t.s.found(max(slices.Max(t.load), t.s.u.Scale), t.hosts)
		return true
	}
	if t.nodes++; t.nodes > t.limit || t.nodes&0xfff == 0 && t.s.ctx.Err() != nil {
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
		before := t.mem[h]
		after := before.Add(m)
		if t.load[h]+c > t.most() || t.s.u.ExactCap.Less(after) || t.s.closed() {
			return true
		}
		left := budget
		if cur >= 0 && cur != h {
			if left.Less(m) {
				return true
			}
			left = left.Sub(m)
		}
		t.load[h] += c
		t.mem[h] = after
		t.hosts[i] = h
		done := true
		if t.roomFor(t.sum[k+1]) {
			done = t.place(k+1, left)
		}
		t.load[h] -= c
		t.mem[h] = before
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

// roomFor reports whether the hosts can still take so much CPU together.
func (t *budgetTree) roomFor(cpu int64) bool {
	if t.s.off&noRoom != 0 {
		return true
	}
	most := t.most()
	for _, l := range t.load {
		if l > most { // the best known has improved since the task was put there
			return false
		}
		if cpu -= most - l; cpu <= 0 { // seen before the sum overflows
			return true
		}
	}
	return cpu <= 0
}

// seen reports whether a host like h was tried before it.
func (t *budgetTree) seen(h, lowest, cur int32) bool {
	if t.waiting[h] > 0 || t.s.off&noSeen != 0 {
		return false
	}
	for g := lowest; g < h; g++ {
		if g != cur && t.load[g] == t.load[h] && t.mem[g] == t.mem[h] && t.waiting[g] == 0 {
			return true
		}
	}
	return false
}
