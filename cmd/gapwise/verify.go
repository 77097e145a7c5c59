// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/ask"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func (p *program) verify() *cli.Command {
	return &cli.Command{
		ArgsUsage: "INSTANCE SOLUTION",
		Description: "SOLUTION is a file that gapwise solve -o or --json writes, with one result\n" +
			"or one per line, or a bare solution, which may leave out what follows from\n" +
			"the rest (docs/how-to/bring-your-own.md). Every violated constraint is\n" +
			"named, with the amount (times in seconds; for batch and tvc, as shares of a\n" +
			"job's length). Then the output says what was checked and what is taken on\n" +
			"trust. For a result without a solution, its proof or its bound is judged.",
		Flags: append([]cli.Flag{
			&cli.Float64Flag{Name: "tolerance", Value: verify.Tolerance, Usage: "tolerance, relative to the capacity concerned; batch and tvc have none"},
			&cli.BoolFlag{Name: "json", Usage: "print one judgement per line, as JSON"},
		}, readingFlags()...),
		Action: func(ctx context.Context, c *cli.Command) error {
			paths := c.Args().Slice()
			if len(paths) != 2 {
				return usagef("verify: give an instance and a solution, there %s", arguments(len(paths)))
			}
			if paths[0] == "-" && paths[1] == "-" {
				return usagef("verify: only one of the two can be standard input")
			}
			if t := c.Float64("tolerance"); !(t >= 0 && t < 1) {
				return usagef("verify: --tolerance is %v, must be from 0 to below 1", t)
			}
			var in model.Instance
			var found []solutionFile
			err := unlessStopped(ctx, func() (err error) { // a large file takes a while
				if in, err = p.load(c, paths[0]); err == nil {
					found, err = readResults(ctx, in, paths[1])
				}
				return err
			})
			if err != nil {
				return err
			}
			defer p.afterAWhile("verifying ...")()
			return p.judge(ctx, c, in, paths, found)
		},
	}
}

// arguments counts them in words.
func arguments(n int) string {
	if n == 1 {
		return "is 1 argument"
	}
	return fmt.Sprintf("are %d arguments", n)
}

// judge prints the judgement on each result that is of the instance.
func (p *program) judge(ctx context.Context, c *cli.Command, in model.Instance, paths []string, found []solutionFile) error {
	in = asSolved(c, in, firstSolution(found))
	hash, err := model.Hash(in)
	if err != nil {
		return err
	}
	tolerance := c.Float64("tolerance")
	o := verify.Options{Tolerance: &tolerance, Hash: hash}
	judged, refused := 0, 0
	for _, f := range found {
		switch {
		case f.result == nil || f.result.InstanceHash == hash:
		case len(found) == 1:
			return otherInstance(in, f.result, paths, hash)
		default:
			if !c.Bool("json") {
				fmt.Fprintf(p.out, "line %d: %s: of another instance, %q: not judged\n", f.line, f.result.Algorithm, f.result.Instance)
			}
			continue
		}
		v, report, err := ask.Judge(ctx, in, f.result, f.solution, o)
		if err != nil {
			return err
		}
		judged++
		if !report.Feasible() {
			refused++
		}
		if c.Bool("json") {
			v.Line = f.line
			if err := writeLines(p.out, v); err != nil {
				return err
			}
			continue
		}
		if f.line > 0 {
			fmt.Fprintf(p.out, "line %d: %s: ", f.line, f.result.Algorithm)
		}
		fmt.Fprint(p.out, report)
		if left := runs.Left(in, f.solution); left != "" && report.Feasible() {
			fmt.Fprintln(p.out, words.Wrap(left, 78, 2))
		}
	}
	if judged == 0 {
		return otherInstance(in, found[0].result, paths, hash)
	}
	if refused > 0 {
		return codeError(exitDefect)
	}
	return nil
}

func otherInstance(in model.Instance, r *model.Result, paths []string, hash string) error {
	return fmt.Errorf("%w: %s: the solution is of the instance %q (%.15s...), not of %s (%.15s...)%s", model.ErrInvalid,
		instances.Label(paths[1]), r.Instance, r.InstanceHash, instances.Label(paths[0]), hash, readings(in, r))
}

// readings names the flags that make another instance of the same file, if the
// result is of the instance's name.
func readings(in model.Instance, r *model.Result) string {
	if in.Kind() == model.KindVCSched && r.Kind == model.KindConsolidation && r.Instance == in.ID() {
		return "; solved with --platform bins? give that here, too"
	}
	p, err := gapwise.ProblemOf(in.Kind())
	if err != nil || r.Kind != in.Kind() || r.Instance != in.ID() || len(p.Variants) == 0 {
		return ""
	}
	var flags []string
	for _, v := range p.Variants {
		flags = append(flags, "--"+v.Flag)
	}
	return "; solved with " + strings.Join(flags, " or ") + "? give that here, too"
}
