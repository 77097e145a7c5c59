// SPDX-License-Identifier: MIT

package online

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// vcschedRun is a run of a policy.
type vcschedRun struct {
	driver[VCSchedPlatform, VCSchedEvent, VCSchedDecision]
	in      *model.VCSched // its jobs in the order of their arrivals
	u       *view.VCSched
	arrive  []int64 // [job]
	leave   []int64
	leaving []int32 // jobs in the order of their departures
	arrived int     // jobs from here on are coming
	asked   int     // those from here up to arrived are to be answered
	left    int     // departures that are over
	phases  []phase
	hosts   [][]int32       // [job][task]; -1: it has none yet
	turns   [][]int         // [job][task]: the call that gave it its host
	used    [][]view.Memory // [resource][host], as in view.VCSched.ExactRigid
	there   []int32         // jobs that are placed, in the order of their arrivals
	present model.VCSched   // these, and the hosts of their tasks
	on      []int32
	last    int64   // when the last step was
	time    float64 // in which there were jobs until then, in ticks
	area    float64 // the integral of the yield over it
	result  VCSchedRun
}

// newVCSchedRun prepares a run.
func newVCSchedRun(in *model.VCSched, stays []VCSchedStay, p VCSchedPolicy) (*vcschedRun, error) {
	n := len(in.Jobs)
	if len(stays) != n {
		return nil, fmt.Errorf("%w stays: there are %d for %d jobs", model.ErrInvalid, len(stays), n)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
		j, from, to := &in.Jobs[i], stays[i].ArrivalS, stays[i].DepartureS
		switch {
		case !(from >= 0 && to <= view.MostTime/ticksPerSecond && from < to), units.Micro(from) == units.Micro(to):
			return nil, fmt.Errorf("%w stay of job %q from %v to %v s: must be from 0 to 8e+09 s, and of 1 µs at least",
				model.ErrInvalid, j.ID, from, to)
		case len(j.CurrentHosts) > 0:
			return nil, fmt.Errorf("%w job %q of a course: it has current_hosts, and must have none before it arrives",
				model.ErrInvalid, j.ID)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(units.Micro(stays[a].ArrivalS), units.Micro(stays[b].ArrivalS))
	})
	ordered := *in
	ordered.Jobs = make([]model.VCSchedJob, n)
	r := &vcschedRun{driver: driver[VCSchedPlatform, VCSchedEvent, VCSchedDecision]{policy: p, perSecond: ticksPerSecond},
		in: &ordered, arrive: make([]int64, n), leave: make([]int64, n), leaving: make([]int32, n),
		phases: make([]phase, n), hosts: make([][]int32, n), turns: make([][]int, n), present: *in}
	r.present.Jobs = nil
	for k, i := range order {
		ordered.Jobs[k], r.leaving[k] = in.Jobs[i], int32(k)
		r.arrive[k], r.leave[k] = units.Micro(stays[i].ArrivalS), units.Micro(stays[i].DepartureS)
	}
	slices.SortStableFunc(r.leaving, func(a, b int32) int { return cmp.Compare(r.leave[a], r.leave[b]) })
	r.u = view.OfVCSched(r.in)
	for range r.u.ExactRigid {
		r.used = append(r.used, make([]view.Memory, in.Hosts))
	}
	return r, nil
}

// run goes from instant to instant until the last job has left.
func (r *vcschedRun) run(ctx context.Context) error {
	cluster := *r.in
	cluster.Jobs = nil
	if err := r.policy.Begin(VCSchedPlatform{&cluster}); err != nil {
		return err
	}
	for {
		next := r.next()
		if next == never {
			return nil
		}
		if meter.Stop(ctx, int64(1+(len(r.there)+r.in.Hosts)/64)) {
			n := len(r.hosts)
			return fmt.Errorf("%w: stopped at %.9g s, when %d of %d jobs hadn't arrived",
				model.ErrNoSolution, r.seconds(r.now), n-r.arrived, n)
		}
		r.now = next
		if err := r.instant(); err != nil {
			return err
		}
	}
}

// next returns when a job arrives, or leaves that is placed; never: none does.
func (r *vcschedRun) next() int64 {
	at := int64(never)
	if r.arrived < len(r.arrive) {
		at = r.arrive[r.arrived]
	}
	for r.left < len(r.leaving) && r.phases[r.leaving[r.left]] == over { // it was rejected
		r.left++
	}
	if r.left < len(r.leaving) {
		at = min(at, r.leave[r.leaving[r.left]])
	}
	return at
}

// instant reports what happens now, asks, and notes the result.
func (r *vcschedRun) instant() error {
	for ; r.left < len(r.leaving) && r.leave[r.leaving[r.left]] == r.now; r.left++ {
		k := r.leaving[r.left]
		if r.phases[k] == over {
			continue
		}
		for _, h := range r.hosts[k] {
			r.addNeeds(k, h, view.Memory.Sub)
		}
		at, _ := slices.BinarySearch(r.there, k)
		r.phases[k], r.there = over, slices.Delete(r.there, at, at+1)
		if err := r.report(Ended, VCSchedEvent{Ended, r.now, k, &r.in.Jobs[k]}); err != nil {
			return err
		}
	}
	for r.asked = r.arrived; r.arrived < len(r.arrive) && r.arrive[r.arrived] == r.now; {
		k := r.arrived
		tasks := r.in.Jobs[k].Tasks
		r.phases[k], r.hosts[k], r.turns[k] = waiting, slices.Repeat([]int32{-1}, tasks), make([]int, tasks)
		r.arrived++
		if err := r.report(Submitted, VCSchedEvent{Submitted, r.now, int32(k), &r.in.Jobs[k]}); err != nil {
			return err
		}
	}
	all, err := r.ask()
	if err != nil {
		return err
	}
	step, moved := VCSchedStep{AtS: r.seconds(r.now)}, view.Memory{}
	for i := range all {
		d := &all[i]
		if reason := r.do(d); reason != "" {
			return r.refuse(r.named(d), reason)
		}
		if d.Type != Move {
			continue
		}
		step.Migrations++
		if moved = moved.Add(r.u.Exact[d.Job]); r.in.MigrationBudget != nil && r.u.ExactBudget.Less(moved) {
			why := fmt.Sprintf("with it more memory moves at this instant than the migration budget, %v", *r.in.MigrationBudget)
			return r.refuse(r.named(d), why)
		}
		step.Moved += r.in.Jobs[d.Job].Memory
	}
	if err := r.check(all); err != nil {
		return err
	}
	r.note(step)
	return nil
}

// named names a decision.
func (r *vcschedRun) named(d *VCSchedDecision) string {
	return r.words(d.Type, 0, "job", d.Job, r.arrived, func(k int32) string { return r.in.Jobs[k].ID })
}

// addNeeds adds the needs of a task of job k to the needs on a host, or takes them away.
func (r *vcschedRun) addNeeds(k, h int32, op func(view.Memory, view.Memory) view.Memory) {
	for i := range r.used {
		r.used[i][h] = op(r.used[i][h], r.u.ExactRigid[i][k])
	}
}

// do carries a decision out, whether it fits or not. It returns why it can't be; "": it is
// done.
func (r *vcschedRun) do(d *VCSchedDecision) (reason string) {
	k := d.Job
	switch {
	case d.Type != Start && d.Type != Move && d.Type != Reject:
		return fmt.Sprintf("there is no such decision, there are %q, %q and %q", Start, Move, Reject)
	case k < 0 || int(k) >= r.arrived:
		return fmt.Sprintf("no such job has arrived, the policy knows numbers below %d", r.arrived)
	case r.phases[k] == over:
		return "it has left, or is rejected"
	case d.Type == Reject && (r.phases[k] == running || slices.Max(r.hosts[k]) >= 0):
		return "it has a host"
	case d.Type == Reject:
		r.phases[k] = over
		return ""
	case d.Task < 0 || d.Task >= len(r.hosts[k]):
		return fmt.Sprintf("there is no task %d, it has %d from 0 on", d.Task, len(r.hosts[k]))
	case d.Host < 0 || d.Host >= r.in.Hosts:
		return fmt.Sprintf("there is no host %d, there are 0 to %d", d.Host, r.in.Hosts-1)
	}
	host, turn := &r.hosts[k][d.Task], &r.turns[k][d.Task]
	switch {
	case *turn == r.turn:
		return fmt.Sprintf("task %d gets host %d at this instant already", d.Task, *host)
	case d.Type == Start && *host >= 0:
		return fmt.Sprintf("task %d is on host %d", d.Task, *host)
	case d.Type == Move && *host < 0:
		return fmt.Sprintf("task %d isn't on a host", d.Task)
	case int(*host) == d.Host:
		return fmt.Sprintf("task %d is on host %d already", d.Task, d.Host)
	case d.Type == Move:
		r.addNeeds(k, *host, view.Memory.Sub)
	}
	*host, *turn = int32(d.Host), r.turn
	r.addNeeds(k, *host, view.Memory.Add)
	return ""
}

// check refuses the last decision that has brought a task to a host on which the needs don't
// fit, or the first job that has arrived and wasn't answered.
func (r *vcschedRun) check(all []VCSchedDecision) error {
	for i := len(all) - 1; i >= 0; i-- {
		d := &all[i]
		if d.Type == Reject {
			continue
		}
		c := &r.u.Classes[r.u.ClassOf(int32(d.Host))]
		for x := range r.used {
			if c.ExactCap[x].Less(r.used[x][d.Host]) {
				why := fmt.Sprintf("after all decisions of this instant host %d hasn't the %s for its tasks", d.Host, r.u.Names[x])
				return r.refuse(r.named(d), why)
			}
		}
	}
	for k := r.asked; k < r.arrived; k++ {
		if r.phases[k] == over {
			r.result.Rejected = append(r.result.Rejected, r.in.Jobs[k].ID)
			continue
		}
		if task := slices.Index(r.hosts[k], -1); task >= 0 {
			why := fmt.Sprintf("task %d has no host, and a job is placed or rejected when it arrives", task)
			return r.refuse(fmt.Sprintf("none on job %q", r.in.Jobs[k].ID), why)
		}
		r.phases[k], r.there = running, append(r.there, int32(k))
	}
	return nil
}

// note adds a step to the result.
func (r *vcschedRun) note(step VCSchedStep) {
	x := &r.result
	if n := len(x.Steps); n > 0 && x.Steps[n-1].Jobs > 0 {
		length := float64(r.now - r.last)
		r.time, r.area = r.time+length, r.area+length*x.Steps[n-1].Yield
		x.MeanYield = r.area / r.time
	}
	r.last, r.present.Jobs, r.on = r.now, r.present.Jobs[:0], r.on[:0]
	for _, k := range r.there {
		r.present.Jobs = append(r.present.Jobs, r.in.Jobs[k])
		r.on = append(r.on, r.hosts[k]...)
	}
	step.Jobs, step.Yield = len(r.there), r.present.Yield(r.on)
	if step.Jobs > 0 && !(step.Yield >= x.LeastYield) { // the first time that is NaN
		x.LeastYield = step.Yield
	}
	x.Migrations, x.Moved = x.Migrations+step.Migrations, x.Moved+step.Moved
	x.Steps = append(x.Steps, step)
}
