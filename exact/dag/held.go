// SPDX-License-Identifier: MIT

package dag

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// heldSearch looks, for one plan, for the best moments at which transfers start: whether
// the plan's schedule can end before upper if some are held back.
//
// It is a search over the order of what happens: a transfer starts, or something ends, a task, a start-up or a
// transfer. Between two events no rate changes, so for one order the lengths of the spans between them are the
// variables of a linear program. The amounts that a transfer got over its spans sum to its data, the amounts of a task
// to its cost. No makespan is below the end of anything under way plus the longest path after it. The program of the
// events so far bounds all schedules that begin with them.
//
// Tasks start as soon as they can, and so do transfers that meet no other: a task that starts sooner takes nothing from
// any other, and its transfers can still be held back.
//
// The bound is computed by duals.SafeLower, so it holds however HiGHS rounds. Violations of the rows cost more than any
// makespan instead of being refused: no program is infeasible, and so no claim rests on HiGHS's word for that.
type heldSearch struct {
	ctx    context.Context
	g      *view.Graph
	replay *dagplay.Replay
	plan   dagplay.Plan
	upper  float64   // to be beaten
	sent   []float64 // starts of transfers of the best schedule; nil: none better is found

	next         []int32   // the task after it on its machine, -1: none
	tail         []float64 // longest path of the plan after the end of a task, without contention
	flows        []int32   // edges that share links
	isFlow       []bool
	most         []float64 // data in a second that a flow ever gets
	onLink       [][]int32 // flows of each link, longest path after them first
	beside       [][]int32 // flows that share a link with a flow and may be under way with it
	programs     int64
	limit        int64   // of programs
	lower        float64 // no schedule of the plan ends before it: the first program's bound
	withoutLoads bool
	failed       error
}

// heldGap is the relative margin by which a schedule must be better than upper to be looked for: above the errors of
// spans and replays.
const heldGap = 1e-8

// How far a transfer is.
const (
	notYet uint8 = iota
	waits
	begins // the start-up of a transfer
	runs
	over
)

// holding is a node of the search.
type holding struct {
	spans   int // closed ones
	missing []int32
	edge    []uint8
	started []int32   // of each edge: the event at which it started
	acts    []holdAct // tasks, start-ups and transfers that have begun
}

// holdAct is something with an amount to be done: a cost in seconds, a start-up, the
// length of a transfer that shares no link or stays on its machine, or data.
type holdAct struct {
	what   uint8 // of a task: task; of an edge: start-up, fixed or flow
	id     int32
	amount float64
	from   int       // the first of its spans
	rates  []float64 // in each of its spans
	done   bool
}

const (
	actTask uint8 = iota
	actStartup
	actFixed
	actFlow
)

// newHeldSearch prepares the search for a plan that has no circle.
func newHeldSearch(ctx context.Context, g *view.Graph, replay *dagplay.Replay, p dagplay.Plan, upper float64) *heldSearch {
	h := &heldSearch{ctx: ctx, g: g, replay: replay, plan: p, upper: upper, limit: math.MaxInt64, next: make([]int32, g.Tasks), tail: make([]float64, g.Tasks),
		isFlow: make([]bool, len(g.Data)), most: make([]float64, len(g.Data)), beside: make([][]int32, len(g.Data))}
	ideal := view.NewPlay(g)
	ideal.Run(p.Machine, p.Order)
	order := ideal.Played
	g.Waits(p.Order, make([]int32, g.Tasks), h.next)
	for e := range int32(len(g.Data)) {
		m, n := h.ends(e)
		if m != n && g.Data[e] > 0 && replay.Contends(m, n) {
			h.isFlow[e] = true
			h.flows = append(h.flows, e)
		}
	}
	after := make([][]bool, g.Tasks) // tasks that come after one, and itself
	later := func(t int32, yield func(u, edge int32)) {
		if u := h.next[t]; u >= 0 {
			yield(u, -1)
		}
		for _, e := range g.Succ(t) {
			yield(g.To[e], e)
		}
	}
	for _, t := range slices.Backward(order) {
		after[t] = make([]bool, g.Tasks)
		after[t][t] = true
		later(t, func(u, _ int32) {
			for v, is := range after[u] {
				after[t][v] = after[t][v] || is
			}
		})
	}
	for _, e := range h.flows {
		for _, f := range h.flows {
			if e != f && !after[g.To[e]][g.From[f]] && !after[g.To[f]][g.From[e]] && h.share(e, f) {
				h.beside[e] = append(h.beside[e], f)
			}
		}
		m, n := h.ends(e)
		h.most[e] = g.Rate[int(m)*g.Machines+int(n)]
		for _, l := range g.Route(m, n) {
			h.most[e] = min(h.most[e], h.capacity(int(l), 1+len(h.beside[e])))
		}
	}
	for _, t := range slices.Backward(order) {
		later(t, func(u, e int32) {
			length := 0.0
			if e >= 0 {
				length = h.length(e)
			}
			h.tail[t] = max(h.tail[t], length+h.cost(u)+h.tail[u])
		})
	}
	h.onLink = make([][]int32, len(g.Links))
	for l := range h.onLink {
		for _, e := range h.flows {
			if slices.Contains(g.Route(h.ends(e)), int32(l)) {
				h.onLink[l] = append(h.onLink[l], e)
			}
		}
		slices.SortStableFunc(h.onLink[l], func(a, b int32) int { return cmp.Compare(h.rest(b), h.rest(a)) })
	}
	return h
}

// rest returns the longest path after the arrival of an edge's data.
func (h *heldSearch) rest(e int32) float64 {
	t := h.g.To[e]
	return h.cost(t) + h.tail[t]
}

// length returns the least time that an edge takes.
func (h *heldSearch) length(e int32) float64 {
	m, n := h.ends(e)
	if h.isFlow[e] {
		return h.g.Startup(m, n) + h.g.Data[e]/h.most[e]
	}
	return h.g.Comm(e, m, n)
}

func (h *heldSearch) ends(e int32) (m, n int32) {
	return h.plan.Machine[h.g.From[e]], h.plan.Machine[h.g.To[e]]
}

func (h *heldSearch) cost(t int32) float64 {
	return h.g.Cost[int(t)*h.g.Machines+int(h.plan.Machine[t])]
}

func (h *heldSearch) share(e, f int32) bool {
	for _, l := range h.g.Route(h.ends(e)) {
		if slices.Contains(h.g.Route(h.ends(f)), l) {
			return true
		}
	}
	return false
}

// run searches, and reports whether it has shown that no schedule of the plan ends before upper; it lowers upper to the
// best schedule found.
func (h *heldSearch) run() bool {
	if h.upper <= 0 {
		return true
	}
	n := &holding{missing: make([]int32, h.g.Tasks), edge: make([]uint8, len(h.g.Data)), started: make([]int32, len(h.g.Data))}
	h.g.Waits(h.plan.Order, n.missing, h.next)
	for t := range int32(h.g.Tasks) {
		if n.missing[t] == 0 {
			h.begin(n, t)
		}
	}
	return h.walk(n)
}

func (h *heldSearch) begin(n *holding, t int32) {
	n.acts = append(n.acts, holdAct{what: actTask, id: t, amount: h.cost(t), from: n.spans})
}

// arrive records that the data of an edge are there.
func (h *heldSearch) arrive(n *holding, e int32) {
	n.edge[e] = over
	t := h.g.To[e]
	if n.missing[t]--; n.missing[t] == 0 {
		h.begin(n, t)
	}
}

// start starts a transfer.
func (h *heldSearch) start(n *holding, e int32) {
	n.started[e] = int32(n.spans)
	m, to := h.ends(e)
	switch {
	case !h.isFlow[e]:
		n.edge[e] = runs
		n.acts = append(n.acts, holdAct{what: actFixed, id: e, amount: h.g.Comm(e, m, to), from: n.spans})
	case h.g.Startup(m, to) > 0:
		n.edge[e] = begins
		n.acts = append(n.acts, holdAct{what: actStartup, id: e, amount: h.g.Startup(m, to), from: n.spans})
	default:
		h.flow(n, e)
	}
}

func (h *heldSearch) flow(n *holding, e int32) {
	n.edge[e] = runs
	n.acts = append(n.acts, holdAct{what: actFlow, id: e, amount: h.g.Data[e], from: n.spans})
}

// finish ends the k-th act.
func (h *heldSearch) finish(n *holding, k int) {
	n.acts[k].done = true
	id := n.acts[k].id
	switch n.acts[k].what {
	case actTask:
		if u := h.next[id]; u >= 0 {
			if n.missing[u]--; n.missing[u] == 0 {
				h.begin(n, u)
			}
		}
		for _, e := range h.g.Succ(id) {
			switch m, to := h.ends(e); {
			case m == to && h.g.Comm(e, m, to) == 0:
				h.arrive(n, e)
			case !h.isFlow[e]:
				h.start(n, e)
			default:
				n.edge[e] = waits
			}
		}
	case actStartup:
		h.flow(n, id)
	case actFixed, actFlow:
		h.arrive(n, id)
	}
	for _, e := range h.flows { // those that meet no other needn't wait
		if n.edge[e] == waits && !slices.ContainsFunc(h.beside[e], func(f int32) bool { return n.edge[f] != over }) {
			h.start(n, e)
		}
	}
}

// close ends a span: everything under way has had its rate in it.
func (h *heldSearch) close(n *holding, rate func(*holdAct) float64) *holding {
	c := &holding{n.spans + 1, slices.Clone(n.missing), slices.Clone(n.edge), slices.Clone(n.started), slices.Clone(n.acts)}
	for k := range c.acts {
		if a := &c.acts[k]; !a.done {
			a.rates = append(slices.Clone(a.rates), rate(a))
		}
	}
	return c
}

// rates returns the amount that each thing under way gets in a second: flows at max-min fair rates by progressive
// filling, as dagplay.Replay does.
func (h *heldSearch) rates(n *holding) func(*holdAct) float64 {
	g, rate := h.g, map[int32]float64{}
	left, open := slices.Clone(g.Links), make([]int64, len(g.Links))
	var rest []int32
	for k := range n.acts {
		if x := &n.acts[k]; x.what == actFlow && !x.done {
			rest = append(rest, x.id)
			for _, l := range g.Route(h.ends(x.id)) {
				open[l] += g.Weight(h.ends(x.id))
			}
		}
	}
	for l, flows := range open {
		if flows > 0 && g.Transfer != model.TransferFair {
			left[l] *= model.TCPShare(int32(flows))
		}
	}
	share := func(e int32) float64 { // for a weight of 1
		m, to := h.ends(e)
		s := g.Rate[int(m)*g.Machines+int(to)] / float64(g.Weight(m, to))
		for _, l := range g.Route(m, to) {
			s = min(s, left[l]/float64(open[l]))
		}
		return s
	}
	for len(rest) > 0 {
		least := math.Inf(1)
		for _, e := range rest {
			least = min(least, share(e))
		}
		var given, others []int32
		for _, e := range rest {
			if share(e) > least*(1+1e-14) {
				others = append(others, e)
			} else {
				given = append(given, e)
			}
		}
		for _, e := range given {
			weight := g.Weight(h.ends(e))
			rate[e] = least * float64(weight)
			for _, l := range g.Route(h.ends(e)) {
				left[l] -= least * float64(weight)
				open[l] -= weight
			}
		}
		rest = others
	}
	return func(a *holdAct) float64 {
		if a.what == actFlow {
			return rate[a.id]
		}
		return 1
	}
}

// walk searches below a node.
func (h *heldSearch) walk(n *holding) bool {
	if h.programs >= h.limit || meter.Stop(h.ctx, 20) {
		return false
	}
	bound, spans, err := h.program(n)
	if err != nil {
		h.failed = err
		return false
	}
	if h.programs == 1 {
		h.lower = bound
	}
	if bound >= h.upper*(1-heldGap) {
		return true
	}
	// Starts come first, then the acts in the order of their ends at the program's spans.
	done, rate := true, h.rates(n)
	for _, e := range h.flows {
		if n.edge[e] == waits {
			done = false
			m := h.close(n, rate)
			if h.start(m, e); !h.walk(m) {
				return false
			}
		}
	}
	type end struct {
		act int
		in  float64
	}
	var ends []end
	for k := range n.acts {
		if a := &n.acts[k]; !a.done {
			left := a.amount
			for i, r := range a.rates {
				left -= r * spans[a.from+i]
			}
			ends = append(ends, end{k, left / rate(a)})
		}
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.in, b.in) })
	for _, x := range ends {
		m := h.close(n, rate)
		if h.finish(m, x.act); !h.walk(m) {
			return false
		}
	}
	return !done || len(ends) > 0 || h.leaf(n, bound, spans)
}

// leaf plays the transfers' starts of a complete order, and reports whether that is as good as its
// program promised.
func (h *heldSearch) leaf(n *holding, bound float64, spans []float64) bool {
	at := make([]float64, n.spans+1)
	for k := range n.spans {
		at[k+1] = at[k] + max(0, spans[k])
	}
	sent := make([]float64, len(h.g.Data))
	for _, e := range h.flows {
		sent[e] = at[n.started[e]]
	}
	if made := h.replay.RunFrom(h.plan, sent); made < h.upper {
		h.upper, h.sent = made, sent
	}
	return bound >= h.upper*(1-heldGap)
}
