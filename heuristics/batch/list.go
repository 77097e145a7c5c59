// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"math"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/model"
)

// bestList is the best of twelve list schedules (Graham 1969) that know how long jobs run.
// It is offline, and no policy.
//
// Whenever jobs arrive or end, the waiting jobs are looked at in the order of runtime times widthᵃ over weight, and
// each starts if it fits. If the first of them doesn't fit, and has waited for f times its runtime or longer, the jobs
// behind it respect a reservation as in EASY. There a is 0, 1/2 or 1, and f is 0, 4, 16 or infinite. Wide jobs wait
// without reservations until the machine happens to be empty; with them for all jobs many processors stay idle. None of
// the twelve is best everywhere.
//
// O(n log n), and O(waiting jobs) a pass at worst, for each of the twelve.
func bestList(r *run.Run, in *model.Batch) (*model.Execution, error) {
	return offlineList(r, in, listRules)
}

// listRules are the rules of bestList, starting with the one that is best most often.
var listRules = func() (all []listRule) {
	for _, patience := range []float64{16, math.Inf(1), 4, 0} {
		for _, halves := range []int{0, 1, 2} {
			all = append(all, listRule{halves, patience})
		}
	}
	return all
}()

// listRule is an order of jobs, by runtime times width^(halves/2) over weight. It also says after how many times its
// runtime the first one that doesn't fit gets a reservation.
type listRule struct {
	halves   int
	patience float64
}

// key returns the value by which jobs are ordered.
func (r listRule) key(j *view.BatchJob, length int64) float64 {
	x := float64(length) / float64(j.Weight)
	switch r.halves {
	case 1:
		x *= math.Sqrt(float64(j.Processes))
	case 2:
		x *= float64(j.Processes)
	case -1:
		x /= math.Sqrt(float64(j.Processes))
	}
	return x
}

// offlineList returns the best of the schedules of some rules, or of those that are finished when the run ends. It
// reports each schedule that is better.
func offlineList(r *run.Run, in *model.Batch, rules []listRule) (*model.Execution, error) {
	ctx, set := r.Ctx, r.Set
	if err := estimatesAlone(set); err != nil {
		return nil, err
	}
	t := view.Shared(ctx, in, view.OfBatch)
	lengths, _, err := processors.Lengths(t)
	if err != nil {
		return nil, err
	}
	var best *processors.Course
	var told *model.Execution // best, if that was told
	for k, rule := range rules {
		if best != nil && ctx.Err() != nil {
			break
		}
		p := newPolicy(func(m *machine) scheduler { return newList(m, t, lengths, rule) }, len(t.Jobs))
		if t.Nodes != nil {
			p.nodes = t
		}
		c, e := online.BatchCourse(ctx, t, p, online.BatchOptions{Order: parametersOf(set).Order, Complete: true})
		switch {
		case e != nil:
			err = e
		case best == nil || responses(t, c.Starts, lengths) < responses(t, best.Starts, lengths):
			best, told = c, nil
		}
		if best == nil || told != nil || set.Progress == nil || k == len(rules)-1 {
			continue
		}
		if told, err = best.Execution(in, t, lengths); err != nil {
			return nil, err
		}
		o, err := in.Objective(told)
		if err != nil {
			return nil, err
		}
		r.Tell(o.Value, math.NaN(), func() model.Solution { return told })
	}
	if best == nil {
		return nil, err
	}
	if told != nil {
		return told, nil
	}
	return best.Execution(in, t, lengths)
}

// responses returns the weighted sum of the responses in ticks, about.
func responses(t *view.Batch, starts, lengths []int64) float64 {
	sum := 0.0
	for k, s := range starts {
		j := &t.Jobs[k]
		sum += float64(float64(j.Weight) * float64(s-j.Submit+lengths[k])) // rounded, not fused
	}
	return sum
}

// listScheduler is a list scheduler that knows how long jobs run.
type listScheduler struct {
	*machine
	rule         listRule
	lengths      []int64
	queue        *waiting // by position
	at, position []int32  // job at each position, position of each job
	ends         *estimatedEnds
}

func newList(m *machine, t *view.Batch, lengths []int64, r listRule) scheduler {
	n := len(lengths)
	keys := make([]float64, n)
	for k := range keys {
		keys[k] = r.key(&t.Jobs[k], lengths[k])
	}
	order := func(a, b int32) int { return cmp.Compare(keys[a], keys[b]) }
	if m.nodes != nil {
		p := newOnNodes(m, order, true, nil)
		p.length = func(k int32) int64 { return lengths[k] }
		p.reserves = func(head int32) bool { return r.patient(m, head, lengths) }
		return p
	}
	l := &listScheduler{machine: m, rule: r, lengths: lengths, queue: newWaiting(n), ends: newEstimatedEnds()}
	l.at, l.position = ranked(n, order)
	return l
}

// patient reports whether the head has waited for long enough to get a reservation.
func (r listRule) patient(m *machine, head int32, lengths []int64) bool {
	return float64(m.now-m.jobs[head].submit) >= r.patience*float64(lengths[head])
}

func (l *listScheduler) arrive(k int32) { l.queue.add(l.position[k], l.jobs[k].width, l.lengths[k]) }

func (l *listScheduler) end(k int32) { l.ends.remove(k, l.starts[k]+l.lengths[k], l.jobs[k].width) }

// pass looks at each job once: free and extra processors only become fewer.
func (l *listScheduler) pass() {
	n := int32(len(l.at))
	first := l.first()
	for ; first >= 0 && l.jobs[l.at[first]].width <= l.free; first = l.first() {
		l.begin(first)
	}
	if first < 0 {
		return
	}
	head := l.at[first]
	slack, extra := int64(never), l.free
	if l.rule.patient(l.machine, head, l.lengths) {
		width := l.jobs[head].width
		shadow := max(l.now, l.ends.reach(width-l.free))
		slack, extra = shadow-l.now, l.free+l.ends.until(shadow)-width
	}
	for p := l.queue.next(first, n, l.free, extra, slack); p >= 0; p = l.queue.next(p, n, l.free, extra, slack) {
		if k := l.at[p]; l.lengths[k] > slack {
			extra -= l.jobs[k].width
		}
		l.begin(p)
	}
}

// first returns the first position of a job that waits; -1: there is none.
func (l *listScheduler) first() int32 {
	return l.queue.next(0, int32(len(l.at)), l.processors, l.processors, 0)
}

// begin starts the job at a position.
func (l *listScheduler) begin(p int32) {
	k := l.at[p]
	l.queue.remove(p)
	l.start(k)
	l.ends.add(k, l.now+l.lengths[k], l.jobs[k].width)
}
