// SPDX-License-Identifier: MIT

package runs

import (
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/model"
)

// Known holds the results of all runs together on an instance. Tables, curves, comparisons and pages take it from here,
// so that they can't disagree.
type Known struct {
	Sense model.Sense
	// Bound is the best bound, NaN without any, and BoundBy names the algorithm that has
	// it: of equal ones a search, as heuristics have quick bounds. Bounds that are Stated,
	// by lines that gapwise didn't write, count where nothing is proved and no solution
	// beats them, and make nothing optimal.
	Bound      float64
	BoundBy    string
	Stated     bool
	Infeasible bool    // proved
	Best       float64 // best objective of the compared algorithms; NaN: none

	longest  float64                 // the longest time of the compared algorithms, in seconds
	searched bool                    // the run that has the bound has counted nodes
	bests    map[model.Class]float64 // best objectives of each class of algorithms
	any      float64                 // best objective of all algorithms

	proof, infeasible *Record // runs that prove Bound, and Infeasible; nil: none
}

// Learn collects the knowledge, by hash of the instance. The best objectives are the compared algorithms' ones, nil for
// all.
func Learn(records []Record, compared []string) map[string]*Known {
	all := map[string]*Known{}
	for i := range records {
		r := &records[i]
		k := all[r.Hash] // plans may share names, not instances
		if k == nil {
			k = &Known{Sense: r.metrics()[0].Sense, Bound: math.NaN(), Best: math.NaN(), any: math.NaN(), bests: map[model.Class]float64{}}
			all[r.Hash] = k
		}
		if r.Sealed && r.Status == model.StatusInfeasible {
			k.Infeasible, k.infeasible = true, r
		}
		if r.Sealed {
			k.take(r)
		}
		if compared == nil || slices.Contains(compared, r.Algorithm) {
			k.longest = max(k.longest, r.ElapsedS)
		}
		if r.Objective == nil {
			continue
		}
		k.any = k.better(k.any, *r.Objective)
		if compared == nil || slices.Contains(compared, r.Algorithm) {
			k.Best = k.better(k.Best, *r.Objective)
			k.bests[r.Class()] = k.better(k.BestOf(r.Class()), *r.Objective)
		}
	}
	for i := range records {
		if r := &records[i]; !r.Sealed && all[r.Hash].proof == nil {
			all[r.Hash].take(r)
		}
	}
	for _, k := range all {
		if k.Stated = k.proof == nil && !math.IsNaN(k.Bound); k.Stated && k.Sense.Better(k.any, k.Bound) && model.Gap(k.any, k.Bound) > model.DefaultGap {
			k.Bound, k.BoundBy, k.Stated = math.NaN(), "", false
		}
	}
	return all
}

// better returns the better one of two objectives; the first may be NaN.
func (k *Known) better(a, b float64) float64 {
	if math.IsNaN(a) || k.Sense.Better(b, a) {
		return b
	}
	return a
}

// take keeps the bound of a run if it is tighter, or as tight and of a search.
func (k *Known) take(r *Record) {
	bound, searched := Number(r.Bound), r.Nodes > 0
	if Optional(bound) == nil || !(math.IsNaN(k.Bound) || k.Sense.Better(k.Bound, bound) || bound == k.Bound && searched && !k.searched) {
		return
	}
	if k.Bound, k.BoundBy, k.searched = bound, r.Algorithm, searched; r.Sealed {
		k.proof = r
	}
}

// Tighten takes proved bounds that are of no run. They are named before equal quick bounds of runs.
func (k *Known) Tighten(all []bounds.Bound) {
	for _, b := range all {
		switch {
		case b.Infeasible:
			k.Infeasible = true
		case math.IsNaN(b.Value) || math.IsInf(b.Value, 0):
		case math.IsNaN(k.Bound) || k.Stated || k.Sense.Better(k.Bound, b.Value) || b.Value == k.Bound && !k.searched:
			k.Bound, k.BoundBy, k.Stated = b.Value, b.Name, false
		}
	}
}

// Gap returns the gap of an objective to the best bound.
func (k *Known) Gap(objective float64) float64 { return model.Gap(objective, k.Bound) }

// Optimal reports whether an objective is proved to be optimal.
func (k *Known) Optimal(objective float64) bool {
	return !k.Stated && k.Gap(objective) <= model.DefaultGap
}

// BestOf returns the best objective of a class of algorithms, to compare the class's own with. NaN without any.
func (k *Known) BestOf(c model.Class) float64 {
	if best, ok := k.bests[c]; ok {
		return best
	}
	return math.NaN()
}
