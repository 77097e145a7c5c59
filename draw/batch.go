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
