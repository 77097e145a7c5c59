package dag

import (
	"cmp"
	"context"
	"math"
	"slices"

	dagbounds "github.com/gapwise/gapwise/bounds/dag"
)

// findWeights chooses the machines' weights for the load bound: equal ones, and
// the dual values of the linear program that spreads tasks over the machines
// so that the fullest one ends early (R | pmtn | Cmax without the tasks' own
// times), for all tasks and for those with the longer tails. Any weights give a
// valid bound; these give the best at the start of the search.
func (k *ticks) findWeights(ctx context.Context) error {
	k.byTail = make([]int32, k.n)
	for t := range k.byTail {
		k.byTail[t] = int32(t)
	}
	slices.SortStableFunc(k.byTail, func(a, b int32) int { return cmp.Compare(k.least[b], k.least[a]) })
	equal := make([]int32, k.m)
	for a := range equal {
		equal[a] = 1
	}
	k.weights = [][]int32{equal}
	// On identical machines, or one, equal weights are best already: the mean of
	// dual values over all exchanges of machines is optimal, too.
	if k.off&devLoadWeights != 0 || !slices.ContainsFunc(k.twins[1:], func(b int32) bool { return b < 0 }) {
		return nil
	}
	for _, part := range []int{k.n, 3 * k.n / 4, k.n / 2, k.n / 4} {
		if part == 0 || ctx.Err() != nil {
			break
		}
		w, err := k.loadDuals(ctx, k.byTail[:part])
		if err != nil {
			return err
		}
		if w != nil && !slices.ContainsFunc(k.weights, func(v []int32) bool { return slices.Equal(v, w) }) {
			k.weights = append(k.weights, w)
		}
	}
	return nil
}

// loadDuals is the machines' dual values as whole numbers, nil if HiGHS was
// interrupted.
func (k *ticks) loadDuals(ctx context.Context, tasks []int32) ([]int32, error) {
	var cost []float64
	for _, t := range tasks {
		for _, c := range k.cost[int(t)*k.m : int(t+1)*k.m] {
			cost = append(cost, float64(c))
		}
	}
	duals, err := dagbounds.LoadWeights(ctx, cost, k.m)
	if duals == nil || err != nil {
		return nil, err
	}
	w := make([]int32, k.m)
	for a := range w {
		w[a] = int32(math.Round(10_000 * duals[a] / slices.Max(duals)))
	}
	return w, nil
}
