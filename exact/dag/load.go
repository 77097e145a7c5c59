// SPDX-License-Identifier: MIT

package dag

import (
	"cmp"
	"context"
	"math"
	"slices"

	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/run/meter"
)

// findWeights chooses the machines' weights w for the load bound (dagmodel.Load):
// equal ones, and the optimal duals of the assignment program of R|pmtn|Cmax,
//
//	min C, Σ_a x_ta = 1 for each task t, Σ_t cost_ta x_ta ≤ C for each machine a,
//
// for all tasks and for the tasks with the longer tails. Any weights give a valid bound; these give the best at the
// start of the search.
func (v *ticks) findWeights(ctx context.Context) error {
	v.byTail = slices.Clone(v.Graph.Order)
	order.Stable(v.byTail, func(a, b int32) int { return cmp.Compare(v.least[b], v.least[a]) })
	v.weights = [][]int64{slices.Repeat([]int64{1}, v.m)}
	// Areas have weights of their own. On identical machines, or one, equal weights are best already: the mean of
	// dual values over all exchanges of machines is optimal, too.
	if v.off&devLoadWeights != 0 || v.identical() || v.Graph.Room != nil {
		return nil
	}
	v.addWeights(v.columnWeights())
	for _, part := range []int{v.n, 3 * v.n / 4, v.n / 2, v.n / 4} {
		if part == 0 || meter.Stop(ctx, 200*int64(part*v.m)) {
			break
		}
		w, err := v.loadDuals(ctx, v.byTail[:part])
		if err != nil {
			return err
		}
		v.addWeights(w)
	}
	return nil
}

func (v *ticks) addWeights(w []int64) {
	if w != nil && !slices.ContainsFunc(v.weights, func(v []int64) bool { return slices.Equal(v, w) }) {
		v.weights = append(v.weights, w)
	}
}

// columnWeights returns weights by which all machines have the same weighted sum of costs,
// in the least whole numbers; nil if these are above 10,000, or a machine has only costs of
// 0. They are the duals if machines differ only in speed, and without rounding, which
// whole rooms (dagmodel.WholeRow) need.
func (v *ticks) columnWeights() []int64 {
	sum, all := make([]int64, v.m), int64(0)
	for a := range sum {
		for t := range int32(v.n) {
			sum[a] += v.Cost(t, a)
		}
		if sum[a] == 0 {
			return nil
		}
		all = units.GCD(all, sum[a])
	}
	multiple := int64(1)
	for _, s := range sum {
		s /= all
		if multiple *= s / units.GCD(multiple, s); multiple > 10_000 {
			return nil
		}
	}
	for a, s := range sum {
		sum[a] = multiple / (s / all)
	}
	return sum
}

// loadDuals returns the machines' duals, the greatest scaled to 10,000 and rounded;
// nil if HiGHS was interrupted.
func (v *ticks) loadDuals(ctx context.Context, tasks []int32) ([]int64, error) {
	var cost []float64
	for _, t := range tasks {
		for a := range v.m {
			cost = append(cost, float64(v.Cost(t, a)))
		}
	}
	duals, err := dagbounds.LoadWeights(ctx, cost, v.m)
	if duals == nil || err != nil {
		return nil, err
	}
	w := make([]int64, v.m)
	for a := range w {
		w[a] = int64(math.Round(10_000 * duals[a] / slices.Max(duals)))
	}
	return w, nil
}
