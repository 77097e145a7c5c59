// SPDX-License-Identifier: MIT

package jobs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Phase says how far a job has come.
type Phase int

// The phases of jobs.
const (
	Ended Phase = iota
	Runs
	Waits
)

// anHour is the limit of jobs if no job tells one.
const anHour = 3600

// Take makes a log of the jobs of a system that have ended, by submission and then in the order given. Of pending ones
// (Options.Pending) it takes those that run, for the rest of their limits, and then those that wait, in the order given
// or when they become eligible. Jobs without a limit have the longest. Nodes are those that the records tell, if the
// options have none. The account tells what is left out, assumed and not modelled. Errors wrap model.ErrInvalid.
func Take(system string, all []Job, nodes []Node, o *Options, a *model.Account) (*swf.Log, error) {
	with := *o
	if o.Nodes == nil {
		with.Nodes = nodes
	}
	noneOf := func() error {
		return fmt.Errorf("%w: no job of the partition or queue %s is to be taken; there are %s", model.ErrInvalid, o.Partition, Partitions(all))
	}
	if with.strange(all) {
		return nil, noneOf()
	}
	now := now(all)
	var taken, waiting []Job
	for _, j := range all {
		nowhere := j.Partition == "" && j.Phase == Waits // qstat tells the queue at the start
		if o.Partition != "" && j.Partition != o.Partition && !nowhere {
			a.LeftOut.Add(j.ID, "jobs of other partitions or queues")
			continue
		}
		if o.Partition != "" && nowhere && o.Pending {
			a.Assumed.Add(j.ID, "jobs waiting without the name of a partition or queue, taken for "+o.Partition)
		}
		switch {
		case o.Pending && j.Phase == Ended:
			a.LeftOut.Add(j.ID, "jobs ended already")
		case j.Left != "":
			a.LeftOut.Add(j.ID, j.Left)
		case !o.Pending && j.Phase != Ended:
			a.LeftOut.Add(j.ID, "jobs still running or waiting")
		case j.Phase == Ended && (min(j.Submit, j.Start) < 0 || j.End < j.Start):
			a.LeftOut.Add(j.ID, "jobs that started without times")
		case o.Size(&j) < 1:
			a.LeftOut.Add(j.ID, "jobs without "+o.Unit())
		case j.Phase == Waits:
			waiting = append(waiting, j)
		default:
			taken = append(taken, j)
		}
	}
	running := len(taken)
	taken = append(taken, waiting...)
	switch {
	case len(taken) > 0:
	case len(all) > 0 && o.Partition != "":
		return nil, noneOf()
	case o.Pending:
		return nil, fmt.Errorf("%w: none of its %d jobs is running or waiting to run", model.ErrInvalid, len(all))
	default:
		return nil, fmt.Errorf("%w: none of its %d jobs has run; jobs that run and wait are taken by --pending", model.ErrInvalid, len(all))
	}
	limit(taken, now, a)
	later, over := 0, 0
	for k := range taken {
		switch j := &taken[k]; j.Phase {
		case Ended:
			j.Submit = min(j.Submit, j.Start)
		case Runs:
			if ran := j.ran(now); j.Limit < ran {
				over++
				j.Limit = 1
			} else {
				j.Limit = max(1, j.Limit-ran)
			}
			j.Submit, j.Elapsed = now, j.Limit
		case Waits:
			if j.Submit, j.Elapsed = max(now, j.Eligible), j.Limit; j.Submit > now {
				later++
			}
		}
	}
	order.Stable(taken, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	if o.Pending {
		a.Assumed.Say("now is %s, the last time that the records tell", clock(now, o.Zone))
		a.Assumed.Count(running, "jobs running, each with the rest of its time limit")
		a.Assumed.Count(over, "jobs past the time limit, still running, which may end at any time: in 1 s, so that later starts are the earliest possible")
		a.Assumed.Count(len(waiting), "jobs waiting in the order of %s's priorities, each with its time limit", system)
		a.Assumed.Count(later, "jobs submitted later, at their begin times")
		planned(system, waiting, now, a)
	} else {
		a.Remarks.Say("%s", Waited(system, taken))
	}
	placed := slices.DeleteFunc(slices.Clone(taken), func(j Job) bool { return j.Partition == "" })
	apart := ""
	if system == "Slurm" && !o.Pending {
		apart = ", --unit resources with --platform FILE keeps them apart"
	}
	if names := Partitions(placed); o.Partition == "" && !o.Placed && strings.Contains(names, ", ") {
		a.NotModelled.Say("partitions or queues: one machine for %s; --partition NAME takes one%s", names, apart)
	}
	asked(taken, o, a)
	return Log(taken, &with, a)
}

// strange reports whether nothing is of the partition asked for, neither a job nor a node.
func (o *Options) strange(all []Job) bool {
	return o.Partition != "" && !slices.ContainsFunc(all, func(j Job) bool { return j.Partition == o.Partition }) &&
		!slices.ContainsFunc(o.Nodes, func(n Node) bool { return n.In(o.Partition) })
}

// now returns the last time that the records tell, of all partitions; Unknown if they tell none.
func now(all []Job) int64 {
	last := int64(Unknown)
	for k := range all {
		j := &all[k]
		if last = max(last, j.Submit); j.Phase == Runs {
			last = max(last, j.Start, j.Start+j.Elapsed)
		}
	}
	return last
}

// ran returns for how long a job runs at a time, 0 if nothing tells.
func (j *Job) ran(now int64) int64 {
	switch {
	case j.Elapsed >= 0:
		return j.Elapsed
	case j.Start >= 0:
		return now - j.Start
	}
	return 0
}

// BySubmission compares jobs by their submission and then by their numbers.
func BySubmission(a, b Job) int {
	return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
}

// limit gives jobs without a limit the longest one, from now on if they run.
func limit(all []Job, now int64, a *model.Account) {
	longest, of := int64(0), "the longest of the records"
	told := false
	for k := range all {
		j := &all[k]
		if j.Phase == Ended && j.Elapsed < 0 {
			j.Elapsed = j.End - j.Start
		}
		told = told || j.Limit != Unknown
		if longest = max(longest, j.Limit); j.Phase == Ended {
			longest = max(longest, j.Elapsed)
		}
	}
	if longest < 1 {
		longest, of = anHour, "as no job tells one"
	}
	without, run := 0, 0
	for k := range all {
		switch j := &all[k]; {
		case j.Limit >= 1 || !told && j.Phase == Ended:
		case j.Phase == Runs:
			j.Limit = longest + j.ran(now)
			run++
		default:
			j.Limit = longest
			without++
		}
	}
	a.Assumed.Count(without, "jobs without a time limit, each with %s s, %s", words.Thousands(longest), of)
	a.Assumed.Count(run, "jobs without a time limit, still running, each with %s s from now, %s", words.Thousands(longest), of)
}

// asked tells for what jobs ask that no instance has a place for, with their share of the work.
func asked(all []Job, o *Options, a *model.Account) {
	var told model.Tellings
	work, of := 0.0, map[string]float64{}
	for k := range all {
		j := &all[k]
		x := float64(j.Elapsed) * float64(o.Size(j))
		work += x
		for _, text := range j.Asks {
			told.Add(j.ID, text)
			of[text] += x
		}
	}
	for k := range told {
		told[k].Text += fmt.Sprintf(", %.0f %% of the work", Percent(of[told[k].Text], work))
	}
	a.NotModelled = append(a.NotModelled, told...)
}

// planned tells the system's own plans.
func planned(system string, waiting []Job, now int64, a *model.Account) {
	const most = 8
	var plans []string
	for k := range waiting {
		if at := waiting[k].Planned; at >= 0 {
			plans = append(plans, fmt.Sprintf("%s in %d s", waiting[k].ID, at-now))
		}
	}
	if n := len(plans) - most; n > 0 {
		plans = append(plans[:most], fmt.Sprintf("%d more", n))
	}
	if len(plans) > 0 {
		a.Remarks.Say("%s itself plans to start %s, from now", system, strings.Join(plans, ", "))
	}
}

// clock shows a time.
func clock(at int64, zone *time.Location) string {
	return time.Unix(max(0, at), 0).In(cmp.Or(zone, time.UTC)).Format(time.DateTime)
}

// Partitions lists the partitions of jobs, the largest first.
func Partitions(all []Job) string {
	count := map[string]int{}
	for k := range all {
		count[all[k].Partition]++
	}
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(count[b]-count[a], cmp.Compare(a, b)) })
	for k, name := range names {
		names[k] = fmt.Sprintf("%s (%d jobs)", cmp.Or(name, "no name"), count[name])
	}
	if len(names) > 8 {
		names = append(names[:8], fmt.Sprintf("%d more", len(names)-8))
	}
	return strings.Join(names, ", ")
}

// Waited tells how long jobs waited under their own scheduler, and how far their limits are from their runtimes.
func Waited(system string, all []Job) string {
	var waits []int64
	var over []float64
	sum := 0.0
	for k := range all {
		j := &all[k]
		waits = append(waits, j.Start-j.Submit)
		sum += float64(j.Start - j.Submit)
		if j.Limit > 0 {
			over = append(over, float64(j.Limit)/float64(max(1, j.Elapsed)))
		}
	}
	slices.Sort(waits)
	slices.Sort(over)
	n := len(waits)
	text := fmt.Sprintf("under %s they waited %.0f s in the mean, %d s in the median, 95 %% of them at most %d s",
		system, sum/float64(n), waits[(n-1)/2], waits[(95*n+99)/100-1])
	if m := len(over); m > 0 {
		text += fmt.Sprintf("; half of the time limits are more than %.3g times the runtimes", over[(m-1)/2])
	}
	return text
}
