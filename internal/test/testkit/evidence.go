// SPDX-License-Identifier: MIT

package testkit

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// ForgeEvidence draws evidence of an instance out of nothing: most often of a form that a
// judge may accept, with ids, times and prices of about the instance's sizes, so that some
// of it proves a bound.
func ForgeEvidence(rng *rand.Rand, in model.Instance) *model.Evidence {
	f := forger{rng}
	e := new(model.Evidence)
	switch x := in.(type) {
	case *model.DAG:
		if f.dag(x, e); len(x.Resources) > 0 && f.IntN(4) > 0 {
			e.Resource = one(rng, x.Resources...)
		}
	case *model.VCSched:
		f.vcsched(x, e)
	case *model.Reservation:
		f.reservation(x, e)
	case *model.Batch:
		f.batch(x, e)
	case *model.TVC:
		f.tvc(x, e)
	case *model.Consolidation:
		f.consolidation(x, e)
	}
	for rng.IntN(6) == 0 {
		SpoilEvidence(rng, e)
	}
	return e
}

type forger struct{ *rand.Rand }

// some returns one or more of n ids, each once.
func (f forger) some(n int, id func(k int) string) (ids []string) {
	for _, k := range f.Perm(n)[:1+f.IntN(n)] {
		ids = append(ids, id(k))
	}
	return ids
}

// price draws 0, or about a size.
func (f forger) price(size float64) float64 {
	return size * []float64{0, 0.25, 0.5, 1, 1, 1 + 1e-9, 2, 10, f.Float64(), 2 * f.Float64()}[f.IntN(10)]
}

// ticks draws at most most moments in ascending order, some a tick beside those given.
func (f forger) ticks(given []int64, most int) (all []int64) {
	for range 1 + f.IntN(most) {
		all = append(all, given[f.IntN(len(given))]+[]int64{0, 0, 0, 0, 0, 1, -1}[f.IntN(7)])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (f forger) function(capacity int64) *model.DualFunction {
	switch most := max(1, capacity/2); f.IntN(6) {
	case 0:
		return &model.DualFunction{Name: "steps", Parameter: 1 + f.Int64N(5)}
	case 1:
		return &model.DualFunction{Name: "threshold", Parameter: 1 + f.Int64N(most)}
	case 2:
		return &model.DualFunction{Name: "pieces", Parameter: 1 + f.Int64N(most)}
	case 3:
		return &model.DualFunction{Name: "halves"}
	}
	return nil
}

func (f forger) dag(d *model.DAG, e *model.Evidence) {
	switch f.IntN(6) {
	case 0:
		e.Type = evidence.Path
		if len(d.Tasks) > 0 {
			e.Elements = f.some(len(d.Tasks), func(k int) string { return d.Tasks[k].ID })
		}
	case 1:
		e.Type = evidence.Load
		for range d.Machines {
			e.Weights = append(e.Weights, f.price([]float64{1, 1, 1, 5e-324, math.MaxFloat64 / 16, 1e-30}[f.IntN(6)]))
		}
	case 2:
		e.Type = evidence.Interval
		total := 0.0
		for t := range d.Tasks {
			total += d.Cost(t, 0)
		}
		a, b := f.price(total/2), f.price(total)
		e.Window = []float64{min(a, b), max(a, b)}
	case 3:
		f.ordering(d, e)
	case 4:
		f.gathering(d, e)
	case 5:
		f.traffic(d, e)
	}
}

// traffic draws whole weights and prices of about what data weigh on a link, most of them too little to be refused.
func (f forger) traffic(d *model.DAG, e *model.Evidence) {
	e.Type = evidence.Traffic
	for range len(d.Machines) + len(d.Network.Links) {
		e.Weights = append(e.Weights, float64([]int{0, 1, 1, 1, 2, 5, 1000}[f.IntN(7)]))
	}
	much := []float64{0.3, 0.5, 1, 1, 2}[f.IntN(5)]
	for _, x := range d.Edges {
		for range d.Machines {
			e.Prices = append(e.Prices, x.Data/max(1, d.Network.Bandwidth)*much*[]float64{0, 0, 0, 0.5, 1, -0.5, -1, 1 - 2*f.Float64()}[f.IntN(8)])
		}
	}
}

// gathering draws sets of tasks one or two edges before (after) theirs, now and then with another one.
func (f forger) gathering(d *model.DAG, e *model.Evidence) {
	e.Type = evidence.Gathering
	for _, name := range []string{evidence.Heads, evidence.Tails}[f.IntN(3)/2:] {
		part := model.Evidence{Type: e.Type, Resource: name}
		before := func(ids []string) (all []string) {
			for _, x := range d.Edges {
				from, to := x.From, x.To
				if name == evidence.Tails {
					from, to = to, from
				}
				if slices.Contains(ids, to) && !slices.Contains(all, from) {
					all = append(all, from)
				}
			}
			return all
		}
		for a := range d.Machines {
			for t := range d.Tasks {
				near := before([]string{d.Tasks[t].ID})
				f.Shuffle(len(near), func(i, j int) { near[i], near[j] = near[j], near[i] })
				near = near[:len(near)-f.IntN(len(near)+1)/2]
				ids := append([]string{d.Tasks[t].ID}, near...)
				for _, id := range before(near) {
					if !slices.Contains(ids, id) && f.IntN(4) > 0 {
						ids = append(ids, id)
					}
				}
				if x := d.Tasks[f.IntN(len(d.Tasks))].ID; f.IntN(40) == 0 && !slices.Contains(ids, x) {
					ids = append(ids, x)
				}
				if len(ids) > 1 && f.IntN(8) > 0 {
					part.Parts = append(part.Parts, model.Evidence{Type: e.Type, Elements: ids, Rows: []int64{int64(a)}})
				}
			}
		}
		e.Parts = append(e.Parts, part)
	}
}

// ordering draws multipliers of rows of about the right sizes: a few that cancel in the starts of tasks, or any.
func (f forger) ordering(d *model.DAG, e *model.Evidence) {
	n, m := len(d.Tasks), len(d.Machines)
	e.Type = evidence.Ordering
	total := 0.0
	for t := range n {
		total += d.Cost(t, 0)
	}
	e.Window = []float64{0, total * []float64{0.5, 0.8, 1, 1, 1, 2, 10}[f.IntN(7)]}
	most := map[string]int{evidence.FromRow: len(d.Edges) * m, evidence.ToRow: len(d.Edges) * m, evidence.EdgeRow: len(d.Edges),
		evidence.BothRow: n * n * m, evidence.WaitRow: n * n, evidence.LoadRow: m}
	for _, kind := range evidence.OrderingRows {
		rows, ok := most[kind]
		if !ok {
			rows = n
		}
		if rows == 0 || f.IntN(3) == 0 {
			continue
		}
		p := model.Evidence{Type: e.Type, Resource: kind}
		for k := range rows {
			if f.IntN(3) > 0 && (kind == evidence.BothRow || kind == evidence.WaitRow || f.IntN(2) == 0) {
				continue
			}
			size := []float64{1, 1, 1 / float64(m), 1 / float64(n)}[f.IntN(4)]
			switch kind {
			case evidence.FromRow, evidence.ToRow:
				size *= []float64{1, -1}[f.IntN(2)] * total / float64(n)
			case evidence.BothRow:
				if i, j := k/m/n, k/m%n; i >= j && f.IntN(8) > 0 {
					continue
				}
				size *= total / float64(n)
			}
			if w := f.price(size); w != 0 {
				p.Rows, p.Weights = append(p.Rows, int64(k)), append(p.Weights, w)
			}
		}
		e.Parts = append(e.Parts, p)
	}
}

func (f forger) vcsched(v *model.VCSched, e *model.Evidence) {
	e.Scale = []int64{1, 3, 10, 1000, 1_000_000, 1 << 30, 1e13}[f.IntN(7)]
	id := func(k int) string { return v.Jobs[k].ID }
	host := e.Scale + e.Scale/1e9 + 2
	if f.IntN(2) == 0 { // about the largest
		for _, s := range v.HostSizes {
			host = max(host, int64(float64(e.Scale)*max(s.CPU, s.Memory))+2)
		}
	}
	resources := append([]string{"cpu", "memory"}, v.Resources...)
	switch f.IntN(7) {
	case 6:
		e.Type, e.Elements, e.Scale = evidence.Misfit, []string{id(f.IntN(len(v.Jobs)))}, 0
	case 0:
		e.Type, e.Resource = evidence.Sum, resources[f.IntN(len(resources))]
	case 1:
		e.Type, e.Count = evidence.Crowd, 1+f.IntN(3)*v.Hosts
		if f.IntN(2) == 0 {
			e.Count = 1 + f.IntN(v.Tasks())
		}
		if f.IntN(2) == 0 {
			e.Resource = resources[1+f.IntN(len(resources)-1)]
		}
	case 2:
		e.Type, e.Elements = evidence.Clique, f.some(len(v.Jobs), id)
		for range e.Elements {
			e.Weights = append(e.Weights, float64(1+f.IntN(2)))
		}
	case 3:
		e.Type, e.Resource = evidence.Filling, resources[f.IntN(len(resources))]
		e.Load = host
		if n := len(v.Resources); n > 0 && f.IntN(2) == 0 {
			e.Resource, e.Elements = "", f.some(1+n, func(k int) string { return resources[1+k] })
			e.Load *= int64(len(e.Elements))
		}
		if e.Resource == "cpu" || f.IntN(4) == 0 {
			e.Load = max(1, int64(float64(host)*(0.5+2*f.Float64())))
		}
		e.Function = f.function(e.Load)
	case 4:
		e.Type, e.Elements = evidence.Patterns, f.some(len(v.Jobs), id)
		for range e.Elements {
			e.Weights = append(e.Weights, []float64{0, 1, 1, 2, 3, float64(f.IntN(1000)), 1 << 36}[f.IntN(7)])
		}
		e.Load = max(1, int64(float64(host)*(0.5+2*f.Float64())))
	case 5:
		e.Type, e.Load = evidence.Moves, max(1, int64(float64(host)*(0.5+2*f.Float64())))
		if f.IntN(2) == 0 && v.MigrationBudget != nil {
			if e.Prices = []float64{f.price(1000)}; f.IntN(2) == 0 {
				return // what doesn't stay moves
			}
		}
		for h := range v.Hosts + 1 {
			if f.IntN(4) == 0 {
				continue
			}
			p := model.Evidence{Type: evidence.Moves, Count: h, Elements: f.some(len(v.Jobs), id)}
			for range p.Elements {
				p.Weights = append(p.Weights, []float64{0, 1, 1, 1000, 1000, float64(f.IntN(1000)), 1 << 36}[f.IntN(7)])
			}
			e.Parts = append(e.Parts, p)
		}
	}
}

func (f forger) consolidation(c *model.Consolidation, e *model.Evidence) {
	switch f.IntN(5) {
	case 0:
		e.Type = evidence.Apart
		if len(c.Rules) > 0 {
			e.Elements = []string{c.Rules[f.IntN(len(c.Rules))].ID}
		}
	case 1:
		e.Type = evidence.Emptied
	default:
		e.Type, e.Resource = evidence.Cover, c.Resources[f.IntN(len(c.Resources))]
		if k := f.IntN(len(c.HostSets) + 2); k < len(c.HostSets) {
			e.Elements = []string{c.HostSets[k].ID}
		} else if k == len(c.HostSets) {
			e.Elements = []string{""}
		}
	}
}

func (f forger) reservation(r *model.Reservation, e *model.Evidence) {
	t := view.OfReservation(r)
	var moments []int64
	weight, length := 1.0, 1.0
	for k := range t.Jobs {
		j := &t.Jobs[k]
		moments = append(moments, j.Ready, j.Latest()+j.Length, j.Ready+j.Length, j.Latest())
		weight, length = r.Weight(j.Request), float64(j.Length)
	}
	moments = append(moments, 0, 1)
	switch f.IntN(3) {
	case 0:
		e.Type, e.Function, e.Mirrored = evidence.Areas, f.function(int64(r.PEs)), f.IntN(2) == 0
	case 1:
		e.Type = evidence.Windows
		for at := f.ticks(moments, 6); len(at) > 1; at = at[1:] {
			if f.IntN(3) > 0 {
				e.Windows = append(e.Windows, model.EvidenceWindow{From: at[0], To: at[1], Function: f.function(int64(r.PEs))})
			}
		}
	case 2:
		e.Type = evidence.Prices
		ids := f.some(len(r.Requests), func(k int) string { return r.Requests[k].ID })
		for len(ids) > 0 {
			n := 1 + f.IntN(len(ids))
			p := model.Evidence{Type: evidence.Prices, Elements: ids[:n:n], Function: f.function(int64(r.PEs)), Times: f.ticks(moments, 8)}
			spans, size := 1, weight/length
			if f.IntN(4) == 0 { // at times
				spans, size = 0, weight
			}
			for range len(p.Times) - spans {
				p.Prices = append(p.Prices, f.price(size))
			}
			e.Parts, ids = append(e.Parts, p), ids[n:]
		}
	}
}

func (f forger) batch(b *model.Batch, e *model.Evidence) {
	if f.IntN(4) == 0 {
		e.Figure = evidence.MeanSlowdown
	}
	if f.IntN(8) == 0 {
		e.Type, e.Figure = evidence.Windows, evidence.MostSlowdown
		at := []int64{0, 1, 2}
		for k := range b.Jobs {
			at = append(at, int64(b.Jobs[k].SubmitS*1e6), int64((b.Jobs[k].SubmitS+b.Jobs[k].RuntimeS)*1e6*(0.5+3*f.Float64())))
		}
		if at = f.ticks(at, 8); len(at) > 1 {
			e.Windows = []model.EvidenceWindow{{From: at[0], To: at[1+f.IntN(len(at)-1)]}}
		}
		return
	}
	if f.IntN(8) == 0 {
		e.Type = evidence.Sum
		return
	}
	if f.IntN(4) == 0 {
		e.Type, e.Function, e.Count = evidence.Machine, f.function(int64(b.Processors)), max(0, f.IntN(20)-9)
		if b.Tiers == 1 && f.IntN(8) > 0 {
			e.Count = 0
		} else if b.Tiers == 2 && f.IntN(8) > 0 {
			e.Function = nil
		}
		return
	}
	e.Type = evidence.Prices
	var moments []int64
	end := int64(0)
	t := view.OfBatch(b)
	for k := range t.Jobs {
		j := &t.Jobs[k]
		end = max(end, j.Submit) + j.Length
		moments = append(moments, j.Submit, j.Submit+j.Length, end, end-j.Length, f.Int64N(end+1))
	}
	e.Times = f.ticks(append(moments, 0), 10)
	spans := 1
	if f.IntN(8) == 0 {
		spans = 0
	}
	size := []float64{1, 0.3, 1, 1e-6, 1e9, float64(end)}[f.IntN(6)] / float64(t.Processors)
	for range len(e.Times) - spans {
		e.Prices = append(e.Prices, f.price(size))
	}
}

func (f forger) tvc(v *model.TVC, e *model.Evidence) {
	if f.IntN(8) == 0 || len(v.Requests) == 0 {
		e.Type = evidence.Sum
		return
	}
	if v.Queue && f.IntN(8) > 0 {
		*e = f.ofTVC(v, []string{"slots", "links", "servers", "shares", "edge_links", "aggregation_links"}[f.IntN(6)], evidence.Machine)
		return
	}
	e.Type = evidence.Prices
	t := view.OfTVC(v)
	moments := []int64{0}
	for k := range t.Requests {
		q := &t.Requests[k]
		moments = append(moments, q.Arrival, q.Arrival, q.Arrival+q.Duration)
	}
	weight := func(k int) float64 {
		if v.Goal == model.GoalRevenue {
			return v.Requests[k].BandwidthMbps * float64(v.Requests[k].VMs) * v.Requests[k].DurationS
		}
		return 1
	}
	ids := f.some(len(v.Requests), func(k int) string { return v.Requests[k].ID })
	for len(ids) > 0 {
		n := 1 + f.IntN(len(ids))
		p := model.Evidence{Type: evidence.Prices, Elements: ids[:n:n]}
		for _, name := range [][]string{{"slots"}, {"links"}, {"slots", "links"}, {"servers"}, {"links", "servers"}, nil, {"shares"}, {"edge_links"},
			{"aggregation_links", "slots"}, {"edge_links", "aggregation_links"}, {"patterns"}, {"patterns", "slots"}}[f.IntN(12)] {
			x := f.ofTVC(v, name, evidence.Prices)
			k := f.IntN(len(v.Requests))
			size := weight(k) / float64(v.Requests[k].VMs)
			switch {
			case name == "patterns":
				x.Elements = p.Elements[:1+f.IntN(n)]
				for range x.Elements {
					x.Weights = append(x.Weights, float64(f.IntN(4)))
				}
				x.Prices = []float64{f.price(size)}
				p.Parts = append(p.Parts, x)
				continue
			case name == "shares" || x.Function != nil && x.Function.Name != "threshold":
				size /= float64(1 + f.IntN(12))
			case name != "slots":
				size /= max(1, float64(t.Requests[k].Bandwidth)) * float64(max(1, x.Count))
			}
			x.Times = f.ticks(moments, 3)
			for range x.Times {
				x.Prices = append(x.Prices, f.price(size))
			}
			p.Parts = append(p.Parts, x)
		}
		e.Parts, ids = append(e.Parts, p), ids[n:]
	}
}

// ofTVC returns evidence of a type that names a resource, often under a function.
func (f forger) ofTVC(v *model.TVC, name, kind string) model.Evidence {
	x := model.Evidence{Type: kind, Resource: name}
	rate := view.OfTVC(v).ServerRate
	switch name {
	case "servers":
		x.Count = 1 + f.IntN(max(1, v.FatTree.Slots*3/4))
	case "shares":
		x.Count = 1 + f.IntN(4)
		x.Parts = []model.Evidence{{Type: kind, Resource: "slots", Function: f.function(int64(v.FatTree.Slots))}, {Type: kind, Resource: "links", Function: f.function(rate)}}
	case "links", "edge_links", "aggregation_links":
		x.Function = f.function(rate)
	}
	return x
}

// SpoilEvidence changes evidence in one place, so that most often it proves less, more, or
// nothing.
func SpoilEvidence(rng *rand.Rand, e *model.Evidence) {
	nudge := func(x float64) float64 {
		return x * []float64{0, 0.5, 0.9, 1 + 1e-9, 1.1, 2, -1, math.NaN(), math.Inf(1), 1e300}[rng.IntN(10)]
	}
	whole := func(x int64) int64 {
		return []int64{0, x - 1, x + 1, x / 2, 2 * x, -x, x + x/10, math.MaxInt64, math.MinInt64, 1 << 61}[rng.IntN(10)]
	}
	if len(e.Parts) > 0 && rng.IntN(4) > 0 {
		SpoilEvidence(rng, &e.Parts[rng.IntN(len(e.Parts))])
		return
	}
	switch rng.IntN(15) {
	case 0:
		if n := len(e.Elements); n > 0 {
			k := rng.IntN(n)
			e.Elements = slices.Delete(slices.Clone(e.Elements), k, k+1)
		}
	case 1:
		if n := len(e.Elements); n > 1 {
			e.Elements[rng.IntN(n)] = e.Elements[rng.IntN(n)]
		}
	case 2:
		if n := len(e.Weights); n > 0 {
			k := rng.IntN(n)
			e.Weights[k] = nudge(e.Weights[k])
		}
	case 3:
		if n := len(e.Prices); n > 0 {
			k := rng.IntN(n)
			e.Prices[k] = nudge(e.Prices[k])
		}
	case 4:
		if n := len(e.Times); n > 0 {
			k := rng.IntN(n)
			e.Times[k] = whole(e.Times[k])
		}
	case 5:
		e.Load = whole(e.Load)
	case 6:
		if e.Function != nil && rng.IntN(2) == 0 {
			e.Function.Parameter = whole(e.Function.Parameter)
		} else {
			e.Function = &model.DualFunction{Name: []string{"steps", "threshold", "pieces", "halves", "none"}[rng.IntN(5)], Parameter: 1 + rng.Int64N(4)}
		}
	case 7:
		if n := len(e.Windows); n > 0 {
			x := &e.Windows[rng.IntN(n)]
			x.From, x.To = whole(x.From), whole(x.To)
		}
		if len(e.Window) == 2 {
			e.Window[rng.IntN(2)] = nudge(e.Window[rng.IntN(2)])
		}
	case 8:
		e.Mirrored = !e.Mirrored
		e.Count = int(whole(int64(e.Count)))
	case 9:
		e.Scale = []int64{1, 7, 1000, e.Scale / 3, 1e13, -1, math.MaxInt64}[rng.IntN(7)]
	case 10:
		e.Type = []string{evidence.Path, evidence.Load, evidence.Interval, evidence.Ordering, evidence.Gathering, evidence.Traffic, evidence.Sum, evidence.Crowd, evidence.Clique,
			evidence.Filling, evidence.Patterns, evidence.Moves, evidence.Areas, evidence.Prices, evidence.Windows, evidence.Machine, evidence.Cover, evidence.Apart, evidence.Emptied, evidence.Misfit}[rng.IntN(20)]
		e.Resource = []string{"", "cpu", "memory", "slots", "links", "edge_links", "aggregation_links", "shares"}[rng.IntN(8)]
	case 11: // one more or one less, so that lists no longer go together
		if n := len(e.Prices); n > 0 && rng.IntN(2) == 0 {
			e.Prices = e.Prices[:n-1]
		} else {
			e.Times = append(e.Times, whole(int64(n)))
		}
	case 13:
		if n := len(e.Rows); n > 0 {
			k := rng.IntN(n)
			e.Rows[k] = whole(e.Rows[k])
			e.Resource = evidence.OrderingRows[rng.IntN(len(evidence.OrderingRows))]
		}
	case 14:
		for k := range e.Prices {
			e.Prices[k] *= 2
		}
	case 12: // what is of another form
		e.Weights, e.Window = append(e.Weights, 1), append(e.Window, float64(len(e.Window)))
	}
}
