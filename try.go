// SPDX-License-Identifier: MIT

package gapwise

import (
	"context"
	"errors"

	"github.com/gapwise/gapwise/internal/run/panics"
	"github.com/gapwise/gapwise/model"
)

// Try is Solve for one of several ways to solve the instance. Declined is why the others go on without this one: it
// doesn't take the instance (model.ErrUnsupported), or its solution was refused (*RefusedError). A panic is an error.
func (c *Case) Try(ctx context.Context, o Options) (r model.Result, declined, err error) {
	err = panics.Call(func() (err error) { r, err = c.Solve(ctx, o); return err })
	var refused *RefusedError
	if errors.Is(err, model.ErrUnsupported) || errors.As(err, &refused) {
		declined, err = err, nil
	}
	return r, declined, err
}
