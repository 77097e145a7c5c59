// SPDX-License-Identifier: MIT

package vcsched

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

// same fails unless an engine proves the right answer, infeasible or the optimum, and the judge accepts it.
func same(t *testing.T, s model.Solver, in *model.VCSched, want float64, feasible bool) {
	t.Helper()
	r, err := s.Solve(t.Context(), in, model.Settings{Seed: 1})
	if errors.Is(err, highs.ErrMissing) {
		return
	}
	if err == nil {
		_, err = verify.Result(t.Context(), in, r, verify.Options{})
	}
	if err != nil || !feasible && r.Status != model.StatusInfeasible || feasible &&
		(r.Status != model.StatusOptimal || model.Gap(r.Objective, want) > 1.01e-6 || r.Bound < want*(1-1e-9)) {
		t.Fatalf("%s: %s %.12g bound %.12g (%s), right is %.12g (feasible: %v), %v: %+v", s.Name(), r.Status,
			r.Objective, r.Bound, r.Reason, want, feasible, err, in)
	}
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
				same(t, Search, in, want, true)
				same(t, Kernel, in, want, true)
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
					same(t, s, in, want, ok)
				}
			}
		}
	}
	if min(count[true], count[false]) < 3 {
		t.Errorf("one-sided: %v", count)
	}
}
