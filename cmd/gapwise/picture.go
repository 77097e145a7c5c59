// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"
	"golang.org/x/term"

	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// ganttFileFlags are the flags for the look of a picture in a file.
var ganttFileFlags = []string{"from", "to", "pes", "usage", "only", "no-links", "at", "width", "height", "font-size", "dpi"}

// inCharacters reports whether a gantt is for the terminal: without a file to write.
func inCharacters(c *cli.Command) bool {
	for _, f := range ganttFileFlags {
		if c.IsSet(f) {
			return false
		}
	}
	return !c.IsSet("output")
}

// terminalGantt prints a solution in characters, as wide as the terminal.
func (p *program) terminalGantt(ctx context.Context, c *cli.Command, in model.Instance, solution []string) error {
	d, err := p.solutionOf(ctx, c, in, solution)
	if err != nil {
		return err
	}
	if d.s == nil {
		return usagef("gantt: there is a conflict to draw and no solution: give the picture with -o FILE.svg, FILE.png or FILE.pdf")
	}
	o, err := d.in.Objective(d.s)
	if err != nil {
		return err
	}
	title := fmt.Sprintf("%s, %s", d.in.ID(), measured(d.in.Metrics()[0], o.Value))
	if d.by != "" {
		title = d.by + " on " + title
	}
	if d.bound != nil {
		title += ", bound " + figure(*d.bound)
	}
	return interruptible(ctx, func(w io.Writer) error {
		fmt.Fprintln(w, words.Wrap(title, p.columns()-2, 2))
		return draw.Terminal(w, p.columns(), draw.Frame{Instance: d.in, Solution: d.s})
	})(p.out)
}

// columns returns the width of the terminal, 80 without one.
func (p *program) columns() int {
	if f := fileOf(p.out); f != nil {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}
