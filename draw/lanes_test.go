// SPDX-License-Identifier: MIT

package draw

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestLanesTable(t *testing.T) {
	for name, c := range map[string]struct {
		bars      []Bar
		tolerance float64
		want      []int
		wantCount int
	}{
		"none":             {nil, 0, []int{}, 0},
		"one after other":  {[]Bar{{Start: 5, End: 7}, {Start: 0, End: 5}}, 0, []int{0, 0}, 1},
		"first free lane":  {[]Bar{{Start: 0, End: 4}, {Start: 1, End: 2}, {Start: 1, End: 9}, {Start: 3, End: 5}}, 0, []int{0, 1, 2, 1}, 3},
		"paper's example":  {[]Bar{{Start: 6, End: 20}, {Start: 9, End: 21}, {Start: 11, End: 20}, {Start: 20, End: 22}}, 0, []int{0, 1, 2, 0}, 3},
		"rounding":         {[]Bar{{Start: 0, End: 1.0000001}, {Start: 1, End: 2}}, 1e-6, []int{0, 0}, 1},
		"more than that":   {[]Bar{{Start: 0, End: 1.00001}, {Start: 1, End: 2}}, 1e-6, []int{0, 1}, 2},
		"points together":  {[]Bar{{Start: 3, End: 3}, {Start: 3, End: 3}, {Start: 3, End: 8}}, 0, []int{0, 0, 0}, 1},
		"a point inside":   {[]Bar{{Start: 0, End: 4}, {Start: 2, End: 2}}, 0, []int{0, 1}, 2},
		"points at an end": {[]Bar{{Start: 0, End: 4}, {Start: 4, End: 4}}, 0, []int{0, 0}, 1},
	} {
		lane, count := lanes(c.bars, c.tolerance)
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
		bars := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) Bar {
			start := float64(rapid.IntRange(0, 30).Draw(rt, "start"))
			return Bar{Start: start, End: start + float64(rapid.IntRange(shortest, 12).Draw(rt, "length"))}
		}), 0, 60).Draw(rt, "bars")
		lane, count := lanes(bars, tolerance)
		for i, a := range bars {
			if lane[i] < 0 || lane[i] >= count {
				rt.Fatalf("lane %d of %d", lane[i], count)
			}
			for j, b := range bars[:i] {
				if lane[i] == lane[j] && math.Min(a.End, b.End) > math.Max(a.Start, b.Start)+tolerance {
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
				if b.Start <= a.Start && a.Start < b.End {
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

// Ten hours and more are labelled in hours, four days and more in days.
func TestTimeAxisUnit(t *testing.T) {
	for _, x := range []struct {
		high float64
		unit string
		last string
	}{{35_999, "s", "35000"}, {36_000, "h", "10"}, {345_599, "h", "90"}, {345_600, "d", "4.0"}, {3e7, "d", "300"}} {
		a := timeAxis{left: 0, right: 500, high: x.high}
		all := a.ticks()
		last := all[len(all)-1]
		if _, unit := a.unit(); unit != x.unit || last.Label != x.last || a.x(last.At) > 500 {
			t.Errorf("%v s: unit %q, last tick %q at %v", x.high, unit, last.Label, last.At)
		}
	}
}

func TestTicks(t *testing.T) {
	for name, c := range map[string]struct {
		low, high, length float64
		want              []string
	}{
		"makespan":  {0, 32, 560, []string{"0", "5", "10", "15", "20", "25", "30"}},
		"short":     {0, 32, 100, []string{"0", "20"}},
		"decimals":  {0, 0.35, 300, []string{"0", "0.1", "0.2", "0.3"}},
		"negative":  {-12, 12, 300, []string{"-10", "-5", "0", "5", "10"}},
		"far off":   {1000, 1003, 400, []string{"1000.0", "1000.5", "1001.0", "1001.5", "1002.0", "1002.5", "1003.0"}},
		"huge":      {0, 1e30, 250, []string{"0", "2e+29", "4e+29", "6e+29", "8e+29", "1e+30"}},
		"no room":   {0, 7, 3, []string{"0"}},
		"long ones": {1234567, 1234567.5, 300, []string{"1234567.0", "1234567.1", "1234567.2", "1234567.3", "1234567.4", "1234567.5"}},
		"too long":  {1234567, 1234567.5, 235, []string{"1234567.0", "1234567.2", "1234567.4"}},
	} {
		var got []string
		for _, x := range ticks(c.low, c.high, c.length, newFace(axisSize, false)) {
			got = append(got, x.Label)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want,+got):\n%s", name, d)
		}
	}
}
