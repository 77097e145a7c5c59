package main

import (
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/instances"
)

func (p *program) bound() *cli.Command {
	return &cli.Command{
		Name:      "bound",
		Usage:     "bounds that no solution can beat, without search",
		ArgsUsage: "FILE...",
		Flags: append([]cli.Flag{
			&cli.DurationFlag{Name: "time-limit", Value: 10 * time.Second, Usage: "longest time per instance; 0: no limit"},
		}, readingFlags()...),
		Action: func(ctx context.Context, c *cli.Command) error {
			paths, err := files(c, 0)
			if err != nil {
				return err
			}
			if c.Duration("time-limit") < 0 {
				return usagef("bound: --time-limit must not be negative")
			}
			t := benchmarks.Table{Header: []string{"instance", "bound", "value"}}
			code := exitOK
			var reasons []string
			for _, path := range paths {
				in, err := load(c, path)
				if err != nil {
					return err
				}
				ctx, cancel := ctx, context.CancelFunc(func() {})
				if d := c.Duration("time-limit"); d > 0 {
					ctx, cancel = context.WithTimeout(ctx, d)
				}
				all, err := gapwise.Bounds(ctx, in)
				cancel()
				if err != nil {
					return fmt.Errorf("%s: %w", instances.Label(path), err)
				}
				for _, b := range all {
					value := figure(b.Value)
					if b.Infeasible {
						value = "infeasible"
						code = exitInfeasible
						reasons = append(reasons, fmt.Sprintf("%s: %s", in.ID(), b.Reason))
					}
					t.Rows = append(t.Rows, []string{in.ID(), b.Name, value})
				}
			}
			if err := t.Render(p.out, "text"); err != nil {
				return err
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
