package batch

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/model/cp"
)

// kernelModel is the constraint model of the offline problem on one tier: a start for
// each job, the processors, and the weighted sum of the responses, in units.
type kernelModel struct {
	cp.Model
	starts []cp.Var
}

// newKernelModel returns the model of the schedules with a sum of at most most. Some
// optimum is among them, if its sum is: jobs run through (batchbounds.Serial).
//
// Devices that leave an optimum, all at once:
//
//   - active: each job starts at its submission or at another's end. In every optimum:
//     a job k that starts later than both fits one unit earlier, too, for what runs then
//     and isn't k runs at its start.
//   - identical: of jobs as long and as wide, i with r_i ≤ r_k and ω_i ≥ ω_k starts no
//     later than k, see tree.expand: a swap of their starts makes no optimum worse.
func newKernelModel(j *jobs, most int64, off deviceSet) *kernelModel {
	n := len(j.release)
	m := &kernelModel{}
	end, last, constant := int64(0), int64(0), int64(0)
	for k := range n {
		end += j.length[k]
		last = max(last, j.release[k])
		constant += j.weight[k] * (j.length[k] - j.release[k])
	}
	m.Objective = m.Int(0, most)
	m.Call(m.Objective, "response")
	shared := &cp.Cumulative{Capacity: j.processors}
	sum := &cp.Linear{AtMost: -constant, Terms: []cp.Term{{Times: -1, Var: m.Objective}}}
	for k := range n {
		// From the last submission on the others run one after the other at worst.
		high := last + end - j.length[k]
		if response := most / j.weight[k]; response < high+j.length[k]-j.release[k] {
			high = j.release[k] - j.length[k] + response
		}
		s := m.Int(j.release[k], high)
		m.Call(s, fmt.Sprint("start ", k))
		m.starts = append(m.starts, s)
		shared.Starts = append(shared.Starts, cp.Start{If: cp.True, At: s})
		shared.Lengths, shared.Demands = append(shared.Lengths, j.length[k]), append(shared.Demands, j.width[k])
		sum.Terms = append(sum.Terms, cp.Term{Times: j.weight[k], Var: s})
	}
	m.AddAs("processors", shared)
	m.AddAs("responses", sum)
	if off&devPrices == 0 {
		m.AddAs("prices", &cp.WeightedStarts{Shared: shared, Weights: j.weight, Constant: constant, Objective: m.Objective})
		for d := int64(1); d <= 2 && off&devWidths == 0; d++ {
			f, bin := bounds.StepsDFF(j.processors, d)
			steps := *shared
			steps.Capacity, steps.Demands = bin, nil
			for _, w := range j.width {
				steps.Demands = append(steps.Demands, f(w))
			}
			m.AddAs(fmt.Sprint("prices ", d), &cp.WeightedStarts{Shared: &steps, Weights: j.weight, Constant: constant, Objective: m.Objective})
		}
	}
	for k := range n {
		if off&devActive == 0 {
			a := &cp.Among{X: m.starts[k], At: j.release[k]}
			for i := range n {
				if i != k {
					a.Of, a.By = append(a.Of, m.starts[i]), append(a.By, j.length[i])
				}
			}
			m.Add(a)
		}
		for i := range n {
			if off&devIdentical == 0 && j.before(i, k) {
				m.Add(&cp.Delay{From: shared.Starts[i : i+1], To: shared.Starts[k : k+1], By: [][]int64{{0}}})
			}
		}
	}
	m.Integers = slices.Clone(m.starts)
	density := func(v cp.Var) float64 {
		k := slices.Index(m.starts, v)
		return float64(j.weight[k]) / float64(j.length[k]) / float64(j.width[k])
	}
	slices.SortStableFunc(m.Integers, func(a, b cp.Var) int { return cmp.Compare(density(b), density(a)) })
	return m
}

// before reports whether an identical job i goes before k, see tree.expand.
func (j *jobs) before(i, k int) bool {
	return j.length[i] == j.length[k] && j.width[i] == j.width[k] && j.release[i] <= j.release[k] && j.weight[i] >= j.weight[k] &&
		(j.release[i] < j.release[k] || j.weight[i] > j.weight[k] || i < k)
}
