// SPDX-License-Identifier: MIT

package instances

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/model"
)

// ranAsLogged returns the log's own schedule of the jobs of an instance of one tier: each starts after its wait. A job
// that finds too few processors free, since the log rounds times or the machine is smaller, starts when they are free.
// The result moved counts these jobs, and mostMoved is the longest such delay in seconds. Later starts come no earlier.
// Processors are the lowest that are free. The error wraps model.ErrInvalid for a job without a wait. O(n log n + P log
// P), P the sum of the jobs' sizes.
func ranAsLogged(in *model.Batch, log *swf.Log, taken []int) (e *model.Execution, moved int, mostMoved float64, err error) {
	starts := make([]float64, len(taken))
	order := make([]int, len(taken))
	for k, line := range taken {
		j := &log.Jobs[line]
		if j.Wait < 0 {
			return nil, 0, 0, fmt.Errorf("%w: the log tells no wait of job %s, and so not when it ran", model.ErrInvalid, in.Jobs[k].ID)
		}
		order[k], starts[k] = k, in.Jobs[k].SubmitS+micro(j.Wait)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(starts[a], starts[b]) })
	type end struct {
		at  float64
		job int
	}
	ends := heap.Heap[end]{Less: func(a, b end) bool { return a.at < b.at }}
	free := heap.Heap[int32]{Less: func(a, b int32) bool { return a < b }}
	for p := range in.Processors {
		free.Push(int32(p))
	}
	e = &model.Execution{Runs: make([]model.Run[model.BatchPlace], len(taken))}
	now := 0.0
	for _, k := range order {
		now = max(now, starts[k])
		for ends.Len() > 0 && (ends.Items[0].at <= now || free.Len() < in.Jobs[k].Processes) {
			x := ends.Pop()
			now = max(now, x.at)
			for _, p := range e.Runs[x.job].Segments[0].Place.Processors {
				free.Push(p)
			}
		}
		if now > starts[k] {
			moved++
			mostMoved = max(mostMoved, now-starts[k])
		}
		list := make(model.ProcessorList, in.Jobs[k].Processes)
		for i := range list {
			list[i] = free.Pop()
		}
		s := model.Segment[model.BatchPlace]{StartS: now, EndS: now + in.Work(k), Place: model.BatchPlace{Processors: list}}
		e.Runs[k] = model.Run[model.BatchPlace]{ID: in.Jobs[k].ID, Segments: []model.Segment[model.BatchPlace]{s}}
		ends.Push(end{s.EndS, k})
	}
	return e, moved, mostMoved, nil
}
