// SPDX-License-Identifier: MIT

package instances

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// workloadOf draws jobs of a model.
func workloadOf(t *testing.T, parameters string, args ...any) []workloadJob {
	t.Helper()
	s := NewBatchSpec()
	s.Jobs, s.Processors, s.Seed = 100_000, 320, 1
	set(t, &s, fmt.Sprintf(parameters, args...))
	jobs := require.Value(s.workload())(t)
	for k := range jobs {
		if k > 0 && jobs[k].submit < jobs[k-1].submit || jobs[k].size < 1 || jobs[k].size > s.Processors || !(jobs[k].runtime > 0) {
			t.Fatalf("%s: jobs %+v and %+v", s.Model, jobs[max(0, k-1)], jobs[k])
		}
	}
	return jobs
}

// figures returns a figure of each of a list.
func figures[E any](all []E, figure func(E) float64) (of []float64) {
	for _, x := range all {
		of = append(of, figure(x))
	}
	return of
}

func sum(all []float64) (total float64) {
	for _, x := range all {
		total += x
	}
	return total
}

func sizeOf(j workloadJob) float64 { return float64(j.size) }

// shareOf returns the share of the jobs with a property.
func shareOf(jobs []workloadJob, property func(workloadJob) bool) float64 {
	return stat.Mean(figures(jobs, func(j workloadJob) float64 {
		if property(j) {
			return 1
		}
		return 0
	}), nil)
}

// Shares and means of F96-R at 128 processors equal its parameters.
func TestFeitelson96(t *testing.T) {
	s := NewBatchSpec()
	s.Processors = 128
	weights := require.Value(s.feitelsonSizes())(t)
	powers, mean := 0.0, 0.0
	for k, share := range shares(weights) {
		mean += share * float64(k+1)
		if bits.OnesCount(uint(k+1)) == 1 {
			powers += share
		}
	}
	serial := shares(weights)[0]
	if math.Abs(serial-0.283) > 5e-4 || math.Abs(powers-0.748) > 5e-4 || math.Abs(mean-7.26) > 5e-3 {
		t.Errorf("a share of %.4f is serial, one of %.4f has a power of two, the mean size is %.3f; want 0.283, 0.748, 7.26", serial, powers, mean)
	}
	jobs := workloadOf(t, "processors=128")
	// The runs of one job have one size. The mean of the squared number of runs over the mean number is 24, so that
	// shares are as uncertain as with n/24 jobs.
	n := float64(len(jobs)) / 24
	for what, c := range map[string]struct{ got, want float64 }{
		"serial":        {shareOf(jobs, func(j workloadJob) bool { return j.size == 1 }), serial},
		"powers of two": {shareOf(jobs, func(j workloadJob) bool { return bits.OnesCount(uint(j.size)) == 1 }), powers},
		"size 64 to 96": {shareOf(jobs, func(j workloadJob) bool { return j.size >= 64 && j.size <= 96 }), sum(shares(weights)[63:96])},
	} {
		if math.Abs(c.got-c.want) > 5*math.Sqrt(c.want*(1-c.want)/n) {
			t.Errorf("%s: %.4f, want %.4f", what, c.got, c.want)
		}
	}
	// Given the size runs are independent: their mean is a mixture's.
	for _, size := range []int{1, 8, 128} {
		of := slices.DeleteFunc(slices.Clone(jobs), func(j workloadJob) bool { return j.size != size })
		times := figures(of, func(j workloadJob) float64 { return j.runtime })
		short := 0.95 - 0.2*float64(size)/128
		want := short*360 + (1-short)*36_000
		variance := 2*(short*360*360+(1-short)*36_000*36_000) - want*want
		mean, sd := stat.MeanStdDev(times, nil)
		if math.Abs(mean-want) > 5*math.Sqrt(variance/float64(len(of))) {
			t.Errorf("size %d: mean runtime %.0f of %d jobs, want %.0f", size, mean, len(of), want)
		}
		if sd < mean {
			t.Errorf("size %d: runtimes %.0f ± %.0f, want a coefficient of variation above 1", size, mean, sd)
		}
		// The median is the median of the short runtimes, nearly.
		slices.Sort(times)
		below := 1 - short*math.Exp(-250.0/360) - (1-short)*math.Exp(-250.0/36_000)
		k, _ := slices.BinarySearch(times, 250)
		if got := float64(k) / float64(len(times)); math.Abs(got-below) > 5*math.Sqrt(below*(1-below)/float64(len(times))) {
			t.Errorf("size %d: a share of %.4f is below 250 s, want %.4f", size, got, below)
		}
	}
}

// A further run of a job is submitted when a run of its size has been for its runtime. As many jobs are further runs as
// the numbers of runs say.
func TestFeitelsonRepeats(t *testing.T) {
	jobs := workloadOf(t, "jobs=20000")
	ends := map[[2]float64]int{}
	repeats := 0
	for _, j := range jobs {
		if at := [2]float64{j.submit, float64(j.size)}; ends[at] > 0 {
			ends[at]--
			repeats++
		}
		ends[[2]float64{j.submit + j.runtime, float64(j.size)}]++
	}
	// The mean number of runs is zeta(1.5)/zeta(2.5) less the cut: 1.9. A few runs
	// come after the last job.
	runs := 0.0
	weights := 0.0
	for r := 1.0; r <= 1000; r++ {
		runs += math.Pow(r, -1.5)
		weights += math.Pow(r, -2.5)
	}
	if got, want := float64(repeats)/float64(len(jobs)), 1-weights/runs; math.Abs(got-want) > 0.06 {
		t.Errorf("a share of %.3f of the jobs are repeats, want %.3f", got, want)
	}
}

// The Jann-style model has the rates, sizes and runtimes of its table.
func TestJann97(t *testing.T) {
	const n = 100_000
	jobs := workloadOf(t, "model=jann jobs=%v", n)
	// Mean times between jobs, sizes and runtimes as the table's source prints them.
	want := []struct{ gap, size, runtime float64 }{{3069.5, 1, 10232.7}, {7503.6, 2, 5898.7}, {6632.5, 3.68, 4488.4}, {6309.3, 6.91, 10038.6},
		{7606.8, 12.51, 12214.8}, {19803.7, 26.67, 10059.2}, {34342.4, 49.63, 6922.4}, {85400.1, 81.09, 7490.7}}
	for k, r := range jannKTH {
		if math.Abs(r.Gap.mean()/want[k].gap-1) > 1e-3 || math.Abs(r.Runtime.mean()/want[k].runtime-1) > 1e-3 {
			t.Errorf("sizes %d to %d: means %.1f and %.1f s, want %.1f and %.1f", r.Low, r.High, r.Gap.mean(), r.Runtime.mean(), want[k].gap, want[k].runtime)
		}
		of := slices.DeleteFunc(slices.Clone(jobs), func(j workloadJob) bool { return j.size < r.Low || j.size > r.High })
		count := float64(len(of))
		gaps := make([]float64, len(of))
		for i := range of {
			gaps[i] = of[i].submit
			if i > 0 {
				gaps[i] -= of[i-1].submit
			}
		}
		for what, c := range map[string]struct {
			of   []float64
			want float64
			h    hyperErlang
		}{
			"gap":     {gaps, want[k].gap, r.Gap},
			"runtime": {figures(of, func(j workloadJob) float64 { return j.runtime }), want[k].runtime, r.Runtime},
		} {
			second := 2 * (c.h.P1/c.h.Rate1/c.h.Rate1 + (1-c.h.P1)/c.h.Rate2/c.h.Rate2)
			sd := math.Sqrt(second - c.want*c.want)
			if mean := stat.Mean(c.of, nil); math.Abs(mean-c.want) > 5*sd/math.Sqrt(count) {
				t.Errorf("sizes %d to %d: mean %s %.1f s of %d, want %.1f", r.Low, r.High, what, mean, len(of), c.want)
			}
			at := c.want / 2
			below := 1 - c.h.P1*math.Exp(-c.h.Rate1*at) - (1-c.h.P1)*math.Exp(-c.h.Rate2*at)
			got := 0.0
			for _, x := range c.of {
				if x < at {
					got += 1 / count
				}
			}
			if math.Abs(got-below) > 5*math.Sqrt(below*(1-below)/count) {
				t.Errorf("sizes %d to %d: a share of %.4f of the %ss is below %.0f s, want %.4f", r.Low, r.High, got, what, at, below)
			}
		}
		// Sizes within ranges are uniform except for the end, unlike the log's.
		if mean := stat.Mean(figures(of, sizeOf), nil); math.Abs(mean/want[k].size-1) > 0.08 || math.Abs(mean/r.meanSize()-1) > 0.02 {
			t.Errorf("sizes %d to %d: mean size %.2f, want %.2f", r.Low, r.High, mean, want[k].size)
		}
	}
	if mean := stat.Mean(figures(jobs, sizeOf), nil); math.Abs(mean-7.66) > 0.6 {
		t.Errorf("mean size %.2f, want 7.66, the log's", mean)
	}
	for _, j := range workloadOf(t, "model=jann jobs=5000 processors=20") {
		if j.size > 20 {
			t.Fatalf("size %d of 20", j.size)
		}
	}
}

// The Lublin-Feitelson model has the shares of column T, adapted to the machine.
func TestLublinWorkload(t *testing.T) {
	const n = 100_000
	jobs := workloadOf(t, "model=lublin jobs=%v", n)
	serial := shareOf(jobs, func(j workloadJob) bool { return j.size == 1 })
	// A parallel job has 1 process if its logarithm isn't above 0.5, which is below
	// the least, 0.8.
	if math.Abs(serial-0.244) > 5*math.Sqrt(0.244*0.756/n) {
		t.Errorf("a share of %.4f has one process, want 0.244", serial)
	}
	// Large jobs have a logarithm above log2(320) - 2.5, rounding aside.
	high := math.Log2(320)
	large := shareOf(jobs, func(j workloadJob) bool { return math.Log2(float64(j.size)) > high-2 })
	if want := 0.756 * 0.14 * 2 / 2.5; math.Abs(large-want) > 0.03 {
		t.Errorf("a share of %.4f is large, want about %.4f", large, want)
	}
	powers := shareOf(jobs, func(j workloadJob) bool { return bits.OnesCount(uint(j.size)) == 1 })
	if powers < 0.82-0.01 || powers > 0.82+0.09 { // fractional sizes may be powers of two, too
		t.Errorf("a share of %.4f has a power of two, want 0.82 and a few per cent", powers)
	}
	one := workloadOf(t, "model=lublin jobs=1000 processors=1")
	require.Same(t, "processes on a machine of one", 1000.0, sum(figures(one, sizeOf)))
}

// A sum of stages has the mean and the variance of a hyper-Erlang distribution.
func TestHyperErlang(t *testing.T) {
	h := hyperErlang{Stages: 3, P1: 0.3, Rate1: 0.01, Rate2: 0.2}
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 100_000
	all := make([]float64, n)
	for k := range all {
		all[k] = h.draw(rng)
	}
	second := 12 * (0.3/0.01/0.01 + 0.7/0.2/0.2) // 3·4·(p1/l1² + p2/l2²)
	wantSD := math.Sqrt(second - h.mean()*h.mean())
	if mean, sd := stat.MeanStdDev(all, nil); math.Abs(mean-100.5) > 5*wantSD/math.Sqrt(n) || math.Abs(sd/wantSD-1) > 0.03 {
		t.Errorf("%v ± %v, want 100.5 ± %v", mean, sd, wantSD)
	}
}

// Figures of the models that are lost can be changed: how much longer long runtimes
// are, and how large jobs get.
func TestLostFigures(t *testing.T) {
	spread := func(ratio float64) float64 {
		in := batchOf(t, "jobs=20000 runtime_ratio=%v mean_runtime=2606.6", ratio)
		mean, sd := moments(in.Jobs, func(j model.BatchJob) float64 { return j.RuntimeS })
		return sd / mean
	}
	// 5.7 % of the runtimes are long on average. Consider a mixture of exponential distributions of means 1 and r, with
	// shares p and q = 1-p. Its squared coefficient of variation is 2 (p + q r²)/(p + q r)² - 1.
	for ratio, want := range map[float64]float64{1: 1, 7: 1.77} {
		if got := spread(ratio); math.Abs(got-want) > 0.1 {
			t.Errorf("ratio %v: coefficient of variation %.3f, want %.2f", ratio, got, want)
		}
	}
	for largest, want := range map[int]int{0: 99, 320: 319, 400: 320} {
		most := 0
		for _, j := range batchOf(t, "model=jann jobs=50000 largest=%v", largest).Jobs {
			most = max(most, j.Processes)
		}
		if most > want || most < want-9 {
			t.Errorf("largest %d: a job of %d processes, want up to %d", largest, most, want)
		}
	}
}

// The figures that the paper prints of its workloads are reached: the expected share
// of single-process jobs and mean size, up to rounding the mean runtime.
func TestPrintedWorkloads(t *testing.T) {
	for _, c := range []struct {
		model                 string
		jobs                  int
		serial, size, runtime float64
		within                float64 // of the mean size
	}{
		{modelFeitelson, 200_000, 0.18, 23.4, 2606.6, 0.03},
		{modelJann, 100_000, 0.408, 10.5, 11_267, 0.03},
	} {
		in := batchOf(t, "model=%v jobs=%v serial=%v mean_size=%v mean_runtime=%v", c.model, c.jobs, c.serial, c.size, c.runtime)
		size, _ := moments(in.Jobs, func(j model.BatchJob) float64 { return float64(j.Processes) })
		runtime, _ := moments(in.Jobs, func(j model.BatchJob) float64 { return j.RuntimeS })
		serial, _ := moments(in.Jobs, func(j model.BatchJob) float64 {
			if j.Processes == 1 {
				return 1
			}
			return 0
		})
		if math.Abs(serial-c.serial) > 0.006 || math.Abs(size/c.size-1) > c.within || math.Abs(runtime/c.runtime-1) > 1e-3 {
			t.Errorf("%s: serial %.4f, size %.3f, runtime %.1f; want %v, %v, %v", in.Name, serial, size, runtime, c.serial, c.size, c.runtime)
		}
	}
	// The models' own figures on 320 processors, in expectation.
	s := NewBatchSpec()
	s.Processors = 320
	weights := require.Value(s.feitelsonSizes())(t)
	expect := func(of string, weights []float64, size, runtime func(k int) float64, want [3]float64) {
		t.Helper()
		got := [3]float64{shares(weights)[0]}
		for k, share := range shares(weights) {
			got[1] += share * size(k)
			got[2] += share * runtime(k)
		}
		for i, within := range []float64{5e-4, 0.05, 0.5} {
			if math.Abs(got[i]-want[i]) > within {
				t.Errorf("%s: share of single processes, processes and runtime are %v, want %v", of, got, want)
			}
		}
	}
	expect("F96-R", weights, func(k int) float64 { return float64(k + 1) }, func(k int) float64 {
		short := shareShort(k+1, 320)
		return feitelsonShort * (short + (1-short)*100)
	}, [3]float64{0.278, 10.8, 2383})
	var rates []float64
	for _, r := range jannKTH {
		rates = append(rates, 1/r.Gap.mean())
	}
	expect("KTH fit", rates, func(k int) float64 { return jannKTH[k].meanSize() }, func(k int) float64 { return jannKTH[k].Runtime.mean() }, [3]float64{0.329, 8.0, 8869})
	// The requested figures are exact in expectation.
	s.Serial, s.MeanSize = 0.18, 23.4
	weights = require.Value(s.feitelsonSizes())(t)
	mean := 0.0
	for k, share := range shares(weights) {
		mean += share * float64(k+1)
	}
	if got := shares(weights)[0]; math.Abs(mean-23.4) > 1e-6 || math.Abs(got-0.18) > 1e-9 {
		t.Errorf("mean size %v, serial %v, want 23.4 and 0.18", mean, got)
	}
	// The tilt keeps the form: twice the size has a share that falls by one power.
	order := math.Log2(weights[63] / weights[127])
	for n := 2; n <= 128; n *= 2 {
		if got := math.Log2(weights[n-1] / weights[2*n-1]); math.Abs(got-order) > 1e-9 || math.Abs(got-1.22) > 0.005 {
			t.Errorf("the share of %d over that of %d is 2^%v, want 2^%v", n, 2*n, got, order)
		}
	}
}

// The numbers of bins and the head of the histogram, as the program has them.
func TestTsafrirTables(t *testing.T) {
	for n, want := range map[int]int{0: 0, 20: 10, 200: 20, 1000: 35, 5000: 59, 10_000: 90, 70_000: 340, 100_000: 378, 250_000: 565, 1_000_000: 565} {
		require.Same(t, fmt.Sprintf("bins of %d jobs", n), want, tsafrirBins(n))
	}
	const h = 3600.0
	for longest, want := range map[float64][]float64{
		18: {18, 1. / 12, 1. / 6, 0.25, 1. / 3, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12, 13, 14, 15, 16, 17},
		48: {48, 1. / 12, 1. / 6, 0.25, 1. / 3, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12, 18, 20, 30, 40, 45},
	} {
		got := tsafrirHeadTimes(h * longest)
		for k := range want {
			if len(got) != 20 || math.Abs(got[k]-h*want[k]) > 1e-6 {
				t.Fatalf("longest %v h: time %d of %v, want %v h", longest, k, got, want[k])
			}
		}
	}
	for _, longest := range []float64{2, 2.01, 3, 4, 7.77, 24, 60, 10_000} {
		times := tsafrirHeadTimes(math.Floor(h * longest))
		if slices.Sort(times); len(slices.Compact(slices.Clone(times))) != 20 || times[19] != math.Floor(h*longest) || times[0] < 300 {
			t.Errorf("longest %v h: head times %v", longest, times)
		}
	}
	want := []float64{21.7329, 10.3128, 8.7105, 7.3688, 6.2454, 5.3047, 4.5171, 3.8575, 3.3053, 2.8429, 2.4557, 2.1314, 1.8600, 1.6327, 1.4423, 1.2829, 1.1495, 1.0377, 0.9442, 0.8658}
	for k, w := range want {
		if got := tsafrirPercent(k + 1); math.Abs(got-w) > 6e-5 {
			t.Errorf("rank %d has %.4f %%, want %v", k+1, got, w)
		}
	}
}

// Head bins get each rank once, the largest time the first, and over many draws a
// rank only where some log has it or had it before.
func TestTsafrirHead(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	seen := map[int]bool{}
	for range 2000 {
		var ranks []int
		for t20, b := range tsafrirHeadBins(48*3600, rng) {
			rank := 1
			for tsafrirPercent(rank) != b.percent {
				rank++
			}
			ranks = append(ranks, rank)
			first := slices.IndexFunc(tsafrirRanks[:], func(of [4]int) bool { return slices.Contains(of[:], rank) })
			if first > t20 {
				t.Fatalf("rank %d at time rank %d, no log has it before %d", rank, t20, first)
			}
		}
		seen[ranks[3]] = true
		if ranks[0] != 1 {
			t.Fatalf("the largest time has rank %d", ranks[0])
		}
		if slices.Sort(ranks); !slices.Equal(ranks, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}) {
			t.Fatalf("ranks %v", ranks)
		}
	}
	if len(seen) < 3 {
		t.Errorf("time rank 3 has always one of the ranks %v", seen)
	}
}

// The histogram has the model's shares, sums to the number of jobs, and no estimate
// is below its runtime.
func TestTsafrir(t *testing.T) {
	const longest = 48 * 3600.0
	for _, n := range []int{1, 3, 20, 199, 200, 1000, 5000, 100_000} {
		rng := rand.New(rand.NewPCG(3, uint64(n)))
		all := tsafrirHistogram(max(n, tsafrirFewest), longest, rng)
		if len(all) != max(n, tsafrirFewest) || !slices.IsSortedFunc(all, func(a, b float64) int { return cmp.Compare(b, a) }) || all[0] != longest || all[len(all)-1] <= 0 {
			t.Fatalf("%d jobs: %d estimates from %v to %v", n, len(all), all[0], all[len(all)-1])
		}
		if n >= 1000 {
			count := map[float64]int{}
			for _, x := range all {
				count[x]++
			}
			head := 0
			for _, x := range tsafrirHeadTimes(longest) {
				head += count[x]
			}
			if math.Abs(float64(head)/float64(n)-0.89) > 0.02 || math.Abs(float64(count[longest])/float64(n)-0.217) > 0.01 || len(count) > tsafrirBins(n) || len(count) < tsafrirBins(n)*9/10 {
				t.Errorf("%d jobs: %d bins, the head has %d, the largest estimate %d", n, len(count), head, count[longest])
			}
		}
		runtimes := make([]float64, n)
		for k := range runtimes {
			runtimes[k] = min(max(1, math.Round(3000*rng.ExpFloat64())), longest)
		}
		estimates := tsafrir(runtimes, longest, rng)
		for k := range estimates {
			if estimates[k] < runtimes[k] || estimates[k] > longest {
				t.Fatalf("%d jobs: estimate %v of %v", n, estimates[k], runtimes[k])
			}
		}
	}
	// If estimates suffice, dealing keeps the histogram; if not, it raises no more than needed.
	rng := func() *rand.Rand { return rand.New(rand.NewPCG(5, 6)) }
	all := tsafrirHistogram(5000, longest, rng())
	short := make([]float64, 5000)
	for k := range short {
		short[k] = 1
	}
	dealt := tsafrir(short, longest, rng())
	if slices.IsSortedFunc(dealt, cmp.Compare[float64]) {
		t.Error("the estimates are dealt in order")
	}
	slices.SortFunc(dealt, func(a, b float64) int { return cmp.Compare(b, a) })
	require.Same(t, "the histogram after dealing", all, dealt)
	long := make([]float64, 5000)
	for k := range long {
		long[k] = all[2000] + 1
	}
	least := all[slices.IndexFunc(all, func(x float64) bool { return x <= all[2000] })-1]
	for _, x := range tsafrir(long, longest, rng()) {
		if x < least || !slices.Contains(all, x) {
			t.Fatalf("an estimate is %v, want one of the histogram from %v", x, least)
		}
	}
}

// The first jobs of seed 1 stay as they are: results are based on them.
func TestBatchGolden(t *testing.T) {
	for m, want := range map[string][]model.BatchJob{
		modelFeitelson: {{ID: "1", RuntimeS: 1249, EstimateS: 1800, Processes: 4, CPU: []float64{0.6775}, FgLoss: 0.0058, BgEfficiency: 0.621},
			{ID: "2", SubmitS: 11.031, RuntimeS: 491, EstimateS: 108000, Processes: 1, FgLoss: 0.0385, BgEfficiency: 0.9053},
			{ID: "3", SubmitS: 49.147, RuntimeS: 502, EstimateS: 3600, Processes: 11, CPU: []float64{0.644}, FgLoss: 0.0304, BgEfficiency: 0.6421}},
		modelJann: {{ID: "1", RuntimeS: 16730, EstimateS: 21600, Processes: 1, FgLoss: 0.0058, BgEfficiency: 0.8561},
			{ID: "2", SubmitS: 109.344, RuntimeS: 309, EstimateS: 108000, Processes: 10, CPU: []float64{0.6433}, FgLoss: 0.0385, BgEfficiency: 0.7203},
			{ID: "3", SubmitS: 125.156, RuntimeS: 8215, EstimateS: 72000, Processes: 1, FgLoss: 0.0304, BgEfficiency: 0.8971}},
		modelLublin: {{ID: "1", RuntimeS: 3, EstimateS: 64800, Processes: 9, CPU: []float64{0.6775}, FgLoss: 0.0058, BgEfficiency: 0.621},
			{ID: "2", SubmitS: 0.456, RuntimeS: 30, EstimateS: 300, Processes: 6, CPU: []float64{0.6433}, FgLoss: 0.0385, BgEfficiency: 0.7203},
			{ID: "3", SubmitS: 1.638, RuntimeS: 5, EstimateS: 1800, Processes: 32, CPU: []float64{0.644}, FgLoss: 0.0304, BgEfficiency: 0.6421}},
	} {
		in := batchOf(t, "model=%v jobs=3", m)
		require.Same(t, m, want, in.Jobs)
	}
}
