// SPDX-License-Identifier: MIT

package testkit_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

func TestBruteDAG(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		d    *model.DAG
		want float64
	}{
		"no task":         {&model.DAG{Machines: []model.Machine{{ID: "a"}}}, 0},
		"one task":        {testkit.DAG([][]float64{{3, 2, 4}}, nil), 2},
		"six tasks":       {testkit.SixTasks(), 23},
		"away or at home": {testkit.DAG([][]float64{{1, 1}, {4, 4}, {4, 4}}, [][3]float64{{1, 2, 2}, {1, 3, 2}}), 7},
		"two parts":       {testkit.DAG([][]float64{{3, 9}, {9, 3}, {2, 9}, {9, 2}}, [][3]float64{{1, 3, 100}, {2, 4, 100}}), 5},
		"no time":         {testkit.DAG([][]float64{{0, 0}, {0, 0}}, [][3]float64{{1, 2, 5}}), 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got, complete := testkit.BruteDAG(c.d, 1<<20); got != c.want || !complete {
				t.Errorf("%v, complete: %v, want %v", got, complete, c.want)
			}
		})
	}
	if _, complete := testkit.BruteDAG(testkit.TenTasks(), 100); complete {
		t.Error("ten tasks in 100 nodes")
	}
}

// What is drawn is valid, whatever its family, and has an optimum.
func TestRandomDAG(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	names := map[string]bool{}
	for k := range 2000 {
		d := testkit.RandomDAG(rng, 1+k%6, 1+k%4)
		if err := d.Validate(); err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		if best, _ := testkit.BruteDAG(d, 10_000); math.IsInf(best, 1) || best < 0 {
			t.Errorf("%s: %v", d.Name, best)
		}
		names[d.Name] = true
	}
	if len(names) < 1000 {
		t.Errorf("%d families", len(names))
	}
}
