// SPDX-License-Identifier: MIT

package joborder

import "slices"

// steps holds the free processors over a short time: free[i] from at[i] on, up to at[i+1] or, for the last, without
// end. Before at[0] nothing may start.
type steps struct {
	at   []int64
	free []int32
}

func (s *steps) copy(from *steps) {
	s.at, s.free = append(s.at[:0], from.at...), append(s.free[:0], from.free...)
}

func (s *steps) equal(t *steps) bool {
	return len(s.at) == len(t.at) && slices.Equal(s.at, t.at) && slices.Equal(s.free, t.free)
}

// place gives a job its processors as early as they are free from its submission on, and
// returns its start. Time linear in the steps.
func (s *steps) place(j *job) int64 {
	at, free := s.at, s.free[:len(s.at)]
	i, n := s.last(j.submit), len(at)
	start := max(at[i], j.submit)
	for k := i; ; {
		if free[k] < j.width {
			k++ // the last step has all processors free
			i, start = k, at[k]
			continue
		}
		k++
		if k == n || at[k] >= start+j.length {
			break
		}
	}
	s.occupy(i, start, start+j.length, j.width)
	return start
}

// last returns the step that holds at t, the first one if t is before all.
func (s *steps) last(t int64) int {
	low, high := 0, len(s.at) // at[low] ≤ t, or low is 0; at[high] > t, or high is the end
	for high-low > 1 {
		if middle := int(uint(low+high) / 2); s.at[middle] <= t {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// occupy uses processors over [start, end); start is in step i.
func (s *steps) occupy(i int, start, end int64, width int32) {
	if s.at[i] < start {
		s.at, s.free = slices.Insert(s.at, i+1, start), slices.Insert(s.free, i+1, s.free[i])
		i++
	}
	for ; i < len(s.at) && s.at[i] < end; i++ {
		s.free[i] -= width
	}
	if i == len(s.at) || s.at[i] > end {
		s.at, s.free = slices.Insert(s.at, i, end), slices.Insert(s.free, i, s.free[i-1]+width)
	}
}

// add takes processors over the part of [start, end) after the first step's beginning.
func (s *steps) add(start, end int64, width int32) {
	if start = max(start, s.at[0]); start >= end {
		return
	}
	s.occupy(s.last(start), start, end, width)
}

// mostOld is the number of steps before a window that are kept.
const mostOld = 64

// forget drops steps before time t that no job which starts later can use: those up to
// the last one without a free processor, and all but mostOld.
func (s *steps) forget(t int64) {
	i, _ := slices.BinarySearch(s.at, t+1)
	drop := max(0, i-mostOld)
	for k := i - 2; k >= drop; k-- {
		if s.free[k] == 0 {
			drop = k + 1
			break
		}
	}
	s.at, s.free = slices.Delete(s.at, 0, drop), slices.Delete(s.free, 0, drop)
}
