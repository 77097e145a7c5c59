// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/ask"
	"github.com/gapwise/gapwise/internal/app/explain"
	"github.com/gapwise/gapwise/model"
)

func (p *program) explain() *cli.Command {
	return &cli.Command{
		ArgsUsage: "INSTANCE [RESULT]",
		Description: "RESULT is what gapwise solve -o writes; without it the instance is solved\n" +
			"first. Told are the bound and how it follows, by names of the instance; why\n" +
			"an infeasible instance has no solution, with a conflict; and what keeps the\n" +
			"solution from being better: the critical path, the fullest hosts, what is in\n" +
			"the way of the declined. docs/explanation/bounds-and-evidence.md says which\n" +
			"bound carries what.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "algorithm", Aliases: []string{"a"}, OnlyOnce: true, Usage: "result by `NAME`; without RESULT: solve by it", DefaultText: "best, auto"},
			&cli.DurationFlag{Name: "time-limit", Value: 10 * time.Second, Usage: "longest time to solve, and again to explain"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of the random generator"},
			&cli.BoolFlag{Name: "proof", Usage: "show all prices that a bound follows from"},
			&cli.BoolFlag{Name: "json", Usage: "print the same as one JSON object"},
		}, readingFlags()...),
		Action: func(ctx context.Context, c *cli.Command) error {
			paths := c.Args().Slice()
			if len(paths) < 1 || len(paths) > 2 {
				return usagef("explain: give an instance and perhaps a result, there %s", arguments(len(paths)))
			}
			if c.Duration("time-limit") <= 0 {
				return usagef("explain: --time-limit must be above 0")
			}
			in, err := p.load(c, paths[0])
			if err != nil {
				return err
			}
			r, err := p.toExplain(ctx, c, &in, paths)
			if err != nil {
				return err
			}
			x, err := explain.Explain(ctx, in, r, explain.Options{TimeLimit: c.Duration("time-limit"), Seed: c.Uint64("seed"), Proof: c.Bool("proof") || c.Bool("json")})
			if err != nil {
				return fmt.Errorf("%s: %w", instances.Label(paths[0]), err)
			}
			if !c.Bool("json") {
				_, err = fmt.Fprint(p.out, x)
				return err
			}
			return writeLines(p.out, x)
		},
	}
}

// toExplain returns the result of a file, judged, or of solving the instance, which is
// read in the variant of the result.
func (p *program) toExplain(ctx context.Context, c *cli.Command, in *model.Instance, paths []string) (model.Result, error) {
	if len(paths) == 1 {
		return gapwise.Solve(ctx, *in, gapwise.Options{Algorithm: c.String("algorithm"),
			Settings: model.Settings{Seed: c.Uint64("seed"), TimeLimit: c.Duration("time-limit")}})
	}
	found, err := readResults(ctx, *in, paths[1])
	if err != nil {
		return model.Result{}, err
	}
	one, hash, err := claimed(c, in, paths, found)
	if err != nil {
		return model.Result{}, err
	}
	r := model.NewResult("a solution without a result", 0)
	if one.result != nil {
		r = *one.result
	} else if err := r.SetSolution(*in, one.solution); err != nil {
		return r, fmt.Errorf("%s: %w", instances.Label(paths[1]), err)
	}
	return r, ask.Accept(ctx, *in, hash, r)
}
