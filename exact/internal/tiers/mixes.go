// SPDX-License-Identifier: MIT

package tiers

import (
	"cmp"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
)

// mixes returns the rates that jobs can have together that all hold processors, those that no others are above; none if
// they can't hold processors together. They are as if all could be anywhere, and as if no job had to enter the
// background below the threshold: so the mixes that are really possible are among them, or below one.
func (s *Search) mixes(set uint32) [][]float64 {
	all, ok := s.mixed[set]
	if ok {
		return all
	}
	for front := set; ; front = (front - 1) & set {
		all = s.mix(all, front, set&^front, nil)
		if front == 0 {
			break
		}
	}
	s.mixed[set] = all
	return all
}

// mostClasses bounds the foreground uses that mix distinguishes, and mostLevels the ways for it to try.
const (
	mostClasses = 16
	mostLevels  = 4096
)

// class is a set of processors with the same foreground use.
type useClass struct {
	use   int64
	count int
}

// level is a rate of a job in the background, and how many processes then need a processor of each class or one before it.
type level struct {
	rate  int64
	needs []int
}

// mix adds the rates of some jobs in the foreground and others in the background. If there are too many uses or ways,
// it takes some uses for lower ones and gives some jobs no processors, so rates are no less.
//
// The jobs of a pair are known to share processors, so they are in different tiers. The job in the background there has
// at most the rest that the other one leaves, and holds these processors of its class. Its other processes may be
// anywhere.
func (s *Search) mix(all [][]float64, front, back uint32, pairs []pair) [][]float64 {
	for _, x := range pairs {
		if front>>x.front&1 == front>>x.back&1 {
			return all
		}
	}
	y := make([]float64, s.n)
	free := [2]int{s.t.Processors, s.t.Processors}
	var uses []useClass
	var jobs []int
	for k := range s.n {
		switch {
		case front>>k&1 == 1:
			free[0] -= s.t.Jobs[k].Processes
			y[k] = float64(s.t.Jobs[k].Foreground) / view.FullRate
			for _, g := range s.groups[k] {
				uses = append(uses, useClass{g.use, len(g.processes)})
			}
		case back>>k&1 == 1:
			free[1] -= s.t.Jobs[k].Processes
			jobs = append(jobs, k)
		}
	}
	if free[0] < 0 || free[1] < 0 {
		return all
	}
	classes := classesOf(append(uses, useClass{0, free[0]}))
	levels, ways := make([][]level, len(jobs)), 1
	for i, k := range jobs {
		groups, most := s.groups[k], int64(math.MaxInt64)
		if slices.ContainsFunc(pairs, func(x pair) bool { return x.back == k }) {
			groups = slices.Clone(groups)
			for _, x := range pairs {
				if x.back != k || front>>x.front&1 == 0 {
					continue
				}
				g := &groups[x.group]
				most = min(most, s.t.Jobs[k].BackgroundRate(g.use, view.FullRate-x.use))
				g.processes = g.processes[x.count:]
				at := len(classes) - 1
				for classes[at].use > x.use {
					at--
				}
				classes[at].count -= x.count
			}
			groups = slices.DeleteFunc(groups, func(g useGroup) bool { return len(g.processes) == 0 })
		}
		levels[i] = s.levels(k, classes, groups, most)
		if ways *= len(levels[i]); ways > mostLevels {
			ways /= len(levels[i])
			levels[i] = []level{{levels[i][0].rate, make([]int, len(classes))}}
		}
	}
	need := make([]int, len(classes))
	var choose func(at int)
	choose = func(at int) {
		if !fits(classes, need) {
			return
		}
		if at == len(jobs) {
			all = add(all, y)
			return
		}
		for _, l := range levels[at] {
			y[jobs[at]] = float64(l.rate) / view.FullRate
			for c, n := range l.needs {
				need[c] += n
			}
			choose(at + 1)
			for c, n := range l.needs {
				need[c] -= n
			}
		}
	}
	choose(0)
	return all
}

// classesOf returns uses ascending, each once, at most mostClasses: others are taken for lower ones.
func classesOf(uses []useClass) (all []useClass) {
	slices.SortFunc(uses, func(a, b useClass) int { return cmp.Compare(a.use, b.use) })
	for _, u := range uses {
		if last := len(all) - 1; last >= 0 && (all[last].use == u.use || len(all) == mostClasses) {
			all[last].count += u.count
		} else if u.count > 0 {
			all = append(all, u)
		}
	}
	return all
}

// levels returns the rates that a job can have in the background, descending.
func (s *Search) levels(k int, classes []useClass, groups []useGroup, most int64) (all []level) {
	j := &s.t.Jobs[k]
	if len(groups) == 0 {
		return []level{{min(most, j.Efficiency), make([]int, len(classes))}}
	}
	if len(groups) > mostClasses {
		left := 0
		for _, g := range groups {
			left += len(g.processes)
		}
		groups = []useGroup{{slices.MinFunc(groups, func(a, b useGroup) int { return cmp.Compare(a.use, b.use) }).use, make([]int32, left)}}
	}
	var rates []int64
	for _, c := range classes {
		for _, g := range groups {
			rates = append(rates, min(most, j.BackgroundRate(g.use, view.FullRate-c.use)))
		}
	}
	slices.SortFunc(rates, func(a, b int64) int { return cmp.Compare(b, a) })
	for _, rate := range slices.Compact(rates) {
		l := level{rate, make([]int, len(classes))}
		for _, g := range groups {
			last := -1
			for c := range classes {
				if j.BackgroundRate(g.use, view.FullRate-classes[c].use) >= rate {
					last = c
				}
			}
			if last < 0 { // no processor is as good for it
				l.needs = nil
				break
			}
			l.needs[last] += len(g.processes)
		}
		if l.needs != nil {
			all = append(all, l)
		}
	}
	return all
}

// fits reports whether there are processors for processes that each need one of a class or one before it (Hall's
// condition, of nested sets).
func fits(classes []useClass, needs []int) bool {
	free := 0
	for c := range classes {
		if free += classes[c].count - needs[c]; free < 0 {
			return false
		}
	}
	return true
}

// add adds rates that none of the others is above, and drops those below them.
func add(all [][]float64, y []float64) [][]float64 {
	if slices.ContainsFunc(all, func(x []float64) bool { return below(y, x) }) {
		return all
	}
	all = slices.DeleteFunc(all, func(x []float64) bool { return below(x, y) })
	return append(all, slices.Clone(y))
}

// below reports whether no figure is above another.
func below(x, y []float64) bool {
	for k := range x {
		if x[k] > y[k] {
			return false
		}
	}
	return true
}
