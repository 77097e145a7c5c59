// SPDX-License-Identifier: MIT

package vcsched

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/gapwise/gapwise/internal/num/vectors"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/run/panics"
)

// partition decides whether at most 64 items with several sizes each fit in bins of at most maxClasses classes of
// identical ones. For VCSched that is "is there a placement with L ≤ C?", with tasks as items and hosts as bins. The
// capacities are a host's room at C and its rigid resources. It is bin completion (Korf: An improved algorithm for
// optimal bin packing, 2003) in several dimensions, on bit sets.
//
// Items are in the order of decreasing difficulty. Every subset of items that fits in a bin of a class is listed once,
// under its first item. A node fills one bin with the first item left, which has to go somewhere, and a subset of the
// other items left. It tries one bin of each class that has any left, as the bins of a class are identical. Each rule
// drops a subset s at a node. Let P be a partition of the items left into the bins left, and s its subset with the
// first item. Then some partition is left, with the first item in a bin of the same class:
//
//   - waste-bound: the bins left waste slack = Σ_bins capacity - Σ_left size in
//     each resource, and no bin of P less than 0. So s wastes ≤ slack.
//   - maximal-bins: if an item x left, x ∉ s, fits in the waste of s, it can go there from its bin in P, of whatever
//     class.
//   - exchange-dominance: let x left, x ∉ s, be no smaller than i ∈ s in any resource, i not the first item, and let
//     s - i + x fit. Then x and i can change places in P: the bin of x takes no more than before. Such a step, or one
//     of maximal-bins, makes s larger in a resource and smaller in none, or keeps both sizes and makes the sum of its
//     items' indices smaller. So the steps end, in a partition with a subset that isn't dropped and wastes no more than
//     s.
//
// If the lists would get too long (many items per bin), a node makes the subsets one by one instead. Worst case
// exponential in the items.
type partition[V vectors.Vector] struct {
	size    []V   // [item]: by resource; 0 is CPU, the rigid ones follow, and zeros
	bins    []int // [class]
	cap     []V   // [class]: of a bin, by resource
	threads int
	off     deviceSet

	lists [][][]subset[V] // [class][first item], by increasing waste of the tight resource
	tight int             // the resource with the smallest slack, as a share of a bin

	listed  bool  // false: lists would be too long, each node makes its subsets
	tooLong int64 // a load at which they were; 0: none

	walkers []*walker[V] // one for each thread, kept for their memory
	nodes   int64        // of the last decision
	chosen  []filled     // the bins, if the answer was yes
}

// filled is a bin with its items.
type filled struct {
	items uint64
	class int
}

// binsLeft holds numbers of bins, of up to 64 of each class, in a byte for each: the sum of count << 8 class.
type binsLeft uint32

// maxClasses is the number of bytes in binsLeft.
const maxClasses = 4

// count returns the number of bins of a class.
func (b binsLeft) count(class int) int { return int(b >> (8 * class) & 0xff) }

// one is a bin of a class.
func one(class int) binsLeft { return 1 << (8 * class) }

// subset is a set of items that fits in one bin of a class.
type subset[V vectors.Vector] struct {
	items  uint64
	better uint64 // items outside that maximal-bins or exchange-dominance puts in
	waste  V      // capacity left, by resource
}

// fits reports whether the items fit in a bin of the class.
func (p *partition[V]) fits(items uint64, class int) bool {
	left := p.cap[class]
	for rest := items; rest != 0; rest &= rest - 1 {
		if !take(&left, &p.size[bits.TrailingZeros64(rest)]) {
			return false
		}
	}
	return true
}

// take takes the amounts from the rest; it returns false if that isn't enough.
func take[V vectors.Vector](left, amounts *V) bool {
	enough := true
	for r := range len(*left) {
		(*left)[r] -= (*amounts)[r]
		enough = enough && (*left)[r] >= 0
	}
	return enough
}

// exceeds reports whether some amount of a is above the same amount of b.
func exceeds[V vectors.Vector](a, b *V) bool {
	for r := range len(*a) {
		if (*a)[r] > (*b)[r] {
			return true
		}
	}
	return false
}

// minus returns a - b.
func minus[V vectors.Vector](a, b *V) V {
	c := *a
	for r := range len(c) {
		c[r] -= (*b)[r]
	}
	return c
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

// decide looks for a partition at a load, at which a bin of a class has the given CPU capacity. On yes, p.chosen holds
// the bins of the first partition in the order of the search, whatever the number of threads. The answer is unknown if
// limit nodes were expanded or ctx ended; with a limit of math.MaxInt64 all threads are used.
func (p *partition[V]) decide(ctx context.Context, capacity int64, room func(class int, load int64) int64, limit int64) answer {
	p.nodes = 0
	root := state[V]{left: ^uint64(0) >> (maxItems - len(p.size))}
	bins := int64(0)
	var all V
	for c, n := range p.bins {
		p.cap[c][0] = room(c, capacity)
		root.bins += binsLeft(n) << (8 * c)
		bins += int64(n)
		for r := range len(all) {
			all[r] += int64(n) * p.cap[c][r]
		}
	}
	root.slack = all
	for k := range p.size {
		nowhere := true
		for c := range p.cap {
			nowhere = nowhere && exceeds(&p.size[k], &p.cap[c])
		}
		if nowhere || !take(&root.slack, &p.size[k]) {
			return no
		}
	}
	if p.off&devWaste != 0 {
		for r := range len(root.slack) {
			root.slack[r] = math.MaxInt64 / 2
		}
	}
	p.tight = 0
	share := func(r int) float64 { return float64(root.slack[r]) / float64(all[r]/bins) }
	for r := 1; r < len(all); r++ {
		if all[r]/bins > 0 && share(r) < share(p.tight) {
			p.tight = r
		}
	}
	// Lists that are too long at one capacity are also too long at a larger one.
	if p.listed = p.tooLong == 0 || capacity < p.tooLong; p.listed {
		if p.listed = p.list(ctx, &root.slack); !p.listed {
			p.tooLong = capacity
		}
	}
	for len(p.walkers) < max(1, p.threads) {
		p.walkers = append(p.walkers, &walker[V]{})
	}
	if limit == math.MaxInt64 && p.threads > 1 && p.listed {
		return p.decideParallel(ctx, root)
	}
	w := p.walkers[0]
	w.begin(p, func() bool { return meter.Stop(ctx, 4000) }, limit)
	a := w.answer(root)
	p.nodes, p.chosen = w.nodes, append(p.chosen[:0], w.chosen...)
	return a
}

// decideParallel splits the tree into subtrees in the order of the search. The
// first subtree with a partition decides; those behind it are given up.
func (p *partition[V]) decideParallel(ctx context.Context, root state[V]) answer {
	subtrees := []state[V]{root}
	bins := 0
	for _, n := range p.bins {
		bins += n
	}
	for depth := 0; len(subtrees) < 64*p.threads && depth < bins-3; depth++ {
		var deeper []state[V]
		for _, s := range subtrees {
			if s.left == 0 {
				deeper = append(deeper, s)
				continue
			}
			p.children(&s, func(c state[V], class int) bool {
				c.path = append(slices.Clone(s.path), filled{s.left &^ c.left, class})
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
	chosen := make([][]filled, len(subtrees))
	var cut atomic.Bool
	var all errgroup.Group
	for _, w := range p.walkers {
		all.Go(func() error {
			return panics.Call(func() error {
				var mine int64
				w.begin(p, func() bool { return ctx.Err() != nil || mine > first.Load() }, math.MaxInt64)
				for {
					if mine = next.Add(1) - 1; mine >= int64(len(subtrees)) || mine > first.Load() || ctx.Err() != nil {
						return nil
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
			})
		})
	}
	panics.Pass(all.Wait()) // the walkers return no other errors
	for _, w := range p.walkers {
		p.nodes += w.nodes
	}
	switch f := first.Load(); {
	case ctx.Err() != nil:
		// A subtree before the first may have been given up. The partition is still one, but time has decided which.
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
func (p *partition[V]) list(ctx context.Context, slack *V) bool {
	n := len(p.size)
	for len(p.lists) < len(p.bins) {
		p.lists = append(p.lists, make([][]subset[V], n))
	}
	rest := make([]V, n+1) // sums of the items from k on
	for k := n - 1; k >= 0; k-- {
		rest[k] = rest[k+1]
		for r := range len(rest[k]) {
			rest[k][r] += p.size[k][r]
		}
	}
	total, steps := 0, 0
	var class, seed int
	// enough reports whether a bin that has left wastes no more than slack with more.
	enough := func(left, more *V) bool {
		for r := range len(*left) {
			if (*left)[r]-(*more)[r] > (*slack)[r] {
				return false
			}
		}
		return true
	}
	var grow func(k int, items uint64, left V) bool
	grow = func(k int, items uint64, left V) bool {
		if steps++; steps&0xffff == 0 && (meter.Stop(ctx, 1000) || steps > maxSteps) {
			return false
		}
		if !exceeds(&left, slack) {
			if total++; total > maxSubsets {
				return false
			}
			p.lists[class][seed] = append(p.lists[class][seed], subset[V]{items: items, waste: left})
		}
		for ; k < n && enough(&left, &rest[k]); k++ {
			if !exceeds(&p.size[k], &left) && !grow(k+1, items|1<<k, minus(&left, &p.size[k])) {
				return false
			}
		}
		return true
	}
	for class = range p.bins {
		for seed = range n {
			p.lists[class][seed] = p.lists[class][seed][:0]
			if left := p.cap[class]; !take(&left, &p.size[seed]) {
				continue
			} else if !grow(seed+1, 1<<seed, left) {
				return false
			}
			l := p.lists[class][seed]
			for i := range l {
				if i&0xff == 0xff && meter.Stop(ctx, 12*int64(n)) {
					return false
				}
				l[i].better = p.betterItems(&l[i], seed)
			}
			slices.SortFunc(l, func(a, b subset[V]) int {
				if c := cmp.Compare(a.waste[p.tight], b.waste[p.tight]); c != 0 {
					return c
				}
				for r := range len(a.waste) {
					if c := cmp.Compare(a.waste[r], b.waste[r]); c != 0 {
						return c
					}
				}
				return cmp.Compare(a.items, b.items)
			})
		}
	}
	return true
}

// betterItems returns the items outside s, after its first item, that fit in the waste of s (maximal-bins) or can
// replace a smaller item of s other than the first (exchange-dominance).
func (p *partition[V]) betterItems(s *subset[V], seed int) uint64 {
	var better uint64
	inner := s.items &^ (1 << seed)
	for x := seed + 1; x < len(p.size); x++ {
		if s.items>>x&1 == 1 {
			continue
		}
		large := &p.size[x]
		if !exceeds(large, &s.waste) {
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
			small := &p.size[i]
			r, larger := 0, x < i // the first of equal items goes in, so that the exchanges end
			for ; r < len(s.waste); r++ {
				more := (*large)[r] - (*small)[r]
				if more < 0 || more > s.waste[r] {
					break
				}
				larger = larger || more > 0
			}
			if r == len(s.waste) && larger {
				better |= 1 << x
				break
			}
		}
	}
	return better
}

// state is a node: the items and bins left, and the slack of each resource.
type state[V vectors.Vector] struct {
	left  uint64
	bins  binsLeft
	slack V
	path  []filled // the bins filled before, for the roots of subtrees
}

// children calls f for the node's children in order, until f returns false.
func (p *partition[V]) children(n *state[V], f func(c state[V], class int) bool) {
	for class := range p.bins {
		if n.bins.count(class) == 0 {
			continue
		}
		list := p.lists[class][bits.TrailingZeros64(n.left)]
		for i := range list {
			s := &list[i]
			if s.waste[p.tight] > n.slack[p.tight] {
				break
			}
			if s.items&^n.left != 0 || s.better&n.left != 0 || exceeds(&s.waste, &n.slack) {
				continue
			}
			if !f(state[V]{left: n.left &^ s.items, bins: n.bins - one(class), slack: minus(&n.slack, &s.waste)}, class) {
				return
			}
		}
	}
}
