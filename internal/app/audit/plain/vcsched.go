// SPDX-License-Identifier: MIT

package plain

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// vcschedSearch puts one task after another on a host, the hardest first. A
// placement's yield is 1 over its largest CPU load, at most 1.
//
// Two rules avoid equal placements. Only the first of the empty hosts of one size on which no task runs now is used.
// Among tasks of equal needs and current host (twins), an earlier one is on a host of no higher number. Both hold for
// the optimal placement with the lexicographically least list of hosts, in the order of the tasks. Exchanging two such
// hosts or tasks changes neither loads nor moves, and would make it less.
type vcschedSearch struct {
	*counter
	in      *model.VCSched
	tasks   []vcschedTask  // the hardest first
	limit   float64        // the CPU load to stay below
	best    model.Solution // nil while there is none
	cpu     []float64      // by host: its CPU
	has     [][]capacity   // by host: memory and the further resources
	size    []int          // by host: the first host of the same size
	budget  capacity       // of the moves
	running []bool         // by host: a task runs there now, and moving it counts
	load    []float64      // by host: the CPU needs
	used    [][]int64      // by host: as has, in units rounded down task by task
	moved   int64          // memory that moves, likewise
	host    []int          // of tasks[:i]
}

func solveVCSched(in *model.VCSched, beat float64, c *counter) (model.Solution, error) {
	if n := max(in.Tasks(), in.Hosts); n > 4096 { // in 2^-50 of a host, sums of more don't fit in an int64
		return nil, fmt.Errorf("%w: the plain engine takes 4096 tasks and hosts at most, not %d", model.ErrUnsupported, n)
	}
	n := in.Tasks()
	s := &vcschedSearch{counter: c, in: in, tasks: vcschedTasks(in), budget: newCapacity(float64(n), 0), running: make([]bool, in.Hosts),
		load: make([]float64, in.Hosts), host: make([]int, n)}
	for h := range in.Hosts {
		size := in.Capacity(h)
		s.cpu = append(s.cpu, size.CPU)
		var has []capacity
		for _, x := range append([]float64{size.Memory}, size.Resources...) {
			has = append(has, newCapacity(x, x))
		}
		s.has, s.used = append(s.has, has), append(s.used, make([]int64, len(has)))
		first := 0
		for !sameSize(in.Capacity(first), size) {
			first++
		}
		s.size = append(s.size, first)
	}
	if b := in.MigrationBudget; b != nil {
		smallest := in.Capacity(0).Memory
		for h := range in.Hosts {
			smallest = min(smallest, in.Capacity(h).Memory)
		}
		s.budget = newCapacity(min(*b, 1000*float64(n)), smallest)
	}
	for _, t := range s.tasks {
		if t.current >= 0 {
			s.running[t.current] = true
		}
	}
	s.beat(beat)
	s.place(0)
	return s.best, nil
}

func sameSize(a, b model.HostSize) bool {
	return a.CPU == b.CPU && a.Memory == b.Memory && slices.Equal(a.Resources, b.Resources)
}

func (s *vcschedSearch) beat(yield float64) {
	s.limit = 1 / max(s.threshold(model.Maximise, yield, false), 0)
}

// place puts tasks[i:] on hosts. Loads below 1 yield no more than a load of 1.
func (s *vcschedSearch) place(i int) {
	if s.limit <= 1 || s.stop() {
		return
	}
	if i == len(s.tasks) {
		hosts := make([]int32, i)
		for k, h := range s.host {
			hosts[s.tasks[k].number] = int32(h)
		}
		most := 1.0
		for h, load := range s.load {
			most = max(most, load/s.cpu[h])
		}
		s.best = s.in.NewPlacement(hosts, 1/most)
		s.beat(1 / most)
		return
	}
	// The remaining needs of CPU and of each resource must fit in the free room on the hosts that can take at least the
	// smallest of them.
	t, room, free := &s.tasks[i], 0.0, make([]int64, len(s.tasks[i].units))
hosts:
	for h, load := range s.load {
		if (load+t.leastCPU)/s.cpu[h] >= s.limit {
			continue
		}
		for r, least := range t.least {
			if s.used[h][r]+least > s.has[h][r].units {
				continue hosts
			}
		}
		room += s.limit*s.cpu[h] - load
		for r := range free {
			free[r] += s.has[h][r].units - s.used[h][r]
		}
	}
	for r, rest := range t.rest {
		if rest > free[r] {
			return
		}
	}
	if t.restCPU >= room*(1+1e-12) && t.restCPU > 0 {
		return
	}
	empty, last := map[int]bool{}, s.moved
	for _, h := range ascending(len(s.load), func(h int) float64 { return s.load[h] / s.cpu[h] }) {
		load := s.load[h]
		if !s.running[h] && !slices.Contains(s.host[:i], h) {
			if empty[s.size[h]] {
				continue
			}
			empty[s.size[h]] = true
		}
		if (load+t.cpu)/s.cpu[h] >= s.limit || t.twin && s.host[i-1] > h {
			continue
		}
		s.host[i], s.load[h] = h, load+t.cpu
		for r, x := range t.units {
			s.used[h][r] += x
		}
		if s.moves(i) {
			s.moved += t.units[0]
		}
		if s.fitsOn(i, h) && s.fits(i, 0, s.moved, s.budget, s.moves) {
			s.place(i + 1)
		}
		s.load[h], s.moved = load, last
		for r, x := range t.units {
			s.used[h][r] -= x
		}
	}
}

// fitsOn reports whether the tasks of tasks[:i+1] on host h fit there.
func (s *vcschedSearch) fitsOn(i, h int) bool {
	for r, has := range s.has[h] {
		if !s.fits(i, r, s.used[h][r], has, func(k int) bool { return s.host[k] == h }) {
			return false
		}
	}
	return true
}

// moves reports whether task k is on another host than now.
func (s *vcschedSearch) moves(k int) bool {
	return s.tasks[k].current >= 0 && s.tasks[k].current != s.host[k]
}

// fits reports whether the counted tasks of tasks[:i+1] need at most the capacity of resource r. In units it is the
// given sum and less than one more for each task; fractions decide where that doesn't.
func (s *vcschedSearch) fits(i, r int, units int64, most capacity, counted func(k int) bool) bool {
	if units > most.units || units+int64(i+1) <= most.units {
		return units <= most.units
	}
	sum := new(big.Rat)
	for k := range i + 1 {
		if counted(k) {
			sum.Add(sum, new(big.Rat).SetFloat64(s.tasks[k].needs[r]))
		}
	}
	return sum.Cmp(most.exact) <= 0
}
