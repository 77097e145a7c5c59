// SPDX-License-Identifier: MIT

package slurm

import (
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// Lists of nodes as Slurm writes them; others are refused, and so are lists of too many.
func TestHosts(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"c1":                   "c1",
		"c[1,3-5]":             "c1 c3 c4 c5",
		"c[1-2],gpu[08-11]":    "c1 c2 gpu08 gpu09 gpu10 gpu11",
		"r[1-2]n[1-2],login-a": "r1n1 r1n2 r2n1 r2n2 login-a",
		"n[9-11]x":             "n9x n10x n11x",
	} {
		all, ok := hosts(list)
		if require.Same(t, list, want, strings.Join(all, " ")); !ok {
			t.Errorf("%s is refused", list)
		}
	}
	for _, list := range []string{"", ",", "a,", ",a", "c[", "c]", "c[1", "c[]", "c[1-]", "c[2-1]", "c[a]", "c[1-99999999]", "c[1-400]n[1-400]", "c[1]]", "None assigned[", "c[1,,2]"} {
		if all, ok := hosts(list); ok {
			t.Errorf("%q is %q", list, all)
		}
	}
}

// Each list is refused or has names without brackets and commas, within the bound.
func FuzzHosts(f *testing.F) {
	for _, list := range []string{"c[1,3-5],gpu[08-11]", "a[1-2]b[3]", "[1]", "x,,y"} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		all, ok := hosts(list)
		if ok != (len(all) > 0) || len(all) > mostHosts || slices.ContainsFunc(all, func(s string) bool { return s == "" || strings.ContainsAny(s, "[],") }) {
			t.Errorf("%q: %d, %v", list, len(all), ok)
		}
	})
}
