// SPDX-License-Identifier: MIT

package slurm

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/instances/internal/jobs"
	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// ended maps the states to SWF's; states of jobs that haven't ended are unknown.
var ended = map[string]int64{"COMPLETED": swf.StatusCompleted, "CANCELLED": swf.StatusCancelled, "FAILED": swf.StatusFailed, "TIMEOUT": swf.StatusFailed,
	"NODE_FAIL": swf.StatusFailed, "OUT_OF_MEMORY": swf.StatusFailed, "PREEMPTED": swf.StatusFailed, "BOOT_FAIL": swf.StatusFailed, "DEADLINE": swf.StatusFailed,
	"REQUEUED": swf.StatusFailed}

// Log makes a log of the jobs that have started: submitted when they became eligible, with their allocation, for as long
// as they ran, with their time limits as estimates. Of the queue (Options.Pending) it has the jobs that run and those that
// may start. The components of a heterogeneous job are one job, and the records of a resized one. The account lists facts
// that are missing or aren't modelled. Errors wrap model.ErrInvalid.
func (t *Table) Log(o *jobs.Options, account *model.Account) (*swf.Log, error) {
	all := slices.Clone(t.Jobs)
	beside := map[string]bool{} // partitions of jobs that aren't taken
	for k := range all {
		j := &all[k]
		if status, ok := ended[j.State]; ok {
			j.Status = status
		}
		switch parts := strings.Split(j.Partition, ","); {
		case o.Partition == "":
		case slices.Contains(parts, o.Partition):
			j.Partition = o.Partition // of several it may start in this one
		default:
			beside[parts[0]] = true
		}
	}
	c := counts{Account: account}
	if o.Pending {
		all = t.queue(all, o, &c)
	} else {
		all = t.ran(all, o, &c)
	}
	if o.Apart(all) {
		on := *o
		on.Placed, o = true, &on
		c.Assumed.Say("partitions, which share no node, keep their jobs, as with --unit resources; --unit cpus makes one machine of all")
	}
	t.tell(all, beside, o, &c)
	return jobs.Take("Slurm", all, nil, o, account)
}

// counts are the figures about a table for the account of its log.
type counts struct {
	*model.Account
	unended, requeued, joined, later, suspended int
	suspension                                  int64
}

// holds reports whether a job in a state holds its CPUs and hasn't ended. A suspended one has given them back.
func holds(state string) bool {
	switch state {
	case "RUNNING", "COMPLETING", "CONFIGURING", resizing, "STOPPED", "SIGNALING", "STAGE_OUT":
		return true
	}
	return false
}

// runs reports whether a job in a state has started and not ended.
func runs(state string) bool { return holds(state) || state == "SUSPENDED" }

// neverRan reports whether a job ended before it started. Slurm gives such jobs a start, too.
func neverRan(j *jobs.Job) bool {
	switch j.State {
	case "CANCELLED", "DEADLINE", "BOOT_FAIL", "REVOKED":
		return j.Elapsed <= 0 || j.Start < 0
	}
	return j.Start < 0
}

// ran returns the jobs as they ran, and before them those that didn't.
func (t *Table) ran(all []jobs.Job, o *jobs.Options, c *counts) (made []jobs.Job) {
	started := make([]jobs.Job, 0, len(all))
	for _, j := range all {
		if j.Elapsed < 0 && j.Start >= 0 && j.End >= j.Start {
			j.Elapsed = j.End - j.Start - max(0, j.Suspended)
		}
		switch {
		case o.Partition != "" && j.Partition != o.Partition:
		case j.State == "PENDING":
			j.Left = "jobs still pending"
		case neverRan(&j):
			j.Left = "jobs never started"
		case j.Elapsed < 0 || j.Submit < 0:
			j.Left = "jobs with a start and without times"
		default:
			started = append(started, j)
			continue
		}
		made = append(made, j)
	}
	started = once(started, o, c)
	known := make(map[string]bool, len(all))
	for k := range started {
		known[started[k].ID] = true
	}
	for k := range made { // of joined tables, one has a job that waits and another as it ran
		j := &made[k]
		if j.Left != "" && known[j.ID] {
			j.Left = again
		}
		known[j.ID] = true
	}
	started = whole(started, o, c)
	response := 0.0
	for k := range started {
		j := &started[k]
		switch {
		case runs(j.State):
			c.unended++
		case j.State == "REQUEUED" || j.State == "NODE_FAIL" || j.State == "PREEMPTED":
			c.requeued++
		}
		paused := t.paused(j, o, c)
		j.End = j.Start + j.Elapsed
		if eligible := min(j.Eligible, j.Start); eligible > j.Submit {
			c.later++
			j.Submit = eligible
		}
		response += float64(j.End+paused-j.Submit) / float64(len(started))
	}
	c.Assumed.Count(c.unended, "jobs still running, which end now")
	c.Assumed.Count(c.requeued, "runs ended by a requeue, a failed node or preemption, as jobs of their own")
	c.Assumed.Count(c.later, "jobs submitted when they became eligible (dependencies, begin times, limits of arrays, requeues)")
	if !t.has["eligible"] {
		c.Assumed.Say("no column Eligible tells dependencies and begin times: they count as waits")
	}
	c.NotModelled.Count(c.suspended, "suspensions of jobs, which were suspended for %s s in all: as they ran, they end that much earlier than under Slurm, with a mean response of %.0f s",
		words.Thousands(c.suspension), response)
	return append(made, started...)
}

// paused returns how long a job was suspended: what is between start and end and isn't Elapsed. It counts such jobs, and
// those with times that don't fit together.
func (t *Table) paused(j *jobs.Job, o *jobs.Options, c *counts) int64 {
	const hour = 3600 // by which clocks change
	apart := int64(0)
	if j.End >= 0 && !runs(j.State) {
		apart = j.End - j.Start - j.Elapsed
	}
	blind := t.clock.local && o.Zone == nil
	if j.Start < j.Submit || apart < 0 || apart == hour && blind && j.Suspended < 0 {
		text := "jobs with times at odds with each other"
		if blind {
			text += ", as by a change of the clocks: --tz NAME tells the zone"
		}
		c.Assumed.Add(j.ID, text)
		return 0
	}
	if apart = max(apart, j.Suspended, 0); apart > 0 {
		c.suspended++
		c.suspension += apart
	}
	return apart
}

// once makes one run of records of a job that overlap: a job of which Slurm writes a record at each change of its size,
// or that stands in two tables, one behind the other. It holds the largest size to the end.
func once(all []jobs.Job, o *jobs.Options, c *counts) (taken []jobs.Job) {
	runs := make(map[string][]int, len(all))
	taken = make([]jobs.Job, 0, len(all))
	for _, j := range all {
		after := j.Start + j.Elapsed
		at := slices.IndexFunc(runs[j.ID], func(k int) bool {
			x := &taken[k]
			end := x.Start + x.Elapsed
			return j.Start == x.Start || j.Start < end && x.Start < after || j.Start == end && x.State == resizing
		})
		if at < 0 {
			runs[j.ID] = append(runs[j.ID], len(taken))
			taken = append(taken, j)
			continue
		}
		x := &taken[runs[j.ID][at]]
		if o.Size(&j) != o.Size(x) || x.State == resizing || j.State == resizing {
			c.Assumed.Add(j.ID, "jobs resized as they ran, taken with their largest size to the end")
		} else {
			c.LeftOut.Add(j.ID, again)
		}
		if end := x.Start + x.Elapsed; after >= end {
			x.State, x.End = j.State, j.End
		} else {
			after = end
		}
		x.Start = min(x.Start, j.Start)
		x.Elapsed = after - x.Start
		if j.Nodes > x.Nodes {
			x.Hosts = j.Hosts
		}
		x.CPUs, x.Nodes = max(x.CPUs, j.CPUs), max(x.Nodes, j.Nodes)
		x.Submit, x.Eligible = min(x.Submit, j.Submit), min(x.Eligible, j.Eligible)
	}
	return taken
}

const (
	resizing = "RESIZING"
	again    = "records of a job that has another record"
)

// whole joins the components of heterogeneous jobs that start together, or wait. Those of other partitions aren't taken.
func whole(all []jobs.Job, o *jobs.Options, c *counts) (taken []jobs.Job) {
	of := map[string]int{} // the first component
	taken = make([]jobs.Job, 0, len(all))
	for _, j := range all {
		if base, _, ok := strings.Cut(j.ID, "+"); ok && base != "" && (o.Partition == "" || j.Partition == o.Partition) {
			key := fmt.Sprint(base, " ", j.Start)
			if j.State == "PENDING" {
				key = base
			}
			if first, ok := of[key]; ok {
				c.joined++
				join(&taken[first], &j)
				continue
			}
			of[key], j.ID = len(taken), base
		}
		taken = append(taken, j)
	}
	return taken
}

// join adds a component to a heterogeneous job.
func join(j, other *jobs.Job) {
	j.CPUs, j.Nodes = max(0, j.CPUs)+max(0, other.CPUs), max(0, j.Nodes)+max(0, other.Nodes)
	j.Hosts, j.Features = append(slices.Clip(j.Hosts), other.Hosts...), append(slices.Clip(j.Features), other.Features...)
	j.MemoryMB, j.GPUs = max(0, j.MemoryMB)+max(0, other.MemoryMB), max(0, j.GPUs)+max(0, other.GPUs)
	j.Elapsed, j.Limit, j.Submit = max(j.Elapsed, other.Elapsed), max(j.Limit, other.Limit), max(j.Submit, other.Submit)
	j.End, j.Eligible, j.Priority = max(j.End, other.End), max(j.Eligible, other.Eligible), max(j.Priority, other.Priority)
	j.Left = cmp.Or(j.Left, other.Left)
	for _, text := range other.Asks {
		asks(j, text, text)
	}
}

// tell adds demands that an instance can't express to the jobs, and facts of the table to the account.
func (t *Table) tell(all []jobs.Job, beside map[string]bool, o *jobs.Options, c *counts) {
	share := math.Inf(1) // memory of a CPU
	var cpus, memory int64
	for k := range o.Nodes {
		n := &o.Nodes[k]
		if !n.In(o.Partition) || !n.Up {
			continue
		}
		if n.MemoryMB > 0 {
			cpus, memory = cpus+n.CPUs, memory+n.MemoryMB
		}
		if sleeps(n.State) {
			c.Assumed.Add(n.Name, "nodes powered down, which Slurm starts for jobs")
		}
		if !o.Placed && slices.ContainsFunc(n.Partitions, func(p string) bool { return beside[p] }) {
			c.NotModelled.Add(n.Name, "nodes shared with the jobs of other partitions, which have part of them: starts are too early, --unit resources has both")
		}
	}
	if cpus > 0 {
		share = float64(memory) / float64(cpus)
	}
	told := slices.ContainsFunc(o.Nodes, func(n jobs.Node) bool { return n.Features != nil })
	for k := range all {
		j := &all[k]
		if j.Features != nil && !(o.Placed && told) {
			asks(j, "features", asksFeatures)
			j.Features = nil
		}
		if o.Placed {
			continue // it has its partitions, features, memory and GPUs
		}
		if j.GPUs > 0 {
			asks(j, "GPUs", "jobs with GPUs")
		}
		if j.CPUs > 0 && float64(j.MemoryMB) > share*float64(j.CPUs) {
			asks(j, "memory", "jobs with more memory than their CPUs' share of the nodes")
		}
		if strings.Contains(j.Partition, ",") {
			asks(j, "partitions", "jobs of several partitions, one of which may start them earlier")
		}
	}
	c.Assumed.Count(c.joined, "components of heterogeneous jobs, joined to their first one")
	if t.clock.local && o.Zone == nil {
		c.Assumed.Say("times, which Slurm writes local without a zone, are UTC; --tz NAME tells the zone")
	}
	for _, id := range t.twice {
		c.Assumed.Add(id, "jobs with times in the hour that comes twice, taken for the first")
	}
	c.LeftOut.Count(t.Steps, "steps of jobs")
	if len(t.Untold) > 0 {
		c.NotModelled.Say("%s, of which no column tells: jobs that need much of them would start later", strings.Join(t.Untold, " and "))
	}
	if len(t.Unknown) > 0 {
		c.NotModelled.Say("keys of unknown meaning: %s", strings.Join(t.Unknown, ", "))
	}
	if len(t.Unread) > 0 {
		c.Remarks.Say("columns that aren't read: %s", strings.Join(t.Unread, ", "))
	}
}
