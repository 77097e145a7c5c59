package audit

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// drawBatch draws jobs of runtimes of one style, mostly on one tier, the only one
// with exact engines.
func drawBatch(s size, rng *rand.Rand) *model.Batch {
	n := s.count(rng, [6]int{1, 8, 12, 14, 17, 40})
	runtime := pick(rng)
	b := &model.Batch{Processors: 1 + rng.IntN(8), Tiers: 1, KillAtEstimate: rng.IntN(4) == 0}
	if s == large {
		b.Processors = 1 + rng.IntN(64)
	}
	if rng.IntN(8) == 0 {
		b.Tiers, b.Threshold, b.MigrationS = 2, []float64{0, 0, 0.5, 2}[rng.IntN(4)], []float64{0, 1, 20}[rng.IntN(3)]
	}
	width := []struct {
		name string
		draw func() int
	}{
		{"any", func() int { return 1 + rng.IntN(b.Processors) }},
		{"one", func() int { return 1 }},
		{"powers", func() int { return min(b.Processors, 1<<rng.IntN(4)) }},
		{"wide", func() int { return b.Processors - rng.IntN((b.Processors+1)/2) }},
		{"all or one", func() int { return 1 + (b.Processors-1)*rng.IntN(2) }},
	}[rng.IntN(5)]
	b.Name = fmt.Sprintf("%v-%s-%s-%dprocessors-%dtiers", s, runtime.name, width.name, b.Processors, b.Tiers)
	length := func() float64 { return inMillionths(min(runtime.draw(rng), 1e6)) }
	// The load, from a half to three times what the processors can do.
	mean, area := 0.0, 0.0
	for range 20 {
		x := length()
		mean += x / 20
		area += x * float64(width.draw()) / 20
	}
	horizon := area * float64(n) / float64(b.Processors) / (0.5 + 2.5*rng.Float64())
	grid := []float64{1, 1, 0.1, mean}[rng.IntN(4)]
	together := rng.IntN(4) == 0
	share := func(x ...float64) float64 { return append(x, float64(1+rng.IntN(9999))/1e4)[rng.IntN(len(x)+1)] }
	// Half of the instances have weights.
	weights := [][]int{nil, nil, nil, {1, 2, 3, 10}, {1, 100}, {4, 6, 10, model.MostWeight}}[rng.IntN(6)]
	for range n {
		j := model.BatchJob{RuntimeS: length(), Processes: width.draw()}
		if !together {
			j.SubmitS = math.Round(math.Floor(rng.Float64()*horizon/grid)*grid*1e6) / 1e6
		}
		switch rng.IntN(4) {
		case 0:
			j.EstimateS = inMillionths(j.RuntimeS * []float64{0.5, 1, 2, 10}[rng.IntN(4)])
		case 1:
			j.EstimateS = length()
		}
		if b.Tiers == 2 {
			j.CPU, j.FgLoss, j.BgEfficiency = []float64{share(1, 0.5)}, share(0, 0.02), share(0, 1, 0.48)
		}
		if len(weights) > 0 {
			j.Weight = weights[rng.IntN(len(weights))]
		}
		if len(b.Jobs) > 0 && rng.IntN(4) == 0 { // equal to another, or in all but one figure
			other := b.Jobs[rng.IntN(len(b.Jobs))]
			switch rng.IntN(5) {
			case 0:
				other.SubmitS = j.SubmitS
			case 1:
				other.RuntimeS = j.RuntimeS
			case 2:
				other.Processes = j.Processes
			case 3:
				other.Weight = j.Weight
			}
			j = other
		}
		b.Jobs = append(b.Jobs, j)
	}
	bySubmission(b)
	for k := range b.Jobs {
		b.Jobs[k].ID = fmt.Sprintf("j%d", k+1)
	}
	return b
}

// bySubmission sorts the jobs.
func bySubmission(b *model.Batch) {
	slices.SortStableFunc(b.Jobs, func(x, y model.BatchJob) int { return cmp.Compare(x.SubmitS, y.SubmitS) })
}

// copyBatch returns a copy that shares no memory with b but the uses, which nothing
// changes in place.
func copyBatch(b *model.Batch) *model.Batch {
	c := *b
	c.Jobs = slices.Clone(b.Jobs)
	return &c
}

func countBatch(b *model.Batch) int { return len(b.Jobs) }

// wantsBatch leaves out formulations of more jobs, where HiGHS proves little in
// time.
func wantsBatch(_ string, s size, _ *model.Batch) bool { return s <= middle }

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

// batchRelations lists relations between instances on one tier, in which weighted
// means are of all jobs.
func batchRelations() []relation {
	add := func(name string, change func(c *model.Batch, rng *rand.Rand) bool, implies func(in, other model.Instance, c claim) claim) relation {
		return typed(name, func(b *model.Batch, rng *rand.Rand) (*model.Batch, bool) {
			c := copyBatch(b)
			return c, b.Tiers == 1 && len(b.Jobs) > 0 && change(c, rng) && c.Validate() == nil
		}, implies)
	}
	// joined returns the mean with the last job of the other as a further one, whose
	// response is its work.
	joined := func(in, other model.Instance, mean float64) float64 {
		b := other.(*model.Batch)
		last := len(b.Jobs) - 1
		before := weightOf(in.(*model.Batch))
		return (before*mean + float64(b.Jobs[last].EffectiveWeight())*b.Work(last)) / weightOf(b)
	}
	return []relation{
		add("renamed", func(c *model.Batch, rng *rand.Rand) bool {
			for k := range c.Jobs {
				c.Jobs[k].ID = fmt.Sprintf("x%d", k)
			}
			rng.Shuffle(len(c.Jobs), func(i, k int) { c.Jobs[i], c.Jobs[k] = c.Jobs[k], c.Jobs[i] })
			bySubmission(c)
			return true
		}, same),
		add("times multiplied by a power of two", func(c *model.Batch, rng *rand.Rand) bool {
			f := powers[rng.IntN(len(powers))]
			for k := range c.Jobs {
				j := &c.Jobs[k]
				j.SubmitS, j.RuntimeS, j.EstimateS = j.SubmitS*f, j.RuntimeS*f, j.EstimateS*f
			}
			return true
		}, func(in, other model.Instance, c claim) claim {
			return times(other.(*model.Batch).Jobs[0].RuntimeS/in.(*model.Batch).Jobs[0].RuntimeS)(in, other, c)
		}),
		add("all submitted later", func(c *model.Batch, rng *rand.Rand) bool {
			x := 1 + math.Floor(1e5*rng.Float64())
			for k := range c.Jobs {
				c.Jobs[k].SubmitS = later(c.Jobs[k].SubmitS, x)
			}
			return true
		}, same),
		// The same jobs fit beside each other.
		add("all widths multiplied", func(c *model.Batch, rng *rand.Rand) bool {
			f := 2 + rng.IntN(6)
			c.Processors *= f
			for k := range c.Jobs {
				c.Jobs[k].Processes *= f
				c.Jobs[k].CPU = nil
			}
			return true
		}, same),
		add("a processor that no job can use", func(c *model.Batch, _ *rand.Rand) bool {
			for k := range c.Jobs {
				c.Jobs[k].Processes *= 2
				c.Jobs[k].CPU = nil
			}
			c.Processors = 2*c.Processors + 1
			return true
		}, same),
		add("weights multiplied", func(c *model.Batch, rng *rand.Rand) bool {
			f := 2 + rng.IntN(1000)
			for k := range c.Jobs {
				c.Jobs[k].Weight = f * c.Jobs[k].EffectiveWeight()
			}
			return true
		}, same),
		// The weight that is added is that of a response of the work at least.
		add("a heavier job", func(c *model.Batch, rng *rand.Rand) bool {
			j := &c.Jobs[rng.IntN(len(c.Jobs))]
			j.Weight = j.EffectiveWeight() + 1 + rng.IntN(10)
			return true
		}, func(in, other model.Instance, c claim) claim {
			b, heavier := in.(*model.Batch), other.(*model.Batch)
			d, sum := unknown(), weightOf(b)*c.low
			for k := range b.Jobs {
				sum += float64(heavier.Jobs[k].EffectiveWeight()-b.Jobs[k].EffectiveWeight()) * b.Work(k)
			}
			d.low = sum / weightOf(heavier)
			return d
		}),
		// They are told the scheduler, or are about two tiers.
		add("other estimates, uses, losses and efficiencies", func(c *model.Batch, rng *rand.Rand) bool {
			c.Threshold, c.MigrationS = rng.Float64(), float64(rng.IntN(30))
			c.Threshold = math.Round(c.Threshold*1e4) / 1e4
			for k := range c.Jobs {
				j := &c.Jobs[k]
				j.CPU, j.FgLoss, j.BgEfficiency = []float64{0.5}, 0.25, 0.75
				if !c.KillAtEstimate {
					j.EstimateS = float64(rng.IntN(3)) * j.RuntimeS
				}
			}
			return true
		}, same),
		add("killed at the runtime", func(c *model.Batch, _ *rand.Rand) bool {
			for k := range c.Jobs {
				c.Jobs[k].RuntimeS, c.Jobs[k].EstimateS = c.Work(k), 0
			}
			c.KillAtEstimate = !c.KillAtEstimate
			return true
		}, same),
		// The second half begins when the first is over.
		add("joined with itself in time", func(c *model.Batch, _ *rand.Rand) bool {
			at := allDone(c)
			for _, j := range slices.Clone(c.Jobs) {
				j.ID, j.SubmitS = "again-"+j.ID, later(j.SubmitS, at)
				c.Jobs = append(c.Jobs, j)
			}
			return len(c.Jobs) <= 24
		}, same),
		// Each half can do what the whole did.
		add("joined with itself side by side", func(c *model.Batch, _ *rand.Rand) bool {
			for _, j := range slices.Clone(c.Jobs) {
				j.ID = "again-" + j.ID
				c.Jobs = append(c.Jobs, j)
			}
			bySubmission(c)
			c.Processors *= 2
			return true
		}, noWorse),
		add("a job after all others", func(c *model.Batch, rng *rand.Rand) bool {
			c.Jobs = append(c.Jobs, model.BatchJob{ID: "alone", SubmitS: allDone(c), RuntimeS: float64(1 + rng.IntN(100)), Processes: 1 + rng.IntN(c.Processors), Weight: rng.IntN(10)})
			return true
		}, func(in, other model.Instance, c claim) claim {
			c.low, c.high = joined(in, other, c.low), joined(in, other, c.high)
			return c
		}),
		// Without it the others are no later.
		add("a job more", func(c *model.Batch, rng *rand.Rand) bool {
			j := c.Jobs[rng.IntN(len(c.Jobs))]
			j.ID, j.SubmitS = "more", c.Jobs[len(c.Jobs)-1].SubmitS
			c.Jobs = append(c.Jobs, j)
			return true
		}, func(in, other model.Instance, c claim) claim {
			d := unknown()
			d.low = joined(in, other, c.low)
			return d
		}),
		// It waits for as long as it is earlier.
		add("submitted earlier", func(c *model.Batch, rng *rand.Rand) bool {
			j := &c.Jobs[rng.IntN(len(c.Jobs))]
			j.SubmitS = math.Round(j.SubmitS*rng.Float64()*1e6) / 1e6
			bySubmission(c)
			return true
		}, func(in, other model.Instance, c claim) claim {
			sum := func(in model.Instance) (sum float64) {
				for _, j := range in.(*model.Batch).Jobs {
					sum += float64(j.EffectiveWeight()) * j.SubmitS
				}
				return sum
			}
			return plus((sum(in)-sum(other))/weightOf(in.(*model.Batch)))(in, other, noWorse(in, other, c))
		}),
		add("a processor more", func(c *model.Batch, _ *rand.Rand) bool { c.Processors++; return true }, noWorse),
		add("a narrower job", func(c *model.Batch, rng *rand.Rand) bool {
			j := &c.Jobs[rng.IntN(len(c.Jobs))]
			j.Processes, j.CPU = j.Processes-1, nil
			return j.Processes > 0
		}, noWorse),
		add("a shorter job", func(c *model.Batch, rng *rand.Rand) bool {
			j := &c.Jobs[rng.IntN(len(c.Jobs))]
			j.RuntimeS = inMillionths(j.RuntimeS * rng.Float64())
			return true
		}, noWorse),
		add("killed at the estimates", func(c *model.Batch, _ *rand.Rand) bool {
			longer := !c.KillAtEstimate
			c.KillAtEstimate = true
			return longer
		}, noWorse),
		// The foreground of two tiers is the one tier.
		add("a second tier without losses", func(c *model.Batch, rng *rand.Rand) bool {
			c.Tiers = 2
			for k := range c.Jobs {
				c.Jobs[k].FgLoss, c.Jobs[k].BgEfficiency = 0, float64(rng.IntN(10_001))/1e4
				c.Jobs[k].CPU = []float64{float64(1+rng.IntN(10_000)) / 1e4}
			}
			return true
		}, noWorse),
	}
}

func smallerBatch(b *model.Batch, yield func(*model.Batch) bool) {
	for from, to := range parts(len(b.Jobs)) {
		c := copyBatch(b)
		c.Jobs = slices.Delete(c.Jobs, from, to)
		if !yield(c) {
			return
		}
	}
	changes := []func(*model.Batch){
		func(c *model.Batch) { c.Tiers = 1 },
		func(c *model.Batch) { c.KillAtEstimate = false },
		func(c *model.Batch) { c.Threshold, c.MigrationS = 0, 0 },
		func(c *model.Batch) { c.Processors-- },
		func(c *model.Batch) {
			c.Processors--
			for k := range c.Jobs {
				c.Jobs[k].Processes, c.Jobs[k].CPU = max(1, c.Jobs[k].Processes-1), nil
			}
		},
		func(c *model.Batch) { // earlier by what all have before them
			for k := len(c.Jobs) - 1; k >= 0; k-- {
				c.Jobs[k].SubmitS = later(c.Jobs[k].SubmitS, -c.Jobs[0].SubmitS)
			}
		},
		func(c *model.Batch) {
			for k := range c.Jobs {
				c.Jobs[k].EstimateS, c.Jobs[k].CPU, c.Jobs[k].FgLoss = 0, nil, 0
			}
		},
	}
	for k := range b.Jobs {
		changes = append(changes,
			func(c *model.Batch) { c.Jobs[k].Processes, c.Jobs[k].CPU = 1, nil },
			func(c *model.Batch) { c.Jobs[k].Processes, c.Jobs[k].CPU = c.Jobs[k].Processes-1, nil },
			func(c *model.Batch) { c.Jobs[k].EstimateS = 0 },
			func(c *model.Batch) { c.Jobs[k].Weight = 0 },
			func(c *model.Batch) { c.Jobs[k].Weight /= 2 },
			func(c *model.Batch) { c.Jobs[k].CPU = nil },
			func(c *model.Batch) { c.Jobs[k].FgLoss, c.Jobs[k].BgEfficiency = 0, 0 },
			func(c *model.Batch) { // with the one before it
				if k > 0 {
					c.Jobs[k].SubmitS = c.Jobs[k-1].SubmitS
				}
			})
	}
	for _, change := range changes {
		c := copyBatch(b)
		change(c)
		if !equal(c, b) && !yield(c) {
			return
		}
	}
	rounder(b, copyBatch, func(b *model.Batch) (all []*float64) {
		for k := range b.Jobs {
			j := &b.Jobs[k]
			all = append(all, &j.SubmitS, &j.RuntimeS, &j.EstimateS)
		}
		return all
	}, yield)
}

// forgedExecution starts a job earlier, or ends one earlier, on its processors or
// others.
func forgedExecution(b *model.Batch, e *model.Execution, rng *rand.Rand) *model.Execution {
	if len(e.Runs) == 0 {
		return nil
	}
	f := &model.Execution{Runs: slices.Clone(e.Runs)}
	run := &f.Runs[rng.IntN(len(f.Runs))]
	run.Segments = slices.Clone(run.Segments)
	s := &run.Segments[len(run.Segments)-1]
	first := 0.0
	for k := range b.Jobs {
		if b.Jobs[k].ID == run.ID {
			first = b.Jobs[k].SubmitS
		}
	}
	earlier := []float64{1e-6, s.StartS - first, math.Floor((s.StartS-first)*rng.Float64()*1e6) / 1e6}[rng.IntN(3)]
	if rng.IntN(4) > 0 {
		s.StartS = later(s.StartS, -earlier)
	}
	s.EndS = later(s.EndS, -earlier)
	if rng.IntN(2) == 0 {
		s.Place.Processors = slices.Clone(s.Place.Processors)
		for i, p := range rng.Perm(b.Processors)[:len(s.Place.Processors)] {
			s.Place.Processors[i] = int32(p)
		}
	}
	return f
}
