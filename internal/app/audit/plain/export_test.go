// SPDX-License-Identifier: MIT

package plain

import (
	"math"

	"github.com/gapwise/gapwise/model"
)

// DAGWithoutSymmetries is the optimum that the search finds if every task and
// machine counts as different from all others, and whether it was whole.
func DAGWithoutSymmetries(in *model.DAG, nodes int64) (value float64, whole bool) {
	s := newDAGSearch(in, &counter{limit: nodes})
	for t := range s.twin {
		s.twin[t] = -1
	}
	s.alike, s.limit = make([][]int, len(in.Machines)), math.Inf(1)
	s.assign(0, make([]float64, len(s.takes)))
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
