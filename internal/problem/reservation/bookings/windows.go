// SPDX-License-Identifier: MIT

package bookings

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/num/profile"
	"github.com/gapwise/gapwise/internal/run/lns"
)

// Windows improves the plan by large neighbourhood search (package lns). A declined job, others near it and some of the
// jobs that are booked there are free, while these run; all others stay. The learning kernel looks for a plan of the
// free ones that declines less. Annealing near a declined job is one more kind of neighbourhood: the further from the
// best a plan is, the more of it is done. Every other neighbourhood begins with any acceptances and takes a plan that is as
// good, too. It ends as package lns says, when enough weight is booked or nothing is declined. found is called with
// each better plan. Before each neighbourhood, others may set a better one.
func (p *Offline) Windows(ctx context.Context, patient bool, enough float64, found, others func()) {
	x := newWindows(p)
	x.Patient = patient
	done := func() bool {
		others()
		return p.value >= enough || !slices.Contains(p.starts, view.Declined)
	}
	x.Run(ctx, len(p.starts), done, func(kind, size int) lns.Outcome {
		var o lns.Outcome
		if value := p.value; kind == byHeat {
			p.anneal(ctx, enough)
			o.Better = p.value > value
		} else {
			o = x.search(ctx, x.choose(kind, size))
		}
		if o.Better {
			found()
		}
		return o
	})
}

// The kinds of neighbourhoods determine which jobs in a declined job's window are free.
const (
	byMoment = iota // those nearest to a moment
	bySpan          // those that run nearest to it from their start to their end
	byChance        // any
	byHeat          // none: it is annealed
	kinds
)

// windows is a large neighbourhood search of a plan.
type windows struct {
	*lns.Search
	*Offline
	from, to int64 // when the neighbourhood's jobs may run
}

func newWindows(p *Offline) *windows { return &windows{Search: lns.New(p.rng, kinds), Offline: p} }

// choose draws a declined job, and at most so many free jobs including it. A quarter of them are declined.
func (x *windows) choose(kind, size int) []int32 {
	if x.from, x.to = math.MinInt64, math.MaxInt64; size == len(x.starts) {
		return slices.Clone(x.byReady)
	}
	var declined []int32
	for i, s := range x.starts {
		if s == view.Declined {
			declined = append(declined, int32(i))
		}
	}
	target := declined[x.Rand.IntN(len(declined))]
	j := &x.t.Jobs[target]
	moment := j.Ready + x.Rand.Int64N(j.Due-j.Ready)
	key := func(from, to int64) float64 {
		switch kind {
		case byMoment:
			return float64(max(from-moment, moment-to+1, 0)) + x.Rand.Float64()
		case bySpan:
			return float64(max(to-moment, moment-from)) + x.Rand.Float64()
		}
		return x.Rand.Float64()
	}
	var out, in []int32 // declined, booked
	first, _ := slices.BinarySearchFunc(x.byReady, j.Ready-x.longest, func(i int32, t int64) int {
		return cmp.Compare(x.t.Jobs[i].Ready, t)
	})
	for _, i := range x.byReady[first:] {
		q := &x.t.Jobs[i]
		if q.Ready >= j.Due {
			break
		}
		if s := x.starts[i]; s == view.Declined {
			if q.Due > j.Ready && i != target {
				out, x.key[i] = append(out, i), key(q.Ready, q.Due)
			}
		} else if s < j.Due && s+q.Length > j.Ready {
			in, x.key[i] = append(in, i), key(s, s+q.Length)
		}
	}
	least := func(jobs []int32, n int) []int32 { return order.By(jobs, x.key)[:min(n, len(jobs))] }
	in = least(in, size*3/4)
	// All happens while these or the target run.
	from, to := max(j.Ready, min(moment, j.Latest())-j.Length), min(j.Due, max(moment, j.Ready+j.Length)+j.Length)
	for _, i := range in {
		from, to = min(from, x.starts[i]), max(to, x.starts[i]+x.t.Jobs[i].Length)
	}
	out = slices.DeleteFunc(out, func(i int32) bool {
		q := &x.t.Jobs[i]
		return max(from, q.Ready)+q.Length > min(to, q.Due)
	})
	x.from, x.to = from, to
	return append(append(least(out, size/4), target), in...)
}

// search looks for a plan in which all jobs except the free ones stay where they are.
func (x *windows) search(ctx context.Context, free []int32) (o lns.Outcome) {
	o.All = len(free) == len(x.starts)
	before, value := make([]int64, len(free)), x.value
	for n, i := range free {
		if before[n] = x.starts[i]; before[n] != view.Declined {
			x.unbook(i)
		}
	}
	m := newWindow(x.t, &x.inUse, free, x.from, x.to)
	lost := int64(0)
	phases := make([]int64, len(m.Low))
	for n, s := range before {
		if s == view.Declined {
			lost += m.weights[n]
		} else {
			phases[m.in[n]] = 1
		}
	}
	most := lost - 1
	if x.Rand.IntN(2) == 0 {
		most = lost
		for _, v := range m.in {
			phases[v] = x.Rand.Int64N(2)
		}
	}
	m.High[m.Objective] = most
	var values []int64
	values, o.Closed = x.Solve(ctx, &m.Model, phases, lost)
	if values != nil {
		for n, i := range free {
			if values[m.in[n]] == 1 {
				x.book(i, values[m.starts[n]])
			}
		}
		switch {
		case values[m.Objective] == lost:
			x.value = value
			return o
		case x.value > value:
			o.Better = true
			return o
		}
		for _, i := range free { // weights were rounded
			if x.starts[i] != view.Declined {
				x.unbook(i)
			}
		}
	}
	for n, i := range free {
		if before[n] != view.Declined {
			x.book(i, before[n])
		}
	}
	x.value = value
	return o
}

// window is the constraint model of a neighbourhood: whether each free job is accepted, its start, and the weight of
// the declined ones, which is minimised.
type window struct {
	cp.Model
	weights    []int64
	in, starts []cp.Var // by free job
}

// newWindow returns the model of the free jobs beside the PEs in use; the free jobs run in [from, to). The PEs in use
// are activities that stay. At any time they take as much of the PEs as the free jobs can't have, but no more than it
// takes to keep these out.
func newWindow(t *view.Reservation, inUse *profile.Profile, free []int32, from, to int64) *window {
	m := &window{weights: wholeWeights(t, free)}
	room, least, first, last := int64(0), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MinInt64)
	row := &cp.Linear{}
	shared := &cp.Cumulative{}
	add := func(s cp.Start, length, demand int64) {
		shared.Starts, shared.Lengths = append(shared.Starts, s), append(shared.Lengths, length)
		shared.Demands = append(shared.Demands, demand)
	}
	total := int64(0)
	for n, i := range free {
		j := &t.Jobs[i]
		room, least = room+int64(j.PEs), min(least, int64(j.PEs))
		ready, latest := max(from, j.Ready), min(to, j.Due)-j.Length
		first, last = min(first, ready), max(last, latest+j.Length)
		in := m.Bool()
		start := m.Optional(in.Is(), ready, latest)
		m.in, m.starts = append(m.in, in), append(m.starts, start)
		add(cp.Start{If: in.Is(), At: start}, j.Length, int64(j.PEs))
		row.Groups = append(row.Groups, []cp.Choice{{If: in.Is(), Value: 0}, {If: in.AtMost(0), Value: m.weights[n]}})
		total += m.weights[n]
	}
	m.Decisions, m.Integers = slices.Clone(m.in), slices.Clone(m.starts)
	m.Objective = m.Int(0, total)
	row.Terms = []cp.Term{{Times: -1, Var: m.Objective}}
	// If the free jobs all fit at once, nothing is in use; if none fits, all is.
	shared.Capacity = min(room, int64(t.PEs))
	used := int64(0)
	from = first
	flush := func(to int64) {
		if used > 0 && to > from {
			add(cp.Start{If: cp.True, At: m.Int(from, from)}, to-from, used)
		}
	}
	inUse.Steps(first, last, func(begin, _ int64, u int) bool {
		now := int64(u) - int64(t.PEs) + shared.Capacity
		if now = max(0, now); shared.Capacity-now < least {
			now = shared.Capacity
		}
		if now != used {
			flush(begin)
			from, used = begin, now
		}
		return true
	})
	flush(last)
	m.Add(row, shared)
	return m
}

// mostWeight bounds whole weights.
const mostWeight = 1 << 40

// wholeWeights returns the weights of jobs in whole numbers of a unit, rounded if there is none.
func wholeWeights(t *view.Reservation, jobs []int32) []int64 {
	weights, most, whole := make([]int64, len(jobs)), 0.0, true
	for _, i := range jobs {
		w := t.Jobs[i].Weight
		most, whole = max(most, w), whole && w == math.Trunc(w)
	}
	unit := 1.0
	if !whole || most > mostWeight {
		unit = most / 1e9
	}
	for n, i := range jobs {
		weights[n] = int64(math.Round(t.Jobs[i].Weight / unit))
	}
	common := units.Common(weights, mostWeight)
	for n := range weights {
		weights[n] /= max(common, 1)
	}
	return weights
}
