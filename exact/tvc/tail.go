package tvc

import (
	"slices"

	tvcbounds "github.com/gapwise/gapwise/bounds/tvc"
	"github.com/gapwise/gapwise/internal/bitset"
)

// tailWords limits the words that the dynamic program of tail may touch: the most
// before anything is divided, where a search may take far longer, and below.
const (
	tailWordsFirst = 1 << 26
	tailWords      = 1 << 19
	// tailSet is the most words of one set; some fifty are kept.
	tailSet = 1 << 17
)

// combination is what one server gets of the open items: a part of one of them
// beside what another combination, the parent, has of those before it.
type combination struct {
	parent int // -1: nothing
	depth  int // parts
	item   int // among the open ones
	part   tvcbounds.Part
	step   int // that it makes in the numbers of vectors
}

// tail decides whether the servers can take all open items, by dynamic
// programming: reach[s] is the set of vectors (VMs by open item) that the first s
// servers can have together, each a combination that it has slots and rate for at
// every instant. The items fit if the vector of all their VMs is in the last
// one. A vector's number is Σ_j m_j stride_j, so a part shifts the set of those to
// which it can be added.
//
// It is for servers as children of the root, of which all VMs are below: nothing
// is asked of the sum of the parts' loads. decided is false if the program is too
// large.
//
// O(servers · combinations · Π_j (N_j + 1) / 64).
func (s *splitter) tail(most int) (fits, decided bool) {
	n := len(s.open)
	stride := make([]int, n+1)
	stride[0] = 1
	for j, i := range s.open {
		x := s.items[i]
		if stride[j+1] = stride[j] * (int(x.part.VMs) + 1); stride[j+1] > 64*min(most, tailSet) {
			return false, false
		}
	}
	size := stride[n]
	words := (size + 63) / 64
	// The combinations of servers in the same state are the same.
	of := make([][]combination, len(s.contents))
	twin := s.twins(s.items[s.open[0]])
	left := most / words
	for c := range of {
		if b := twin[c]; b >= 0 {
			of[c] = of[b]
		} else {
			of[c] = s.combinations(c, stride, left)
		}
		if left -= len(of[c]); left < 0 {
			return false, false
		}
	}
	s.nodes += int64(most/words-left) * int64(words) / 1024
	// may[j][m] has the vectors to whose j-th number m can be added.
	may := make([]map[int32]bitset.Set, n)
	for j, i := range s.open {
		may[j] = map[int32]bitset.Set{}
		x := s.items[i]
		for _, p := range s.requests[x.request].parts[0] {
			if p.VMs > x.part.VMs || may[j][p.VMs] != nil {
				continue
			}
			set := bitset.New(size)
			length := (int(x.part.VMs) - int(p.VMs) + 1) * stride[j]
			for from := 0; from < size; from += stride[j+1] {
				set.Add(from, from+length-1)
			}
			may[j][p.VMs] = set
		}
	}
	reach := make([]bitset.Set, len(of)+1)
	reach[0] = bitset.New(size)
	reach[0].Add(0, 0)
	last := 0             // the last word with a vector
	var with []bitset.Set // by depth: the vectors with a combination's parts
	var some []bool       // by depth: there are any
	for c := range of {
		next := slices.Clone(reach[c])
		end := last
		for _, x := range of[c] {
			for len(with) <= x.depth {
				with, some = append(with, bitset.New(size)), append(some, false)
			}
			from := reach[c]
			if x.depth > 1 {
				if from = with[x.depth-1]; !some[x.depth-1] {
					some[x.depth] = false
					continue
				}
			}
			top := min(words-1, last+(x.step+63)/64)
			some[x.depth] = add(next, with[x.depth], from, may[x.item][x.part.VMs], int(x.part.VMs)*stride[x.item], top)
			if some[x.depth] {
				end = max(end, top)
			}
		}
		reach[c+1], last = next, end
		if s.ctx.Err() != nil {
			s.stopped = true
			return false, true
		}
	}
	if !reach[len(of)].Has(size - 1) {
		return false, true
	}
	for _, i := range s.open {
		s.h.parts[i] = make([]tvcbounds.Part, len(of))
	}
	at := size - 1
	for c := len(of) - 1; c >= 0; c-- {
		if reach[c].Has(at) {
			continue // the server gets nothing
		}
		for _, x := range of[c] {
			before := at - x.step
			ok := before >= 0 && reach[c].Has(before)
			for y := x; ok; y = of[c][y.parent] {
				ok = may[y.item][y.part.VMs].Has(before)
				if y.parent < 0 {
					break
				}
			}
			if ok {
				for y := x; ; y = of[c][y.parent] {
					s.h.parts[s.open[y.item]][c] = y.part
					if y.parent < 0 {
						break
					}
				}
				at = before
				break
			}
		}
	}
	return true, true
}

// add puts into with the numbers of from that are in may, each plus step, up to
// word top, adds them to next, and reports whether there are any.
func add(next, with, from, may bitset.Set, step, top int) bool {
	skip, by := step/64, uint(step%64)
	clear(with[:min(skip, top+1)])
	any, before := uint64(0), uint64(0)
	for w := skip; w <= top; w++ {
		x := from[w-skip] & may[w-skip]
		y := x<<by | before>>(64-by) // a shift by 64 is 0
		before = x
		with[w] = y
		next[w] |= y
		any |= y
	}
	// A combination with one part more reads up to this word.
	if top+1 < len(with) {
		with[top+1] = 0
	}
	return any != 0
}

// combinations returns what server c can get of the open items beside what it has,
// nothing left out; more than most of them if there are more.
func (s *splitter) combinations(c int, stride []int, most int) (all []combination) {
	var walk func(from, parent, depth, step int)
	walk = func(from, parent, depth, step int) {
		for j := from; j < len(s.open) && len(all) <= most; j++ {
			x := s.items[s.open[j]]
			q := &s.requests[x.request]
			for _, p := range q.parts[0] {
				if p.VMs > x.part.VMs {
					break
				}
				if !s.room(c, x, p, 0) {
					continue
				}
				y := combination{parent, depth + 1, j, p, step + int(p.VMs)*stride[j]}
				all = append(all, y)
				s.fill(c, q, p, 1)
				walk(j+1, len(all)-1, y.depth, y.step)
				s.fill(c, q, p, -1)
			}
		}
	}
	walk(0, -1, 0, 0)
	return all
}

// fill adds a part to the slots and the link of server c (sign 1) or takes it away
// (-1).
func (s *splitter) fill(c int, q *request, p tvcbounds.Part, sign int32) {
	slots, link := s.slots[c], s.loads[c][0]
	load := int64(sign) * int64(p.Load) * q.bandwidth
	for t := q.span.From; t <= q.span.To; t++ {
		slots[t] += sign * p.VMs
		link[t] += load
	}
}
