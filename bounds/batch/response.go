package batch

import (
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/squashed"
	"github.com/gapwise/gapwise/model"
)

// Response returns bounds of the mean response time from below:
//
//   - runtime: the mean of the least times that the jobs take.
//   - srpt, mean-busy-time: of one machine as fast as all processors together, see
//     package squashed. With two tiers they are those of the machine's CPU time.
//   - squashed: the best of these in each busy period of the machine, of the
//     machine itself and of others, at most so many, on which jobs have other
//     demands: see widths and uses.
//
// All hold with suspension, migration and kills. The sum of responses is a whole
// number of ticks, so that a bound of it is rounded up to one. O(most · n log n)
func Response(t *model.BatchTicks, most int) []bounds.Bound {
	r := newJobs(t, 0)
	runtime := 0.0
	for k := range r.jobs {
		runtime += float64(least(t, k))
	}
	machines := machinesOf(t, most)
	plain := machines[0].sums(r)
	best := max(runtime, plain.Best)
	for _, m := range machines[1:] {
		best = max(best, m.sums(r).Best)
	}
	return []bounds.Bound{r.mean(t, "runtime", runtime), r.mean(t, "srpt", plain.SRPT), r.mean(t, "mean-busy-time", plain.MeanBusy), r.mean(t, "squashed", best)}
}

// The number of machines that are looked at.
const (
	quickFunctions = 4
	allFunctions   = 24
)

// Slowdown returns a bound of the mean bounded slowdown from below, by the machines
// of Response with the weights 1/max(τ, work). No job's bounded slowdown is below
// 1, so that shorter jobs than τ, for which the machine may give less, are left out
// of it in a second look, and count as 1. O(most · n log n)
func Slowdown(t *model.BatchTicks, most int) float64 {
	n := len(t.Jobs)
	if n == 0 {
		return 1
	}
	const floor = int64(model.SlowdownFloor * 1e6)
	best := float64(n)
	for _, shortest := range []int64{0, floor} {
		r := newJobs(t, floor)
		out := 0
		for k := range r.jobs {
			if r.jobs[k].Per = max(floor, t.Jobs[k].Length); t.Jobs[k].Length < shortest {
				r.skip[k] = true
				out++
			}
		}
		if shortest > 0 && out == 0 {
			continue
		}
		for _, m := range machinesOf(t, most) {
			best = max(best, float64(out)+m.sums(r).Best)
		}
	}
	return best / float64(n) * (1 - 0x1p-40)
}

// jobs are those of an instance as jobs of a machine.
type jobs struct {
	jobs []squashed.Job
	skip []bool // who isn't on the machine at all
}

// newJobs returns the jobs with the least durations, rounded down to whole ticks: a
// job that works at rate R at most, in ten-thousandths, takes Length·10^4/R ticks
// or longer. The bounds want a duration that the job can't beat, and that its
// demand times it isn't more than what the job takes of the machine.
func newJobs(t *model.BatchTicks, per int64) *jobs {
	r := &jobs{make([]squashed.Job, len(t.Jobs)), make([]bool, len(t.Jobs))}
	most := int64(1<<61) / int64(max(1, len(t.Jobs))) // sums of all stay below 2^62
	for k := range t.Jobs {
		j := &t.Jobs[k]
		d := min(j.Work()/fastest(t, k), max(most, j.Length))
		r.jobs[k] = squashed.Job{Release: j.Submit, Duration: d, Per: max(1, per)}
	}
	return r
}

// fastest returns the largest rate that job k can have, in ten-thousandths.
func fastest(t *model.BatchTicks, k int) int64 {
	j := &t.Jobs[k]
	if t.Tiers == 1 {
		return model.FullRate
	}
	return max(j.Foreground, j.Efficiency)
}

// least returns the ticks that job k takes at least.
func least(t *model.BatchTicks, k int) int64 {
	rate := fastest(t, k)
	return (t.Jobs[k].Work() + rate - 1) / rate
}

// machine is a resource of which all that runs at any instant takes the capacity at
// most, each job its demand while it works at its fastest rate, and in proportion
// when it is slower. Then what a schedule does in an instant, the machine of package
// squashed does, too.
type machine struct {
	demand   func(k int) int
	capacity int
}

// sums returns bounds of the sum over all jobs but those skipped. Who has no
// demand takes its duration.
func (m machine) sums(r *jobs) squashed.Bounds {
	all := make([]squashed.Job, 0, len(r.jobs))
	others := 0.0
	for k, j := range r.jobs {
		if r.skip[k] {
			continue
		}
		if j.Slots = m.demand(k); j.Slots > 0 {
			all = append(all, j)
		} else {
			others += float64(j.Duration) / float64(j.Per)
		}
	}
	others *= 1 - float64(len(r.jobs)+1)*0x1p-52
	b := squashed.Of(all, m.capacity)
	b.Best += others
	b.MeanBusy += others
	if b.SRPT > 0 {
		b.SRPT += others
	}
	return b
}

// mean returns a bound of the mean for one of the sum, in ticks. The mean is rounded
// down twice, as the objective is rounded twice.
func (r *jobs) mean(t *model.BatchTicks, name string, sum float64) bounds.Bound {
	if len(r.jobs) == 0 {
		return bounds.Bound{Name: name}
	}
	mean := t.Seconds(int64(math.Ceil(sum))) / float64(len(r.jobs))
	return bounds.Bound{Name: name, Value: math.Nextafter(math.Nextafter(mean, 0), 0)}
}

// machinesOf returns at most so many machines, the plain one first.
func machinesOf(t *model.BatchTicks, most int) []machine {
	if t.Tiers == 1 {
		return widths(t, most)
	}
	return uses(t, most)
}

// widths returns the machines of one tier: the processors, and dual-feasible
// functions of them. At every instant the widths w of the running jobs sum to at
// most P, so their values f(w) to at most f(P) (see bounds.DualFeasible): the machine
// has the capacity f(P) and each job the demand f(w). As on the plain one, a job
// holds that as long as it works, which is all that package squashed asks for. Wide
// jobs that can't run side by side get a whole machine each.
//
// Functions are ranked by the area that they give to all jobs, over their
// capacity.
func widths(t *model.BatchTicks, most int) []machine {
	width := func(k int) int { return t.Jobs[k].Processes }
	all := []machine{{width, t.Processors}}
	capacity := int64(t.Processors)
	type ranked struct {
		machine
		area float64
	}
	var others []ranked
	areas := map[int]float64{} // of the jobs of each width
	for k := range t.Jobs {
		areas[t.Jobs[k].Processes] += float64(t.Jobs[k].Length)
	}
	distinct := make([]int, 0, len(areas))
	for w := range areas {
		distinct = append(distinct, w)
	}
	slices.Sort(distinct)
	add := func(f func(int64) int64, bin int64) {
		area := 0.0
		for _, w := range distinct {
			area += areas[w] * float64(f(int64(w)))
		}
		others = append(others, ranked{machine{func(k int) int { return int(f(int64(t.Jobs[k].Processes))) }, int(bin)}, area / float64(bin)})
	}
	for k := int64(1); k <= 4; k++ {
		add(bounds.StepsDFF(capacity, k))
	}
	var half []int
	for _, w := range distinct {
		if 2*w <= t.Processors {
			half = append(half, w)
		}
	}
	step := max(1, len(half)/64)
	for i := 0; i < len(half); i += step {
		add(bounds.ThresholdDFF(capacity, int64(half[i])))
		add(bounds.PiecesDFF(capacity, int64(half[i])))
	}
	slices.SortStableFunc(others, func(a, b ranked) int {
		switch {
		case a.area > b.area:
			return -1
		case a.area < b.area:
			return 1
		}
		return 0
	})
	for _, x := range others[:min(len(others), most-1)] {
		all = append(all, x.machine)
	}
	return all
}
