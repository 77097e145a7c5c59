// SPDX-License-Identifier: MIT

// Package placement improves placements of virtual machines: by local search, and by using the CPU that a minimum yield
// leaves over.
package placement

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/run/meter"
)

// Improver is a local search (simulated annealing) on the hosts of an instance's tasks.
// It looks for a placement with L ≤ C that fits in memory. Each success lowers C,
// between the best load found and a target.
//
// A state is any assignment of tasks to hosts. Its energy is Σ_hosts max(0, load/C - 1) + 2 Σ_resources max(0,
// use/capacity - 1), over memory and the other rigid resources; it is 0 for a placement that fits. A step moves one
// task or swaps two and is accepted by the Metropolis rule. Hosts within their limits add no energy, so swaps among
// them are always accepted, and the state diffuses until the overloaded hosts get rid of their excess. Half of the
// steps start at a host that exceeds a limit.
//
// A step takes O(1). Memory is O(tasks + hosts).
type Improver struct {
	u      *view.VCSched // strict, after a state that fits in units and not exactly
	strict *view.VCSched
	rng    *rand.Rand
	total  int64 // no host's load exceeds it

	host   []int32   // [task]
	load   []int64   // [host], in units: the CPU needs
	use    [][]int64 // [resource of u.Rigid][host], in units
	place  []int32   // [task]: index within its host's bucket
	bucket [][]int32 // [host]: its tasks

	over     []int32 // hosts above a limit
	overAt   []int32 // [host]: index in over, or -1
	limit    int64   // C
	room     []int64 // [class of hosts]: the CPU needs that make the load C
	best     []int32 // [task]; nil without one
	bestLoad int64   // of best; MaxInt64 without one

	moved int64 // memory of the tasks off their current hosts, in units
}

// NewImprover returns an Improver at the given hosts, [task], which needn't be
// feasible. The slice is copied.
func NewImprover(u *view.VCSched, hosts []int32, seed uint64) *Improver {
	s := &Improver{u: u, strict: u.Strict(), rng: rand.New(rand.NewPCG(seed, 0x696d70726f766572)),
		host: slices.Clone(hosts), place: make([]int32, len(hosts)),
		load: make([]int64, u.Hosts), use: make([][]int64, len(u.Rigid)), room: make([]int64, len(u.Classes)),
		bucket: make([][]int32, u.Hosts), overAt: make([]int32, u.Hosts),
		bestLoad: math.MaxInt64}
	for _, c := range u.CPU {
		s.total += c
	}
	for k := range u.Classes {
		s.total = max(s.total, u.Classes[k].Load(s.total))
	}
	for r := range s.use {
		s.use[r] = make([]int64, u.Hosts)
	}
	for i, h := range hosts {
		s.place[i] = int32(len(s.bucket[h]))
		s.bucket[h] = append(s.bucket[h], int32(i))
		s.load[h] += u.CPU[i]
		for r, needs := range u.Rigid {
			s.use[r][h] += needs[i]
		}
	}
	for i, h := range hosts {
		s.moved += u.Moves(int32(i), h)
	}
	s.record()
	return s
}

// Best returns L of the best feasible placement found, in units, and its hosts,
// [task]; false without one.
func (s *Improver) Best() (int64, []int32, bool) {
	return s.bestLoad, s.best, s.best != nil
}

// record keeps the current state if it is feasible, in units and exactly, and
// the best so far.
func (s *Improver) record() bool {
	if !s.within(s.u) {
		return false
	}
	l := int64(0)
	for h, load := range s.load {
		l = max(l, s.u.Classes[s.u.ClassOf(int32(h))].Load(load))
	}
	if l >= s.bestLoad {
		return false
	}
	if !s.within(s.strict) && !s.u.Fits(s.host) {
		s.u = s.strict // no such state is met again
		return false
	}
	s.bestLoad = l
	s.best = append(s.best[:0], s.host...)
	return true
}

// within reports whether the current state fits in units, in u's capacities and budget.
func (s *Improver) within(u *view.VCSched) bool {
	if u.Current != nil && s.moved > u.Budget {
		return false
	}
	for r, use := range s.use {
		for h, x := range use {
			if x > u.Classes[u.ClassOf(int32(h))].Cap[r] {
				return false
			}
		}
	}
	return true
}

// setLimit sets the threshold and lists the hosts above their limits.
func (s *Improver) setLimit(limit int64) {
	s.limit = max(limit, 1)
	for k := range s.room {
		s.room[k] = max(1, s.u.Classes[k].Room(s.limit))
	}
	s.over = s.over[:0]
	for h := range s.load {
		s.overAt[h] = -1
		s.setOver(int32(h))
	}
}

// hostEnergy returns the energy of host h after adding times the needs of task i, less the needs of j if there is one.
func (s *Improver) hostEnergy(h, i, j int32, times int64) float64 {
	c := s.u.ClassOf(h)
	e := excess(s.load[h], s.room[c], s.u.CPU, i, j, times)
	limits := s.u.Classes[c].Cap
	for r, needs := range s.u.Rigid {
		e += 2 * excess(s.use[r][h], limits[r], needs, i, j, times)
	}
	return e
}

// excess returns the share of the limit by which an amount exceeds it, with times the needs of task i, less the needs
// of j, added.
func excess(amount, limit int64, needs []int64, i, j int32, times int64) float64 {
	if times != 0 {
		d := needs[i]
		if j >= 0 {
			d -= needs[j]
		}
		amount += times * d
	}
	if amount <= limit {
		return 0
	}
	return float64(amount-limit) / float64(max(1, limit))
}

func (s *Improver) budgetEnergy(extra int64) float64 {
	if s.u.Current == nil {
		return 0
	}
	return 2 * float64(max(0, s.moved+extra-s.u.Budget)) / float64(max(1, s.u.Classes[0].Cap[0]))
}

func (s *Improver) setOver(h int32) {
	c := s.u.ClassOf(h)
	isOver := s.load[h] > s.room[c]
	for r, use := range s.use {
		isOver = isOver || use[h] > s.u.Classes[c].Cap[r]
	}
	switch at := s.overAt[h]; {
	case isOver && at < 0:
		s.overAt[h] = int32(len(s.over))
		s.over = append(s.over, h)
	case !isOver && at >= 0:
		last := s.over[len(s.over)-1]
		s.over[at] = last
		s.overAt[last] = at
		s.over = s.over[:len(s.over)-1]
		s.overAt[h] = -1
	}
}

// relocate puts task i on host h and keeps the buckets.
func (s *Improver) relocate(i, h int32) {
	p := s.host[i]
	b := s.bucket[p]
	last := b[len(b)-1]
	b[s.place[i]] = last
	s.place[last] = s.place[i]
	s.bucket[p] = b[:len(b)-1]
	s.place[i] = int32(len(s.bucket[h]))
	s.bucket[h] = append(s.bucket[h], i)
	s.host[i] = h
	s.load[p] -= s.u.CPU[i]
	s.load[h] += s.u.CPU[i]
	for r, needs := range s.u.Rigid {
		s.use[r][p] -= needs[i]
		s.use[r][h] += needs[i]
	}
}

// Improve takes up to the given number of steps and reports whether L ≤ target is
// reached. It returns early when ctx ends.
func (s *Improver) Improve(ctx context.Context, target int64, steps int) bool {
	if s.bestLoad <= target {
		return true
	}
	if s.u.Hosts == 1 || len(s.host) < 2 {
		return false
	}
	// C is this share of the way from the best load to the target.
	const first = 0.5
	down := first
	// In a round every pair of tasks is tried a few times.
	round := min(max(4*len(s.host)*len(s.host), 20_000), 400_000)
	for steps > 0 && ctx.Err() == nil {
		// Without a placement, any load will do: the tasks must fit in memory first.
		limit := s.total
		if s.best != nil {
			limit = min(s.bestLoad-max(s.u.Unit, int64(down*float64(s.bestLoad-target))), s.bestLoad-1)
			limit = max(limit, target)
			s.restore()
		}
		n := min(round, steps)
		steps -= n
		if s.anneal(ctx, limit, n) {
			if s.bestLoad <= target {
				return true
			}
			down = min(first, down*2)
			continue
		}
		if down /= 2; down < 1e-4 {
			down = first / 4
		}
	}
	return false
}

// restore makes the best placement the current state.
func (s *Improver) restore() {
	for i, h := range s.best {
		if s.host[i] != h {
			s.moved += s.u.Moves(int32(i), h) - s.u.Moves(int32(i), s.host[i])
			s.relocate(int32(i), h)
		}
	}
}

// anneal looks for a state of energy 0 with C = limit.
func (s *Improver) anneal(ctx context.Context, limit int64, steps int) bool {
	s.setLimit(limit)
	n := len(s.host)
	// The temperature falls from twice the relative step down in load to a
	// hundredth of that.
	hot := 0.02
	if s.best != nil {
		hot = min(hot, 2*float64(s.bestLoad-limit)/float64(limit)+1e-7)
	}
	cold := hot / 100
	cool := math.Pow(cold/hot, 1/float64(max(1, steps/256)))
	temp := hot
	for k := range steps {
		if k&255 == 0 {
			temp *= cool
			if k&4095 == 0 && meter.Stop(ctx, 300) {
				return false
			}
		}
		if len(s.over) == 0 && s.budgetEnergy(0) == 0 {
			return s.record()
		}
		r := s.rng.Uint64()
		var i int32
		if r&1 == 0 && len(s.over) > 0 {
			b := s.bucket[s.over[uint32(r>>1)%uint32(len(s.over))]]
			i = b[uint32(r>>33)%uint32(len(b))]
		} else {
			i = int32(uint32(r>>33) % uint32(n))
		}
		p := s.host[i]
		r = s.rng.Uint64()
		j := int32(-1)
		var q int32
		if r&3 == 0 {
			q = int32(uint32(r>>33) % uint32(s.u.Hosts))
		} else {
			j = int32(uint32(r>>33) % uint32(n))
			q = s.host[j]
		}
		if p == q {
			continue
		}
		delta := s.hostEnergy(p, i, j, -1) - s.hostEnergy(p, i, j, 0) + s.hostEnergy(q, i, j, 1) - s.hostEnergy(q, i, j, 0)
		var moved int64
		if s.u.Current != nil {
			moved = s.u.Moves(i, q) - s.u.Moves(i, p)
			if j >= 0 {
				moved += s.u.Moves(j, p) - s.u.Moves(j, q)
			}
			delta += s.budgetEnergy(moved) - s.budgetEnergy(0)
		}
		if delta > 0 && (delta > 20*temp || s.rng.Float64() >= math.Exp(-delta/temp)) {
			continue
		}
		s.relocate(i, q)
		if j >= 0 {
			s.relocate(j, p)
		}
		s.moved += moved
		s.setOver(p)
		s.setOver(q)
	}
	return len(s.over) == 0 && s.budgetEnergy(0) == 0 && s.record()
}

// Steps returns the default number of steps for n tasks.
func Steps(n int) int { return 500_000 + 4000*n }
