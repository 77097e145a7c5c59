package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func (p *program) gantt() *cli.Command {
	return &cli.Command{
		Name:      "gantt",
		Usage:     "draw a dag's schedule as SVG or PNG",
		ArgsUsage: "INSTANCE [SOLUTION]",
		Description: "Machines are rows, the links with their transfers beneath. Under contention\n" +
			"the same plan without contention stands above. Without a SOLUTION the\n" +
			"instance is solved first.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` that ends in .svg or .png"},
			&cli.StringFlag{Name: "algorithm", Aliases: []string{"a"}, Value: "heft", Usage: "without a SOLUTION"},
			transfersFlag, platformFlag,
		},
		Action: func(c *cli.Context) error {
			paths := c.Args().Slice()
			if len(paths) < 1 || len(paths) > 2 {
				return usagef("gantt: give an instance and perhaps a solution, there are %d arguments", len(paths))
			}
			format, err := pictureFormat(c, paths)
			if err != nil {
				return err
			}
			in, err := load(c, paths[0])
			if err != nil {
				return err
			}
			d, ok := in.(*model.DAG)
			if !ok {
				return fmt.Errorf("gantt: %w: no picture for %s", model.ErrUnsupported, in.Kind())
			}
			s, err := p.scheduleOf(c, d, paths[1:])
			if err != nil {
				return err
			}
			panels, err := ganttPanels(d, s)
			if err != nil {
				return err
			}
			return p.writeFile(c.String("output"), func(w io.Writer) error { return draw.Gantt(w, format, d.Name, panels) })
		},
	}
}

// pictureFormat is svg or png by the output's name.
func pictureFormat(c *cli.Context, inputs []string) (string, error) {
	output := c.String("output")
	format := strings.ToLower(strings.TrimPrefix(filepath.Ext(output), "."))
	if format != "svg" && format != "png" {
		return "", usagef("%s: give the picture with -o FILE.svg or FILE.png", c.Command.Name)
	}
	return format, checkOutput(output, inputs)
}

// scheduleOf reads the solution file, if there is one, or solves; either way
// the judge looks at the schedule.
func (p *program) scheduleOf(c *cli.Context, d *model.DAG, solution []string) (*model.Schedule, error) {
	if len(solution) == 0 {
		r, err := gapwise.Solve(c.Context, d, gapwise.Options{Algorithm: c.String("algorithm"), Settings: model.Settings{Seed: 1}})
		if err != nil {
			return nil, err
		}
		s, ok := r.Solution.(*model.Schedule)
		if !ok {
			return nil, fmt.Errorf("gantt: %w", model.ErrNoSolution)
		}
		return s, nil
	}
	data, err := instances.ReadFile(solution[0])
	if err != nil {
		return nil, err
	}
	_, any, err := decodeSolution(solution[0], data)
	if err != nil {
		return nil, err
	}
	if c.String("transfers") == "" {
		adopt(d, any)
	}
	report, err := verify.Verify(d, any, verify.Options{})
	if err != nil {
		return nil, err
	}
	if err := report.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", instances.Label(solution[0]), err)
	}
	return any.(*model.Schedule), nil
}

// ganttPanels are the schedule's panel and, under contention, above it that of
// its plan without.
func ganttPanels(d *model.DAG, s *model.Schedule) ([]draw.Panel, error) {
	panel := func(d *model.DAG, s *model.Schedule) (draw.Panel, error) {
		arrived, err := verify.Arrivals(d, s)
		if err != nil {
			return draw.Panel{}, err
		}
		x, err := draw.Schedule(d, s, arrived)
		if err != nil {
			return x, err
		}
		o, err := d.Objective(s)
		x.Title = fmt.Sprintf("transfers: %s, makespan %s", d.Transfers(), figure(o.Value))
		return x, err
	}
	real, err := panel(d, s)
	if err != nil || d.Transfers() == model.TransferIdeal {
		return []draw.Panel{real}, err
	}
	ideal := *d
	ideal.TransferModel = model.TransferIdeal
	g := ideal.Graph()
	plan, err := dag.PlanOf(d, g, s)
	if err != nil {
		return nil, err
	}
	r := dag.NewReplay(g)
	r.Run(plan, nil)
	free, err := panel(&ideal, ideal.Schedule(plan.Machine, r.Start, r.Sent))
	return []draw.Panel{free, real}, err
}
