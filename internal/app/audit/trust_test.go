// SPDX-License-Identifier: MIT

package audit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/model"
)

// The page counts the comparisons, by problem and size.
func TestTrust(t *testing.T) {
	t.Parallel()
	tally := NewTally()
	small, large := &model.DAG{Tasks: make([]model.DAGTask, 3)}, &model.DAG{Tasks: make([]model.DAGTask, 12)}
	for range 1200 {
		tally.add(twoEngines, small)
	}
	tally.add(plainEngine, large)
	tally.drew(model.KindDAG, middle)
	// The written counts are added up.
	text, err := json.Marshal(&Report{Tally: tally, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	sum := NewTally()
	for range 2 {
		var r Report
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		sum.Add(r.Tally)
	}
	page := sum.Trust()
	for _, want := range []string{
		"2,402 comparisons on 2 drawn instances.", "\n2 are between the proofs of two engines",
		"| comparison | dag | all |\n|---|---|---|\n", "| proof against another engine's | 2,400 | 2,400 |", "| proof against the plain engine's | 2 | 2 |",
		"| dag | 0 | 2 | 0 |", "- dag: times multiplied by a power of two; ",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("there is no %q in\n%s", want, page)
		}
	}
}
