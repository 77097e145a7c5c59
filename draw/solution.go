package draw

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// Frame is a solution to be drawn.
type Frame struct {
	Instance model.Instance
	Solution model.Solution
	// Arrived tells when each of a schedule's transfers ends (see Schedule);
	// nil for problems without transfers.
	Arrived []float64
	// At is the moment, in seconds, that the picture of a TVC shows in detail; nil:
	// it chooses one. Other problems' pictures show no moment.
	At *float64
}

// Solution draws the solution of an instance, or several of the same problem one
// above the other. By is the algorithm that found it, "" if that isn't known.
// The error wraps model.ErrUnsupported for problems without a picture.
func Solution(w io.Writer, format, by string, frames []Frame) error {
	if len(frames) == 0 {
		return fmt.Errorf("draw: %w: there is nothing to draw", model.ErrInvalid)
	}
	picture, ok := pictures[frames[0].Solution.Kind()]
	if !ok {
		return fmt.Errorf("draw: %w: no picture for %s", model.ErrUnsupported, frames[0].Instance.Kind())
	}
	if kind := frames[0].Solution.Kind(); frames[0].At != nil && kind != model.KindTVC {
		return fmt.Errorf("draw: %w: the picture of a %s shows all times, not one moment", model.ErrUnsupported, kind)
	}
	return picture(w, format, by, frames)
}

// pictures holds the function that draws the solutions of each problem that has
// pictures.
var pictures = map[model.Kind]func(w io.Writer, format, by string, frames []Frame) error{
	model.KindBatch:       executions,
	model.KindDAG:         schedules,
	model.KindReservation: bookings,
	model.KindTVC:         clusters,
}

// wrongFrame returns the error for a frame of another problem than the first.
func wrongFrame(f Frame, among string) error {
	return fmt.Errorf("draw: %w: a %s solution of a %s instance among %s", model.ErrInvalid, f.Solution.Kind(), f.Instance.Kind(), among)
}

// schedules draws the schedules of a DAG in panels that share their time axis.
func schedules(w io.Writer, format, _ string, frames []Frame) error {
	var panels []Panel
	for _, f := range frames {
		d, ok := f.Instance.(*model.DAG)
		s, isSchedule := f.Solution.(*model.Schedule)
		if !ok || !isSchedule {
			return wrongFrame(f, "schedules")
		}
		p, err := Schedule(d, s, f.Arrived)
		if err != nil {
			return err
		}
		o, err := d.Objective(s)
		if err != nil {
			return fmt.Errorf("draw: %w", err)
		}
		p.Title = fmt.Sprintf("transfers: %s, makespan %.9g", d.Transfers(), o.Value)
		panels = append(panels, p)
	}
	return Gantt(w, format, frames[0].Instance.ID(), panels)
}

// bookings draws the bookings of the first frame.
func bookings(w io.Writer, format, by string, frames []Frame) error {
	in, ok := frames[0].Instance.(*model.Reservation)
	b, isBookings := frames[0].Solution.(*model.Bookings)
	if !ok || !isBookings {
		return wrongFrame(frames[0], "bookings")
	}
	title, err := bookingsTitle(in, b)
	if err != nil {
		return err
	}
	return Bookings(w, format, titled(title, in.Name, by), in, b)
}

// bookingsTitle says how good the bookings are.
func bookingsTitle(in *model.Reservation, b *model.Bookings) (string, error) {
	o, err := in.Objective(b)
	if err != nil {
		return "", err
	}
	title := fmt.Sprintf("%d of %d requests accepted, mean slowdown %.4g", len(b.Bookings), len(in.Requests), o.Second)
	if in.EffectiveGoal().PESeconds() {
		title += fmt.Sprintf(", %.6g %s", o.Value, in.Metrics()[0])
	}
	return title, nil
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
