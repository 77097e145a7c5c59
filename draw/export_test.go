// SPDX-License-Identifier: MIT

package draw

import (
	"io"
	"slices"

	"github.com/gapwise/gapwise/internal/core/scene"
	"github.com/gapwise/gapwise/model"
)

// Scenes of schedules as tests write them: bars by rows, arrows by rows and times.
type (
	Arrow struct {
		FromRow, ToRow int
		From, To       float64
		Critical       bool
	}
	Bar struct {
		Start, End float64
		Label      string
		Group      int
		Critical   bool
	}
	Row struct {
		Label string
		Bars  []Bar
		Link  bool
	}
	Mark  = scene.Mark
	Panel struct {
		Title  string
		Rows   []Row
		Marks  []Mark
		Arrows []Arrow
	}
)

var (
	Bookings, Execution, Clusters = drawBookings, drawExecution, drawClusters

	ErrFormat = errFormat
)

const (
	MaxRectangles  = maxRectangles
	MaxCurves      = maxCurves
	OtherTransfers = scene.OtherTransfers
)

// Gantt draws panels.
func Gantt(w io.Writer, o Options, title string, panels []Panel) error {
	var all []*ganttPanel
	for n, p := range panels {
		x := &scene.Scene{Marks: p.Marks}
		for k, r := range p.Rows {
			row := scene.Row{Label: r.Label}
			if r.Link {
				row.Group = scene.Links
			}
			x.Rows = append(x.Rows, row)
			for _, b := range r.Bars {
				box := scene.Box{Row: k, Low: b.Start, High: b.End, Label: b.Label, Tint: b.Group}
				if b.Critical {
					box.Role = scene.Critical
				}
				x.Boxes = append(x.Boxes, box)
			}
		}
		for _, a := range p.Arrows {
			x.Arrows = append(x.Arrows, scene.Arrow{
				From: slices.IndexFunc(x.Boxes, func(b scene.Box) bool { return b.Row == a.FromRow && b.High == a.From }),
				To:   slices.IndexFunc(x.Boxes, func(b scene.Box) bool { return b.Row == a.ToRow && b.Low == a.To })})
		}
		l, err := newPanel(n+1, p.Title, x, func(int) bool { return true })
		if err != nil {
			return err
		}
		all = append(all, l)
	}
	return drawGantt(w, o, title, all)
}

// Schedule returns the scene of a schedule as a panel.
func Schedule(d *model.DAG, s *model.Schedule, finish []float64) (p Panel, err error) {
	if err := d.Validate(); err != nil {
		return p, err
	}
	x, err := scene.Of(d, s, scene.Options{Arrived: append([]float64{}, finish...)})
	if err != nil {
		return p, err
	}
	p.Marks = x.Marks
	for _, r := range x.Rows {
		p.Rows = append(p.Rows, Row{Label: r.Label, Link: r.Group == scene.Links})
	}
	for _, b := range x.Boxes {
		r := &p.Rows[b.Row]
		r.Bars = append(r.Bars, Bar{b.Low, b.High, b.Label, b.Tint, b.Role == scene.Critical})
	}
	for _, a := range x.Arrows {
		from, to := &x.Boxes[a.From], &x.Boxes[a.To]
		p.Arrows = append(p.Arrows, Arrow{from.Row, to.Row, from.High, to.Low, a.Role == scene.Critical})
	}
	return p, nil
}
