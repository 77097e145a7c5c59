package batch

import "math/bits"

// freeProcessors is a set of processors from which the lowest are taken: a bitset,
// with a bit for each of its words that isn't 0 in the next level, and so on up to
// one word. Taking or giving back a processor takes O(levels), at most four for a
// million processors.
type freeProcessors struct {
	levels [][]uint64
}

// newFreeProcessors returns the set of processors 0 to n-1.
func newFreeProcessors(n int) *freeProcessors {
	s := new(freeProcessors)
	for {
		words := (n + 63) / 64
		l := make([]uint64, words)
		for i := range l {
			l[i] = ^uint64(0)
		}
		if rest := n % 64; rest > 0 {
			l[words-1] = 1<<rest - 1
		}
		s.levels = append(s.levels, l)
		if words == 1 {
			return s
		}
		n = words
	}
}

// take removes the lowest processors and writes them to list; there must be as
// many.
func (s *freeProcessors) take(list []int32) {
	top := len(s.levels) - 1
	for i := 0; i < len(list); {
		word := 0
		for l := top; l > 0; l-- {
			word = word*64 + bits.TrailingZeros64(s.levels[l][word])
		}
		x := s.levels[0][word]
		for ; x != 0 && i < len(list); i++ {
			list[i] = int32(word*64 + bits.TrailingZeros64(x))
			x &= x - 1
		}
		s.levels[0][word] = x
		for l := 1; l <= top && s.levels[l-1][word] == 0; l++ {
			s.levels[l][word/64] &^= 1 << (word % 64)
			word /= 64
		}
	}
}

// give puts processors back.
func (s *freeProcessors) give(list []int32) {
	for _, p := range list {
		s.add(p)
	}
}

// add puts a processor into the set.
func (s *freeProcessors) add(p int32) {
	for l := range s.levels {
		word := &s.levels[l][p/64]
		before := *word
		*word |= 1 << (p % 64)
		if before != 0 {
			return
		}
		p /= 64
	}
}

// remove removes a processor of the set.
func (s *freeProcessors) remove(p int32) {
	for l := range s.levels {
		word := &s.levels[l][p/64]
		if *word &^= 1 << (p % 64); *word != 0 {
			return
		}
		p /= 64
	}
}

// number gives each job its processors: in the order of the starts the lowest that
// are free, ends before starts. The lists are cut from one array. It takes time
// linear in the jobs' total width.
func (s *simulation) number(t *trace) [][]int32 {
	total := 0
	for k := range s.jobs {
		total += int(s.jobs[k].width)
	}
	array, lists := make([]int32, total), make([][]int32, len(s.jobs))
	for k := range s.jobs {
		w := s.jobs[k].width
		lists[k], array = array[:w:w], array[w:]
	}
	free, ended := newFreeProcessors(int(s.processors)), 0
	for _, k := range t.started {
		for ; ended < len(t.ended); ended++ {
			e := t.ended[ended]
			if t.starts[e]+s.lengths[e] > t.starts[k] {
				break
			}
			free.give(lists[e])
		}
		free.take(lists[k])
	}
	return lists
}
