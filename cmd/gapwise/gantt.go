package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func (p *program) gantt() *cli.Command {
	return &cli.Command{
		Name:      "gantt",
		Usage:     "draw a solution",
		ArgsUsage: "INSTANCE [SOLUTION]",
		Description: wrap("SVG or PNG. Without a SOLUTION the instance is solved first, by "+ganttDefaults()+
			"; of several results the best is drawn, or that by --algorithm.", 76, 0) + "\n" +
			"Of a batch, processors are drawn over time, the background by itself; below,\n" +
			"processors in use and waiting jobs. More than 20,000 rectangles become fields\n" +
			"of some processors and some time with the share that is in use.\n" +
			"Of a dag, machines are rows, the links with their transfers beneath. Under\n" +
			"contention the same plan without contention stands above.\n" +
			"Of a reservation, PEs are drawn over time; below, each request's window, or\n" +
			"of more than 30 requests those declined.\n" +
			"Of a tvc, slots and link loads are drawn at the moment of the highest load,\n" +
			"or --at; below, slots in use over time and, in queue mode, the requests that\n" +
			"wait and those suspended.\n" +
			"Of a vcsched there is no picture.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` that ends in .svg or .png"},
			&cli.StringFlag{Name: "algorithm", Aliases: []string{"a"}, Usage: "solution by `NAME`"},
			&cli.FloatFlag{Name: "at", Usage: "of tvc: moment in `SECONDS`", DefaultText: "highest load"},
		}, readingFlags()...),
		Action: func(ctx context.Context, c *cli.Command) error {
			paths := c.Args().Slice()
			if len(paths) < 1 || len(paths) > 2 {
				return usagef("gantt: give an instance and perhaps a solution, there are %d arguments", len(paths))
			}
			format, err := pictureFormat(c, paths)
			if err != nil {
				return err
			}
			var in model.Instance
			err = unlessStopped(ctx, func() (err error) { in, err = load(c, paths[0]); return err })
			if err != nil {
				return err
			}
			if problem, err := gapwise.ProblemOf(in.Kind()); err != nil || len(problem.Gantt) == 0 {
				return fmt.Errorf("gantt: %w: no picture for %s", model.ErrUnsupported, in.Kind())
			}
			defer p.afterAWhile("verifying and drawing ...")()
			in, s, by, err := p.solutionOf(ctx, c, in, paths[1:])
			if err != nil {
				return err
			}
			var at *float64
			if c.IsSet("at") {
				x := c.Float("at")
				at = &x
			}
			return p.drawGantt(ctx, c.String("output"), format, in, s, by, at)
		},
	}
}

// ganttDefaults lists the algorithms that solve what comes without a solution.
func ganttDefaults() string {
	var all []string
	for _, p := range gapwise.Problems() {
		if len(p.Gantt) > 0 {
			all = append(all, strings.Join(p.Gantt, " or "))
		}
	}
	return strings.Join(all, ", ")
}

// drawGantt writes the picture of a solution by the named algorithm, "" if that
// isn't known, at a moment, nil if the picture chooses it.
func (p *program) drawGantt(ctx context.Context, output, format string, in model.Instance, s model.Solution, by string, at *float64) error {
	problem, err := gapwise.ProblemOf(in.Kind())
	if err != nil {
		return err
	}
	pictured, err := problem.Pictured(ctx, in, s)
	if err != nil {
		return err
	}
	var frames []draw.Frame
	for _, x := range pictured {
		frames = append(frames, draw.Frame{Instance: x.Instance, Solution: x.Solution, Arrived: x.Arrived, At: at})
	}
	return p.writeFile(output, interruptible(ctx, func(w io.Writer) error { return draw.Solution(w, format, by, frames) }))
}

// pictureFormat returns svg or png, by the output's name.
func pictureFormat(c *cli.Command, inputs []string) (string, error) {
	output := c.String("output")
	format := strings.ToLower(strings.TrimPrefix(filepath.Ext(output), "."))
	if format != "svg" && format != "png" {
		return "", usagef("%s: give the picture with -o FILE.svg or FILE.png", c.Name)
	}
	return format, checkOutput(output, inputs)
}

// solutionOf reads the solution file, if there is one, or solves; either way
// the judge looks at the solution. It returns the instance as that reads it,
// and the algorithm if that is known.
func (p *program) solutionOf(ctx context.Context, c *cli.Command, in model.Instance, solution []string) (read model.Instance, s model.Solution, by string, err error) {
	if len(solution) == 0 {
		names := []string{c.String("algorithm")}
		if problem, err := gapwise.ProblemOf(in.Kind()); err == nil && names[0] == "" {
			names = problem.Gantt
		}
		var r model.Result
		for _, name := range names { // the first that takes the instance
			r, err = gapwise.Solve(ctx, in, gapwise.Options{Algorithm: name, Settings: model.Settings{Seed: 1}})
			if !errors.Is(err, model.ErrUnsupported) {
				break
			}
		}
		if err == nil && r.Solution == nil {
			fmt.Fprintf(p.err, "gapwise: gantt: %s has no solution to draw: %s\n", r.Algorithm, cmp.Or(r.Reason, string(r.Status)))
			err = codeError(codeOf(r, ctx.Err() != nil))
		}
		return in, r.Solution, r.Algorithm, err
	}
	found, err := readSolutionsOf(ctx, in, solution[0])
	if err != nil {
		return nil, nil, "", err
	}
	in = asSolved(c, in, firstSolution(found))
	hash, err := model.Hash(in)
	if err != nil {
		return nil, nil, "", err
	}
	f, err := pick(solution[0], found, c.String("algorithm"), hash)
	if err != nil {
		return nil, nil, "", err
	}
	if s = f.solution; f.result != nil {
		by = f.result.Algorithm
	}
	report, err := verify.Verify(ctx, in, s, verify.Options{})
	if err != nil {
		return nil, nil, "", err
	}
	if err := report.Err(); err != nil {
		return nil, nil, "", fmt.Errorf("%s: %w", instances.Label(solution[0]), err)
	}
	return in, s, by, nil
}

// interruptible returns a writer that gives up when the context ends; what it
// was writing is then lost.
func interruptible(ctx context.Context, write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		var b bytes.Buffer
		err := unlessStopped(ctx, func() error { return write(&b) })
		if err == nil {
			_, err = w.Write(b.Bytes())
		}
		return err
	}
}

// unlessStopped does something, but doesn't wait for it when the context ends.
func unlessStopped(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("stopped: %w", ctx.Err())
	}
}
