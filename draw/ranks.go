// SPDX-License-Identifier: MIT

package draw

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/gapwise/gapwise/internal/core/scene"
	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/model"
)

// Ranking is a part of a picture of Ranks: algorithms with their mean ranks, ascending, from 1 to their number.
type Ranking struct {
	Heading string
	Names   []string
	Ranks   []float64
	// Distance is the critical difference of two ranks.
	Distance float64
	// Cliques are the first and the last of each set that a bar joins.
	Cliques [][2]int
}

// Sizes of a picture of ranks, in points.
const (
	rankRow    = 15.0  // a name
	rankTop    = 52.0  // heading and distance, above an axis
	cliqueGap  = 6.0   // between bars
	leastRanks = 200.0 // of the picture's width
)

// Ranks draws critical-difference diagrams (Demšar: Statistical Comparisons of Classifiers over Multiple Data Sets, 2006,
// Figure 1), one below the other. Each has an axis of mean ranks, the best at its left, with the critical difference
// above it; a bar below it joins the algorithms of a clique. Lines lead to the names, the better half at the left, the
// outer ones higher. Names that are too long are cut in their middle.
//
// Unknown formats are errFormat. Fewer than two algorithms, ranks that don't ascend from 1 to their number, and cliques
// of other algorithms are model.ErrInvalid. O(A) for A algorithms.
func Ranks(w io.Writer, style Style, title, axis string, all []Ranking) error {
	if err := style.check(); err != nil {
		return err
	}
	title = scene.Clean(title)
	f, width, height, widest := newFace(labelSize, false), curvesWidth, titleEnd(title)+rankRow, 0.0
	if style.Width > 0 {
		width = style.width()
	}
	for k := range all {
		r := &all[k]
		if err := r.check(); err != nil {
			return err
		}
		for i := range r.Names {
			widest = max(widest, f.width(r.label(i, scene.Clean(r.Names[i]))))
		}
		height += r.height()
	}
	side := min(widest+8, 0.3*width) // of the names
	if width < leastRanks {
		return style.tooSmall("width", leastRanks)
	}
	if style.Height > 0 {
		if style.height() < height {
			return style.tooSmall("height", height)
		}
		height = style.height()
	}
	return style.picture(w, title, width, height, func(p pen) {
		y := p.title(title, width)
		for k := range all {
			p.ranking(&all[k], margin+side, width-margin-side, y)
			y += all[k].height()
		}
		p.text(f, paleInk, width/2, y+rankRow-margin, 0.5, f.clip(axis, width-2*margin))
	})
}

// check reports what can't be drawn.
func (r *Ranking) check() error {
	n := len(r.Names)
	bad := n < 2 || len(r.Ranks) != n || !slices.IsSorted(r.Ranks) || !(r.Ranks[0] >= 1 && r.Ranks[n-1] <= float64(n)) || !(r.Distance > 0 && r.Distance <= scene.MaxTime)
	for _, c := range r.Cliques {
		bad = bad || c[0] < 0 || c[0] >= c[1] || c[1] >= n
	}
	if bad {
		return fmt.Errorf("draw: %w ranking %+v, must be of two or more names with ascending ranks from 1 to their number", model.ErrInvalid, *r)
	}
	return nil
}

// label returns a name with its mean rank, which is next to the lines.
func (r *Ranking) label(i int, name string) string {
	rank := strconv.FormatFloat(r.Ranks[i], 'f', 2, 64)
	if r.left(i) {
		return name + "  " + rank
	}
	return rank + "  " + name
}

// left reports whether a name is at the left.
func (r *Ranking) left(i int) bool { return i < (len(r.Names)+1)/2 }

// height returns the height of the diagram.
func (r *Ranking) height() float64 {
	return rankTop + r.bars() + rankRow*float64((len(r.Names)+1)/2) + rankRow
}

// bars returns the height of the bars of cliques, and of the room around them.
func (r *Ranking) bars() float64 { return cliqueGap * float64(len(r.Cliques)+2) }

// ranking draws a diagram whose axis goes from left to right, from y down.
func (p pen) ranking(r *Ranking, left, right, y float64) {
	f, small, bold := newFace(labelSize, false), newFace(axisSize, false), newFace(labelSize, true)
	n := len(r.Names)
	high := math.Max(float64(n), 1+r.Distance) // the critical difference has room, too
	at := func(rank float64) float64 { return left + (rank-1)/(high-1)*(right-left) }
	p.text(bold, ink, margin, y+labelSize, 0, bold.clip(scene.Clean(r.Heading), left+right-2*margin))
	// The critical difference.
	cd := y + rankTop - 26
	p.line(ink, 1, at(1), cd, at(1+r.Distance), cd)
	for _, rank := range []float64{1, 1 + r.Distance} {
		p.line(ink, 1, at(rank), cd-3, at(rank), cd+3)
	}
	p.text(small, ink, at(1+r.Distance)+5, cd+axisSize*capHeight/2, 0, "CD = "+strconv.FormatFloat(r.Distance, 'f', 2, 64))
	// The axis.
	y += rankTop
	p.line(paleInk, 0.8, at(1), y, at(float64(n)), y)
	every := 1
	for at(1+float64(every))-at(1) < small.width(strconv.Itoa(n))+6 {
		every++
	}
	for rank := 1; rank <= n; rank++ {
		p.line(paleInk, 0.8, at(float64(rank)), y-3, at(float64(rank)), y)
		if (rank-1)%every == 0 {
			p.text(small, ink, at(float64(rank)), y-5, 0.5, strconv.Itoa(rank))
		}
	}
	// Lines to the names, the better half at the left; those at either end are the highest.
	for i := range r.Names {
		row, end, align, from := i, left, 1.0, left-4
		if !r.left(i) {
			row, end, align, from = n-1-i, right, 0, right+4
		}
		x, below := at(r.Ranks[i]), y+r.bars()+rankRow*(float64(row)+0.5)
		p.line(paleInk, 0.8, x, y, x, below)
		p.line(paleInk, 0.8, x, below, end, below)
		room := left - margin - 4 - f.width(r.label(i, ""))
		p.text(f, ink, from, below+labelSize*capHeight/2, align, r.label(i, f.shorten(scene.Clean(r.Names[i]), room)))
	}
	for k, c := range r.Cliques {
		bar := y + cliqueGap*float64(k+1)
		p.line(theme.Plain, 3, at(r.Ranks[c[0]])-3, bar, at(r.Ranks[c[1]])+3, bar)
	}
}
