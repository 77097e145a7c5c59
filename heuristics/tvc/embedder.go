package tvc

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/internal/heap"
	"github.com/gapwise/gapwise/model"
)

// Embedder chooses an embedding for a cluster of n VMs at b bit/s in the data
// centre as it stands, and false if it finds none. It doesn't change the data
// centre. An Embedder may keep scratch memory: it serves one run at a time.
type Embedder interface {
	Embed(d *DataCentre, n int, b int64) (model.Embedding, bool)
}

// EmbedderFunc makes an Embedder of a function.
type EmbedderFunc func(d *DataCentre, n int, b int64) (model.Embedding, bool)

// Embed calls f.
func (f EmbedderFunc) Embed(d *DataCentre, n int, b int64) (model.Embedding, bool) { return f(d, n, b) }

// Online runs loss mode: every request is embedded at its arrival by the embedder,
// for its whole duration, or rejected. When ctx ends, the requests from there on
// are rejected. The error wraps model.ErrUnsupported for an instance in queue
// mode.
func Online(ctx context.Context, in *model.TVC, e Embedder) (*model.Embeddings, error) {
	if in.Queue {
		return nil, fmt.Errorf("%w: embedders decide at the arrival, the instance has a queue; take fcfs, sdf, sbf, bgmbf or bgmbf-sdf", model.ErrUnsupported)
	}
	t := in.Ticks()
	d := NewDataCentre(t)
	s := new(model.Embeddings)
	running := heap.Heap[departure]{Less: departure.before}
	for k := range t.Requests {
		if ctx.Err() != nil {
			break
		}
		q := &t.Requests[k]
		for running.Len() > 0 && running.Items[0].at <= q.Arrival { // departures before arrivals
			x := running.Pop()
			d.Remove(&x.embedding, t.Requests[x.request].VMs, t.Requests[x.request].Bandwidth)
		}
		d.Arrive(q.Bandwidth)
		if !q.Fits {
			continue
		}
		p, ok := e.Embed(d, q.VMs, q.Bandwidth)
		if !ok {
			continue
		}
		d.Add(&p, q.VMs, q.Bandwidth)
		end := q.Arrival + q.Duration
		running.Push(departure{end, k, p})
		s.Runs = append(s.Runs, model.Run[model.Embedding]{ID: in.Requests[k].ID, Segments: []model.Segment[model.Embedding]{
			{StartS: t.Seconds(q.Arrival), EndS: t.Seconds(end), Place: p}}})
	}
	return s, nil
}

// departure is the end of a request's run.
type departure struct {
	at        int64 // ticks
	request   int
	embedding model.Embedding
}

func (x departure) before(y departure) bool {
	return x.at < y.at || x.at == y.at && x.request < y.request
}
