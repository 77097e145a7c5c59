// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// Two engines prove the same objective, and end at optima with second objectives that may differ, as the page of each
// problem explains.
func TestSecondObjectives(t *testing.T) {
	t.Parallel()
	for _, p := range gapwise.Problems() {
		page, err := os.ReadFile("docs/problems/" + string(p.Kind) + ".md")
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(strings.Fields(string(page)), " "); !strings.Contains(text, "Exact engines stop at any optimum of the first, and claim nothing of the second.") {
			t.Errorf("the page of %s doesn't say what is proved of the second objective", p.Kind)
		}
	}
	differ := 0
	for k := range uint64(200) {
		rng := rand.New(rand.NewPCG(k, 26))
		in := model.Instance(testkit.RandomDAG(rng, 7, 3))
		switch k % 4 {
		case 1:
			in = testkit.RandomReservation(rng, 7)
		case 2:
			in = testkit.RandomBatch(rng, 1, 6, 6)
		case 3:
			in = testkit.RandomVCSched(rng, false)
		}
		var found [2]model.Result
		for i, name := range []string{"search", "kernel"} {
			r, err := gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: name})
			if err != nil {
				t.Fatal(err)
			}
			found[i] = r
		}
		a, b := found[0], found[1]
		if a.Status != b.Status || a.Status == model.StatusOptimal && model.Gap(a.Objective, b.Objective) > 1e-9 {
			t.Errorf("%s: %s %v and %s %v", in.ID(), a.Status, a.Objective, b.Status, b.Objective)
		}
		if a.Status == model.StatusOptimal && a.SecondObjective != b.SecondObjective {
			differ++
		}
	}
	t.Logf("of 200 instances %d ended at optima with different second objectives", differ) // 1 when this was written
}
