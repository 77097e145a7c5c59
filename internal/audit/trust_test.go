// SPDX-License-Identifier: MIT

package audit

import (
	"strings"
	"testing"

	"github.com/gapwise/gapwise/model"
)

// The page counts what was compared, by problem and size, and shows disagreements.
func TestTrust(t *testing.T) {
	t.Parallel()
	tally := newTally()
	small, large := &model.DAG{Tasks: make([]model.DAGTask, 3)}, &model.DAG{Tasks: make([]model.DAGTask, 12)}
	for range 1200 {
		tally.add(twoEngines, small)
	}
	tally.add(plainEngine, large)
	tally.drew(model.KindDAG, middle)
	r := &Report{Tally: tally, Seed: 7, Disagreements: []Disagreement{{Check: "exact", Reason: "1 isn't 2"}}}
	var b strings.Builder
	if err := r.Trust(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1,201 comparisons on 1 drawn instances, seed 7, in 0s; disagreements: 1.", "\n1 are between the proofs of two engines",
		"| comparison | dag | all |\n|---|---|---|\n", "| proof against another engine's | 1,200 | 1,200 |", "| proof against the plain engine's | 1 | 1 |",
		"| dag | 0 | 1 | 0 |", "- dag: times multiplied by a power of two; ", "**Disagreement**: exact: 1 isn't 2",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %q in\n%s", want, b.String())
		}
	}
}
