// SPDX-License-Identifier: MIT

package batch_test

import (
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// plain simulates schedulers on one tier in the most direct way: no event queue, no incremental state, and all sums
// computed again whenever needed. It returns the start of each job in ticks.
type plain struct {
	jobs       []plainJob
	processors int
	pyss       bool
	name       string // of the algorithm
	now        int64
	arrived    int
	waiting    []int // by index
	running    []int
	begun      []int // in the order of pyss: jobs whose end hasn't been handled, by start
	start      []int64
	heads      map[int]int64 // first shadow time of each job that was the head

	// Conservative backfilling.
	reserved []int64       // of each job: its reservation, -1 before it has one
	first    []int64       // of each job: its first reservation
	extended map[int]int64 // estimated ends of jobs that have overrun their estimates
	early    bool          // a job has ended early since the last pass
	rounds   int           // most rounds of a compression
}

type plainJob struct {
	submit, length, estimate int64
	width                    int
}

func simulatePlain(in *model.Batch, name string, order model.BatchOrder) *plain {
	p := &plain{processors: in.Processors, pyss: order == model.BatchOrderPyss, name: name, heads: map[int]int64{}, extended: map[int]int64{}}
	ticks := func(s float64) int64 { return int64(math.Round(s * 1e6)) }
	for k := range in.Jobs {
		j := &in.Jobs[k]
		x := plainJob{ticks(j.SubmitS), ticks(j.RuntimeS), ticks(j.EstimateS), j.Processes}
		if x.estimate == 0 {
			x.estimate = x.length
		}
		if in.KillAtEstimate && x.estimate < x.length {
			x.length = x.estimate
		}
		if in.Tiers == 2 {
			rate := 10_000 - int64(math.Round(j.FgLoss*10_000))
			x.length = (x.length*10_000 + rate - 1) / rate
			x.estimate = (x.estimate*10_000 + rate - 1) / rate
		}
		p.jobs = append(p.jobs, x)
		p.start, p.reserved, p.first = append(p.start, -1), append(p.reserved, -1), append(p.first, -1)
	}
	step := p.step
	if p.pyss {
		step = p.stepPyss
	}
	for step() {
	}
	return p
}

func (p *plain) end(k int) int64 { return p.start[k] + p.jobs[k].length }

// estimatedEnd returns when a running job ends by the knowledge of now.
func (p *plain) estimatedEnd(k int) int64 { return max(p.now, p.start[k]+p.jobs[k].estimate) }

// step handles the events of the next instant, ends, submissions and a pass; false:
// there is none.
func (p *plain) step() bool {
	next := int64(math.MaxInt64)
	if p.arrived < len(p.jobs) {
		next = p.jobs[p.arrived].submit
	}
	for _, k := range p.running {
		next = min(next, p.end(k))
	}
	if p.name == "conservative" {
		for _, k := range p.waiting {
			next = min(next, p.reserved[k])
		}
		for _, k := range p.running {
			next = min(next, p.predicted(k))
		}
	}
	if next == math.MaxInt64 {
		return false
	}
	p.now = next
	for _, k := range slices.Clone(p.running) {
		if p.end(k) == p.now {
			p.leave(k)
		}
	}
	for ; p.arrived < len(p.jobs) && p.jobs[p.arrived].submit == p.now; p.arrived++ {
		p.waiting = append(p.waiting, p.arrived)
	}
	p.pass()
	return true
}

// stepPyss handles one event in the order of pyss: of one instant first submissions, by index, then ends, by start,
// each followed by a pass. Processors of a job that ends by now are free before its end is handled if its estimate is
// over, for pyss keeps them by the estimate. The scheduler's own wakes come last.
func (p *plain) stepPyss() bool {
	const submission, end, wake = 0, 1, 2
	next, kind, job := int64(math.MaxInt64), wake, -1
	at := func(t int64, what, k int) {
		if t < next || t == next && what < kind {
			next, kind, job = t, what, k
		}
	}
	if p.arrived < len(p.jobs) {
		at(p.jobs[p.arrived].submit, submission, p.arrived)
	}
	for _, k := range p.begun {
		at(p.end(k), end, k)
	}
	if p.name == "conservative" {
		for _, k := range p.waiting {
			at(p.reserved[k], wake, -1)
		}
		for _, k := range p.running {
			at(p.predicted(k), wake, -1)
		}
	}
	if next == math.MaxInt64 {
		return false
	}
	p.now = next
	for _, k := range slices.Clone(p.running) {
		if p.end(k) == p.now && p.start[k]+p.jobs[k].estimate <= p.now {
			p.leave(k)
		}
	}
	switch kind {
	case submission:
		p.waiting = append(p.waiting, job)
		p.arrived++
	case end:
		p.begun = slices.DeleteFunc(p.begun, func(k int) bool { return k == job })
		if slices.Contains(p.running, job) {
			p.leave(job)
		}
	}
	p.pass()
	return true
}

// leave frees the processors of a job.
func (p *plain) leave(k int) {
	p.early = p.early || p.predicted(k) > p.now
	p.running = slices.DeleteFunc(p.running, func(r int) bool { return r == k })
}

func (p *plain) free() int {
	free := p.processors
	for _, k := range p.running {
		free -= p.jobs[k].width
	}
	return free
}

func (p *plain) begin(k int) {
	p.start[k] = p.now
	p.running, p.begun = append(p.running, k), append(p.begun, k)
	p.waiting = slices.DeleteFunc(p.waiting, func(w int) bool { return w == k })
}

// sorted returns the waiting jobs by a key, ties by index.
func (p *plain) sorted(key func(k int) float64) []int {
	list := slices.Clone(p.waiting)
	slices.SortStableFunc(list, func(a, b int) int {
		switch {
		case key(a) < key(b):
			return -1
		case key(a) > key(b):
			return 1
		}
		return 0
	})
	return list
}

func (p *plain) estimate(k int) float64 { return float64(p.jobs[k].estimate) }

func (p *plain) pass() {
	if p.name == "conservative" {
		p.passConservative()
		return
	}
	queue := slices.Clone(p.waiting)
	if p.name == "sjf" {
		queue = p.sorted(p.estimate)
	}
	for len(queue) > 0 && p.jobs[queue[0]].width <= p.free() {
		p.begin(queue[0])
		queue = queue[1:]
	}
	if len(queue) > 0 {
		switch p.name {
		case "easy":
			p.backfill(queue[0], queue[1:])
		case "easy-sjbf":
			p.backfill(queue[0], p.sorted(p.estimate))
		case "easy-saf":
			p.backfill(queue[0], p.sorted(func(k int) float64 { return p.estimate(k) * float64(p.jobs[k].width) }))
		}
	}
}

// available returns how many processors are free at t if no more jobs start.
func (p *plain) available(t int64) int {
	n := p.processors
	for _, k := range p.running {
		if p.estimatedEnd(k) > t {
			n -= p.jobs[k].width
		}
	}
	return n
}

func (p *plain) backfill(head int, candidates []int) {
	shadow := int64(math.MaxInt64)
	for _, k := range p.running {
		if t := p.estimatedEnd(k); t < shadow && p.available(t) >= p.jobs[head].width {
			shadow = t
		}
	}
	if _, ok := p.heads[head]; !ok {
		p.heads[head] = shadow
	}
	extra := p.available(shadow) - p.jobs[head].width
	for _, k := range candidates {
		j := p.jobs[k]
		late := p.now+j.estimate > shadow
		if k == head || j.width > p.free() || late && j.width > extra {
			continue
		}
		p.begin(k)
		if late {
			extra -= j.width
		}
	}
}

// predicted returns when a running job ends by its estimate, as extended.
func (p *plain) predicted(k int) int64 { return max(p.start[k]+p.jobs[k].estimate, p.extended[k]) }

// fits reports whether a job fits from t on for its estimate among the running jobs and the reservations of others.
func (p *plain) fits(k int, t int64) bool {
	end := t + p.jobs[k].estimate
	used := func(at int64) (n int) {
		for _, r := range p.running {
			if p.predicted(r) > at {
				n += p.jobs[r].width
			}
		}
		for _, r := range p.waiting {
			if r != k && p.reserved[r] >= 0 && p.reserved[r] <= at && at < p.reserved[r]+p.jobs[r].estimate {
				n += p.jobs[r].width
			}
		}
		return n
	}
	if used(t)+p.jobs[k].width > p.processors {
		return false
	}
	for _, r := range p.waiting { // use rises at starts only
		if at := p.reserved[r]; at > t && at < end && used(at)+p.jobs[k].width > p.processors {
			return false
		}
	}
	return true
}

// earliest returns the earliest time at which a job fits: now or when something ends.
func (p *plain) earliest(k int) int64 {
	times := []int64{p.now}
	for _, r := range p.running {
		times = append(times, p.predicted(r))
	}
	for _, r := range p.waiting {
		if r != k && p.reserved[r] >= 0 {
			times = append(times, p.reserved[r]+p.jobs[r].estimate)
		}
	}
	slices.Sort(times)
	for _, t := range times {
		if p.fits(k, t) {
			return t
		}
	}
	panic("nothing is in use for ever")
}

func (p *plain) passConservative() {
	overrun := false
	for _, k := range p.running {
		if p.predicted(k) <= p.now {
			p.extended[k] = p.now + p.now - p.start[k]
			overrun = true
		}
	}
	var before []int // jobs with reservations
	for _, k := range p.waiting {
		if p.reserved[k] >= 0 {
			before = append(before, k)
		}
	}
	if overrun {
		for _, k := range before {
			p.reserved[k] = -1
		}
	}
	again := overrun || p.early
	for round := 1; again; round++ {
		again = false
		p.rounds = max(p.rounds, round)
		for _, k := range before {
			at := p.earliest(k)
			again = again || at != p.reserved[k]
			p.reserved[k] = at
		}
	}
	p.early = false
	for _, k := range p.waiting {
		if p.reserved[k] < 0 {
			p.reserved[k] = p.earliest(k)
			p.first[k] = p.reserved[k]
		}
	}
	for _, k := range slices.Clone(p.waiting) {
		if p.reserved[k] == p.now {
			p.begin(k)
		}
	}
}
