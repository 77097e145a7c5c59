// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/num/profile"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// parts bounds the weighted sum of responses of many jobs by disjoint parts of them. A tree solves each part by itself.
//
// In any schedule, the runs of a part's jobs are a schedule of the part: they hold no more processors without the other
// jobs. So the sum over all jobs is at least the sum of the least sums of the parts. A job in no part costs its length
// at least. Parts that don't know of each other are due to Standley: Finding optimal solutions to cooperative
// pathfinding problems, AAAI 2010.
//
// A part begins with a job that waits in the best schedule known, and with jobs that it waits for. It grows by jobs
// that would wait beside its own best schedule, for those raise its least sum. When none would, parts whose schedules
// don't fit the machine together become one. Each round gives each tree partGrowth times the effort of the round before,
// so that the bound rises with the effort.
type parts struct {
	*run
	known []int64 // starts of the best schedule known, in ticks
	sum   int64   // that schedule's, in units
	taken []bool  // jobs that are in parts
	seeds []int   // jobs by their weighted waits in the schedule known at first, the longest first
	all   []*part
	tried map[[2]*part]int64 // the effort with which two were merged in vain
	least int64              // no schedule of all jobs has a smaller sum, in units
}

// part is some jobs with an optimal schedule of them alone.
type part struct {
	jobs   []int   // ascending
	starts []int64 // in ticks
	sum    int64   // in units
	whole  bool    // no other job would wait beside starts, or there is no room for more
	next   []late  // jobs to add next; nil: not known yet
	tried  int64   // the effort with which they were added in vain
}

// late is a job that waits for so long, by its weight, or that is waited for.
type late struct {
	job  int
	wait float64
}

// firstPartEffort is the effort of each tree in the first round, and partGrowth the factor from round to round. Without a
// limit of the run, there is no round after lastPartEffort.
const (
	firstPartEffort = 1 << 17
	lastPartEffort  = 1 << 19
	partGrowth      = 4
)

// mostBlockers is the number of jobs that a part begins with, beside the one that waits for them. A part of n jobs grows
// by n/partStep of them.
const (
	mostBlockers = 8
	partStep     = 4
)

// parts raises the bound by parts from a schedule of all jobs, until the run ends or no part can grow. Jobs
// that start as in a part's schedule, and the others as before, may make a better schedule of all.
func (s *run) parts(best *model.Execution) error {
	n := len(s.release)
	search, err := s.localSearch(s.Ctx, best, s.Set.Seed)
	if err != nil {
		return err
	}
	p := &parts{run: s, tried: map[[2]*part]int64{}, known: search.Starts(), taken: make([]bool, n), seeds: order.Of[int](n)}
	p.sum = s.sum(s.Objective)
	first := slices.Clone(p.known)
	order.Stable(p.seeds, func(a, b int) int { return cmp.Compare(p.wait(b, first[b]), p.wait(a, first[a])) })
	for k := range n {
		p.least += s.weight[k] * s.length[k]
	}
	s.bound(s.mean(p.least))
	for effort := int64(firstPartEffort); ; effort *= partGrowth {
		open := false
		for merged := true; merged; {
			for i := 0; i < len(p.all) || p.begin(); i++ {
				if err := p.growAll(p.all[i], effort); err != nil || s.Ctx.Err() != nil || s.Closed() {
					return err
				}
				open = open || !p.all[i].whole
			}
			var left bool
			if merged, left, err = p.merge(effort); err != nil || s.Ctx.Err() != nil {
				return err
			}
			open = open || left
		}
		at := make([]int64, n) // of an optimum, if the parts' schedules and all other jobs fit the machine together
		for k := range at {
			at[k] = s.t.Jobs[k].Submit
		}
		for _, x := range p.all {
			x.with(at)
		}
		last := effort >= lastPartEffort && !s.Limited() && !meter.Counted(s.Ctx)
		if err := p.complete(at); err != nil || !open || last || s.Closed() {
			return err
		}
	}
}

// growAll lets a part grow as long as trees solve it with so much effort.
func (p *parts) growAll(x *part, effort int64) error {
	for x.tried < effort && !x.whole {
		grown, err := p.grow(x, effort)
		if err != nil || p.Ctx.Err() != nil {
			return err
		}
		if !grown {
			x.tried = effort
		}
		if p.bound(p.mean(p.least)); p.Closed() {
			return nil
		}
		p.report(nil)
	}
	if len(x.jobs) == 1 {
		return nil
	}
	return p.complete(x.with(slices.Clone(p.known)))
}

// merge makes one part of the first two whose schedules don't fit the machine together, or which run when all parts take
// most of it, and that a tree solves as one with so much effort. It reports whether there are two, and whether such
// parts are left that take more effort.
func (p *parts) merge(effort int64) (merged, left bool, err error) {
	at, full := p.peak(p.all...)
	for yi, y := range p.all {
		for _, x := range p.all[:yi] {
			if len(x.jobs)+len(y.jobs) > mostJobs {
				continue
			}
			if _, clash := p.peak(x, y); !clash && !(full && p.runs(x, at) && p.runs(y, at)) {
				continue
			}
			if left = true; p.tried[[2]*part{x, y}] >= effort {
				continue
			}
			p.tried[[2]*part{x, y}] = effort
			jobs := slices.Concat(x.jobs, y.jobs)
			slices.Sort(jobs)
			starts, sum, err := p.solve(jobs, effort)
			if err != nil || p.Ctx.Err() != nil {
				return false, left, err
			}
			if starts != nil {
				p.least += sum - x.sum - y.sum
				p.all[slices.Index(p.all, x)] = &part{jobs: jobs, starts: starts, sum: sum}
				p.all = slices.Delete(p.all, yi, yi+1)
				return true, left, nil
			}
		}
	}
	return false, left, nil
}

// peak returns when the schedules of some parts take most processors, and whether these are more than there are.
func (p *parts) peak(all ...*part) (at int64, full bool) {
	used, end := profile.Profile{Capacity: p.t.Processors}, int64(0)
	for _, x := range all {
		end = max(end, p.occupy(&used, x))
	}
	at, most := used.Peak(p.t.Jobs[0].Submit, end)
	return at, most > p.t.Processors
}

// runs reports whether a job of a part runs at a time.
func (p *parts) runs(x *part, at int64) bool {
	for i, k := range x.jobs {
		if x.starts[i] <= at && at < x.starts[i]+p.t.Jobs[k].Length {
			return true
		}
	}
	return false
}

// occupy adds the schedule of a part to a profile, and returns its end.
func (p *parts) occupy(used *profile.Profile, x *part) (end int64) {
	for i, k := range x.jobs {
		j := &p.t.Jobs[k]
		used.Add(x.starts[i], x.starts[i]+j.Length, j.Processes)
		end = max(end, x.starts[i]+j.Length)
	}
	return end
}

// wait returns how long a job waits for a start, by its weight.
func (p *parts) wait(k int, start int64) float64 {
	return float64(p.weight[k]) * float64(start-p.t.Jobs[k].Submit)
}

// begin adds a part of the longest waiting job that is in none; false if no job waits. O(jobs)
func (p *parts) begin() bool {
	for ; len(p.seeds) > 0; p.seeds = p.seeds[1:] {
		k := p.seeds[0]
		from, to := p.t.Jobs[k].Submit, p.known[k]
		if p.taken[k] {
			continue
		}
		if to <= from || meter.Stop(p.Ctx, int64(len(p.known)/100)) {
			return false
		}
		p.taken[k] = true
		p.all = append(p.all, &part{jobs: []int{k}, starts: []int64{from}, sum: p.weight[k] * p.length[k],
			next: p.blockers(from, to, order.Of[int](len(p.known)), func(i int) int64 { return p.known[i] })})
		return true
	}
	return false
}

// blockers returns those of some jobs that are in no part and hold most of the processors between two times. The i-th
// of them starts at starts(i).
func (p *parts) blockers(from, to int64, jobs []int, starts func(i int) int64) (all []late) {
	for i, k := range jobs {
		x, start := &p.t.Jobs[k], starts(i)
		if held := min(to, start+x.Length) - max(from, start); held > 0 && !p.taken[k] {
			all = append(all, late{k, float64(held) * float64(x.Processes)})
		}
	}
	order.Stable(all, func(a, b late) int { return cmp.Compare(b.wait, a.wait) })
	return all[:min(len(all), mostBlockers)]
}

// grow adds jobs to a part and reports whether a tree has solved it with so much effort.
func (p *parts) grow(x *part, effort int64) (bool, error) {
	x.next = slices.DeleteFunc(x.next, func(l late) bool { return p.taken[l.job] })
	if len(x.next) == 0 && !x.whole {
		x.next = p.wider(x)
	}
	if x.whole = len(x.next) == 0; x.whole {
		return false, nil
	}
	jobs, apart := slices.Clone(x.jobs), x.sum
	for _, l := range x.next {
		jobs = append(jobs, l.job)
		apart += p.weight[l.job] * p.length[l.job]
	}
	slices.Sort(jobs)
	starts, sum, err := p.solve(jobs, effort)
	if starts == nil || err != nil {
		return false, err
	}
	for _, k := range jobs {
		p.taken[k] = true
	}
	p.least += sum - apart
	x.jobs, x.starts, x.sum, x.next = jobs, starts, sum, nil
	return true, nil
}

// wider returns jobs that would wait beside a part's schedule, each by itself, the longest waits first. If none would,
// it returns the one that waits longest if all are added as they are submitted, and the jobs that it waits for.
// O(n log n)
func (p *parts) wider(x *part) (all []late) {
	room := mostJobs - len(x.jobs)
	used := profile.Profile{Capacity: p.t.Processors}
	end := p.occupy(&used, x)
	var free []int
	for k := range p.t.Jobs {
		j := &p.t.Jobs[k]
		if j.Submit >= end {
			break
		}
		if p.taken[k] || j.Submit+j.Length <= p.t.Jobs[x.jobs[0]].Submit {
			continue
		}
		free = append(free, k)
		if at, _ := used.First(j.Processes, j.Length, j.Submit, 1<<62); at > j.Submit {
			all = append(all, late{k, p.wait(k, at)})
		}
	}
	if meter.Stop(p.Ctx, int64(len(free)/2+len(p.known)/100)) {
		return nil
	}
	if len(all) > 0 {
		order.Stable(all, func(a, b late) int { return cmp.Compare(b.wait, a.wait) })
		return all[:min(len(all), room, max(1, len(x.jobs)/partStep))]
	}
	starts := make([]int64, len(free))
	last, most := 0, late{}
	for i, k := range free {
		j := &p.t.Jobs[k]
		starts[i], _ = used.First(j.Processes, j.Length, j.Submit, 1<<62)
		used.Add(starts[i], starts[i]+j.Length, j.Processes)
		if wait := p.wait(k, starts[i]); wait > most.wait {
			last, most = i, late{k, wait}
		}
	}
	if most.wait == 0 || room == 0 {
		return nil
	}
	for _, l := range p.blockers(p.t.Jobs[most.job].Submit, starts[last], free, func(i int) int64 { return starts[i] }) {
		if l.job != most.job {
			all = append(all, l)
		}
	}
	return append([]late{most}, all[:min(len(all), room-1)]...)
}

// solve returns starts of some jobs alone, in ticks, that have the least sum, and this sum in units of the whole. There
// are none unless a tree proves that with so much effort.
func (p *parts) solve(jobs []int, effort int64) (starts []int64, sum int64, err error) {
	sub := *p.in
	sub.Jobs = make([]model.BatchJob, len(jobs))
	at := make([]int64, len(jobs))
	for i, k := range jobs {
		sub.Jobs[i], at[i] = p.in.Jobs[k], p.known[k]
	}
	j, err := newJobs(p.Ctx, &sub)
	if err != nil {
		return nil, 0, err
	}
	l := j.searchFrom(p.Ctx, at, p.Set.Seed)
	l.Improve(p.Ctx, 20*int64(len(jobs))*int64(len(jobs)))
	starts, sum = j.serial(order.By(order.Of[int](len(jobs)), l.Starts()))
	t := newTree(p.Ctx, j, p.off)
	t.slack, t.report, t.most = func(int64) int64 { return 0 }, func() {}, effort
	t.know(sum, starts)
	t.search()
	if p.Nodes += t.nodes; t.lower() < t.best {
		return nil, 0, nil
	}
	return j.ticks(t.starts), t.best * (j.units.Time / p.units.Time) * (j.units.Weight / p.units.Weight), nil
}

// complete starts jobs in the order of some starts, each as early as it fits. If that is better than the best schedule
// known, it is the best known from now on.
func (p *parts) complete(at []int64) error {
	if len(at) > mostCompleted || meter.Stop(p.Ctx, int64(len(at))) {
		return nil
	}
	starts, sum := p.serial(order.By(order.Of[int](len(at)), at))
	if sum >= p.sum {
		return nil
	}
	p.known, p.sum = p.ticks(starts), sum
	e, err := processors.Place(p.in, p.t, p.known)
	if err == nil {
		_, err = p.Improve(e)
	}
	p.bound(p.mean(p.least))
	return err
}

// with sets the starts of a part's jobs.
func (x *part) with(at []int64) []int64 {
	for i, k := range x.jobs {
		at[k] = x.starts[i]
	}
	return at
}

// mostCompleted is the number of jobs up to which schedules of all are made of parts.
const mostCompleted = 10_000
