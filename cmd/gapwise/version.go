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
		Name:        "version",
		Usage:       "print what this gapwise was built from",
		ArgsUsage:   " ",
		Description: "Prints gapwise's version, its commit (+dirty: with changes since; unknown:\nbuilt without git), and the versions of Go and HiGHS.",
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.NArg() > 0 {
				return usagef("version: it takes no files")
			}
			fmt.Fprintln(p.out, strings.ReplaceAll(gapwise.Built().String(), ", ", "\n"))
			return nil
		},
	}
}
