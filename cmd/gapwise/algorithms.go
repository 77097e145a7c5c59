// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/ask"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

func (p *program) algorithms() *cli.Command {
	return &cli.Command{
		ArgsUsage: "[KIND...]",
		Description: "The algorithms form three groups, which no table of gapwise ranks against\n" +
			"each other. Online policies decide with what is known at that time. Offline\n" +
			"heuristics see the whole instance. Yardsticks (clairvoyant or exact) measure\n" +
			"the others; auto and exact run yardsticks. A program (cmd:COMMAND) gets the\n" +
			"whole file, so it is offline, even in problems with online policies.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print one object per line"}},
		Action: func(ctx context.Context, c *cli.Command) error {
			kinds := model.Kinds()
			if c.NArg() > 0 {
				kinds = nil
			}
			for _, name := range c.Args().Slice() {
				kind := model.Kind(name)
				if !slices.Contains(model.Kinds(), kind) {
					return usagef("algorithms: %q is no problem, give one of %q", name, model.Kinds())
				}
				kinds = append(kinds, kind)
			}
			for _, kind := range kinds {
				if c.Bool("json") {
					if err := writeLines(p.out, ask.Algorithms(kind).Algorithms...); err != nil {
						return err
					}
					continue
				}
				fmt.Fprintf(p.out, "%s\n", kind)
				name := 0 // the width of the column
				for _, a := range gapwise.Algorithms(kind) {
					name = max(name, len(a.Name))
				}
				for _, class := range model.Classes() {
					first := true
					for _, a := range gapwise.Algorithms(kind) {
						if a.Class != class {
							continue
						}
						if first {
							fmt.Fprintf(p.out, " %s\n", runs.GroupOf(class))
							first = false
						}
						summary := a.Summary
						if a.Exact {
							summary = "exact: " + summary
						}
						fmt.Fprintf(p.out, "  %-*s %s\n", name, a.Name, words.Wrap(summary, 76-name, name+3))
						fmt.Fprintf(p.out, "  %-*s %s\n", name, "", words.Wrap(a.Complexity, 76-name, name+3))
						fmt.Fprintf(p.out, "  %-*s %s\n", name, "", words.Wrap(a.Paper, 76-name, name+3))
					}
				}
			}
			if !c.Bool("json") {
				fmt.Fprintf(p.out, "of your own (docs/how-to/bring-your-own.md)\n")
				own := [][2]string{
					{"cmd:COMMAND", "an offline heuristic that is a program, as in cmd:'python3 mine.py {in} {out}'"},
					{strings.Join(gapwise.Externals(), ", "), "engines that solve MPS files, if their programs are installed"},
					{"mps:COMMAND", "such an engine that is any command, as in mps:'solver {in} {out}'"},
				}
				if slices.ContainsFunc(kinds, hasPolicies) {
					name := "online:COMMAND"
					if slices.Contains(kinds, model.KindBatch) {
						name += ", batsim:tcp://HOST:PORT"
					}
					own = slices.Insert(own, 0, [2]string{name, "an online policy that is another program, as in online:'python3 mine.py'"})
				}
				for _, x := range own {
					fmt.Fprintf(p.out, "  %s\n    %s\n", x[0], words.Wrap(x[1], 74, 4))
				}
			}
			return nil
		},
	}
}
