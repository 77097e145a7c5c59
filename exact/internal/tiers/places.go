// SPDX-License-Identifier: MIT

package tiers

import "slices"

// place is where a job may start.
type place struct {
	on    []int32
	back  bool
	over  bool    // above a job in the background, in an orientation that isn't entered otherwise
	turns []int32 // jobs of groups that are in the other orientation then
}

// above reports whether one of a job's processes on some processors has a use from the threshold on.
func (s *Search) above(k int32, on, list []int32) bool {
	for i, q := range on {
		if s.t.Jobs[k].CPU(i) >= s.t.Threshold && slices.Contains(list, q) {
			return true
		}
	}
	return false
}

// touches reports whether two lists share a processor.
func touches(a, b []int32) bool {
	return slices.ContainsFunc(a, func(q int32) bool { return slices.Contains(b, q) })
}

// places returns where a job may start, of processors that are alike one choice. It leaves out places like the job's
// own.
func (s *Search) places(n *node, k int32, own []int32) (all []place) {
	type class struct {
		front, back hosted
		list        []int32
	}
	front, back := s.hosts(n)
	var classes []class
	index := map[[2]hosted]int{}
	for turn := range 2 { // those that were available before come first
		for q := range int32(len(front)) {
			if n.before[q] != (turn == 0) || front[q].job >= 0 && back[q].job >= 0 {
				continue
			}
			key := [2]hosted{front[q], back[q]}
			at, ok := index[key]
			if !ok {
				at = len(classes)
				index[key] = at
				classes = append(classes, class{front: front[q], back: back[q]})
			}
			classes[at].list = append(classes[at].list, q)
		}
	}
	groups := s.groups[k]
	// mine is the number of the job's processes of each use in a class.
	mine := make([][]int, len(groups))
	for g := range groups {
		mine[g] = make([]int, len(classes))
		for _, i := range groups[g].processes {
			if own != nil {
				for at := range classes {
					if slices.Contains(classes[at].list, own[i]) {
						mine[g][at]++
					}
				}
			}
		}
	}
	given := make([]int, len(classes))
	counts := make([][]int, len(groups))
	for g := range counts {
		counts[g] = make([]int, len(classes))
	}
	settle := func() {
		if own != nil && slices.EqualFunc(counts, mine, slices.Equal) {
			return
		}
		on := make([]int32, s.t.Jobs[k].Processes)
		next := make([]int, len(classes))
		for g := range groups {
			i := 0
			for at, c := range counts[g] {
				for range c {
					on[groups[g].processes[i]] = classes[at].list[next[at]]
					next[at]++
					i++
				}
			}
		}
		backFree := false
		for _, tier := range []bool{true, false} {
			if !tier && backFree {
				break
			}
			x := place{on: on, back: tier}
			ok, shared := true, false
			turned := map[int32]bool{}
			for at := range classes {
				if next[at] == 0 {
					continue
				}
				h := classes[at].front
				if h.job < 0 {
					h = classes[at].back
				}
				if h.job < 0 {
					continue
				}
				shared = true
				turn := n.back[h.job] == tier
				life := n.life[h.job]
				before, known := turned[life]
				if known && before != turn || turn && !n.lives[life].free || tier && h.use >= s.t.Threshold {
					ok = false
					break
				}
				if turn && !tier && slices.Contains(n.stuck, h.job) && s.above(k, on, classes[at].list) {
					ok = false // it would enter the background under this one
					break
				}
				if turned[life] = turn; turn && !known {
					x.turns = append(x.turns, h.job)
				}
			}
			if !ok {
				continue
			}
			if !shared {
				x.back = false
				all = append(all, x)
				break
			}
			x.over = !tier
			all = append(all, x)
			if tier {
				c := s.child(n, false)
				s.put(c, k, x)
				backFree = c.lives[c.life[k]].free
			}
		}
	}
	var spread func(g, at, left int)
	spread = func(g, at, left int) {
		if left == 0 {
			if g+1 < len(groups) {
				spread(g+1, 0, len(groups[g+1].processes))
			} else {
				settle()
			}
			return
		}
		if at == len(classes) {
			return
		}
		for c := min(left, len(classes[at].list)-given[at]); c >= 0; c-- {
			counts[g][at] = c
			given[at] += c
			spread(g, at+1, left-c)
			given[at] -= c
		}
		counts[g][at] = 0
	}
	spread(0, 0, len(groups[0].processes))
	return all
}
