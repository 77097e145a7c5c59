// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// energetic bounds the accepted weight by energies in windows of time (energetic
// reasoning: Baptiste, Le Pape, Nuijten: Satisfiability tests and time-bound
// adjustments for cumulative scheduling problems, 1999). Within [a, b) an accepted
// job j needs at least the energy
//
//	e_j = PEs_j · max(0, min(b-a, length_j, ready_j+length_j-a, b-due_j+length_j)),
//
// the last two for its earliest and its latest start. If Σ_j e_j > PEs · (b-a), jobs must be declined with energies
// that make up the excess. They are at least as many as the largest energies that do, or have at least the weight of
// the fractional knapsack.
//
// Over disjoint windows the declined weights add up if no job counts twice: each
// counts only in the window that contains the middle of its own. Dynamic programming
// over the ends of windows finds the best sequence of disjoint windows.
//
// Windows begin at ready times and latest starts, and end at due times and earliest ends. Up to about 460 jobs all such
// pairs are tried, O(n³). Above, it tries only windows with lengths, counted in possible beginnings, that form a
// geometric series, and that begin a 32nd of that length apart. That takes O(n (c + log n)) for c jobs that are
// possible at the same time. When ctx ends, the bound comes from the windows tried by then.
func energetic(ctx context.Context, t *view.Reservation) bounds.Bound {
	w := newWork(t)
	return w.energetic(ctx, windowsFor(len(w.jobs), maxWindowJobs))
}

// maxWindowJobs is the number of pairs of a window and a job up to which all
// windows are tried.
const maxWindowJobs = 200_000_000

// windowSet decides which pairs of a beginning and an end are windows. It takes all, or those with n beginnings inside,
// for n in 4, 4·growth, 4·growth², ..., but only pairs with the number of the beginning a multiple of max(1, n/part).
type windowSet struct {
	all    bool
	growth float64
	part   int
}

// windowsFor returns all windows if jobs times windows is at most the limit, and
// a series otherwise.
func windowsFor(jobs int, limit float64) windowSet {
	n := float64(jobs)
	return windowSet{all: 2*n*n*n <= limit, growth: math.Sqrt2, part: 32}
}

// quickWindows returns fewer windows, for a bound that takes no longer than a
// heuristic.
func quickWindows(jobs int) windowSet {
	s := windowsFor(jobs, 2_000_000)
	s.growth, s.part = 2, 4
	return s
}

// windowRun is the state of one energetic bound.
type windowRun struct {
	w      *work
	middle []int64 // ready + due of each job, which is twice the middle
	// ends are the times at which windows begin or end, ascending. begins has the indices of the beginnings, and isEnd
	// says which are ends. Jobs before from[k] are due by ends[k] (or left out, which only weakens the bound), jobs
	// from to[k] on are ready after it.
	ends     []int64
	isEnd    []bool
	begins   []int
	from, to []int32
	inside   []int64 // by job: the time that it must spend in the window
	who      []int32 // the jobs for which that isn't 0
	items    []windowItem
	why      string
	// The resources by which the last window declined most, for all jobs and for its own.
	byAll, byOwn int
}

// energetic returns the bound for a set of windows.
func (w *work) energetic(ctx context.Context, set windowSet) bounds.Bound {
	r := newWindowRun(w)
	n := len(r.ends)
	if n == 0 {
		return w.bound("energetic", w.total, "")
	}
	single := 0.0               // the most that one window declines
	chain := make([]float64, n) // the most that disjoint windows up to each end decline
	var alone model.EvidenceWindow
	last := make([]windowStep, n) // the last window of each chain
	try := func(from, to int, wanted bool) {
		all, own := r.declined(from, to, wanted)
		if all > single {
			single, alone = all, r.window(from, to, r.byAll)
		}
		if x := chain[from] + own; x > chain[to] {
			chain[to], last[to] = x, windowStep{from: from, end: to, by: r.byOwn}
		}
	}
	before := 0 // beginnings before to
	to := 0
	for ; to < n && !meter.Stop(ctx, int64(n)/50); to++ {
		if to > 0 {
			chain[to], last[to] = chain[to-1], last[to-1]
		}
		if r.isEnd[to] {
			if set.all {
				for _, from := range r.begins[:before] {
					try(from, to, true)
				}
			} else {
				for x := 4.0; int(x) <= before; x *= set.growth {
					if k := before - int(x); k%max(1, int(x)/set.part) == 0 {
						try(r.begins[k], to, false)
					}
				}
			}
		}
		if before < len(r.begins) && r.begins[before] == to {
			before++
		}
		if w.ticks.Goal == model.GoalAll && r.why != "" {
			// Some request must be declined; nothing more is known.
			return w.proved(w.bound("energetic", w.total-1, r.why), windowEvidence(alone))
		}
	}
	if ctx.Err() == nil {
		try(0, n-1, true)
	}
	end := max(0, to-1)
	b := w.bound("energetic", w.down(w.total-max(single, chain[end])), r.why)
	if single >= chain[end] {
		return w.proved(b, windowEvidence(alone))
	}
	var windows []model.EvidenceWindow
	for step := last[end]; step.end > 0; step = last[step.from] {
		windows = append(windows, r.window(step.from, step.end, step.by))
	}
	slices.Reverse(windows)
	return w.proved(b, windowEvidence(windows...))
}

// windowStep is a window of a chain, from one end to another (0: none), and its resource.
type windowStep struct{ from, end, by int }

// window returns the window between two ends, in ticks.
func (r *windowRun) window(from, to, by int) model.EvidenceWindow {
	return model.EvidenceWindow{From: r.ends[from] + r.w.origin, To: r.ends[to] + r.w.origin, Function: r.w.resources[by].function}
}

func windowEvidence(windows ...model.EvidenceWindow) *model.Evidence {
	windows = slices.DeleteFunc(windows, func(x model.EvidenceWindow) bool { return x.From >= x.To })
	return &model.Evidence{Type: evidence.Windows, Windows: windows}
}

func newWindowRun(w *work) *windowRun {
	n := len(w.jobs)
	r := &windowRun{w: w, middle: make([]int64, n), inside: make([]int64, n), who: make([]int32, 0, n)}
	begins, ends := make([]int64, 0, 2*n), make([]int64, 0, 2*n)
	for k := range w.jobs {
		j := &w.jobs[k]
		r.middle[k] = j.ready + j.due
		begins = append(begins, j.ready, j.due-j.length)
		ends = append(ends, j.ready+j.length, j.due)
	}
	r.merge(begins, ends)
	r.from, r.to = make([]int32, len(r.ends)), make([]int32, len(r.ends))
	// Jobs with very long windows must not make every look-up long.
	possible := 0.0
	if first, last := w.span(); last > first {
		for k := range w.jobs {
			possible += float64(w.jobs[k].due-w.jobs[k].ready) / float64(last-first)
		}
	}
	back := int32(min(8*possible+256, float64(n)))
	from, to := int32(0), int32(0)
	for k, at := range r.ends {
		for int(to) < n && w.jobs[to].ready < at {
			to++
		}
		for int(from) < n && w.jobs[from].due <= at || from < to-back {
			from++
		}
		r.from[k], r.to[k] = from, to
	}
	return r
}

// merge fills ends, isEnd and begins: sorted and without repetitions.
func (r *windowRun) merge(begins, ends []int64) {
	slices.Sort(begins)
	slices.Sort(ends)
	begins, ends = slices.Compact(begins), slices.Compact(ends)
	for len(begins)+len(ends) > 0 {
		at := int64(math.MaxInt64)
		if len(begins) > 0 {
			at = begins[0]
		}
		if len(ends) > 0 {
			at = min(at, ends[0])
		}
		if len(begins) > 0 && begins[0] == at {
			r.begins = append(r.begins, len(r.ends))
			begins = begins[1:]
		}
		isEnd := len(ends) > 0 && ends[0] == at
		if isEnd {
			ends = ends[1:]
		}
		r.ends, r.isEnd = append(r.ends, at), append(r.isEnd, isEnd)
	}
}

// declined returns the least weight that must be declined because of the window between two ends: own among the jobs
// with their middle inside, all among all jobs if alone asks for that.
func (r *windowRun) declined(from, to int, alone bool) (all, own float64) {
	w, a, b := r.w, r.ends[from], r.ends[to]
	r.who = r.who[:0]
	for k := r.from[from]; k < r.to[to]; k++ {
		j := &w.jobs[k]
		if t := min(b-a, j.length, j.ready+j.length-a, b-j.due+j.length); t > 0 {
			r.inside[k] = t
			r.who = append(r.who, k)
		}
	}
	for f := range w.resources {
		res := &w.resources[f]
		room := res.capacity * (b - a)
		energy, ownEnergy := int64(0), int64(0)
		for _, k := range r.who {
			e := res.size[k] * r.inside[k]
			energy += e
			if m := r.middle[k]; 2*a <= m && m < 2*b {
				ownEnergy += e
			}
		}
		if energy <= room {
			continue
		}
		if r.why == "" {
			r.why = w.tooMuch(int64(len(r.who)), energy, room, a, b, res)
		}
		if w.ticks.Goal == model.GoalAll {
			r.byAll = f
			return 1, 0
		}
		if alone {
			if x := r.cheapest(res, energy-room, 0, math.MaxInt64); x > all {
				all, r.byAll = x, f
			}
		}
		if ownEnergy > room {
			if x := r.cheapest(res, ownEnergy-room, 2*a, 2*b); x > own {
				own, r.byOwn = x, f
			}
		}
	}
	return all, own
}

// windowItem is a job with energy in a window.
type windowItem struct {
	energy int64
	weight float64
	price  float64 // weight per unit of energy
}

// cheapest returns the least weight of jobs with energies that sum to the excess, among the jobs with their middle in
// [from, to). It is the fractional knapsack, rounded up to a possible sum of weights, at least one unit.
func (r *windowRun) cheapest(res *resource, excess, from, to int64) float64 {
	items := r.items[:0]
	for _, k := range r.who {
		if e := res.size[k] * r.inside[k]; e > 0 && r.middle[k] >= from && r.middle[k] < to {
			x := r.w.jobs[k].weight
			items = append(items, windowItem{e, x, x / float64(e)})
		}
	}
	r.items = items
	return max(r.w.unit, r.w.up(knapsack(items, excess)))
}

// knapsack returns the least weight of fractions of the items that together have
// the given energy, which all items together must have. It partitions the items by
// price as quicksort does, but goes on in one part only. Expected O(items).
func knapsack(items []windowItem, energy int64) float64 {
	weight := 0.0
	for energy > 0 && len(items) > 0 {
		if len(items) == 1 {
			return weight + items[0].weight*(float64(energy)/float64(items[0].energy))
		}
		// The pivot is the median of three.
		x, y, z := items[0].price, items[len(items)/2].price, items[len(items)-1].price
		pivot := max(min(x, y), min(max(x, y), z))
		cheap, same := 0, 0 // items[:cheap] are cheaper, items[cheap:same] cost the same
		cheapEnergy, sameEnergy := int64(0), int64(0)
		cheapWeight, sameWeight := 0.0, 0.0
		for k := range items {
			switch t := items[k]; {
			case t.price < pivot:
				items[k] = items[same]
				items[same] = items[cheap]
				items[cheap] = t
				cheap++
				same++
				cheapEnergy += t.energy
				cheapWeight += t.weight
			case t.price == pivot:
				items[k] = items[same]
				items[same] = t
				same++
				sameEnergy += t.energy
				sameWeight += t.weight
			}
		}
		switch {
		case energy <= cheapEnergy:
			items = items[:cheap]
		case energy <= cheapEnergy+sameEnergy:
			return weight + cheapWeight + sameWeight*(float64(energy-cheapEnergy)/float64(sameEnergy))
		default:
			weight += cheapWeight + sameWeight
			energy -= cheapEnergy + sameEnergy
			items = items[same:]
		}
	}
	return weight
}
