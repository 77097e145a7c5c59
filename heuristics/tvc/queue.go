// SPDX-License-Identifier: MIT

package tvc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// queue is the state of queue mode at an instant.
//
// The queue is served whenever requests have departed or arrived: at each such
// instant once, after all departures and then all arrivals of the instant. A
// request that never fits is refused when it arrives; it counts for Bmax, and the
// queue is served then, too.
//
// A request that can't be embedded in an empty data centre by the embedder, though
// it fits, is embedded by program. So every request that fits ends.
//
// A suspended request goes back to its place in the queue (see fattree.Course).
type queue struct {
	*fattree.DataCentre
	scheduler *scheduler
	embedder  embedder
	program   program
	now       int64
	requests  []fattree.Course
	top       waiting  // the queue
	others    waiting  // the same requests in the order in which they are backfilled, if they are
	running   []int    // ascending
	releases  int64    // how often a request gave back what it had
	noRoom    []noRoom // by number of VMs
	blocked   blocked
	preempted int // how often suspend was called
	decisions []online.TVCDecision
	suspended []online.TVCDecision // scratch of repack
	turns     []turn               // likewise
	retry     bool                 // tests: nothing is skipped
}

// blocked records the state in which the top request couldn't be embedded although all later arrivals were suspended.
type blocked struct {
	request, before int // how many earlier requests were running
	most            int64
}

// noRoom is the least bandwidth in bit/s for which mayFit found no room after that
// many releases.
type noRoom struct{ releases, from int64 }

// waiting is the queue in one order: by ascending key, ties by request.
type waiting struct {
	key   func(q *queue, k int) int64
	items []waitingItem
}

type waitingItem struct {
	key     int64
	request int
}

func (w *waiting) search(x waitingItem) (int, bool) {
	return slices.BinarySearchFunc(w.items, x, func(a, b waitingItem) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.request, b.request))
	})
}

func (w *waiting) add(q *queue, k int) {
	if w.key != nil {
		x := waitingItem{w.key(q, k), k}
		i, _ := w.search(x)
		w.items = slices.Insert(w.items, i, x)
	}
}

func (w *waiting) remove(q *queue, k int) {
	if w.key != nil {
		i, _ := w.search(waitingItem{w.key(q, k), k})
		w.items = slices.Delete(w.items, i, i+1)
	}
}

// serve runs queue mode. The error wraps model.ErrUnsupported for an instance in loss mode, and for a schedule that
// goes on after view.MostTime. If ctx ends before all requests have run, running requests go on to their ends, and then
// the others run one by one. The result preempted is how often a request was suspended, including times at which it
// went on at once in the same place.
func (s *scheduler) serve(ctx context.Context, in *model.TVC, e embedder) (embeddings *model.Embeddings, preempted int, err error) {
	q := s.newQueue(e)
	embeddings, err = q.run(ctx, in)
	return embeddings, q.preempted, err
}

func (s *scheduler) newQueue(e embedder) *queue {
	return &queue{scheduler: s, embedder: e, top: waiting{key: s.order}, others: waiting{key: s.backfill}, releases: 1}
}

func (q *queue) run(ctx context.Context, in *model.TVC) (*model.Embeddings, error) {
	if !in.Queue {
		return nil, fmt.Errorf("%w: schedulers serve a queue, and the instance has none (\"queue\" is false); take an embedder, such as adaba, or --goal response", model.ErrUnsupported)
	}
	e, err := online.TVC(ctx, in, q)
	if errors.Is(err, model.ErrNoSolution) { // it was stopped
		return q.whole(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// whole returns the runs once alone has made them whole.
func (q *queue) whole(ctx context.Context, in *model.TVC) (*model.Embeddings, error) {
	for _, r := range view.Shared(ctx, in, view.OfTVC).Requests[len(q.Requests):] {
		q.Requests = append(q.Requests, r)
		q.requests = append(q.requests, fattree.Course{})
	}
	if !q.alone() {
		return nil, view.TooLate("request", "servers")
	}
	return q.Embeddings(in, q.requests), nil
}

// Begin implements online.TVCPolicy.
func (q *queue) Begin(p online.TVCPlatform) error {
	q.DataCentre = newCentre(p)
	return nil
}

// Event implements online.TVCPolicy.
func (q *queue) Event(e online.TVCEvent) error {
	q.now = e.At
	switch e.Type {
	case online.Ended:
		q.release(int(e.Request.Number))
		q.requests[e.Request.Number].Left = 0
	case online.Submitted:
		q.arrive(e.Request)
	}
	return nil
}

// Decide implements online.TVCPolicy.
func (q *queue) Decide() ([]online.TVCDecision, error) {
	q.decisions = q.decisions[:0]
	q.serve()
	return q.decisions, nil
}

// alone has the requests that haven't run to their end run one after the other, once
// those that run now have departed. Each has the data centre for itself, a suspended one
// goes on in its place. Requests of the same shape run in the same place. It reports
// whether all ends are at view.MostTime or before.
func (q *queue) alone() bool {
	type shape struct {
		vms       int
		bandwidth int64
	}
	end := q.now
	for _, k := range q.running {
		end = max(end, q.requests[k].End)
	}
	for _, k := range slices.Clone(q.running) {
		q.release(k)
		q.requests[k].Left = 0
	}
	known := map[shape]model.Embedding{}
	for k := range q.requests {
		r, x := &q.Requests[k], &q.requests[k]
		if !r.Fits || len(x.Segments) > 0 && x.Left == 0 {
			continue
		}
		at := max(end, r.Arrival)
		if len(x.Segments) == 0 {
			s := shape{r.VMs, r.Bandwidth}
			e, ok := known[s]
			if !ok {
				e, _ = q.embed(k) // it fits
				known[s] = e
			}
			x.Left = r.Duration
			x.Segments = []fattree.Segment{{Start: at, Place: e}}
		} else {
			x.Segments = append(x.Segments, fattree.Segment{Start: at, Place: x.Last().Place})
		}
		end = at + x.Owed + x.Left
		x.Last().End = end
		if end > view.MostTime {
			return false
		}
	}
	return end <= view.MostTime
}

// arrive puts a request into the queue, or refuses it.
func (q *queue) arrive(r *online.TVCRequest) {
	addRequest(q.DataCentre, r)
	q.requests = append(q.requests, fattree.Course{Left: r.Duration})
	for len(q.noRoom) <= r.VMs {
		q.noRoom = append(q.noRoom, noRoom{})
	}
	if r.Fits {
		q.wait(int(r.Number))
	}
}

func (q *queue) wait(k int) {
	q.top.add(q, k)
	q.others.add(q, k)
}

// serve starts requests: the top ones in their order, and then, if the scheduler
// backfills, others while the top one waits. Backfilling goes once through the
// queue.
//
// A scheduler that repacks has another way, see repack.
func (q *queue) serve() {
	if q.scheduler.repack {
		q.repack()
		return
	}
	for {
		if len(q.top.items) == 0 {
			return
		}
		if k := q.top.items[0].request; !q.start(k) && (q.scheduler.suspend == nil || !q.scheduler.suspend(q, k)) {
			break
		}
	}
	top := q.top.items[0].request // it has been tried
	for i := 0; i < len(q.others.items); {
		if k := q.others.items[i].request; k == top || !q.start(k) {
			i++
		}
	}
}

// start starts a waiting request if it can be embedded. It isn't tried if there is no embedding because of free slots
// (see mayFit, too). It must not be skipped because it failed before, or an easier one did. An embedder that fails may
// find an embedding when others have started, as it looks at servers in another order then.
func (q *queue) start(k int) bool {
	r := &q.Requests[k]
	if !q.retry && (r.VMs > q.AllFree || !q.mayFit(r.VMs, r.Bandwidth)) {
		return false
	}
	e, ok := q.embed(k)
	if ok {
		q.begin(k, e)
	}
	return ok
}

// mayFit reports whether the servers, each with its free slots and what is left on
// its own link, have room for n VMs together. Without it there is no embedding: a
// server with c of the VMs loads its link with min(c, n-c)·b at least, and the
// counts sum to n.
//
// A server's room grows neither with b nor when requests start. So until a request gives back its room there is none
// for n VMs at a bandwidth of at least the least one for which there was none. O(servers), O(1) if that is so.
func (q *queue) mayFit(n int, b int64) bool {
	x := &q.noRoom[n]
	if x.releases != q.releases {
		*x = noRoom{q.releases, math.MaxInt64}
	}
	if b >= x.from {
		return false
	}
	left := n
	for s, free := range q.Free {
		if free > 0 {
			if left -= largest(min(int(free), n), n, through(q.Server[s], n, b)); left <= 0 {
				return true
			}
		}
	}
	x.from = b
	return false
}

func (q *queue) embed(k int) (model.Embedding, bool) {
	r := &q.Requests[k]
	e, ok := q.embedder.Embed(q.DataCentre, r.VMs, r.Bandwidth)
	if !ok && q.AllFree == q.Servers*q.Slots {
		return q.program.Best(q.DataCentre, r.VMs, r.Bandwidth, costReserved)
	}
	return e, ok
}

// begin starts or continues a waiting request.
func (q *queue) begin(k int, e model.Embedding) {
	q.top.remove(q, k)
	q.others.remove(q, k)
	q.requests[k].Start(q.now, q.Migration, &e)
	q.occupy(k, &e)
	i, _ := slices.BinarySearch(q.running, k)
	q.running = slices.Insert(q.running, i, k)
	q.decisions = append(q.decisions, online.TVCDecision{Type: online.Start, Request: int32(k), Place: e})
}

// release gives back what a running request has.
func (q *queue) release(k int) {
	q.giveBack(k)
	i, _ := slices.BinarySearch(q.running, k)
	q.running = slices.Delete(q.running, i, i+1)
}

func (q *queue) occupy(k int, e *model.Embedding) {
	r := &q.Requests[k]
	q.Add(e, r.VMs, r.Bandwidth)
}

func (q *queue) giveBack(k int) {
	r := &q.Requests[k]
	q.Remove(&q.requests[k].Last().Place, r.VMs, r.Bandwidth)
	q.releases++
}

// suspend puts a running request that has given back its room into the queue, for one that has started: it is suspended
// before that.
func (q *queue) suspend(k int) {
	last := len(q.decisions) - 1
	q.decisions = append(q.decisions, q.decisions[last])
	q.decisions[last] = online.TVCDecision{Type: online.Suspend, Request: int32(k)}
	q.halt(k)
}

// halt puts a running request that has given back its room into the queue.
func (q *queue) halt(k int) {
	q.preempted++
	q.requests[k].Suspend(q.now)
	i, _ := slices.BinarySearch(q.running, k)
	q.running = slices.Delete(q.running, i, i+1)
	q.wait(k)
}
