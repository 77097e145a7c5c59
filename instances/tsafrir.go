// SPDX-License-Identifier: MIT

package instances

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// The model of users' estimates by Tsafrir, Etsion and Feitelson (Modeling User
// Runtime Estimates, JSSPP 2005), with the numbers of the first author's program
// and without its user bins. Few times hold most estimates: twenty head bins have
// 89 % of the jobs, and the most popular is the largest estimate allowed.
const (
	tsafrirHead   = 20
	tsafrirFewest = 200 // estimates of which a histogram is made
)

// tsafrirTimes are the head times, in seconds, that all logs have in common.
var tsafrirTimes = []float64{300, 600, 900, 1200, 1800, 3600, 7200, 10_800, 14_400, 18_000, 21_600, 28_800, 36_000, 43_200, 64_800}

// tsafrirUnits fill the head up with their multiples, in seconds.
var tsafrirUnits = []float64{720_000, 360_000, 180_000, 36_000, 18_000, 7200, 3600, 1200, 600, 300}

// tsafrirRanks[t] are the ranks by popularity of the head time of rank t in four
// logs; rank 0 in time is the largest estimate, the others ascend.
var tsafrirRanks = [tsafrirHead][4]int{
	{3, 1, 1, 1}, {1, 3, 4, 6}, {4, 4, 10, 5}, {17, 2, 14, 3}, {13, 12, 20, 7}, {7, 9, 2, 2}, {8, 8, 3, 18}, {18, 18, 7, 19}, {2, 6, 12, 4}, {6, 7, 6, 11},
	{16, 11, 19, 20}, {10, 20, 5, 9}, {5, 16, 18, 10}, {15, 5, 16, 14}, {14, 14, 9, 13}, {19, 13, 17, 16}, {11, 10, 15, 15}, {12, 15, 13, 17}, {9, 17, 8, 8}, {20, 19, 11, 12},
}

// tsafrir returns an estimate for each runtime, at least as long and at most longest. No runtime exceeds longest, and
// it is at least two hours. A histogram of estimates is made and dealt to the jobs. Two rules are ours. Fewer jobs than
// tsafrirFewest, too few to give each bin its share, get some estimates of the histogram for tsafrirFewest. The
// original program fails if too many jobs are long for the histogram. Here as many estimates as necessary are raised,
// each to the next time of the histogram. O(n log n).
func tsafrir(runtimes []float64, longest float64, rng *rand.Rand) []float64 {
	all := tsafrirHistogram(max(len(runtimes), tsafrirFewest), longest, rng)
	order := make([]int, len(runtimes))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(runtimes[b], runtimes[a]) })
	times, next := slices.Compact(slices.Clone(all)), 0
	for j, k := range order {
		for next+1 < len(times) && times[next+1] >= runtimes[k] {
			next++
		}
		if all[j] < runtimes[k] {
			all[j] = times[next] // the order stays: the estimate before is one of those at least as long, too
		}
	}
	// The estimates not yet dealt are all[j:]; those up to last suit the job.
	estimates, last := make([]float64, len(runtimes)), -1
	for j, k := range order {
		for last+1 < len(all) && all[last+1] >= runtimes[k] {
			last++
		}
		i := j + rng.IntN(last-j+1)
		estimates[k], all[i] = all[i], all[j]
	}
	return estimates
}

// tsafrirBin is a bin of the histogram.
type tsafrirBin struct {
	time    float64
	percent float64
	jobs    int
}

// tsafrirHistogram returns n estimates, the largest first.
func tsafrirHistogram(n int, longest float64, rng *rand.Rand) []float64 {
	bins := tsafrirHeadBins(longest, rng)
	bins = append(bins, tsafrirTailBins(tsafrirBins(n), longest, bins, rng)...)
	slices.SortStableFunc(bins, func(a, b tsafrirBin) int { return cmp.Compare(b.percent, a.percent) })
	tsafrirCounts(bins, n)
	slices.SortFunc(bins, func(a, b tsafrirBin) int { return cmp.Compare(b.time, a.time) })
	all := make([]float64, 0, n)
	for _, b := range bins {
		for range b.jobs {
			all = append(all, b.time)
		}
	}
	return all
}

// tsafrirBins returns the number of bins for n jobs: linear between the points, and
// constant after the last.
func tsafrirBins(n int) int {
	points := [][2]float64{{0, 0}, {20, 10}, {200, 20}, {1000, 35}, {10_000, 90}, {70_000, 340}, {250_000, 565}}
	x := float64(n)
	for i, p := range points[1:] {
		if x <= p[0] {
			q := points[i]
			return int(math.Round(q[1] + (x-q[0])*(p[1]-q[1])/(p[0]-q[0])))
		}
	}
	return 565
}

// tsafrirHeadTimes returns the twenty times of the head: the largest, and others
// ascending.
func tsafrirHeadTimes(longest float64) []float64 {
	times := []float64{longest}
	for _, x := range tsafrirTimes {
		if x < longest {
			times = append(times, x)
		}
	}
	for _, unit := range tsafrirUnits {
		for x := math.Floor(longest/unit) * unit; x > 0 && len(times) < tsafrirHead; x -= unit {
			if !slices.Contains(times, x) {
				times = append(times, x)
			}
		}
	}
	slices.Sort(times[1:])
	return times
}

// tsafrirPercent returns the share of all jobs, in percent, that the head time of a
// rank by popularity has, from 1.
func tsafrirPercent(rank int) float64 {
	if rank == 1 {
		rest := 89.0
		for r := 2; r <= tsafrirHead; r++ {
			rest -= tsafrirPercent(r)
		}
		return rest
	}
	return 14.0491*math.Exp(-0.177531*float64(rank)) + 0.462513
}

// tsafrirHeadBins gives the head times their ranks by popularity. The times' ranks
// are gone through in order; the pool holds the ranks by popularity seen so far in
// the four logs and not given away.
func tsafrirHeadBins(longest float64, rng *rand.Rand) []tsafrirBin {
	last := [tsafrirHead + 1]int{} // the largest rank in time at which a rank by popularity is seen
	for t, ranks := range tsafrirRanks {
		for _, p := range ranks {
			last[p] = t
		}
	}
	given := [tsafrirHead + 1]bool{}
	var pool []int
	bins := make([]tsafrirBin, tsafrirHead)
	for t, time := range tsafrirHeadTimes(longest) {
		for _, p := range tsafrirRanks[t] {
			if !given[p] {
				pool = append(pool, p)
			}
		}
		rank := 1
		if t > 0 {
			for rank = 1; rank <= tsafrirHead && (given[rank] || last[rank] > t); rank++ {
			}
			if rank > tsafrirHead {
				rank = min(pool[rng.IntN(len(pool))], pool[rng.IntN(len(pool))])
			}
		}
		given[rank] = true
		pool = slices.DeleteFunc(pool, func(p int) bool { return p == rank })
		bins[t] = tsafrirBin{time: time, percent: tsafrirPercent(rank)}
	}
	return bins
}

// tsafrirTailBins returns the other bins, 11 % of the jobs; they are matched with
// their shares at random.
func tsafrirTailBins(total int, longest float64, head []tsafrirBin, rng *rand.Rand) []tsafrirBin {
	used := map[float64]bool{}
	for _, b := range head {
		used[b.time] = true
	}
	var bins []tsafrirBin
	a, k := 1+12.1039*math.Pow(float64(total), -0.6026), total-tsafrirHead
	for i := 1; i <= k; i++ {
		x := float64(i) / float64(k)
		time := 60 * math.Round((a-1)*x/(a-x)*longest/60)
		for _, shift := range []float64{0, 30, -30, 20, -20, 10, -10} {
			if t := time + shift; t > 0 && t < longest && !used[t] {
				used[t] = true
				bins = append(bins, tsafrirBin{time: t})
				break
			}
		}
	}
	sum := 0.0
	share := func(i int) float64 { return 795.6 * math.Pow(float64(tsafrirHead+1+i), -2.267) }
	for i := range bins {
		sum += share(i)
	}
	for i, k := range rng.Perm(len(bins)) {
		bins[k].percent = share(i) * 11 / sum
	}
	return bins
}

// tsafrirCounts gives the bins, the largest first, their jobs, which sum to n. The
// rounding is corrected from the largest bin to the smallest; no bin is emptied
// unless nothing else helps.
func tsafrirCounts(bins []tsafrirBin, n int) {
	sum := 0
	for i := range bins {
		bins[i].jobs = max(1, int(math.Round(bins[i].percent*float64(n)/100)))
		sum += bins[i].jobs
	}
	rest, ratio := n-sum, math.Abs(float64(n-sum))/float64(sum)
	for pass := range 4 {
		for i := range bins {
			b := &bins[i]
			step, least := 1, 1
			switch pass {
			case 0:
				step = int(math.Ceil(ratio * float64(b.jobs)))
			case 2:
				step = b.jobs
			case 3:
				step, least = b.jobs, 0
			}
			if rest < 0 {
				step = max(rest, -step, least-b.jobs)
			} else {
				step = min(rest, step)
			}
			b.jobs += step
			rest -= step
		}
	}
}
