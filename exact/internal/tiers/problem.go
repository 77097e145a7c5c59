// SPDX-License-Identifier: MIT

// Package tiers searches for the best schedule of few parallel jobs on two tiers.
package tiers

import (
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
)

// problem is an instance in units of time that are about a hundredth of the longest job, from
// the first submission on, and with weights of at most 1.
type problem struct {
	t         *view.Batch
	n         int
	origin    int64   // in ticks
	unit      float64 // ticks
	submit    []float64
	work      []float64 // on dedicated processors
	best      []float64 // the largest rate
	weight    []float64
	heaviest  float64
	migration float64
	like      []int32 // the last job before it that is identical except for its submission; -1: none
	groups    [][]useGroup
	barred    []uint32 // the jobs that can't enter the background while a job holds processors: see bar
}

// useGroup are processes of a job of the same use.
type useGroup struct {
	use       int64
	processes []int32
}

func newProblem(t *view.Batch) *problem {
	n := len(t.Jobs)
	p := &problem{t: t, n: n, origin: t.Jobs[0].Submit, submit: make([]float64, n), work: make([]float64, n), best: make([]float64, n),
		weight: make([]float64, n), like: make([]int32, n), groups: make([][]useGroup, n)}
	longest := int64(1)
	for k := range t.Jobs {
		longest = max(longest, t.Jobs[k].Length)
		p.heaviest = max(p.heaviest, float64(t.Jobs[k].Weight))
	}
	p.unit = float64(longest) / 100
	p.migration = float64(t.Migration) / p.unit
	for k := range t.Jobs {
		j := &t.Jobs[k]
		p.submit[k], p.work[k] = float64(j.Submit-p.origin)/p.unit, float64(j.Length)/p.unit
		p.best[k], p.weight[k] = float64(max(j.Foreground, j.Efficiency))/view.FullRate, float64(j.Weight)/p.heaviest
		p.like[k] = -1
		for i := range k {
			x := &t.Jobs[i]
			if x.Length == j.Length && x.Processes == j.Processes && x.Weight == j.Weight && x.Foreground == j.Foreground &&
				x.Efficiency == j.Efficiency && slices.Equal(x.Use, j.Use) {
				p.like[k] = int32(i)
			}
		}
		for i := range j.Processes {
			at := slices.IndexFunc(p.groups[k], func(g useGroup) bool { return g.use == j.CPU(i) })
			if at < 0 {
				at = len(p.groups[k])
				p.groups[k] = append(p.groups[k], useGroup{use: j.CPU(i)})
			}
			p.groups[k][at].processes = append(p.groups[k][at].processes, int32(i))
		}
	}
	p.bar()
	return p
}

// least returns how long a job takes at least.
func (p *problem) least(k int) float64 { return p.work[k] / p.best[k] }

// ticks returns a time as the nearest tick.
func (p *problem) ticks(at float64) int64 { return p.origin + int64(math.Round(at*p.unit)) }

// Sum returns the weighted sum of responses, in ticks, as one in the problem's units.
func (p *problem) sum(ticks float64) float64 { return ticks / p.heaviest / p.unit }
