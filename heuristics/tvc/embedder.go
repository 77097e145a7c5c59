// SPDX-License-Identifier: MIT

package tvc

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// embedder chooses an embedding for a cluster of n VMs at b bit/s in the data centre as it is, and false if it finds
// none. It doesn't change the data centre, and its answer depends on the arguments alone: schedulers don't repeat a
// question. An embedder may keep scratch memory: it serves one run at a time.
type embedder interface {
	Embed(d *fattree.DataCentre, n int, b int64) (model.Embedding, bool)
}

// requestEmbedder is an embedder that in loss mode looks at more of a request than its size. Its method embedRequest is
// called once for each request of d.Requests that fits an empty data centre, in their order; it knows nothing of the
// later ones.
type requestEmbedder interface {
	embedder
	embedRequest(d *fattree.DataCentre, k int) (model.Embedding, bool)
}

// embedderFunc makes an embedder of a function.
type embedderFunc func(d *fattree.DataCentre, n int, b int64) (model.Embedding, bool)

// Embed calls f.
func (f embedderFunc) Embed(d *fattree.DataCentre, n int, b int64) (model.Embedding, bool) {
	return f(d, n, b)
}

// ask has the embedder embed request k, which fits an empty data centre.
func ask(e embedder, d *fattree.DataCentre, k int) (model.Embedding, bool) {
	if r, is := e.(requestEmbedder); is {
		return r.embedRequest(d, k)
	}
	return e.Embed(d, d.Requests[k].VMs, d.Requests[k].Bandwidth)
}

// runLoss runs loss mode. Its tracer, if not nil, gets the fate of each request.
func runLoss(ctx context.Context, in *model.TVC, e embedder, x *tracer) (*model.Embeddings, error) {
	if in.Queue {
		return nil, fmt.Errorf("%w: embedders decide at the arrival, the instance has a queue; take fcfs, sdf, sbf, bgmbf, bgmbf-sdf, srpt or repack", model.ErrUnsupported)
	}
	return online.TVC(ctx, in, &lossPolicy{embedder: e, tracer: x})
}

// newCentre returns an empty data centre without requests.
func newCentre(p online.TVCPlatform) *fattree.DataCentre {
	t := *view.OfTVC(&model.TVC{FatTree: p.FatTree, Hose: p.Hose, Queue: p.Queue, Goal: p.Goal})
	t.Migration, t.Requests = p.Migration, nil
	return fattree.New(&t)
}

// addRequest adds an arriving request to the data centre's requests.
func addRequest(d *fattree.DataCentre, q *online.TVCRequest) {
	d.Requests = append(d.Requests, view.TVCRequest{Arrival: q.Arrival, Duration: q.Duration, VMs: q.VMs, Bandwidth: q.Bandwidth, Fits: q.Fits, Revenue: q.Revenue})
	d.Arrive(q.Bandwidth)
}

// lossPolicy embeds each request that arrives, or rejects it.
type lossPolicy struct {
	embedder  embedder
	centre    *fattree.DataCentre
	decisions []online.TVCDecision
	tracer    *tracer // nil: nobody listens
}

// Begin implements online.TVCPolicy.
func (l *lossPolicy) Begin(p online.TVCPlatform) error {
	l.centre = newCentre(p)
	return nil
}

// Event implements online.TVCPolicy.
func (l *lossPolicy) Event(e online.TVCEvent) error {
	q, d := e.Request, l.centre
	switch e.Type {
	case online.Ended:
		d.Remove(e.Place, q.VMs, q.Bandwidth)
	case online.Submitted:
		addRequest(d, q)
		l.tracer.arrives(d, q)
		x := online.TVCDecision{Type: online.Reject, Request: q.Number}
		var place *model.Embedding
		if q.Fits {
			if p, ok := ask(l.embedder, d, int(q.Number)); ok {
				x.Type, x.Place, place = online.Start, p, &p
				d.Add(place, q.VMs, q.Bandwidth)
			}
		}
		l.tracer.decided(place, q.Fits)
		l.decisions = append(l.decisions, x)
	}
	return nil
}

// Decide implements online.TVCPolicy.
func (l *lossPolicy) Decide() ([]online.TVCDecision, error) {
	all := l.decisions
	l.decisions = l.decisions[:0]
	return all, nil
}

// counting is an embedder that counts the requests it rejects although an embedding exists.
type counting struct {
	embedder
	program    program
	embeddable int
}

// embedRequest implements requestEmbedder.
func (c *counting) embedRequest(d *fattree.DataCentre, k int) (model.Embedding, bool) {
	e, ok := ask(c.embedder, d, k)
	if !ok && c.program.Embeddable(d, d.Requests[k].VMs, d.Requests[k].Bandwidth) {
		c.embeddable++
	}
	return e, ok
}

// loss is a data centre in loss mode, with the requests that run.
type loss struct {
	*fattree.DataCentre
	running heap.Heap[departure]
}

func newLoss(t *view.TVC) *loss {
	return &loss{fattree.New(t), heap.Heap[departure]{Less: departure.before}}
}

// until removes what ends by now: departures come before arrivals.
func (l *loss) until(now int64) {
	for l.running.Len() > 0 && l.running.Items[0].at <= now {
		x := l.running.Pop()
		l.Remove(&x.embedding, l.Requests[x.request].VMs, l.Requests[x.request].Bandwidth)
	}
}

// admit adds request k, until its end.
func (l *loss) admit(k int, e model.Embedding) {
	q := &l.Requests[k]
	l.Add(&e, q.VMs, q.Bandwidth)
	l.running.Push(departure{q.Arrival + q.Duration, k, e})
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
