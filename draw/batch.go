package draw

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"

	"github.com/gapwise/gapwise/model"
)

// Sizes in points.
const (
	mostTierHeight = 320.0 // of the processors of a tier
	useHeight      = 130.0
	queueHeight    = 90.0
	cellSize       = 4.0 // of the matrix that shows many jobs
)

// Execution draws batch jobs on processors: who is where when, the processors in
// use over time, and the number of waiting jobs over time.
//
// The first part shows time from left to right and the processors from bottom to
// top, those of the background by themselves below the foreground. Each segment is
// one rectangle per range of its processors in the colour of its job, with the job's
// id where it fits. A segment whose work is lost is white with dashed edges. Above
// 4000 rectangles there are neither labels nor edges, and what is lost is paler.
// Above MaxRectangles it shows instead, in fields of some processors and some time,
// the share that is in use.
//
// An area below shows the mean over each half point of the time axis, and paler the
// maximum. A job waits while it is submitted, hasn't ended and is in no segment.
//
// Format is "svg" or "png"; another one is ErrFormat. The error is model.ErrInvalid
// if the instance is invalid, if e isn't a solution of it, if it names processors
// that don't exist, or a segment ends before it starts. The picture has 1440 × 1170
// points at most. O(R log R) for R processors in all segments.
func Execution(w io.Writer, format, title string, in *model.Batch, e *model.Execution) error {
	if err := checkFormat(format); err != nil {
		return err
	}
	if err := in.Validate(); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	index, err := in.Index(e)
	if err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	l := &executionLayout{in: in, title: clean(title)}
	if err := l.read(e, index); err != nil {
		return err
	}
	l.replay()
	l.place()
	c := newCanvas(format, l.width, l.height)
	l.paint(c.pen())
	return c.write(w, l.title)
}

// executions draws the execution of the first frame.
func executions(w io.Writer, format, by string, frames []Frame) error {
	in, ok := frames[0].Instance.(*model.Batch)
	e, isExecution := frames[0].Solution.(*model.Execution)
	if !ok || !isExecution {
		return wrongFrame(frames[0], "executions")
	}
	o, err := in.Objective(e)
	if err != nil {
		return err
	}
	title := fmt.Sprintf("%d jobs, response %.5g s, bounded slowdown %.4g", len(in.Jobs), o.Value, o.Second)
	for i, what := range []string{"migrations", "kills"} {
		if n := o.Others[1+i]; n > 0 {
			title += fmt.Sprintf(", %s %.0f", what, n)
		}
	}
	return Execution(w, format, titled(title, in.Name, by), in, e)
}

// executionLayout holds what is drawn and where.
type executionLayout struct {
	timeAxis
	in         *model.Batch
	title      string
	segments   []placed // by start
	rectangles int
	steps      []executionStep

	width, height float64
	tiers         []processorAxis // foreground, background
	useY, queueY  float64         // upper edges
	axisY         float64
	legend        []entry
}

// placed is a segment of a job.
type placed struct {
	job, tier  int
	start, end float64
	lost       bool
	processors []int32 // ascending
}

// executionStep holds what is true from a time on: processors in use by tier, and
// jobs that wait.
type executionStep struct {
	at      float64
	used    [2]float64
	waiting float64
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
				case c == 0 || p > x.processors[c-1]+1:
					l.rectangles++
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

// replay computes the span of time and the steps.
func (l *executionLayout) replay() {
	low, high := math.Inf(1), math.Inf(-1)
	var events []executionStep // changes
	end := make([]float64, len(l.in.Jobs))
	for k := range l.in.Jobs {
		end[k] = l.in.Jobs[k].SubmitS
		low, high = min(low, end[k]), max(high, end[k])
	}
	for i := range l.segments {
		s := &l.segments[i]
		low, high = min(low, s.start), max(high, s.end)
		if from := end[s.job]; from < s.start {
			events = append(events, executionStep{at: from, waiting: 1}, executionStep{at: s.start, waiting: -1})
		}
		end[s.job] = max(end[s.job], s.end)
		starts, ends := executionStep{at: s.start}, executionStep{at: s.end}
		starts.used[s.tier], ends.used[s.tier] = float64(len(s.processors)), -float64(len(s.processors))
		events = append(events, starts, ends)
	}
	if low > high {
		low, high = 0, 0
	}
	if low < (high-low)/2 {
		low = 0
	}
	l.low, l.high = low, high
	l.widen()
	slices.SortStableFunc(events, func(a, b executionStep) int { return cmp.Compare(a.at, b.at) })
	now := executionStep{at: low}
	l.steps = append(l.steps, now)
	for i := 0; i < len(events); {
		now.at = events[i].at
		for ; i < len(events) && events[i].at == now.at; i++ {
			for t := range now.used {
				now.used[t] += events[i].used[t]
			}
			now.waiting += events[i].waiting
		}
		l.steps = append(l.steps, now)
	}
}

// texture reports whether there are neither labels nor edges.
func (l *executionLayout) texture() bool { return l.rectangles > textureBars }

// many reports whether shares are shown instead of segments.
func (l *executionLayout) many() bool { return l.rectangles > MaxRectangles }

// place sets the sizes: as wide as most ids need to fit, within limits.
func (l *executionLayout) place() {
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
	high := min(peHeight*float64(l.in.Processors), mostTierHeight)
	column := newFace(axisSize, false).width("1000000")
	for range l.in.Tiers {
		l.tiers = append(l.tiers, newProcessorAxis("processor", l.in.Processors, high))
		column = max(column, l.tiers[0].column)
	}
	l.left = math.Ceil(margin + column + 8)
	l.right = l.left + math.Ceil(min(max(want, narrowest), maxWidth-l.left-2*margin))
	l.width = l.right + 2*margin

	l.legend = l.legendOf()
	y := titleEnd(l.title) + legendLine
	for t := range l.tiers {
		y = l.tiers[t].put(y + 4)
	}
	l.useY = y + clusterHeading + 6
	l.queueY = l.useY + useHeight + clusterHeading + 6
	l.axisY = l.queueY + queueHeight + 4
	l.height = math.Ceil(l.axisY + axisHeight + margin/2)
}

var tierColours = [2]color.RGBA{palette[0], palette[2]}

func (l *executionLayout) paint(p pen) {
	p.fill(white, rect{0, 0, l.width, l.height})
	drawLegend(p, l.legend, 0, p.title(l.title, l.width))
	axis := l.ticks()
	bold := newFace(panelSize, true)
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
	most, longest := 1.0, 1.0
	for _, s := range l.steps {
		most, longest = max(most, s.used[0]+s.used[1]), max(longest, s.waiting)
	}
	area := func(c color.RGBA, bottom, one float64, figure func(executionStep) float64) {
		fillArea(p, &l.timeAxis, c, bottom, one, l.steps, func(s executionStep) (float64, float64) { return s.at, figure(s) })
	}
	p.heading(l.useY-6, l.width, l.useText())
	l.chart(p, axis, l.useY, useHeight, most, func() {
		if l.in.Tiers == 2 {
			area(tierColours[1], l.useY+useHeight, useHeight/most, func(s executionStep) float64 { return s.used[0] + s.used[1] })
		}
		area(tierColours[0], l.useY+useHeight, useHeight/most, func(s executionStep) float64 { return s.used[0] })
	})
	p.heading(l.queueY-6, l.width, "Waiting jobs, over time")
	l.chart(p, axis, l.queueY, queueHeight, longest, func() {
		area(waitingColour, l.queueY+queueHeight, queueHeight/longest, func(s executionStep) float64 { return s.waiting })
	})
	l.timeAxis.paint(p, l.axisY, axis)
}

// useText tells the mean use.
func (l *executionLayout) useText() string {
	var sum [2]float64
	for i, s := range l.steps[:len(l.steps)-1] {
		for t := range sum {
			sum[t] += s.used[t] * (l.steps[i+1].at - s.at)
		}
	}
	all := float64(l.in.Processors) * (l.high - l.low) / 100
	text := fmt.Sprintf("Processors in use, of %d, over time: %.1f %% on average", l.in.Processors, sum[0]/all)
	if l.in.Tiers == 2 {
		text += fmt.Sprintf(" in the foreground, %.1f %% in the background", sum[1]/all)
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
		shapes := make([][]rect, 2*Colours) // first what is lost
		for i := range l.segments {
			s := &l.segments[i]
			g := s.job % Colours
			if !s.lost {
				g += Colours
			}
			shapes[g] = append(shapes[g], l.boxes(s)...)
		}
		for g, all := range shapes {
			p.fill((&Bar{Group: g, Faded: g < Colours}).colour(), all...)
		}
		return
	}
	for i := range l.segments {
		s := &l.segments[i]
		boxes, c, text := l.boxes(s), (&Bar{Group: s.job}).colour(), ink
		if s.lost {
			text = paleInk
			p.fill(white, boxes...)
			for _, r := range boxes {
				p.dashed(mix(c, ink, 0.45), r)
			}
		} else {
			p.filled(c, boxes)
		}
		p.labelLargest(clean(l.in.Jobs[s.job].ID), text, boxes)
	}
}

// paintShares draws the share in use of fields of some processors and some time.
func (l *executionLayout) paintShares(p pen) {
	columns := int((l.right - l.left) / cellSize)
	rows := min(l.in.Processors, int((l.tiers[0].bottom-l.tiers[0].top)/cellSize))
	row := func(processor int32) int { return int(processor) * rows / l.in.Processors }
	size := make([]float64, rows) // processors
	for k := range l.in.Processors {
		size[row(int32(k))]++
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
		shapes := make([][]rect, len(heat))
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
				p.fill(heat[class], all...)
			}
		}
	}
}

// legendOf explains the colours.
func (l *executionLayout) legendOf() (all []entry) {
	add := func(text string, draw func(p pen, r rect)) {
		all = append(all, entry{text, 0, []plot.Thumbnailer{sample{func(p pen, x, y float64) { draw(p, rect{x, y - 4, legendThumb, 8}) }}}})
	}
	area := func(text string, c color.RGBA) { add(text, func(p pen, r rect) { p.fill(c, r) }) }
	switch {
	case l.many():
		for class, text := range []string{"nothing in use", "up to 25 %", "up to 50 %", "up to 75 %", "up to 100 %"} {
			if class > 0 {
				area(text, heat[class])
			} else {
				area(text, rowColour)
			}
		}
	case slices.ContainsFunc(l.segments, func(s placed) bool { return s.lost }):
		add("killed, its work is lost", func(p pen, r rect) {
			if l.texture() {
				p.fill(mix(palette[0], white, 0.6), r)
			} else {
				p.dashed(paleInk, r)
			}
		})
	}
	if l.in.Tiers == 2 {
		area("in use in the foreground", tierColours[0])
		area("in the background", tierColours[1])
	} else {
		area("in use", tierColours[0])
	}
	area("waiting", waitingColour)
	area("maximum, paler than the mean", mix(tierColours[0], white, 0.5))
	return all
}
