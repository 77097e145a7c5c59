// SPDX-License-Identifier: MIT

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/run/panics"
	"github.com/gapwise/gapwise/model"
)

func (p *program) session() *cli.Command {
	return &cli.Command{
		ArgsUsage: " ",
		Description: "Each line of standard input is the instance as it is now, in gapwise's\n" +
			"format. The answer is a line, too: {\"result\": ...} or {\"error\": ..., \"code\":\n" +
			"...}. Each step starts from the solution of the step before; for vcsched,\n" +
			"few tasks move. After Ctrl-C the running step answers with its best solution\n" +
			"so far (docs/reference/session.md).\n\n" +
			"With --judge each line also has a solution, and nothing is solved: the\n" +
			"answer is its result, judged, with a bound.",
		Flags: append([]cli.Flag{
			&cli.StringSliceFlag{Name: "algorithm", Aliases: []string{"a"}, Usage: "auto, exact or a `NAME`", DefaultText: "auto"},
			&cli.StringFlag{Name: "engine", Usage: "engines of exact, as for gapwise solve"},
			&cli.StringFlag{Name: "formulation", Usage: "formulation of highs and of solvers of MPS files (gapwise export --help)"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of the random generator"},
			&cli.IntFlag{Name: "threads", Value: 1, Usage: "number of worker threads"},
			&cli.DurationFlag{Name: "time-limit", Usage: "time limit of each step's search, like 1s", DefaultText: gapwise.SessionTimeLimit.String()},
			&cli.Int64Flag{Name: "effort", Usage: "limit of each step's counted work, in about microseconds of a core", DefaultText: "none"},
			&cli.Float64Flag{Name: "gap", Usage: "gap that counts as optimal", DefaultText: fmt.Sprint(model.DefaultGap)},
			&cli.BoolFlag{Name: "judge", Usage: "judge the solutions of the lines: {\"instance\": ..., \"solution\": ..., \"algorithm\": NAME}"},
		}, algorithmFlags()...),
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.NArg() > 0 {
				return usagef("session: it takes no files: instances come on standard input, one a line")
			}
			if len(algorithmNames(c)) > 1 {
				return usagef("session: --algorithm takes one")
			}
			o, err := p.solveOptions(c)
			if err != nil {
				return err
			}
			if c.Bool("judge") {
				return p.answerSteps(ctx, os.Stdin, (&judging{seed: o.Seed}).step)
			}
			o.Algorithm = each(c, o)[0].Algorithm
			s := &gapwise.Session{Options: o}
			return p.answerSteps(ctx, os.Stdin, func(ctx context.Context, line []byte) (step, error) { return takeStep(ctx, c, line, s) })
		},
	}
}

// step is the answer to a line of a session.
type step struct {
	Instance model.Instance `json:"instance,omitempty"`
	Result   *model.Result  `json:"result,omitempty"`
	// Run is a line of gapwise bench.
	Run   json.RawMessage `json:"run,omitempty"`
	Hash  string          `json:"hash,omitempty"` // of the instance
	Error string          `json:"error,omitempty"`
	Code  int             `json:"code,omitempty"`
}

// answerSteps answers each line until the input or the context ends.
func (p *program) answerSteps(ctx context.Context, from io.Reader, take func(context.Context, []byte) (step, error)) error {
	lines := bufio.NewReaderSize(from, 1<<16)
	for ctx.Err() == nil {
		var line []byte
		var ended error
		if unlessStopped(ctx, func() error { line, ended = lines.ReadBytes('\n'); return nil }) != nil {
			return nil
		}
		if len(bytes.TrimSpace(line)) > 0 {
			var answer step
			if err := panics.Call(func() (err error) { answer, err = take(ctx, line); return err }); err != nil {
				answer.Code, answer.Error = p.failed(err)
			}
			if err := writeLines(p.out, answer); err != nil {
				return err
			}
		}
		if errors.Is(ended, io.EOF) {
			return nil
		} else if ended != nil {
			return fmt.Errorf("session: can't read standard input: %w", ended)
		}
	}
	return nil
}

// takeStep solves the instance of a line.
func takeStep(ctx context.Context, c *cli.Command, line []byte, s *gapwise.Session) (answer step, err error) {
	in, err := model.DecodeInstance(line)
	if err != nil {
		return answer, err
	}
	problem, err := gapwise.ProblemOf(in.Kind())
	if err != nil {
		return answer, err
	}
	if s.Options.Parameters, err = parametersOf(c, problem); err != nil {
		return answer, err
	}
	solved, r, err := s.Step(ctx, in)
	if err != nil {
		return answer, err
	}
	if solved != in {
		answer.Instance = solved
	}
	answer.Result = &r
	return answer, nil
}
