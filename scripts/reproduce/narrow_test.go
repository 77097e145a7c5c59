// SPDX-License-Identifier: MIT

package main

import (
	"slices"
	"strings"
	"testing"
)

// A table that fits loses digits that mean nothing; of one that doesn't, what the file
// beside the page has all the same.
func TestNarrow(t *testing.T) {
	long := strings.Repeat("words ", 20)
	wide := func(cell string) []string { return slices.Repeat([]string{cell}, 12) }
	for name, x := range map[string]struct {
		rows [][]string
		want []string // lines
		left string
	}{
		"digits": {[][]string{{"load", "response"}, {"0.5", "10582.32 ± 1136.55"}, {"0.7", "1.25 ± 0.0312 of +3.00 ± 0.50"}, {"0.9", "14612 ± 9.96"}},
			[]string{"| load | response |", "|---|---|", "| 0.5 | 10582 ± 1137 |", "| 0.7 | 1.250 ± 0.031 of +3.00 ± 0.50 |", "| 0.9 | 14612.0 ± 10.0 |"}, ""},
		"half-widths": {[][]string{{"algorithm", "response (s)", "kills", "response ±"}, {"easy", "14612", "-", "6453.5"}, {"none", "-", "-", "-"}},
			[]string{"| algorithm | response (s) | kills |", "|---|---|---|", "| easy | 14612 ± 6454 | - |", "| none | - | - |"}, ""},
		"text breaks": {[][]string{{"a", "b"}, {long, long}}, []string{"| a | b |", "|---|---|", "| " + long + " | " + long + " |"}, ""},
		"the same in each row": {[][]string{append([]string{"load", "runs"}, wide("12345678")...), append([]string{"0.5", "1"}, wide("x")...), append([]string{"0.7", "1"}, wide("y")...)},
			nil, "columns *12345678*, *12345678*, *runs*"},
		"intervals": {[][]string{append([]string{"load"}, wide("a")...), append([]string{"0.5"}, wide("10.5 ± 1.5")...), append([]string{"0.7"}, wide("10.25 ± 1.75")...)},
			nil, "half-widths of the intervals"},
	} {
		shown, left := narrow(x.rows)
		if left != x.left || width(shown) > mostColumns || x.want != nil && !slices.Equal(markdown(shown), x.want) {
			t.Errorf("%s: left %q, want %q; %d wide:\n%s", name, left, x.left, width(shown), strings.Join(markdown(shown), "\n"))
		}
		again, more := narrow(shown)
		if more != "" || !slices.Equal(markdown(again), markdown(shown)) {
			t.Errorf("%s: again it leaves out %q", name, more)
		}
	}
}
