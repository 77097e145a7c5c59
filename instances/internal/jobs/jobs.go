// SPDX-License-Identifier: MIT

// Package jobs holds the runs of jobs that the records of a batch system tell (Slurm, Grid Engine, OAR), and makes a log in
// the Standard Workload Format of them.
package jobs

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Unknown is a time, a length or a number that the records don't give.
const Unknown = -1

// NoLimit is the time limit of a job without one.
const NoLimit = -2

// Job is a run of a job, a task of an array, or a component of a heterogeneous job. Times are seconds since 1970; sizes
// are at least 0, or Unknown.
type Job struct {
	Line      int // of the record, from 1
	ID        string
	User      string
	Account   string
	Partition string // or queue
	QOS       string
	Name      string
	Submit    int64
	Eligible  int64 // from when on it might start: after dependencies and begin times
	Start     int64
	End       int64
	Elapsed   int64 // seconds, without suspensions
	Suspended int64 // seconds
	Limit     int64 // seconds, or NoLimit
	CPUs      int64 // allocated or, before, requested
	Nodes     int64
	Hosts     []string // the names of the nodes on which it ran; nil: not told
	Features  []string // of each of its nodes
	MemoryMB  int64    // in all
	GPUs      int64
	State     string
	Status    int64   // one of SWF's, or Unknown
	Reason    string  // why it waits
	Priority  float64 // the largest first; Unknown

	// Take reads these, too.
	Phase   Phase
	Left    string   // why it is left out, as the text of a telling; "": it is taken
	Asks    []string // for what no instance has a place, as texts of tellings
	Planned int64    // of a job that waits, the start that the system plans
}

// New returns a job of which nothing is known but the line of its record.
func New(line int) Job {
	return Job{Line: line, Submit: Unknown, Eligible: Unknown, Start: Unknown, End: Unknown, Elapsed: Unknown, Limit: Unknown,
		CPUs: Unknown, Nodes: Unknown, MemoryMB: Unknown, GPUs: Unknown, Status: Unknown, Suspended: Unknown, Priority: Unknown, Planned: Unknown}
}

// Options select the part of the records that becomes a log.
type Options struct {
	Partition string // jobs and nodes of this partition or queue; "": all
	ByNodes   bool   // a processor is a node, instead of a CPU
	Placed    bool   // the machine is its nodes, with what they have and jobs need of it
	Merged    bool   // one machine, also where the records show that partitions share no node (see Apart)
	Pending   bool   // the jobs that run and wait now, for their time limits
	Zone      *time.Location
	Nodes     []Node // nil: the machine is as large as what its jobs used at once
}

// Unit names a processor.
func (o *Options) Unit() string {
	if o.ByNodes || o.Placed {
		return "nodes"
	}
	return "CPUs"
}

// Size returns the processors of a job.
func (o *Options) Size(j *Job) int64 {
	switch {
	case o.Placed:
		return max(1, j.Nodes)
	case o.ByNodes:
		return j.Nodes
	}
	return j.CPUs
}

// Node is a node of a cluster.
type Node struct {
	Name       string
	CPUs       int64
	MemoryMB   int64
	GPUs       int64
	Partitions []string
	Features   []string
	State      string
	Up         bool // jobs may run on it today
}

// AnyPartition is the partition of nodes that all partitions share.
const AnyPartition = "*"

// In reports whether the node is of a partition; "": of any.
func (n *Node) In(partition string) bool {
	return partition == "" || slices.Contains(n.Partitions, partition) || slices.Contains(n.Partitions, AnyPartition)
}

// Log makes a log of jobs in the order of submission. Of pending jobs none has been seen to start. The account tells what
// was read; the machine is added to it.
func Log(all []Job, o *Options, account *model.Account) (*swf.Log, error) {
	l := &swf.Log{Names: &swf.Names{}, Account: account}
	if o.Placed {
		var err error
		if all, l.Placed, err = o.Place(all, account); err != nil {
			return nil, err
		}
	}
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
	begin := all[0].Submit
	seen := map[string]int{}
	for k := range all {
		j := &all[k]
		if seen[j.ID]++; seen[j.ID] > 1 {
			j.ID = fmt.Sprintf("%s#%d", j.ID, seen[j.ID])
		}
		wait := float64(j.Start - j.Submit)
		if o.Pending {
			wait = Unknown
		}
		l.Names.Jobs = append(l.Names.Jobs, j.ID)
		l.Lines = append(l.Lines, j.Line)
		l.Jobs = append(l.Jobs, swf.Job{Number: int64(k + 1), Submit: float64(j.Submit - begin), Wait: wait, Runtime: float64(j.Elapsed),
			Procs: o.Size(j), CPU: Unknown, Memory: Unknown, RequestedProcs: o.Size(j), RequestedTime: float64(j.Limit), RequestedMemory: Unknown,
			Status: j.Status, User: number(&l.Names.Users, j.User), Group: number(&l.Names.Groups, j.Account),
			Executable: number(&l.Names.Executables, j.Name), Queue: number(&l.Names.Queues, cmp.Or(j.QOS, j.Partition)),
			Partition: number(&l.Names.Partitions, j.Partition), Preceding: Unknown, Think: Unknown})
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
		l.Assumed = fmt.Sprintf("the machine has %d %s, the most that its jobs used at once; --platform FILE tells it", used, o.Unit())
		return used, nil
	}
	var procs int64
	up, down := o.up()
	if !o.Placed {
		up = o.used(l, up)
	}
	for k := range up {
		if o.ByNodes || o.Placed {
			procs++
		} else {
			procs += up[k].CPUs
		}
	}
	if procs < 1 {
		return 0, fmt.Errorf("%w platform: no node of the partition %q is up", model.ErrInvalid, o.Partition)
	}
	l.Account.LeftOut.Count(down, "nodes down or drained")
	if used > procs && !o.Placed { // jobs share nodes
		l.Account.Remarks.Say("the jobs used up to %s %s at once, the nodes have %s", words.Thousands(int64(used)), o.Unit(), words.Thousands(int64(procs)))
	}
	return procs, nil
}

// used returns the nodes of the partitions that jobs of the log may use: all of them if a job's isn't known, or no node is
// in one.
func (o *Options) used(l *swf.Log, up []Node) []Node {
	if o.Partition != "" || slices.ContainsFunc(l.Jobs, func(j swf.Job) bool { return j.Partition == Unknown }) {
		return up
	}
	var names []string
	for _, name := range l.Names.Partitions {
		names = append(names, strings.Split(name, ",")...)
	}
	some := slices.DeleteFunc(slices.Clone(up), func(n Node) bool { return !slices.ContainsFunc(names, n.In) })
	if len(some) == 0 {
		return up
	}
	l.Account.LeftOut.Count(len(up)-len(some), "nodes of partitions or queues without a job")
	return some
}

// Apart reports whether the records show partitions that share no node: at least two have jobs that ran, no node that is
// up belongs to two of these, and each job ran on nodes of its own partition alone. One machine of all processors would
// then run jobs where they can't run. It is false if the options ask for another machine.
func (o *Options) Apart(all []Job) bool {
	ran := slices.DeleteFunc(slices.Clone(all), func(j Job) bool { return j.Left != "" })
	used := map[string]bool{}
	for k := range ran {
		used[ran[k].Partition] = true
	}
	if o.Merged || o.Placed || o.ByNodes || o.Pending || o.Partition != "" || len(used) < 2 {
		return false
	}
	of := map[string]string{}
	up, _ := o.up()
	for k := range up {
		for _, p := range distinct(up[k].Partitions) {
			if known := of[up[k].Name]; p == AnyPartition || used[p] && known != "" {
				return false
			} else if used[p] {
				of[up[k].Name] = p
			}
		}
	}
	return !slices.ContainsFunc(ran, func(j Job) bool {
		return len(j.Hosts) == 0 || slices.ContainsFunc(j.Hosts, func(name string) bool { return of[name] == "" || of[name] != j.Partition })
	})
}

// up returns the nodes of the partition that are up, and how many aren't.
func (o *Options) up() (up []Node, down int) {
	for _, n := range o.Nodes {
		switch {
		case !n.In(o.Partition):
		case n.Up:
			up = append(up, n)
		default:
			down++
		}
	}
	return up, down
}

// Ask notes for what a job asks that no instance has a place for, once.
func (j *Job) Ask(text string) {
	if !slices.Contains(j.Asks, text) {
		j.Asks = append(j.Asks, text)
	}
}

// Tasks returns the tasks of an array by a list of numbers and ranges, 1,3,5-9:2. It is false for other texts, and for
// more tasks than most.
func Tasks(list string, most int64) (all []int64, ok bool) {
	for part := range strings.SplitSeq(list, ",") {
		span, by, stepped := strings.Cut(part, ":")
		first, last, ranged := strings.Cut(span, "-")
		from, ok := whole(first)
		to, step := from, int64(1)
		if ok && ranged {
			to, ok = whole(last)
		}
		if ok && stepped {
			step, ok = whole(by)
		}
		if !ok || step < 1 || to < from || (to-from)/step >= most-int64(len(all)) {
			return nil, false
		}
		for ; from <= to; from += step {
			all = append(all, from)
		}
	}
	return all, true
}

// whole reads a number of digits alone.
func whole(s string) (int64, bool) {
	x, err := strconv.ParseUint(s, 10, 62)
	return int64(x), err == nil
}

// Invalid returns an error about a file of a batch system, with its line unless that is 0. It wraps model.ErrInvalid.
func Invalid(file string, line int, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if line > 0 {
		err = fmt.Errorf("line %d: %w", line, err)
	}
	return fmt.Errorf("%w %s: %w", model.ErrInvalid, file, err)
}

// Quote returns text for a message: on one line, and not long.
func Quote(text string) string { return fmt.Sprintf("%q", text[:min(len(text), 40)]) }

// Pattern returns a regular expression that is compiled when it is first used.
func Pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// Percent returns a share of the work of jobs, in percent.
func Percent(part, all float64) float64 { return 100 * part / max(1, all) }
