// SPDX-License-Identifier: MIT

package view

import (
	"math"

	"github.com/gapwise/gapwise/internal/core/units"
)

// DAGTicks is a Graph's contention-free times as whole numbers of one unit, for
// bounds and searches that add and compare them.
//
// Times that aren't multiples of the unit are rounded down, so the ticks are a relaxation. The machines and orders of
// any schedule, played with times that are nowhere longer, end no later, and a bound in ticks times Unit is a bound.
type DAGTicks struct {
	Unit  float64 // seconds per tick
	Whole bool    // no time up to the horizon was rounded: makespans are multiples of Unit
	Cost  []int32 // of task t on machine m at [t*Machines+m]
	// Comm is the length of edge e between different machines at [e] if the graph
	// is Uniform, else from machine m to n at [(e*Machines+m)*Machines+n].
	Comm []int32
}

const (
	// MaxTicks is the most ticks that a horizon has. Rounding down then moves a
	// makespan by less than 10^-8 of it per task.
	MaxTicks = 1 << 27
	// BeyondTicks means a time above the horizon.
	BeyondTicks = 2 * MaxTicks
)

// times yields each finite cost and each finite contention-free length of an edge, one for each edge on a uniform
// network. O(V M + E M²).
func (g *Graph) times(yield func(float64) bool) {
	ends := func(x float64) bool { return math.IsInf(x, 1) || yield(x) }
	for _, c := range g.Cost {
		if !ends(c) {
			return
		}
	}
	for e := range int32(len(g.Data)) {
		for k := range g.Machines * g.Machines {
			m, n := int32(k/g.Machines), int32(k%g.Machines)
			if m == n && !g.Local {
				continue
			}
			if !ends(g.Comm(e, m, n)) {
				return
			}
			if g.Uniform {
				break
			}
		}
	}
}

// unitScale is how many of the least units that Unit knows make a second.
const unitScale = 1 << 20

// Unit returns the common unit of all costs and transfer times: the greatest number of seconds that divides each. It is
// 0 if that is below 2^-20 s, if a time is above 2^42 s, or if nothing takes time. The makespan of a schedule without
// needless idle time is a multiple of it. O(V M + E M²), on a uniform network O(V M + E).
func (g *Graph) Unit() float64 {
	unit, common := int64(0), true
	g.times(func(v float64) bool {
		v *= unitScale
		if common = v == math.Trunc(v) && v <= 1<<62; common {
			if k := int64(v); unit == 0 || k%unit != 0 {
				unit = units.GCD(unit, k)
			}
		}
		return common
	})
	if !common {
		return 0
	}
	return float64(unit) / unitScale
}

// ExactSums reports whether any sum of n of the graph's times is computed without
// rounding: all are multiples of a power of two, 2^j, so a sum below 2^(53+j) is a
// float64.
func (g *Graph) ExactSums(n int) bool {
	all, largest, common := int64(0), 0.0, true // the bits of all times in units of 1/unitScale
	g.times(func(v float64) bool {
		largest = max(largest, v)
		v *= unitScale
		if common = v <= 1<<62 && v == float64(int64(v)); common {
			all |= int64(v)
		}
		return common
	})
	return common && all > 0 && float64(n)*largest <= float64(all&-all)/unitScale*(1<<53)
}

// Ticks returns the graph in ticks for schedules that end by the horizon
// (seconds): at least the optimum, or nothing holds.
//
// The unit is the greatest common divisor of all times up to the horizon if that makes the horizon at most MaxTicks
// ticks. Otherwise it is the least power of two that does, times the common divisor of all ticks. So an instance of
// whole seconds is exact. O(V M + E M²).
func (g *Graph) Ticks(horizon float64) *DAGTicks {
	k := &DAGTicks{Whole: true, Unit: math.Ldexp(1, int(math.Ceil(math.Log2(max(horizon, 1e-300)/MaxTicks))))}
	k.Unit = max(k.Unit, g.Unit())
	divisor := int32(0)
	tick := func(x float64) int32 {
		if x > horizon { // it can't be part of a schedule within the horizon
			return BeyondTicks
		}
		v := int32(math.Floor(x / k.Unit))
		k.Whole = k.Whole && float64(v)*k.Unit == x
		divisor = units.GCD(divisor, v)
		return v
	}
	n := g.Machines
	k.Cost = make([]int32, len(g.Cost))
	for i, c := range g.Cost {
		k.Cost[i] = tick(c)
	}
	if g.Uniform {
		k.Comm = make([]int32, len(g.Data))
		for e := range k.Comm {
			if n > 1 {
				k.Comm[e] = tick(g.Comm(int32(e), 0, 1))
			}
		}
	} else {
		k.Comm = make([]int32, len(g.Data)*n*n)
		for i := range k.Comm {
			k.Comm[i] = tick(g.Comm(int32(i/n/n), int32(i/n%n), int32(i%n)))
		}
	}
	if divisor > 1 {
		for _, list := range [][]int32{k.Cost, k.Comm} {
			for i, v := range list {
				if v < BeyondTicks {
					list[i] = v / divisor
				}
			}
		}
		k.Unit *= float64(divisor)
	}
	return k
}
