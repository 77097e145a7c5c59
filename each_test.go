// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

// Algorithms that don't take the instance are declined and the others go on. An error ends all, and so does a context
// that has ended, after the run that it cut short.
func TestEach(t *testing.T) {
	spec := instances.NewVCSchedSpec()
	in, err := spec.Generate()
	if err != nil {
		t.Fatal(err)
	}
	declines := model.Adapt("declines", func(context.Context, *model.VCSched, model.Settings) (*model.Placement, error) {
		return nil, model.ErrUnsupported
	})
	ctx, cancel := context.WithCancel(t.Context())
	panics := model.Adapt("panics", func(context.Context, *model.VCSched, model.Settings) (*model.Placement, error) { panic("at once") })
	cancels := model.Adapt("cancels", func(context.Context, *model.VCSched, model.Settings) (*model.Placement, error) {
		cancel()
		return nil, model.ErrUnsupported
	})
	for name, c := range map[string]struct {
		ctx  context.Context
		ways []gapwise.Options
		want string
	}{
		"declined": {t.Context(), []gapwise.Options{{Algorithm: "gr"}, {Solver: declines}, {Algorithm: "sg"}}, "gr declined sg"},
		"an error": {t.Context(), []gapwise.Options{{Algorithm: "gr"}, {Algorithm: "none"}, {Algorithm: "sg"}}, "gr error"},
		"a panic":  {t.Context(), []gapwise.Options{{Solver: panics}, {Algorithm: "sg"}}, "error"},
		"stopped":  {ctx, []gapwise.Options{{Algorithm: "gr"}, {Solver: cancels}, {Algorithm: "gr"}}, "gr declined"},
	} {
		var got []string
		for x, err := range gapwise.NewCase(in).Each(c.ctx, slices.Values(c.ways)) {
			switch {
			case err != nil:
				got = append(got, "error")
			case errors.Is(x.Declined, model.ErrUnsupported):
				got = append(got, "declined")
			default:
				got = append(got, x.Result.Algorithm)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %q, want %q", name, s, c.want)
		}
	}
}
