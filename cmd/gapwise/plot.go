package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

func (p *program) plot() *cli.Command {
	return &cli.Command{
		Name:      "plot",
		Usage:     "draw the rounds of the network-aware HEFT",
		ArgsUsage: "RESULT",
		Description: "RESULT is what gapwise solve --algorithm network-aware -o writes; its trace\n" +
			"holds the makespan of every round, as planned and as realised.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` that ends in .svg or .png"},
		},
		Action: func(c *cli.Context) error {
			paths, err := files(c, 1)
			if err != nil {
				return err
			}
			format, err := pictureFormat(c, paths)
			if err != nil {
				return err
			}
			data, err := instances.ReadFile(paths[0])
			if err != nil {
				return err
			}
			r, err := model.DecodeResult(data)
			if err == nil && len(r.Trace) == 0 {
				err = fmt.Errorf("%w result: it has no trace of rounds, solve with --algorithm network-aware under contention", model.ErrInvalid)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", instances.Label(paths[0]), err)
			}
			title := fmt.Sprintf("%s, %s", r.Instance, r.Algorithm)
			return p.writeFile(c.String("output"), func(w io.Writer) error { return draw.Rounds(w, format, title, r.Trace) })
		},
	}
}
