// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/model"
)

// solved prints a result in one line.
func solved(in model.Instance, o gapwise.Options) model.Result {
	r, err := gapwise.Solve(context.Background(), in, o)
	if err != nil {
		fmt.Println(err)
		return r
	}
	fmt.Printf("%s: %.6g, bound %.6g\n", r.Status, r.Objective, r.Bound)
	return r
}

// Four tasks on two machines: the makespan is minimised.
func ExampleSolve_dag() {
	in := &model.DAG{Name: "diamond", Network: model.Network{Bandwidth: 1},
		Machines: []model.Machine{{ID: "P1"}, {ID: "P2"}},
		Tasks: []model.DAGTask{
			{ID: "read", CostS: []float64{2, 3}}, {ID: "left", CostS: []float64{4, 6}},
			{ID: "right", CostS: []float64{5, 3}}, {ID: "join", CostS: []float64{2, 2}}},
		Edges: []model.DAGEdge{{From: "read", To: "left", Data: 1}, {From: "read", To: "right", Data: 1},
			{From: "left", To: "join", Data: 1}, {From: "right", To: "join", Data: 1}}}
	r := solved(in, gapwise.Options{})
	for _, t := range r.Solution.(*model.Schedule).Tasks {
		fmt.Println(t.ID, "on", t.Machine, "at", t.StartS)
	}
	// Output:
	// optimal: 9, bound 9
	// read on P1 at 0
	// left on P1 at 2
	// right on P2 at 3
	// join on P1 at 7
}

// Two of three requests for four processing elements can be accepted.
func ExampleSolve_reservation() {
	in := &model.Reservation{Name: "three", PEs: 4, Goal: model.GoalAccepted, Requests: []model.Request{
		{ID: "a", ReadyS: 0, DurationS: 3600, DeadlineS: 3600, PEs: 3},
		{ID: "b", ReadyS: 0, DurationS: 3600, DeadlineS: 5400, PEs: 2},
		{ID: "c", ReadyS: 0, DurationS: 1800, DeadlineS: 7200, PEs: 4},
	}}
	r := solved(in, gapwise.Options{})
	for _, b := range r.Solution.(*model.Bookings).Bookings {
		fmt.Println(b.ID, "at", b.StartS)
	}
	// Output:
	// optimal: 2, bound 2
	// b at 0
	// c at 3600
}

// Two virtual clusters ask for the slots of a small fat-tree at the same time.
func ExampleSolve_tvc() {
	in := &model.TVC{Name: "two", FatTree: model.FatTree{K: 2, Slots: 2, LinkMbps: 100}, Requests: []model.TVCRequest{
		{ID: "large", ArrivalS: 0, VMs: 4, BandwidthMbps: 10, DurationS: 60},
		{ID: "small", ArrivalS: 1, VMs: 2, BandwidthMbps: 500, DurationS: 60},
		{ID: "later", ArrivalS: 2, VMs: 2, BandwidthMbps: 500, DurationS: 60},
	}}
	r := solved(in, gapwise.Options{})
	for _, run := range r.Solution.(*model.Embeddings).Runs {
		fmt.Println(run.ID)
	}
	// Output:
	// optimal: 2, bound 2
	// small
	// later
}

// Three jobs on two processors: the mean response time is minimised.
func ExampleSolve_batch() {
	in := &model.Batch{Name: "three", Processors: 2, Tiers: 1, Jobs: []model.BatchJob{
		{ID: "wide", RuntimeS: 10, Processes: 2},
		{ID: "short", RuntimeS: 1, Processes: 1},
		{ID: "long", RuntimeS: 4, Processes: 1},
	}}
	r := solved(in, gapwise.Options{})
	for _, run := range r.Solution.(*model.Execution).Runs {
		fmt.Println(run.ID, "at", run.Segments[0].StartS)
	}
	// Output:
	// optimal: 6.33333, bound 6.33333
	// wide at 4
	// short at 0
	// long at 0
}

// A user's own bound holds in addition to the computed ones. It is taken on trust: a solution that beats it is reported
// as a defect.
func ExampleSolve_ownBound() {
	stated := func(value float64) func(context.Context, model.Instance) (bounds.Bound, error) {
		return func(context.Context, model.Instance) (bounds.Bound, error) {
			return bounds.Bound{Name: "measured", Value: value}, nil
		}
	}
	o := gapwise.Options{Algorithm: "mcb8"}
	solved(threeJobs(), o)
	for _, yield := range []float64{0.91, 0.5} {
		o.Bounds = []func(context.Context, model.Instance) (bounds.Bound, error){stated(yield)}
		_, err := gapwise.Solve(context.Background(), threeJobs(), o)
		var defect *gapwise.DefectError
		fmt.Println("no yield above", yield, "refuted:", errors.As(err, &defect))
	}
	// Output:
	// optimal: 0.909091, bound 0.909091
	// no yield above 0.91 refuted: false
	// no yield above 0.5 refuted: true
}

// Progress gets each better solution while a solver is at work, and at last the one
// that is returned.
func ExampleSolve_progress() {
	best, calls := math.Inf(-1), 0
	o := gapwise.Options{Algorithm: "exact"}
	o.Progress = func(p model.Progress) {
		if p.Solution == nil {
			return // the same solution, perhaps with a better bound
		}
		if calls++; p.Incumbent <= best {
			fmt.Println("no better")
		}
		best = p.Incumbent
		_ = p.Solution.(*model.Placement) // may be kept, mustn't be changed
	}
	solved(threeJobs(), o)
	fmt.Printf("told: %v, the last: %.4f\n", calls > 0, best)
	// Output:
	// optimal: 0.909091, bound 0.909091
	// told: true, the last: 0.9091
}

// A start may be partial: here a placement made before job c arrived, and with a job
// that has left since. The placed part is a hint, the new part is free.
func ExampleCompleteStart() {
	before := &model.Placement{Jobs: []model.JobPlacement{
		{ID: "a", Hosts: []int{1}, CPU: []float64{0.8}},
		{ID: "b", Hosts: []int{0}, CPU: []float64{0.6}},
		{ID: "gone", Hosts: []int{0}, CPU: []float64{0.4}},
	}}
	whole, changes, err := gapwise.CompleteStart(context.Background(), threeJobs(), before)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("start:", changes)
	for _, j := range whole.(*model.Placement).Jobs {
		fmt.Println(j.ID, "on host", j.Hosts[0])
	}
	solved(threeJobs(), gapwise.Options{Settings: model.Settings{Start: before}}) // completes it, too
	// Output:
	// start: 1 of the instance aren't in it and are added, 1 of it aren't in the instance and are ignored
	// a on host 1
	// b on host 0
	// c on host 0
	// optimal: 0.909091, bound 0.909091
}
