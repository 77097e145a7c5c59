package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/benchmarks"
)

func (p *program) findings() *cli.Command {
	return &cli.Command{
		Name:      "findings",
		Usage:     "check a paper's findings against results",
		ArgsUsage: "RESULTS...",
		Description: "Checks what section 6.2 of the paper on advance reservations says of its\n" +
			"seven policies against the RESULTS of a reservation plan: held or not held,\n" +
			"with the figure that decides.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "by", Usage: "parameters varied together (`LIST`)", DefaultText: "all"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "format: " + strings.Join(benchmarks.Formats, ", ")},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write instead of standard output"},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			records, err := results(c)
			if err != nil {
				return err
			}
			by := list(c, "by")
			if len(by) == 0 {
				by = benchmarks.Varied(records)
			}
			all, err := benchmarks.FindingsOf(records, by)
			if err != nil {
				return err
			}
			t := benchmarks.Table{Header: []string{"", "finding", "measured"}}
			for _, f := range all {
				held := "held"
				if !f.Held {
					held = "not held"
				}
				t.Rows = append(t.Rows, []string{held, f.Text, f.Measured})
			}
			return p.writeFile(c.String("output"), func(w io.Writer) error {
				if c.String("format") != "text" {
					return t.Render(w, c.String("format"))
				}
				for _, r := range t.Rows {
					fmt.Fprintf(w, "%-8s  %s\n          %s\n", r[0], wrap(r[1], 68, 10), wrap(r[2], 68, 10))
				}
				return nil
			})
		},
	}
}
