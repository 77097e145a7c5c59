// SPDX-License-Identifier: MIT

package dag_test

import (
	"math"
	"math/rand/v2"
	"testing"

	dagexact "github.com/gapwise/gapwise/exact/dag"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/model"
)

// The search proves the same without any one device, from a good start and from none.
func TestWithout(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(13, 14))
	for _, d := range dagexact.Search.Devices() {
		search, err := dagexact.Search.Without(d.Name)
		if err != nil {
			t.Fatal(err)
		}
		bare, err := dagexact.Search.Without(d.Name, "local-search", "hint")
		if err != nil {
			t.Fatal(err)
		}
		for k := range need.Rounds(60) {
			in := tinyDAG(rng, 6)
			want, _ := plain.Optimum(in)
			for _, engine := range []model.Solver{search, bare} {
				r, err := engine.Solve(t.Context(), in, model.Settings{})
				if err != nil {
					t.Fatal(err)
				}
				if r.Status != model.StatusOptimal || math.Abs(r.Objective-want) > 1e-6*want {
					t.Errorf("without %s, instance %d: %s %v, bound %v, the optimum is %v", d.Name, k, r.Status, r.Objective, r.Bound, want)
				}
			}
		}
	}
}

func TestWithoutAll(t *testing.T) {
	t.Parallel()
	var names []string
	for _, d := range dagexact.Search.Devices() {
		names = append(names, d.Name)
	}
	search, err := dagexact.Search.Without(names...)
	if err != nil {
		t.Fatal(err)
	}
	d := randomDAG(rand.New(rand.NewPCG(1, 2)), 12, 3, 0.3, 30, 60)
	bare, err := search.Solve(t.Context(), d, model.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := dagexact.Search.Solve(t.Context(), d, model.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if bare.Nodes <= whole.Nodes || bare.Status != model.StatusOptimal || whole.Status != model.StatusOptimal || bare.Objective != whole.Objective {
		t.Errorf("without devices %s %v, bound %v, %d nodes; with them %s %v", bare.Status, bare.Objective, bare.Bound, bare.Nodes, whole.Status, whole.Objective)
	}
}
