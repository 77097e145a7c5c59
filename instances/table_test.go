// SPDX-License-Identifier: MIT

package instances

import (
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// Errors about a table name its line and column, and the cell as it is written.
func TestTableErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"processes,runtime_s\n4,100\n9999999999999999999,5\n": "line 3, column processes: a whole number is wanted, 9999999999999999999 isn't one",
		"cpu,memory\n500m,1Gi\n":                              "line 2, column cpu: a number is wanted, \"500m\" is a string",
		"cpu;memory\r\n# a note\r\n0.1;0.2\r\n7;0.2\r\n":      "line 4: id \"2\": cpu is 7",
		"id,processes,runtime_s\na,4,5\na,4,5\n":              "line 3: id \"a\": the id is taken by line 2 already",
		"processes,runtime_s,color\n4,5,red\n":                "unknown key \"line 2, column color\"",
		"processes,runtime_s\n":                               "there is no row",
		"processes,runtime_s\n4,nan\n":                        "line 2, column runtime_s",
	} {
		f := require.Value(OpenData("t.csv", []byte(text)))(t)
		require.Refused(t, text, require.Err(f.Instance(Options{})), model.ErrInvalid, want)
	}
}

// Where commas don't separate cells, one is a decimal point.
func TestDecimalCommas(t *testing.T) {
	t.Parallel()
	in := require.Value(require.Value(OpenData("t.csv", []byte("cpu;memory\n0,5;0,25\n12,5%;.5\n")))(t).Instance(Options{}))(t).(*model.VCSched)
	require.Is(t, 0.5, in.Jobs[0].CPU)
	require.Is(t, 0.25, in.Jobs[0].Memory)
	require.Is(t, 0.125, in.Jobs[1].CPU)
	require.Is(t, 0.5, in.Jobs[1].Memory)
}
