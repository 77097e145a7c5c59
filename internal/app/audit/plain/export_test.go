// SPDX-License-Identifier: MIT

package plain

import (
	"math"

	"github.com/gapwise/gapwise/model"
)

// DAGWithoutSymmetries is the optimum that the search finds if every task and
// machine counts as different from all others, and whether it was whole.
func DAGWithoutSymmetries(in *model.DAG, nodes int64) (value float64, whole bool) {
	n, m := len(in.Tasks), len(in.Machines)
	s := &dagSearch{counter: &counter{limit: nodes}, dagFigures: readDAG(in), machine: make([]int, n), members: make([][]int, m),
		head: make([]float64, n), tail: make([]float64, n), placed: make([]bool, n), free: make([]float64, m)}
	for t := range s.twin {
		s.twin[t] = -1
	}
	s.alike, s.limit = make([][]int, m), math.Inf(1)
	s.assign(0, 0)
	o, err := in.Objective(s.best)
	return o.Value, err == nil && !s.cut
}

// BatchStarts is the execution in which job k starts at starts[k], in microseconds.
func BatchStarts(in *model.Batch, starts []int64) *model.Execution {
	s := &batchSearch{in: in, best: starts}
	for k := range in.Jobs {
		s.length = append(s.length, int64(math.Round(in.Work(k)*1e6)))
	}
	return s.execution()
}
