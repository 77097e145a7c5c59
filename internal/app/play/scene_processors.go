// SPDX-License-Identifier: MIT

package play

import (
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// reservationScene draws bookings of PEs over time, with the declined beneath.
func reservationScene(in *model.Reservation, b *model.Bookings) (*Scene, error) {
	index, err := in.Index(b)
	if err != nil {
		return nil, err
	}
	x := &Scene{Unit: "s"}
	pes := x.row(Row{Label: "PEs", Group: "PEs", Lanes: in.PEs, Drop: "pes", Named: true})
	accepted := make([]bool, len(in.Requests))
	box := func(k int, low float64) Box {
		q := &in.Requests[k]
		facts := []string{"request " + clean(q.ID) + ": " + plural(q.PEs, "PE") + " for " + number(q.DurationS) + " s",
			"may run from " + number(q.ReadyS) + " to " + number(q.DeadlineS) + " s", "arrived at " + number(q.ArrivalS) + " s"}
		if r := q.Runtime(); r < q.DurationS {
			facts = append(facts, "ends after "+number(r)+" s in truth")
		}
		if q.CancelS != nil {
			facts = append(facts, "withdrawn at "+number(*q.CancelS)+" s, unless it runs by then")
		}
		return Box{Item: q.ID, Row: pes, Lanes: q.PEs, Low: low, High: low + q.DurationS, Label: clean(q.ID), Tint: k % tints, Facts: facts,
			Drag: "both", Window: []float64{q.ReadyS, q.DeadlineS}}
	}
	for i, k := range index {
		accepted[k] = true
		for _, r := range b.Bookings[i].PEs {
			one := box(k, b.Bookings[i].StartS)
			one.Lane, one.Lanes = r.First, r.Last-r.First+1
			one.Facts = slices.Insert(one.Facts, 1, "booked from "+seconds(one.Low, one.High)+" on PEs "+b.Bookings[i].PEs.String())
			x.Boxes = append(x.Boxes, one)
		}
	}
	var declined []Box
	for k, yes := range accepted {
		if !yes {
			one := box(k, in.Requests[k].ReadyS)
			one.Role = Declined
			one.Facts = slices.Insert(one.Facts, 1, "declined; drag it to the PEs to book it")
			declined = append(declined, one)
		}
	}
	x.stack(x.row(Row{Label: "declined", Group: "declined", Drop: "declined"}), declined)
	x.span()
	return x, nil
}

// conflictScene draws the windows of requests that can't all be kept.
func conflictScene(in *model.Reservation, ids []string) *Scene {
	x := &Scene{Unit: "s"}
	for k := range in.Requests {
		q := &in.Requests[k]
		if !slices.Contains(ids, q.ID) {
			continue
		}
		text := plural(q.PEs, "PE") + " for " + number(q.DurationS) + " s"
		row := x.row(Row{Label: clean(q.ID), Group: "windows of requests that can't all be kept", Lanes: 1})
		x.Boxes = append(x.Boxes, Box{Item: q.ID, Row: row, Lanes: 1, Low: q.ReadyS, High: q.DeadlineS, Label: text, Role: Tight,
			Facts: []string{"request " + clean(q.ID) + ": " + text, "may run from " + number(q.ReadyS) + " to " + number(q.DeadlineS) + " s", fmt.Sprintf("the %d requests here don't all fit on %s", len(ids), plural(in.PEs, "PE"))}})
	}
	x.span()
	x.cut()
	return x
}

// batchScene draws the runs of jobs on processors, the background by itself, and the
// waiting jobs beneath.
func batchScene(in *model.Batch, e *model.Execution) (*Scene, error) {
	index, err := in.Index(e)
	if err != nil {
		return nil, err
	}
	x := &Scene{Unit: "s"}
	label := "processors"
	if in.Tiers == 2 {
		label = "foreground"
	}
	rows := []int{x.row(Row{Label: label, Group: label, Lanes: in.Processors, Drop: "foreground", Named: true})}
	if in.Tiers == 2 {
		rows = append(rows, x.row(Row{Label: "background", Group: "background", Lanes: in.Processors, Drop: "background", Named: true}))
	}
	var waiting []Box
	for i, k := range index {
		j := &in.Jobs[k]
		base := []string{"job " + clean(j.ID) + ": " + plural(j.Processes, "processor") + ", works " + number(in.Work(k)) + " s",
			"submitted at " + number(j.SubmitS) + " s, estimate " + number(j.Estimate()) + " s"}
		one := Box{Item: j.ID, Label: clean(j.ID), Tint: k % tints}
		for n := range e.Runs[i].Segments {
			s := &e.Runs[i].Segments[n]
			row := 0
			if s.Place.Tier == model.TierBackground {
				row = 1
			}
			if row >= len(rows) {
				return nil, fmt.Errorf("%w execution: job %q is in the tier %q, there are %d", model.ErrInvalid, j.ID, s.Place.Tier, in.Tiers)
			}
			if n == 0 && s.StartS > j.SubmitS {
				w := one
				w.Low, w.High, w.Role = j.SubmitS, s.StartS, Waiting
				w.Facts = append(slices.Clone(base), "waits from "+seconds(w.Low, w.High))
				waiting = append(waiting, w)
			}
			b := one
			b.Low, b.High = s.StartS, s.EndS
			b.Facts = append(slices.Clone(base), "runs from "+seconds(b.Low, b.High)+" on processors "+s.Place.Processors.String())
			switch {
			case s.Lost:
				b.Role = Lost
				b.Facts = append(b.Facts, "killed: this work is lost")
			case row == 1:
				b.Role = Background
			}
			if len(e.Runs[i].Segments) == 1 {
				b.Drag, b.Window = "both", []float64{j.SubmitS}
			} else {
				b.Facts = append(b.Facts, fmt.Sprintf("part %d of %d", n+1, len(e.Runs[i].Segments)))
			}
			processors := slices.Clone(s.Place.Processors)
			slices.Sort(processors)
			for _, r := range ranges(processors) {
				b.Row, b.Lane, b.Lanes = rows[row], r[0], r[1]-r[0]+1
				x.Boxes = append(x.Boxes, b)
			}
		}
	}
	x.stack(x.row(Row{Label: "waiting", Group: "waiting"}), waiting)
	x.span()
	return x, nil
}
