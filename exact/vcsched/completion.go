package vcsched

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// partition decides whether at most 64 items with two sizes each fit in a number
// of identical bins. For VCSched that is "is there a placement with L ≤ C?", with
// tasks as items, hosts as bins, and C and a host's memory as capacities. It is bin
// completion (Korf: An improved algorithm for optimal bin packing, 2003) in two
// dimensions, on bit sets.
//
// Items are in the order of decreasing difficulty. Every subset of items that fits
// in a bin is listed once, under its first item. A node fills one bin: with the
// first item left, which has to go somewhere, bins being identical, and a subset of
// the other items left. Each rule drops a subset s at a node. Let P be a partition
// of the items left into the bins left, and s its subset with the first item; then
// some partition is left:
//
//   - waste-bound: the bins left waste slack = Σ_bins capacity - Σ_left size in
//     each resource, and no bin of P less than 0. So s wastes ≤ slack.
//   - maximal-bins: if an item x left, x ∉ s, fits in what s wastes, it can go
//     there from its bin in P.
//   - exchange-dominance: if x left, x ∉ s, is no smaller than i ∈ s in either
//     resource, i not the first item, and s - i + x fits, then x and i can change
//     places in P: the bin of x takes no more than before. Such a step, or one of
//     maximal-bins, makes s larger in a resource and smaller in none, or keeps both
//     sizes and makes the sum of its items' indices smaller. So the steps end, in a
//     partition whose subset isn't dropped and wastes no more than s.
//   - no-good-memo: whether the items left fit in the bins left depends on nothing
//     else (slack is a function of both), and what doesn't fit in k bins doesn't
//     fit in fewer. Then the node is dropped.
//
// Where the lists would get too long (many items per bin), a node makes the subsets
// one by one instead. Worst case exponential in the items.
type partition struct {
	size    [2][]int64 // [resource][item]; resource 0 is CPU, 1 is memory
	bins    int
	cap     [2]int64 // of a bin, by resource
	threads int
	off     deviceSet

	lists [][]subset // [first item], by increasing waste of the tight resource
	tight int        // the resource with the smaller slack, as a share of a bin

	listed  bool  // false: lists would be too long, each node makes its subsets
	tooLong int64 // a CPU capacity at which they were; 0: none

	walkers []*walker // one for each thread, kept for their memory
	nodes   int64     // of the last decision
	chosen  []uint64  // the bins' items, if the answer was yes
}

// subset is a set of items that fits in one bin.
type subset struct {
	items  uint64
	better uint64   // items outside that maximal-bins or exchange-dominance puts in
	waste  [2]int64 // capacity left, by resource
}

// fits reports whether the items fit in a bin.
func (p *partition) fits(items uint64) bool {
	for r, size := range p.size {
		left := p.cap[r]
		for rest := items; rest != 0; rest &= rest - 1 {
			left -= size[bits.TrailingZeros64(rest)]
		}
		if left < 0 {
			return false
		}
	}
	return true
}

// maxItems is the number of bits in a set of items.
const maxItems = 64

// maxSubsets bounds the lists' memory (32 bytes each), maxSteps the time that
// they take.
const (
	maxSubsets = 2_000_000
	maxSteps   = 40_000_000
)

// answer of a decision.
type answer int

const (
	unknown answer = iota
	yes
	no
)

// decide looks for a partition with the given CPU capacity. On yes, p.chosen holds
// the bins' items: those of the first partition in the order of the search,
// whatever the number of threads. The answer is unknown if limit nodes were expanded or
// ctx ended; with a limit of math.MaxInt64 all threads are used.
func (p *partition) decide(ctx context.Context, capacity, limit int64) answer {
	p.cap[0] = capacity
	p.nodes = 0
	root := state{left: ^uint64(0) >> (maxItems - len(p.size[0])), bins: p.bins}
	for r := range root.slack {
		root.slack[r] = int64(p.bins) * p.cap[r]
		for _, s := range p.size[r] {
			root.slack[r] -= s
			if s > p.cap[r] {
				return no
			}
		}
		if root.slack[r] < 0 {
			return no
		}
	}
	if p.off&devWaste != 0 {
		root.slack = [2]int64{math.MaxInt64 / 2, math.MaxInt64 / 2}
	}
	p.tight = 0
	if float64(root.slack[1])/float64(p.cap[1]) < float64(root.slack[0])/float64(p.cap[0]) {
		p.tight = 1
	}
	// Lists that are too long at one capacity are so at a larger one.
	if p.listed = p.tooLong == 0 || capacity < p.tooLong; p.listed {
		if p.listed = p.list(ctx, root.slack); !p.listed {
			p.tooLong = capacity
		}
	}
	for len(p.walkers) < max(1, p.threads) {
		p.walkers = append(p.walkers, &walker{memo: make([]memoEntry, 1<<10)})
	}
	if limit == math.MaxInt64 && p.threads > 1 && p.listed {
		return p.decideParallel(ctx, root)
	}
	w := p.walkers[0]
	w.begin(p, func() bool { return ctx.Err() != nil }, limit)
	a := w.answer(root)
	p.nodes, p.chosen = w.nodes, append(p.chosen[:0], w.chosen...)
	return a
}

// decideParallel splits the tree into subtrees in the order of the search. The
// first subtree with a partition decides; those behind it are given up.
func (p *partition) decideParallel(ctx context.Context, root state) answer {
	subtrees := []state{root}
	for depth := 0; len(subtrees) < 64*p.threads && depth < p.bins-3; depth++ {
		var deeper []state
		for _, s := range subtrees {
			if s.left == 0 {
				deeper = append(deeper, s)
				continue
			}
			p.children(&s, func(c state) bool {
				c.path = append(slices.Clone(s.path), s.left&^c.left)
				deeper = append(deeper, c)
				return true
			})
		}
		if subtrees = deeper; len(subtrees) == 0 {
			return no
		}
	}
	var next, first atomic.Int64 // the next subtree to take; the first with a partition
	first.Store(math.MaxInt64)
	chosen := make([][]uint64, len(subtrees))
	var cut atomic.Bool
	var all sync.WaitGroup
	for _, w := range p.walkers {
		all.Add(1)
		go func() {
			defer all.Done()
			var mine int64
			w.begin(p, func() bool { return ctx.Err() != nil || mine > first.Load() }, math.MaxInt64)
			for {
				if mine = next.Add(1) - 1; mine >= int64(len(subtrees)) || mine > first.Load() || ctx.Err() != nil {
					return
				}
				w.chosen = append(w.chosen[:0], subtrees[mine].path...)
				switch w.answer(subtrees[mine]) {
				case yes:
					chosen[mine] = slices.Clone(w.chosen)
					for f := first.Load(); mine < f && !first.CompareAndSwap(f, mine); f = first.Load() {
					}
				case unknown:
					cut.Store(true)
					w.stopped = false
				}
			}
		}()
	}
	all.Wait()
	for _, w := range p.walkers {
		p.nodes += w.nodes
	}
	switch f := first.Load(); {
	case ctx.Err() != nil:
		// A subtree before the first may have been given up: the partition is
		// one all the same, but time has decided which.
		if f < math.MaxInt64 {
			p.chosen = chosen[f]
			return yes
		}
		return unknown
	case f < math.MaxInt64:
		p.chosen = chosen[f]
		return yes
	case cut.Load():
		return unknown
	}
	return no
}

// list builds the lists of subsets for the capacities; it returns false if they
// get too long.
func (p *partition) list(ctx context.Context, slack [2]int64) bool {
	n := len(p.size[0])
	if p.lists == nil {
		p.lists = make([][]subset, n)
	}
	least := [2]int64{p.cap[0] - slack[0], p.cap[1] - slack[1]} // what a bin must hold, by waste-bound
	var rest [2][65]int64                                       // sums of the items from k on
	for r := range rest {
		for k := n - 1; k >= 0; k-- {
			rest[r][k] = rest[r][k+1] + p.size[r][k]
		}
	}
	total, steps := 0, 0
	var grow func(k int, items uint64, load, mem int64) bool
	var seed int
	grow = func(k int, items uint64, load, mem int64) bool {
		if steps++; steps&0xffff == 0 && (ctx.Err() != nil || steps > maxSteps) {
			return false
		}
		if load >= least[0] && mem >= least[1] {
			if total++; total > maxSubsets {
				return false
			}
			p.lists[seed] = append(p.lists[seed], subset{items: items, waste: [2]int64{p.cap[0] - load, p.cap[1] - mem}})
		}
		for ; k < n && load+rest[0][k] >= least[0] && mem+rest[1][k] >= least[1]; k++ {
			if l, m := load+p.size[0][k], mem+p.size[1][k]; l <= p.cap[0] && m <= p.cap[1] {
				if !grow(k+1, items|1<<k, l, m) {
					return false
				}
			}
		}
		return true
	}
	for seed = range n {
		p.lists[seed] = p.lists[seed][:0]
		if !grow(seed+1, 1<<seed, p.size[0][seed], p.size[1][seed]) {
			return false
		}
		l := p.lists[seed]
		for i := range l {
			l[i].better = p.betterItems(&l[i], seed)
		}
		slices.SortFunc(l, func(a, b subset) int {
			return cmp.Or(cmp.Compare(a.waste[p.tight], b.waste[p.tight]),
				cmp.Compare(a.waste[1-p.tight], b.waste[1-p.tight]), cmp.Compare(a.items, b.items))
		})
	}
	return true
}

// betterItems returns the items outside s, after its first item, that fit in what
// s wastes (maximal-bins) or can replace a smaller item of s other than the first
// (exchange-dominance).
func (p *partition) betterItems(s *subset, seed int) uint64 {
	var better uint64
	inner := s.items &^ (1 << seed)
	for x := seed + 1; x < len(p.size[0]); x++ {
		if s.items>>x&1 == 1 {
			continue
		}
		c, m := p.size[0][x], p.size[1][x]
		if c <= s.waste[0] && m <= s.waste[1] {
			if p.off&devMaximal == 0 {
				better |= 1 << x
			}
			continue
		}
		if p.off&devExchange != 0 {
			continue
		}
		for in := inner; in != 0; in &= in - 1 {
			i := bits.TrailingZeros64(in)
			ci, mi := p.size[0][i], p.size[1][i]
			// Of equal items the first goes in, so that the exchanges end.
			if c >= ci && m >= mi && (c > ci || m > mi || x < i) && c-ci <= s.waste[0] && m-mi <= s.waste[1] {
				better |= 1 << x
				break
			}
		}
	}
	return better
}

// state is a node: the items and bins left, and the slack of each resource.
type state struct {
	left  uint64
	bins  int
	slack [2]int64
	path  []uint64 // the bins filled before, for the roots of subtrees
}

// children calls f for the node's children in order, until f returns false.
func (p *partition) children(n *state, f func(state) bool) {
	list := p.lists[bits.TrailingZeros64(n.left)]
	tight, other := p.tight, 1-p.tight
	for i := range list {
		s := &list[i]
		if s.waste[tight] > n.slack[tight] {
			return
		}
		if s.items&^n.left != 0 || s.better&n.left != 0 || s.waste[other] > n.slack[other] {
			continue
		}
		if !f(state{left: n.left &^ s.items, bins: n.bins - 1, slack: [2]int64{n.slack[0] - s.waste[0], n.slack[1] - s.waste[1]}}) {
			return
		}
	}
}
