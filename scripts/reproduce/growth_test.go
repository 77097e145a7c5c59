// SPDX-License-Identifier: MIT

package main

import (
	"os"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// The newest baseline is that of the largest version, not of the last name.
func TestNewestBaseline(t *testing.T) {
	t.Chdir(t.TempDir())
	fails(t, "no baseline, and no error", "", func() { newestBaseline() })
	check(os.MkdirAll("benchmarks/baseline", 0o777))
	for _, v := range []string{"0.10.0", "0.5.0", "0.9.1"} {
		write(t, "benchmarks/baseline/"+v+".txt", "")
	}
	require.Same(t, "baseline", "0.10.0", baseline())
}
