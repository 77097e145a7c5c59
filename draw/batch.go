// SPDX-License-Identifier: MIT

package draw

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// Sizes in points.
const (
	mostTierHeight = 320.0 // of the processors of a tier
	useHeight      = 130.0
	queueHeight    = 90.0
	cellSize       = 4.0 // of the matrix that shows many jobs
)

// drawExecution draws batch jobs on processors: where each job runs when, the processors in use over time, and the
// number of waiting jobs over time.
//
// The first part shows time from left to right and the processors from bottom to top, with the background's below the
// foreground's. Each segment is one rectangle per range of its processors in the colour of its job, with the job's id
// where it fits. A segment with lost work is white with dashed edges. Above 4000 rectangles there are neither labels
// nor edges, and lost segments are paler. Above maxRectangles it shows instead, in fields of some processors and some
// time, the share that is in use.
//
// An area below shows the mean over each half point of the time axis, and paler the
// maximum. A job waits while it is submitted, hasn't ended and is in no segment.
//
// The axis ends soon after the first half of the time if nine tenths of the segments end in it, unless o.To says where.
// If o.Usage is set, there are the curves alone.
//
// Unknown formats are errFormat. The error is model.ErrInvalid if the instance is invalid, if e isn't a solution of it,
// if it names processors that don't exist, or a segment ends before it starts. The picture has 1440 × 1170 points at
// most. O(R log R) for R processors in all segments.
func drawExecution(w io.Writer, o Options, title string, in *model.Batch, e *model.Execution) error {
	if err := o.drawable(in); err != nil {
		return err
	}
	index, err := in.Index(e)
	if err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	l := &executionLayout{sheet: sheet{Options: o, title: clean(title)}, in: in}
	if err := l.read(e, index); err != nil {
		return err
	}
	if err := l.replay(e); err != nil {
		return err
	}
	if err := l.place(); err != nil {
		return err
	}
	return l.write(w, l.paint)
}

// executionTitle says how good the execution is.
func executionTitle(in *model.Batch, _ *model.Execution, o model.Objective, bound string) string {
	title := fmt.Sprintf("%d jobs, response %.5g s%s, bounded slowdown %.4g", len(in.Jobs), o.Value, bound, o.Second)
	for i, what := range []string{"migrations", "kills"} {
		if n := o.Others[1+i]; n > 0 {
			title += fmt.Sprintf(", %s %.0f", what, n)
		}
	}
	return title
}

// executionLayout holds the drawing's parts and places.
type executionLayout struct {
	timeAxis
	sheet
	in         *model.Batch
	segments   []placed // by start
	rectangles int
	usage      usage
	beyond     int // jobs that end after the axis

	tiers []processorAxis // foreground, background
	axisY float64
}

// placed is a segment of a job.
type placed struct {
	job, tier  int
	start, end float64
	lost       bool
	processors []int32 // ascending
}

// read checks the segments and lists them.
func (l *executionLayout) read(e *model.Execution, index []int) error {
	bad := func(i int, format string, args ...any) error {
		return fmt.Errorf("draw: %w execution: %q %s", model.ErrInvalid, e.Runs[i].ID, fmt.Sprintf(format, args...))
	}
	for i, k := range index {
		for j := range e.Runs[i].Segments {
			s := &e.Runs[i].Segments[j]
			x := placed{job: k, start: s.StartS, end: s.EndS, lost: s.Lost, processors: slices.Clone(s.Place.Processors)}
			switch {
			case s.Place.Tier == model.TierBackground && l.in.Tiers == 2:
				x.tier = 1
			case s.Place.Tier != model.TierForeground:
				return bad(i, "is in tier %q, there are %d tiers", s.Place.Tier, l.in.Tiers)
			}
			if x.end < x.start {
				return bad(i, "runs from %v to %v, must not end before it starts", x.start, x.end)
			}
			slices.Sort(x.processors)
			for c, p := range x.processors {
				switch {
				case p < 0 || int(p) >= l.in.Processors:
					return bad(i, "is on processor %d, there are 0 to %d", p, l.in.Processors-1)
				case c > 0 && p == x.processors[c-1]:
					return bad(i, "is on processor %d twice", p)
				}
			}
			l.segments = append(l.segments, x)
		}
	}
	slices.SortStableFunc(l.segments, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.job, b.job))
	})
	return nil
}

// replay computes the span of time, the use over it, and the visible parts of the segments.
func (l *executionLayout) replay(e *model.Execution) error {
	low := math.Inf(1)
	var ends []float64
	end := make([]float64, len(l.in.Jobs))
	for k := range l.in.Jobs {
		end[k] = l.in.Jobs[k].SubmitS
		low, ends = min(low, end[k]), append(ends, end[k])
	}
	for i := range l.segments {
		s := &l.segments[i]
		low, ends = min(low, s.start), append(ends, s.end)
		end[s.job] = max(end[s.job], s.end)
	}
	l.start = model.StartTime(l.in)
	if err := l.span(&l.timeAxis, low, ends, len(l.segments) > 10); err != nil {
		return err
	}
	for k := range end {
		if end[k] > l.high && l.From == nil && l.To == nil {
			l.beyond++
		}
	}
	use, err := model.UsageOf(l.in, e)
	if err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	l.usage = usage{steps: l.within(use.Steps), of: l.in.Processors, what: "Processors", waiting: "Waiting jobs, over time", colours: tierColours}

	first, last, err := l.rows(l.in.Processors, "processor")
	if err != nil {
		return err
	}
	l.segments = slices.DeleteFunc(l.segments, func(s placed) bool { return !l.shows(s.start, s.end) })
	for i := range l.segments {
		s := &l.segments[i]
		s.processors = slices.DeleteFunc(s.processors, func(p int32) bool { return int(p) < first || int(p) > last })
		for c, p := range s.processors {
			if c == 0 || p > s.processors[c-1]+1 {
				l.rectangles++
			}
		}
	}
	return nil
}

// texture reports whether there are neither labels nor edges.
func (l *executionLayout) texture() bool { return l.rectangles > textureBars }

// many reports whether shares are shown instead of segments.
func (l *executionLayout) many() bool { return l.rectangles > maxRectangles }

// place sets the sizes: as wide as most ids need to fit, within limits.
func (l *executionLayout) place() error {
	f := newFace(labelSize, false)
	want := maxWidth
	if !l.texture() {
		var wanted []float64
		for i := range l.segments {
			if s := &l.segments[i]; s.end > s.start {
				wanted = append(wanted, (f.width(clean(l.in.Jobs[s.job].ID))+6)/(s.end-s.start)*(l.high-l.low))
			}
		}
		want = mostFit(wanted)
	}
	first, last, err := l.rows(l.in.Processors, "processor")
	if err != nil {
		return err
	}
	high := min(peHeight*float64(last-first+1), mostTierHeight)
	column := newFace(axisSize, false).width("1000000")
	for range l.in.Tiers {
		l.tiers = append(l.tiers, newProcessorAxis("processor", first, last, high))
		column = max(column, l.tiers[0].column)
	}
	l.left = math.Ceil(margin + column + 8)
	if l.Usage {
		want = narrowest
	}
	if l.right, err = l.across(l.left, want); err != nil {
		return err
	}
	return l.lay(l.right, l.legendOf, func(stretch float64) float64 {
		y := titleEnd(l.title) + l.legendHeight()
		for t := range l.tiers {
			if l.Usage {
				break
			}
			l.tiers[t] = newProcessorAxis("processor", first, last, high*stretch)
			y = l.tiers[t].put(y + 4)
		}
		l.axisY = l.usage.place(y, stretch) + 4
		return math.Ceil(l.axisY + axisHeight + margin/2)
	})
}
