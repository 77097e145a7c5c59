// SPDX-License-Identifier: MIT

package draw

import (
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/internal/text/look"
	"github.com/gapwise/gapwise/model"
)

// tierColours are the colours of the use over time.
var tierColours = [2]look.Colour{look.Busy, look.Background}

// tierHues are the hues of jobs.
var tierHues = [2]look.Colour{look.Plain, look.Background}

func (l *executionLayout) paint(p pen) {
	axis := l.ticks()
	bold := newFace(panelSize, true)
	if !l.Usage {
		for t := range l.tiers {
			l.tiers[t].paint(p, &l.timeAxis, axis)
			if l.in.Tiers == 2 {
				p.text(bold, ink, l.left, l.tiers[t].top-6, 0, []string{"Foreground", "Background"}[t])
			}
		}
		if l.many() {
			l.paintShares(p)
		} else {
			l.paintSegments(p)
		}
	}
	l.usage.paint(p, &l.timeAxis, l.width, axis, l.useText())
	l.timeAxis.paint(p, l.axisY, axis)
	l.late(p, l.axisY, l.beyond, fmt.Sprintf("%d jobs", len(l.in.Jobs)))
}

// useText returns the mean use as text.
func (l *executionLayout) useText() string {
	foreground, background := l.usage.means(&l.timeAxis)
	text := fmt.Sprintf("%.1f %% on average", foreground)
	if l.in.Tiers == 2 {
		text += fmt.Sprintf(" in the foreground, %.1f %% in the background", background)
	}
	return text
}

// boxes returns the rectangles of a segment.
func (l *executionLayout) boxes(s *placed) (all []rect) {
	for from := 0; from < len(s.processors); {
		to := from
		for to+1 < len(s.processors) && s.processors[to+1] == s.processors[to]+1 {
			to++
		}
		all = append(all, l.tiers[s.tier].box(&l.timeAxis, int(s.processors[from]), int(s.processors[to]), s.start, s.end, l.texture()))
		from = to + 1
	}
	return all
}

// paintSegments draws each segment.
func (l *executionLayout) paintSegments(p pen) {
	if l.texture() {
		var shapes [2][2 * look.Tints][]rect // of each tier, first what is lost
		for i := range l.segments {
			s := &l.segments[i]
			g := s.job % look.Tints
			if !s.lost {
				g += look.Tints
			}
			shapes[s.tier][g] = append(shapes[s.tier][g], l.boxes(s)...)
		}
		for tier := range shapes {
			p.texture(tierHues[tier], shapes[tier][:])
		}
		return
	}
	for i := range l.segments {
		s := &l.segments[i]
		boxes, hue, text := l.boxes(s), tierHues[s.tier], ink
		if s.lost {
			text = paleInk
			p.fill(white, boxes...)
			for _, r := range boxes {
				p.dashed(hue, r)
			}
		} else {
			p.filled(look.Tint(hue, s.job), hue, boxes)
		}
		p.labelEach(clean(l.in.Jobs[s.job].ID), text, boxes)
	}
}

// paintShares draws the share in use of fields of some processors and some time.
func (l *executionLayout) paintShares(p pen) {
	columns := int((l.right - l.left) / cellSize)
	first, n := l.tiers[0].first, l.tiers[0].n
	rows := max(min(n, int((l.tiers[0].bottom-l.tiers[0].top)/cellSize)), 1)
	row := func(processor int32) int { return (int(processor) - first) * rows / n }
	size := make([]float64, rows) // processors
	for k := range n {
		size[row(int32(first+k))]++
	}
	used := make([][]float64, l.in.Tiers) // of tier, row and column
	for t := range used {
		used[t] = make([]float64, rows*columns)
	}
	length := (l.high - l.low) / float64(columns)
	for i := range l.segments {
		s := &l.segments[i]
		from, to := (s.start-l.low)/length, (s.end-l.low)/length
		for c := max(int(from), 0); c < columns && float64(c) < to; c++ {
			share := min(to, float64(c+1)) - max(from, float64(c))
			for _, k := range s.processors {
				used[s.tier][row(k)*columns+c] += share
			}
		}
	}
	wide := (l.right - l.left) / float64(columns)
	for t, cells := range used {
		high := (l.tiers[t].bottom - l.tiers[t].top) / float64(rows)
		shapes := make([][]rect, len(look.Shares))
		for r := range rows {
			last := 0
			for c := range columns {
				class := heatOf(cells[r*columns+c] / size[r])
				if all := shapes[class]; c > 0 && class == last {
					all[len(all)-1].w += wide
				} else {
					shapes[class] = append(all, rect{l.left + wide*float64(c), l.tiers[t].bottom - high*float64(r+1), wide, high})
				}
				last = class
			}
		}
		for class, all := range shapes {
			if class > 0 {
				p.fill(look.Shares[class], all...)
			}
		}
	}
}

// legendOf explains the colours.
func (l *executionLayout) legendOf() (all legendEntries) {
	switch {
	case l.Usage: // no segments are drawn
	case l.many():
		for class, text := range shareTexts("nothing in use") {
			if class > 0 {
				all.area(text, look.Shares[class])
			} else {
				all.area(text, rowColour)
			}
		}
	case slices.ContainsFunc(l.segments, func(s placed) bool { return s.lost }):
		all.add("killed, its work is lost", func(p pen, r rect) {
			if l.texture() {
				p.fill(look.Mix(look.Busy, white, faded), r)
			} else {
				p.dashed(paleInk, r)
			}
		})
	}
	uses := func(f func(model.UsageStep) float64) bool {
		return slices.ContainsFunc(l.usage.steps, func(s model.UsageStep) bool { return f(s) > 0 })
	}
	if uses(func(s model.UsageStep) float64 { return s.Background }) {
		all.area("in use in the foreground", tierColours[0])
		all.area("in the background", tierColours[1])
	} else {
		all.area("in use", tierColours[0])
	}
	if uses(func(s model.UsageStep) float64 { return s.Waiting }) {
		all.area("waiting", waitingColour)
	}
	all.area("maximum, paler than the mean", look.Mix(tierColours[0], white, 0.5))
	return all
}
