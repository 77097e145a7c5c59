// SPDX-License-Identifier: MIT

package gapwise

import (
	"runtime/debug"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model/milp/highs"
)

func TestBuilt(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef"}
	for name, c := range map[string]struct {
		settings []debug.BuildSetting
		want     string
		changed  bool
	}{
		"nothing":  {nil, "", false},
		"a commit": {[]debug.BuildSetting{revision, {Key: "vcs.modified", Value: "false"}}, "0123456789", false},
		"changes":  {[]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}, revision}, "0123456789+dirty", true},
	} {
		if got := recorded(c.settings); got != c.want || Changed(got) != c.changed {
			t.Errorf("%s: the commit is %q, want %q", name, got, c.want)
		}
	}
	b := Built()
	with := "HiGHS 1."
	if !highs.Available() {
		with = "without HiGHS"
	}
	require.Says(t, "the text", b.String(), Version, "go1", with)
}
