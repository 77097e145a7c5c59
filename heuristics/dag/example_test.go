// SPDX-License-Identifier: MIT

package dag_test

import (
	"context"
	"fmt"

	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/model"
)

// An instance is made in code and scheduled by HEFT. Two tasks use the output of a first one, on two machines that a
// link of 10 MB per second joins.
func ExampleHEFT() {
	d := &model.DAG{
		Machines: []model.Machine{{ID: "cpu"}, {ID: "gpu", StartupS: 0.5}},
		Tasks: []model.DAGTask{
			{ID: "read", CostS: []float64{2, 3}}, // seconds on cpu and on gpu
			{ID: "train", CostS: []float64{20, 4}},
			{ID: "report", CostS: []float64{3, 6}},
		},
		Edges: []model.DAGEdge{
			{From: "read", To: "train", Data: 15}, // MB
			{From: "read", To: "report", Data: 1},
		},
		Network: model.Network{Bandwidth: 10}, // MB per second
	}
	if err := d.Validate(); err != nil {
		fmt.Println(err)
		return
	}
	schedule, err := dagheur.HEFT(context.Background(), d, model.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range schedule.Tasks {
		fmt.Printf("%s on %s at %g s\n", t.ID, t.Machine, t.StartS)
	}
	objective, err := d.Objective(schedule)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("makespan %g s\n", objective.Value)
	// Output:
	// read on cpu at 0 s
	// train on gpu at 3.5 s
	// report on cpu at 2 s
	// makespan 7.5 s
}
