// SPDX-License-Identifier: MIT

package benchmarks

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

const withGLPK = `
name: glpk
generators: [{kind: vcsched, hosts: [2], jobs: [5], slack: [0.4], count: 3, seed: 3}]
algorithms:
  - {name: exact, label: search}
  - {name: glpk, label: glpk-paper, formulation: paper}
  - {name: glpk, label: glpk-compact, formulation: compact}
`

func TestGLPKIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	require.Refused(t, "refusal", Run(context.Background(), decode(t, withGLPK), RunOptions{Results: filepath.Join(t.TempDir(), "r.jsonl")}), model.ErrInvalid, "glpsol")
}

// GLPK's optima, through the exported formulations and the judge, are ours.
func TestGLPKAgrees(t *testing.T) {
	require.Tool(t, "glpsol", "glpk-utils")
	got := map[string]map[string]float64{}
	for _, r := range runPlan(t, decode(t, withGLPK), RunOptions{Results: filepath.Join(t.TempDir(), "r.jsonl")}) {
		if r.Objective == nil {
			if r.Status != model.StatusInfeasible && r.Status != model.StatusUnknown {
				t.Errorf("%s by %s: status %s without a solution", r.Instance, r.Algorithm, r.Status)
			}
			continue
		}
		if got[r.Instance] == nil {
			got[r.Instance] = map[string]float64{}
		}
		got[r.Instance][r.Algorithm] = *r.Objective
	}
	if len(got) == 0 {
		t.Fatal("no instance has a solution: the test says nothing")
	}
	for instance, by := range got {
		for _, algorithm := range []string{"glpk-paper", "glpk-compact"} {
			if gap := model.Gap(by["search"], by[algorithm]); !(gap <= 1e-6) {
				t.Errorf("%s: %s finds %v, search %v", instance, algorithm, by[algorithm], by["search"])
			}
		}
	}
}
