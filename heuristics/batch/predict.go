// SPDX-License-Identifier: MIT

package batch

import (
	"fmt"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/model"
)

// lastTwo predicts runtimes, and corrects predictions, as model.BatchPredictionLastTwo says.
type lastTwo struct {
	of        map[string]*runtimes
	estimates []int64               // the users', of each job
	steps     []int8                // corrections of each job's prediction
	ends      heap.Heap[completion] // predicted, of jobs that have started; some have ended
}

// runtimes are the runtimes of a user's last jobs that have ended.
type runtimes struct {
	last, before int64
	n            int
}

// reviser is a scheduler that accepts another estimate of a running job; old is its estimated end until now.
type reviser interface {
	revise(k int32, old int64)
}

// corrections are by how many ticks a prediction that is exceeded is extended, one time after
// the other.
var corrections = func() (all []int64) {
	for _, minutes := range []int64{1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000} {
		all = append(all, minutes*60*1e6)
	}
	return all
}()

func newLastTwo() *lastTwo {
	return &lastTwo{of: map[string]*runtimes{}, ends: heap.Heap[completion]{Less: completion.before}}
}

// submitted returns the prediction for a job, in ticks.
func (l *lastTwo) submitted(j *online.BatchJob) int64 {
	l.estimates, l.steps = append(l.estimates, j.Estimate), append(l.steps, 0)
	if j.Log == nil || l.of[j.Log.User] == nil || l.of[j.Log.User].n < 2 {
		return j.Estimate
	}
	r := l.of[j.Log.User]
	return min(j.Estimate, (r.last+r.before)/2)
}

// ended learns how long a job has run.
func (l *lastTwo) ended(j *online.BatchJob, ran int64) {
	l.steps[j.Number] = -1
	if j.Log == nil || j.Log.User == "" {
		return
	}
	r := l.of[j.Log.User]
	if r == nil {
		r = &runtimes{}
		l.of[j.Log.User] = r
	}
	r.last, r.before = ran, r.last
	r.n++
}

// started notes the predicted ends of the jobs that start now.
func (l *lastTwo) started(p *policy) {
	for _, d := range p.decisions {
		if d.Type == online.Start {
			l.ends.Push(completion{p.estimatedEnd(d.Job), d.Job})
		}
	}
}

// correct extends the predictions that running jobs have reached, up to the users' estimates.
func (l *lastTwo) correct(p *policy) {
	by, ok := p.by.(reviser)
	for ok && l.ends.Len() > 0 && l.ends.Items[0].at <= p.now {
		x := l.ends.Pop()
		k := x.job
		if l.steps[k] < 0 || int(l.steps[k]) == len(corrections) || p.jobs[k].estimate >= l.estimates[k] {
			continue // it has ended, or it overruns its user's estimate
		}
		p.jobs[k].estimate = min(l.estimates[k], p.jobs[k].estimate+corrections[l.steps[k]])
		l.steps[k]++
		by.revise(k, x.at)
		l.ends.Push(completion{p.estimatedEnd(k), k})
	}
}

// estimatesAlone reports, for a heuristic that predicts nothing and uses only the number of free processors, that a
// prediction or another placement is asked for.
func estimatesAlone(set model.Settings) error {
	if x := parametersOf(set).Prediction; x != "" && x != model.BatchPredictionNone {
		return fmt.Errorf("%w prediction %q: only fcfs, sjf, easy, easy-sjbf, easy-saf and conservative go by others than the users' estimates", model.ErrUnsupported, x)
	}
	return lowestAlone(set)
}
