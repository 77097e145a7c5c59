// SPDX-License-Identifier: MIT

package verify

import (
	"container/heap"
	"context"
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// squashedJob is a job of one machine that is as fast as all processors (slots) together: it
// needs its duration times its demand of the machine's capacity.
type squashedJob struct {
	release, duration int64 // ticks from 0, below 2^62
	demand            int64 // from 0 to the capacity
	weight            int64 // at least 1, below 2^31
}

// squashedMachine bounds the sum of weighted responses, end - release, of jobs. The demands of the jobs that work at
// one instant must sum to at most the capacity. Such a schedule, in which jobs may be suspended and moved, is one of
// the machine, too: the machine works on each job in each instant as the schedule does. There each job of a set ends no
// earlier, if others don't work. So of any set of jobs either of these is a bound, and each other job responds after
// its duration at least:
//
//   - equal weights: the ends in the order of the shortest remaining time (Schrage 1968);
//   - the mean instants at which jobs work, if the job of the largest weight over time works first, and half of the
//     durations: for a job that works for a duration d has its mean at d/2 before its end or earlier (Goemans,
//     Queyranne, Schulz, Skutella, Wang 2002).
//
// Jobs with responses that come out below their durations are left out, round by round. Each group of jobs that are
// busy together has the best of its bounds; any division into groups is right.
//
// Times are whole units of 2^shift/capacity ticks from a group's first release. Releases and needs are
// rounded down, which makes no end and no mean later; a response is less than one unit
// too long by that. Floating-point numbers choose what is computed, and nothing that follows.
type squashedMachine struct {
	capacity int64
	shift    int
	jobs     []squashedRun // by release
	queue    []int
	dense    bool // the largest weight over time first, not the shortest remaining time
}

// squashedRun is a job with its work done.
type squashedRun struct {
	squashedJob
	from, time, left int64  // in units
	end              int64  // of its work
	high, low        uint64 // Σ (to² - from²) over the pieces from..to of its work
}

const (
	// squashedRounds is how often jobs are left out.
	squashedRounds = 16
	// squashedFraction is the number of bits behind the point of sums.
	squashedFraction = 64
	// squashedSpan is the length of a group in units; its square fits 128 bits.
	squashedSpan = 1 << 60
)

// squashedResponses returns a number that the sum of weighted responses in ticks isn't below,
// rounded up to a whole one as the sum is. The error is ErrUnchecked or ctx's.
func squashedResponses(ctx context.Context, jobs []squashedJob, capacity int64) (*big.Int, error) {
	alone := new(big.Int)
	var sorted []squashedJob
	for _, j := range jobs {
		if j.demand > 0 {
			sorted = append(sorted, j)
		} else {
			alone.Add(alone, bigProduct(j.duration, j.weight))
		}
	}
	sortFunc(ctx, sorted, func(a, b squashedJob) int {
		switch {
		case a.release < b.release:
			return -1
		case a.release > b.release:
			return 1
		}
		return 0
	})
	sum, work := new(big.Int), 0
	for len(sorted) > 0 && ctx.Err() == nil {
		n, end := 0, float64(sorted[0].release)
		for n < len(sorted) && float64(sorted[n].release) <= end {
			end += float64(sorted[n].duration) * float64(sorted[n].demand) / float64(capacity)
			n++
		}
		x, err := squashedGroup(ctx, sorted[:n], capacity, end-float64(sorted[0].release), &work)
		if err != nil {
			return nil, err
		}
		sum.Add(sum, x)
		sorted = sorted[n:]
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	up := new(big.Int).Lsh(big.NewInt(1), squashedFraction)
	sum.Add(sum, up.Sub(up, big.NewInt(1))).Rsh(sum, squashedFraction)
	return sum.Add(sum, alone), nil
}

func bigProduct(a, b int64) *big.Int { return new(big.Int).Mul(big.NewInt(a), big.NewInt(b)) }

// squashedGroup returns the best bound of a group, by release, in ticks with a fraction. length
// is about how long it is busy, in ticks.
func squashedGroup(ctx context.Context, group []squashedJob, capacity int64, length float64, work *int) (*big.Int, error) {
	m := squashedMachine{capacity: capacity}
	for math.Ldexp(length*float64(capacity), -m.shift) > squashedSpan {
		m.shift++
	}
	least, equal := new(big.Int), true
	all := make([]squashedRun, len(group))
	for k, j := range group {
		all[k] = squashedRun{squashedJob: j, from: m.units(j.release-group[0].release, capacity), time: m.units(j.duration, j.demand)}
		least.Add(least, bigProduct(j.duration, j.weight))
		equal = equal && j.weight == group[0].weight
	}
	best := least.Lsh(least, squashedFraction)
	for _, m.dense = range []bool{false, true} {
		if !m.dense && !equal {
			continue
		}
		set, others := slices.Clone(all), new(big.Int)
		for round, same := 0, false; round < squashedRounds; round++ {
			if !same {
				if *work += len(set) + 1; *work > maxEvidenceWork {
					return nil, tooMuch("rounds of the machine's jobs")
				}
				m.jobs = set
				if err := m.run(ctx); err != nil {
					return nil, err
				}
				if sum := m.sum(set); sum.Add(sum, new(big.Int).Lsh(others, squashedFraction)).Cmp(best) > 0 {
					best = sum
				}
			}
			keep := set[:0]
			for k := range set {
				j := &set[k]
				if m.early(j, float64(round+1)/squashedRounds) {
					others.Add(others, bigProduct(j.duration, j.weight))
				} else {
					keep = append(keep, *j)
				}
			}
			same, set = len(keep) == len(set), keep
		}
	}
	return best, nil
}

// units returns ticks times a demand in units, rounded down.
func (m *squashedMachine) units(ticks, demand int64) int64 {
	high, low := bits.Mul64(uint64(ticks), uint64(demand))
	if m.shift >= 64 {
		return int64(high >> (m.shift - 64))
	}
	return int64(high<<(64-m.shift) | low>>m.shift)
}

// early reports that a job responds before a share of its duration, or of the second half of it.
func (m *squashedMachine) early(j *squashedRun, share float64) bool {
	unit := math.Ldexp(1/float64(m.capacity), m.shift)
	d := float64(j.duration)
	if !m.dense {
		return float64(j.end-j.from)*unit < share*d*(1-1e-9)
	}
	response := 0.5 * d
	if j.time > 0 {
		response += ((float64(j.high)*0x1p64+float64(j.low))/float64(j.time)/2 - float64(j.from)) * unit
	}
	return response < (0.5+0.5*share)*d*(1-1e-9)
}

// sum returns the bound of the jobs that ran, in ticks with a fraction, rounded down.
func (m *squashedMachine) sum(set []squashedRun) *big.Int {
	units, halves, weights := new(big.Int), new(big.Int), new(big.Int) // units with a fraction; half ticks
	x, y := new(big.Int), new(big.Int)
	for k := range set {
		j := &set[k]
		weights.Add(weights, x.SetInt64(j.weight))
		if !m.dense {
			x.Lsh(x.SetInt64(j.end-j.from), squashedFraction)
			units.Add(units, x.Mul(x, y.SetInt64(j.weight)))
			continue
		}
		halves.Add(halves, x.Mul(x.SetInt64(j.duration), y.SetInt64(j.weight)))
		if j.time == 0 {
			continue // it works at its release or later
		}
		x.Add(x.Lsh(x.SetUint64(j.high), 64), y.SetUint64(j.low))
		x.Quo(x.Lsh(x, squashedFraction-1), y.SetInt64(j.time))
		x.Sub(x, y.Lsh(y.SetInt64(j.from), squashedFraction))
		units.Add(units, x.Mul(x, y.SetInt64(j.weight)))
	}
	if m.shift > 0 {
		units.Sub(units, weights.Lsh(weights, squashedFraction))
	}
	units.Lsh(units, uint(m.shift))
	units.Div(units, x.SetInt64(m.capacity)) // down, for numbers below 0, too
	return units.Add(units, halves.Lsh(halves, squashedFraction-1))
}

// run does all jobs.
func (m *squashedMachine) run(ctx context.Context) error {
	m.queue = m.queue[:0]
	for k := range m.jobs {
		j := &m.jobs[k]
		j.left, j.end, j.high, j.low = j.time, j.from, 0, 0
	}
	now := int64(0)
	for next, step := 0, 0; next < len(m.jobs) || len(m.queue) > 0; step++ {
		if stopped(ctx, step) {
			return ctx.Err()
		}
		if len(m.queue) == 0 {
			now = max(now, m.jobs[next].from)
		}
		for ; next < len(m.jobs) && m.jobs[next].from <= now; next++ {
			if m.jobs[next].time > 0 {
				heap.Push(m, next)
			}
		}
		if len(m.queue) == 0 {
			continue
		}
		j := &m.jobs[m.queue[0]]
		to := now + j.left
		if next < len(m.jobs) {
			to = min(to, m.jobs[next].from)
		}
		high, low := bits.Mul64(uint64(to-now), uint64(to+now))
		var carry uint64
		j.low, carry = bits.Add64(j.low, low, 0)
		j.high += high + carry
		j.left -= to - now // it stays the first: less is left
		now = to
		if j.left == 0 {
			j.end = now
			heap.Pop(m)
		}
	}
	return nil
}

// Len implements heap.Interface.
func (m *squashedMachine) Len() int { return len(m.queue) }

// Less implements heap.Interface.
func (m *squashedMachine) Less(a, b int) bool {
	a, b = m.queue[a], m.queue[b]
	x, y := &m.jobs[a], &m.jobs[b]
	if !m.dense {
		return x.left < y.left || x.left == y.left && a < b
	}
	high1, low1 := bits.Mul64(uint64(x.weight), uint64(y.time))
	high2, low2 := bits.Mul64(uint64(y.weight), uint64(x.time))
	switch {
	case high1 != high2:
		return high1 > high2
	case low1 != low2:
		return low1 > low2
	}
	return a < b
}

// Swap implements heap.Interface.
func (m *squashedMachine) Swap(a, b int) { m.queue[a], m.queue[b] = m.queue[b], m.queue[a] }

// Push implements heap.Interface.
func (m *squashedMachine) Push(k any) { m.queue = append(m.queue, k.(int)) }

// Pop implements heap.Interface.
func (m *squashedMachine) Pop() any {
	k := m.queue[len(m.queue)-1]
	m.queue = m.queue[:len(m.queue)-1]
	return k
}
