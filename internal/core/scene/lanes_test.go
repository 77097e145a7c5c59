// SPDX-License-Identifier: MIT

package scene

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestLanesTable(t *testing.T) {
	for name, c := range map[string]struct {
		bars      []Box
		tolerance float64
		want      []int
		wantCount int
	}{
		"none":             {nil, 0, []int{}, 0},
		"one after other":  {[]Box{{Low: 5, High: 7}, {Low: 0, High: 5}}, 0, []int{0, 0}, 1},
		"first free lane":  {[]Box{{Low: 0, High: 4}, {Low: 1, High: 2}, {Low: 1, High: 9}, {Low: 3, High: 5}}, 0, []int{0, 1, 2, 1}, 3},
		"paper's example":  {[]Box{{Low: 6, High: 20}, {Low: 9, High: 21}, {Low: 11, High: 20}, {Low: 20, High: 22}}, 0, []int{0, 1, 2, 0}, 3},
		"rounding":         {[]Box{{Low: 0, High: 1.0000001}, {Low: 1, High: 2}}, 1e-6, []int{0, 0}, 1},
		"more than that":   {[]Box{{Low: 0, High: 1.00001}, {Low: 1, High: 2}}, 1e-6, []int{0, 1}, 2},
		"points together":  {[]Box{{Low: 3, High: 3}, {Low: 3, High: 3}, {Low: 3, High: 8}}, 0, []int{0, 0, 0}, 1},
		"a point inside":   {[]Box{{Low: 0, High: 4}, {Low: 2, High: 2}}, 0, []int{0, 1}, 2},
		"points at an end": {[]Box{{Low: 0, High: 4}, {Low: 4, High: 4}}, 0, []int{0, 0}, 1},
	} {
		lane, count := Lanes(c.bars, c.tolerance)
		if d := cmp.Diff(c.want, lane); d != "" || count != c.wantCount {
			t.Errorf("%s: %d lanes, want %d; (-want,+got):\n%s", name, count, c.wantCount, d)
		}
	}
}

// No two bars of a lane overlap, and there are no more lanes than bars at the
// busiest time.
func TestLanes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		shortest := rapid.IntRange(0, 1).Draw(rt, "shortest")
		tolerance := rapid.SampledFrom([]float64{0, 0.5}).Draw(rt, "tolerance")
		bars := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) Box {
			start := float64(rapid.IntRange(0, 30).Draw(rt, "start"))
			return Box{Low: start, High: start + float64(rapid.IntRange(shortest, 12).Draw(rt, "length"))}
		}), 0, 60).Draw(rt, "bars")
		lane, count := Lanes(bars, tolerance)
		for i, a := range bars {
			if lane[i] < 0 || lane[i] >= count {
				rt.Fatalf("lane %d of %d", lane[i], count)
			}
			for j, b := range bars[:i] {
				if lane[i] == lane[j] && math.Min(a.High, b.High) > math.Max(a.Low, b.Low)+tolerance {
					rt.Fatalf("bars %v and %v share lane %d", a, b, lane[i])
				}
			}
		}
		if shortest == 0 {
			return
		}
		busiest := 0
		for _, a := range bars {
			n := 0
			for _, b := range bars {
				if b.Low <= a.Low && a.Low < b.High {
					n++
				}
			}
			busiest = max(busiest, n)
		}
		if count != busiest {
			rt.Fatalf("%d lanes, %d bars at the busiest time", count, busiest)
		}
	})
}
