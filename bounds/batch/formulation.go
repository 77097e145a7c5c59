// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/objective"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// Formulations are the names that Build knows, the default first.
var Formulations = []string{"time-indexed"}

// Build builds a formulation of the weighted mean response time on one tier by its
// name, "" for the default:
//
//   - time-indexed: a binary for each job and start (Pritsker, Watters, Wolfe:
//     Multiproject scheduling with limited resources, Management Science 1969), of
//     the starts that an optimum needs; see startPoints.
//
// It has the solutions that aren't worse than the best of some serial schedules. Solutions are starts in ticks, by job.
// Decode takes the order of the starts from the point and returns the schedule of Serial. Encode returns nil for worse
// solutions, and for starts that Serial doesn't give in their order.
//
// The error is model.ErrInvalid for an unknown name, and model.ErrUnsupported for two
// tiers, for more than MaxJobs jobs, for more than maxPoints starts and for weighted
// sums of responses that don't fit whole numbers (Units.Fit).
func Build(t *view.Batch, name string) (*milp.Formulation[[]int64], error) {
	if name != "" && !slices.Contains(Formulations, name) {
		return nil, fmt.Errorf("%w formulation: %q is unknown, give one of %q", model.ErrInvalid, name, Formulations)
	}
	return BuildBelow(t, math.MaxInt64)
}

// BuildBelow builds the default formulation of the solutions with a weighted sum of responses of at most so many Units.
// There may be none, and the model has no points then.
func BuildBelow(t *view.Batch, most int64) (*milp.Formulation[[]int64], error) {
	if t.Tiers != 1 {
		return nil, fmt.Errorf("formulation time-indexed: %w: it is of one tier, the instance has %d", model.ErrUnsupported, t.Tiers)
	}
	if err := t.Alike(); err != nil {
		return nil, fmt.Errorf("formulation time-indexed: %w", err)
	}
	if err := bounds.CheckSize(Formulations[0], "jobs", len(t.Jobs), MaxJobs); err != nil {
		return nil, err
	}
	b := &timeIndexed{t: t, units: UnitsOf(t)}
	if !b.units.Fit(t) {
		return nil, fmt.Errorf("formulation time-indexed: %w: %s", model.ErrUnsupported, SumsDontFit)
	}
	b.most = min(most, someSum(t, b.units))
	var ok bool
	if b.points, ok = startPoints(t, b.units, b.most, maxPoints); !ok {
		return nil, bounds.CheckSize(Formulations[0], "starts or more", maxPoints+1, maxPoints)
	}
	return &b.Formulation, b.build()
}

// MaxJobs and maxPoints are the most jobs and starts that Build takes.
const (
	MaxJobs   = 1000
	maxPoints = 50_000
)

// someSum returns the weighted sum of responses of the best of some serial schedules,
// in units: by submission, and by length and area over weight.
func someSum(t *view.Batch, u Units) int64 {
	best := int64(math.MaxInt64)
	for _, key := range []func(j *view.BatchJob) float64{
		func(*view.BatchJob) float64 { return 0 },
		func(j *view.BatchJob) float64 { return float64(j.Length) / float64(j.Weight) },
		func(j *view.BatchJob) float64 {
			return float64(j.Length) * float64(j.Processes) / float64(j.Weight)
		},
	} {
		order := make([]int, len(t.Jobs))
		for k := range order {
			order[k] = k
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(key(&t.Jobs[a]), key(&t.Jobs[b])) })
		best = min(best, u.Sum(t, Serial(t, order)))
	}
	return best
}

// startPoints returns ascending starts of each job, by job, that suffice for an optimum with a weighted sum of
// responses of at most so many units; false if there are more than limit.
//
// An optimum of Serial starts each job at its submission or at another's end, so at a
// submission plus the lengths of a chain of jobs. A job has points at its submission
// r_k and at the ends of the points of others. No job is in a chain twice; that is
// enforced for neighbours in the chain, and wholly for up to maxChainJobs jobs. It
// has none after
//
//	r_k - p_k + (most - L_k)/ω_k: ω_k is its weight, L_k bounds the weighted sum of
//	the other jobs' responses;
//	max_i r_i + Σ_{i≠k} p_i: from the last submission on the others run one after
//	the other at worst, see Serial.
//
// A job that starts later than its submission is blocked until then: the jobs that
// may run just before, itself among them, need more processors than there are.
// O(points · n + points log points), and n bounds of O(n log n)
func startPoints(t *view.Batch, u Units, most int64, limit int) (points [][]int64, ok bool) {
	type chain struct {
		at  int64
		job int
		set uint32
	}
	n := len(t.Jobs)
	once := n <= maxChainJobs
	latest := latestStarts(t, u, most)
	points = make([][]int64, n)
	count := 0
	ends := heap.Heap[chain]{Less: func(a, b chain) bool { return a.at < b.at }}
	add := func(k int, at int64, set uint32) {
		has := len(points[k])
		known := has > 0 && points[k][has-1] == at
		if !known {
			points[k] = append(points[k], at)
			count++
		}
		if once {
			set |= 1 << k
		}
		if !known || once {
			ends.Push(chain{at + t.Jobs[k].Length, k, set})
		}
	}
	for k := range t.Jobs {
		if t.Jobs[k].Submit <= latest[k] {
			add(k, t.Jobs[k].Submit, 0)
		}
	}
	var chains []chain
	for ends.Len() > 0 && count <= limit {
		chains = chains[:0]
		at := ends.Items[0].at
		for ends.Len() > 0 && ends.Items[0].at == at {
			e := ends.Pop()
			if !slices.ContainsFunc(chains, func(x chain) bool { return x.set == e.set && (once || x.job == e.job) }) {
				chains = append(chains, e)
			}
		}
		needed := 0
		for k := range t.Jobs {
			if t.Jobs[k].Submit < at && at <= latest[k]+t.Jobs[k].Length {
				needed += t.Jobs[k].Processes
			}
		}
		if needed <= t.Processors {
			continue
		}
		for k := range t.Jobs {
			if at <= t.Jobs[k].Submit || at > latest[k] {
				continue
			}
			for _, e := range chains {
				if e.job != k && e.set>>k&1 == 0 {
					add(k, at, e.set)
				}
			}
		}
	}
	return points, count <= limit
}

// maxChainJobs is the number of jobs up to which chains keep their sets.
const maxChainJobs = 10

// latestStarts returns the last starts that startPoints has for each job.
func latestStarts(t *view.Batch, u Units, most int64) []int64 {
	total, last, runtime := int64(0), int64(0), int64(0)
	for k := range t.Jobs {
		total += t.Jobs[k].Length
		last = max(last, t.Jobs[k].Submit)
		runtime += u.weight(t, k) * (t.Jobs[k].Length / u.Time)
	}
	latest := make([]int64, len(t.Jobs))
	r := newJobs(t)
	for k := range t.Jobs {
		j := &t.Jobs[k]
		others := runtime - u.weight(t, k)*(j.Length/u.Time)
		if len(t.Jobs) <= mostBounded {
			r.skip[k] = true
			for _, m := range largest(widths(t), quickFunctions) {
				// A division more is rounded.
				others = max(others, int64(math.Ceil(m.sums(r).Best/float64(u.Time)*(1-0x1p-52))))
			}
			r.skip[k] = false
		}
		latest[k] = last + total - j.Length
		response := (most - others) / u.weight(t, k) // less than 0: none
		if response < (latest[k]+j.Length-j.Submit)/u.Time {
			latest[k] = j.Submit - j.Length + response*u.Time
		}
	}
	return latest
}

// mostBounded is the number of jobs up to which each one is left out for a bound of the others.
const mostBounded = 64

// timeIndexed is the formulation being built: x_{k,s} = 1 if job k starts at its
// point s,
//
//	minimise Σ ω_k (s + p_k - r_k) x_{k,s}
//	Σ_s x_{k,s} = 1                      for each job k
//	Σ_{s ≤ t < s + p_k} w_k x_{k,s} ≤ P  for each start t, see capacity
//
// w_k is a width, ω_k a weight. The objective counts whole Units if there are at most
// maxSum of them; else thousandths of the largest sum.
type timeIndexed struct {
	milp.Formulation[[]int64]
	t      *view.Batch
	units  Units
	most   int64     // in units
	points [][]int64 // by job
	first  []int     // variable of each job's first point
}

// maxSum is the largest sum of responses, in units, that is kept whole.
const maxSum = 1e6

func (b *timeIndexed) build() error {
	n := len(b.t.Jobs)
	b.Scheme, b.Whole, b.first = "time-indexed", true, make([]int, n)
	scale := 1.0 // units
	if b.most > maxSum {
		b.Whole, scale = false, float64(b.most)/1000
	}
	total := int64(0)
	for k := range b.t.Jobs {
		total += b.units.weight(b.t, k) * (b.t.Jobs[k].Length / b.units.Time)
	}
	for k := range b.t.Jobs {
		j := &b.t.Jobs[k]
		b.first[k] = len(b.Vars)
		var once []milp.Term
		for _, s := range b.points[k] {
			cost := float64(b.units.weight(b.t, k)*((s+j.Length-j.Submit)/b.units.Time)) / scale
			v := b.AddVar(milp.Var{Name: fmt.Sprintf("x_%d_%d", k+1, s), Upper: 1, Cost: cost, Integer: true})
			once = append(once, milp.Term{Var: v, Coef: 1})
		}
		b.AddRow(fmt.Sprintf("once_%d", k+1), 1, 1, once...)
	}
	b.Limit = float64(total) / scale
	weights := 0.0
	for k := range b.t.Jobs {
		weights += float64(b.units.weight(b.t, k))
	}
	b.Scale = &objective.Scale{Factor: scale * float64(b.units.Time) / 1e6 / max(1, weights)}
	b.Value = func(x float64) float64 {
		if b.Whole && x == math.Trunc(x) && math.Abs(x) <= 1e9 {
			return b.units.Mean(b.t, int64(x)) // as the objective is computed
		}
		return b.Scale.Value(x)
	}
	b.Encode, b.Decode = b.encode, b.decode
	return b.capacity()
}

// capacity adds the rows of the capacity. The processors in use grow at starts alone, and the jobs that run at a start
// t also run at the last start before the next end. So only such t have a row. O(points log points + terms)
//
// HiGHS finds cover cuts in these rows. The variant with variables for the processors in use at each t, and two terms
// for each x in the rows between them, took four times as long. It took up to 325 nodes for instances that now take 6
// (ten instances of 10 to 12 jobs).
func (b *timeIndexed) capacity() error {
	type event struct {
		at  int64
		end bool
		v   int
	}
	var events []event
	job := make([]int, len(b.Vars))
	for k, list := range b.points {
		for i, s := range list {
			job[b.first[k]+i] = k
			events = append(events, event{s, false, b.first[k] + i}, event{s + b.t.Jobs[k].Length, true, b.first[k] + i})
		}
	}
	slices.SortFunc(events, func(x, y event) int {
		rank := 0 // ends come first
		if x.end != y.end {
			if rank = 1; x.end {
				rank = -1
			}
		}
		return cmp.Or(cmp.Compare(x.at, y.at), rank, cmp.Compare(x.v, y.v))
	})
	running := map[int]bool{}
	terms := 0
	for i, e := range events {
		if e.end {
			delete(running, e.v)
			continue
		}
		running[e.v] = true
		if !events[i+1].end { // the last event is an end
			continue
		}
		if terms += len(running); terms > maxTerms {
			return bounds.CheckSize(Formulations[0], "terms", terms, maxTerms)
		}
		var row []milp.Term
		for _, v := range slices.Sorted(maps.Keys(running)) {
			row = append(row, milp.Term{Var: v, Coef: float64(b.t.Jobs[job[v]].Processes)})
		}
		b.AddRow(fmt.Sprintf("at_%d", e.at), math.Inf(-1), float64(b.t.Processors), row...)
	}
	return nil
}

// maxTerms is the largest number of terms in the rows of the capacity.
const maxTerms = 1_000_000

// checked returns the schedule of Serial in the order of some starts; the error is model.ErrInvalid if their number
// isn't the number of jobs.
func (b *timeIndexed) checked(starts []int64) ([]int64, error) {
	if len(starts) != len(b.t.Jobs) {
		return nil, fmt.Errorf("%s: %w starts: there are %d, of %d jobs", b.Scheme, model.ErrInvalid, len(starts), len(b.t.Jobs))
	}
	return Serial(b.t, order.By(order.Of[int](len(starts)), starts)), nil
}

func (b *timeIndexed) encode(starts []int64) []float64 {
	if better, err := b.checked(starts); err != nil || !slices.Equal(better, starts) {
		return nil
	}
	x := make([]float64, len(b.Vars))
	for k, s := range starts {
		i, found := slices.BinarySearch(b.points[k], s)
		if !found {
			return nil
		}
		x[b.first[k]+i] = 1
	}
	return x
}

func (b *timeIndexed) decode(x []float64) ([]int64, error) {
	if len(x) != len(b.Vars) {
		return nil, fmt.Errorf("%s: %w point: it has %d values, the model has %d variables", b.Scheme, model.ErrInvalid, len(x), len(b.Vars))
	}
	starts := make([]int64, len(b.t.Jobs))
	for k, list := range b.points {
		most := math.Inf(-1)
		for i, at := range list {
			if v := x[b.first[k]+i]; v > most {
				most, starts[k] = v, at
			}
		}
	}
	return b.checked(starts)
}
