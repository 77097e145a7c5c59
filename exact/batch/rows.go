// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"

	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/problem/batch/nodes"
	"github.com/gapwise/gapwise/internal/problem/batch/pooled"
)

// rows returns the pooled resources of the nodes, the ones with the most work first: of each resource r, set of groups,
// and need e of some process of it, the multiples of e. On a node of capacity c processes with needs x hold Σ ⌊x/e⌋ ≤
// ⌊Σ x/e⌋ ≤ ⌊c/e⌋ of them. A job that has its nodes alone holds all of them: of slots s and room for f processes on a
// node of group g its p processes hold p min s_g/f_g at least, and the slots of one node. Rows that all jobs together
// don't exceed are left out.
func rows(t *view.Batch) []row {
	var all []row
	for _, groups := range pooled.Sets(t) {
		for r := range t.Nodes.Resources {
			steps := []int64{1}
			for k := range t.Jobs {
				if e := t.Jobs[k].Needs.Each[r]; e > 1 && !slices.Contains(steps, e) {
					steps = append(steps, e)
				}
			}
			slices.Sort(steps)
			for _, e := range steps[:min(len(steps), mostSteps)] {
				slots := func(g int) int64 { return t.Nodes.Capacity[g][r] / e }
				p := pooled.Of(t, groups, slots, func(j *view.BatchJob) int64 { return takes(t, j, slots, j.Needs.Each[r]/e) })
				if p == nil {
					continue
				}
				x, sum := row{Batch: p, name: fmt.Sprint("pool ", r, " ", e)}, int64(0)
				for _, g := range groups {
					x.name += fmt.Sprint(" ", g)
				}
				for k := range p.Jobs {
					sum += int64(p.Jobs[k].Processes)
					x.area += float64(p.Jobs[k].Length) * float64(p.Jobs[k].Processes) / float64(p.Processors)
				}
				if sum > int64(p.Processors) {
					all = append(all, x)
				}
			}
		}
	}
	order.Stable(all, func(a, b row) int { return cmp.Compare(b.area, a.area) })
	return all[:min(len(all), mostRows)]
}

// row is a pooled resource.
type row struct {
	*view.Batch
	area float64 // of the jobs, in the capacity
	name string  // in proofs
}

const (
	mostRows  = 12
	mostSteps = 6 // needs of a resource
)

// takes returns how many slots the processes of a job hold at least, each by itself so many.
func takes(t *view.Batch, j *view.BatchJob, slots func(g int) int64, each int64) int64 {
	all := int64(j.Processes) * each
	if !j.Needs.Exclusive {
		return all
	}
	least, one := int64(-1), int64(-1)
	for _, g := range j.Needs.Groups() {
		fit := nodes.Each(j.Needs, t.Nodes.Capacity[g], int64(j.Processes))
		if fit == 0 {
			continue
		}
		high, low := bits.Mul64(uint64(j.Processes), uint64(slots(int(g))))
		held, rest := bits.Div64(high, low, uint64(fit))
		if rest > 0 {
			held++
		}
		if least < 0 || int64(held) < least {
			least = int64(held)
		}
		if one < 0 || slots(int(g)) < one {
			one = slots(int(g))
		}
	}
	return max(all, least, one)
}

// pool adds rows to a model: the capacity of each, and for the first ones the bound by prices.
func (m *kernelModel) pool(ctx context.Context, j *jobs, starts []cp.Start, most, constant int64, off deviceSet) {
	if off&devRows != 0 {
		return
	}
	for n, p := range rows(j.t) {
		row, of, paying := &cp.Cumulative{Capacity: int64(p.Processors)}, make([]int, len(p.Jobs)), *p.Batch
		paying.Jobs = nil
		goal := float64(most) * float64(j.units.Time)
		for k := range p.Jobs {
			if of[k] = -1; p.Jobs[k].Processes > 0 {
				of[k], paying.Jobs = len(paying.Jobs), append(paying.Jobs, p.Jobs[k])
				row.Starts, row.Lengths = append(row.Starts, starts[k]), append(row.Lengths, j.length[k])
				row.Demands = append(row.Demands, int64(p.Jobs[k].Processes))
			} else {
				goal -= float64(j.weight[k]) * float64(p.Jobs[k].Length) // its least response
			}
		}
		m.AddAs(p.name, row)
		if n < pricedRows && off&devPrices == 0 {
			unit := batchbounds.UnitsOf(&paying).Weight / j.units.Weight // others' weights may not be multiples of it
			priced := batchbounds.NewPriced(ctx, &paying, goal/float64(unit), priceSteps(len(paying.Jobs)))
			m.charge(j, priced, starts, of, float64(unit), constant)
		}
	}
}

const pricedRows = 3
