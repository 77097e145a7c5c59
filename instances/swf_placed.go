// SPDX-License-Identifier: MIT

package instances

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/gapwise/gapwise/instances/internal/jobs"
	"github.com/gapwise/gapwise/instances/internal/slurm"
	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/model"
)

// readSWF reads a log in the Standard Workload Format, with LogOptions.Placed on nodes.
func readSWF(f *File, o LogOptions) (*swf.Log, error) {
	log, err := swf.ReadAll(bytes.NewReader(f.data))
	if err != nil || !o.Placed {
		return log, err
	}
	nodes, err := o.options(f.account, slurm.ReadNodes)
	if err != nil {
		return nil, err
	}
	log.Account = f.account
	return log, onNodes(log, nodes, f.account)
}

// onNodes puts the jobs of a log in the Standard Workload Format on nodes: each has its processors, the memory that it asks
// for, a number of KB for each processor, and its partition. That is one of the nodes, by its number or by its name in
// the header. The format doesn't tell on how many nodes a job ran: as few as its processors allow.
func onNodes(log *swf.Log, o *jobs.Options, a *model.Account) error {
	names := namesOf(log.Header, "Partition")
	partition := func(n int64) string {
		number := fmt.Sprint(n)
		if n < 0 {
			return ""
		}
		for k := range o.Nodes {
			if o.Nodes[k].In(number) {
				return number
			}
		}
		return cmp.Or(strings.TrimSuffix(names[n], ","), number)
	}
	var all []jobs.Job
	sized := 0
	for k := range log.Jobs {
		j := &log.Jobs[k]
		if j.Size() < 1 {
			a.LeftOut.Add(swfID(log, k), "jobs without processors")
			continue
		}
		x := jobs.New(k)
		x.ID, x.Partition, x.CPUs = fmt.Sprint(j.Number), partition(j.Partition), j.Size()
		x.Start, x.Elapsed = int64(j.Submit+max(0, j.Wait)), int64(j.Runtime)
		if x.MemoryMB = 0; j.RequestedMemory > 0 {
			x.MemoryMB = x.CPUs * int64(min(1e9, math.Ceil(j.RequestedMemory/1024)))
			sized++
		}
		all = append(all, x)
	}
	kept, placed, err := o.Place(all, a)
	if err != nil {
		return err
	}
	if a.Assumed.Count(len(kept), "jobs on as few nodes as their processors allow"); sized < len(all) {
		a.Assumed.Count(len(all)-sized, "jobs without a request for memory, which need none")
	}
	var some []swf.Job
	var lines []int
	for i := range kept {
		k := kept[i].Line
		j := log.Jobs[k]
		j.Procs, j.RequestedProcs = kept[i].Nodes, kept[i].Nodes
		some, lines = append(some, j), append(lines, log.Line(k))
	}
	log.Jobs, log.Lines, log.Placed = some, lines, placed
	return nil
}
