// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/ask"
	"github.com/gapwise/gapwise/internal/app/runs"
)

func (p *program) bound() *cli.Command {
	return &cli.Command{
		ArgsUsage: "FILE...",
		Description: "Prints bounds of the objective, one for each method. For batch, bounds of\n" +
			"the mean and of the largest bounded slowdown follow.",
		Flags: append([]cli.Flag{
			&cli.DurationFlag{Name: "time-limit", Value: 10 * time.Second, Usage: "longest time per instance; 0: no limit"},
			&cli.BoolFlag{Name: "json", Usage: "print one object with the bounds and their evidence per line"},
		}, readingFlags()...),
		Action: func(ctx context.Context, c *cli.Command) error {
			paths, err := files(c, 0)
			if err != nil {
				return err
			}
			if c.Duration("time-limit") < 0 {
				return usagef("bound: --time-limit must not be negative")
			}
			t := runs.Table{Header: []string{"instance", "bound", "value"}}
			code := exitOK
			var reasons []string
			for _, path := range paths {
				in, err := p.load(c, path)
				if err != nil {
					return err
				}
				ctx, cancel := ctx, context.CancelFunc(func() {})
				if d := c.Duration("time-limit"); d > 0 {
					ctx, cancel = context.WithTimeout(ctx, d)
				}
				all, err := ask.BoundsOf(ctx, in)
				cancel()
				if err != nil {
					return fmt.Errorf("%s: %w", instances.Label(path), err)
				}
				if all.Infeasible {
					code = exitInfeasible
				}
				if c.Bool("json") {
					if err := writeLines(p.out, all); err != nil {
						return err
					}
					continue
				}
				for _, b := range slices.Concat(all.Bounds, all.Others) {
					value := "-"
					switch {
					case b.Infeasible:
						value = "infeasible"
						reasons = append(reasons, fmt.Sprintf("%s: %s", in.ID(), b.Reason))
					case b.Value != nil:
						value = figure(*b.Value)
					}
					t.Rows = append(t.Rows, []string{in.ID(), b.Name, value})
				}
			}
			if !c.Bool("json") {
				if err := t.Render(p.out, "text"); err != nil {
					return err
				}
			}
			for _, r := range reasons {
				fmt.Fprintln(p.out, r)
			}
			if code != exitOK {
				return codeError(code)
			}
			return nil
		},
	}
}
