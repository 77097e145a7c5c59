// SPDX-License-Identifier: MIT

package scene

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// MaxTime bounds times, so that their differences don't overflow.
const MaxTime = 1e300

// reservation draws bookings of PEs over time, in the order of the requests, and of a page the declined beneath.
func reservation(in *model.Reservation, b *model.Bookings, o Options) (*Scene, error) {
	index, err := in.Index(b)
	if err != nil {
		return nil, err
	}
	x := &Scene{Unit: "s"}
	pes := x.row(Row{Label: "PEs", Group: "PEs", Lanes: in.PEs, Drop: "pes", Named: true, Name: "PE"})
	booking := make([]*model.Booking, len(in.Requests))
	for i, k := range index {
		booking[k] = &b.Bookings[i]
		if math.Abs(booking[k].StartS) <= MaxTime {
			continue
		}
		return nil, fmt.Errorf("%w bookings: %q starts at %v, must be from -%g to %g", model.ErrInvalid, booking[k].ID,
			booking[k].StartS, MaxTime, MaxTime)
	}
	var declined []Box
	for k, at := range booking {
		q := &in.Requests[k]
		one := Box{Item: q.ID, Row: pes, Lanes: q.PEs, Label: Clean(q.ID), Tint: k, Drag: "both",
			Window: []float64{q.ReadyS, q.DeadlineS}, Number: k}
		one.facts = func() []string { return requestFacts(q, at) }
		if at == nil {
			one.Low, one.High, one.Role = q.ReadyS, q.ReadyS+q.DurationS, Declined
			declined = append(declined, one)
			continue
		}
		one.Low, one.High, one.Used = at.StartS, at.StartS+q.DurationS, at.StartS+q.Runtime()
		one.Cancelled = !q.Runs(at.StartS)
		if one.Lanes = 0; len(at.PEs) == 0 && !o.Page { // a booking of nothing is a booking
			x.Boxes = append(x.Boxes, one)
		}
		for _, r := range at.PEs {
			if r.First < 0 || r.Last < r.First || r.Last >= in.PEs {
				return nil, fmt.Errorf("%w bookings: %q has the PEs %d to %d, there are 0 to %d", model.ErrInvalid, at.ID, r.First,
					r.Last, in.PEs-1)
			}
			one.Lane, one.Lanes = r.First, r.Last-r.First+1
			x.Boxes = append(x.Boxes, one)
		}
	}
	if o.Page {
		x.stack(x.row(Row{Label: "declined", Group: "declined", Drop: "declined"}), declined)
	}
	x.span()
	return x, nil
}

// requestFacts describe a request, which is declined if it isn't booked.
func requestFacts(q *model.Request, at *model.Booking) []string {
	facts := []string{"request " + Clean(q.ID) + ": " + words.Plural(q.PEs, "PE") + " for " + Number(q.DurationS) + " s",
		"declined; drag it to the PEs to book it",
		"may run from " + Number(q.ReadyS) + " to " + Number(q.DeadlineS) + " s", "arrived at " + Number(q.ArrivalS) + " s"}
	if at != nil {
		facts[1] = "booked from " + seconds(at.StartS, at.StartS+q.DurationS) + " on PEs " + at.PEs.String()
	}
	if r := q.Runtime(); r < q.DurationS {
		facts = append(facts, "ends after "+Number(r)+" s in truth")
	}
	if q.CancelS != nil {
		facts = append(facts, "withdrawn at "+Number(*q.CancelS)+" s, unless it runs by then")
	}
	return facts
}

// Conflict draws the windows of requests that can't all be kept, for a page.
func Conflict(in *model.Reservation, ids []string) *Scene {
	x := &Scene{Unit: "s"}
	for k := range in.Requests {
		q := &in.Requests[k]
		if !slices.Contains(ids, q.ID) {
			continue
		}
		text := words.Plural(q.PEs, "PE") + " for " + Number(q.DurationS) + " s"
		row := x.row(Row{Label: Clean(q.ID), Group: "windows of requests that can't all be kept", Lanes: 1})
		x.Boxes = append(x.Boxes, Box{Item: q.ID, Row: row, Lanes: 1, Low: q.ReadyS, High: q.DeadlineS, Label: text,
			Role: Tight, facts: func() []string {
				return []string{"request " + Clean(q.ID) + ": " + text, "may run from " + Number(q.ReadyS) + " to " +
					Number(q.DeadlineS) + " s",
					fmt.Sprintf("the %d requests here don't all fit on %s", len(ids), words.Plural(in.PEs, "PE"))}
			}})
	}
	x.span()
	x.cut()
	return x
}

// batch draws the runs of jobs on processors by their starts, the background by itself, and of a page the waiting jobs
// beneath.
func batch(in *model.Batch, e *model.Execution, o Options) (*Scene, error) {
	index, err := in.Index(e)
	if err != nil {
		return nil, err
	}
	x := &Scene{Unit: "s"}
	label, name, lanes := "processors", "fg", lanesOf(in)
	switch {
	case lanes != nil:
		label, name = in.Resources[0]+" of the nodes", in.Resources[0]
	case in.Tiers == 2:
		label = "foreground"
	}
	rows := []int{x.row(Row{Label: label, Group: label, Lanes: lanes.count(in), Drop: "foreground", Named: true,
		Name: name})}
	if in.Tiers == 2 {
		rows = append(rows, x.row(Row{Label: "background", Group: "background", Lanes: in.Processors, Drop: "background",
			Named: true, Name: "bg"}))
	}
	type part struct {
		*model.Segment[model.BatchPlace]
		job, number, of int
	}
	var parts []part
	var waiting []Box
	for i, k := range index {
		j, segments := &in.Jobs[k], e.Runs[i].Segments
		for n := range segments {
			parts = append(parts, part{&segments[n], k, n + 1, len(segments)})
		}
		if o.Page && len(segments) > 0 && segments[0].StartS > j.SubmitS {
			until := segments[0].StartS
			waiting = append(waiting, Box{Item: j.ID, Low: j.SubmitS, High: until, Label: Clean(j.ID), Role: Waiting, Tint: k,
				facts: func() []string { return append(jobFacts(in, k), "waits from "+seconds(j.SubmitS, until)) }})
		}
	}
	order.Stable(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.StartS, b.StartS), cmp.Compare(a.job, b.job))
	})
	for _, s := range parts {
		j, tier := &in.Jobs[s.job], 0
		bad := func(format string, args ...any) error {
			return fmt.Errorf("%w execution: %q %s", model.ErrInvalid, j.ID, fmt.Sprintf(format, args...))
		}
		b := Box{Item: j.ID, Label: Clean(j.ID), Tint: s.job, Number: s.job, Low: s.StartS, High: s.EndS}
		switch {
		case s.Place.Tier == model.TierBackground && in.Tiers == 2:
			tier, b.Role = 1, Background
		case s.Place.Tier != model.TierForeground:
			return nil, bad("is in tier %q, there are %d tiers", s.Place.Tier, in.Tiers)
		}
		if s.EndS < s.StartS {
			return nil, bad("runs from %v to %v, must not end before it starts", s.StartS, s.EndS)
		}
		if s.Lost {
			b.Role = Lost
		}
		if s.of == 1 && lanes == nil {
			b.Drag, b.Window = "both", []float64{j.SubmitS}
		}
		b.facts = func() []string {
			on := " on processors " + s.Place.Processors.String()
			if lanes != nil {
				on = " on nodes " + s.Place.Processors.String()
			}
			facts := append(jobFacts(in, s.job), "runs from "+seconds(s.StartS, s.EndS)+on)
			if s.Lost {
				facts = append(facts, "killed: this work is lost")
			}
			if s.of > 1 {
				facts = append(facts, fmt.Sprintf("part %d of %d", s.number, s.of))
			}
			return facts
		}
		processors := slices.Clone(s.Place.Processors)
		slices.Sort(processors)
		for c, p := range processors {
			switch {
			case p < 0 || int(p) >= in.Processors:
				return nil, bad("is on processor %d, there are 0 to %d", p, in.Processors-1)
			case c > 0 && p == processors[c-1] && lanes == nil:
				return nil, bad("is on processor %d twice", p)
			}
		}
		if lanes != nil {
			processors = lanes.take(in, s.job, processors, s.StartS, s.EndS)
		}
		for _, r := range Ranges(processors) {
			b.Row, b.Lane, b.Lanes = rows[tier], r[0], r[1]-r[0]+1
			x.Boxes = append(x.Boxes, b)
		}
	}
	if o.Page {
		x.stack(x.row(Row{Label: "waiting", Group: "waiting"}), waiting)
	}
	x.span()
	return x, nil
}

func jobFacts(in *model.Batch, k int) []string {
	j := &in.Jobs[k]
	asks := words.Plural(j.Processes, "processor")
	if j.Needs != nil {
		if asks = "1 process of"; j.Processes > 1 {
			asks = fmt.Sprintf("%d processes of", j.Processes)
		}
		for r, need := range j.Needs.Each {
			if need > 0 {
				asks += fmt.Sprintf(" %d %s", need, Clean(in.Resources[r]))
			}
		}
	}
	return []string{"job " + Clean(j.ID) + ": " + asks + ", works " +
		Number(in.Work(k)) + " s",
		"submitted at " + Number(j.SubmitS) + " s, estimate " + Number(j.Estimate()) + " s"}
}
