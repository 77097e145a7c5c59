// SPDX-License-Identifier: MIT

package plain

import (
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// batchSearch starts the jobs of an instance on one tier one after the other, in
// the order of their starts.
//
// A job may be taken to run in one segment: it can't be suspended, and work lost or time spent on migrations makes it
// end later. So an execution is a start s_k for each job, with no more processes than processors at any time. The
// search tries the orders of the jobs. Each job starts at the first time at which it fits, but not before its
// submission and not before the job started last.
//
// Some order gives an optimum: take the jobs of one by their starts, ties by index.
// By induction each starts by s_k in the search. For s_k is no earlier than the
// submission and than the job started last, and the jobs started before that run at
// s_k run then in the optimum, too, where they end no earlier. The use after the last start only shrinks, so a job that
// fits at its start has room to its end. As the total can't be less than the optimum's, all starts are the optimum's;
// so the search may skip a job that starts together with the one before it and has a smaller index.
type batchSearch struct {
	*counter
	in             *model.Batch
	submit, length []int64 // microseconds
	width          []int64
	weight         []int64
	starts         []int64 // of the jobs in order
	order          []int
	started        []bool
	byArea         []int // jobs by length times width
	byWeight       []int // descending
	beat           int64 // the weighted total response time to be below
	best           []int64
}

// batchFits reports whether weighted ends and submissions add up to less than 2^62
// microseconds: all jobs one after the other from the last submission on end by it.
func batchFits(in *model.Batch) bool {
	weights, last, length := 0.0, 0.0, 0.0
	for k := range in.Jobs {
		weights += float64(max(1, in.Jobs[k].Weight))
		last = max(last, in.Jobs[k].SubmitS)
		length += in.Jobs[k].RuntimeS
	}
	return weights*(last+length)*1e6 < 1<<62
}

func solveBatch(in *model.Batch, beat float64, c *counter) (*model.Execution, error) {
	n := len(in.Jobs)
	switch {
	case in.Tiers != 1:
		return nil, fmt.Errorf("%w: the plain engine knows one tier only, not %d", model.ErrUnsupported, in.Tiers)
	case in.Nodes != nil:
		return nil, fmt.Errorf("%w: the plain engine knows processors, no nodes", model.ErrUnsupported)
	case n > 1000: // sums of more response times don't fit in an int64
		return nil, fmt.Errorf("%w: the plain engine takes 1000 jobs at most, not %d", model.ErrUnsupported, n)
	case !batchFits(in):
		return nil, fmt.Errorf("%w: the plain engine adds up weighted responses below 2^62 microseconds only", model.ErrUnsupported)
	}
	s := &batchSearch{counter: c, in: in, submit: make([]int64, n), length: make([]int64, n), width: make([]int64, n), weight: make([]int64, n), starts: make([]int64, n), started: make([]bool, n), beat: math.MaxInt64}
	weights := int64(0)
	for k := range in.Jobs {
		j := &in.Jobs[k]
		work := j.RuntimeS
		if in.KillAtEstimate && j.EstimateS != 0 {
			work = min(work, j.EstimateS)
		}
		s.submit[k], s.length[k], s.width[k] = int64(math.Round(j.SubmitS*1e6)), int64(math.Round(work*1e6)), int64(j.Processes)
		s.weight[k] = int64(max(1, j.Weight))
		weights += s.weight[k]
	}
	s.byArea = ascending(n, func(k int) float64 { return float64(s.length[k]) * float64(s.width[k]) })
	s.byWeight = ascending(n, func(k int) float64 { return -float64(s.weight[k]) })
	if !math.IsNaN(beat) {
		// A total, divided by the weights, is read back as the same whole number.
		total := beat * 1e6 * float64(weights)
		if s.beat = int64(math.Ceil(total)); math.Abs(total-math.Round(total)) <= 1e-12*total {
			s.beat = int64(math.Round(total))
		}
	}
	s.next(0, 0)
	if s.best == nil {
		return nil, nil
	}
	return s.execution(), nil
}

// next starts another job after the jobs in order, not before now. total is their weighted response time.
func (s *batchSearch) next(now, total int64) {
	if s.stop() {
		return
	}
	if len(s.order) == len(s.submit) {
		if total < s.beat {
			s.beat, s.best = total, slices.Clone(s.starts)
		}
		return
	}
	if total+s.rest(now) >= s.beat {
		return
	}
	for k := range s.submit {
		if s.started[k] {
			continue
		}
		at := s.earliest(k, now)
		if n := len(s.order); n > 0 && at == s.starts[s.order[n-1]] && k < s.order[n-1] {
			continue
		}
		s.starts[k], s.started[k], s.order = at, true, append(s.order, k)
		s.next(at, total+s.weight[k]*(at+s.length[k]-s.submit[k]))
		s.started[k], s.order = false, s.order[:len(s.order)-1]
		if s.cut {
			return
		}
	}
}

// earliest returns the first time from now on, and from the submission of job k on,
// at which it fits. No job has started after now.
func (s *batchSearch) earliest(k int, now int64) int64 {
	first := max(now, s.submit[k])
	times := []int64{first}
	for _, x := range s.order {
		times = append(times, max(first, s.starts[x]+s.length[x]))
	}
	slices.Sort(times)
	for _, at := range times[:len(times)-1] {
		free := int64(s.in.Processors)
		for _, x := range s.order {
			if s.starts[x]+s.length[x] > at {
				free -= s.width[x]
			}
		}
		if free >= s.width[k] {
			return at
		}
	}
	return times[len(times)-1] // all have ended
}

// rest returns a lower bound on the weighted response times of the jobs that haven't started; none of them starts
// before now. The i-th of r such jobs to end does so no earlier than the i-th smallest of max(now, submission) +
// length. By then i jobs have done all their work on P processors since now, at least the i smallest areas (length
// times width). Both hold for every i, so the larger of them does. The weighted sum of ends is least if the larger
// weight ends first: if the lighter of two does, to swap their weights makes the sum no larger.
func (s *batchSearch) rest(now int64) int64 {
	var ends []int64
	sum := int64(0)
	for k := range s.submit {
		if !s.started[k] {
			ends = append(ends, max(now, s.submit[k])+s.length[k])
			sum -= s.weight[k] * s.submit[k]
		}
	}
	slices.Sort(ends)
	var weights []int64
	for _, k := range s.byWeight {
		if !s.started[k] {
			weights = append(weights, s.weight[k])
		}
	}
	area, i := 0.0, 0
	for _, k := range s.byArea {
		if s.started[k] {
			continue
		}
		area += float64(s.length[k]) * float64(s.width[k])
		// 1e-12 of it is more than rounding adds.
		sum += weights[i] * max(ends[i], now+int64(area/float64(s.in.Processors)*(1-1e-12)))
		i++
	}
	return sum
}

// execution gives each job of best the first processors that are free.
func (s *batchSearch) execution() *model.Execution {
	free := make([]int64, s.in.Processors) // from when on
	e := &model.Execution{Runs: []model.Run[model.BatchPlace]{}}
	for _, k := range ascending(len(s.best), func(k int) float64 { return float64(s.best[k]) }) {
		at, end := s.best[k], s.best[k]+s.length[k]
		var list model.ProcessorList
		for p := range free {
			if free[p] <= at && len(list) < s.in.Jobs[k].Processes {
				list, free[p] = append(list, int32(p)), end
			}
		}
		e.Runs = append(e.Runs, model.Run[model.BatchPlace]{ID: s.in.Jobs[k].ID, Segments: []model.Segment[model.BatchPlace]{
			{StartS: float64(at) / 1e6, EndS: float64(end) / 1e6, Place: model.BatchPlace{Processors: list}}}})
	}
	return e
}
