// SPDX-License-Identifier: MIT

package vcsched

import (
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/model"
)

// evidenceOf returns the evidence of a bound on an instance.
type evidenceOf func(in *model.VCSched) *model.Evidence

// refutation is the reason why no placement has a load, or why there is none, with its evidence.
type refutation struct {
	why      string
	evidence evidenceOf
}

// sum says that the needs of a resource are more than the hosts have.
func (t *Tasks) sum(resource string) evidenceOf {
	return func(*model.VCSched) *model.Evidence {
		return &model.Evidence{Type: evidence.Sum, Resource: resource, Scale: t.units.Scale}
	}
}

// crowd says that the hosts don't take so many tasks of the largest needs of a resource.
func (t *Tasks) crowd(resource string, tasks int64) evidenceOf {
	return func(*model.VCSched) *model.Evidence {
		e := &model.Evidence{Type: evidence.Crowd, Count: int(tasks), Scale: t.units.Scale}
		if resource != "cpu" {
			e.Resource = resource
		}
		return e
	}
}

// misfit says that few hosts take a task of a type, or none.
func (t *Tasks) misfit(kind int) evidenceOf {
	return func(in *model.VCSched) *model.Evidence {
		return &model.Evidence{Type: evidence.Misfit, Elements: []string{in.Jobs[t.units.Job[t.Tasks[kind][0]]].ID}}
	}
}

// filling says that the needs of some resources together fill more hosts than there are, under a dual-feasible
// function. For CPU the load is relative, for others it is the most that a host has.
func (t *Tasks) filling(f *model.DualFunction, load int64, resources ...string) evidenceOf {
	return func(*model.VCSched) *model.Evidence {
		e := &model.Evidence{Type: evidence.Filling, Function: f, Load: load, Scale: t.units.Scale}
		if len(resources) == 1 {
			e.Resource = resources[0]
		} else {
			e.Elements = resources
		}
		return e
	}
}

// cliqueEvidence says that more tasks of some types than there are hosts need a host each at a load.
func (t *Tasks) cliqueEvidence(types []int32, load int64) evidenceOf {
	return func(in *model.VCSched) *model.Evidence {
		conflict := t.conflicts(load)
		e := &model.Evidence{Type: evidence.Clique, Scale: t.units.Scale}
		place := map[int32]int{}
		left := t.Hosts + 1
		for _, k := range types {
			tasks := t.Tasks[k]
			if !conflict(k, k) {
				tasks = tasks[:1]
			}
			for _, i := range tasks[:min(int64(len(tasks)), left)] {
				j := t.units.Job[i]
				at, ok := place[j]
				if !ok {
					at = len(e.Elements)
					place[j] = at
					e.Elements, e.Weights = append(e.Elements, in.Jobs[j].ID), append(e.Weights, 0)
				}
				e.Weights[at]++
				left--
			}
		}
		return e
	}
}

// patternEvidence says that tasks of these weights by type don't fit on hosts of a load.
func patternEvidence(in *model.VCSched, t *Tasks, load int64, weights []int64) *model.Evidence {
	e := &model.Evidence{Type: evidence.Patterns, Load: load, Scale: t.units.Scale}
	jobs := make([]float64, len(in.Jobs))
	for k, tasks := range t.Tasks {
		for _, i := range tasks {
			jobs[t.units.Job[i]] = float64(weights[k])
		}
	}
	for j, w := range jobs {
		if w > 0 {
			e.Elements, e.Weights = append(e.Elements, in.Jobs[j].ID), append(e.Weights, w)
		}
	}
	return e
}

// judged returns the load at which patterns of the judge are ones of this package at a load: a CPU need
// below a unit counts nothing there, and here as one. YieldBound allows for as much.
func (t *Tasks) judged(in *model.VCSched, load int64) int64 {
	tiny, most := int64(0), int64(0)
	for k := range in.Jobs {
		if int64(in.Jobs[k].CPU*float64(t.units.Scale)) == 0 {
			tiny += int64(in.Jobs[k].Tasks)
		}
	}
	for _, c := range t.class {
		most = max(most, c.Load(tiny))
	}
	return max(1, load-most)
}

// cpuDown returns the CPU needs, with needs of one unit, which may represent less, as nothing.
func (t *Tasks) cpuDown() []int64 {
	down := make([]int64, len(t.CPU))
	for k, cpu := range t.CPU {
		if cpu > 1 {
			down[k] = cpu
		}
	}
	return down
}
