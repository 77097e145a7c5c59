package testkit

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/gapwise/gapwise/model"
)

// RandomBatch draws a valid instance of n jobs on up to most processors of one or
// two tiers. Times are small multiples of a unit, so that jobs are submitted
// together, when others end, or one by one. Estimates are missing, exact, too long
// or too short, and jobs are killed at them or not. Uses are equal, distinct, at
// the threshold or just below; losses and efficiencies have their limits, too: a
// background that makes no progress, or as much as the foreground. What is about two
// tiers is there on one, too, where it has no effect. One in three instances has
// weights: small ones, of some jobs alone, equal or up to the largest.
func RandomBatch(rng *rand.Rand, tiers, most, n int) *model.Batch {
	some := func(x ...float64) float64 { return x[rng.IntN(len(x))] }
	share := func() float64 { return float64(1+rng.IntN(9999)) / 1e4 }
	unit := some(1, 1, 0.1, 1e-6, 1000, 12.345678)
	in := &model.Batch{Name: "random", Processors: 1 + rng.IntN(most), Tiers: tiers, KillAtEstimate: rng.IntN(2) == 0, Jobs: []model.BatchJob{}}
	gap, longest := rng.IntN(4), 1+rng.IntN(8)
	uses := []float64{1, 0.5, share(), share()}
	in.Threshold = some(0, 0, 0, 0.5, 1, 2, 0.0001, uses[2])
	in.MigrationS = inMillionths(some(0, 1, 2, 0.1, 20) * unit)
	uses = append(uses, 0.96, 0.9599)
	if in.Threshold > 0.0001 && in.Threshold <= 1 {
		uses = append(uses, in.Threshold, float64(millionths(in.Threshold)/100-1)/1e4)
	}
	at := 0
	for i := range n {
		j := model.BatchJob{ID: "j" + strconv.Itoa(i+1), Processes: 1 + rng.IntN(in.Processors)}
		if rng.IntN(2) == 0 {
			j.Processes = 1 + rng.IntN(min(2, in.Processors))
		}
		at += rng.IntN(gap + 1)
		j.SubmitS = inMillionths(float64(at) * unit)
		j.RuntimeS = inMillionths(float64(1+rng.IntN(longest)) * unit)
		if rng.IntN(10) == 0 {
			j.RuntimeS = inMillionths(j.RuntimeS + 1e-6)
		}
		switch rng.IntN(4) {
		case 0:
			j.EstimateS = j.RuntimeS
		case 1:
			j.EstimateS = inMillionths(float64(1+rng.IntN(longest)) * unit)
		case 2:
			j.EstimateS = inMillionths(j.RuntimeS * some(2, 10))
		}
		switch rng.IntN(3) {
		case 0:
			j.CPU = []float64{some(uses...)}
		case 1:
			for range j.Processes {
				j.CPU = append(j.CPU, some(uses...))
			}
		}
		j.FgLoss = some(0, 0.005, 0.04, share())
		j.BgEfficiency = some(0, 1, 0.48, 0.85, share())
		in.Jobs = append(in.Jobs, j)
	}
	if rng.IntN(3) == 0 {
		weight := [][]int{{1, 2, 3}, {0, 10}, {6}, {1, 7, 999, model.MostWeight}}[rng.IntN(4)]
		for k := range in.Jobs {
			in.Jobs[k].Weight = weight[rng.IntN(len(weight))]
		}
	}
	return in
}

// BatchStarts returns the execution in which job k starts at starts[k], in
// microseconds, in the foreground of the first idle processors, and runs to its end
// without a loss. There must be enough processors at any time.
func BatchStarts(in *model.Batch, starts []int64) *model.Execution {
	order := make([]int, len(starts))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(starts[a], starts[b]) })
	free := make([]int64, in.Processors) // from when on
	e := &model.Execution{Runs: make([]model.Run[model.BatchPlace], len(starts))}
	for _, k := range order {
		end := starts[k] + millionths(in.Work(k))
		var list model.ProcessorList
		for p := range free {
			if free[p] <= starts[k] && len(list) < in.Jobs[k].Processes {
				list, free[p] = append(list, int32(p)), end
			}
		}
		e.Runs[k] = model.Run[model.BatchPlace]{ID: in.Jobs[k].ID, Segments: []model.Segment[model.BatchPlace]{
			{StartS: float64(starts[k]) / 1e6, EndS: float64(end) / 1e6, Place: model.BatchPlace{Processors: list}}}}
	}
	return e
}

// BruteBatch returns the least sum of response times times weights, in microseconds,
// of an instance of one tier, and an execution with it. It tries all orders of the jobs; each job
// in turn starts as early as it fits beside those before it (serial schedule
// generation).
//
// Some order gives an optimum. As jobs can't be suspended, and what is lost or spent
// on migrations only makes a job end later, there is an optimum in which each job
// runs in one segment. Take its jobs by their starts s_k. By induction each starts no
// later in the schedule that is generated in this order: a job before k that runs
// there at a time t >= s_k started by s_k in the optimum, too, and ends no earlier
// there, so it runs at t in the optimum. Hence what is used at t is at most what the
// optimum uses beside k, and k fits from s_k on.
func BruteBatch(t testing.TB, in *model.Batch) (int64, *model.Execution) {
	t.Helper()
	n := len(in.Jobs)
	if n > 8 || in.Tiers != 1 {
		t.Fatalf("BruteBatch: %d jobs on %d tiers, the most is 8 on one", n, in.Tiers)
	}
	submit, length := make([]int64, n), make([]int64, n)
	for k := range n {
		submit[k], length[k] = millionths(in.Jobs[k].SubmitS), millionths(in.Work(k))
	}
	starts, placed := make([]int64, n), make([]bool, n)
	fits := func(k int, at int64) bool {
		for x := range n { // what is used grows at starts alone
			from := starts[x]
			if x == k {
				from = at
			} else if !placed[x] || from <= at || from >= at+length[k] {
				continue
			}
			used := in.Jobs[k].Processes
			for y := range n {
				if placed[y] && starts[y] <= from && from < starts[y]+length[y] {
					used += in.Jobs[y].Processes
				}
			}
			if used > in.Processors {
				return false
			}
		}
		return true
	}
	least, best := int64(-1), make([]int64, n)
	var next func(depth int, total int64)
	next = func(depth int, total int64) {
		if depth == n {
			if least < 0 || total < least {
				least = total
				copy(best, starts)
			}
			return
		}
		for k := range n {
			if placed[k] {
				continue
			}
			times := []int64{submit[k]} // a job starts at its submission or when another ends
			for x := range n {
				if placed[x] {
					times = append(times, max(submit[k], starts[x]+length[x]))
				}
			}
			slices.Sort(times)
			starts[k] = times[slices.IndexFunc(times, func(at int64) bool { return fits(k, at) })]
			placed[k] = true
			next(depth+1, total+int64(max(1, in.Jobs[k].Weight))*(starts[k]+length[k]-submit[k]))
			placed[k] = false
		}
	}
	next(0, 0)
	return least, BatchStarts(in, best)
}
