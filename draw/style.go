// SPDX-License-Identifier: MIT

package draw

import (
	"fmt"
	"math"

	"github.com/gapwise/gapwise/model"
)

// Style says how a picture looks. Its zero value is right except for the format: a picture as large as its content
// needs, with labels of 9 points.
type Style struct {
	Format string // "svg", "png" or "pdf"
	// Width and Height are the size of the picture in points (1/72 inch); 0: as its content needs. Pictures over time
	// fill the given size.
	Width, Height float64
	// FontSize is the size of the labels, in points; 0 means 9. Everything else grows with it, except for a given width
	// and height.
	FontSize float64
	// DPI is the resolution of a PNG in pixels per inch; 0 means 144.
	DPI float64
	// MostPixels is how many pixels a PNG may have; 0 means 200 million.
	MostPixels float64
	// Dark draws on dark paper. Otherwise the paper is light, but an SVG is dark where
	// the reader's system or the page around it is.
	Dark bool
}

// Formats lists the formats of pictures.
var Formats = []string{formatSVG, formatPNG, formatPDF}

// PointsPerMM converts millimetres.
const PointsPerMM = 72 / 25.4

// Limits of Style. Letters below two points can't be read, and no picture needs
// more pixels than mostPixels.
const (
	leastFont, mostFont = 2.0, 72.0
	leastSide, mostSide = 50.0, 15_000.0 // points
	leastDPI, mostDPI   = 10.0, 2400.0
	mostPixels          = 200e6
)

// check reports the parts of a style that can't be. The error is errFormat or
// model.ErrInvalid.
func (s Style) check() error {
	switch s.Format {
	case formatSVG, formatPNG, formatPDF:
	default:
		return fmt.Errorf("draw: %w %q, must be svg, png or pdf", errFormat, s.Format)
	}
	for _, x := range []struct {
		name            string
		is, least, most float64
		unit            string
		size            float64 // of the unit
	}{
		{"width", s.Width, leastSide, mostSide, "mm", PointsPerMM},
		{"height", s.Height, leastSide, mostSide, "mm", PointsPerMM},
		{"font size", s.FontSize, leastFont, mostFont, "pt", 1}, {"resolution", s.DPI, leastDPI, mostDPI, "dpi", 1},
	} {
		if x.is != 0 && !(x.is >= x.least && x.is <= x.most) {
			return fmt.Errorf("draw: %w picture: the %s is %.4g %s, must be from %.4g to %.4g", model.ErrInvalid,
				x.name, x.is/x.size, x.unit, math.Ceil(x.least/x.size), math.Floor(x.most/x.size))
		}
	}
	return nil
}

// zoom returns the size of a point of the layout, in which labels have labelSize, in points of the picture.
func (s Style) zoom() float64 {
	if s.FontSize == 0 {
		return 1
	}
	return s.FontSize / labelSize
}

// width and height return the layout's given size, in its points; 0 if it is to choose.
func (s Style) width() float64  { return s.Width / s.zoom() }
func (s Style) height() float64 { return s.Height / s.zoom() }

// across returns the right end of an axis that begins at left and would like to
// be so long. It leaves margins at its right.
func (s Style) across(left, want float64) (float64, error) {
	if s.Width == 0 {
		return left + math.Ceil(min(max(want, narrowest), maxWidth-left-2*margin)), nil
	}
	right := s.width() - 2*margin
	if least := left + 0.2*narrowest; right < least {
		return 0, s.tooSmall("width", least+2*margin)
	}
	return right, nil
}

// tooSmall returns an error with the least length of a side, in points of the layout.
func (s Style) tooSmall(side string, least float64) error {
	is := map[string]float64{"width": s.Width, "height": s.Height}[side]
	return fmt.Errorf("draw: %w picture: the %s is %.4g mm, its letters of %.3g pt need %.4g mm; give more or a smaller font",
		model.ErrInvalid, side, is/PointsPerMM, labelSize*s.zoom(), math.Ceil(least*s.zoom()/PointsPerMM))
}

// fill places a layout so that it has the given height, or at most maxHeight. Place lays it out with its stretchable
// parts so many times as high as they would like to be. It returns the height, which grows linearly, and may be called
// several times.
func (s Style) fill(place func(stretch float64) (height float64)) (height float64, err error) {
	const least = 0.15
	natural, want := place(1), s.height()
	if s.Height == 0 {
		want = min(natural, maxHeight)
	}
	fixed := place(0)
	if natural <= fixed {
		return natural, nil
	}
	stretch := (want - fixed) / (natural - fixed)
	if s.Height > 0 && stretch < least {
		return 0, s.tooSmall("height", fixed+least*(natural-fixed))
	}
	place(stretch)
	return want, nil
}
