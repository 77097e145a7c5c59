// SPDX-License-Identifier: MIT

package visible_test

import (
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/text/visible"
)

func TestText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"job 1, ±5 µs":         "job 1, ±5 µs",
		"a\x1b[31mred":         `a\u001b[31mred`,
		"two\nlines\tand\rone": "two\nlines\tand" + `\u000done`,
		"c1 \u009b2J":          `c1 \u009b2J`,
		"turned \u202etxt":     `turned \u202etxt`,
		"bytes \x9b\xff":       `bytes \x9b\xff`,
		"\ufffd stays":         "\ufffd stays",
	} {
		var b strings.Builder
		if n, err := (visible.Writer{Writer: &b}).Write([]byte(in)); b.String() != want || n != len(in) || err != nil {
			t.Errorf("%q is written as %q, want %q (%d, %v)", in, b.String(), want, n, err)
		}
	}
	require.Same(t, "breaks and tabs", `a\u000ab\u0009c`, visible.Text("a\nb\tc", ""))
}
