// SPDX-License-Identifier: MIT

package main

import (
	"context"
	_ "embed"
	"io"

	"github.com/urfave/cli/v3"
)

// manual is the manual page of the program in roff, which TestManual writes: what makes it of the commands
// is a library that the program itself has no other use for.
//
//go:embed gapwise.1
var manual string

func (p *program) man() *cli.Command {
	return &cli.Command{
		ArgsUsage: " ",
		Description: "The page is in roff, for man:\n" +
			"gapwise man -o ~/.local/share/man/man1/gapwise.1",
		Flags: []cli.Flag{&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write instead of standard output"}},
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.NArg() > 0 {
				return usagef("man: it takes no files")
			}
			return p.writeFile(c.String("output"), func(w io.Writer) error { _, err := io.WriteString(w, manual); return err })
		},
	}
}
