package benchmarks

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/need"
	"github.com/gapwise/gapwise/model"
)

func TestReadGLPK(t *testing.T) {
	const head = "c Problem:\nc Rows:       1\ns mip 1 3 o 4.5\ni 1 2\n"
	tests := map[string]struct {
		text       string
		want       []float64
		wantStatus string
		wantErr    string
	}{
		"optimal":           {head + "j 1 1\nj 2 0\nj 3 0.25\ne o f\n", []float64{1, 0, 0.25}, "o", ""},
		"infeasible":        {strings.Replace(head, "o 4.5", "n 0", 1) + "j 1 0\nj 2 0\nj 3 0\ne o f\n", []float64{0, 0, 0}, "n", ""},
		"column unknown":    {head + "j 1 1\nj 4 7\ne o f\n", []float64{1, 0, 0}, "o", ""},
		"another model":     {strings.Replace(head, "1 3", "1 4", 1), nil, "", "4 columns"},
		"not GLPK's at all": {"hello\n", []float64{0, 0, 0}, "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "m.sol")
			write(t, file, tc.text)
			x, status, err := readGLPK(file, 3)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("error is %v, want one with %q", err, tc.wantErr)
				}
				return
			}
			if err != nil || status != tc.wantStatus {
				t.Errorf("status %q, error %v, want %q, nil", status, err, tc.wantStatus)
			}
			if diff := cmp.Diff(tc.want, x); diff != "" {
				t.Errorf("values (-want,+got):\n%s", diff)
			}
		})
	}
}

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
	err := Run(context.Background(), decode(t, withGLPK), RunOptions{Results: filepath.Join(t.TempDir(), "r.jsonl")})
	if !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), "glpsol") {
		t.Errorf("error is %v, want one about glpsol that wraps ErrInvalid", err)
	}
}

// GLPK's optima, through the exported formulations and the judge, are ours.
func TestGLPKAgrees(t *testing.T) {
	need.Tool(t, "glpsol", "glpk-utils")
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
