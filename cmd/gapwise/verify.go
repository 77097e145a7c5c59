package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func (p *program) verify() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "judge a solution in exact arithmetic",
		ArgsUsage: "INSTANCE SOLUTION",
		Description: "SOLUTION is a result as gapwise solve -o writes it, or a bare solution.\n" +
			"Every violated constraint is named, with the amount.",
		Flags: []cli.Flag{
			&cli.Float64Flag{Name: "tolerance", Value: verify.Tolerance, Usage: "relative to the capacity; 0 for exactness"},
			transfersFlag, platformFlag, goalFlag,
		},
		Action: func(c *cli.Context) error {
			paths := c.Args().Slice()
			if len(paths) != 2 {
				return usagef("verify: give an instance and a solution, there are %d arguments", len(paths))
			}
			if paths[0] == "-" && paths[1] == "-" {
				return usagef("verify: only one of the two can be standard input")
			}
			if t := c.Float64("tolerance"); !(t >= 0 && t < 1) {
				return usagef("verify: --tolerance is %v, must be from 0 to below 1", t)
			}
			in, err := load(c, paths[0])
			if err != nil {
				return err
			}
			data, err := instances.ReadFile(paths[1])
			if err != nil {
				return err
			}
			result, solution, err := decodeSolution(paths[1], data)
			if err != nil {
				return err
			}
			adopt(c, in, solution)
			tolerance := c.Float64("tolerance")
			o := verify.Options{Tolerance: &tolerance}
			var report verify.Report
			if result != nil {
				hash, err := model.Hash(in)
				if err != nil {
					return err
				}
				if result.InstanceHash != hash {
					return fmt.Errorf("%w: %s: the solution is of the instance %q (%.15s...), not of %s (%.15s...)", model.ErrInvalid,
						instances.Label(paths[1]), result.Instance, result.InstanceHash, instances.Label(paths[0]), hash)
				}
				report, err = verify.Result(c.Context, in, *result, o)
				if err != nil {
					return err
				}
			} else if report, err = verify.Verify(c.Context, in, solution, o); err != nil {
				return err
			}
			fmt.Fprint(p.out, report)
			if !report.Feasible() {
				return codeError(exitDefect)
			}
			return nil
		},
	}
}

// decodeSolution reads a result or a bare solution; the result is nil for the
// latter. A result without a solution is an error.
func decodeSolution(path string, data []byte) (*model.Result, model.Solution, error) {
	var head struct {
		Status *string `json:"status"`
	}
	// What isn't JSON at all gets its message from the decoders.
	if json.Unmarshal(data, &head) == nil && head.Status != nil {
		r, err := model.DecodeResult(data)
		if err == nil && r.Solution == nil {
			err = errors.Join(model.ErrInvalid, fmt.Errorf("the result is %q and holds no solution", r.Status))
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", instances.Label(path), err)
		}
		return &r, r.Solution, nil
	}
	s, err := model.DecodeSolution(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", instances.Label(path), err)
	}
	return nil, s, nil
}
