// SPDX-License-Identifier: MIT

package nearest

import (
	"fmt"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

func TestOf(t *testing.T) {
	known := []string{"time_limit", "label", "gap", "heft", "peft"}
	for name, want := range map[string]string{"time-limit": "time_limit", "timelimit": "time_limit", "lable": "label", "left": "heft",
		"heft": "heft", "colour": "", "": "", "ga": "gap", "xyz": "", "x": ""} {
		require.Same(t, fmt.Sprintf("nearest to %q", name), want, Of(name, known))
	}
}
