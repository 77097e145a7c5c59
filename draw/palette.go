// SPDX-License-Identifier: MIT

package draw

import "github.com/gapwise/gapwise/internal/text/look"

var (
	white      = look.Paper
	ink        = look.Ink  // text
	paleInk    = look.Soft // text of less weight
	gridColour = look.Line
	rowColour  = look.Faint
	linkColour = look.Mix(look.Faint, look.Plain, 0.03) // rows of links
)

// faded is the share of paper in paler colours.
const faded = 0.6

// colour returns the bar's colour, edge its edge's.
func (b *ganttBar) colour() look.Colour {
	c := look.Tint(look.Plain, b.Group)
	switch {
	case b.Critical:
		c = look.Pale(look.Critical)
	case b.Faded:
		c = look.Mix(c, white, faded)
	}
	return c
}

func (b *ganttBar) edge() look.Colour {
	switch {
	case b.Critical:
		return look.Critical
	case b.Faded:
		return look.Mix(look.Plain, white, faded)
	}
	return look.Plain
}
