// SPDX-License-Identifier: MIT

package tvc

import (
	"context"

	"github.com/gapwise/gapwise/internal/core/partial"
	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// Complete makes embeddings of the instance from some that may be of other requests, or of these as they were before.
// In loss mode each embedded request of the start keeps its servers and switch, at its arrival and for its whole
// duration, if they exist and have room then. All others are rejected, as a solution may. In queue mode the requests
// are served in the order in which they begin in the start, or arrive if they aren't in it. They are embedded by AdaBa;
// the first one blocks the others. The error wraps model.ErrInvalid, see partial.Match, or model.ErrUnsupported, see
// FCFS.
func Complete(in *model.TVC, start *model.Embeddings) (*model.Embeddings, model.Completion, error) {
	of, c, err := partial.Match(in.Requests, func(x *model.TVCRequest) string { return x.ID },
		start.Runs, func(x *model.Run[model.Embedding]) string { return x.ID })
	if err != nil {
		return nil, c, err
	}
	if in.Queue {
		t := view.OfTVC(in)
		s := &scheduler{order: func(_ *queue, k int) int64 {
			if i := of[k]; i >= 0 && len(start.Runs[i].Segments) > 0 {
				return units.Micro(start.Runs[i].Segments[0].StartS)
			}
			return t.Requests[k].Arrival
		}}
		e, _, err := s.serve(context.Background(), in, newAdaBa())
		return e, c, err
	}
	e, err := runLoss(context.Background(), in, &kept{in: in, start: start, of: of}, nil)
	return e, c, err
}

// kept embeds requests where a start has them.
type kept struct {
	in    *model.TVC
	start *model.Embeddings
	of    []int // [request]: its run in the start, -1: none
}

// Embed implements embedder: a cluster that isn't a request of the start has no place.
func (*kept) Embed(*fattree.DataCentre, int, int64) (model.Embedding, bool) {
	return model.Embedding{}, false
}

// embedRequest implements requestEmbedder.
func (x *kept) embedRequest(d *fattree.DataCentre, k int) (model.Embedding, bool) {
	i := x.of[k]
	if i < 0 || len(x.start.Runs[i].Segments) == 0 {
		return model.Embedding{}, false
	}
	e, q := &x.start.Runs[i].Segments[0].Place, &d.Requests[k]
	if !x.in.FatTree.Has(e.Switch) || len(e.Servers) == 0 {
		return model.Embedding{}, false
	}
	first, last := d.ServersBelow(e.Switch)
	for _, s := range e.Servers {
		if s.Server < first || s.Server >= last || s.VMs < 1 {
			return model.Embedding{}, false
		}
		first = s.Server + 1 // they ascend
	}
	return *e, d.Room(e, q.VMs, q.Bandwidth)
}
