package reservation

import (
	"cmp"
	"context"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/flow"
	"github.com/gapwise/gapwise/model"
)

// maxFlowArcs limits the network of a flow bound: 32 bytes for each arc. Larger
// instances have their times moved apart to fewer points, which only relaxes.
const maxFlowArcs = 6_000_000

// Flow lets jobs be interrupted, resumed and run with fewer PEs than
// they ask for at any time, but within their own windows and never with more
// than their PEs. What a set of jobs can then be given is a flow: job j gets
// its area from the source, and may pass on to each elementary interval (between
// neighbouring ready and due times) its PEs times the interval's length; an interval
// passes on as much as all PEs have in it.
//
// The most weight that fractions of jobs can have in it is found greedily:
// jobs in descending order of weight for each unit of area, each pushing what
// it can without taking from the total of any before. That is exact. The areas y
// that a flow can give the jobs are those with y(S) <= f(S) for each set S of
// jobs, where f(S) is the largest flow with the sources of S alone; f is
// submodular and monotone, as every largest flow is in its set of sources, so
// these y are a polymatroid (Megiddo: Optimal flows in networks with multiple
// sources and sinks, 1974), on which the greedy method maximises every linear function
// (Edmonds: Submodular functions, matroids, and certain polyhedra, 1970), here
// the sum of weight/area times y. Its step for job j after the set S is f(S+j) - f(S);
// since no augmenting path lowers what a source has sent, the push from j
// on top of a largest flow of S sends just that.
//
// The integer reading: for any partition of the jobs a bound on each part adds
// up to a bound on all, and each may be rounded down. When j finds no more room,
// all that its search reached is full, and only jobs in its reach use it. So
// the greedy method's result on a part that has with each job all jobs in its reach is the
// same as within the whole, and the parts are the connected components of these
// reaches. Nothing is lost, and each part with fractions gains.
//
// When ctx ends, jobs not yet pushed count in full. The time is that of the
// pushes, whose paths stay near their jobs: see the benchmark.
func Flow(ctx context.Context, t *Ticks) bounds.Bound {
	return newReservationWork(t).flowBound(ctx, maxForms)
}

// maxFormFlow is the number of jobs up to which flows are computed for all
// forms: above, the first alone.
const maxFormFlow = 2000

// flowBound is the best bound of the first so many forms.
func (w *reservationWork) flowBound(ctx context.Context, forms int) bounds.Bound {
	best, why := w.total, ""
	if len(w.jobs) > maxFormFlow {
		forms = 1
	}
	for f := range min(forms, len(w.forms)) {
		if ctx.Err() != nil {
			break
		}
		x := w.flow(ctx, &w.forms[f])
		if x.accepted < best {
			best = x.accepted
		}
		if why == "" {
			why = x.why
		}
	}
	return w.bound("flow", best, why)
}

// flowResult is what a flow proved.
type flowResult struct {
	fractional float64 // the relaxation's value, not rounded down
	accepted   float64 // the integer reading
	why        string  // the first jobs that don't fit
}

// flowRun is the state of one flow bound. Nodes are the jobs, then the intervals,
// then the sink.
type flowRun struct {
	w     *reservationWork
	form  *reservationForm
	ends  []int64 // of the intervals; one more than those
	first []int32 // interval of each job
	past  []int32 // the interval after its last one
	g     *flow.Network
	part  []int32 // union-find over jobs and intervals
}

// flow solves the relaxation for one form.
func (w *reservationWork) flow(ctx context.Context, form *reservationForm) flowResult {
	r := newFlowRun(ctx, w, form)
	if r == nil {
		return flowResult{fractional: w.total, accepted: w.total}
	}
	n := len(w.jobs)
	order := make([]int32, n)
	density := make([]float64, n)
	for k := range order {
		order[k] = int32(k)
		density[k] = w.jobs[k].weight / float64(form.size[k]*w.jobs[k].length)
	}
	if w.ticks.Goal != model.GoalAll { // else any order will do, and that of time is fast
		slices.SortStableFunc(order, func(a, b int32) int {
			return cmp.Compare(density[b], density[a])
		})
	}
	var result flowResult
	missing := make([]float64, n) // the fraction of each job that isn't accepted
	for _, k := range order {
		area := form.size[k] * w.jobs[k].length
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
	return result
}

// newFlowRun builds the network; nil if ctx ends.
func newFlowRun(ctx context.Context, w *reservationWork, form *reservationForm) *flowRun {
	n := len(w.jobs)
	r := &flowRun{w: w, form: form, first: make([]int32, n), past: make([]int32, n)}
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
		a.Add(int32(n+i), sink, form.capacity*(r.ends[i+1]-r.ends[i]))
	}
	for k := range n {
		if k%1024 == 0 && ctx.Err() != nil {
			return nil
		}
		if form.size[k] == 0 {
			continue
		}
		for i := r.first[k]; i < r.past[k]; i++ {
			a.Add(int32(k), int32(n)+i, form.size[k]*(r.ends[i+1]-r.ends[i]))
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

// find and union keep the parts; each is named after its least node, which is a
// job, as an interval is in no part alone.
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

// join puts all that the last search reached into one part.
func (r *flowRun) join(k int32) {
	for _, v := range r.g.Reached() {
		r.union(k, v)
	}
}

// explain says why the last push failed: what it reached is full. The jobs reached
// must spend in the intervals reached what they can't spend elsewhere.
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
			room += r.form.capacity * (b - a)
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
			energy += r.form.size[k] * inside
		}
	}
	why := w.tooMuch(jobs, energy, room, from, to, r.form)
	if length < to-from {
		why += ", in parts of that window"
	}
	return why
}
