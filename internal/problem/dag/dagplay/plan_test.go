// SPDX-License-Identifier: MIT

package dagplay_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/model"
)

// If starts never need more machines at once than there are, they become a plan that ends with them, also with tasks of
// no length.
func TestOnFree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	for range 2000 {
		machines, d := 2+rng.IntN(3), &model.DAG{}
		for m := range machines {
			d.Machines = append(d.Machines, model.Machine{ID: string(rune('a' + m))})
		}
		var start, length []int64
		free, end := make([]int64, machines), int64(0)
		for k := range 1 + rng.IntN(12) {
			m := rng.IntN(machines)
			s, n := free[m]+rng.Int64N(3), rng.Int64N(5)
			free[m] = s + n
			start, length, end = append(start, s), append(length, n), max(end, s+n)
			task := model.DAGTask{ID: string(rune('A' + k))}
			for range machines {
				task.CostS = append(task.CostS, float64(n))
			}
			d.Tasks = append(d.Tasks, task)
		}
		g := view.OfDAG(d)
		if !g.Interchangeable() {
			t.Fatal("equal machines without data aren't interchangeable")
		}
		if got := dagplay.Ideal(g, dagplay.OnFree(g, start, length)); got > float64(end) {
			t.Fatalf("starts %v, lengths %v on %d machines end at %d, their plan at %g", start, length, machines, end, got)
		}
	}
}
