// SPDX-License-Identifier: MIT

package online

import (
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// vcschedRun is a run of a policy.
type vcschedRun struct {
	simulation[VCSchedPlatform, VCSchedEvent, VCSchedDecision]
	in      *model.VCSched // its jobs in the order of their arrivals
	u       *view.VCSched
	leave   []int64         // when each job leaves
	hosts   [][]int32       // [job][task]; -1: it has none yet
	turns   [][]int         // [job][task]: the call that gave it its host
	used    [][]view.Memory // [resource][host], as in view.VCSched.ExactRigid
	there   []int32         // jobs that are placed, in the order of their arrivals
	present model.VCSched   // these, and the hosts of their tasks
	on      []int32
	last    int64       // when the last step was
	time    float64     // in which there were jobs until then, in ticks
	area    float64     // the integral of the yield over it
	step    VCSchedStep // of this instant, as far as it is known
	moved   view.Memory // at this instant
	result  VCSchedRun
}

// newVCSchedRun prepares a run.
func newVCSchedRun(in *model.VCSched, stays []VCSchedStay, p VCSchedPolicy) (*vcschedRun, error) {
	n := len(in.Jobs)
	if len(stays) != n {
		return nil, fmt.Errorf("%w stays: there are %d for %d jobs", model.ErrInvalid, len(stays), n)
	}
	arrivals := make([]int64, n)
	for i := range arrivals {
		j, from, to := &in.Jobs[i], stays[i].ArrivalS, stays[i].DepartureS
		switch {
		case !(from >= 0 && to <= view.MostTime/ticksPerSecond && from < to), units.Micro(from) == units.Micro(to):
			return nil, fmt.Errorf("%w stay of job %q from %v to %v s: must be from 0 to 8e+09 s, and of 1 µs at least",
				model.ErrInvalid, j.ID, from, to)
		case len(j.CurrentHosts) > 0:
			return nil, fmt.Errorf("%w job %q of a course: it has current_hosts, and must have none before it arrives",
				model.ErrInvalid, j.ID)
		}
		arrivals[i] = units.Micro(from)
	}
	ordered := *in
	ordered.Jobs = make([]model.VCSchedJob, n)
	r := &vcschedRun{in: &ordered, leave: make([]int64, n), hosts: make([][]int32, n),
		turns: make([][]int, n), present: *in}
	r.present.Jobs = nil
	for k, i := range order.By(order.Of[int](n), arrivals) {
		ordered.Jobs[k], r.leave[k] = in.Jobs[i], units.Micro(stays[i].DepartureS)
	}
	slices.Sort(arrivals)
	r.simulation = simulate(r, p, "job", "arrived", "left", arrivals, Start, Move, Reject)
	r.u = view.OfVCSched(r.in)
	for range r.u.ExactRigid {
		r.used = append(r.used, make([]view.Memory, in.Hosts))
	}
	return r, nil
}

// platform returns a policy's knowledge before the first job.
func (r *vcschedRun) platform() VCSchedPlatform {
	cluster := *r.in
	cluster.Jobs = nil
	return VCSchedPlatform{&cluster}
}

// ends implements problem.
func (r *vcschedRun) ends(next int64) (bool, error) {
	if next == never {
		return true, nil
	}
	if meter.Stop(r.ctx, int64(1+(len(r.there)+r.in.Hosts)/64)) {
		n := len(r.hosts)
		return true, fmt.Errorf("%w: stopped at %.9g s, when %d of %d jobs hadn't arrived",
			model.ErrNoSolution, r.seconds(r.now), n-r.arrived, n)
	}
	r.step, r.moved = VCSchedStep{AtS: r.seconds(next)}, view.Memory{}
	return false, nil
}

// happen implements problem.
func (r *vcschedRun) happen(x occasion) (told bool, err error) {
	k := x.item
	if x.kind() == arrives {
		tasks := r.in.Jobs[k].Tasks
		r.hosts[k], r.turns[k] = slices.Repeat([]int32{-1}, tasks), make([]int, tasks)
		r.expect(k, r.leave[k], ends, 0)
		return true, r.report(Submitted, VCSchedEvent{Submitted, r.now, k, &r.in.Jobs[k]})
	}
	for _, h := range r.hosts[k] {
		r.addNeeds(k, h, view.Memory.Sub)
	}
	at, _ := slices.BinarySearch(r.there, k)
	r.phases[k], r.there = over, slices.Delete(r.there, at, at+1)
	return true, r.report(Ended, VCSchedEvent{Ended, r.now, k, &r.in.Jobs[k]})
}

// head implements problem.
func (*vcschedRun) head(d *VCSchedDecision) (DecisionType, int32, int64) { return d.Type, d.Job, 0 }

// id implements problem.
func (r *vcschedRun) id(k int32) string { return r.in.Jobs[k].ID }

// addNeeds adds the needs of a task of job k to the needs on a host, or takes them away.
func (r *vcschedRun) addNeeds(k, h int32, op func(view.Memory, view.Memory) view.Memory) {
	for i := range r.used {
		r.used[i][h] = op(r.used[i][h], r.u.ExactRigid[i][k])
	}
}

// do implements problem. Whether the needs fit is seen later.
func (r *vcschedRun) do(d *VCSchedDecision) (reason string) {
	k := d.Job
	switch {
	case d.Type == Reject && (r.phases[k] == running || slices.Max(r.hosts[k]) >= 0):
		return "it has a host"
	case d.Type == Reject:
		r.phases[k] = over
		r.cancel(k)
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
		if r.moved = r.moved.Add(r.u.Exact[k]); r.in.MigrationBudget != nil && r.u.ExactBudget.Less(r.moved) {
			return fmt.Sprintf("with it more memory moves at this instant than the migration budget, %v",
				*r.in.MigrationBudget)
		}
		r.step.Migrations++
		r.step.Moved += r.in.Jobs[k].Memory
		r.addNeeds(k, *host, view.Memory.Sub)
	}
	*host, *turn = int32(d.Host), r.turn
	r.addNeeds(k, *host, view.Memory.Add)
	return ""
}

// settle implements problem. It refuses the last decision that has brought a task to a host on which the needs don't
// fit. If there is none, it refuses the lack of an answer to the first new job without one.
func (r *vcschedRun) settle(all []VCSchedDecision) error {
	for i := range slices.Backward(all) {
		d := &all[i]
		if d.Type == Reject {
			continue
		}
		c := &r.u.Classes[r.u.ClassOf(int32(d.Host))]
		for x := range r.used {
			if c.ExactCap[x].Less(r.used[x][d.Host]) {
				return r.refuse(d, fmt.Sprintf(
					"after all decisions of this instant host %d hasn't the %s for its tasks", d.Host, r.u.Names[x]))
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
			return r.error(fmt.Sprintf("none on job %q", r.in.Jobs[k].ID), why)
		}
		r.phases[k], r.there = running, append(r.there, int32(k))
	}
	r.note()
	return nil
}

// note adds the step to the result.
func (r *vcschedRun) note() {
	x, step := &r.result, &r.step
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
	x.Steps = append(x.Steps, *step)
}
