// SPDX-License-Identifier: MIT

//go:build !js

package highs_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// skipped notes whether a test was.
type skipped bool

func (*skipped) Helper()       {}
func (s *skipped) Skip(...any) { *s = true }
func (*skipped) Fatal(...any)  {}

// A machine has HiGHS, and tests run it, or every solve names the missing part.
func TestMissing(t *testing.T) {
	var s skipped
	t.Setenv("GAPWISE_REQUIRE_TOOLS", "")
	if require.HiGHS(&s); bool(s) == highs.Available() {
		t.Errorf("HiGHS is there: %v; tests that need it are skipped: %v", highs.Available(), s)
	}
	m := &milp.Model{Vars: []milp.Var{{Upper: 1, Cost: -1}}}
	_, solve := highs.Solve(context.Background(), m, milp.Options{})
	_, file := highs.SolveFile(context.Background(), filepath.Join("testdata", "knapsack.mps"), milp.Options{})
	lp, newLP := highs.NewLP(m)
	if lp != nil {
		defer lp.Close()
	}
	for name, err := range map[string]error{"Solve": solve, "SolveFile": file, "NewLP": newLP, "Backend": highs.Backend.Missing()} {
		if missing := errors.Is(err, highs.ErrMissing) && errors.Is(err, model.ErrUnsupported); missing == highs.Available() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if version, _ := highs.Versions(); (version != "") != highs.Available() {
		t.Errorf("the version is %q", version)
	}
	require.Refused(t, "an invalid model",
		require.Err(highs.Solve(context.Background(), &milp.Model{Vars: []milp.Var{{Lower: 2, Upper: 1}}},
			milp.Options{})), milp.ErrInvalid, "")
}
