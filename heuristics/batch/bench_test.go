package batch

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/model"
)

// workload draws jobs for 320 processors: log-uniform sizes, often powers of two,
// hyperexponential runtimes, Poisson arrivals at the given load, estimates up to
// ten times the runtime, at round values.
func workload(jobs int, load float64) *model.BatchTicks {
	rng := rand.New(rand.NewPCG(uint64(jobs), 1))
	t := &model.BatchTicks{Processors: 320, Tiers: 1, Jobs: make([]model.BatchTicksJob, jobs)}
	area := 0.0
	for k := range t.Jobs {
		width := math.Exp2(rng.Float64() * math.Log2(320))
		if rng.IntN(4) > 0 {
			width = math.Exp2(math.Floor(rng.Float64() * 9))
		}
		mean := 300.0
		if rng.IntN(4) == 0 {
			mean = 9000
		}
		runtime := 1 + math.Floor(rng.ExpFloat64()*mean)
		estimate := runtime * (1 + 9*rng.Float64()*rng.Float64())
		for _, round := range []float64{300, 900, 3600, 7200, 14_400, 36_000, 64_800} {
			if estimate < round {
				estimate = round
				break
			}
		}
		w := int(width)
		area += runtime * float64(w)
		t.Jobs[k] = model.BatchTicksJob{Runtime: int64(runtime * 1e6), Length: int64(runtime * 1e6), Estimate: int64(math.Floor(estimate) * 1e6),
			Processes: w, Foreground: model.FullRate}
	}
	gap, at := area/float64(jobs)/320/load, 0.0
	for k := range t.Jobs {
		at += rng.ExpFloat64() * gap
		t.Jobs[k].Submit = int64(math.Floor(at)) * 1e6
	}
	return t
}

// benchmark measures the simulation alone: when each job starts, without names of
// processors.
func benchmark(b *testing.B, t *model.BatchTicks, by func(*machine) scheduler) {
	b.ReportAllocs()
	for range b.N {
		s, err := newSimulation(t, model.Settings{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.run(context.Background(), by(&s.machine)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(t.Jobs)), "ns/job")
}

func BenchmarkEASY(b *testing.B) {
	for _, load := range []float64{0.7, 0.9, 1.1} {
		for _, jobs := range []int{10_000, 100_000, 200_000, 1_000_000} {
			t := workload(jobs, load)
			b.Run(fmt.Sprintf("load=%v/jobs=%d", load, jobs), func(b *testing.B) { benchmark(b, t, newEASY) })
		}
	}
}
