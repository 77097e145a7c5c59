// SPDX-License-Identifier: MIT

package reservation

import (
	"cmp"
	"context"
	"slices"

	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/core/ticks"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/problem/reservation/bookings"
	"github.com/gapwise/gapwise/model"
)

// addConflict adds the requests in conflict to a result that says infeasible.
func addConflict(ctx context.Context, in *model.Reservation, seed uint64, r *model.Result) {
	ids, minimal := minimalConflict(ctx, in, seed)
	if r.Details = model.NewReservationDetails(ids); !minimal {
		r.Reason += "; the conflict may not be minimal, its search was stopped"
	}
}

const (
	// conflictTurn is the limit on the kernel's conflicts for a question, and conflictSteps are the steps of local search
	// before it: together about a second for some 100 jobs.
	conflictTurn  = 2_000
	conflictSteps = 500
	// maxWindowStarts is the number of ready times that overloaded looks at, evenly spread.
	maxWindowStarts = 2000
)

// minimalConflict returns the ids of a minimal set of requests, in the order of the instance, that can't all be
// accepted; without any one of them, the others can. The instance must be known not to allow all of its requests.
//
// It begins with the requests of a window that is too short for their PE-seconds, if there is one, or of an independent
// part proved infeasible. It halves the rest (QuickXplain, Junker 2004), with the kernel as judge: about 2 k log2(n/k)
// questions for k requests of n.
//
// A single proof shows that the set is a conflict. explain returns a subset of jobs such that others and the subset are
// impossible, given that others and all jobs are. The rest is dropped only after an answer that they are impossible
// without it. The set is minimal if each "possible" is true. The halves are explained one beside the other, so the last
// job kept of each was kept because the jobs kept beside it, less that job, were possible. A question without an answer
// counts as possible, and keeps more. If ctx ends, or a question takes too many nodes, the set is still a conflict, but
// minimal is false.
func minimalConflict(ctx context.Context, in *model.Reservation, seed uint64) (ids []string, minimal bool) {
	t := view.Shared(ctx, in, view.OfReservation)
	jobs, u := newJobs(t)
	x := &conflict{ctx: ctx, t: t, pes: u.pes, seed: seed}
	first := overloaded(jobs, u.pes)
	if first == nil {
		parts := split(jobs)
		order.Stable(parts, func(a, b []job) int { return len(a) - len(b) })
		first = jobs
		for _, part := range parts {
			if len(parts) > 1 && x.impossible(part) {
				first = part
				break
			}
		}
		x.unsure = false
	}
	found := x.explain(nil, false, first)
	slices.SortFunc(found, func(a, b job) int { return cmp.Compare(a.id, b.id) })
	for i := range found {
		ids = append(ids, in.Requests[t.Jobs[found[i].id].Request].ID)
	}
	return ids, !x.unsure
}

// overloaded returns the jobs of a window that is too short for the jobs within, the window with the fewest jobs; nil
// if there is none. O(n log n + maxWindowStarts·n).
func overloaded(jobs []job, pes int) []job {
	byDue := slices.Clone(jobs)
	slices.SortFunc(byDue, func(a, b job) int { return cmp.Compare(a.due(), b.due()) })
	var best []job
	step := max(1, len(jobs)/maxWindowStarts)
	for i := 0; i < len(jobs); i += step {
		from := jobs[i].ready
		area, count := 0.0, 0
		for k := range byDue {
			j := &byDue[k]
			if j.ready < from {
				continue
			}
			area += float64(j.pes) * float64(j.length)
			if count++; best != nil && count >= len(best) {
				break
			}
			if area > float64(pes)*float64(j.due()-from)*(1+1e-12+float64(count)*0x1p-52) { // more than the sum is rounded by
				best = make([]job, 0, count)
				for _, q := range byDue[:k+1] {
					if q.ready >= from {
						best = append(best, q)
					}
				}
				break
			}
		}
	}
	return best
}

// conflict is the state of a search for a conflict.
type conflict struct {
	ctx    context.Context
	t      *view.Reservation
	pes    int // in the jobs' unit
	seed   uint64
	unsure bool // a question had no answer
}

// explain returns a minimal subset of jobs that is impossible together with others, which are known to be impossible
// with all jobs. changed reports that others differ from the last question's.
func (x *conflict) explain(others []job, changed bool, jobs []job) []job {
	if changed && x.impossible(others) {
		return nil
	}
	if len(jobs) <= 1 {
		return slices.Clone(jobs)
	}
	half := len(jobs) / 2
	with := func(more []job) []job { return append(slices.Clip(slices.Clone(others)), more...) }
	right := x.explain(with(jobs[:half]), half > 0, jobs[half:])
	left := x.explain(with(right), len(right) > 0, jobs[:half])
	return append(left, right...)
}

// impossible reports whether jobs can't all be accepted. False may mean that the answer isn't known; unsure is set
// then.
func (x *conflict) impossible(jobs []job) bool {
	sorted := slices.Clone(jobs)
	for i := range sorted {
		sorted[i].weight = 1
	}
	slices.SortFunc(sorted, func(a, b job) int { return cmp.Or(cmp.Compare(a.ready, b.ready), cmp.Compare(a.id, b.id)) })
	s := &searcher{Run: &engine.Run{Ctx: x.ctx}, in: &model.Reservation{Goal: model.GoalAll}, t: x.t,
		scale: scale{pes: x.pes, weight: 1, grain: 1},
		total: float64(len(sorted)), starts: make([]int64, len(x.t.Jobs))}
	for _, group := range split(sorted) {
		if x.fit(group) {
			continue
		}
		p := newPart(group)
		s.parts = []*part{p}
		if s.bound(p); p.upper >= p.total && len(group) <= kernelJobs {
			s.learn(p, conflictTurn)
		}
		if p.upper < p.total {
			return true
		}
		if !p.closed() {
			x.unsure = true
		}
	}
	return false
}

// fit looks for a plan of all jobs by local search.
func (x *conflict) fit(jobs []job) bool {
	t := &view.Reservation{Times: ticks.Times{Decimals: x.t.Decimals}, PEs: x.t.PEs, Goal: model.GoalAll}
	for i := range jobs {
		t.Jobs = append(t.Jobs, x.t.Jobs[jobs[i].id])
		t.Jobs[i].Weight = 1
	}
	o := bookings.NewOffline(t, x.seed)
	o.Construct(x.ctx, nil)
	o.Improve(x.ctx, conflictSteps, float64(len(jobs)))
	return o.Value() >= float64(len(jobs))
}
