// SPDX-License-Identifier: MIT

package require

import (
	"errors"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// reporter holds the methods of testing.TB by which a test reports and goes on.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// Same reports how a value differs from the wanted one.
func Same[V any](t reporter, what string, want, got V, options ...cmp.Option) {
	t.Helper()
	if d := cmp.Diff(want, got, options...); d != "" {
		t.Errorf("%s (-want,+got):\n%s", what, d)
	}
}

// Refused reports an error that isn't of a kind, doesn't say what is wanted, or has several lines.
func Refused(t reporter, what string, err, kind error, want string) {
	t.Helper()
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: error %v, want one line with %q that wraps %v", what, err, want, kind)
	}
}

// Says reports each of the words that a text doesn't hold.
func Says(t reporter, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s doesn't say %q:\n%s", what, w, text[:min(len(text), 5000)])
		}
	}
}

// Err returns the error of a call whose value doesn't matter.
func Err[V any](_ V, err error) error { return err }
