// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	docs "github.com/urfave/cli-docs/v3"
	"github.com/urfave/cli/v3"
)

func (p *program) man() *cli.Command {
	return &cli.Command{
		Name:      "man",
		Usage:     "print the manual page",
		ArgsUsage: " ",
		Description: "The page is in roff, for man:\n" +
			"gapwise man -o ~/.local/share/man/man1/gapwise.1",
		Flags: []cli.Flag{&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write instead of standard output"}},
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.NArg() > 0 {
				return usagef("man: it takes no files")
			}
			page, err := manual(p.app())
			if err != nil {
				return err
			}
			return p.writeFile(c.String("output"), func(w io.Writer) error { _, err := io.WriteString(w, page); return err })
		},
	}
}

// manual returns the manual page of the program in roff. Descriptions and examples
// keep their lines.
func manual(app *cli.Command) (string, error) {
	cli.FlagStringer = plainFlag // one line each: the page's reader breaks them
	defer func() { cli.FlagStringer = wrappedFlag }()
	app.Description = "```\n" + app.Description + "\n```"
	for _, c := range app.Commands {
		c.UsageText = strings.TrimSpace(fmt.Sprintf("gapwise %s [options] %s", c.Name, strings.TrimSpace(c.ArgsUsage))) + "\n"
		if c.Description != "" {
			c.UsageText += "\n" + strings.TrimRight(c.Description, "\n") + "\n"
		}
		c.UsageText += exampleLines(c.Name, "Examples:", "  ")
	}
	return docs.ToManWithSection(app, 1)
}
