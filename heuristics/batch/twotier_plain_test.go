// SPDX-License-Identifier: MIT

package batch_test

import (
	"cmp"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// plainTwoTier simulates the schedulers on two tiers in the most direct way. It keeps only each job's history, and
// computes places, rates, sums and orders again from all jobs whenever needed. It follows Algorithms 1 to 3 of Liu et
// al. line by line, and the doc comment of PEASY.
type plainTwoTier struct {
	name                 string
	short, lifts         bool // the devices of PEASY
	jobs                 []*plainTwoTierJob
	processors           int
	threshold, migration int64
	now                  int64

	// PEASY.
	lowered []*plainTwoTierJob // at this instant
	wake    bool               // there is a pass in a microsecond
}

type plainTwoTierJob struct {
	index                  int
	submit, work, estimate int64
	width                  int
	use                    []int64 // of each process
	foreRate, efficiency   int64

	state      byte // w: waits or hasn't arrived, b, f: in a tier, e: has ended
	processors []int
	start      int64 // in the foreground
	works      int64 // it does no work before
	left       int64
	segments   []plainSegment
	up         bool // it is in the background, and lifted
}

type plainSegment struct {
	tier       byte
	start, end int64
	processors []int
	lost       bool
}

func newPlainTwoTier(in *model.Batch, name string) *plainTwoTier {
	micro := func(x float64) int64 { return int64(math.Round(1e6 * x)) }
	share := func(x float64) int64 { return int64(math.Round(1e4 * x)) }
	p := &plainTwoTier{name: name, processors: in.Processors, threshold: share(in.Threshold), migration: micro(in.MigrationS)}
	if in.Threshold == 0 {
		p.threshold = 9600
	}
	p.short, p.lifts = name == "peasy" || name == "peasy short", name == "peasy" || name == "peasy lift"
	for k, x := range in.Jobs {
		j := &plainTwoTierJob{index: k, submit: micro(x.SubmitS), width: x.Processes, foreRate: 10_000 - share(x.FgLoss), efficiency: share(x.BgEfficiency), state: 'w'}
		length, estimate := micro(x.RuntimeS), micro(x.EstimateS)
		if estimate == 0 {
			estimate = length
		}
		if in.KillAtEstimate {
			length = min(length, estimate)
		}
		j.work, j.left = 10_000*length, 10_000*length
		j.estimate = (10_000*estimate + j.foreRate - 1) / j.foreRate
		for i := range x.Processes {
			switch len(x.CPU) {
			case 0:
				j.use = append(j.use, 10_000)
			case 1:
				j.use = append(j.use, share(x.CPU[0]))
			default:
				j.use = append(j.use, share(x.CPU[i]))
			}
		}
		p.jobs = append(p.jobs, j)
	}
	return p
}

// on returns the job that has a process in a tier of a processor, and its use; nil
// and 0 without one.
func (p *plainTwoTier) on(tier byte, processor int) (*plainTwoTierJob, int64) {
	for _, j := range p.jobs {
		if j.state == tier {
			if i := slices.Index(j.processors, processor); i >= 0 {
				return j, j.use[i]
			}
		}
	}
	return nil, 0
}

func (p *plainTwoTier) rate(j *plainTwoTierJob) int64 {
	if j.state == 'f' || j.up {
		return j.foreRate
	}
	slowest := int64(math.MaxInt64)
	for i, processor := range j.processors {
		_, used := p.on('f', processor)
		rate := j.efficiency
		if idle := 10_000 - used; idle < j.use[i] {
			rate = j.efficiency * idle / j.use[i]
		}
		slowest = min(slowest, rate)
	}
	return slowest
}

func (p *plainTwoTier) run() {
	p.now = -1
	for {
		next := int64(math.MaxInt64)
		for _, j := range p.jobs {
			switch {
			case j.state == 'w' && j.submit > p.now:
				next = min(next, j.submit)
			case j.state == 'b' || j.state == 'f':
				if rate := p.rate(j); rate > 0 {
					next = min(next, max(p.now, j.works)+(j.left+rate-1)/rate)
				}
			}
		}
		if p.wake {
			next = p.now + 1
		}
		if next == math.MaxInt64 {
			return
		}
		for _, j := range p.jobs {
			if j.state == 'b' || j.state == 'f' {
				j.left -= p.rate(j) * max(0, next-max(p.now, j.works))
			}
		}
		all := p.wake // or an arrival, or a departure from the foreground
		p.wake, p.lowered = false, nil
		for _, j := range p.jobs {
			if j.state == 'w' && j.submit > p.now && j.submit <= next {
				all = true
			}
		}
		p.now = next
		for _, j := range p.jobs {
			if (j.state == 'b' || j.state == 'f') && j.left <= 0 {
				all = all || j.state == 'f'
				p.leave(j, false)
				j.state = 'e'
			}
		}
		if all {
			p.foreground()
		}
		if !p.wake {
			p.background()
		}
		if p.lifts {
			p.lift()
		}
	}
}

// lift brings the jobs in the background to the tiers where they run from now on.
func (p *plainTwoTier) lift() {
	for _, j := range p.jobs {
		if j.state != 'b' {
			continue
		}
		up := !slices.Contains(p.lowered, j)
		for _, processor := range j.processors {
			if k, _ := p.on('f', processor); k != nil {
				up = false
			}
		}
		if up == j.up {
			continue
		}
		j.up = up
		s := &j.segments[len(j.segments)-1]
		if s.start < p.now {
			s.end = p.now
			j.segments = append(j.segments, plainSegment{start: p.now, processors: j.processors})
			s = &j.segments[len(j.segments)-1]
		}
		s.tier = 'b'
		if up {
			s.tier = 'f'
		}
	}
}

// inTheWay lowers the lifted jobs on the processors that job j, of large use, would
// take, and reports whether there are any.
func (p *plainTwoTier) inTheWay(j *plainTwoTierJob) bool {
	if slices.Max(j.use) < p.threshold {
		return false
	}
	state := j.state
	j.state = 'w' // it leaves its processors first
	targets := p.targets('f', j)
	j.state = state
	for _, processor := range targets {
		if b, _ := p.on('b', processor); b != nil && b != j {
			p.lowered = append(p.lowered, b)
			p.wake = p.wake || b.up
		}
	}
	return p.wake
}

// leave ends the segment of a job.
func (p *plainTwoTier) leave(j *plainTwoTierJob, lost bool) {
	s := &j.segments[len(j.segments)-1]
	s.end, s.lost = p.now, lost
	j.state, j.up = 'w', false
	if lost {
		j.left = j.work
	}
}

// enter starts a segment of a job.
func (p *plainTwoTier) enter(j *plainTwoTierJob, tier byte, processors []int, delay int64) {
	j.state, j.processors, j.works = tier, processors, p.now+delay
	if tier == 'f' {
		j.start = p.now
	}
	j.segments = append(j.segments, plainSegment{tier: tier, start: p.now, processors: processors})
}

// idle returns the processors on which a process may start in a tier.
func (p *plainTwoTier) idle(tier byte) (list []int) {
	for processor := range p.processors {
		other, use := p.on('f', processor)
		if tier == 'b' {
			if other, _ = p.on('b', processor); use >= p.threshold {
				continue
			}
		}
		if other == nil {
			list = append(list, processor)
		}
	}
	return list
}

// candidates returns the jobs that wait or run in the background, by arrival.
func (p *plainTwoTier) candidates() (list []*plainTwoTierJob) {
	for _, j := range p.jobs {
		if j.submit <= p.now && (j.state == 'w' || j.state == 'b') {
			list = append(list, j)
		}
	}
	return list
}

// targets returns the processors that Dispatch of Algorithm 2 has for a job.
func (p *plainTwoTier) targets(tier byte, j *plainTwoTierJob) []int {
	other := map[byte]byte{'f': 'b', 'b': 'f'}[tier]
	places := p.idle(tier)
	slices.SortStableFunc(places, func(a, b int) int {
		_, x := p.on(other, a)
		_, y := p.on(other, b)
		return cmp.Compare(x, y)
	})
	processes := make([]int, j.width)
	for i := range processes {
		processes[i] = i
	}
	slices.SortStableFunc(processes, func(a, b int) int { return cmp.Compare(j.use[b], j.use[a]) })
	list := make([]int, j.width)
	for i, process := range processes {
		list[process] = places[i]
	}
	return list
}

func (p *plainTwoTier) dispatch(tier byte, j *plainTwoTierJob, delay int64) {
	p.enter(j, tier, p.targets(tier, j), delay)
}

// deploy is Algorithm 2.
func (p *plainTwoTier) deploy(j *plainTwoTierJob) bool {
	if j.state == 'w' {
		if p.lifts && p.inTheWay(j) {
			return false
		}
		p.dispatch('f', j, 0)
		return true
	}
	idle := p.idle('f')
	inPlace := true
	for _, processor := range j.processors {
		inPlace = inPlace && slices.Contains(idle, processor)
	}
	switch {
	case inPlace && j.up:
		j.state, j.up, j.start = 'f', false, p.now
	case inPlace:
		p.leave(j, false)
		p.enter(j, 'f', j.processors, 0)
	case p.name == "reasy":
		return false
	case p.name == "keasy":
		p.leave(j, true)
		p.dispatch('f', j, 0)
	case p.lifts && p.inTheWay(j):
		return false
	default:
		p.leave(j, false)
		p.dispatch('f', j, p.migration)
	}
	return true
}

// foreground makes steps 1 and 2 of Algorithms 1 and 3.
func (p *plainTwoTier) foreground() {
	for _, j := range p.candidates() {
		if j.width > len(p.idle('f')) || !p.deploy(j) {
			break
		}
	}
	if len(p.candidates()) == 0 || p.wake {
		return
	}
	head := p.candidates()[0]
	shadow, extra := p.now, 0
	if p.name == "reasy" && head.state == 'b' {
		for _, processor := range head.processors {
			if j, _ := p.on('f', processor); j != nil {
				shadow = max(shadow, j.start+j.estimate)
			}
		}
		for _, processor := range p.idle('f') {
			if j, _ := p.on('b', processor); j != head {
				extra++
			}
		}
	} else {
		var ends []int64
		for _, j := range p.jobs {
			if j.state == 'f' {
				ends = append(ends, max(p.now, j.start+j.estimate))
			}
		}
		slices.Sort(ends)
		for _, shadow = range ends {
			extra = len(p.idle('f')) - head.width
			for _, j := range p.jobs {
				if j.state == 'f' && j.start+j.estimate <= shadow {
					extra += j.width
				}
			}
			if extra >= 0 {
				break
			}
		}
	}
	list := p.candidates()
	if p.short {
		slices.SortStableFunc(list, func(a, b *plainTwoTierJob) int { return cmp.Compare(min(900e6, a.estimate), min(900e6, b.estimate)) })
	}
	for _, j := range list {
		if j.width > len(p.idle('f')) {
			continue
		}
		end := p.now + j.estimate
		if end <= shadow || j.width <= extra {
			if p.deploy(j) && end > shadow {
				extra -= j.width
			}
			if p.wake {
				return
			}
		}
	}
}

// background makes step 3.
func (p *plainTwoTier) background() {
	list := p.candidates()
	slices.SortStableFunc(list, func(a, b *plainTwoTierJob) int { return cmp.Compare(a.estimate, b.estimate) })
	for _, j := range list {
		if j.state == 'w' && j.width <= len(p.idle('b')) {
			p.dispatch('b', j, 0)
		}
	}
}
