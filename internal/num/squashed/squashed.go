// SPDX-License-Identifier: MIT

// Package squashed bounds response times from below by one machine that is as
// fast as all slots of a cluster together.
//
// A job holds a number of slots whenever it works, for its duration in all. Let the machine do a job's slot-seconds one
// after the other, at the rate of M slots. Whatever a schedule of the cluster does in an instant, the machine does in
// the same instant, each job with its share. So any schedule of the cluster is one of the machine that works on no job
// before its release and ends each job no later. A job may be suspended, moved or spread in any way: all that counts is
// that at most M slots work, that a job works for its duration, and not before its release. A value that the machine
// can't reach, the cluster can't reach either.
package squashed

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/internal/num/order"
)

// Job is a job of a cluster. Times are whole ticks.
type Job struct {
	Release, Duration int64 // Duration at least 1; each below 2^62
	Slots             int   // held while it works; at least 1
	// Per divides its response time, end - release, in the sum that is bounded: 1
	// for a sum of response times, max(Γ, Duration) for bounded slowdowns. At least
	// 1, below 2^62.
	Per int64
	// Weight multiplies it. At least 1, below 2^31.
	Weight int64
}

// Bounds are lower bounds of the sum of Weight·(end - release)/Per over all jobs.
type Bounds struct {
	// Runtime is the sum of Weight·Duration/Per: no job ends sooner.
	Runtime float64
	// SRPT is the bound by the shortest remaining processing time first, which is optimal on one machine (Schrage: A
	// proof of the optimality of the shortest remaining processing time discipline, Operations Research 16, 1968). It
	// is 0 unless all jobs have one Per and one Weight: for others this order isn't optimal. As in MeanBusy, some jobs
	// may be left out, with their Weight·Duration/Per as their share.
	SRPT float64
	// MeanBusy is the bound by mean busy times (Goemans, Queyranne, Schulz, Skutella, Wang: Single machine scheduling
	// with release dates, SIAM J. Discrete Math. 15, 2002). The mean instant at which a job works is at most end -
	// Duration/2, for it works for Duration before its end. So the sum of w·end is at least the sum of w·(mean +
	// Duration/2), w = Weight/Per. On the machine, with processing times p, the sum of w·mean is the integral of
	// t·ρ(t), where ρ = w/p of the job that works at t. It is least if at each instant the released job of the largest
	// ρ works: to exchange equal amounts of work, so that the larger ρ is earlier, makes the integral no larger.
	MeanBusy float64
	// Best takes the largest of the above in each busy period of the machine.
	Best float64
}

// Of returns the bounds for jobs on a cluster of so many slots. They are rounded down. O(n log n)
func Of(jobs []Job, slots int) Bounds {
	sorted, byRelease := jobs, func(a, b Job) int { return cmp.Compare(a.Release, b.Release) }
	if !slices.IsSortedFunc(sorted, byRelease) {
		sorted = slices.Clone(jobs)
		order.Stable(sorted, byRelease)
	}
	var total Bounds
	var m machine
	for len(sorted) > 0 {
		// The end of the busy period is computed in floating-point numbers: any partition is right.
		n, end := 0, float64(sorted[0].Release)
		for n < len(sorted) && float64(sorted[n].Release) <= end {
			end += float64(sorted[n].Duration) * float64(sorted[n].Slots) / float64(slots)
			n++
		}
		b := m.ofPeriod(sorted[:n], slots, end-float64(sorted[0].Release), 0x1p50)
		total.Runtime += b.Runtime
		total.SRPT += b.SRPT
		total.MeanBusy += b.MeanBusy
		total.Best += max(b.Runtime, b.SRPT, b.MeanBusy)
		sorted = sorted[n:]
	}
	if slices.ContainsFunc(jobs, func(j Job) bool { return j.Per != jobs[0].Per || j.Weight != jobs[0].Weight }) {
		total.SRPT = 0
	}
	// Each sum has up to one addition per job, and each addition errs by 2^-53 of it.
	total.Runtime, total.SRPT = down(total.Runtime, len(jobs)), down(total.SRPT, len(jobs))
	total.MeanBusy, total.Best = down(total.MeanBusy, len(jobs)), down(total.Best, len(jobs))
	return total
}

// down returns a number below the true value of x ≥ 0, which was computed from numbers of one sign with at most n + 16
// roundings in a row. Each rounding errs by a factor of 1 ± 2^-53.
func down(x float64, n int) float64 { return max(0, x-x*float64(n+16)*0x1p-52) }

// ofPeriod returns the bounds of one busy period's jobs, by release. length is about the length of the period, in
// ticks.
//
// It computes in whole units of 2^shift/slots ticks, in which a job's slot-ticks
// are its processing time. The period is about most units long, so that float64s
// hold all times. Releases, counted from the first, and processing times are
// rounded down, which makes no end and no mean later: to leave out the end of a
// job's work, and to release it earlier, only helps. But responses, from the
// release rounded down, are up to one unit too long.
func (m *machine) ofPeriod(jobs []Job, slots int, length, most float64) (b Bounds) {
	n := len(jobs)
	shift, lost := 0, int64(0)
	for math.Ldexp(length*float64(slots), -shift) > most {
		shift++
		lost = 1
	}
	scaled := func(ticks int64, times int) int64 {
		high, low := bits.Mul64(uint64(ticks), uint64(times))
		if shift >= 64 {
			return int64(high >> (shift - 64))
		}
		return int64(high<<(64-shift) | low>>shift)
	}
	m.all = slices.Grow(m.all[:0], n)
	all, same := m.all[:n], true
	for k, j := range jobs {
		all[k] = work{release: scaled(j.Release-jobs[0].Release, slots), time: scaled(j.Duration, j.Slots), per: j.Per, weight: j.Weight, duration: float64(j.Duration)}
		b.Runtime += float64(j.Duration) * float64(j.Weight) / float64(j.Per)
		same = same && j.Per == jobs[0].Per && j.Weight == jobs[0].Weight
	}
	b.Runtime = down(b.Runtime, n)
	unit := math.Ldexp(1/float64(slots), shift)
	if same {
		b.SRPT = m.best(all, unit, lost, 0, (*machine).shorter, func(j *work, _, to int64) {
			if j.left == 0 {
				j.response = float64(to - j.release)
			}
		})
	}
	b.MeanBusy = m.best(all, unit, lost, 0.5, (*machine).denser, func(j *work, from, to int64) {
		// The part from..to of the mean instant less the release.
		j.response += float64(to-from) / float64(j.time) * float64(from-j.release+to-j.release) / 2
	})
	return b
}

// rounds is how often best leaves jobs out.
const rounds = 16

// best returns a bound by a schedule of the machine, in which a job's response is at least the figure from piece, in
// units, and a share of its duration. The bound holds for the sum over any set of jobs, whatever the others do; each of
// the others takes its duration. Jobs that get less than their duration are better left out: first the ones with the
// least part of it, for the jobs that stay end sooner without them. The machine runs by the order first.
func (m *machine) best(all []work, unit float64, lost int64, share float64, first func(m *machine, a, b int) bool, piece func(j *work, from, to int64)) (best float64) {
	set, others := append(m.set[:0], all...), 0.0
	m.set = set
	least := math.Inf(1) // part of its duration after which a job of the set responds
	for round, same := 0, false; round < rounds; round++ {
		limit := share + (1-share)*float64(round+1)/rounds
		if same && least >= limit {
			continue // nothing is left out, nor changes
		}
		if !same { // else they run as in the round before
			m.jobs = set
			for k := range set {
				set[k].response = 0
			}
			m.run(first, piece)
		}
		sum, tooLong := others, 0.0
		least = math.Inf(1)
		keep := set[:0] // never ahead of the reading position
		for _, j := range set {
			response := share*j.duration + j.response*unit
			sum += response * float64(j.weight) / float64(j.per)
			tooLong += float64(lost) * unit * float64(j.weight) / float64(j.per)
			if response < limit*j.duration*(1-1e-9) { // equal ones stay, whatever was rounded
				others += j.duration * float64(j.weight) / float64(j.per)
			} else {
				keep = append(keep, j)
				least = min(least, response/j.duration)
			}
		}
		// A response has up to 2n pieces: each ends at a release or at an end.
		best = max(best, down(sum, 3*len(all))-tooLong*(1+1e-9))
		same, set = len(keep) == len(set), keep
	}
	return best
}

// work is a job of the machine, in units.
type work struct {
	release, time int64
	left          int64 // of the time
	per, weight   int64
	duration      float64 // in ticks
	response      float64 // at least; see best
}

// machine does, at each instant, the released job that is first by an order.
type machine struct {
	jobs  []work         // by release
	queue heap.Heap[int] // released jobs that haven't ended
	// Scratch memory: of ofPeriod and of best.
	all, set []work
}

// shorter orders by the time left.
func (m *machine) shorter(a, b int) bool {
	x, y := &m.jobs[a], &m.jobs[b]
	return x.left < y.left || x.left == y.left && a < b
}

// denser orders by the largest ρ = weight/(per·time), exactly.
func (m *machine) denser(a, b int) bool {
	x, y := &m.jobs[a], &m.jobs[b]
	high1, low1 := bits.Mul64(uint64(x.per), uint64(x.time))
	high2, low2 := bits.Mul64(uint64(y.per), uint64(y.time))
	if x.weight != y.weight { // each below 2^31 times at most 2^124: three words
		var rest1, rest2 uint64
		high1, low1, rest1 = times(high1, low1, uint64(y.weight))
		high2, low2, rest2 = times(high2, low2, uint64(x.weight))
		if high1 == high2 && low1 == low2 && rest1 != rest2 {
			return rest1 < rest2
		}
	}
	if high1 != high2 {
		return high1 < high2
	}
	return low1 < low2 || low1 == low2 && a < b
}

// times multiplies a number of two words by one of one word, into three, the
// highest first.
func times(high, low, by uint64) (a, b, c uint64) {
	carry, c := bits.Mul64(low, by)
	a, b = bits.Mul64(high, by)
	b, carry = bits.Add64(b, carry, 0)
	return a + carry, b, c
}

// run does all jobs and calls piece for each span of time in which one of them
// works, after it has done so. A job of no time ends at once and isn't reported.
// O(n log n)
func (m *machine) run(first func(m *machine, a, b int) bool, piece func(j *work, from, to int64)) {
	m.queue = heap.Heap[int]{Items: m.queue.Items[:0], Less: func(a, b int) bool { return first(m, a, b) }}
	for k := range m.jobs {
		m.jobs[k].left = m.jobs[k].time
	}
	now := int64(0)
	for next := 0; next < len(m.jobs) || m.queue.Len() > 0; {
		if m.queue.Len() == 0 {
			now = max(now, m.jobs[next].release)
		}
		for ; next < len(m.jobs) && m.jobs[next].release <= now; next++ {
			if m.jobs[next].time > 0 {
				m.queue.Push(next)
			}
		}
		if m.queue.Len() == 0 {
			continue
		}
		k := m.queue.Items[0]
		j := &m.jobs[k]
		to := now + j.left
		if next < len(m.jobs) {
			to = min(to, m.jobs[next].release)
		}
		j.left -= to - now // it stays the first: less is left
		piece(j, now, to)
		now = to
		if j.left == 0 {
			m.queue.Pop()
		}
	}
}
