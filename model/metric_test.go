// SPDX-License-Identifier: MIT

package model_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// The metrics agree with the objectives that the instances compute.
func TestMetrics(t *testing.T) {
	job := model.VCSchedJob{ID: "a", Tasks: 1, CPU: 0.5, Memory: 0.5}
	reservation := func(goal model.Goal) *model.Reservation {
		return &model.Reservation{PEs: 2, Goal: goal, Requests: []model.Request{{ID: "r", DurationS: 5, DeadlineS: 9, PEs: 2}}}
	}
	booked := &model.Bookings{Bookings: []model.Booking{{ID: "r", PEs: model.PEList{{First: 0, Last: 1}}}}}
	placed := &model.VCSched{Hosts: 1, Jobs: []model.VCSchedJob{job}}
	dag := &model.DAG{Machines: []model.Machine{{ID: "P"}}, Tasks: []model.DAGTask{{ID: "t", CostS: []float64{3}}}}
	cluster := func(queue bool, goal model.TVCGoal) *model.TVC {
		return &model.TVC{FatTree: model.FatTree{K: 2, Slots: 1, LinkMbps: 1}, Queue: queue, Goal: goal, Requests: []model.TVCRequest{{ID: "q", VMs: 1, BandwidthMbps: 1, DurationS: 5}}}
	}
	embedded := &model.Embeddings{Runs: []model.Run[model.Embedding]{{ID: "q", Segments: []model.Segment[model.Embedding]{{EndS: 5, Place: model.Embedding{Servers: []model.ServerVMs{{VMs: 1}}}}}}}}
	batch := &model.Batch{Processors: 1, Tiers: 1, Jobs: []model.BatchJob{{ID: "j", RuntimeS: 5, Processes: 1}}}
	executed := &model.Execution{Runs: []model.Run[model.BatchPlace]{{ID: "j", Segments: []model.Segment[model.BatchPlace]{{StartS: 1, EndS: 6, Place: model.BatchPlace{Processors: model.ProcessorList{0}}}}}}}
	for name, c := range map[string]struct {
		in     model.Instance
		s      model.Solution
		first  string
		second string
		value  float64
	}{
		"vcsched":  {placed, placed.NewPlacement([]int32{0}, 1), "minimum yield", "average yield", 1},
		"batch":    {batch, executed, "mean response time (s)", "mean bounded slowdown", 6},
		"dag":      {dag, &model.Schedule{Tasks: []model.TaskStart{{ID: "t", Machine: "P"}}}, "makespan (s)", "mean finish time (s)", 3},
		"requests": {reservation(""), booked, "accepted requests", "mean slowdown", 1},
		"all":      {reservation(model.GoalAll), booked, "accepted requests", "mean slowdown", 1},
		"used":     {reservation(model.GoalPESeconds), booked, "used PE-seconds", "mean slowdown", 10},
		"reserved": {reservation(model.GoalReservedPESeconds), booked, "reserved PE-seconds", "mean slowdown", 10},
		"clusters": {cluster(false, ""), embedded, "accepted requests", "revenue (VM Mbit)", 1},
		"revenue":  {cluster(false, model.GoalRevenue), embedded, "revenue (VM Mbit)", "accepted requests", 5},
		"a queue":  {cluster(true, ""), embedded, "mean response time (s)", "mean bounded slowdown", 5},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := c.in.Metrics()[0], c.in.Metrics()[1]
			if first.String() != c.first || second.String() != c.second {
				t.Errorf("metrics %q and %q, want %q and %q", first, second, c.first, c.second)
			}
			o := require.Value(c.in.Objective(c.s))(t)
			if o.Sense != first.Sense || o.SecondSense != second.Sense || model.SenseOf(c.in) != first.Sense || o.Value != c.value || len(o.Others) != len(c.in.Metrics())-2 {
				t.Errorf("objective %+v, want the value %v and the senses of %+v and %+v", o, c.value, first, second)
			}
			if empty := c.in.Kind().New(); empty.Kind() != c.in.Kind() {
				t.Errorf("New makes a %s of a %s", empty.Kind(), c.in.Kind())
			}
		})
	}
	if model.Kind("knapsack").New() != nil {
		t.Error("there is an instance of an unknown kind")
	}
}

// The default gap leaves out no whole number: 100,000,044 isn't optimal above 100,000,004.
func TestMetricClosed(t *testing.T) {
	whole, real := model.Metric{Whole: true}, model.Metric{}
	for _, c := range []struct {
		m                    model.Metric
		objective, bound, to float64
		want                 bool
	}{
		{whole, 100_000_044, 100_000_004, model.DefaultGap, false},
		{whole, 100_000_044, 100_000_043, model.DefaultGap, false},
		{whole, 100_000_044, 100_000_043.5, model.DefaultGap, true},
		{whole, 100_000_044, 100_000_044, model.DefaultGap, true},
		{whole, 100_000_044, 100_000_004, 0.01, true},
		{whole, 11, 10.5, model.DefaultGap, false},
		{real, 100_000_044, 100_000_004, model.DefaultGap, true},
		{real, 1, 0.99, model.DefaultGap, false},
		{real, 1, math.NaN(), model.DefaultGap, false},
	} {
		require.Same(t, fmt.Sprintf("%+v", c), c.want, c.m.Closed(c.objective, c.bound, c.to))
	}
}
