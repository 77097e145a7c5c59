// SPDX-License-Identifier: MIT

package instances

import (
	"math"
	"math/rand/v2"
)

// lublinTasks draws a parallel job's number of tasks by the two-stage log-uniform model of Lublin and Feitelson (The
// Workload on Parallel Supercomputers, JPDC 63(11), 2003). The parameters are from the authors' program for a single
// stream of jobs. They are adapted to a machine of the given size by its rules (high end log2 of the size, break 2.5
// below it).
//
// A job is serial with probability 0.244. Otherwise the logarithm of its size is uniform, below the break with
// probability 0.86 and above it else. A share of 0.576 of all jobs has it rounded to an integer, which gives powers of
// two. Size must be at least 1; the result is from 1 to size.
func lublinTasks(rng *rand.Rand, size int) int {
	const serial, powerOfTwo, low, lowShare = 0.244, 0.576, 0.8, 0.86
	high := math.Log2(float64(size))
	middle := max(high-2.5, low)
	u := rng.Float64()
	if u <= serial || high <= low {
		return 1
	}
	choice, place := rng.Float64(), rng.Float64()
	x := lublinLogSize(low, middle, high, lowShare, choice, place)
	if u <= serial+powerOfTwo {
		x = math.Floor(x + 0.5)
	}
	return min(max(int(math.Floor(math.Exp2(x)+0.5)), 1), size)
}
