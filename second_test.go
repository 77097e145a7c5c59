// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"os"
	"strings"
	"testing"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/test/require"
)

// The page of each problem says that engines may end at optima with different second objectives. (Of 200 small instances
// the search and the kernel differed on one when this was written.)
func TestSecondObjectives(t *testing.T) {
	t.Parallel()
	for _, p := range gapwise.Problems() {
		page := require.Value(os.ReadFile("docs/problems/" + string(p.Kind) + ".md"))(t)
		if text := strings.Join(strings.Fields(string(page)), " "); !strings.Contains(text, "Exact engines stop at any optimum of the first, and claim nothing about the second.") {
			t.Errorf("the page of %s doesn't say what is proved of the second objective", p.Kind)
		}
	}
}
