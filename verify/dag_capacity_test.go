// SPDX-License-Identifier: MIT

package verify_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// The judge adds up the tasks that overlap: a task and all before it, by starts, that overlap it where the judge has
// these two alone on a machine that runs one at a time. Starts and ends differ by units in the last place, by the tolerance, or by more.
func TestCrowds(t *testing.T) {
	rng := rand.New(rand.NewPCG(40, 1))
	crowded, tolerated := 0, 0
	for range require.Rounds(3000) {
		d := &model.DAG{Resources: []string{"cores", "memory_mb"}, Machines: []model.Machine{{ID: "m", Capacity: []int64{1 + rng.Int64N(4), 1 + rng.Int64N(4)}}}}
		s := &model.Schedule{}
		moments := []float64{0, 1, 2, 3}
		if rng.IntN(3) == 0 {
			moments = []float64{0, 1e9, 1e9 + 1, 3e9}
		}
		near := func(x float64) float64 {
			switch rng.IntN(4) {
			case 0:
				for range rng.IntN(9) {
					x = math.Nextafter(x, math.Inf(1))
				}
			case 1:
				x += (0.5 + rng.Float64()) * 1e-9
			}
			return x
		}
		for i := range 2 + rng.IntN(7) {
			from := near(moments[rng.IntN(4)])
			length := max(0, near(moments[rng.IntN(4)])-from)
			if rng.IntN(3) == 0 {
				length = []float64{0, 1e-16, 1e-9, 1}[rng.IntN(4)]
			}
			if length < 1e-30 {
				length = 0
			}
			needs := []int64{min(d.Machines[0].Capacity[0], rng.Int64N(4)), min(d.Machines[0].Capacity[1], rng.Int64N(4))}
			d.Tasks = append(d.Tasks, model.DAGTask{ID: fmt.Sprint(i), CostS: []float64{length}, Needs: needs})
			s.Tasks = append(s.Tasks, model.TaskStart{ID: fmt.Sprint(i), Machine: "m", StartS: from})
		}
		options := []verify.Options{{}, zeroTolerance}[rng.IntN(2)]
		order := make([]int, len(d.Tasks))
		for i := range order {
			order[i] = i
		}
		start := func(i int) float64 { return s.Tasks[i].StartS }
		length := func(i int) float64 { return d.Tasks[i].CostS[0] }
		slices.SortFunc(order, func(a, b int) int {
			return cmp.Or(cmp.Compare(start(a), start(b)), cmp.Compare(length(a), length(b)), cmp.Compare(a, b))
		})
		overlap := func(a, b int) bool {
			two := &model.DAG{Machines: []model.Machine{{ID: "m"}}}
			plan := &model.Schedule{}
			for _, i := range []int{a, b} {
				two.Tasks = append(two.Tasks, model.DAGTask{ID: d.Tasks[i].ID, CostS: d.Tasks[i].CostS})
				plan.Tasks = append(plan.Tasks, s.Tasks[i])
			}
			return !judge(t, two, plan, options).Feasible()
		}
		var want []float64
		for n, b := range order {
			if length(b) == 0 {
				continue
			}
			for r, c := range d.Machines[0].Capacity {
				sum, all := d.Tasks[b].Needs[r], d.Tasks[b].Needs[r]
				for _, a := range order[:n] {
					if length(a) == 0 {
						continue
					}
					if overlap(a, b) {
						sum += d.Tasks[a].Needs[r]
					}
					if start(b) < start(a)+length(a) {
						all += d.Tasks[a].Needs[r]
					}
				}
				if sum > c {
					want = append(want, float64(sum-c))
				} else if all > c {
					tolerated++
				}
			}
		}
		var got []float64
		for _, v := range judge(t, d, s, options).Violations {
			if got = append(got, v.Amount); v.Constraint != "machine_capacity" {
				t.Fatalf("%v", v)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("exceeded by %v, by pairs %v: %+v %+v", got, want, d, s)
		}
		crowded += len(want)
	}
	t.Logf("%d exceeded, %d within the tolerance", crowded, tolerated)
	if crowded < 100 || tolerated < 20 {
		t.Errorf("%d exceeded, %d within the tolerance: the draws say little", crowded, tolerated)
	}
}

// roomyTasks are the six tasks on machines that run two or three at once.
func roomyTasks() *model.DAG {
	d := testkit.SixTasks()
	d.Resources = []string{"cores", "memory_mb"}
	for m := range d.Machines {
		d.Machines[m].Capacity = []int64{3 - int64(m%2), 1000 + 500*int64(m)}
	}
	for t := range d.Tasks {
		d.Tasks[t].Needs = []int64{1 + int64(t%2), 250 * int64(t%4)}
	}
	d.Tasks[1].NeedsOn = map[string][]int64{d.Machines[0].ID: {1, 700}}
	return d
}
