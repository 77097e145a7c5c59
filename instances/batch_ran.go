// SPDX-License-Identifier: MIT

package instances

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Starts may be moved by a part of all waits, and by some seconds a job for rounded times, so that the schedule still
// counts as the log's own.
const (
	mostMovedShare = 0.01
	mostMovedS     = 2
)

// moves are starts that differ from a log's.
type moves struct {
	starts     int
	most, mean float64 // delays in seconds; the mean is over all jobs
}

// ranAsLogged returns the log's own schedule of the jobs of an instance of one tier: each starts after its wait. A job
// that finds too few processors free, since the log rounds times, starts when they are free. The result counts these jobs
// and their delays. Later starts come no earlier. Processors are the lowest that are free; nodes are the job's own.
// Errors wrap model.ErrInvalid: the log doesn't tell a job's wait or nodes, or the machine is smaller than the log's, so
// that starts move by more than a hundredth of the waits. O(n log n + P log P), P the sum of the jobs' sizes.
func ranAsLogged(in *model.Batch, log *swf.Log, taken []int) (e *model.Execution, moved moves, err error) {
	starts := make([]float64, len(taken))
	order := make([]int, len(taken))
	for k, line := range taken {
		j := &log.Jobs[line]
		if j.Wait < 0 {
			return nil, moves{}, fmt.Errorf("%w: the log tells no wait of job %s, and so not when it ran", model.ErrInvalid, in.Jobs[k].ID)
		}
		order[k], starts[k] = k, in.Jobs[k].SubmitS+micro(j.Wait)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(starts[a], starts[b]) })
	type end struct {
		at  float64
		job int
	}
	ends := heap.Heap[end]{Less: func(a, b end) bool { return a.at < b.at }}
	var free room
	if log.Placed == nil {
		free = newFreeProcessors(in)
	} else if free, err = newFreeNodes(in, log.Placed.Hosts, taken); err != nil {
		return nil, moves{}, err
	}
	e = &model.Execution{Runs: make([]model.Run[model.BatchPlace], len(taken))}
	now, delayed, waited := 0.0, 0.0, 0.0
	for _, k := range order {
		waited += starts[k] - in.Jobs[k].SubmitS
		now = max(now, starts[k])
		for ends.Len() > 0 && (ends.Items[0].at <= now || !free.fits(k)) {
			x := ends.Pop()
			now = max(now, x.at)
			free.release(x.job, e.Runs[x.job].Segments[0].Place.Processors)
		}
		if now > starts[k] {
			moved.starts++
			delayed += now - starts[k]
			moved.most = max(moved.most, now-starts[k])
		}
		s := model.Segment[model.BatchPlace]{StartS: now, EndS: now + in.Work(k), Place: model.BatchPlace{Processors: free.take(k)}}
		e.Runs[k] = model.Run[model.BatchPlace]{ID: in.Jobs[k].ID, Segments: []model.Segment[model.BatchPlace]{s}}
		ends.Push(end{s.EndS, k})
	}
	if n := float64(len(taken)); delayed > mostMovedShare*waited+mostMovedS*n {
		used := ""
		if log.Placed == nil {
			used = fmt.Sprintf("up to %d processors are in use at once of %d, and ", mostInUse(in, starts, order), in.Processors)
		}
		return nil, moves{}, fmt.Errorf("%w: how the log's jobs ran is no schedule of this machine: %s%s would move, by up to %g s (they waited %.6g s in the mean by the log); "+
			"give the machine that ran them, or one of its partitions", model.ErrInvalid, used, words.Plural(moved.starts, "start"), moved.most, waited/n)
	}
	moved.mean = delayed / float64(len(taken))
	return e, moved, nil
}

// mostInUse returns how many processors are in use at once if the jobs, in the order of their starts, run then.
func mostInUse(in *model.Batch, starts []float64, order []int) (most int) {
	ends, used := slices.Clone(order), 0
	at := func(k int) float64 { return starts[k] + in.Work(k) }
	slices.SortStableFunc(ends, func(a, b int) int { return cmp.Compare(at(a), at(b)) })
	for _, k := range order {
		for ; at(ends[0]) <= starts[k]; ends = ends[1:] {
			used -= in.Jobs[ends[0]].Processes
		}
		used += in.Jobs[k].Processes
		most = max(most, used)
	}
	return most
}

// room is the part of a machine that is free.
type room interface {
	fits(k int) bool
	take(k int) model.ProcessorList
	release(k int, list model.ProcessorList)
}

// freeProcessors are the numbers of the free processors.
type freeProcessors struct {
	in   *model.Batch
	free heap.Heap[int32]
}

func newFreeProcessors(in *model.Batch) *freeProcessors {
	f := &freeProcessors{in, heap.Heap[int32]{Less: func(a, b int32) bool { return a < b }}}
	for p := range in.Processors {
		f.free.Push(int32(p))
	}
	return f
}

func (f *freeProcessors) fits(k int) bool { return f.free.Len() >= f.in.Jobs[k].Processes }

func (f *freeProcessors) take(k int) model.ProcessorList {
	list := make(model.ProcessorList, f.in.Jobs[k].Processes)
	for i := range list {
		list[i] = f.free.Pop()
	}
	return list
}

func (f *freeProcessors) release(_ int, list model.ProcessorList) {
	for _, p := range list {
		f.free.Push(p)
	}
}

// freeNodes holds what is free of each node; a job has the nodes that the log tells.
type freeNodes struct {
	in    *model.Batch
	nodes []model.ProcessorList // of each job
	free  [][]int64             // of each node, by resource
}

func newFreeNodes(in *model.Batch, told [][]int32, taken []int) (*freeNodes, error) {
	f := &freeNodes{in: in, nodes: make([]model.ProcessorList, len(taken))}
	for g := range in.Nodes {
		for range in.Nodes[g].Count {
			f.free = append(f.free, slices.Clone(in.Nodes[g].Capacity))
		}
	}
	for k, line := range taken {
		j := &in.Jobs[k]
		if told != nil {
			f.nodes[k] = told[line]
		}
		switch {
		case len(f.nodes[k]) != j.Processes:
			return nil, fmt.Errorf("%w: job %s runs on %d nodes, the log names %d; --ran takes them from the column NodeList", model.ErrInvalid, j.ID, j.Processes, len(f.nodes[k]))
		case slices.Contains(f.nodes[k], -1):
			return nil, fmt.Errorf("%w: job %s ran on a node that the platform doesn't have, or that isn't up; leave --ran out", model.ErrInvalid, j.ID)
		}
	}
	return f, nil
}

func (f *freeNodes) fits(k int) bool {
	for _, n := range f.nodes[k] {
		for r, need := range f.in.Jobs[k].Needs.Each {
			if f.free[n][r] < need {
				return false
			}
		}
	}
	return true
}

func (f *freeNodes) take(k int) model.ProcessorList {
	f.add(k, -1)
	return f.nodes[k]
}

func (f *freeNodes) release(k int, _ model.ProcessorList) { f.add(k, 1) }

func (f *freeNodes) add(k int, by int64) {
	for _, n := range f.nodes[k] {
		for r, need := range f.in.Jobs[k].Needs.Each {
			f.free[n][r] += by * need
		}
	}
}
