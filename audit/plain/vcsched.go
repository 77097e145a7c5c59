package plain

import (
	"math/big"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// vcschedSearch puts one task after another on a host, the hardest first. A
// placement's yield is 1 over its largest CPU load, at most 1.
//
// Two rules avoid equal placements. Of empty hosts on which no task runs now,
// only the first is used. Of tasks of equal needs and current host (twins), an
// earlier one is on a host of no higher number. Both hold for the optimal
// placement whose list of hosts, in the order of the tasks, is
// lexicographically least: exchanging two such hosts or tasks changes neither
// loads nor what moves, and would make it less.
type vcschedSearch struct {
	*counter
	in             *model.VCSched
	tasks          []vcschedTask  // the hardest first
	limit          float64        // the CPU load to stay below
	best           model.Solution // nil while there is none
	memory, budget capacity       // of a host, of what moves
	running        []bool         // by host: a task runs there now, and moving it counts
	load           []float64      // by host
	used           []int64        // memory by host, in units rounded down task by task
	moved          int64          // memory that moves, likewise
	host           []int          // of tasks[:i]
}

func solveVCSched(in *model.VCSched, beat float64, c *counter) model.Solution {
	n := in.Tasks()
	s := &vcschedSearch{counter: c, in: in, tasks: vcschedTasks(in), memory: newCapacity(1), budget: newCapacity(float64(n)), running: make([]bool, in.Hosts),
		load: make([]float64, in.Hosts), used: make([]int64, in.Hosts), host: make([]int, n)}
	if b := in.MigrationBudget; b != nil {
		s.budget = newCapacity(min(*b, float64(n)))
	}
	for _, t := range s.tasks {
		if t.current >= 0 {
			s.running[t.current] = true
		}
	}
	s.beat(beat)
	s.place(0)
	return s.best
}

func (s *vcschedSearch) beat(yield float64) {
	s.limit = 1 / max(threshold(model.Maximise, yield, false), 0)
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
		yield := 1 / max(1, slices.Max(s.load))
		s.best = s.in.NewPlacement(hosts, yield)
		s.beat(yield)
		return
	}
	// The remaining needs of CPU and memory must fit in what is free on the
	// hosts that can take at least the smallest of them.
	t, room, units := &s.tasks[i], 0.0, int64(0)
	for h, load := range s.load {
		if load+t.leastCPU < s.limit && s.used[h]+t.leastMemory <= s.memory.units {
			room, units = room+s.limit-load, units+s.memory.units-s.used[h]
		}
	}
	if t.restCPU >= room || t.restMemory > units {
		return
	}
	empty, last := false, s.moved
	for _, h := range ascending(len(s.load), func(h int) float64 { return s.load[h] }) {
		load, used := s.load[h], s.used[h]
		if load == 0 && !s.running[h] {
			if empty {
				continue
			}
			empty = true
		}
		if load+t.cpu >= s.limit || t.twin && s.host[i-1] > h {
			continue
		}
		s.host[i], s.load[h], s.used[h] = h, load+t.cpu, used+t.units
		if s.moves(i) {
			s.moved += t.units
		}
		if s.fits(i, s.used[h], s.memory, func(k int) bool { return s.host[k] == h }) && s.fits(i, s.moved, s.budget, s.moves) {
			s.place(i + 1)
		}
		s.load[h], s.used[h], s.moved = load, used, last
	}
}

// moves reports whether task k is on another host than now.
func (s *vcschedSearch) moves(k int) bool {
	return s.tasks[k].current >= 0 && s.tasks[k].current != s.host[k]
}

// fits reports whether the memory of those of tasks[:i+1] that are counted is
// at most the capacity. In units it is the given sum and less than one more
// for each task; fractions decide where that doesn't.
func (s *vcschedSearch) fits(i int, units int64, most capacity, counted func(k int) bool) bool {
	if units > most.units || units+int64(i+1) <= most.units {
		return units <= most.units
	}
	sum := new(big.Rat)
	for k := range i + 1 {
		if counted(k) {
			sum.Add(sum, new(big.Rat).SetFloat64(s.tasks[k].memory))
		}
	}
	return sum.Cmp(most.exact) <= 0
}
