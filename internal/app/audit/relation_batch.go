// SPDX-License-Identifier: MIT

package audit

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// batchRelations are between instances, most of them on one tier, in which weighted means are of all
// jobs.
var batchRelations = []relation{
	relates("renamed", anyTiers(renameBatch)),
	relates("times multiplied by a power of two", oneTier(scaleBatch)), // on two, ends are rounded to microseconds
	relates("all submitted later", anyTiers(allLater)),
	relates("all widths multiplied", oneTier(widthsMultiplied)),
	relates("a heavier job", anyTiers(heavierJob)),
	relates("other estimates, uses, losses and efficiencies", oneTier(otherEstimates)),
	relates("killed at the runtime", anyTiers(killedAtRuntime)),
	relates("joined with itself in time", oneTier(joinBatchInTime)),
	relates("joined with itself side by side", anyTiers(joinBatchInSpace)),
	relates("a job after all others", oneTier(jobAfterAll)),
	relates("a job more", oneTier(jobMore)),
	relates("submitted earlier", oneTier(submittedEarlier)),
	relates("a processor more", anyTiers(processorMore)),
	relates("a narrower job", oneTier(narrowerJob)),
	relates("a shorter job", anyTiers(shorterJob)),
	relates("killed at the estimates", oneTier(killedAtEstimates)),
	relates("a second tier without losses", oneTier(secondTier)),
}

func oneTier(f change[*model.Batch]) change[*model.Batch] {
	return func(c *model.Batch, rng *rand.Rand) implication {
		if c.Tiers != 1 || len(c.Jobs) == 0 {
			return nil
		}
		return f(c, rng)
	}
}

// anyTiers is for relations that hold on two tiers, too.
func anyTiers(f change[*model.Batch]) change[*model.Batch] {
	return func(c *model.Batch, rng *rand.Rand) implication {
		if len(c.Jobs) == 0 {
			return nil
		}
		return f(c, rng)
	}
}

// bySubmission sorts the jobs.
func bySubmission(b *model.Batch) {
	slices.SortStableFunc(b.Jobs, func(x, y model.BatchJob) int { return cmp.Compare(x.SubmitS, y.SubmitS) })
}

// allDone returns a whole second by which all jobs of an optimum on one tier have
// ended: no job waits while all processors are idle.
func allDone(b *model.Batch) float64 {
	last := 0.0
	for k := range b.Jobs {
		last = max(last, b.Jobs[k].SubmitS)
	}
	for k := range b.Jobs {
		last += b.Work(k)
	}
	return math.Ceil(last)
}

// later adds x to a time, in whole microseconds.
func later(at, x float64) float64 { return math.Round((at+x)*1e6) / 1e6 }

// weightOf returns the sum of the jobs' weights.
func weightOf(b *model.Batch) (sum float64) {
	for k := range b.Jobs {
		sum += float64(b.Jobs[k].EffectiveWeight())
	}
	return sum
}

// oneOf draws a job.
func oneOf(b *model.Batch, rng *rand.Rand) *model.BatchJob { return &b.Jobs[rng.IntN(len(b.Jobs))] }

func renameBatch(c *model.Batch, rng *rand.Rand) implication {
	for k := range c.Jobs {
		c.Jobs[k].ID = fmt.Sprintf("x%d", k)
	}
	shuffled(rng, c.Jobs)
	bySubmission(c)
	return same
}

func scaleBatch(c *model.Batch, rng *rand.Rand) implication {
	f := power(rng)
	for k := range c.Jobs {
		j := &c.Jobs[k]
		j.SubmitS, j.RuntimeS, j.EstimateS = j.SubmitS*f, j.RuntimeS*f, j.EstimateS*f
	}
	return times(f)
}

func allLater(c *model.Batch, rng *rand.Rand) implication {
	x := 1 + math.Floor(1e5*rng.Float64())
	for k := range c.Jobs {
		c.Jobs[k].SubmitS = later(c.Jobs[k].SubmitS, x)
	}
	return same
}

// widthsMultiplied: the same jobs fit next to each other.
func widthsMultiplied(c *model.Batch, rng *rand.Rand) implication {
	f := 2 + rng.IntN(6)
	c.Processors *= f
	for k := range c.Jobs {
		c.Jobs[k].Processes, c.Jobs[k].CPU = c.Jobs[k].Processes*f, nil
	}
	return same
}

// heavierJob: the added weight applies to a response of at least the work.
func heavierJob(c *model.Batch, rng *rand.Rand) implication {
	k, before, more := rng.IntN(len(c.Jobs)), weightOf(c), 1+rng.IntN(10)
	c.Jobs[k].Weight = c.Jobs[k].EffectiveWeight() + more
	added := float64(more) * c.Work(k)
	return func(_ model.Sense, k claim) claim {
		d := unknown()
		d.low = (before*k.low + added) / (before + float64(more))
		return d
	}
}

// otherEstimates changes the scheduler's inputs, and the figures of two tiers.
func otherEstimates(c *model.Batch, rng *rand.Rand) implication {
	c.Threshold, c.MigrationS = math.Round(rng.Float64()*1e4)/1e4, float64(rng.IntN(30))
	for k := range c.Jobs {
		j := &c.Jobs[k]
		j.CPU, j.FgLoss, j.BgEfficiency = []float64{0.5}, 0.25, 0.75
		if !c.KillAtEstimate {
			j.EstimateS = float64(rng.IntN(3)) * j.RuntimeS
		}
	}
	return same
}

func killedAtRuntime(c *model.Batch, _ *rand.Rand) implication {
	for k := range c.Jobs {
		c.Jobs[k].RuntimeS, c.Jobs[k].EstimateS = c.Work(k), 0
	}
	c.KillAtEstimate = !c.KillAtEstimate
	return same
}

// joinBatchInTime adds the same jobs again when the first are done.
func joinBatchInTime(c *model.Batch, _ *rand.Rand) implication {
	at := allDone(c)
	for _, j := range slices.Clone(c.Jobs) {
		j.ID, j.SubmitS = "again-"+j.ID, later(j.SubmitS, at)
		c.Jobs = append(c.Jobs, j)
	}
	if len(c.Jobs) > 24 {
		return nil
	}
	return same
}

// joinBatchInSpace adds the same jobs and processors again: each half can do the same as the whole did.
func joinBatchInSpace(c *model.Batch, _ *rand.Rand) implication {
	for _, j := range slices.Clone(c.Jobs) {
		j.ID = "again-" + j.ID
		c.Jobs = append(c.Jobs, j)
	}
	bySubmission(c)
	c.Processors *= 2
	return noWorse
}

// joined adds a last job and returns the new mean if its response is its work.
func joined(c *model.Batch, j model.BatchJob) func(mean float64) float64 {
	before, last := weightOf(c), len(c.Jobs)
	c.Jobs = append(c.Jobs, j)
	added, all := float64(j.EffectiveWeight())*c.Work(last), weightOf(c)
	return func(mean float64) float64 { return (before*mean + added) / all }
}

func jobAfterAll(c *model.Batch, rng *rand.Rand) implication {
	with := joined(c, model.BatchJob{ID: "alone", SubmitS: allDone(c), RuntimeS: float64(1 + rng.IntN(100)), Processes: 1 + rng.IntN(c.Processors), Weight: rng.IntN(10)})
	return func(_ model.Sense, k claim) claim {
		k.low, k.high = with(k.low), with(k.high)
		return k
	}
}

// jobMore adds a job: without it the others are no later.
func jobMore(c *model.Batch, rng *rand.Rand) implication {
	j := *oneOf(c, rng)
	j.ID, j.SubmitS = "more", c.Jobs[len(c.Jobs)-1].SubmitS
	with := joined(c, j)
	return func(_ model.Sense, k claim) claim {
		d := unknown()
		d.low = with(k.low)
		return d
	}
}

// submittedEarlier: a job waits for as long as it is submitted earlier.
func submittedEarlier(c *model.Batch, rng *rand.Rand) implication {
	j := oneOf(c, rng)
	was := j.SubmitS
	j.SubmitS = math.Round(was*rng.Float64()*1e6) / 1e6
	wait := plus(float64(j.EffectiveWeight()) * (was - j.SubmitS) / weightOf(c))
	bySubmission(c)
	return func(sense model.Sense, k claim) claim { return wait(sense, noWorse(sense, k)) }
}

func processorMore(c *model.Batch, _ *rand.Rand) implication {
	c.Processors++
	return noWorse
}

func narrowerJob(c *model.Batch, rng *rand.Rand) implication {
	j := oneOf(c, rng)
	j.Processes, j.CPU = j.Processes-1, nil
	return noWorseIf(j.Processes > 0)
}

func shorterJob(c *model.Batch, rng *rand.Rand) implication {
	j := oneOf(c, rng)
	j.RuntimeS = max(1, math.Round(j.RuntimeS*rng.Float64()*1e6)) / 1e6
	return noWorse
}

func killedAtEstimates(c *model.Batch, _ *rand.Rand) implication {
	longer := !c.KillAtEstimate
	c.KillAtEstimate = true
	return noWorseIf(longer)
}

// secondTier: the foreground of two tiers is the one tier.
func secondTier(c *model.Batch, rng *rand.Rand) implication {
	c.Tiers = 2
	for k := range c.Jobs {
		j := &c.Jobs[k]
		j.FgLoss, j.BgEfficiency, j.CPU = 0, float64(rng.IntN(10_001))/1e4, []float64{float64(1+rng.IntN(10_000)) / 1e4}
	}
	return noWorse
}
