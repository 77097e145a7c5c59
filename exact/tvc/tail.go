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
)

// combination is what one server gets of all open items: a part of each, with the
// step that it makes in the numbers of vectors.
type combination struct {
	parts []tvcbounds.Part
	step  int
}

// tail decides whether the servers can take all open items, by dynamic
// programming: reach[s] is the set of vectors (VMs by open item) that the first s
// servers can have together, each a combination that it has slots and rate for at
// every instant. The items fit if the vector of all their VMs is in the last
// one. A vector's number is Σ_j m_j stride_j, so a combination shifts the set of
// those to which its parts can be added.
//
// It is for servers as children, whose links have one lane, and items whose parts'
// loads needn't sum to anything: HosePerPath with part of the VMs is left to the
// search. decided is false if the program is too large.
//
// O(servers · combinations · Π_j (N_j + 1) / 64).
func (s *splitter) tail(most int) (fits, decided bool) {
	n := len(s.open)
	stride := make([]int, n+1)
	stride[0] = 1
	for j, i := range s.open {
		x := s.items[i]
		if s.perPath && x.part.VMs < s.requests[x.request].vms {
			return false, false
		}
		if stride[j+1] = stride[j] * (int(x.part.VMs) + 1); stride[j+1] > most*64 {
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
	from := bitset.New(size)
	for c := range of {
		next := slices.Clone(reach[c])
		for _, x := range of[c] {
			copy(from, reach[c])
			for j, p := range x.parts {
				if p.VMs > 0 {
					for w, y := range may[j][p.VMs] {
						from[w] &= y
					}
				}
			}
			shift(next, from, x.step)
		}
		reach[c+1] = next
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
			for j, p := range x.parts {
				ok = ok && (p.VMs == 0 || may[j][p.VMs].Has(before))
			}
			if ok {
				for j, i := range s.open {
					s.h.parts[i][c] = x.parts[j]
				}
				at = before
				break
			}
		}
	}
	return true, true
}

// shift adds the numbers of from, each plus step, to s.
func shift(s, from bitset.Set, step int) {
	skip, by := step/64, uint(step%64)
	if by == 0 {
		for w := len(s) - 1; w >= skip; w-- {
			s[w] |= from[w-skip]
		}
		return
	}
	for w := len(s) - 1; w > skip; w-- {
		s[w] |= from[w-skip]<<by | from[w-skip-1]>>(64-by)
	}
	if skip < len(s) {
		s[skip] |= from[0] << by
	}
}

// combinations returns what server c can get of the open items beside what it has,
// nothing left out; more than most of them if there are more.
func (s *splitter) combinations(c int, stride []int, most int) (all []combination) {
	parts := make([]tvcbounds.Part, len(s.open))
	var walk func(j, step int)
	walk = func(j, step int) {
		if len(all) > most {
			return
		}
		if j == len(s.open) {
			if step > 0 {
				all = append(all, combination{slices.Clone(parts), step})
			}
			return
		}
		walk(j+1, step)
		x := s.items[s.open[j]]
		q := &s.requests[x.request]
		for _, p := range q.parts[0] {
			if p.VMs > x.part.VMs {
				break
			}
			if !s.room(c, x, p, 0) {
				continue
			}
			s.fill(c, q, p, 1)
			parts[j] = p
			walk(j+1, step+int(p.VMs)*stride[j])
			parts[j] = tvcbounds.Part{}
			s.fill(c, q, p, -1)
		}
	}
	walk(0, 0)
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
