// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/internal/papers"
	"github.com/gapwise/gapwise/internal/runs"
	"github.com/gapwise/gapwise/internal/words"
)

func (p *program) findings() *cli.Command {
	return &cli.Command{
		Name:      "findings",
		Usage:     "check a paper's findings against results",
		ArgsUsage: "RESULTS...",
		Description: "Checks what a paper says of its experiments against the RESULTS of a plan:\n" +
			"of batch sections 3.4 and 3.5 (Figures 6 to 14), of dag sections 6.3 to 6.5\n" +
			"(Tables 3 to 8; graphs of a daggen file), of reservation section 6.2\n" +
			"(seven policies), of tvc section 5.3 (Figures 4 to 8), of vcsched sections\n" +
			"4.2 and 5.2. Each finding is held, not held or undecided, with the figure\n" +
			"that decides: runs are compared in pairs (two algorithms on one instance, or\n" +
			"one algorithm on one draw at two points), and a difference counts if its\n" +
			"95 % confidence interval by Student's t doesn't contain 0.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "by", Usage: "parameters varied together (`LIST`)", DefaultText: "all that vary, or the paper's"},
			instancesFlag(),
			&cli.StringFlag{Name: "format", Value: "text", Usage: "format: " + strings.Join(runs.Formats, ", ")},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write instead of standard output"},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			records, err := p.results(c)
			if err != nil {
				return err
			}
			all, err := papers.FindingsOf(records, list(c, "by"))
			if err != nil {
				return err
			}
			t := papers.Tabulate(all)
			return p.writeFile(c.String("output"), func(w io.Writer) error {
				if c.String("format") != "text" {
					return t.Render(w, c.String("format"))
				}
				for _, r := range t.Rows {
					fmt.Fprintf(w, "%-9s  %s\n           %s\n", r[0], words.Wrap(r[1], 67, 11), words.Wrap(r[2], 67, 11))
				}
				return nil
			})
		},
	}
}
