package batch

import (
	"context"
	"fmt"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

// BenchmarkTwoTier simulates without making an execution.
func BenchmarkTwoTier(b *testing.B) {
	for _, name := range []string{instances.ModelFeitelson, instances.ModelJann} {
		for _, load := range []float64{0.7, 0.9} {
			for _, jobs := range []int{10_000, 200_000, 500_000} {
				spec := instances.NewBatchSpec()
				spec.Model, spec.Jobs, spec.Load, spec.Seed = name, jobs, load, 1
				in, err := spec.Generate()
				if err != nil {
					b.Fatal(err)
				}
				t := in.Ticks()
				for r, h := range map[string]policy{"keasy": {rule: killed}, "reasy": {rule: pinned}, "measy": {rule: migrated}, "peasy": {lifted, true}} {
					b.Run(fmt.Sprintf("%s/load=%v/jobs=%d/%s", name, load, jobs, r), func(b *testing.B) {
						b.ReportAllocs()
						for range b.N {
							s, err := newTwoTierSimulation(t, h, model.Settings{})
							if err != nil {
								b.Fatal(err)
							}
							if err := s.run(context.Background()); err != nil {
								b.Fatal(err)
							}
						}
						b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(jobs), "ns/job")
					})
				}
			}
		}
	}
}
