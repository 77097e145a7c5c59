// SPDX-License-Identifier: MIT

package require_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// reports counts what a test would report.
type reports int

func (*reports) Helper()                 {}
func (n *reports) Errorf(string, ...any) { *n++ }

// Each difference is one report, and so is each error that isn't the wanted one.
func TestReports(t *testing.T) {
	kind := errors.New("invalid")
	var n reports
	require.Same(&n, "equal", []int{1, 2}, []int{1, 2})
	require.Refused(&n, "as wanted", fmt.Errorf("%w: a line", kind), kind, "a line")
	if n != 0 {
		t.Errorf("%d reports of nothing", n)
	}
	require.Same(&n, "another value", []int{1, 2}, []int{1, 3})
	for _, wrong := range []error{nil, errors.New("a line"), fmt.Errorf("%w: a word", kind), fmt.Errorf("%w: a line\nand more", kind)} {
		require.Refused(&n, "another error", wrong, kind, "a line")
	}
	if n != 5 {
		t.Errorf("%d reports, want 5", n)
	}
}
