// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/internal/duals"
	"github.com/gapwise/gapwise/internal/heap"
)

// remaining bounds the weighted sum of the ends of the jobs that a node hasn't
// started.
//
// For each m it bounds the m-th of their ends, in the order of time, by e_m. Whichever
// job has the m-th end, with the weight ω: Σ ω·end ≥ Σ ω e_m, which is least if the
// larger weights have the earlier e_m (rearrangement inequality). Each of the bounds
// holds of every completion, so the largest for each m does:
//
//   - a job ends no earlier than its earliest start plus its length; the m-th
//     smallest of these sums bounds the m-th end.
//   - on a machine that does the jobs' areas one after the other, at the rate of the
//     processors that the running jobs leave free, each from its earliest start on.
//     What a completion does in an instant, the machine can do. The shortest
//     remaining area first has the most jobs done at any time (Schrage: A proof of
//     the optimality of the shortest remaining processing time discipline, 1968);
//     the rate is the same for all, so that time may be counted by what the machine
//     has done.
//   - the same with f(w) for each width w, f dual-feasible: the f of all that runs
//     at an instant sum to at most f(P) (see duals.DualFeasible), so the jobs to
//     come have f(P) less those of the running jobs.
//
// It is a bound of the sum, too, that each job ends no earlier than its earliest start
// plus its length, with its own weight; and that the other jobs pay for the processors that the
// started ones leave free (see paid.of).
type remaining struct {
	machines []machine
	earliest []int64 // by job
	ends     []int64 // bounds, ascending
	other    []int64
	order    []int32 // by earliest start
	weights  []int64 // descending
	paid     *paid   // nil: no prices
	queue    heap.Heap[work]
}

// machine is a capacity and the jobs' demands of it.
type machine struct {
	capacity int64
	demand   []int64
}

// work is what is left of a job's area.
type work struct {
	left int64
	job  int32
}

func newRemaining(j *jobs) *remaining {
	n := len(j.release)
	r := &remaining{earliest: make([]int64, n), queue: heap.Heap[work]{Less: func(a, b work) bool { return a.left < b.left || a.left == b.left && a.job < b.job }}}
	last, total := int64(0), 0.0
	for k := range j.release {
		last = max(last, j.release[k])
		total += float64(j.length[k])
	}
	add := func(f func(int64) int64, capacity int64) {
		if (float64(last)+total)*float64(capacity) > 0x1p62 {
			return // areas don't fit 64 bits
		}
		m := machine{capacity, make([]int64, n)}
		for k, w := range j.width {
			m.demand[k] = f(w)
		}
		for _, other := range r.machines { // another with the same shares is of no use
			same := true
			for k := range m.demand {
				same = same && m.demand[k]*other.capacity == other.demand[k]*m.capacity
			}
			if same {
				return
			}
		}
		r.machines = append(r.machines, m)
	}
	add(func(w int64) int64 { return w }, j.processors)
	for k := int64(1); k <= 2; k++ {
		add(duals.StepsDFF(j.processors, k))
	}
	return r
}

// of returns a bound of the weighted sum of responses of all completions of x.
func (r *remaining) of(t *tree, x *node) int64 {
	sum, own := x.cost, x.cost
	r.order, r.ends, r.weights = r.order[:0], r.ends[:0], r.weights[:0]
	for k := range t.release {
		if x.set>>k&1 == 0 {
			at := t.earliest(x, k)
			r.earliest[k] = at
			r.order = append(r.order, int32(k))
			r.ends, r.weights = append(r.ends, at+t.length[k]), append(r.weights, t.weight[k])
			sum -= t.weight[k] * t.release[k]
			own += t.weight[k] * (at + t.length[k] - t.release[k])
		}
	}
	slices.Sort(r.ends)
	slices.SortFunc(r.weights, func(a, b int64) int { return cmp.Compare(b, a) })
	slices.SortFunc(r.order, func(a, b int32) int { return cmp.Or(cmp.Compare(r.earliest[a], r.earliest[b]), cmp.Compare(a, b)) })
	for i := range r.machines {
		r.machine(&r.machines[i], t, x)
		for m, e := range r.other {
			r.ends[m] = max(r.ends[m], e)
		}
	}
	for m, e := range r.ends {
		sum += r.weights[m] * e
	}
	sum = max(sum, own)
	if r.paid != nil {
		sum = max(sum, r.paid.of(x, r.order, r.earliest))
	}
	return sum
}

// machine writes the ends on a machine to other, ascending. Between two changes of
// the rate or arrivals the time of an end is rounded up, as real ends are whole;
// what is done by then is counted exactly.
func (r *remaining) machine(m *machine, t *tree, x *node) {
	r.other, r.queue.Items = r.other[:0], r.queue.Items[:0]
	rate := m.capacity
	for _, e := range x.ends {
		rate -= m.demand[e.job]
	}
	now, next, running := x.now, 0, 0
	for len(r.other) < len(r.order) {
		for ; running < len(x.ends) && x.ends[running].at <= now; running++ {
			rate += m.demand[x.ends[running].job]
		}
		for ; next < len(r.order) && r.earliest[r.order[next]] <= now; next++ {
			k := r.order[next]
			r.queue.Push(work{m.demand[k] * t.length[k], k})
		}
		until := int64(1 << 62)
		if running < len(x.ends) {
			until = x.ends[running].at
		}
		if next < len(r.order) {
			until = min(until, r.earliest[r.order[next]])
		}
		if r.queue.Len() == 0 || rate <= 0 && until < 1<<62 {
			for r.queue.Len() > 0 && r.queue.Items[0].left == 0 {
				r.queue.Pop()
				r.other = append(r.other, now)
			}
			now = until
			continue
		}
		// done is the area that the machine has done since now.
		done := int64(0)
		for r.queue.Len() > 0 {
			first := &r.queue.Items[0]
			if until < 1<<62 && done+first.left > rate*(until-now) {
				first.left -= rate*(until-now) - done // it stays the first
				break
			}
			done += first.left
			r.queue.Pop()
			r.other = append(r.other, now+(done+rate-1)/rate)
		}
		now = until
	}
}
