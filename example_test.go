// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
)

// threeJobs is an instance made in code: three jobs on two hosts. The memory of a and b together is above a host's.
func threeJobs() *model.VCSched {
	return &model.VCSched{Name: "three-jobs", Hosts: 2, Jobs: []model.VCSchedJob{
		{ID: "a", Tasks: 1, CPU: 0.8, Memory: 0.7},
		{ID: "b", Tasks: 1, CPU: 0.6, Memory: 0.5},
		{ID: "c", Tasks: 1, CPU: 0.5, Memory: 0.2},
	}}
}

// The judge has looked at the solution before Solve returns it.
func ExampleSolve() {
	r, err := gapwise.Solve(context.Background(), threeJobs(), gapwise.Options{Algorithm: "exact"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r)
	for _, j := range r.Solution.(*model.Placement).Jobs {
		fmt.Println(j.ID, "on host", j.Hosts[0])
	}
	// Output:
	// vcsched three-jobs by search: optimal, objective 0.909091, bound 0.909091, gap 0
	// a on host 0
	// b on host 1
	// c on host 1
}

// A user's own solver gets a bound, a gap and the judge's verdict as every other does. This one puts each job on the
// first host that has memory for it.
func ExampleSolve_ownSolver() {
	firstFit := model.Adapt("first-fit", func(_ context.Context, in *model.VCSched, _ model.Settings) (*model.Placement, error) {
		var hosts []int32
		memory, load := make([]float64, in.Hosts), make([]float64, in.Hosts)
		for _, j := range in.Jobs {
			h := slices.IndexFunc(memory, func(used float64) bool { return used+j.Memory <= 1 })
			if h < 0 {
				return nil, fmt.Errorf("%w: no host has memory for job %s", model.ErrNoSolution, j.ID)
			}
			memory[h] += j.Memory
			load[h] += j.CPU
			hosts = append(hosts, int32(h))
		}
		return in.NewPlacement(hosts, min(1, 1/slices.Max(load))), nil
	})
	r, err := gapwise.Solve(context.Background(), threeJobs(), gapwise.Options{Solver: firstFit})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s by %s: objective %.4f, bound %.4f\n", r.Status, r.Algorithm, r.Objective, r.Bound)
	// Output:
	// feasible by first-fit: objective 0.7692, bound 0.9091
}

// A linear model of an instance, for a solver of the user's choice.
func ExampleFormulation() {
	in := &model.VCSched{Name: "one-job", Hosts: 1, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 1, CPU: 0.8, Memory: 0.7}}}
	f, err := gapwise.Formulation(context.Background(), in, "paper")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := f.WriteLP(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// \ the instance's objective = 1 * obj
	// Maximize
	//  obj: + 1 Y
	// Subject To
	//  eq6_1_1: + 1 x_1_1 - 1 e_1_1 <= 0
	//  eq5_1: + 1 e_1_1 = 1
	//  eq7_1: + 1 x_1_1 <= 0.8
	//  eq10_1: + 1 Y - 1.25 x_1_1 <= 0
	//  eq8_1: + 1 x_1_1 <= 1
	//  eq9_1: + 0.7 e_1_1 <= 1
	// Bounds
	//  0 <= Y <= 1
	//  0 <= e_1_1 <= 1
	//  0 <= x_1_1 <= 1
	// General
	//  e_1_1
	// End
}
