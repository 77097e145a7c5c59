// SPDX-License-Identifier: MIT

package batch

import (
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
)

// A slowdown by more prices than evidence holds has no evidence: a million jobs were a nil pointer.
func TestSlowdownOfMany(t *testing.T) {
	spec := instances.NewBatchSpec()
	spec.Jobs, spec.Tiers, spec.Load, spec.Seed = 300, 1, 2, 1
	in := require.Value(spec.Generate())(t)
	few := Slowdown(t.Context(), view.OfBatch(in), 1, mostSteps)
	if few.Evidence == nil || few.Evidence.Type != evidence.Prices || few.Evidence.Figure != few.Name {
		t.Fatalf("it isn't by prices: %+v", few)
	}
	defer func(most int) { mostEvidence = most }(mostEvidence)
	mostEvidence = 10
	if many := Slowdown(t.Context(), view.OfBatch(in), 1, mostSteps); many.Evidence != nil || many.Value != few.Value {
		t.Errorf("%v, want %v without evidence", many, few.Value)
	}
}
