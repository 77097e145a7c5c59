// SPDX-License-Identifier: MIT

package joborder

import (
	"math/rand/v2"
	"slices"
)

// window is a local search over the orders of some consecutive jobs, by late acceptance (Burke, Bykov: The late
// acceptance hill-climbing heuristic, 2017). It takes a move if the cost isn't worse than it is, or than it was some
// moves ago.
//
// A move brings a job behind a later one, or that one before it, or exchanges both. The later one waits: a job that
// starts at its submission gains nothing. The order is decoded again from the first changed position, and only to the
// position from which on all is as before.
type window struct {
	jobs   []job
	order  []int32
	place  []placed // by position
	before []steps  // before each position, and after the last
	try    steps
	cost   float64
	best   []int32 // order
	late   [lateness]float64
	effort int64
}

// placed is the place of a job of the order.
type placed struct {
	start int64
	cost  float64 // weight times start
}

const (
	lateness    = 20 // moves that late acceptance looks back
	movesPerJob = 5  // of a window
)

// search improves the order of the jobs, writes their starts, and returns how many jobs it
// has placed.
func (w *window) search(s *Search, jobs []int32) (effort int64) {
	m := len(jobs)
	w.jobs, w.order, w.effort = s.jobs, jobs, 0
	for len(w.before) <= m {
		w.before = append(w.before, steps{})
	}
	w.place = slices.Grow(w.place[:0], m)[:m]
	w.before[0].copy(&s.before)
	w.decode(0, m)
	w.cost = 0
	for p := range w.place {
		w.cost += w.place[p].cost
	}
	w.best = append(w.best[:0], w.order...)
	least := w.cost
	for i := range w.late {
		w.late[i] = w.cost
	}
	for move := range movesPerJob * m {
		if w.move(s.rng, move%lateness) && w.cost < least {
			least = w.cost
			copy(w.best, w.order)
		}
	}
	if w.cost > least {
		copy(w.order, w.best)
		w.decode(0, m)
	}
	for p, k := range w.order {
		s.starts[k] = w.place[p].start
	}
	return w.effort
}

// move tries a random move and reports whether it was taken.
func (w *window) move(rng *rand.Rand, late int) (taken bool) {
	m := len(w.order)
	if m < 2 {
		return false
	}
	j := 1 + rng.IntN(m-1)
	for range 3 {
		if w.place[j].start > w.jobs[w.order[j]].submit {
			break
		}
		j = 1 + rng.IntN(m-1)
	}
	i, kind := rng.IntN(j), rng.IntN(Kinds)
	Exchange(w.order[i:j+1], kind)
	change, end := w.evaluate(i, j)
	if taken = change <= 0 || w.cost+change <= w.late[late]; taken {
		w.cost += change
		w.decode(i, end)
	} else {
		Exchange(w.order[i:j+1], Opposite(kind))
	}
	w.late[late] = w.cost
	return taken
}

// The kinds of moves; Kinds is their number.
const (
	later = iota // the first goes behind the last
	earlier
	swap
	Kinds
)

// Exchange makes a move of a kind with the first and the last of some jobs.
func Exchange(jobs []int32, kind int) {
	last := len(jobs) - 1
	x, y := jobs[0], jobs[last]
	switch kind {
	case later:
		copy(jobs, jobs[1:])
		jobs[last] = x
	case earlier:
		copy(jobs[1:], jobs)
		jobs[0] = y
	default:
		jobs[0], jobs[last] = y, x
	}
}

// Opposite returns the kind of the move that undoes one.
func Opposite(kind int) int {
	switch kind {
	case later:
		return earlier
	case earlier:
		return later
	}
	return swap
}

// decode places the jobs of the positions from i up to end.
func (w *window) decode(i, end int) {
	w.effort += int64(end - i)
	for p := i; p < end; p++ {
		after := &w.before[p+1]
		after.copy(&w.before[p])
		w.place[p] = w.put(after, p)
	}
}

// put places the job at a position.
func (w *window) put(s *steps, p int) placed {
	j := &w.jobs[w.order[p]]
	start := s.place(j)
	return placed{start, j.weight * float64(start-w.before[0].at[0])}
}

// evaluate places the jobs from i on, those up to j in another order than before, and
// returns by how much the cost changes and the position from which on all is as before.
func (w *window) evaluate(i, j int) (change float64, end int) {
	w.try.copy(&w.before[i])
	for end = i; end < len(w.order); end++ {
		if end > j && w.try.equal(&w.before[end]) {
			break
		}
		change += w.put(&w.try, end).cost - w.place[end].cost
	}
	w.effort += int64(end - i)
	return change, end
}
