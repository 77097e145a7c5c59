// SPDX-License-Identifier: MIT

package testkit

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// logs are what logs tell of jobs, which changes nothing.
var logs = []*model.JobLog{nil, {User: "a", Status: "cancelled"}, nil, {User: "b", Queue: "long", Preceding: "1", ThinkS: 2.5, Status: "completed"}}

// RandomBatch draws a valid instance of n jobs on up to most processors of one or two tiers.
// Runtimes are of one style, and widths are. Jobs are submitted together, when others end, or
// one by one. Estimates are missing, exact, too long or too short, and jobs are killed at them
// or not. Uses are equal, distinct, at the threshold or just below; losses and efficiencies have
// their limits, too: a background that makes no progress, or as much as the foreground. What is
// about two tiers is there on one, too, where it has no effect. Half of the instances have
// weights: small ones, of some jobs alone, equal or up to the largest.
func RandomBatch(rng *rand.Rand, tiers, most, n int) *model.Batch {
	runtime, unit := pick(rng), one(rng, 1, 1, 1, 0.1, 1000)
	least, odd := unit/10, rng.IntN(8) == 0 // microseconds beside seconds
	if odd {
		least, unit = 1e-6, one(rng, 1, 1e-6, 12.345678)
	}
	in := &model.Batch{Processors: 1 + rng.IntN(most), Tiers: tiers, KillAtEstimate: rng.IntN(3) == 0, Jobs: []model.BatchJob{}}
	width := one(rng, widths...)
	if tiers == 2 {
		width = one(rng, widths[:3]...) // some processors are shared
	}
	in.Name = fmt.Sprintf("%s-%s-%dprocessors-%dtiers", runtime.Name, width.name, in.Processors, tiers)
	share := func(some ...float64) float64 { return one(rng, append(some, float64(1+rng.IntN(9999))/1e4)...) }
	in.Threshold = share(0, 0, 0, 0.5, 1, 2, 0.0001)
	in.MigrationS = inMillionths(one(rng, 0, 1, 2, 0.1, 20) * unit)
	uses := []float64{1, 0.5, share(), share(), 0.96, 0.9599}
	if in.Threshold > 0.0001 && in.Threshold <= 1 {
		uses = append(uses, in.Threshold, in.Threshold, float64(millionths(in.Threshold)/100-1)/1e4)
	}
	weights := one(rng, nil, nil, nil, []int{0, 1, 2, 3, 10}, []int{1, 100}, []int{1, 4, 6, 999, model.MostWeight})
	longest := 1e6
	if slices.Contains(weights, model.MostWeight) {
		longest = 1e4 // weighted sums of microseconds fit 64 bits
	}
	length := func() float64 { return inMillionths(min(max(least, runtime.Draw(rng)*unit), longest)) }
	mean, area := 0.0, 0.0
	for range 20 {
		x := length()
		mean += x / 20
		area += x * float64(width.draw(rng, in.Processors)) / 20
	}
	submit := timing(rng, n, mean, area/float64(in.Processors))
	for range n {
		j := model.BatchJob{SubmitS: submit(), RuntimeS: length(), Processes: width.draw(rng, in.Processors)}
		switch rng.IntN(4) {
		case 0:
			j.EstimateS = j.RuntimeS
		case 1:
			j.EstimateS = length()
		case 2:
			j.EstimateS = max(1, math.Round(j.RuntimeS*one(rng, 0.5, 2, 10)*1e6)) / 1e6
		}
		j.Log = logs[len(in.Jobs)%len(logs)]
		switch rng.IntN(3) {
		case 0:
			j.CPU = []float64{one(rng, uses...)}
		case 1:
			for range j.Processes {
				j.CPU = append(j.CPU, one(rng, uses...))
			}
		}
		j.FgLoss, j.BgEfficiency = share(0, 0.005, 0.04), share(0, 1, 0.48, 0.85)
		if len(weights) > 0 {
			j.Weight = one(rng, weights...)
		}
		if len(in.Jobs) > 0 && rng.IntN(4) == 0 { // equal to another, or in all but one figure
			other := in.Jobs[rng.IntN(len(in.Jobs))]
			switch rng.IntN(6) {
			case 0:
				other.SubmitS = j.SubmitS
			case 1:
				other.RuntimeS = j.RuntimeS
			case 2:
				other.Processes, other.CPU = j.Processes, j.CPU
			case 3:
				other.Weight = j.Weight
			case 4: // when the other ends
				other.SubmitS = inMillionths(other.SubmitS + other.RuntimeS)
			}
			j = other
		}
		if odd && rng.IntN(4) == 0 {
			j.RuntimeS = inMillionths(j.RuntimeS + 1e-6)
		}
		in.Jobs = append(in.Jobs, j)
	}
	slices.SortStableFunc(in.Jobs, func(x, y model.BatchJob) int { return cmp.Compare(x.SubmitS, y.SubmitS) })
	for k := range in.Jobs {
		in.Jobs[k].ID = fmt.Sprint("j", k+1)
	}
	return in
}

// widths draw numbers of processes on p processors.
var widths = []struct {
	name string
	draw func(rng *rand.Rand, p int) int
}{
	{"any", func(rng *rand.Rand, p int) int { return 1 + rng.IntN(p) }},
	{"one", func(*rand.Rand, int) int { return 1 }},
	{"powers", func(rng *rand.Rand, p int) int { return min(p, 1<<rng.IntN(4)) }},
	{"wide", func(rng *rand.Rand, p int) int { return p - rng.IntN((p+1)/2) }},
	{"all or one", func(rng *rand.Rand, p int) int { return 1 + (p-1)*rng.IntN(2) }},
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
func BruteBatch(in *model.Batch) (int64, *model.Execution) {
	n := len(in.Jobs)
	if n > 8 || in.Tiers != 1 {
		panic("brute force is for one tier and at most 8 jobs")
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
