// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/flow"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/model"
)

// maxFlowArcs limits the network of a flow bound, which takes 32 bytes per arc. In
// larger instances ready times are moved down and due times up to fewer points,
// which only relaxes.
const maxFlowArcs = 6_000_000

// flowOf bounds the accepted weight by a relaxation in which jobs may be interrupted, resumed and run with fewer PEs
// than they ask for, but only within their own windows and never with more than their PEs. The possible shares of a set
// of jobs are then a flow. Job j gets at most its area a_j from the source and may pass on to each elementary interval
// (between neighbouring ready and due times) its PEs times the interval's length. An interval passes on as much as all
// PEs have in it.
//
// The largest weight Σ_j w_j y_j/a_j of areas y that a flow can give the jobs is found greedily. In descending order of
// w_j/a_j, each job pushes as much as it can without lowering the total of any before. That is exact. Flows can give
// the areas y if and only if y(S) ≤ f(S) for each set S of jobs, where f(S) is the largest flow with the sources of S
// alone. f is submodular and monotone, as every largest flow is in its set of sources, so these y form a polymatroid
// (Megiddo: Optimal flows in networks with multiple sources and sinks, 1974). On it the greedy method maximises every
// linear function (Edmonds: Submodular functions, matroids, and certain polyhedra, 1970). Its step for job j after the
// set S is f(S+j) - f(S). No augmenting path lowers the amount that a source has sent, so the push of j on top of a
// largest flow of S sends exactly that.
//
// Rounding: for any partition of the jobs, bounds on the parts add up to a bound on all, and each may be rounded down.
// When j finds no more room, all intervals reached by its search are full, and only jobs reached by it use them. So the
// greedy result on a part that contains with each job all jobs in its reach is the same as within the whole. The parts
// are the connected components of these reaches: splitting loses nothing, and each part with a fraction gains.
//
// When ctx ends, jobs not yet pushed count in full. The pushes take most of the time; their paths stay near their jobs:
// see the benchmark.
func flowOf(ctx context.Context, t *view.Reservation) bounds.Bound {
	return newWork(t).flowBound(ctx, maxResources)
}

// maxResourceFlow is the number of jobs up to which flows are computed for all
// resources; above, for the first alone.
const maxResourceFlow = 2000

// flowBound returns the best bound of the given number of resources.
func (w *work) flowBound(ctx context.Context, resources int) bounds.Bound {
	best, why := w.total, ""
	by := &model.Evidence{Type: evidence.Windows}
	if len(w.jobs) > maxResourceFlow {
		resources = 1
	}
	for f := range min(resources, len(w.resources)) {
		if ctx.Err() != nil {
			break
		}
		x := w.flow(ctx, &w.resources[f])
		if x.accepted < best {
			best, by = x.accepted, x.evidence
		}
		if why == "" {
			why = x.why
		}
	}
	return w.proved(w.bound("flow", best, why), by)
}

// flowResult is the proof by a flow.
type flowResult struct {
	fractional float64 // the relaxation's value
	accepted   float64 // with each part rounded down
	why        string  // the first jobs that don't fit
	evidence   *model.Evidence
}

// flowRun is the state of one flow bound. The nodes are the jobs, then the
// intervals, then the sink.
type flowRun struct {
	w     *work
	res   *resource
	ends  []int64 // interval i is [ends[i], ends[i+1])
	first []int32 // by job: its intervals are first to past-1
	past  []int32
	g     *flow.Network
	part  []int32 // union-find over jobs and intervals
}

// flow solves the relaxation for one resource.
func (w *work) flow(ctx context.Context, res *resource) flowResult {
	r := newFlowRun(ctx, w, res)
	if r == nil {
		return flowResult{fractional: w.total, accepted: w.total}
	}
	n := len(w.jobs)
	density := make([]float64, n)
	for k := range density {
		density[k] = w.jobs[k].weight / float64(res.size[k]*w.jobs[k].length)
	}
	jobs := order.Of[int32](n)
	if w.ticks.Goal != model.GoalAll { // otherwise any order will do, and the order of time is fast
		order.Falling(jobs, density)
	}
	var result flowResult
	missing := make([]float64, n) // the fraction of each job that isn't accepted
	// The price of an interval is the density of the first job that found it full: the
	// dual solution.
	price := make([]float64, len(r.part)-n)
	for _, k := range jobs {
		area := res.size[k] * w.jobs[k].length
		if area == 0 {
			continue
		}
		sent, full := r.g.Push(ctx, k, area)
		if !full {
			if ctx.Err() != nil {
				break
			}
			continue
		}
		missing[k] = float64(area-sent) / float64(area)
		r.join(k)
		p := density[k]
		if w.ticks.Goal == model.GoalAll {
			p = r.uniform()
		}
		for _, v := range r.g.Reached() {
			if i := int(v) - n; i >= 0 && i < len(price) && price[i] == 0 {
				price[i] = p
			}
		}
		if result.why == "" {
			result.why = r.explain()
			if w.ticks.Goal == model.GoalAll {
				break
			}
		}
		r.g.Close(func(v int32) { r.union(k, v) })
	}
	// Weights in part and in full, by part.
	partial, whole := make([]float64, n), make([]float64, n)
	for k := range n {
		if x := w.jobs[k].weight; missing[k] > 0 {
			p := r.find(int32(k))
			partial[p] += x * (1 - missing[k])
			whole[p] += x
			result.fractional += x * (1 - missing[k])
		} else {
			result.accepted += x
		}
	}
	result.fractional += result.accepted
	for p, x := range partial {
		if whole[p] > 0 {
			result.accepted += max(0, min(w.down(x), whole[p]-w.unit))
		}
	}
	result.evidence = r.priced(price, func(p int32) bool { return whole[p] > 0 })
	return result
}

// uniform returns a price at which it is better to decline no job that the last push reached, given the PE-seconds that
// it must spend in the intervals that the push reached.
func (r *flowRun) uniform() float64 {
	n := len(r.w.jobs)
	reached := make([]bool, len(r.part))
	for _, v := range r.g.Reached() {
		if int(v) < len(reached) {
			reached[v] = true
		}
	}
	price := math.Inf(1)
	for k := range n {
		if j := &r.w.jobs[k]; reached[k] && r.res.size[k] > 0 {
			price = min(price, j.weight/(float64(r.res.size[k])*float64(j.length)))
		}
	}
	return price
}

// priced returns the evidence of a flow: for each part the prices of its intervals.
func (r *flowRun) priced(price []float64, declines func(part int32) bool) *model.Evidence {
	n, w := int32(len(r.w.jobs)), r.w
	if w.in == nil {
		return nil
	}
	all := &model.Evidence{Type: evidence.Prices}
	at := map[int32]int{} // of a part
	for k := range n {
		p := r.find(k)
		if !declines(p) {
			continue
		}
		i, ok := at[p]
		if !ok {
			i = len(all.Parts)
			at[p] = i
			all.Parts = append(all.Parts, model.Evidence{Type: evidence.Prices, Function: r.res.function})
		}
		all.Parts[i].Elements = append(all.Parts[i].Elements, w.in.Requests[w.ticks.Jobs[w.number[k]].Request].ID)
	}
	for i, x := range price {
		if x == 0 || !declines(r.find(n+int32(i))) {
			continue
		}
		e := &all.Parts[at[r.find(n+int32(i))]]
		from, to := r.ends[i]+r.w.origin, r.ends[i+1]+r.w.origin
		if m := len(e.Times); m == 0 {
			e.Times = append(e.Times, from)
		} else if e.Times[m-1] < from {
			e.Times, e.Prices = append(e.Times, from), append(e.Prices, 0)
		}
		if m := len(e.Prices); m > 0 && e.Prices[m-1] == x && e.Times[m] == from {
			e.Times[m] = to
			continue
		}
		e.Times, e.Prices = append(e.Times, to), append(e.Prices, x)
	}
	return all
}

// newFlowRun builds the network. It returns nil if ctx ends.
func newFlowRun(ctx context.Context, w *work, res *resource) *flowRun {
	n := len(w.jobs)
	r := &flowRun{w: w, res: res, first: make([]int32, n), past: make([]int32, n)}
	all := make([]int64, 0, 2*n)
	for k := range w.jobs {
		all = append(all, w.jobs[k].ready, w.jobs[k].due)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	arcs := 0
	for every := 1; ; every *= 2 {
		r.ends = r.ends[:0]
		for k := range all {
			if k%every == 0 || k == len(all)-1 {
				r.ends = append(r.ends, all[k])
			}
		}
		arcs = 0
		for k := range w.jobs {
			j := &w.jobs[k]
			from, exact := slices.BinarySearch(r.ends, j.ready)
			if !exact {
				from--
			}
			to, _ := slices.BinarySearch(r.ends, j.due)
			r.first[k], r.past[k] = int32(from), int32(to)
			arcs += to - from
		}
		if arcs <= maxFlowArcs || len(r.ends) <= 2 {
			break
		}
	}
	intervals := max(0, len(r.ends)-1)
	sink := int32(n + intervals)
	a := flow.NewArcs(arcs + intervals)
	for i := range intervals {
		a.Add(int32(n+i), sink, res.capacity*(r.ends[i+1]-r.ends[i]))
	}
	for k := range n {
		if k%1024 == 0 && ctx.Err() != nil {
			return nil
		}
		if res.size[k] == 0 {
			continue
		}
		for i := r.first[k]; i < r.past[k]; i++ {
			a.Add(int32(k), int32(n)+i, res.size[k]*(r.ends[i+1]-r.ends[i]))
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	r.g = a.Network(n+intervals+1, sink)
	r.part = make([]int32, n+intervals)
	for v := range r.part {
		r.part[v] = int32(v)
	}
	return r
}

// find and union keep the parts as a union-find structure. A part is named after its
// least node, which is a job, since no interval is in a part alone.
func (r *flowRun) find(v int32) int32 {
	for r.part[v] != v {
		r.part[v] = r.part[r.part[v]]
		v = r.part[v]
	}
	return v
}

func (r *flowRun) union(a, b int32) {
	a, b = r.find(a), r.find(b)
	r.part[max(a, b)] = min(a, b)
}

// join makes everything that the last search reached one part with k.
func (r *flowRun) join(k int32) {
	for _, v := range r.g.Reached() {
		r.union(k, v)
	}
}

// explain says why the last push failed: the intervals reached are full, and the jobs reached must spend in them the
// work that they can't spend elsewhere.
func (r *flowRun) explain() string {
	n, w := int32(len(r.w.jobs)), r.w
	reached := make([]bool, len(r.part))
	for _, v := range r.g.Reached() {
		reached[v] = true
	}
	jobs, energy, room := int64(0), int64(0), int64(0)
	from, to, length := int64(-1), int64(0), int64(0)
	for i := n; i < int32(len(reached)); i++ {
		if reached[i] {
			a, b := r.ends[i-n], r.ends[i-n+1]
			if from < 0 {
				from = a
			}
			to = b
			length += b - a
			room += r.res.capacity * (b - a)
		}
	}
	for k := range n {
		if !reached[k] {
			continue
		}
		inside := w.jobs[k].length
		for i := r.first[k]; i < r.past[k]; i++ {
			if !reached[n+i] {
				inside -= r.ends[i+1] - r.ends[i]
			}
		}
		if inside > 0 {
			jobs++
			energy += r.res.size[k] * inside
		}
	}
	why := w.tooMuch(jobs, energy, room, from, to, r.res)
	if length < to-from {
		why += ", in parts of that window"
	}
	return why
}
