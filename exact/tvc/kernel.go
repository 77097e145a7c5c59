// SPDX-License-Identifier: MIT

package tvc

import (
	"fmt"
	"math"
	"slices"

	tvcbounds "github.com/gapwise/gapwise/bounds/tvc"
	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/tvcrelax"
	"github.com/gapwise/gapwise/model"
)

// Kernel is the exact engine for TVC in loss mode by lazy clause generation: the constraint model of newKernelModel,
// solved by package lcg, from the heuristics' solution on; a node is a conflict. Queue mode is refused. If the model
// has more than mostKernelVariables variables, it returns the heuristics' solution and the quick bounds.
var Kernel = engine.Engine[*model.TVC, kernelSet]{ID: "kernel", Parts: kernelDevices, Learns: true, Proof: true,
	Work: engine.Learning(ask)}

// kernelSet is a set of devices of the model that are switched off.
type kernelSet uint32

const (
	offSiblings kernelSet = 1 << iota
	offTotals
	offOtherTotals // all totals except the one of the slots
)

var kernelDevices = []engine.Switch[kernelSet]{
	{Bit: offSiblings, Name: "siblings", Summary: "equal subtrees in descending order of their VMs, lexicographically; the largest request on the first lane"},
	{Bit: offTotals, Name: "totals", Summary: "rows for the joint capacity of all servers or links, by the least that each request takes, with dual-feasible functions"},
}

// ask makes the question to the kernel.
func ask(r *engine.Run, v *model.TVC, off kernelSet, q *engine.Kernel) error {
	if v.Queue {
		return errQueue
	}
	best, err := start(r)
	if err != nil {
		return err
	}
	if best == nil {
		best = &model.Embeddings{Runs: []model.Run[model.Embedding]{}} // all are rejected
	}
	t := view.Shared(r.Ctx, v, view.OfTVC)
	w := tvcrelax.NewWeights(v, t)
	q.Start, q.Lower, q.Upper = best, math.Inf(1), w.Total
	q.Value = func(rejected int64) float64 { return w.Value(w.Total - rejected) }
	for _, b := range tvcbounds.Quick(r.Ctx, v) {
		q.Lower = min(q.Lower, b.Value)
	}
	index, err := v.Index(best)
	if err != nil {
		return err
	}
	for _, k := range index {
		q.Upper -= w.Of[k]
	}
	components := tvcrelax.Components(t)
	if kernelSize(t, components...) > mostKernelVariables {
		q.Reason = fmt.Sprintf("the constraint model would have more than %d variables", mostKernelVariables)
		return nil
	}
	if q.ProofUnit = "1"; r.Set.Proof != nil {
		off |= offSiblings | offOtherTotals // the checker doesn't know them
		if w.Rounded || w.Total >= 1<<60 {
			return fmt.Errorf("%w: there is no proof, since the revenues have too many digits", model.ErrUnsupported)
		}
	}
	m := newKernelModel(v, t, w, off, components...)
	q.Model, q.Solution = &m.Model, func(values []int64) (model.Solution, error) { return m.embeddings(values), nil }
	return nil
}

// embeddings returns the solution that values of the variables describe.
func (m *kernelModel) embeddings(values []int64) *model.Embeddings {
	e := &model.Embeddings{Runs: []model.Run[model.Embedding]{}}
	slices.SortFunc(m.requests, func(a, b *placing) int { return a.index - b.index })
	for _, r := range m.requests {
		if values[r.accept] == 0 {
			continue
		}
		q := &m.t.Requests[r.index]
		var place model.Embedding
		for s, all := range r.at[0] {
			for _, c := range all {
				if values[c.is] == 1 && c.part.VMs > 0 {
					place.Servers = append(place.Servers, model.ServerVMs{Server: s, VMs: int(c.part.VMs)})
				}
			}
		}
		lane := 0
		for l, y := range r.route {
			if values[y] == 1 {
				lane = l
			}
		}
		place.Switch = tvcbounds.LowestSwitch(place.Servers, m.t.Half, lane)
		e.Runs = append(e.Runs, model.Run[model.Embedding]{ID: m.in.Requests[r.index].ID, Segments: []model.Segment[model.Embedding]{
			{StartS: m.t.Seconds(q.Arrival), EndS: m.t.Seconds(q.Arrival + q.Duration), Place: place}}})
	}
	return e
}
