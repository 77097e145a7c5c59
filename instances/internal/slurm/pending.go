// SPDX-License-Identifier: MIT

package slurm

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/instances/internal/jobs"
	"github.com/gapwise/gapwise/internal/num/order"
)

// queue returns the jobs of the queue, and why some of them can't start: those that wait by priority, if a column tells.
func (t *Table) queue(all []jobs.Job, o *jobs.Options, c *counts) []jobs.Job {
	for k := range all {
		j := &all[k]
		switch {
		case j.State == "COMPLETING": // it has ended
			j.Phase, j.Limit = jobs.Runs, 1
		case holds(j.State):
			j.Phase = jobs.Runs
		case waits(j.State) || j.State == "SUSPENDED":
			j.Phase, j.Left, j.Planned, j.Elapsed = jobs.Waits, t.blocked(j), j.Start, jobs.Unknown
			if j.Reason == "BeginTime" {
				j.Eligible = max(j.Eligible, j.Start)
			}
		}
	}
	open := func(j jobs.Job) bool { return j.Phase == jobs.Waits && j.Left == "" }
	if !slices.ContainsFunc(all, open) {
		return whole(all, o, c)
	}
	if t.has["priority"] {
		order.Stable(all, func(a, b jobs.Job) int { return cmp.Compare(b.Priority, a.Priority) })
	} else {
		c.Assumed.Say("Slurm's priorities are the table's order, in which squeue -S -p writes it; a column PRIORITY (%%Q) tells them")
	}
	if t.has["reason"] || t.has["eligible"] {
		return whole(all, o, c)
	}
	// A job for which Slurm plans no start may be on hold: it mustn't push others back.
	unplanned := func(j jobs.Job) bool { return open(j) && j.Planned < 0 }
	for _, j := range all {
		if unplanned(j) && (o.Partition == "" || j.Partition == o.Partition) {
			c.Assumed.Add(j.ID, "jobs without a planned start, put last: they may be on hold or dependent, which a column REASON (%r) tells")
		}
	}
	last := slices.DeleteFunc(slices.Clone(all), func(j jobs.Job) bool { return !unplanned(j) })
	return whole(append(slices.DeleteFunc(all, unplanned), last...), o, c)
}

// waits reports whether a job in a state waits for its start.
func waits(state string) bool {
	switch state {
	case "PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD":
		return true
	}
	return false
}

// never are reasons for which a job doesn't start, whatever is free, until somebody changes it or its partition.
var never = []string{"badconstraints", "invalidaccount", "invalidqos", "accountnotallowed", "qosnotallowed", "partitiondown", "partitioninactive",
	"partitiontimelimit", "partitionnodelimit", "deadline"}

// blocked returns why a job that waits can't start, "" if it may.
func (t *Table) blocked(j *jobs.Job) string {
	reason := strings.ToLower(strings.ReplaceAll(j.Reason, "_", " "))
	switch {
	case j.State == "SUSPENDED":
		return "jobs suspended: their CPUs are free, and no column tells when they go on"
	case j.State == "REQUEUE_HOLD", j.State == "SPECIAL_EXIT", j.State == "RESV_DEL_HOLD",
		strings.Contains(reason, "held"), strings.Contains(reason, "hold"), j.Priority == 0:
		return "jobs on hold"
	case strings.HasPrefix(reason, "dependency"):
		return "jobs with unmet dependencies"
	case reason == "begintime" && max(j.Eligible, j.Start) < 0:
		return "jobs with a begin time that no column tells"
	case !t.has["reason"] && t.has["eligible"] && j.Eligible < 0:
		return "jobs not eligible yet (on hold or dependent)"
	case j.Start < 0 && slices.Contains(never, reason):
		return "jobs unable to start, as Slurm says: " + j.Reason
	}
	if strings.HasPrefix(reason, "assoc") || strings.HasPrefix(reason, "qos") {
		asks(j, reason, "jobs held back by a limit of their account, QOS or user")
	}
	return ""
}
