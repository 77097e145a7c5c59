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

// tvcRelations are between instances in loss mode, or between queues.
var tvcRelations = []relation{
	relates("renamed", inLoss(renameTVC)),
	relates("times multiplied by a power of two", inLoss(scaleTVC)),
	relates("all rates and bandwidths multiplied by a power of two", inLoss(scaleRates)),
	relates("time reversed", inLoss(reverseTVC)),
	relates("joined with itself in time", inLoss(joinTVC)),
	relates("a request that fits alone", inLoss(requestAlone)),
	relates("a request more", inLoss(requestMore)),
	relates("the first request cut in two", inLoss(cutRequest)),
	relates("a slot more", inLoss(slotMore)),
	relates("two pods more", inLoss(podsMore)),
	relates("faster links", inLoss(fasterLinks)),
	relates("links that don't block", inLoss(linksDontBlock)),
	relates("the cut instead of paths", inLoss(cutInsteadOfPaths)),
	relates("a queue renamed", inQueue(renameTVC)),
	relates("a queue's times multiplied by a power of two", inQueue(scaleQueue)),
	relates("a queue's rates and bandwidths multiplied by a power of two", inQueue(scaleRates)),
	relates("a queue joined with itself in time", inQueue(joinQueue)),
	relates("a request more in a queue", inQueue(queueMore)),
	relates("migrations that cost nothing", inQueue(freeMigrations)),
	relates("a slot more for a queue", inQueue(slotMore)),
	relates("two pods more for a queue", inQueue(podsMore)),
	relates("faster links for a queue", inQueue(fasterLinks)),
	relates("links that don't block for a queue", inQueue(linksDontBlock)),
	relates("the cut instead of paths for a queue", inQueue(cutInsteadOfPaths)),
}

// inQueue applies a change to queues if all requests fit: so the mean is over the same ones.
func inQueue(f change[*model.TVC]) change[*model.TVC] {
	return func(c *model.TVC, rng *rand.Rand) implication {
		fits := c.Fits()
		for k := range c.Requests {
			if !fits(k) {
				return nil
			}
		}
		if !c.Queue || len(c.Requests) == 0 {
			return nil
		}
		return f(c, rng)
	}
}

// scaleQueue: schedules change at whole microseconds, and longer times have more of them.
func scaleQueue(c *model.TVC, rng *rand.Rand) implication {
	f := max(2, power(rng))
	scaleTimes(c, f)
	c.MigrationS *= f
	return func(sense model.Sense, x claim) claim { return noWorse(sense, times(f)(sense, x)) }
}

// joinQueue adds the same requests again when the first are over even if they run one by one: where migrations
// cost nothing some best schedule ends by then.
func joinQueue(c *model.TVC, _ *rand.Rand) implication {
	if c.MigrationS > 0 {
		return nil
	}
	last := c.Requests[len(c.Requests)-1].ArrivalS
	for k := range c.Requests {
		last = later(last, c.Requests[k].DurationS)
	}
	last = math.Ceil(last)
	for _, q := range slices.Clone(c.Requests) {
		q.ID, q.ArrivalS = "again-"+q.ID, later(q.ArrivalS, last)
		c.Requests = append(c.Requests, q)
	}
	if len(c.Requests) > 50 {
		return nil
	}
	return same
}

// queueMore adds a request: the others can't do better for it, and it takes its time.
func queueMore(c *model.TVC, rng *rand.Rand) implication {
	q := c.Requests[rng.IntN(len(c.Requests))]
	n := float64(len(c.Requests))
	q.ID = "more"
	c.Requests = append(c.Requests, q)
	byArrival(c)
	return func(_ model.Sense, x claim) claim {
		d := unknown()
		if d.solved = x.solved; !math.IsInf(x.low, 0) {
			d.low = (x.low*n + q.DurationS) / (n + 1)
		}
		return d
	}
}

func freeMigrations(c *model.TVC, _ *rand.Rand) implication {
	cost := c.MigrationS
	c.MigrationS = 0
	return noWorseIf(cost > 0)
}

func inLoss(f change[*model.TVC]) change[*model.TVC] {
	return func(c *model.TVC, rng *rand.Rand) implication {
		if c.Queue || len(c.Requests) == 0 {
			return nil
		}
		return f(c, rng)
	}
}

// byArrival sorts the requests by arrival.
func byArrival(v *model.TVC) {
	slices.SortStableFunc(v.Requests, func(a, b model.TVCRequest) int { return cmp.Compare(a.ArrivalS, b.ArrivalS) })
}

// lastEnd returns the time by which all requests have ended that start at their
// arrival, rounded up to a whole second.
func lastEnd(v *model.TVC) float64 {
	last := 0.0
	for k := range v.Requests {
		last = max(last, v.Requests[k].ArrivalS+v.Requests[k].DurationS)
	}
	return math.Ceil(last)
}

// revenues multiplies the optimum if the goal is revenue.
func revenues(c *model.TVC, factor float64) implication {
	if c.EffectiveGoal() == model.GoalRevenue {
		return times(factor)
	}
	return same
}

// renameTVC: the optimum doesn't depend on the order in which requests arrive at one
// instant.
func renameTVC(c *model.TVC, rng *rand.Rand) implication {
	for k := range c.Requests {
		c.Requests[k].ID = fmt.Sprintf("x%d", k)
	}
	shuffled(rng, c.Requests)
	byArrival(c)
	return same
}

func scaleTVC(c *model.TVC, rng *rand.Rand) implication {
	f := power(rng)
	scaleTimes(c, f)
	return revenues(c, f)
}

func scaleTimes(c *model.TVC, f float64) {
	for k := range c.Requests {
		c.Requests[k].ArrivalS *= f
		c.Requests[k].DurationS *= f
	}
}

func scaleRates(c *model.TVC, rng *rand.Rand) implication {
	f := power(rng)
	c.FatTree.LinkMbps *= f
	if l := c.FatTree.LayersMbps; l != nil {
		l.ServerMbps, l.EdgeMbps, l.AggregationMbps = f*l.ServerMbps, f*l.EdgeMbps, f*l.AggregationMbps
	}
	for k := range c.Requests {
		c.Requests[k].BandwidthMbps *= f
	}
	return revenues(c, f)
}

// reverseTVC: requests that run together run together when time runs backwards.
func reverseTVC(c *model.TVC, _ *rand.Rand) implication {
	last := lastEnd(c)
	for k := range c.Requests {
		q := &c.Requests[k]
		q.ArrivalS = later(last, -q.ArrivalS-q.DurationS)
	}
	slices.Reverse(c.Requests)
	byArrival(c)
	return same
}

// joinTVC adds the same requests again when the first are over.
func joinTVC(c *model.TVC, _ *rand.Rand) implication {
	last := lastEnd(c)
	for _, q := range slices.Clone(c.Requests) {
		q.ID, q.ArrivalS = "again-"+q.ID, later(q.ArrivalS, last)
		c.Requests = append(c.Requests, q)
	}
	if len(c.Requests) > 50 {
		return nil
	}
	return times(2)
}

// requestAlone adds a request that comes when all others are over.
func requestAlone(c *model.TVC, rng *rand.Rand) implication {
	vms := 1 + rng.IntN(c.FatTree.Slots)
	c.Requests = append(c.Requests, model.TVCRequest{ID: "alone", ArrivalS: lastEnd(c), VMs: vms, BandwidthMbps: 1, DurationS: 1})
	if c.EffectiveGoal() == model.GoalRevenue {
		return plus(float64(vms))
	}
	return plus(1)
}

// requestMore adds a copy of a request, with at most as many VMs: one of the two can be rejected.
func requestMore(c *model.TVC, rng *rand.Rand) implication {
	q := c.Requests[rng.IntN(len(c.Requests))]
	q.ID, q.VMs = "more", 1+rng.IntN(q.VMs)
	c.Requests = append(c.Requests, q)
	byArrival(c)
	return noWorse
}

// cutRequest: each half can be where the whole was.
func cutRequest(c *model.TVC, _ *rand.Rand) implication {
	q := c.Requests[0]
	half := math.Floor(q.DurationS*5e5) / 1e6
	c.Requests[0].DurationS = half
	q.ID, q.ArrivalS, q.DurationS = "rest", later(q.ArrivalS, half), later(q.DurationS, -half)
	c.Requests = append(c.Requests, q)
	byArrival(c)
	return noWorse
}

func slotMore(c *model.TVC, _ *rand.Rand) implication {
	c.FatTree.Slots++
	return noWorse
}

// podsMore: a pod of the larger fat-tree has a smaller one's pod in it.
func podsMore(c *model.TVC, _ *rand.Rand) implication {
	c.FatTree.K += 2
	return noWorseIf(c.FatTree.K <= 6)
}

func fasterLinks(c *model.TVC, rng *rand.Rand) implication {
	faster := func(rate float64) float64 {
		return max(1, math.Round(rate*(1+float64(rng.IntN(3))/2)*1e6)) / 1e6
	}
	server, edge, aggregation := c.FatTree.Rates()
	c.FatTree.LayersMbps = &model.LayerRates{ServerMbps: faster(server), EdgeMbps: faster(edge), AggregationMbps: faster(aggregation)}
	return noWorse
}

func linksDontBlock(c *model.TVC, _ *rand.Rand) implication {
	c.FatTree.Fabric = model.FabricNonBlocking
	return noWorse
}

// cutInsteadOfPaths: no link is loaded more by the cut than by paths.
func cutInsteadOfPaths(c *model.TVC, _ *rand.Rand) implication {
	paths := c.Hose == model.HosePerPath
	c.Hose = model.HoseCut
	return noWorseIf(paths)
}
