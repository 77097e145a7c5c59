// SPDX-License-Identifier: MIT

package dag

import (
	"cmp"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/num/profile"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

const (
	justified     = 60   // schedules that are kept
	justifiedBest = 20   // of those that are parents
	mostJustified = 2000 // tasks up to which schedules are crossed
)

// justify looks for better plans on identical machines without data by a genetic algorithm on
// justified schedules (Valls, Ballestín, Quintanilla: Justification and RCPSP, 2005; A hybrid
// genetic algorithm for the resource-constrained project scheduling problem, 2008). A schedule is pushed
// to the right, task after task by falling ends, then to the left by rising ends in the mirror, as long
// as that makes it shorter. A child has one parent's order in a window of time and
// another's outside of it. It makes so many children, or ends at the bound (seconds).
// O(V) profile operations each.
func (s *search) justify(children int, bound float64) {
	g := s.g
	if g.Tasks < 3 || g.Tasks > mostJustified || s.lowest <= bound || !g.Interchangeable() {
		return
	}
	j := &justifier{g: g, length: make([]int64, g.Tasks), missing: make([]int32, g.Tasks)}
	t := g.Ticks(s.lowest)
	for k := range j.length {
		j.length[k] = int64(t.Cost[k*g.Machines])
	}
	type individual struct {
		key      []float64 // tasks go by rising keys, those before them first
		makespan int64
	}
	tail := make([]float64, g.Tasks)
	for _, u := range slices.Backward(g.Order) {
		for _, e := range g.Succ(u) {
			tail[u] = max(tail[u], tail[g.To[e]])
		}
		tail[u] += float64(j.length[u])
	}
	best := int64(math.MaxInt64)
	add := func(key []float64) individual {
		start, makespan := j.both(j.serial(key, false))
		for k := range key {
			key[k] = float64(start[k]) + 0.5*s.rng.Float64()
		}
		if makespan < best {
			best = makespan
			if p := dagplay.OnFree(g, start, j.length); s.adoptIfBetter(state{Plan: p}) {
				s.report(func() *model.Schedule { return s.d.Schedule(p.Machine, s.replay.Start, s.replay.Sent) })
			}
		}
		return individual{key, makespan}
	}
	var all []individual
	for k := range children {
		if s.lowest <= bound || meter.Stop(s.Ctx, int64(g.Tasks)) {
			return
		}
		key := make([]float64, g.Tasks)
		if k < justified {
			for u := range key {
				key[u] = -tail[u] + float64(k%20)*s.rng.NormFloat64()*slices.Max(tail)/50
			}
			all = append(all, add(key))
			continue
		}
		order.Stable(all, func(a, b individual) int { return cmp.Compare(a.makespan, b.makespan) })
		a, b := all[s.rng.IntN(justifiedBest)], all[s.rng.IntN(justified)]
		low := s.rng.Float64() * float64(best)
		high := low + float64(best)*(0.2+0.33*s.rng.Float64())
		for u := range key {
			if key[u] = b.key[u]; a.key[u] >= low && a.key[u] < high {
				key[u] = a.key[u]
			}
			if s.rng.Float64() < 0.03 {
				key[u] += s.rng.NormFloat64() * float64(best) / 8
			}
		}
		all[justified-1-s.rng.IntN(justified/6)] = add(key)
	}
}

// justifier makes schedules on identical machines, in ticks.
type justifier struct {
	g       *view.Graph
	length  []int64
	missing []int32
	ready   []int32
}

// serial puts the tasks, by rising keys, those before them first, each at the first time at
// which a machine is free; backwards with all edges turned.
func (j *justifier) serial(key []float64, backwards bool) ([]int64, int64) {
	g := j.g
	before, after, from, to := g.Pred, g.Succ, g.From, g.To
	if backwards {
		before, after, from, to = after, before, to, from
	}
	start, makespan := make([]int64, g.Tasks), int64(0)
	p := profile.Profile{Capacity: g.Machines}
	j.ready = j.ready[:0]
	for t := range int32(g.Tasks) {
		if j.missing[t] = int32(len(before(t))); j.missing[t] == 0 {
			j.ready = append(j.ready, t)
		}
	}
	for len(j.ready) > 0 {
		k := 0
		for i, t := range j.ready {
			if key[t] < key[j.ready[k]] {
				k = i
			}
		}
		t := j.ready[k]
		j.ready[k] = j.ready[len(j.ready)-1]
		j.ready = j.ready[:len(j.ready)-1]
		earliest := int64(0)
		for _, e := range before(t) {
			f := from[e]
			earliest = max(earliest, start[f]+j.length[f])
		}
		if start[t] = earliest; j.length[t] > 0 {
			start[t], _ = p.First(1, j.length[t], earliest, math.MaxInt64/4)
			p.Add(start[t], start[t]+j.length[t], 1)
		}
		makespan = max(makespan, start[t]+j.length[t])
		for _, e := range after(t) {
			u := to[e]
			if j.missing[u]--; j.missing[u] == 0 {
				j.ready = append(j.ready, u)
			}
		}
	}
	return start, makespan
}

// both justifies a schedule to the right and to the left as long as that makes it shorter.
func (j *justifier) both(start []int64, makespan int64) ([]int64, int64) {
	key := make([]float64, len(start))
	for {
		for t := range key {
			key[t] = -float64(start[t] + j.length[t])
		}
		right, _ := j.serial(key, true)
		for t := range key {
			key[t] = -float64(right[t] + j.length[t])
		}
		left, shorter := j.serial(key, false)
		if shorter >= makespan {
			if shorter == makespan {
				return left, makespan
			}
			return start, makespan
		}
		start, makespan = left, shorter
	}
}
