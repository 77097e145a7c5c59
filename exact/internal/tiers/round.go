// SPDX-License-Identifier: MIT

package tiers

import (
	"cmp"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/model"
)

// player plays the events of a complete node in whole ticks, as the judge does: a job ends in the first tick by which
// its work is done. An event that can't happen in its tick by the program happens later.
type player struct {
	s       *Search
	now     int64
	job     []played
	tier    [2][]int32 // by processor: the job; -1: none
	entered []int32    // jobs that have come to the background at this instant
	bad     bool
}

// played is a job and its progress.
type played struct {
	runs, ended bool
	place       model.BatchPlace
	since, done int64
	migrates    int64 // until then
	rate        int64
	before      *turned // while it is on its way: those that have turned for it
	segments    []model.Segment[model.BatchPlace]
}

// turned holds jobs and their former tiers.
type turned struct {
	jobs []int32
	back []bool
}

// play returns the schedule of a complete node; nil if its program isn't solved or the rounded times don't make one.
func (s *Search) play(n *node) *model.Execution {
	if n.value == nil {
		return nil
	}
	x := &player{s: s, now: s.origin, job: make([]played, s.n)}
	for i := range x.tier {
		x.tier[i] = make([]int32, s.t.Processors)
		for q := range x.tier[i] {
			x.tier[i][q] = -1
		}
	}
	at := make([]int64, n.spans+1)
	sum := 0.0
	for i := range n.spans {
		at[i] = s.ticks(sum)
		sum += max(0, n.value[i])
	}
	at[n.spans] = s.ticks(sum)
	type turn struct {
		at   int64
		life *life
		back []bool
	}
	var turns []turn
	share := s.shares(n)
	event := 0
	for m := range n.spans + 1 {
		order.Stable(turns, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
		for len(turns) > 0 && (turns[0].life.to <= m || turns[0].at <= at[m]) {
			x.advance(turns[0].at)
			x.orient(turns[0].life.jobs, turns[0].back)
			turns = turns[1:]
		}
		for ; event < len(n.events) && n.events[event].at == m; event++ {
			x.happen(&n.events[event], at[m], n)
		}
		for i := range n.lives {
			l := &n.lives[i]
			to := l.to
			if to < 0 {
				to = n.spans
			}
			if l.from != m || to == m {
				continue
			}
			first, other := l.back, flipped(l.back)
			length := share[i]
			if share[i] < 0 { // it isn't free, or has no other jobs
				if len(l.jobs) == 1 {
					j := &s.t.Jobs[l.jobs[0]]
					first = []bool{j.Efficiency > j.Foreground}
				}
				x.orient(l.jobs, first)
				continue
			}
			total := 0.0
			for k := l.from; k < to; k++ {
				total += max(0, n.value[k])
			}
			swap := false // the orientation in which the ender is faster comes last
			if e := slices.Index(l.jobs, l.ender); l.ender >= 0 && e >= 0 {
				swap = l.rate[0][e] > l.rate[1][e]
			}
			if swap {
				first, other, length = other, first, total-length
			}
			if length > 0.5/s.unit {
				x.orient(l.jobs, first)
				if length < total-0.5/s.unit {
					turns = append(turns, turn{at[m] + int64(math.Round(length*s.unit)), l, other})
				}
			} else {
				x.orient(l.jobs, other)
			}
		}
		if x.bad {
			return nil
		}
	}
	e := &model.Execution{}
	for k := range x.job {
		if !x.job[k].ended {
			return nil
		}
		e.Runs = append(e.Runs, model.Run[model.BatchPlace]{ID: s.in.Jobs[k].ID, Segments: x.job[k].segments})
	}
	return e
}

// shares returns how long each group is in its first orientation, by its program; -1: it isn't free.
func (s *Search) shares(n *node) []float64 {
	all, v := make([]float64, len(n.lives)), n.spans
	for i := range n.lives {
		l := &n.lives[i]
		to := l.to
		if to < 0 {
			to = n.spans
		}
		if all[i] = -1; l.free && len(l.jobs) > 1 && l.from < to {
			all[i] = max(0, n.value[v])
			v++
		}
	}
	return all
}

func flipped(back []bool) []bool {
	all := make([]bool, len(back))
	for i, b := range back {
		all[i] = !b
	}
	return all
}

// happen has an event happen, at a tick or later.
func (x *player) happen(e *event, at int64, n *node) {
	s := x.s
	switch e.what {
	case ends:
		for !x.job[e.job].ended && !x.bad {
			if next := x.next(); next < math.MaxInt64 {
				x.advance(next)
			} else {
				x.bad = true
			}
		}
	case arrives:
		x.advance(max(at, x.job[e.job].migrates))
	case leaves:
		x.advance(at)
		x.orient(e.jobs, e.back)
	case starts, moves, parks:
		x.advance(at)
		if e.what == starts {
			x.advance(s.t.Jobs[e.job].Submit)
		} else if x.parked(e.job) {
			x.advance(x.now + 1)
		}
		var jobs []int32
		var back []bool
		mine := false
		for i, k := range e.jobs {
			if k == e.job {
				mine = e.back[i]
				continue
			}
			jobs, back = append(jobs, k), append(back, e.back[i])
		}
		j := &x.job[e.job]
		if e.what == parks {
			before := &turned{jobs: jobs}
			for _, k := range jobs {
				before.back = append(before.back, x.job[k].place.Tier == model.TierBackground)
			}
			j.before = before
		}
		if e.what != starts { // a group that can turn before it leaves does
			if !slices.ContainsFunc(jobs, func(k int32) bool { return touches(x.job[k].place.Processors, j.place.Processors) }) {
				x.orient(jobs, back)
				if !mine && x.covers(e) {
					x.advance(x.now + 1)
				}
			}
			for i := range n.events { // those that move at the same point leave first
				if o := &n.events[i]; o.what == e.what && o.at == e.at && x.job[o.job].runs && !x.job[o.job].ended && !x.moved(o) {
					x.leave(o.job)
				}
			}
			if j.ended {
				return
			}
			if e.what == moves && j.before != nil {
				x.orient(j.before.jobs, j.before.back)
				j.before = nil
			}
		}
		x.orient(jobs, back)
		if !mine && x.covers(e) {
			if e.what != starts { // it has left, and isn't suspended
				x.bad = true
				return
			}
			x.advance(x.now + 1)
		}
		x.begin(e.job, e.on, mine, e.what != starts)
	}
}

// covers reports whether a job would come above one that has come to the background at this instant and can't be below
// it.
func (x *player) covers(e *event) bool {
	for i, q := range e.on {
		if b := x.tier[1][q]; b >= 0 && x.s.t.Jobs[e.job].CPU(i) >= x.s.t.Threshold && slices.Contains(x.entered, b) {
			return true
		}
	}
	return false
}

// parked reports whether a job has come to its processors at this instant.
func (x *player) parked(k int32) bool {
	all := x.job[k].segments
	return x.job[k].runs && x.job[k].before != nil && all[len(all)-1].StartS == units.Seconds(x.now)
}

// moved reports whether a job is where an event brings it.
func (x *player) moved(e *event) bool {
	j := &x.job[e.job]
	return slices.Equal(j.place.Processors, e.on)
}

// next returns the first tick in which a job ends.
func (x *player) next() int64 {
	x.settle()
	first := int64(math.MaxInt64)
	for k := range x.job {
		if j := &x.job[k]; j.runs && j.rate > 0 {
			left := x.s.t.Jobs[k].Work() - j.done
			first = min(first, max(x.now, j.since)+(left+j.rate-1)/j.rate)
		}
	}
	return first
}

// advance goes on to a tick, and ends the jobs that end by then.
func (x *player) advance(to int64) {
	for !x.bad && x.now < to {
		at := min(to, x.next())
		if at == x.now {
			x.bad = true
			return
		}
		for k := range x.job {
			if j := &x.job[k]; j.runs && at > j.since {
				j.done += j.rate * (at - max(x.now, j.since))
			}
		}
		x.now, x.entered = at, x.entered[:0]
		for k := range x.job {
			if j := &x.job[k]; j.runs && j.done >= x.s.t.Jobs[k].Work() {
				x.leave(int32(k))
				j.ended = true
			}
		}
	}
}

// settle computes the rates, and checks the jobs that have come to the background.
func (x *player) settle() {
	s := x.s
	for k := range x.job {
		j := &x.job[k]
		if !j.runs {
			continue
		}
		t := &s.t.Jobs[k]
		if j.rate = t.Foreground; j.place.Tier == model.TierForeground {
			continue
		}
		j.rate = t.Efficiency
		for i, q := range j.place.Processors {
			above := int64(0)
			if f := x.tier[0][q]; f >= 0 {
				f := &s.t.Jobs[f]
				above = f.CPU(slices.Index(x.job[x.tier[0][q]].place.Processors, q))
			}
			j.rate = min(j.rate, t.BackgroundRate(t.CPU(i), view.FullRate-above))
			if above >= s.t.Threshold && slices.Contains(x.entered, int32(k)) {
				x.bad = true
			}
		}
	}
}

// leave takes a job from its processors.
func (x *player) leave(k int32) {
	j := &x.job[k]
	for _, q := range j.place.Processors {
		if t := &x.tier[tierIndex(j.place.Tier)][q]; *t == k {
			*t = -1
		}
	}
	if last := len(j.segments) - 1; j.segments[last].StartS == units.Seconds(x.now) {
		x.bad = true
	} else {
		j.segments[last].EndS = units.Seconds(x.now)
	}
	j.runs = false
}

func tierIndex(t model.Tier) int {
	if t == model.TierBackground {
		return 1
	}
	return 0
}

// begin has a job take processors, in the tier.
func (x *player) begin(k int32, on []int32, back, moved bool) {
	j := &x.job[k]
	if last := len(j.segments) - 1; j.ended || last >= 0 && j.segments[last].EndS != units.Seconds(x.now) {
		x.bad = true // no job is suspended
		return
	}
	j.place = model.BatchPlace{Processors: on}
	if back {
		j.place.Tier = model.TierBackground
		x.entered = append(x.entered, k)
	}
	tier := x.tier[tierIndex(j.place.Tier)]
	for _, q := range on {
		if tier[q] >= 0 {
			x.bad = true
		}
		tier[q] = k
	}
	if moved {
		j.migrates = x.now + x.s.t.Migration
	}
	j.runs, j.since = true, max(x.now, j.migrates)
	j.segments = append(j.segments, model.Segment[model.BatchPlace]{StartS: units.Seconds(x.now), Place: j.place})
}

// orient brings the jobs of a group to their tiers.
func (x *player) orient(jobs []int32, back []bool) {
	var turns []int
	for i, k := range jobs {
		if j := &x.job[k]; j.runs && (j.place.Tier == model.TierBackground) != back[i] {
			turns = append(turns, i)
		}
	}
	for _, i := range turns {
		k := jobs[i]
		j := &x.job[k]
		for _, q := range j.place.Processors {
			if t := &x.tier[tierIndex(j.place.Tier)][q]; *t == k {
				*t = -1
			}
		}
	}
	for _, i := range turns {
		k := jobs[i]
		j := &x.job[k]
		if last := len(j.segments) - 1; j.segments[last].StartS == units.Seconds(x.now) {
			j.segments = j.segments[:last]
		} else {
			j.segments[last].EndS = units.Seconds(x.now)
		}
		x.entered = slices.DeleteFunc(x.entered, func(e int32) bool { return e == k })
		x.begin(k, j.place.Processors, back[i], false)
	}
}
