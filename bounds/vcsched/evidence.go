// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"slices"

	"github.com/gapwise/gapwise/internal/duals"
	"github.com/gapwise/gapwise/internal/evidence"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// reasons looks for evidence of the bounds of Packing: each of its tests again, job by
// job, until one proves what is claimed.
type reasons struct {
	in          *model.VCSched
	scale, unit int64
	hosts       int64
	size        [2][]int64      // [cpu, memory][job]: need of a task
	count       []int32         // [job]
	items       [2]*duals.Items // of size; nil before
	capacity    int64           // of memory; a host has no more
	total       int64           // of the CPU needs
}

func newReasons(in *model.VCSched, u *view.VCSched) *reasons {
	r := &reasons{in: in, scale: u.Scale, unit: max(1, u.Unit), hosts: int64(in.Hosts)}
	tasks := int64(0)
	for k := range in.Jobs {
		j := &in.Jobs[k]
		r.size[0] = append(r.size[0], int64(j.CPU*float64(u.Scale)))
		r.size[1] = append(r.size[1], int64(j.Memory*float64(u.Scale)))
		r.count = append(r.count, int32(j.Tasks))
		r.total += r.size[0][k] * int64(j.Tasks)
		tasks += int64(j.Tasks)
	}
	// The sum of the needs that fit is above a host and the tolerance by their
	// rounding at most, see view.VCSched.
	r.capacity = r.scale + r.scale/1e9 + 2 + tasks/500
	return r
}

// evidence says why no placement has a load below the given one, or, if infeasible, why
// there is no placement; nil if no test of Packing by CPU and memory says so.
func (r *reasons) evidence(ctx context.Context, load int64, infeasible bool) *model.Evidence {
	if infeasible {
		// It has no units, so no scale.
		if e := misfit(r.in); e != nil {
			return e
		}
	}
	find := r.find
	if len(r.in.HostSizes) > 0 {
		find = r.sized
	}
	e := find(ctx, load, infeasible)
	if e != nil {
		e.Scale = r.scale
	} else if !infeasible {
		e = r.few(load)
	}
	return e
}

// misfit returns a task that no host has the rigid resources for; nil if each task has a
// host, or if that is a matter of rounding.
func misfit(in *model.VCSched) *model.Evidence {
	u := view.OfVCSched(in)
	for k := range in.Jobs {
		fits := func(c view.HostClass) bool {
			for r, exact := range u.ExactRigid {
				if c.ExactCap[r].Less(exact[k]) {
					return false
				}
			}
			return true
		}
		if !slices.ContainsFunc(u.Classes, fits) {
			return &model.Evidence{Type: evidence.Misfit, Elements: []string{in.Jobs[k].ID}}
		}
	}
	return nil
}

// few returns a task that makes a load wherever it fits; nil if there is none.
func (r *reasons) few(load int64) *model.Evidence {
	u := view.OfVCSched(r.in)
next:
	for k := range r.in.Jobs {
		for _, c := range u.Classes {
			fits := true
			for q, exact := range u.ExactRigid {
				fits = fits && !c.ExactCap[q].Less(exact[k])
			}
			if fits && c.Load(r.size[0][k]) < load {
				continue next
			}
		}
		return &model.Evidence{Type: evidence.Misfit, Elements: []string{r.in.Jobs[k].ID}}
	}
	return nil
}

func (r *reasons) find(ctx context.Context, load int64, infeasible bool) *model.Evidence {
	if infeasible {
		sum := int64(0)
		for k, m := range r.size[1] {
			sum += m * int64(r.count[k])
		}
		if sum > r.hosts*r.capacity {
			return &model.Evidence{Type: evidence.Sum, Resource: "memory"}
		}
		if e := r.clique(ctx, r.total); e != nil {
			return e
		}
		return r.filling(ctx, 1, r.capacity)
	}
	up := func(x int64) int64 { return (x + r.unit - 1) / r.unit * r.unit }
	if up((r.total+r.hosts-1)/r.hosts) >= load || load <= r.scale {
		return &model.Evidence{Type: evidence.Sum, Resource: "cpu"}
	}
	at := int64(0)
	for _, k := range decreasing(r.size[0]) {
		from := at
		at += int64(r.count[k])
		per := (at - 1) / r.hosts
		if per*r.hosts+1 > from && up((per+1)*r.size[0][k]) >= load {
			return &model.Evidence{Type: evidence.Crowd, Count: int(per*r.hosts + 1)}
		}
	}
	// What the bisection refuted lies less than a unit below.
	for below := load - 1; below >= max(1, load-r.unit) && ctx.Err() == nil; below -= max(1, r.unit/16) {
		if e := r.clique(ctx, below); e != nil {
			return e
		}
		if e := r.filling(ctx, 0, below); e != nil {
			return e
		}
	}
	return nil
}

// clique returns tasks of which no two fit on one host of a load, if there are more of
// them than hosts; see Tasks.clique.
func (r *reasons) clique(ctx context.Context, load int64) *model.Evidence {
	limit := [2]int64{load, r.capacity}
	for k, x := range r.size {
		y := r.size[1-k]
		e := &model.Evidence{Type: evidence.Clique}
		number := int64(0)
		extendClique(ctx, decreasing(x), x, y, limit[k], limit[1-k], func(job int32) bool {
			n := int64(1)
			if 2*x[job] > limit[k] || 2*y[job] > limit[1-k] {
				n = min(int64(r.count[job]), r.hosts+1-number)
			}
			number += n
			e.Elements, e.Weights = append(e.Elements, r.in.Jobs[job].ID), append(e.Weights, float64(n))
			return number <= r.hosts
		})
		if number > r.hosts {
			return e
		}
	}
	return nil
}

// filling returns a dual-feasible function by which the needs of a resource fill more
// hosts than there are.
func (r *reasons) filling(ctx context.Context, resource int, capacity int64) *model.Evidence {
	if r.items[resource] == nil {
		r.items[resource] = duals.NewItems(r.size[resource], r.count)
	}
	n, f := r.items[resource].Bound(ctx, capacity)
	if n <= r.hosts {
		return nil
	}
	return &model.Evidence{Type: evidence.Filling, Resource: []string{"cpu", "memory"}[resource], Function: f, Load: capacity}
}

// patternEvidence says that tasks of these weights by type don't fit on hosts of a load;
// nil if that takes more than CPU and memory, or if hosts have sizes.
func patternEvidence(in *model.VCSched, t *Tasks, load int64, weights []int64) *model.Evidence {
	if len(t.Rigid) > 1 || len(in.HostSizes) > 0 {
		return nil
	}
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
