package reservation

import (
	"context"
	"errors"
	"math"
	"slices"

	resbounds "github.com/gapwise/gapwise/bounds/reservation"
	resheur "github.com/gapwise/gapwise/heuristics/reservation"
	"github.com/gapwise/gapwise/model"
)

// errConflictNotMinimal says that a conflict may be smaller.
var errConflictNotMinimal = errors.New("the conflict may not be minimal, its search was stopped")

// reservationConflict is a minimal set of requests, in the order of the instance, that can't
// all be accepted though without any one of them the others can. The instance must be known not to
// allow all of its requests.
//
// It begins with the requests of a window that is too short for their
// PE-seconds, if there is one, or of a part of the instance that doesn't go, and halves what is left
// (Junker: QuickXplain, 2004), with the sweep as judge: about
// 2 k log2(n/k) questions for k requests of n.
//
// That it is a conflict needs but one proof: explain returns a part of jobs such that others and the part are impossible, given that others
// and all jobs are; it drops the rest only when told that they are impossible without. It is
// minimal if each "possible" is true: the halves are explained one beside the other, so the last job kept of each was kept since what is
// kept beside it, less that job, was possible. A question without an answer counts as possible, keeps more, and is told. If ctx or the time limit ends, or a question takes too
// many nodes, the set is a conflict still, and errConflictNotMinimal is
// returned beside it.
func reservationConflict(ctx context.Context, in *model.Reservation, set model.Settings) ([]string, error) {
	t := resbounds.NewTicks(in)
	jobs, units := sweepJobs(t)
	x := &conflict{ctx: ctx, t: t, units: units, seed: set.Seed}
	first := overloaded(jobs, units.pes)
	if first == nil {
		parts := sweepParts(jobs)
		slices.SortStableFunc(parts, func(a, b []sweepJob) int { return len(a) - len(b) })
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
	ids := make([]string, 0, len(found))
	slices.SortFunc(found, func(a, b sweepJob) int { return int(a.id - b.id) })
	for i := range found {
		ids = append(ids, in.Requests[t.Jobs[found[i].id].Request].ID)
	}
	if x.unsure {
		return ids, errConflictNotMinimal
	}
	return ids, nil
}

// overloaded is the jobs of the window with the fewest jobs of those that are too
// short for the jobs within; nil if there is none. Of more than 2,000 jobs only windows that
// begin with an evenly spread 2,000 of the ready times are looked at. O(2000 n log n).
func overloaded(jobs []sweepJob, pes int64) []sweepJob {
	byDue := slices.Clone(jobs)
	slices.SortFunc(byDue, func(a, b sweepJob) int { return int(min(1, max(-1, a.due()-b.due()))) })
	var best []sweepJob
	step := max(1, len(jobs)/2000)
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
				best = make([]sweepJob, 0, count)
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

// conflict is the state of a search for one.
type conflict struct {
	ctx    context.Context
	t      *resbounds.Ticks
	units  sweepUnits
	seed   uint64
	unsure bool // a question had no answer
}

// explain is a minimal part of jobs that is impossible together with others,
// which are known to be impossible with all jobs. changed tells that the others are not
// those of the last question.
func (x *conflict) explain(others []sweepJob, changed bool, jobs []sweepJob) []sweepJob {
	if changed && x.impossible(others) {
		return nil
	}
	if len(jobs) <= 1 {
		return slices.Clone(jobs)
	}
	half := len(jobs) / 2
	with := func(more []sweepJob) []sweepJob { return append(slices.Clip(slices.Clone(others)), more...) }
	right := x.explain(with(jobs[:half]), half > 0, jobs[half:])
	left := x.explain(with(right), len(right) > 0, jobs[:half])
	return append(left, right...)
}

// conflictNodes is how many nodes a question may take.
const conflictNodes = 200_000

// impossible reports whether jobs can't all be accepted. False may mean that it
// isn't known; unsure is set then.
func (x *conflict) impossible(jobs []sweepJob) bool {
	sorted := slices.Clone(jobs)
	slices.SortFunc(sorted, func(a, b sweepJob) int {
		if a.ready != b.ready {
			return int(min(1, max(-1, a.ready-b.ready)))
		}
		return int(a.id - b.id)
	})
	for i := range sorted {
		sorted[i].weight = 1
	}
	s := &reservationSearch{ctx: x.ctx, in: &model.Reservation{Goal: model.GoalAll}, units: sweepUnits{pes: x.units.pes, weight: 1, grain: 1},
		starts: make([]int64, len(x.t.Jobs)), other: math.Inf(1), total: float64(len(sorted))}
	for _, part := range sweepParts(sorted) {
		p := &sweepPart{jobs: part, total: float64(len(part)), upper: float64(len(part))}
		if x.fit(part) {
			continue
		}
		s.parts = []*sweepPart{p}
		if s.root(p) == nil && p.upper >= p.total {
			s.attempt(p, conflictNodes, false)
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

// fit looks for a plan of all jobs fast.
func (x *conflict) fit(jobs []sweepJob) bool {
	t := &resbounds.Ticks{Decimals: x.t.Decimals, PEs: x.t.PEs, Goal: model.GoalAll}
	for i := range jobs {
		t.Jobs = append(t.Jobs, x.t.Jobs[jobs[i].id])
		t.Jobs[i].Weight = 1
	}
	o := resheur.NewOffline(t, x.seed)
	o.Construct(x.ctx, nil)
	o.Improve(x.ctx, 500, float64(len(jobs)))
	return o.Value() >= float64(len(jobs))
}
