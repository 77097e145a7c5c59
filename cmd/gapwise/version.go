// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
)

func (p *program) version() *cli.Command {
	return &cli.Command{
		ArgsUsage: " ",
		Description: "Prints gapwise's version, its commit (+dirty: with changes since; unknown:\n" +
			"built without git), the versions of Go and HiGHS, how HiGHS runs, and the\n" +
			"platform. If the file of HiGHS is missing, gapwise has no HiGHS;\n" +
			"scripts/highs fetches it.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print it as JSON"}},
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.NArg() > 0 {
				return usagef("version: it takes no files")
			}
			built := gapwise.Built()
			if c.Bool("json") {
				return writeLines(p.out, built)
			}
			fmt.Fprintf(p.out, "%s\n%s\n", strings.ReplaceAll(built.String(), ", ", "\n"), built.Platform)
			return nil
		},
	}
}
