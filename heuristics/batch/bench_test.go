package batch

import (
	"context"
	"fmt"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/need"
	"github.com/gapwise/gapwise/model"
)

// workload draws jobs of the Feitelson model for 320 processors of one tier, with
// Tsafrir's estimates. Beyond 200,000 jobs it repeats them one after the other: the
// runtimes of a million sum to more than an instance may.
func workload(t testing.TB, jobs int, load float64) *model.BatchTicks {
	spec := instances.NewBatchSpec()
	spec.Jobs, spec.Tiers, spec.Load, spec.Seed = min(jobs, 200_000), 1, load, 1
	b, err := spec.Generate()
	if err != nil {
		t.Fatal(err)
	}
	ticks := b.Ticks()
	span := ticks.Jobs[len(ticks.Jobs)-1].Submit
	for k := 0; len(ticks.Jobs) < jobs; k++ {
		j := ticks.Jobs[k]
		j.Submit += span
		ticks.Jobs = append(ticks.Jobs, j)
	}
	return ticks
}

// kth reads the log of KTH.
func kth(t testing.TB) *model.BatchTicks {
	log, err := instances.LoadSWF(need.Data(t, "swf", "KTH-SP2-1996-2.1-cln.swf.gz"))
	if err != nil {
		t.Fatal(err)
	}
	spec := instances.NewBatchSpec()
	spec.Tiers, spec.Jobs = 1, 0
	b, _, err := spec.FromSWF("kth", log, instances.SWFJobs{})
	if err != nil {
		t.Fatal(err)
	}
	return b.(*model.Batch).Ticks()
}

// simulate returns when each job starts, without names of processors.
func simulate(b testing.TB, t *model.BatchTicks, order model.BatchOrder, by func(*machine) scheduler) *trace {
	s, err := newSimulation(t, model.Settings{Parameters: &model.BatchParameters{Order: order}})
	if err != nil {
		b.Fatal(err)
	}
	course, err := s.run(context.Background(), by(&s.machine))
	if err != nil {
		b.Fatal(err)
	}
	return course
}

func benchmark(b *testing.B, t *model.BatchTicks, by func(*machine) scheduler) {
	b.ReportAllocs()
	for range b.N {
		simulate(b, t, model.BatchOrderBatch, by)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(t.Jobs)), "ns/job")
}

func benchmarkSizes(b *testing.B, by func(*machine) scheduler) {
	for _, load := range []float64{0.7, 0.8, 0.9} {
		for _, jobs := range []int{10_000, 100_000, 200_000, 1_000_000} {
			t := workload(b, jobs, load)
			b.Run(fmt.Sprintf("load=%v/jobs=%d", load, jobs), func(b *testing.B) { benchmark(b, t, by) })
		}
	}
}

func BenchmarkFCFS(b *testing.B)         { benchmarkSizes(b, newFCFS) }
func BenchmarkEASY(b *testing.B)         { benchmarkSizes(b, newEASY) }
func BenchmarkEASYSJBF(b *testing.B)     { benchmarkSizes(b, newEASYSJBF) }
func BenchmarkConservative(b *testing.B) { benchmarkSizes(b, newConservative) }

func BenchmarkKTH(b *testing.B) {
	t := kth(b)
	for name, by := range map[string]func(*machine) scheduler{"easy": newEASY, "conservative": newConservative} {
		b.Run(name, func(b *testing.B) { benchmark(b, t, by) })
	}
}

// BenchmarkNumber names the processors of an EASY run.
func BenchmarkNumber(b *testing.B) {
	t := workload(b, 200_000, 0.7)
	s, err := newSimulation(t, model.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	course, err := s.run(context.Background(), newEASY(&s.machine))
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for range b.N {
		s.number(course)
	}
}
