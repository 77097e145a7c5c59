// SPDX-License-Identifier: MIT

package draw

import (
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

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
		require.Same(t, name, c.want, got)
	}
}
