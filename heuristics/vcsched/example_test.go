// SPDX-License-Identifier: MIT

package vcsched_test

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/heuristics/vcsched"
	"github.com/gapwise/gapwise/model"
)

// An instance made in code, packed by MCB8, the paper's best heuristic.
func Example() {
	in := &model.VCSched{Name: "example", Hosts: 2, Jobs: []model.VCSchedJob{
		{ID: "web", Tasks: 1, CPU: 0.5, Memory: 0.4},
		{ID: "database", Tasks: 1, CPU: 0.75, Memory: 0.5},
		{ID: "batch", Tasks: 2, CPU: 0.375, Memory: 0.2}, // two tasks of the same needs
	}}
	p, err := vcsched.MCB8(context.Background(), in, model.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	o, err := in.Objective(p)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("minimum yield %.3f, average yield %.3f\n", o.Value, o.Second)
	for _, j := range p.Jobs {
		fmt.Printf("%s on hosts %v with %.3f of CPU\n", j.ID, j.Hosts, j.CPU)
	}
	// Output:
	// minimum yield 0.889, average yield 0.926
	// web on hosts [1] with [0.500] of CPU
	// database on hosts [0] with [0.667] of CPU
	// batch on hosts [0 1] with [0.333 0.333] of CPU
}
