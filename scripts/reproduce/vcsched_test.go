package main

import (
	"math"
	"testing"
)

// Section 2.3: with migration the least average yield is 0.525/0.6, more than the 5/6
// without.
func TestPeriodic(t *testing.T) {
	if got, err := periodic("../../docs/examples/three-tasks.json"); err != nil || math.Abs(got-0.875) > 1e-12 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestTimesClosest(t *testing.T) {
	all := []printed{{Paper: 60, Ours: []float64{50, 61, 100}}, {Paper: 1, Ours: []float64{0, 2, 0}}, {Paper: 4, Ours: []float64{3.5, 3.6, 3.9}}, {Paper: 2, Ours: []float64{2.1, 0, 1}}}
	for reading, want := range []int{1, 1, 1} {
		if got := timesClosest(all, reading); got != want {
			t.Errorf("reading %d is closest %d times, want %d", reading, got, want)
		}
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
	r := &runner{}
	got, err := r.curves("r.jsonl", "slack", "objective", "%.2f", "lp gr")
	if want := "| slack | lp | gr |\n|---|---|---|\n| 0.1 | 0.80 | 0.60 |\n| 0.2 | 0.50 | - |"; err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if x, err := r.above("r.jsonl", "lp", "gr"); err != nil || math.Abs(x-50) > 1e-9 {
		t.Errorf("the LP is %v %% above gr, %v, want 50: b has no solution", x, err)
	}
	times, err := r.timesBeside("r.jsonl", "greedy|gr||0.1", "LP at 0.2|lp|slack=0.2|2", "greedy|gr:mean||2")
	if err != nil || times[0].Ours != 1 || times[1].Ratio() != 2 || times[2].Ratio() != 2 {
		t.Errorf("%+v, %v", times, err)
	}
	if _, err := r.timesBeside("r.jsonl", "x|gr|slack=7|1"); err == nil {
		t.Error("a time of no run")
	}
}
