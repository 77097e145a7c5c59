// SPDX-License-Identifier: MIT

package processors

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// Course holds the starts and ends of jobs on one tier.
type Course struct {
	Starts         []int64   // in ticks, by job; -1: it doesn't start
	Started, Ended []int32   // jobs in the order of these events
	Lists          [][]int32 // processors, by job; nil: the lists of number
}

// Lengths returns, by job, the ticks of the real run and of the run by its estimate. A tick of work takes FullRate/rate
// ticks at the foreground's rate, for both alike, rounded up to whole ticks. The error wraps model.ErrUnsupported:
// times may get too long for whole numbers.
func Lengths(t *view.Batch) (lengths, estimates []int64, err error) {
	lengths, estimates = make([]int64, len(t.Jobs)), make([]int64, len(t.Jobs))
	for k := range t.Jobs {
		j := &t.Jobs[k]
		lengths[k], estimates[k] = AtRate(j.Length, j.Foreground), AtRate(j.Estimate, j.Foreground)
		if longest := max(lengths[k], estimates[k]); longest > MostEstimates {
			return nil, nil, fmt.Errorf("%w: in the foreground, job %d takes %.3g s by its runtime or estimate; the most is %.3g", model.ErrUnsupported, k, float64(longest)/1e6, MostEstimates/1e6)
		}
	}
	return lengths, estimates, nil
}

// MostEstimates bounds each job's time and, if they are added up, their sum, so that now + estimate is below 2^63.
// Runtimes aren't added up: simulations stop at view.MostTime.
const MostEstimates = 2e18

// TooLate is the error of a schedule that goes on after view.MostTime.
func TooLate() error { return view.TooLate("job", "processors") }

// AtRate returns the ticks that work of the given length takes at a rate, at most
// math.MaxInt64.
func AtRate(length, rate int64) int64 {
	if rate == view.FullRate {
		return length
	}
	high, low := bits.Mul64(uint64(length), view.FullRate)
	if high >= uint64(rate) {
		return math.MaxInt64
	}
	ticks, rest := bits.Div64(high, low, uint64(rate))
	if rest > 0 {
		ticks++
	}
	return int64(min(ticks, math.MaxInt64))
}

// number gives each job its processors: in the order of the starts the lowest that
// are free, ends before starts. A job that finds too few shares the lowest processors of others, which the judge
// reports. The lists are cut from one array. It takes time linear in the jobs' total width.
func (c *Course) number(t *view.Batch, lengths []int64) [][]int32 {
	total := 0
	for k := range t.Jobs {
		total += t.Jobs[k].Processes
	}
	array, lists := make([]int32, total), make([][]int32, len(t.Jobs))
	for k := range t.Jobs {
		w := t.Jobs[k].Processes
		lists[k], array = array[:w:w], array[w:]
	}
	free, left, ended := NewFree(t.Processors), t.Processors, 0
	short := map[int32]int{} // jobs that find too few free processors, and how many they find
	for _, k := range c.Started {
		for ; ended < len(c.Ended); ended++ {
			e := c.Ended[ended]
			if c.Starts[e]+lengths[e] > c.Starts[k] {
				break
			}
			held := lists[e]
			if n, found := short[e]; found {
				held = held[:n]
			}
			free.Give(held)
			left += len(held)
		}
		took := min(left, len(lists[k]))
		free.Take(lists[k][:took])
		if left -= took; took < len(lists[k]) {
			short[k] = took
			share(lists[k], took)
		}
	}
	return lists
}

// share fills in the rest of a list of different processors with the lowest ones that aren't in it.
func share(list []int32, from int) {
	in := slices.Clone(list[:from]) // ascending
	for p := int32(0); from < len(list); p++ {
		if len(in) > 0 && in[0] == p {
			in = in[1:]
			continue
		}
		list[from] = p
		from++
	}
}

// Execution returns the execution of a course, of jobs of the given lengths in ticks.
func (c *Course) Execution(in *model.Batch, t *view.Batch, lengths []int64) (*model.Execution, error) {
	for k, start := range c.Starts {
		if start < 0 || start+lengths[k] > view.MostTime {
			return nil, TooLate()
		}
	}
	if c.Lists == nil {
		c.Lists = c.number(t, lengths)
	}
	return c.Runs(in, t, lengths), nil
}

// Runs returns the execution of the jobs that start. Lists must be there.
func (c *Course) Runs(in *model.Batch, t *view.Batch, lengths []int64) *model.Execution {
	segments := make([]model.Segment[model.BatchPlace], len(in.Jobs))
	e := &model.Execution{Runs: make([]model.Run[model.BatchPlace], 0, len(in.Jobs))}
	for k, start := range c.Starts {
		if start < 0 {
			continue
		}
		segments[k] = model.Segment[model.BatchPlace]{StartS: t.Seconds(start), EndS: t.Seconds(start + lengths[k]),
			Place: model.BatchPlace{Processors: c.Lists[k]}}
		e.Runs = append(e.Runs, model.Run[model.BatchPlace]{ID: in.Jobs[k].ID, Segments: segments[k : k+1 : k+1]})
	}
	return e
}
