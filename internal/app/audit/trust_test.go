// SPDX-License-Identifier: MIT

package audit

import (
	"encoding/json"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// The page counts the comparisons, by problem and size.
func TestTrust(t *testing.T) {
	tally := NewTally()
	small, large := &model.DAG{Tasks: make([]model.DAGTask, 3)}, &model.DAG{Tasks: make([]model.DAGTask, 12)}
	for range 1200 {
		tally.add(twoEngines, small)
	}
	tally.add(plainEngine, large)
	tally.drew(model.KindDAG, middle)
	// The written counts are added up.
	text := require.Value(json.Marshal(&Report{Tally: tally, Seed: 7}))(t)
	sum := NewTally()
	for range 2 {
		var r Report
		require.OK(t, json.Unmarshal(text, &r))
		sum.Add(r.Tally)
	}
	page := sum.Trust()
	require.Says(t, "the page", page, "2,402 comparisons on 2 drawn instances.",
		"\n2 are between the proofs of two engines", "| comparison | dag | all |\n|---|---|---|\n",
		"| proof against another engine's | 2,400 | 2,400 |", "| proof against the plain engine's | 2 | 2 |",
		"| dag | 0 | 2 | 0 |", "- dag: times multiplied by a power of two; ")
}
