// SPDX-License-Identifier: MIT

package scene

import (
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// nodeLanes gives processes lanes of a picture: a node has a lane for each unit of its first resource, or for several if
// there are many.
type nodeLanes struct {
	unit  int64
	first []int     // of each node, and at the end the number of lanes
	until []float64 // of each lane, the end of its last process
}

// mostLanes is how many lanes a picture has, about.
const mostLanes = 1 << 16

// lanesOf returns the lanes of a machine of nodes, all free; nil: it has processors alone.
func lanesOf(in *model.Batch) *nodeLanes {
	if len(in.Nodes) == 0 {
		return nil
	}
	l := &nodeLanes{unit: max(1, view.CapacityOf(in.Nodes, 0)/mostLanes), first: []int{0}}
	for g := range in.Nodes {
		for range in.Nodes[g].Count {
			l.first = append(l.first, l.first[len(l.first)-1]+int(max(1, in.Nodes[g].Capacity[0]/l.unit)))
		}
	}
	l.until = make([]float64, l.first[len(l.first)-1])
	return l
}

// count returns how many lanes there are, or processors.
func (l *nodeLanes) count(in *model.Batch) int {
	if l == nil {
		return in.Processors
	}
	return len(l.until)
}

// take returns the lanes of a job's processes on nodes: of each node the lowest that are free, as far as there are any.
// Jobs come by their starts.
func (l *nodeLanes) take(in *model.Batch, job int, on []int32, start, end float64) (lanes []int32) {
	width := max(1, int(in.Jobs[job].Needs.Each[0]/l.unit))
	for _, p := range on {
		left := width
		for k := l.first[p]; k < l.first[p+1] && left > 0; k++ {
			if l.until[k] <= start {
				l.until[k], lanes, left = end, append(lanes, int32(k)), left-1
			}
		}
	}
	return lanes
}
