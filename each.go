// SPDX-License-Identifier: MIT

package gapwise

import (
	"context"
	"errors"
	"iter"

	"github.com/gapwise/gapwise/internal/run/caught"
	"github.com/gapwise/gapwise/model"
)

// Outcome is the result of one of several ways to solve an instance.
type Outcome struct {
	Options
	Result model.Result
	// Declined is why the other ways go on without this one: it doesn't take the instance
	// (model.ErrUnsupported), or its solution was refused (*RefusedError).
	Declined error
}

// Each solves the instance in several ways, one after the other. It ends with the first
// error, and with the first result after the context has ended. A panic is an error.
func (c *Case) Each(ctx context.Context, ways iter.Seq[Options]) iter.Seq2[Outcome, error] {
	return func(yield func(Outcome, error) bool) {
		for o := range ways {
			x := Outcome{Options: o}
			err := caught.Call(func() (err error) { x.Result, err = c.Solve(ctx, o); return err })
			var refused *RefusedError
			if errors.Is(err, model.ErrUnsupported) || errors.As(err, &refused) {
				x.Declined, err = err, nil
			}
			if !yield(x, err) || err != nil || ctx.Err() != nil {
				return
			}
		}
	}
}
