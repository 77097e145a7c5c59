// SPDX-License-Identifier: MIT

package audit

import (
	"math"
	"math/rand/v2"

	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// size is a range of the number of tasks, jobs or requests in an instance.
type size int

// The sizes: tiny and middle for plain engines, and large for relations and bounds alone.
const (
	tiny size = iota
	middle
	large
)

func (s size) String() string { return [...]string{"tiny", "middle", "large"}[s] }

// count draws a number for the size from the six limits: the least and the
// most of each size.
func (s size) count(rng *rand.Rand, limits [6]int) int {
	lo, hi := limits[2*s], limits[2*s+1]
	return lo + rng.IntN(hi-lo+1)
}

// drawVCSched draws clusters of many styles. Some have tasks with equal CPU needs that don't divide a host's CPU, and
// fill nearly all memory.
func drawVCSched(s size, rng *rand.Rand) *model.VCSched {
	n := s.count(rng, [6]int{2, 8, 12, 16, 17, 60})
	hosts := 1 + rng.IntN(4)
	if s == large {
		hosts = max(2, n/(2+rng.IntN(3)))
	}
	v := testkit.VCSched(rng, n, hosts, rng.IntN(4) == 0)
	if rng.IntN(4) == 0 {
		testkit.Vectors(rng, v)
	}
	if s != tiny && rng.IntN(4) == 0 {
		cpu, sum := []float64{0.3, 0.35, 0.4, 0.45}[rng.IntN(4)], 0.0
		for i := range v.Jobs {
			v.Jobs[i].CPU, v.Jobs[i].Memory = cpu, max(0, rng.Float64()-0.1)
			sum += float64(v.Jobs[i].Tasks) * v.Jobs[i].Memory
		}
		for i := range v.Jobs { // of 94 to 98 % of the hosts
			v.Jobs[i].Memory = min(1, math.Floor(1000*v.Jobs[i].Memory*float64(v.Hosts)/sum*(0.94+rng.Float64()/25))/1000)
		}
	}
	return v
}

// drawConsolidation draws clusters with everything that there is, and some with hosts that differ in little and are
// nearly full.
func drawConsolidation(s size, rng *rand.Rand) *model.Consolidation {
	n := s.count(rng, [6]int{1, 6, 10, 14, 17, 40})
	hosts := 1 + rng.IntN(4)
	if s != tiny {
		hosts = max(2, n/(2+rng.IntN(3)))
	}
	c := testkit.Consolidation(rng, n, hosts)
	if rng.IntN(3) == 0 {
		c.Goal, c.MoveBudget = "", nil
		for h := range c.Hosts {
			x := &c.Hosts[h]
			x.Closed, x.Price = false, int64(10+rng.IntN(2))
			for r := range x.Capacity {
				x.Capacity[r] = 100
			}
		}
		for i := range c.Jobs {
			for r := range c.Jobs[i].Needs {
				c.Jobs[i].Needs[r] = []int64{20, 25, 26, 33, 34, 50, 51}[rng.IntN(7)]
			}
		}
	}
	return c
}

func drawDAG(s size, rng *rand.Rand) *model.DAG {
	n := s.count(rng, [6]int{2, 8, 12, 15, 17, 26})
	m := 1 + rng.IntN(4)
	if s == large {
		m = 2 + rng.IntN(3)
	}
	d := testkit.RandomDAG(rng, n, m)
	if rng.IntN(6) == 0 {
		testkit.Contend(rng, d)
	}
	return d
}

// addCapacities gives machines capacities, which some tasks need other amounts of on other machines. Some figures are
// nearly as large as they may be, and have no common divisor.
func addCapacities(rng *rand.Rand, d *model.DAG) {
	testkit.Roomy(rng, d)
	if rng.IntN(6) > 0 {
		return
	}
	factor := int64(1e12)/16 - 10 - rng.Int64N(1000) // capacities are up to 16, needs no more
	for m := range d.Machines {
		for r := range d.Machines[m].Capacity {
			d.Machines[m].Capacity[r] = factor*d.Machines[m].Capacity[r] + rng.Int64N(9)
		}
	}
	larger := func(needs []int64) {
		for r := range needs {
			needs[r] = max(0, factor*needs[r]-rng.Int64N(9))
		}
	}
	for t := range d.Tasks {
		larger(d.Tasks[t].Needs)
		for _, m := range d.Machines { // in their order
			larger(d.Tasks[t].NeedsOn[m.ID])
		}
	}
}

func drawReservation(s size, rng *rand.Rand) *model.Reservation {
	return testkit.RandomReservation(rng, s.count(rng, [6]int{1, 8, 12, 16, 17, 50}))
}

// drawBatch draws jobs mostly on one tier, the only one with exact engines.
func drawBatch(s size, rng *rand.Rand) *model.Batch {
	n := s.count(rng, [6]int{1, 8, 12, 14, 17, 40})
	return testkit.RandomBatch(rng, 1+max(0, rng.IntN(8)-6), []int{8, 8, 64}[s], n)
}

// drawTVC draws requests mostly in loss mode, the only one with exact engines.
func drawTVC(s size, rng *rand.Rand) *model.TVC {
	n := s.count(rng, [6]int{1, 8, 12, 16, 17, 40})
	return testkit.RandomTVC(rng, []int{2, 2, 4, 4, 6}[rng.IntN(3+int(s))], n, rng.IntN(8) < 2)
}
