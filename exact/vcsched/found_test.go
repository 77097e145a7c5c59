// SPDX-License-Identifier: MIT

package vcsched

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// These are instances on which a version contradicted its judge or itself (0.3.0 if nothing else is said). Every engine
// and formulation gives the right answer.
func TestVCSchedFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		yield      float64
		infeasible bool
	}{
		"highs-float32-memory":          {infeasible: true}, // three times 0.33333334 is above 1 + 1e-9
		"memory-1e-9-infeasible-or-not": {yield: 1},         // 1.0000000006 is not
		"budget-minus-1e-10":            {yield: 1},         // 0.2 is within 0.1999999999 + 1e-9
		"highs-paper-beaten-bound":      {yield: 1},
		// The audit after 0.6.0 found this: HiGHS merged columns and lost the optimum.
		"highs-parallel-columns": {yield: 6.0 / 13},
	} {
		t.Run(name, func(t *testing.T) {
			in := foundVCSched(t, name)
			solvers := []model.Solver{Search, Search.Off(devCompletion), Kernel, Kernel.Off(devLocalSearch | devColumns | devMoves)}
			for _, f := range vcbounds.Formulations {
				if _, err := vcbounds.Build(in, f); err == nil && highs.Available() {
					solvers = append(solvers, Linear(highs.Backend, f))
				}
			}
			for _, s := range solvers {
				same(t, s.Name(), in, solveVCSched(t, s, in, model.Settings{Seed: 1}), c.yield, !c.infeasible)
			}
		})
	}
	data, err := os.ReadFile(filepath.Join("testdata", "vcsched-rrnd-infinite-coefficient.json"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := model.DecodeInstance(data); !errors.Is(err, model.ErrInvalid) {
		t.Errorf("a need of 5e-324 gives %v, want ErrInvalid", err)
	}
}

func foundVCSched(t *testing.T, name string) *model.VCSched {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "vcsched-"+name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	in, err := model.DecodeInstance(data)
	if err != nil {
		t.Fatal(err)
	}
	return in.(*model.VCSched)
}

// These overflow 64 bits: hosts and budgets beyond any use.
func TestVCSchedManyHostsAndLargeBudgets(t *testing.T) {
	t.Parallel()
	job := func(id string, at int) model.VCSchedJob {
		return model.VCSchedJob{ID: id, Tasks: 1, CPU: 0.75, Memory: 0.5, CurrentHosts: []int{at}}
	}
	for _, hosts := range []int{2, 1_000_000} { // a million hosts have 1e19 units
		for _, budget := range []float64{-1, 0, 0.5, 1e6, 1e300} {
			if hosts > 2 && budget != -1 && budget != 0.5 {
				continue // for the time that they take
			}
			t.Run(fmt.Sprint(hosts, "hosts budget", budget), func(t *testing.T) {
				in := &model.VCSched{Hosts: hosts, Jobs: []model.VCSchedJob{job("a", 0), job("b", 0)}}
				want := 1.0
				if budget >= 0 {
					in.MigrationBudget = &budget
					if budget < 0.5 {
						want = 1 / 1.5
					}
				}
				same(t, "search", in, solveVCSched(t, Search, in, model.Settings{Seed: 1}), want, true)
				same(t, "kernel", in, solveVCSched(t, Kernel, in, model.Settings{Seed: 1}), want, true)
			})
		}
	}
}

// The needs are so close to a host's memory and the tolerance, to the last bits, that 64-bit units can't show whether
// they fit: HiGHS forbids misfits, the search takes its finer views.
func TestVCSchedMisfitInUnits(t *testing.T) {
	t.Parallel()
	const half = (1 + view.FitTolerance) / 2
	needs := []float64{half * (1 - 0x1p-52), half, half * (1 + 0x1p-52), 0.5000001}
	count := map[bool]int{}
	for _, a := range needs {
		for _, b := range needs {
			in := &model.VCSched{Hosts: 1, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 1, CPU: 0.5, Memory: a}, {ID: "b", Tasks: 1, CPU: 0.5, Memory: b}}}
			// If a and b don't fit on one host, one of them goes beside a whole task.
			wide := &model.VCSched{Hosts: 2, Jobs: slices.Clone(in.Jobs)}
			for _, id := range []string{"c", "d"} {
				wide.Jobs = append(wide.Jobs, model.VCSchedJob{ID: id, Tasks: 1, CPU: 1, Memory: 0.25})
			}
			for _, in := range []*model.VCSched{in, wide} {
				want, ok := plain.Optimum(in)
				if in.Hosts == 1 {
					count[ok]++
				}
				for _, s := range []model.Solver{Search, Search.Off(devCompletion), Search.Off(devLocalSearch), Kernel, Kernel.Off(devLocalSearch), Linear(highs.Backend, ""), Linear(highs.Backend, "paper")} {
					if strings.HasPrefix(s.Name(), "highs") && !highs.Available() {
						continue
					}
					same(t, s.Name(), in, solveVCSched(t, s, in, model.Settings{Seed: 1}), want, ok)
				}
			}
		}
	}
	if min(count[true], count[false]) < 3 {
		t.Errorf("one-sided: %v", count)
	}
}

// The audit in 0.10.0 found this: loads are multiples of 0.3, the bound is a whole host. The kernel asked for a load of
// 0.9, which its own bound refutes, and took that for a proof that 1.2 is needed.
func TestKernelProbesNothingBelowItsBound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	whole := 0
	for k := range 60 {
		in := &model.VCSched{Name: fmt.Sprint(k), Hosts: 9}
		for i := range 25 {
			in.Jobs = append(in.Jobs, model.VCSchedJob{ID: fmt.Sprint(i), Tasks: 1, CPU: 0.3, Memory: max(0, rng.Float64()*0.9-0.1)})
		}
		r := solveVCSched(t, Search, in, model.Settings{Seed: 1})
		if r.Status == model.StatusInfeasible {
			continue
		}
		if r.Objective == 1 {
			whole++
		}
		same(t, in.Name, in, solveVCSched(t, Kernel.Off(devLocalSearch), in, model.Settings{Seed: 1}), r.Objective, true)
	}
	if whole == 0 {
		t.Error("no instance has a yield of 1")
	}
}
