package batch_test

import (
	"testing"

	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	"github.com/gapwise/gapwise/instances"
)

// BenchmarkQuick bounds 200,000 jobs of the model F96-R on 320 processors.
func BenchmarkQuick(b *testing.B) {
	for tiers, name := range map[int]string{1: "one tier", 2: "two tiers"} {
		spec := instances.NewBatchSpec()
		spec.Jobs, spec.Tiers, spec.Load, spec.Estimates = 200_000, tiers, 0.9, instances.EstimatesExact
		in, err := spec.Generate()
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for range b.N {
				b.Log(batchbounds.Quick(in))
			}
		})
	}
}
