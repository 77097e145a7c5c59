// SPDX-License-Identifier: MIT

package slurm

import "slices"

// waiting returns the jobs that run now, with the rest of their time limits, and then the jobs that wait, in the
// table's order, with their time limits. A backfilling scheduler plans with these. All are submitted now, the time at
// which the running ones have run as long as the table says; Unknown if none does. Jobs without a limit have the
// longest.
func (t *Table) waiting(o *Options) (jobs []Job, c counts) {
	longest, now := int64(1), int64(Unknown)
	for k := range t.Jobs {
		longest = max(longest, t.Jobs[k].Limit)
	}
	var pending []Job
	for _, j := range t.Jobs {
		if !o.takes(&j) {
			continue
		}
		runs := j.State == "RUNNING" || j.State == "COMPLETING"
		switch {
		case !runs && j.State != "PENDING":
			continue
		case o.size(&j) < 1:
			c.noSize++
			continue
		}
		if j.Limit < 0 {
			j.Limit = longest
			c.unlimited++
		}
		if !runs {
			j.Submit, j.Start, j.Elapsed = Unknown, Unknown, max(1, j.Limit)
			pending = append(pending, j)
			continue
		}
		if j.Start >= 0 && j.Elapsed >= 0 {
			now = max(now, j.Start+j.Elapsed)
		}
		j.Elapsed = max(1, j.Limit-max(0, j.Elapsed))
		j.Limit = j.Elapsed
		jobs = append(jobs, j)
	}
	jobs = slices.Concat(jobs, pending)
	for k := range jobs {
		jobs[k].Submit, jobs[k].Start = max(0, now), max(0, now)
	}
	c.note(len(jobs)-len(pending), "running, for the rest of their time limits")
	c.note(len(pending), "pending, in the table's order and for their time limits")
	c.note(c.noSize, "without %s, left out", o.unit())
	c.note(c.unlimited, "without a time limit, whose limit is then the longest of the table")
	c.unmodelled(t, o, jobs)
	return jobs, c
}
