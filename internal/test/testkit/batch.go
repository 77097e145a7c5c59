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
		uses = append(uses, in.Threshold, in.Threshold, (math.Floor(math.Round(in.Threshold*1e6)/100)-1)/1e4)
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
