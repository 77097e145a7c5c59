// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/duals"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/model"
)

// machinesOf returns at most so many machines, the plain one first.
func machinesOf(t *view.Batch, most int) []machine {
	switch {
	case t.Nodes != nil:
		return pooled(t, most)
	case t.Tiers == 1:
		return largest(widths(t), most)
	}
	return uses(t, most)
}

// ranked is a machine with the joint area of all jobs on it, over its capacity.
type ranked struct {
	machine
	area float64
}

// largest returns at most so many machines: the first, and the others with the largest areas.
func largest(all []ranked, most int) []machine {
	order.Stable(all[1:], func(a, b ranked) int { return cmp.Compare(b.area, a.area) })
	machines := make([]machine, min(len(all), most))
	for i := range machines {
		machines[i] = all[i].machine
	}
	return machines
}

// widths returns the machines of one tier: the processors, and dual-feasible functions of them. At every instant the
// widths w of the running jobs sum to at most P, so their values f(w) sum to at most f(P) (see duals.DualFeasible). The
// machine has the capacity f(P) and each job the demand f(w). As on the plain one, a job holds that as long as it
// works, which is all that package squashed asks for. Wide jobs that can't run side by side get a whole machine each.
func widths(t *view.Batch) []ranked {
	width := func(k int) int { return t.Jobs[k].Processes }
	all := []ranked{{machine: machine{width, t.Processors, model.Evidence{Type: evidence.Machine}}}}
	capacity := int64(t.Processors)
	areas := map[int]float64{} // of the jobs of each width
	for k := range t.Jobs {
		areas[t.Jobs[k].Processes] += float64(t.Jobs[k].Length)
	}
	distinct := make([]int, 0, len(areas))
	for w := range areas {
		distinct = append(distinct, w)
	}
	slices.Sort(distinct)
	add := func(name string, k int64, by func(capacity, k int64) (func(int64) int64, int64)) {
		f, bin := by(capacity, k)
		area := 0.0
		for _, w := range distinct {
			area += areas[w] * float64(f(int64(w)))
		}
		why := model.Evidence{Type: evidence.Machine, Function: &model.DualFunction{Name: name, Parameter: k}}
		all = append(all, ranked{machine{func(k int) int { return int(f(int64(t.Jobs[k].Processes))) }, int(bin), why}, area / float64(bin)})
	}
	for k := int64(1); k <= 4; k++ {
		add("steps", k, duals.StepsDFF)
	}
	var half []int
	for _, w := range distinct {
		if w > 0 && 2*w <= t.Processors {
			half = append(half, w)
		}
	}
	step := max(1, len(half)/64)
	for i := 0; i < len(half); i += step {
		add("threshold", int64(half[i]), duals.ThresholdDFF)
		add("pieces", int64(half[i]), duals.PiecesDFF)
	}
	return all
}
