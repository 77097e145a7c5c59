// SPDX-License-Identifier: MIT

package vcsched

import (
	"github.com/gapwise/gapwise/internal/core/view"
)

// stock holds the tasks' use of the hosts, in units.
type stock struct {
	u    *view.VCSched
	load []int64   // [host]: sum of the CPU needs
	use  [][]int64 // [resource of u.Rigid][host]: likewise
	// plain says that hosts are reference hosts and memory is the only rigid
	// resource: then no loop over resources costs time.
	plain  bool
	memory []int64 // use[0]
	most   int64   // of memory, where that is plain
}

func newStock(u *view.VCSched) *stock {
	s := &stock{u: u, load: make([]int64, u.Hosts), use: make([][]int64, len(u.Rigid))}
	for r := range s.use {
		s.use[r] = make([]int64, u.Hosts)
	}
	s.plain, s.memory, s.most = plain(u), s.use[0], u.Classes[0].Cap[0]
	return s
}

// plain reports whether all hosts are reference hosts, except for their memory, and memory is the only rigid resource.
func plain(u *view.VCSched) bool {
	return len(u.Rigid) == 1 && len(u.Classes) == 1 && u.Classes[0].Room(u.Scale) == u.Scale
}

// fits reports whether host h has the memory and the other rigid resources for task i.
func (s *stock) fits(i int32, h int) bool {
	if s.plain {
		return s.memory[h]+s.u.Memory[i] <= s.most
	}
	return s.fitsAll(i, h)
}

func (s *stock) fitsAll(i int32, h int) bool {
	limits := s.u.Classes[s.u.ClassOf(int32(h))].Cap
	for r, needs := range s.u.Rigid {
		if s.use[r][h]+needs[i] > limits[r] {
			return false
		}
	}
	return true
}

// loadWith returns the relative load of host h with task i.
func (s *stock) loadWith(i int32, h int) int64 {
	if s.plain {
		return s.load[h] + s.u.CPU[i]
	}
	return s.u.Classes[s.u.ClassOf(int32(h))].Load(s.load[h] + s.u.CPU[i])
}

// put puts task i on host h, or takes it away by times = -1.
func (s *stock) put(i int32, h int, times int64) {
	s.load[h] += times * s.u.CPU[i]
	for r, needs := range s.u.Rigid {
		s.use[r][h] += times * needs[i]
	}
}

// meanCaps returns a host's average capacity of each of u.Rigid, in units.
func meanCaps(u *view.VCSched) []float64 {
	mean := make([]float64, len(u.Rigid))
	if len(u.Classes) == 1 {
		for r, has := range u.Classes[0].Cap {
			mean[r] = float64(has)
		}
		return mean
	}
	for k := range u.Classes {
		c := &u.Classes[k]
		for r, has := range c.Cap {
			mean[r] += float64(has) * float64(len(c.Hosts)) / float64(u.Hosts)
		}
	}
	return mean
}

// largestNeed returns the largest share of the mean host that task i needs of a rigid
// resource.
func largestNeed(u *view.VCSched, mean []float64, i int32) float64 {
	most := 0.0
	for r, needs := range u.Rigid {
		most = max(most, float64(needs[i])/mean[r])
	}
	return most
}
