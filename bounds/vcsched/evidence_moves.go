// SPDX-License-Identifier: MIT

package vcsched

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gapwise/gapwise/internal/evidence"
	"github.com/gapwise/gapwise/model"
)

// proved notes by what a load was refuted.
func (m *Moves) proved(load int64, weights []int64, lambda float64) {
	m.refuted, m.weights, m.lambda = load, slices.Clone(weights), lambda
}

// evidence says by which weights and price no placement has the load last refuted; nil if that takes
// more than CPU and memory.
func (m *Moves) evidence(in *model.VCSched) *model.Evidence {
	u := m.t.units
	if len(m.t.Rigid) > 1 {
		return nil
	}
	e := &model.Evidence{Type: evidence.Moves, Load: m.refuted, Scale: u.Scale}
	if m.lambda > 0 && m.now != nil {
		e.Prices = []float64{m.lambda}
	}
	type place struct {
		host int32
		job  int32
	}
	weights := map[place]int64{}
	for k, w := range m.weights {
		for _, i := range m.t.Tasks[k] {
			at := place{-1, u.Job[i]}
			if u.Current != nil {
				at.host = u.Current[i]
			}
			if w > 0 {
				weights[at] = w
			}
		}
	}
	places := slices.SortedFunc(maps.Keys(weights), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.job, b.job))
	})
	for _, at := range places {
		if n := len(e.Parts); n == 0 || e.Parts[n-1].Count != int(at.host)+1 {
			e.Parts = append(e.Parts, model.Evidence{Type: evidence.Moves, Count: int(at.host) + 1})
		}
		p := &e.Parts[len(e.Parts)-1]
		p.Elements, p.Weights = append(p.Elements, in.Jobs[at.job].ID), append(p.Weights, float64(weights[at]))
	}
	return e
}
