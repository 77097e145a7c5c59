// SPDX-License-Identifier: MIT

package draw

import (
	"image/color"
	"math"
)

// palette is Paul Tol's "light" scheme without its grey: distinct in all the
// common colour vision deficiencies and light enough for dark labels (his
// technical note SRON/EPS/TN/09-002, section 2). Neighbours differ most.
var palette = []color.RGBA{
	hex(0x77AADD), hex(0xEE8866), hex(0x44BB99), hex(0xEEDD88), hex(0xFFAABB), hex(0xAAAA00), hex(0x99DDFF), hex(0xBBCC33),
}

// busyColours holds the colours of the shares of heat for what is to be high: busy
// time (ColorBrewer's Blues, whose order all see, in print, too).
var busyColours = [len(heat)]color.RGBA{hex(0xF5F5F5), hex(0xBDD7E7), hex(0x6BAED6), hex(0x3182BD), hex(0x08519C)}

// Colours is the number of colours for groups; group g has the colour of group
// g + Colours.
const Colours = 8

var (
	white      = hex(0xFFFFFF)
	ink        = hex(0x111111) // text
	paleInk    = hex(0x555555) // text of less weight
	gridColour = hex(0xDADADA)
	rowColour  = hex(0xF5F5F5)
	linkColour = hex(0xEAEEF3) // rows of links
	markColour = hex(0x333333)
	boundInk   = hex(0xA34700) // text about bounds: realisticColour, darker
)

func hex(rgb uint32) color.RGBA {
	return color.RGBA{uint8(rgb >> 16), uint8(rgb >> 8), uint8(rgb), 255}
}

// colour returns the bar's colour.
func (b *ganttBar) colour() color.RGBA {
	c := palette[((b.Group%Colours)+Colours)%Colours]
	if b.Faded {
		return mix(c, white, 0.6)
	}
	return c
}

// mix returns a colour between a and b: the given share of b, the rest of a.
func mix(a, b color.RGBA, share float64) color.RGBA {
	m := func(x, y uint8) uint8 { return uint8(math.Round(float64(x)*(1-share) + float64(y)*share)) }
	return color.RGBA{m(a.R, b.R), m(a.G, b.G), m(a.B, b.B), 255}
}
