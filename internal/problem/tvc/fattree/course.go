// SPDX-License-Identifier: MIT

package fattree

import "github.com/gapwise/gapwise/model"

// Course is how a request runs: in one place or in several, one after the other, with the work that is left.
//
// A suspended request keeps the work that is done. It migrates when it goes on only if its servers are others than
// before. A migration costs time of the new segment without work. A request that goes on in the same place at the
// instant at which it was suspended hasn't been suspended: its segment continues.
type Course struct {
	Left     int64 // work that isn't done when the present segment starts
	Owed     int64 // what is then left of the last migration
	End      int64 // of the present segment, if the request isn't suspended
	Segments []Segment
}

// Segment is a time in one place.
type Segment struct {
	Start, End int64
	Place      model.Embedding
}

// Last returns the present segment, or the last one.
func (x *Course) Last() *Segment { return &x.Segments[len(x.Segments)-1] }

// Work returns the work that isn't done at an instant of the present segment. None is done before a migration is over.
func (x *Course) Work(now int64) int64 { return min(x.Left, x.End-now) }

// Start starts a request that doesn't run, or lets it go on, in a place.
func (x *Course) Start(now, migration int64, e *model.Embedding) {
	if len(x.Segments) > 0 {
		last := x.Last()
		there := last.Place.SameServers(e)
		if there && last.End == now && last.Place.Switch == e.Switch {
			last.End = x.End
			return
		}
		if !there {
			x.Owed = migration
		}
	}
	x.End = now + x.Owed + x.Left
	x.Segments = append(x.Segments, Segment{now, x.End, *e})
}

// Suspend ends the present segment.
func (x *Course) Suspend(now int64) {
	left := x.Work(now)
	x.Left, x.Owed = left, x.End-now-left
	x.Last().End = now
}

// Embeddings returns the runs of the requests that have run.
func (d *DataCentre) Embeddings(in *model.TVC, all []Course) *model.Embeddings {
	s := new(model.Embeddings)
	for k := range all {
		if len(all[k].Segments) == 0 {
			continue
		}
		run := model.Run[model.Embedding]{ID: in.Requests[k].ID}
		for _, x := range all[k].Segments {
			run.Segments = append(run.Segments,
				model.Segment[model.Embedding]{StartS: d.Seconds(x.Start), EndS: d.Seconds(x.End), Place: x.Place})
		}
		s.Runs = append(s.Runs, run)
	}
	return s
}
