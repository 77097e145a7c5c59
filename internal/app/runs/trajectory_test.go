// SPDX-License-Identifier: MIT

package runs

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// A report that is worse than one before, as of an engine's phase, changes nothing.
func TestTracker(t *testing.T) {
	nan := math.NaN()
	r := &Tracker{Sense: model.Minimise}
	for k, p := range [][2]float64{{nan, nan}, {nan, 3}, {10, 2}, {12, 3}, {9, nan}, {9, math.Inf(-1)}, {9, 5}, {nan, nan}} {
		r.note(float64(k), p[0], p[1])
	}
	res := model.Result{Objective: 8, Bound: 8}
	want := []Moment{{1, nan, 3}, {2, 10, 3}, {4, 9, 3}, {6, 9, 5}, {6, 8, 8}}
	require.Same(t, "values", want, r.Trajectory(res), cmpopts.EquateNaNs())
	if got := (&Tracker{Sense: model.Minimise}).Trajectory(res); got != nil {
		t.Errorf("a solver that reports nothing has the trajectory %v", got)
	}
}

// However many moments there are, few stay, the last among them, each as it was.
func TestTrajectoryIsShort(t *testing.T) {
	r := &Tracker{Sense: model.Maximise}
	for k := range 100_000 {
		r.note(float64(k)*1e-5, float64(k), float64(200_000-k))
	}
	got := r.Trajectory(model.Result{Elapsed: 2e9, Objective: 100_000, Bound: 100_000})
	if n := len(got); n < maxMoments/4 || n > maxMoments || got[n-1] != (Moment{2, 100_000, 100_000}) {
		t.Fatalf("%d moments, the last %v", n, got[n-1])
	}
	for k, m := range got[:len(got)-1] {
		if at := math.Round(m.S / 1e-5); m.Objective != at || k > 0 && m.S <= got[k-1].S {
			t.Errorf("moment %d: %v", k, m)
		}
	}
}

func TestMomentJSON(t *testing.T) {
	want := []Moment{{0.125, math.NaN(), 3}, {1, 4, math.NaN()}}
	data, err := json.Marshal(want)
	if err != nil || string(data) != "[[0.125,null,3],[1,4,null]]" {
		t.Fatalf("%s, error %v", data, err)
	}
	var got []Moment
	require.OK(t, json.Unmarshal(data, &got))
	require.Same(t, "values", want, got, cmpopts.EquateNaNs())
	for _, bad := range []string{`[[1,2]]`, `[[null,1,2]]`, `[["a",1,2]]`, `[{}]`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
	if err := checkTrajectory([]Moment{{2, 1, 1}, {1, 1, 1}}); err == nil {
		t.Error("time runs backwards")
	}
}
