// SPDX-License-Identifier: MIT

// Package draw makes pictures of results, SVG, PNG or PDF, with gonum's plotting library, and in characters. It draws
// schedules as Gantt charts, bookings of PEs, virtual machines on hosts and virtual clusters in a fat-tree. It also
// draws the rounds of network-aware HEFT and the curves of an experiment. Package scene says a solution as rows and
// boxes; this one places and paints them. It computes nothing about its input but the loads of links and the use of
// machines over time. The same input gives the same bytes.
package draw

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// Frame is a solution to be drawn.
type Frame struct {
	Instance model.Instance
	Solution model.Solution
	// Arrived holds the time at which each of a schedule's transfers ends (see Schedule); nil for problems without
	// transfers.
	Arrived []float64
	// Label says which of several solutions it is, "" if there is one.
	Label string
}

// Solution draws the solution of an instance, or several of the same problem one
// above the other. The error wraps model.ErrUnsupported for problems without a
// picture and for options that go with others.
func Solution(w io.Writer, o Options, frames []Frame) error {
	if err := o.check(); err != nil {
		return err
	}
	if len(frames) == 0 {
		return fmt.Errorf("draw: %w: there is nothing to draw", model.ErrInvalid)
	}
	kind := frames[0].Solution.Kind()
	picture, ok := pictures[kind]
	if !ok {
		return fmt.Errorf("draw: %w: no picture for %s", model.ErrUnsupported, frames[0].Instance.Kind())
	}
	switch {
	case o.At != nil && !picture.moment:
		return fmt.Errorf("draw: %w: the picture of a %s shows all times, not one moment", model.ErrUnsupported, kind)
	case (o.From != nil || o.To != nil) && picture.timeless:
		return fmt.Errorf("draw: %w: the picture of a %s has no time axis", model.ErrUnsupported, kind)
	case o.Rows != nil && picture.moment:
		return fmt.Errorf("draw: %w: the picture of a %s shows all servers", model.ErrUnsupported, kind)
	case o.NoLinks && !picture.links:
		return fmt.Errorf("draw: %w: the picture of a %s has no links of a network to leave out", model.ErrUnsupported, kind)
	case o.Usage && !picture.usage:
		return fmt.Errorf("draw: %w: the picture of a %s has no curves of use over time", model.ErrUnsupported, kind)
	}
	return picture.draw(w, o, frames)
}

// picture is how the solutions of a problem are drawn.
type picture struct {
	draw     func(w io.Writer, o Options, frames []Frame) error
	moment   bool // it shows one moment, of all servers
	timeless bool // it has no time axis
	links    bool // it has links that can be left out
	usage    bool // it has curves of use over time
}

// pictures holds the pictures of each problem.
var pictures = map[model.Kind]picture{
	model.KindBatch:         {draw: one("executions", executionTitle, drawExecution), usage: true},
	model.KindConsolidation: {draw: one("assignments", assignmentTitle, drawAssignment), timeless: true},
	model.KindDAG:           {draw: schedules, links: true},
	model.KindReservation:   {draw: one("bookings", bookingsTitle, drawBookings), usage: true},
	model.KindTVC:           {draw: one("embeddings", clustersTitle, drawClusters), moment: true, usage: true},
	model.KindVCSched:       {draw: one("placements", placementTitle, drawPlacement), timeless: true},
}

// wrongFrame returns the error for a frame of another problem than the first.
func wrongFrame(f Frame, among string) error {
	return fmt.Errorf("draw: %w: a %s solution of a %s instance among %s", model.ErrInvalid, f.Solution.Kind(),
		f.Instance.Kind(), among)
}

// boundText returns the value that no solution beats, and how far the objective is from it, to follow the objective; ""
// if no bound is known.
func (o *Options) boundText(objective model.Objective, unit string) string {
	if o.Bound == nil {
		return ""
	}
	text := ", bound " + short(*o.Bound) + " " + unit
	if unit == "" && *o.Bound == math.Trunc(*o.Bound) {
		text = ", bound " + short(*o.Bound)
	} else if unit == "" {
		text = fmt.Sprintf(", bound %.4g", *o.Bound)
	}
	gap := model.Gap(objective.Value, *o.Bound)
	if !(gap > model.DefaultGap) {
		return text + " (optimal)"
	}
	return text + fmt.Sprintf(" (gap %.3g %%)", 100*gap)
}

// one returns a function that draws the solution of the first frame, below its title. The title is given the words on
// the bound, too.
func one[I model.Instance, S model.Solution](among string, title func(in I, s S, o model.Objective, bound string) string,
	draw func(w io.Writer, o Options, title string, in I, s S) error) func(io.Writer, Options, []Frame) error {
	return func(w io.Writer, opts Options, frames []Frame) error {
		in, ok := frames[0].Instance.(I)
		s, isSolution := frames[0].Solution.(S)
		if !ok || !isSolution {
			return wrongFrame(frames[0], among)
		}
		o, err := in.Objective(s)
		if err != nil {
			return fmt.Errorf("draw: %w", err)
		}
		text := title(in, s, o, opts.boundText(o, in.Metrics()[0].Unit))
		return draw(w, opts, titled(text, in.ID(), opts.By), in, s)
	}
}

// titled puts the names of the instance and of the algorithm, where they are
// known, before a title.
func titled(title string, names ...string) string {
	names = slices.DeleteFunc(names, func(s string) bool { return s == "" })
	if len(names) == 0 {
		return title
	}
	return strings.Join(names, ", ") + ": " + title
}
