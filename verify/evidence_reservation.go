// SPDX-License-Identifier: MIT

package verify

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/model"
)

// bookedWork are the requests that hold PEs, as seen with full knowledge in advance: each for its runtime within
// [ready, due). Times are ticks, rounded so that a possible plan is possible in ticks (see tickReader).
type bookedWork struct {
	jobs     []bookedJob
	find     func(id string) (int, bool) // of jobs
	pes      int64
	capacity int64    // of the PEs: the largest sum of requests' PEs that they hold
	total    *big.Int // of the jobs' weights, in grains
	free     *big.Int // the weight of the ones that count and hold nothing
	unit     *big.Int // divides all weights of jobs
	grains   *big.Int // in a unit of the objective
	all      bool     // all requests must be accepted
	span     float64  // the lengths together, or from the first ready time to the last due time
}

type bookedJob struct {
	id                 string
	ready, due, length int64
	pes                int64
	weight             *big.Int
}

// newBookedWork reads an instance.
//
// A request that is withdrawn before its latest start holds no PEs if booked there; it
// counts where withdrawn ones do. For PE-seconds used, it counts only if it starts by its
// cancellation.
func newBookedWork(ctx context.Context, in *model.Reservation) (*bookedWork, error) {
	r := newTickReader(ctx, in)
	goal := in.EffectiveGoal()
	w := &bookedWork{jobs: make([]bookedJob, 0, len(in.Requests)), total: new(big.Int), free: new(big.Int), unit: new(big.Int), grains: big.NewInt(1), all: goal == model.GoalAll}
	seconds := func(q *model.Request) float64 {
		if goal == model.GoalPESeconds {
			return q.Runtime()
		}
		return q.DurationS
	}
	places := 0
	if goal.PESeconds() {
		for k := range in.Requests {
			if stopped(ctx, k) {
				return nil, ctx.Err()
			}
			_, after := digitsOf(seconds(&in.Requests[k]))
			places = max(places, len(after))
		}
	}
	w.grains.Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	first, last, length := int64(math.MaxInt64), int64(0), 0.0
	one := big.NewInt(1) // shared, and never changed
	for k := range in.Requests {
		if stopped(ctx, k) {
			return nil, ctx.Err()
		}
		q := &in.Requests[k]
		weight := one
		if goal.PESeconds() {
			before, after := digitsOf(seconds(q))
			weight, _ = new(big.Int).SetString(before+after+strings.Repeat("0", places-len(after)), 10)
			weight.Mul(weight, big.NewInt(int64(q.PEs)))
		}
		t := r.request(q)
		latest := t.deadline - t.duration
		if goal == model.GoalPESeconds {
			if latest = min(latest, t.cancel); latest < t.ready {
				continue
			}
		} else if t.cancel < latest {
			w.free.Add(w.free, weight)
			continue
		}
		w.jobs = append(w.jobs, bookedJob{q.ID, t.ready, latest + t.runtime, t.runtime, int64(q.PEs), weight})
		w.total.Add(w.total, weight)
		if w.unit.Cmp(one) != 0 {
			w.unit.GCD(nil, nil, w.unit, weight)
		}
		first, last = min(first, t.ready), max(last, latest+t.runtime)
		length += float64(t.runtime)
	}
	w.span = max(length, float64(last-first))
	if float64(max(2, in.PEs))*w.span > 1<<60 {
		return nil, tooMuch("times and PEs")
	}
	if w.unit.Sign() == 0 {
		w.unit.SetInt64(1)
	}
	w.find = finder(ctx, len(w.jobs), func(k int) string { return w.jobs[k].id })
	w.pes = int64(in.PEs)
	w.capacity = w.usable(w.pes)
	return w, nil
}

// usable returns the largest sum of some requests' PEs that is at most pes, or a bound of
// it.
func (w *bookedWork) usable(pes int64) int64 {
	times := map[int64]int64{}
	sum, divisor := int64(0), int64(0)
	for k := range w.jobs {
		times[w.jobs[k].pes]++
		sum += w.jobs[k].pes
		divisor = gcd(divisor, w.jobs[k].pes)
	}
	if sum <= pes {
		return max(1, sum)
	}
	most := pes / divisor
	if (most/64+1)*int64(len(times)) > 400_000 {
		return most * divisor
	}
	can, shifted := big.NewInt(1), new(big.Int) // bit k: some sum to k divisors
	room := new(big.Int).Lsh(big.NewInt(1), uint(most+1))
	room.Sub(room, big.NewInt(1))
	for size, n := range times {
		n = min(n, pes/size)
		for part := int64(1); n > 0; part *= 2 {
			part = min(part, n)
			n -= part
			shifted.Lsh(can, uint(part*(size/divisor)))
			can.And(can.Or(can, shifted), room)
		}
	}
	return int64(can.BitLen()-1) * divisor
}

// down returns the largest multiple of the unit up to x.
func (w *bookedWork) down(x *big.Int) *big.Int {
	q := new(big.Int).Div(x, w.unit) // Euclidean: rounded down
	return q.Mul(q, w.unit)
}

// follows returns the conclusion if at most a weight of the jobs is accepted.
func (w *bookedWork) follows(accepted *big.Int, how string, args ...any) Followed {
	f := Followed{How: fmt.Sprintf(how, args...)}
	if accepted = minimum(w.down(accepted), w.total); w.all && accepted.Cmp(w.total) < 0 {
		f.Infeasible = true
		return f
	}
	f.Bound = new(big.Rat).SetFrac(new(big.Int).Add(accepted, w.free), w.grains)
	return f
}

// sizes returns the PEs of a job and the capacity under a dual-feasible function: the PEs of
// jobs that run at one time sum to the capacity at most, so their values to its value. Summed over all jobs, value
// times length is at most 2^60, as is the value of the capacity times span.
func (w *bookedWork) sizes(d *model.DualFunction) (size func(k int) int64, capacity int64, err error) {
	f, capacity, err := dualFunction(d, w.capacity)
	if err != nil {
		return nil, 0, err
	}
	if float64(capacity)*w.span > 1<<60 {
		return nil, 0, tooMuch("times and sizes")
	}
	return func(k int) int64 { return f(w.jobs[k].pes) }, capacity, nil
}

// reservationEvidence recomputes bounds on the accepted requests.
func reservationEvidence(ctx context.Context, in *model.Reservation, e *model.Evidence) (Followed, error) {
	w, err := newBookedWork(ctx, in)
	if err != nil {
		return Followed{}, err
	}
	switch e.Type {
	case evidence.Areas:
		return w.areas(ctx, e)
	case evidence.Windows:
		return w.windows(ctx, e)
	}
	return w.parts(ctx, e)
}

// areaHeap holds jobs, the largest area per weight on top.
type areaHeap struct {
	w    *bookedWork
	area []int64 // by job
	jobs []int
}

func (h *areaHeap) Len() int { return len(h.jobs) }
func (h *areaHeap) Less(i, j int) bool {
	a, b := h.jobs[i], h.jobs[j]
	x := new(big.Int).Mul(big.NewInt(h.area[a]), h.w.jobs[b].weight)
	return x.Cmp(new(big.Int).Mul(big.NewInt(h.area[b]), h.w.jobs[a].weight)) > 0
}
func (h *areaHeap) Swap(i, j int) { h.jobs[i], h.jobs[j] = h.jobs[j], h.jobs[i] }
func (h *areaHeap) Push(x any)    { h.jobs = append(h.jobs, x.(int)) }
func (h *areaHeap) Pop() any {
	x := h.jobs[len(h.jobs)-1]
	h.jobs = h.jobs[:len(h.jobs)-1]
	return x
}

// fine is the denominator of weights in areas, because their quotients are rounded.
const fine = 1 << 40

// areas takes the PEs as one machine of their joint speed, and all ready times as the
// first one (mirrored: all deadlines as the last one). In the order of due times, whenever the jobs so far need more
// than there is until then, jobs of the largest area per weight are declined. If weights are equal, as many jobs are
// declined as must be (Moore 1968), else parts of jobs. That is optimal for parts, since the sets of jobs due by a time
// are nested.
func (w *bookedWork) areas(ctx context.Context, e *model.Evidence) (Followed, error) {
	size, capacity, err := w.sizes(e.Function)
	if err != nil {
		return Followed{}, err
	}
	if len(w.jobs) > maxEvidenceWork/20 {
		return Followed{}, tooMuch("requests")
	}
	first, last, same := int64(math.MaxInt64), int64(0), true
	for k := range w.jobs {
		first, last = min(first, w.jobs[k].ready), max(last, w.jobs[k].due)
		same = same && w.jobs[k].weight.Cmp(w.jobs[0].weight) == 0
	}
	room := func(k int) int64 {
		if e.Mirrored {
			return last - w.jobs[k].ready
		}
		return w.jobs[k].due - first
	}
	order := make([]int, len(w.jobs))
	area, left := make([]int64, len(w.jobs)), make([]int64, len(w.jobs))
	for k := range order {
		order[k], area[k] = k, size(k)*w.jobs[k].length
		left[k] = area[k]
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(room(a), room(b)) })
	h := &areaHeap{w: w, area: area}
	busy := int64(0)
	declined := new(big.Int) // times fine, rounded down
	for i, k := range order {
		if stopped(ctx, i) {
			return Followed{}, ctx.Err()
		}
		busy += area[k]
		heap.Push(h, k)
		for over := busy - capacity*room(k); over > 0; over = busy - capacity*room(k) {
			worst := h.jobs[0]
			part := left[worst]
			if !same {
				part = min(part, over)
			}
			x := new(big.Int).Mul(w.jobs[worst].weight, big.NewInt(fine))
			declined.Add(declined, x.Div(x.Mul(x, big.NewInt(part)), big.NewInt(area[worst])))
			busy -= part
			if left[worst] -= part; left[worst] == 0 {
				heap.Pop(h)
			}
		}
	}
	accepted := new(big.Int).Mul(w.total, big.NewInt(fine))
	accepted.Sub(accepted, declined)
	return w.follows(accepted.Div(accepted, big.NewInt(fine)), "the areas of %d requests", len(w.jobs)), nil
}

// windows takes disjoint windows [a, b) in which jobs need more than there is. An accepted job
// spends at least min(b - a, length, ready + length - a, b - (due - length)) of its time in
// one, the last two from its earliest and its latest start. If the sum is above capacity (b - a), jobs must be declined
// with energies that make up the excess. All jobs count in one window; if there are several, each counts in the one
// that contains its middle, so that the declined weights add up.
func (w *bookedWork) windows(ctx context.Context, e *model.Evidence) (Followed, error) {
	if len(e.Windows)*len(w.jobs) > maxEvidenceWork {
		return Followed{}, tooMuch("windows")
	}
	windows := e.Windows
	accepted := new(big.Int).Set(w.total)
	for _, x := range windows {
		if ctx.Err() != nil {
			return Followed{}, ctx.Err()
		}
		size, capacity, err := w.sizes(x.Function)
		if err != nil {
			return Followed{}, err
		}
		if float64(capacity)*float64(x.To-x.From) > 1<<61 {
			return Followed{}, tooMuch("a window this long")
		}
		type part struct {
			energy int64
			weight *big.Int
		}
		var parts []part
		excess := -capacity * (x.To - x.From)
		for k := range w.jobs {
			j := &w.jobs[k]
			middle := j.ready + j.due
			if len(windows) > 1 && (middle < 2*x.From || middle >= 2*x.To) {
				continue
			}
			if in := min(x.To-x.From, j.length, j.ready+j.length-x.From, x.To-(j.due-j.length)); in > 0 && size(k) > 0 {
				parts = append(parts, part{size(k) * in, j.weight})
				excess += size(k) * in
			}
		}
		if excess <= 0 {
			continue
		}
		slices.SortFunc(parts, func(a, b part) int { // by weight per energy
			x := new(big.Int).Mul(a.weight, big.NewInt(b.energy))
			return x.Cmp(new(big.Int).Mul(b.weight, big.NewInt(a.energy)))
		})
		least := new(big.Rat)
		for _, p := range parts {
			if excess <= p.energy {
				last := new(big.Rat).SetFrac(p.weight, big.NewInt(p.energy))
				least.Add(least, last.Mul(last, new(big.Rat).SetInt64(excess)))
				break
			}
			excess -= p.energy
			least.Add(least, new(big.Rat).SetInt(p.weight))
		}
		// Up to a whole number of units, at least one.
		units := least.Quo(least, new(big.Rat).SetInt(w.unit))
		n := new(big.Int).Add(units.Num(), new(big.Int).Sub(units.Denom(), big.NewInt(1)))
		n.Quo(n, units.Denom())
		accepted.Sub(accepted, n.Mul(n, w.unit))
	}
	s := "s"
	if len(windows) == 1 {
		s = ""
	}
	return w.follows(accepted, "the energy in %d window%s", len(windows), s), nil
}

// parts takes disjoint sets of jobs and a price for each; jobs in no set are accepted.
func (w *bookedWork) parts(ctx context.Context, e *model.Evidence) (Followed, error) {
	parts := e.Parts
	accepted := new(big.Int).Set(w.total)
	taken := make([]bool, len(w.jobs))
	work := 0
	for i := range parts {
		p := &parts[i]
		var jobs []int
		for _, id := range p.Elements {
			k, ok := w.find(id)
			if !ok || taken[k] {
				return Followed{}, fmt.Errorf("there is no request %q that holds PEs, or it is in two parts", id)
			}
			taken[k] = true
			jobs = append(jobs, k)
		}
		if work += len(jobs) * (1 + len(p.Times)); work > maxEvidenceWork/8 {
			return Followed{}, tooMuch("prices")
		}
		weight := new(big.Int)
		for _, k := range jobs {
			weight.Add(weight, w.jobs[k].weight)
		}
		most, err := w.priced(ctx, p, jobs, &work)
		if err != nil {
			return Followed{}, err
		}
		accepted.Sub(accepted, new(big.Int).Sub(weight, minimum(weight, w.down(most))))
	}
	s := "s"
	if len(parts) == 1 {
		s = ""
	}
	return w.follows(accepted, "the prices of time in %d part%s", len(parts), s), nil
}

// priced returns a bound on the weight of the jobs accepted, in grains, rounded down, by the Lagrangian relaxation of
// the capacity. With a price λ(t) ≥ 0 of a PE at each time, Λ its integral, it is
//
//	capacity · Λ(all) + Σ_j max(0, weight_j - size_j · min_s (Λ(s + length_j) - Λ(s))),
//
// s over j's starts. The accepted jobs keep the capacities at each time, so they pay no more than all capacity costs. Λ
// is linear between the times at which the price changes. So the least is at a start at which s or s + length_j is one,
// or at the first or last. If prices are at times, leftStarts returns the starts.
//
// If each job has prices of its own, capacity · Λ(all) is the integral of the most that jobs pay that fit together.
func (w *bookedWork) priced(ctx context.Context, p *model.Evidence, jobs []int, work *int) (*big.Int, error) {
	size, capacity, err := w.sizes(p.Function)
	if err != nil {
		return nil, err
	}
	var t *tariff
	var own []*tariff
	most := new(big.Int)
	if p.Resource == "" {
		t = newTariff(p.Times, p.Prices)
		most.Mul(t.all(), big.NewInt(capacity))
	} else {
		if own, err = w.ownTariffs(p, jobs); err == nil {
			most, err = w.packed(ctx, p.Times, own, jobs, work)
		}
		if err != nil {
			return nil, err
		}
		t = own[0]
	}
	most.Mul(most, w.grains) // as prices are in the objective's unit
	pay, value := new(big.Int), new(big.Int)
	var left [][]int64
	if t.instants {
		if left, err = w.leftStarts(ctx); err != nil {
			return nil, err
		}
	}
	for i, k := range jobs {
		if stopped(ctx, i) {
			return nil, ctx.Err()
		}
		j := &w.jobs[k]
		if own != nil {
			t = own[i]
		}
		var starts []int64
		if t.instants {
			starts = left[k]
		} else {
			starts = t.starts(j.ready, j.due-j.length, j.length)
		}
		var least *big.Int
		for _, s := range starts {
			if pay.Sub(t.before(s+j.length), t.before(s)); least == nil || pay.Cmp(least) < 0 {
				least = new(big.Int).Set(pay)
			}
		}
		value.Lsh(j.weight, uint(t.unit.shift))
		if value.Sub(value, least.Mul(least.Mul(least, w.grains), big.NewInt(size(k)))); value.Sign() > 0 {
			most.Add(most, value)
		}
	}
	return most.Rsh(most, uint(t.unit.shift)), nil
}

// meets returns the first of the spans between times that a job's window meets, and the one after the last.
func (j *bookedJob) meets(times []int64) (first, past int) {
	for first+2 < len(times) && times[first+1] <= j.ready {
		first++
	}
	for past = first + 1; past+1 < len(times) && times[past] < j.due; {
		past++
	}
	return first, past
}

// ownTariffs returns the tariff of each job: it has a price for each span of time that its window meets, and pays
// nothing outside of them.
func (w *bookedWork) ownTariffs(p *model.Evidence, jobs []int) (own []*tariff, err error) {
	var unit binary
	for _, x := range p.Prices {
		unit.see(x)
	}
	rest := p.Prices
	for _, k := range jobs {
		first, past := w.jobs[k].meets(p.Times)
		if len(rest) < past-first {
			break
		}
		own = append(own, tariffIn(unit, p.Times[first:past+1], rest[:past-first]))
		rest = rest[past-first:]
	}
	if len(own) < len(jobs) || len(rest) > 0 || len(jobs) == 0 {
		return nil, fmt.Errorf("prices: there are %d, not one for each request and span of time that its window meets", len(p.Prices))
	}
	return own, nil
}

// packed returns the integral of the most that a set of jobs pays whose PEs fit, by dynamic programming over PEs.
func (w *bookedWork) packed(ctx context.Context, times []int64, own []*tariff, jobs []int, work *int) (*big.Int, error) {
	part := int64(0)
	for _, k := range jobs {
		part = gcd(part, w.jobs[k].pes)
	}
	capacity := int(w.capacity / part)
	if capacity > maxEvidenceWork {
		return nil, tooMuch("PEs")
	}
	best := make([]*big.Int, capacity+1)
	for q := range best {
		best[q] = new(big.Int)
	}
	total, sum, paid := new(big.Int), new(big.Int), new(big.Int)
	for c := range len(times) - 1 {
		if *work += capacity; *work > maxEvidenceWork {
			return nil, tooMuch("spans of time")
		}
		for q := range best {
			best[q].SetInt64(0)
		}
		for i, t := range own {
			at, _ := slices.BinarySearch(t.times, times[c])
			if at >= len(t.price) || t.times[at] != times[c] || t.price[at].Sign() == 0 {
				continue
			}
			if *work += capacity; *work > maxEvidenceWork {
				return nil, tooMuch("sets of requests")
			}
			if stopped(ctx, c*len(own)+i) {
				return nil, ctx.Err()
			}
			paid.Mul(t.price[at], big.NewInt(w.jobs[jobs[i]].pes))
			for q, size := capacity, int(w.jobs[jobs[i]].pes/part); q >= size; q-- {
				if sum.Add(best[q-size], paid); sum.Cmp(best[q]) > 0 {
					best[q].Set(sum)
				}
			}
		}
		total.Add(total, sum.Mul(best[capacity], big.NewInt(times[c+1]-times[c])))
	}
	return total, nil
}
