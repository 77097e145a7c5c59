// SPDX-License-Identifier: MIT

package slurm

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gapwise/gapwise/instances/internal/swf"
)

// Options select the part of a table that becomes a log.
type Options struct {
	Partition string // jobs and nodes of this one; "": all
	ByNodes   bool   // a processor is a node, instead of a CPU
	Pending   bool   // the jobs that run and wait now, for their time limits
	Zone      *time.Location
	Nodes     []Node // nil: the machine is as large as what its jobs used at once
}

// unit names a processor.
func (o *Options) unit() string {
	if o.ByNodes {
		return "nodes"
	}
	return "CPUs"
}

// size returns the processors of a job.
func (o *Options) size(j *Job) int64 {
	if o.ByNodes {
		return j.Nodes
	}
	return j.CPUs
}

// takes reports whether a job is of the partition.
func (o *Options) takes(j *Job) bool {
	return o.Partition == "" || slices.Contains(strings.Split(j.Partition, ","), o.Partition)
}

// ended maps the states to SWF's; states of jobs that haven't ended are unknown.
var ended = map[string]int64{"COMPLETED": swf.StatusCompleted, "CANCELLED": swf.StatusCancelled, "FAILED": swf.StatusFailed, "TIMEOUT": swf.StatusFailed,
	"NODE_FAIL": swf.StatusFailed, "OUT_OF_MEMORY": swf.StatusFailed, "PREEMPTED": swf.StatusFailed, "BOOT_FAIL": swf.StatusFailed, "DEADLINE": swf.StatusFailed,
	"REQUEUED": swf.StatusFailed}

// Log makes a log of the jobs that have started. They are submitted when they became eligible, with their allocation,
// for as long as they ran, with their time limits as estimates. The components of a heterogeneous job are one job.
// Notes list facts that are missing or aren't modelled. Errors wrap model.ErrInvalid.
func (t *Table) Log(o Options) (*swf.Log, error) {
	var jobs []Job
	var c counts
	if o.Pending {
		jobs, c = t.waiting(&o)
	} else {
		jobs, c = t.started(&o)
		c.notes(t, &o, jobs)
	}
	l := &swf.Log{Names: &swf.Names{}, Notes: c.said}
	if len(jobs) == 0 {
		if o.Pending {
			return nil, invalid(0, "none of its %d jobs runs or waits", len(t.Jobs))
		}
		if o.Partition != "" {
			return nil, invalid(0, "no job of the partition %s has started; there are %s", o.Partition, t.partitions())
		}
		return nil, invalid(0, "none of its %d jobs has started", len(t.Jobs))
	}
	begin := jobs[0].Submit
	names := map[*[]string]map[string]int64{}
	number := func(list *[]string, name string) int64 {
		if name == "" {
			return Unknown
		}
		if names[list] == nil {
			names[list] = map[string]int64{}
		}
		n, ok := names[list][name]
		if !ok {
			n = int64(len(*list))
			names[list][name], *list = n, append(*list, name)
		}
		return n
	}
	seen := map[string]int{}
	for k := range jobs {
		j := &jobs[k]
		if seen[j.ID]++; seen[j.ID] > 1 {
			j.ID = fmt.Sprintf("%s#%d", j.ID, seen[j.ID])
		}
		status, ok := ended[j.State]
		if !ok {
			status = Unknown
		}
		wait := j.Start - j.Submit
		if o.Pending { // it hasn't been seen to start
			wait = Unknown
		}
		l.Names.Jobs = append(l.Names.Jobs, j.ID)
		l.Lines = append(l.Lines, j.Line)
		l.Jobs = append(l.Jobs, swf.Job{Number: int64(k + 1), Submit: j.Submit - begin, Wait: wait, Runtime: j.Elapsed, Procs: o.size(j),
			CPU: Unknown, Memory: Unknown, RequestedProcs: o.size(j), RequestedTime: j.Limit, RequestedMemory: Unknown, Status: status,
			User: number(&l.Names.Users, j.User), Group: number(&l.Names.Groups, j.Account), Executable: number(&l.Names.Executables, j.Name),
			Queue: number(&l.Names.Queues, cmp.Or(j.QOS, j.Partition)), Partition: number(&l.Names.Partitions, j.Partition),
			Preceding: Unknown, Think: Unknown})
	}
	procs, err := o.machine(l)
	if err != nil {
		return nil, err
	}
	l.Header = swf.Header{{Key: "MaxProcs", Value: fmt.Sprint(procs)}, {Key: "UnixStartTime", Value: fmt.Sprint(begin)}} // of 0 none is known
	if o.Zone != nil {
		_, offset := time.Unix(begin, 0).In(o.Zone).Zone()
		l.Header = append(l.Header, swf.HeaderField{Key: "TimeZone", Value: fmt.Sprint(offset)})
	}
	return l, nil
}

// partitions lists the partitions of the jobs, the largest first.
func (t *Table) partitions() string {
	count := map[string]int{}
	for k := range t.Jobs {
		count[t.Jobs[k].Partition]++
	}
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(count[b]-count[a], cmp.Compare(a, b)) })
	for k, name := range names {
		names[k] = fmt.Sprintf("%s (%d jobs)", cmp.Or(name, "without a name"), count[name])
	}
	if len(names) > 8 {
		names = append(names[:8], fmt.Sprintf("%d more", len(names)-8))
	}
	return strings.Join(names, ", ")
}

// counts are the figures about a table for the notes of its log.
type counts struct {
	pending, never, unended, requeued, joined, later, unlimited, noTime, noSize int
	gpuJobs, memoryJobs, restricted                                             int
	said                                                                        []string
}

func (c *counts) note(n int, format string, args ...any) {
	if n > 0 {
		c.said = append(c.said, fmt.Sprintf("%d ", n)+fmt.Sprintf(format, args...))
	}
}

// started returns the jobs that have started, with all that a log needs.
func (t *Table) started(o *Options) (jobs []Job, c counts) {
	whole := map[string]int{} // of the heterogeneous jobs, the first component
	for _, j := range t.Jobs {
		if !o.takes(&j) {
			continue
		}
		if j.Elapsed < 0 && j.Start >= 0 && j.End >= j.Start {
			j.Elapsed = j.End - j.Start
		}
		switch {
		case j.State == "PENDING" || j.State == "CONFIGURING":
			c.pending++
			continue
		case j.Start < 0 || j.State == "CANCELLED" && j.Elapsed == 0:
			c.never++
			continue
		case j.Elapsed < 0 || j.Submit < 0:
			c.noTime++
			continue
		case o.size(&j) < 1:
			c.noSize++
			continue
		}
		switch j.State {
		case "RUNNING", "SUSPENDED", "COMPLETING", "RESIZING", "STOPPED", "SIGNALING", "STAGE_OUT":
			c.unended++
		case "REQUEUED", "NODE_FAIL", "PREEMPTED":
			c.requeued++
		}
		if eligible := min(j.Eligible, j.Start); eligible > j.Submit {
			c.later++
			j.Submit = eligible
		}
		j.Submit = min(j.Submit, j.Start)
		if base, _, ok := strings.Cut(j.ID, "+"); ok && base != "" {
			key := fmt.Sprint(base, " ", j.Start)
			if first, ok := whole[key]; ok {
				c.joined++
				jobs[first].join(&j)
				continue
			}
			whole[key], j.ID = len(jobs), base
		}
		jobs = append(jobs, j)
	}
	longest := int64(0)
	for k := range jobs {
		longest = max(longest, jobs[k].Limit, jobs[k].Elapsed)
	}
	for k := range jobs {
		if jobs[k].Limit == NoLimit {
			jobs[k].Limit = max(1, longest)
			c.unlimited++
		}
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	return jobs, c
}

// join adds a component of a heterogeneous job.
func (j *Job) join(other *Job) {
	j.CPUs, j.Nodes = max(0, j.CPUs)+max(0, other.CPUs), max(0, j.Nodes)+max(0, other.Nodes)
	j.MemoryMB, j.GPUs = max(0, j.MemoryMB)+max(0, other.MemoryMB), max(0, j.GPUs)+max(0, other.GPUs)
	j.Elapsed, j.Limit, j.Submit = max(j.Elapsed, other.Elapsed), max(j.Limit, other.Limit), max(j.Submit, other.Submit)
	j.Restricted = j.Restricted || other.Restricted
}

// notes lists the facts that are missing or aren't modelled.
func (c *counts) notes(t *Table, o *Options, jobs []Job) {
	c.note(c.pending, "pending, left out")
	c.note(c.never, "that never started, left out")
	c.note(c.noTime, "started without times, left out")
	c.note(c.noSize, "without %s, left out", o.unit())
	c.note(c.unended, "still running, taken with the time they have run")
	c.note(c.requeued, "ended by a requeue, a failed node or preemption, each run a job of its own")
	c.note(c.joined, "further components of heterogeneous jobs, added to the first")
	c.note(c.later, "eligible later than submitted (dependencies, begin times), which count from then on")
	c.note(c.unlimited, "without a time limit, whose estimate is then the longest of the log")
	if parts := t.partitions(); o.Partition == "" && strings.Contains(parts, ",") {
		c.said = append(c.said, "one machine for the partitions "+parts+"; --partition NAME takes one")
	}
	c.unmodelled(t, o, jobs)
	if o.Zone == nil {
		c.said = append(c.said, "times are as Slurm wrote them, local without a zone, and read as UTC; --tz NAME tells the zone")
	}
	c.own(jobs, o)
}

// unmodelled counts the jobs with demands that an instance can't express.
func (c *counts) unmodelled(t *Table, o *Options, jobs []Job) {
	share := math.Inf(1) // memory of a CPU
	var cpus, memory int64
	for k := range o.Nodes {
		if n := &o.Nodes[k]; n.in(o.Partition) && n.Up() && n.MemoryMB > 0 {
			cpus, memory = cpus+n.CPUs, memory+n.MemoryMB
		}
	}
	if cpus > 0 {
		share = float64(memory) / float64(cpus)
	}
	area, gpuArea, memoryArea := 0.0, 0.0, 0.0
	for k := range jobs {
		j := &jobs[k]
		x := float64(j.Elapsed) * float64(o.size(j))
		area += x
		if j.GPUs > 0 {
			c.gpuJobs++
			gpuArea += x
		}
		if j.CPUs > 0 && float64(j.MemoryMB) > share*float64(j.CPUs) {
			c.memoryJobs++
			memoryArea += x
		}
		if j.Restricted {
			c.restricted++
		}
	}
	percent := func(x float64) float64 { return 100 * x / max(1, area) }
	c.note(c.gpuJobs, "with GPUs (%.0f %% of the work), which aren't modelled", percent(gpuArea))
	c.note(c.memoryJobs, "with more memory than their CPUs' share of the nodes (%.0f %% of the work), which isn't modelled", percent(memoryArea))
	c.note(c.restricted, "that ask for features of nodes, which aren't modelled")
	if len(t.Untold) > 0 {
		c.said = append(c.said, "no column tells of "+strings.Join(t.Untold, " and ")+", which aren't modelled: jobs that need much of them would start later")
	}
}

// own reports Slurm's own results for the jobs.
func (c *counts) own(jobs []Job, o *Options) {
	if len(jobs) == 0 {
		return
	}
	var waits []int64
	var over []float64
	sum := 0.0
	for k := range jobs {
		j := &jobs[k]
		waits = append(waits, j.Start-j.Submit)
		sum += float64(j.Start - j.Submit)
		if j.Limit > 0 {
			over = append(over, float64(j.Limit)/float64(max(1, j.Elapsed)))
		}
	}
	slices.Sort(waits)
	slices.Sort(over)
	n := len(waits)
	text := fmt.Sprintf("under Slurm they waited %.0f s in the mean, %d s in the median, 95 %% of them at most %d s", sum/float64(n), waits[(n-1)/2], waits[(95*n+99)/100-1])
	if m := len(over); m > 0 {
		text += fmt.Sprintf("; half of the time limits are more than %.3g times the runtimes", over[(m-1)/2])
	}
	c.said = append(c.said, text)
}

// machine returns the number of processors: of the nodes that are up or, without nodes, the
// most that the jobs used at once.
func (o *Options) machine(l *swf.Log) (int64, error) {
	used := int64(0)
	if !o.Pending { // else nobody knows
		used = l.Peak()
	}
	if o.Nodes == nil && o.Pending {
		return Unknown, nil
	}
	if o.Nodes == nil {
		l.Notes = append(l.Notes, fmt.Sprintf("the machine is taken to have %d %s, the most that its jobs used at once; --platform FILE tells it (%s)", used, o.unit(), NodesAdvice))
		return used, nil
	}
	var procs, up, down int64
	for k := range o.Nodes {
		n := &o.Nodes[k]
		switch {
		case !n.in(o.Partition):
		case !n.Up():
			down++
		case o.ByNodes:
			procs, up = procs+1, up+1
		default:
			procs, up = procs+n.CPUs, up+1
		}
	}
	if procs < 1 {
		return 0, invalid(0, "no node of the partition %s is up", quote(o.Partition))
	}
	if down > 0 {
		l.Notes = append(l.Notes, fmt.Sprintf("%d nodes that are down or drained are left out", down))
	}
	if used > procs {
		l.Notes = append(l.Notes, fmt.Sprintf("the jobs used up to %d %s at once, the nodes have %d", used, o.unit(), procs))
	}
	return procs, nil
}
