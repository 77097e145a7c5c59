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
		Description: "RESULT is a file that gapwise solve -o writes; without it, the instance is\n" +
			"solved first. The output shows the bound and how it follows, with names from\n" +
			"the instance. If the instance is infeasible, it shows a conflict as the\n" +
			"reason. It also shows what keeps the solution from being better: the\n" +
			"critical path, the fullest hosts, or whatever prevents the declined\n" +
			"requests. docs/explanation/bounds-and-evidence.md lists the evidence of each\n" +
			"bound.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "algorithm", Aliases: []string{"a"}, OnlyOnce: true, Usage: "explain the result by `NAME`; without RESULT: solve by it", DefaultText: "best, auto"},
			&cli.DurationFlag{Name: "time-limit", Value: 10 * time.Second, Usage: "longest time to solve, and the same again to explain"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of the random generator"},
			&cli.BoolFlag{Name: "proof", Usage: "show all prices from which a bound follows"},
			&cli.BoolFlag{Name: "json", Usage: "print the explanation as one JSON object"},
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
	if one.result != nil {
		return *one.result, ask.Accept(ctx, *in, hash, *one.result)
	}
	r := model.NewResult(ask.Bare, 0)
	if err := r.SetSolution(*in, one.solution); err != nil {
		return r, fmt.Errorf("%s: %w", instances.Label(paths[1]), err)
	}
	if err := ask.Accept(ctx, *in, hash, r); err != nil {
		return r, err
	}
	return ask.Bounded(ctx, *in, one.solution, c.Duration("time-limit"))
}
