// SPDX-License-Identifier: MIT

package runs

import (
	"math"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// Profiles are of one class, and by hand: list is the best on i1, j1 and j2 and never solves i2; spt has ratios 1, 2,
// 1.2 and 1.2, and rollout 2, 1, 1.4 and 1.4.
func TestProfiles(t *testing.T) {
	lines, n, err := Profiles(threeClasses(), SeriesOptions{Algorithms: []string{"spt", "list", "rollout", "fcfs", "exact"}}, false)
	require.OK(t, err)
	var got [][]SeriesPoint
	for _, l := range lines {
		got = append(got, l.Points)
	}
	at := func(x, y float64) SeriesPoint { return SeriesPoint{X: x, Mean: y} }
	require.Same(t, "profiles", [][]SeriesPoint{
		{at(1, 25), at(1.2, 75), at(2, 100), at(2.1, 100)}, {at(1, 75), at(2.1, 75)}, {at(1, 25), at(1.4, 75), at(2, 100), at(2.1, 100)}}, got)
	require.Same(t, "problems", 4, n)
	for _, algorithms := range [][]string{nil, {"spt", "exact", "fcfs"}} { // two classes with several, none with several
		_, _, err = Profiles(threeClasses(), SeriesOptions{Algorithms: algorithms}, false)
		require.Refused(t, "classes", err, model.ErrInvalid, "of one class")
	}
}

// Distributions are of one class, and by counting; list has no value on i2, which counts.
func TestDistributions(t *testing.T) {
	o := SeriesOptions{Y: "objective", Algorithms: []string{"spt", "list", "rollout", "exact"}}
	lines, n, err := Distributions(threeClasses(), o)
	require.OK(t, err)
	samples := require.Value(Samples(threeClasses(), SeriesOptions{Y: "objective", Algorithms: o.Algorithms[:3]}))(t)
	require.Same(t, "problems and algorithms", []int{samples[0].Runs, 3}, []int{n, len(lines)})
	for k, l := range lines {
		for _, q := range l.Points {
			count := 0
			for _, y := range samples[k].Values {
				if y <= q.X {
					count++
				}
			}
			if want := 100 * float64(count) / float64(n); q.Mean != want || l.Algorithm != samples[k].Algorithm {
				t.Errorf("%s: %v %% have at most %v, want %v", l.Algorithm, q.Mean, q.X, want)
			}
		}
	}
	for _, algorithms := range [][]string{nil, {"spt", "exact", "fcfs"}} { // two classes with several, none with several
		_, _, err = Distributions(threeClasses(), SeriesOptions{Y: "objective", Algorithms: algorithms})
		require.Refused(t, "classes", err, model.ErrInvalid, "of one class")
	}
	for _, y := range []string{"speed", "gap %"} {
		o.Y = y
		_, _, err = Distributions(threeClasses(), o)
		require.Refused(t, y, err, model.ErrInvalid, "value")
	}
}

func TestSteps(t *testing.T) {
	x, y := Steps([]float64{2, 3, 3, math.Inf(1)}, 1, 4)
	require.Same(t, "x", []float64{1, 2, 3, 4}, x)
	require.Same(t, "y", []float64{0, 25, 75, 75}, y)
}

func TestSamples(t *testing.T) {
	got, err := Samples(threeClasses(), SeriesOptions{Y: "objective", Algorithms: []string{"exact", "list", "fcfs"}, Where: map[string]float64{"jobs": 4}})
	require.OK(t, err)
	require.Same(t, "samples", []Sample{{"fcfs", model.Online, []float64{1, 1}, 2}, {"list", model.Offline, []float64{2}, 2}, {"exact", model.Yardstick, []float64{1, 1}, 2}}, got)
	_, err = Samples(threeClasses(), SeriesOptions{Y: "gap %"})
	require.Refused(t, "no value", err, model.ErrInvalid, "none of the 24 runs")
}
