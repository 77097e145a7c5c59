// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// Section 2.3: the paper's periodic schedule, two allocations of two hosts, each half of the
// time, has the least average yield 0.525/0.6, more than the 5/6 without migration. The
// judge finds both feasible.
func TestPeriodic(t *testing.T) {
	v, ok := must(instances.Load("../../docs/examples/three-tasks.json")).(*model.VCSched)
	if !ok {
		t.Fatal("another kind")
	}
	mean := make([]float64, len(v.Jobs))
	for _, half := range []struct {
		hosts  []int32
		shares []float64
	}{{[]int32{0, 0, 1}, []float64{0.45, 0.55, 0.6}}, {[]int32{0, 1, 1}, []float64{0.6, 0.55, 0.45}}} {
		p := v.NewPlacement(half.hosts, 0)
		for i := range p.Jobs {
			p.Jobs[i].CPU[0] = half.shares[i]
			mean[i] += half.shares[i] / v.Jobs[i].CPU / 2
		}
		if report, err := verify.Verify(t.Context(), v, p, verify.Options{}); err != nil || !report.Feasible() {
			t.Errorf("the paper's allocation %v: %v, %v", half.shares, report, err)
		}
	}
	if got := slices.Min(mean); math.Abs(got-0.875) > 1e-12 {
		t.Errorf("the least average yield is %v, the documents say 0.875", got)
	}
}

func TestTimesClosest(t *testing.T) {
	all := []printed{{Paper: 60, Ours: []float64{50, 61, 100}}, {Paper: 1, Ours: []float64{0, 2, 0}}, {Paper: 4, Ours: []float64{3.5, 3.6, 3.9}}, {Paper: 2, Ours: []float64{2.1, 0, 1}}}
	for reading, want := range []int{1, 1, 1} {
		require.Same(t, fmt.Sprintf("times that reading %d is closest", reading), want, timesClosest(all, reading))
	}
}

// Means go over the runs that have the value; the LP's curve is its bound.
func TestAcross(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "r.jsonl", `{"plan":"p","instance":"a","instance_hash":"a","kind":"vcsched","params":{"slack":0.1},"algorithm":"lp","seed":1,"status":"unknown","bound":0.9,"elapsed_s":1,"nodes":0,"verified":false,"version":"0"}
{"plan":"p","instance":"a","instance_hash":"a","kind":"vcsched","params":{"slack":0.1},"algorithm":"gr","seed":1,"status":"feasible","objective":0.6,"elapsed_s":0.5,"nodes":0,"verified":true,"version":"0"}
{"plan":"p","instance":"b","instance_hash":"b","kind":"vcsched","params":{"slack":0.1},"algorithm":"lp","seed":1,"status":"unknown","bound":0.7,"elapsed_s":1,"nodes":0,"verified":false,"version":"0"}
{"plan":"p","instance":"b","instance_hash":"b","kind":"vcsched","params":{"slack":0.1},"algorithm":"gr","seed":1,"status":"unknown","elapsed_s":1.5,"nodes":0,"verified":false,"version":"0"}
{"plan":"p","instance":"c","instance_hash":"c","kind":"vcsched","params":{"slack":0.2},"algorithm":"lp","seed":1,"status":"unknown","bound":0.5,"elapsed_s":1,"nodes":0,"verified":false,"version":"0"}
`)
	r := reader()
	got := r.curvesTable("r.jsonl", "slack", "objective", "%.2f", "lp gr")
	require.Same(t, "result", "| slack | lp | gr |\n|---|---|---|\n| 0.1 | 0.80 | 0.60 |\n| 0.2 | 0.50 | - |", got)
	if x := r.above("r.jsonl", "lp", "gr"); math.Abs(x-50) > 1e-9 {
		t.Errorf("the LP is %v %% above gr, want 50: b has no solution", x)
	}
	timesOfVCSched["test"] = []timed{{Algorithm: "gr", Paper: 0.1}, {Algorithm: "gr", Paper: 2, Mean: true}}
	defer delete(timesOfVCSched, "test")
	if times := r.timesBeside("test", "r.jsonl"); times[0].Ours != 1 || times[1].Ratio() != 2 {
		t.Errorf("%+v", times)
	}
	if of := times(r.records("r.jsonl"), "lp", "slack", 0.2); len(of) != 1 || of[0] != 1 {
		t.Errorf("the LP at slack 0.2: %v", of)
	}
	fails(t, "times of no run", "with jobs 500", func() { r.timesBeside("large", "r.jsonl") })
}
