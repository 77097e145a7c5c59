package exact

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
)

// partition decides whether at most 64 items with two sizes each fit in a
// number of identical bins: the question "is there a placement whose largest
// CPU load is at most C?" of VCSched, for one C. It is the bin completion of
// Korf (An improved algorithm for optimal bin packing, 2003) on bit sets.
//
// Items are in an order of decreasing difficulty. For the given C every
// subset of items that fits in a bin and wastes no more of either resource
// than all bins together may is listed once, under its first item. A node
// fills one bin with the first item left and one subset of the items left; it
// leaves out subsets that are dominated (another item left could be added, or
// put in the place of a smaller one: the item that it meets in another bin
// then changes places) and those that waste more than what is left to waste.
// Sets of items that were found not to fit in the bins left are remembered.
//
// Worst case exponential in items; the lists are bounded by maxSubsets.
type partition struct {
	size [2][]int64 // CPU, memory; by item
	bins int
	cap  [2]int64

	lists  [][]subset // by first item, by increasing waste of the tighter resource
	tight  int        // the resource of which the smaller share may be wasted
	memo   []memoEntry
	marker uint32

	threads      int
	nodes, limit int64
	stop         error // why the search was cut off
	ctx          context.Context
	chosen       []uint64
}

// subset is a set of items that fits in one bin.
type subset struct {
	items  uint64
	better uint64   // items outside that could be added or exchanged in
	waste  [2]int64 // capacity left
}

type memoEntry struct {
	items  uint64
	bins   int32
	marker uint32
}

// maxItems is the number of bits in a set.
const maxItems = 64

// maxSubsets bounds the lists' memory (40 bytes each).
const maxSubsets = 2_000_000

// answer of a decision.
type answer int

const (
	unknown answer = iota
	yes
	no
)

// decide looks for a partition with the CPU capacity given. On yes, p.chosen
// holds the bins' items. The search is cut off after the given number of nodes
// or when ctx ends.
func (p *partition) decide(ctx context.Context, capacity, nodes int64) answer {
	p.cap[0] = capacity
	var slack [2]int64
	for r := range slack {
		slack[r] = int64(p.bins) * p.cap[r]
		for _, s := range p.size[r] {
			slack[r] -= s
			if s > p.cap[r] {
				return no
			}
		}
		if slack[r] < 0 {
			return no
		}
	}
	p.ctx, p.nodes, p.limit, p.stop = ctx, 0, nodes, nil
	p.tight = 0
	if float64(slack[1])/float64(p.cap[1]) < float64(slack[0])/float64(p.cap[0]) {
		p.tight = 1
	}
	if !p.list(slack) {
		return unknown
	}
	if p.memo == nil {
		p.memo = make([]memoEntry, 1<<10)
	}
	p.marker++
	p.chosen = p.chosen[:0]
	all := ^uint64(0) >> (64 - len(p.size[0]))
	if p.fill(all, p.bins, slack) {
		return yes
	}
	if p.stop != nil {
		return unknown
	}
	return no
}

// list builds the lists of subsets for the capacity; false if they get too long.
func (p *partition) list(slack [2]int64) bool {
	n := len(p.size[0])
	if p.lists == nil {
		p.lists = make([][]subset, n)
	}
	least := [2]int64{p.cap[0] - slack[0], p.cap[1] - slack[1]}
	var rest [2][65]int64 // sums of the items from k on
	for r := range rest {
		for k := n - 1; k >= 0; k-- {
			rest[r][k] = rest[r][k+1] + p.size[r][k]
		}
	}
	total, steps := 0, 0
	var grow func(k int, items uint64, load, mem int64) bool
	var seed int
	grow = func(k int, items uint64, load, mem int64) bool {
		if steps++; steps&0xffff == 0 && (p.ctx.Err() != nil || steps > 200*maxSubsets) {
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

// betterItems are the items outside s, after its first item, that fit in what
// s leaves or can take the place of a smaller item of s other than the first.
func (p *partition) betterItems(s *subset, seed int) uint64 {
	var better uint64
	inner := s.items &^ (1 << seed)
	for x := seed + 1; x < len(p.size[0]); x++ {
		if s.items>>x&1 == 1 {
			continue
		}
		c, m := p.size[0][x], p.size[1][x]
		if c <= s.waste[0] && m <= s.waste[1] {
			better |= 1 << x
			continue
		}
		for in := inner; in != 0; in &= in - 1 {
			i := bits.TrailingZeros64(in)
			ci, mi := p.size[0][i], p.size[1][i]
			// Equal items: the first one goes in, so that the exchanges end.
			if c >= ci && m >= mi && (c > ci || m > mi || x < i) && c-ci <= s.waste[0] && m-mi <= s.waste[1] {
				better |= 1 << x
				break
			}
		}
	}
	return better
}

// fill places the items left in the bins left, given what may be wasted.
func (p *partition) fill(left uint64, bins int, slack [2]int64) bool {
	if left == 0 {
		return true
	}
	if bins == 1 { // the slack says that they fit
		p.chosen = append(p.chosen, left)
		return true
	}
	if p.nodes++; p.nodes >= p.limit {
		p.stop = errNodeLimit
		return false
	}
	if p.nodes&0xfff == 0 && p.ctx.Err() != nil {
		p.stop = p.ctx.Err()
		return false
	}
	if p.remembered(left, bins) {
		return false
	}
	list := p.lists[bits.TrailingZeros64(left)]
	for i := range list {
		s := &list[i]
		if s.waste[p.tight] > slack[p.tight] {
			break
		}
		if s.items&^left != 0 || s.better&left != 0 || s.waste[1-p.tight] > slack[1-p.tight] {
			continue
		}
		p.chosen = append(p.chosen, s.items)
		if p.fill(left&^s.items, bins-1, [2]int64{slack[0] - s.waste[0], slack[1] - s.waste[1]}) {
			return true
		}
		p.chosen = p.chosen[:len(p.chosen)-1]
		if p.stop != nil {
			return false
		}
	}
	p.remember(left, bins)
	return false
}

func (p *partition) slot(left uint64) *memoEntry {
	return &p.memo[(left*0x9e3779b97f4a7c15)>>(64-bits.TrailingZeros(uint(len(p.memo))))]
}

func (p *partition) remembered(left uint64, bins int) bool {
	e := p.slot(left)
	return e.items == left && e.marker == p.marker && int(e.bins) >= bins
}

// remember notes that the items left don't fit in the bins left. The table
// grows with the search, up to 2^22 entries; older entries give way.
func (p *partition) remember(left uint64, bins int) {
	if int64(len(p.memo)) < p.nodes && len(p.memo) < 1<<22 {
		old := p.memo
		p.memo = make([]memoEntry, 4*len(old))
		for _, e := range old {
			if e.marker == p.marker {
				*p.slot(e.items) = e
			}
		}
	}
	*p.slot(left) = memoEntry{left, int32(bins), p.marker}
}
