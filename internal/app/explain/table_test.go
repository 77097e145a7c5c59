// SPDX-License-Identifier: MIT

package explain

import (
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// Tables are at most 80 columns wide: text that doesn't fit goes on below itself, in full.
func TestTablesFit(t *testing.T) {
	long := "1342, 1358, 1390, 1471, 1478, 1486 and 57 more"
	text := table([][]string{{"group", "requests", "moment", "price of all slots", "what was short"}, {"1", long, "12345 s", "0.5", "bandwidth, or kept for others"}})
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	require.Says(t, "the text", text, append(strings.Fields(long), "bandwidth,", "others")...)
	require.Same(t, "table", "    a     b\n    x  y  z\n", table([][]string{{"a", "b"}, {"x  y", "z"}}))
}
