// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// An algorithm that doesn't take the instance is declined, so that others go on. All else that goes wrong is an error.
func TestTry(t *testing.T) {
	spec := instances.NewVCSchedSpec()
	in := require.Value(spec.Generate())(t)
	adapted := func(solve func() error) gapwise.Options {
		return gapwise.Options{Solver: model.Adapt("own", func(context.Context, *model.VCSched, model.Settings) (*model.Placement, error) { return nil, solve() })}
	}
	for name, c := range map[string]struct {
		way              gapwise.Options
		declined, failed bool
	}{
		"solved":     {gapwise.Options{Algorithm: "gr"}, false, false},
		"declined":   {adapted(func() error { return model.ErrUnsupported }), true, false},
		"no such":    {gapwise.Options{Algorithm: "none"}, false, true},
		"an error":   {adapted(func() error { return errors.New("wrong") }), false, true},
		"at a panic": {adapted(func() error { panic("at once") }), false, true},
	} {
		r, declined, err := gapwise.NewCase(in).Try(t.Context(), c.way)
		if errors.Is(declined, model.ErrUnsupported) != c.declined || (err != nil) != c.failed || (r.Solution != nil) != (name == "solved") {
			t.Errorf("%s: %v, declined %v, error %v", name, r.Solution, declined, err)
		}
	}
}
