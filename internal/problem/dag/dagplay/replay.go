// SPDX-License-Identifier: MIT

package dagplay

import (
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// Replay plays plans under the graph's transfer model by discrete-event simulation:
// each task starts as soon as its machine and its data are there, each transfer as
// soon as its producer has finished. It may be used again and again, by one
// goroutine at a time.
//
// Transfers with the same route, weight and path rate always have equal rates, so they are
// one class with one virtual clock, the data served; the rates of the classes are
// max-min fair, in proportion to the weights. A run takes O((V + E) (log (V + E) + C L)) for C classes under way on
// L links; without contention O(V + E).
//
// Without contention it is its view.Play. After a run, Start, Finish, Sent and
// Arrived hold the times.
type Replay struct {
	*view.Play
	g      *view.Graph
	Shares bool // some transfers share links under the model
	// Stop, if not nil, is asked during a run with shared links, with the effort since it was
	// asked last (meter.Stop). If it says so, the run ends.
	Stop    func(effort int64) bool
	files   *files    // nil if edges have no files: then each is a transfer, and what says file is an edge
	classOf []int32   // of transfers from machine m to n at [m*Machines+n], -1 if they share no link
	classes []class   // transfers with the same route and rate
	flows   []int64   // scratch, by link: the weight of transfers under way
	spare   []float64 // scratch, by link: capacity without a transfer yet
	open    []int64   // scratch, by link: the weight of transfers without a rate yet

	work    int64     // of runs, in some 20 ns
	machine []int32   // the plan's
	missing []int32   // what a task waits for: edges and its machine
	next    []int32   // the task after it on its machine
	left    [][]int64 // capacity of each machine beside its tasks; nil: machines run one at a time
	waiting []int32   // task that waits for room on each machine, -1 without
	held    []int32   // what a transfer waits for: its producer and transfers before it
	heldBy  [][]int32
	from    []float64 // of each transfer: it starts no sooner; nil: as soon as it can
	queue   events
	now     float64
	done    int
	dirty   []bool  // by part
	active  []int32 // classes with transfers under way
	changed []int32 // scratch
}

// class is the transfers that share one route and one path rate.
type class struct {
	links  []int32
	limit  float64 // a transfer's largest rate
	weight int64
	part   int32   // connected component of classes that share links
	rate   float64 // of each transfer now, data units per second
	served float64 // virtual clock: data that a transfer under way from the start has got
	since  float64 // time of served
	due    []flow  // heap by end
	at     float64 // time at which the first of them ends; +Inf without any
}

type flow struct {
	end  float64 // on its class's virtual clock
	file int32
}

// Hold makes a transfer wait until another has arrived.
type Hold struct{ Edge, After int32 }

// rounding is the relative difference up to which clocks and rates of a replay are
// equal: they must be so to the judge, too.
const rounding = 1e-15

// askEvery is the number of instants after which Stop is asked: some milliseconds.
const askEvery = 256

// NewReplay prepares the replay of plans for g.
func NewReplay(g *view.Graph) *Replay {
	r := &Replay{Play: view.NewPlay(g), g: g, classOf: make([]int32, g.Machines*g.Machines),
		missing: make([]int32, g.Tasks), next: make([]int32, g.Tasks)}
	for k := range r.classOf {
		r.classOf[k] = -1
	}
	if g.Transfer != model.TransferIdeal {
		r.findClasses()
	}
	if g.Files != nil {
		r.files = newFiles(g)
	}
	if g.Room != nil {
		r.left, r.waiting = make([][]int64, g.Machines), make([]int32, g.Machines)
	}
	return r
}

// findClasses finds the classes of transfers and their connected components.
func (r *Replay) findClasses() {
	g := r.g
	linkPart := make([]int32, len(g.Links))
	for l := range linkPart {
		linkPart[l] = int32(l)
	}
	root := func(l int32) int32 {
		for linkPart[l] != l {
			linkPart[l] = linkPart[linkPart[l]]
			l = linkPart[l]
		}
		return l
	}
	known := map[int32][]int32{} // classes by first link
	for m := range int32(g.Machines) {
		for n := range int32(g.Machines) {
			links := g.Route(m, n)
			pair := int(m)*g.Machines + int(n)
			limit := g.Rate[pair]
			if m == n || len(links) == 0 || limit == 0 {
				continue
			}
			for _, k := range known[links[0]] {
				if r.classes[k].limit == limit && r.classes[k].weight == g.Weight(m, n) && slices.Equal(r.classes[k].links, links) {
					r.classOf[pair] = k
				}
			}
			if r.classOf[pair] < 0 {
				r.classOf[pair] = int32(len(r.classes))
				known[links[0]] = append(known[links[0]], r.classOf[pair])
				r.classes = append(r.classes, class{links: links, limit: limit, weight: g.Weight(m, n), at: math.Inf(1)})
				for _, l := range links[1:] {
					linkPart[root(l)] = root(links[0])
				}
			}
		}
	}
	r.Shares = len(r.classes) > 0
	number := map[int32]int32{}
	for k := range r.classes {
		l := root(r.classes[k].links[0])
		if _, ok := number[l]; !ok {
			number[l] = int32(len(number))
		}
		r.classes[k].part = number[l]
	}
	r.dirty = make([]bool, len(number))
	r.flows, r.spare, r.open = make([]int64, len(g.Links)), make([]float64, len(g.Links)), make([]int64, len(g.Links))
}

// Contends reports whether transfers from machine m to n share links under the
// transfer model.
func (r *Replay) Contends(m, n int32) bool { return r.classOf[int(m)*r.g.Machines+int(n)] >= 0 }

// Run plays the plan and returns the makespan in seconds. The holds make transfers
// wait for others. The makespan is +Inf if tasks and transfers wait for each other
// in a circle, or if Stop ends the run: then nothing is known of the plan.
func (r *Replay) Run(p Plan, holds []Hold) float64 {
	if !r.Shares && len(holds) == 0 {
		r.work += int64(r.g.Tasks+len(r.g.Data)) / 2
		return r.Play.Run(p.Machine, p.Order)
	}
	g := r.g
	g.Waits(p.Order, r.missing, r.next)
	r.machine, r.now, r.done = p.Machine, 0, 0
	r.queue = r.queue[:0]
	r.setHolds(holds)
	for _, k := range r.active { // the last run ended in a circle
		c := &r.classes[k]
		c.due, c.at = c.due[:0], math.Inf(1)
	}
	r.active = r.active[:0]
	if r.files != nil {
		r.files.reset(g, p.Machine)
		r.work += int64(len(r.files.Edge)) / 4
	}
	for m := range r.left {
		r.left[m], r.waiting[m] = append(r.left[m][:0], g.Room.Of(int32(m))...), -1
	}
	for t := range int32(g.Tasks) {
		if r.missing[t] == 0 {
			r.begin(t)
		}
	}
	makespan := 0.0
	for events := 0; r.done < g.Tasks; events++ {
		if events%askEvery == askEvery-1 && r.Stop != nil && r.Stop(r.Effort()) {
			return math.Inf(1)
		}
		r.rates()
		at := math.Inf(1)
		if len(r.queue) > 0 {
			at = r.queue[0].at
		}
		for _, k := range r.active {
			at = min(at, r.classes[k].at)
		}
		if math.IsInf(at, 1) {
			return at
		}
		r.now = at
		for len(r.queue) > 0 && r.queue[0].at <= at {
			x := r.queue.pop()
			switch x.what {
			case taskEnds:
				makespan = max(makespan, at)
				r.taskEnd(x.id)
			case arrives:
				r.arrive(x.id)
			case lands:
				r.land(x.id)
			case flowBegins:
				r.flowBegin(x.id)
			case sends:
				r.send(x.id)
			}
		}
		kept := r.active[:0]
		for _, k := range r.active {
			c := &r.classes[k]
			if c.at <= at {
				r.flowEnds(c)
			}
			if len(c.due) > 0 {
				kept = append(kept, k)
			}
		}
		r.active = kept
	}
	return makespan
}

// RunFrom plays the plan with transfers that start no sooner than at given times.
func (r *Replay) RunFrom(p Plan, from []float64) float64 {
	r.from = from
	defer func() { r.from = nil }()
	return r.Run(p, nil)
}

// Effort returns the cost of the runs since its last call, for meter.Stop.
func (r *Replay) Effort() int64 {
	effort := r.work / 50
	r.work -= effort * 50
	return effort
}

func (r *Replay) setHolds(holds []Hold) {
	if r.held == nil {
		r.held, r.heldBy = make([]int32, len(r.g.Data)), make([][]int32, len(r.g.Data))
	}
	for e := range r.held {
		r.held[e] = 1
		r.heldBy[e] = r.heldBy[e][:0]
	}
	for _, h := range holds {
		r.held[h.Edge]++
		r.heldBy[h.After] = append(r.heldBy[h.After], h.Edge)
	}
}

// begin starts a task that waits for nothing but, on a machine with a capacity, for room.
func (r *Replay) begin(t int32) {
	m := r.machine[t]
	cost := r.g.Cost[int(t)*r.g.Machines+int(m)]
	if r.left != nil {
		r.missing[t] = -1 // it has begun to wait
		if cost > 0 {
			need := r.g.Room.Need(t, m)
			if !view.Fits(need, r.left[m]) {
				r.waiting[m] = t
				return
			}
			for k, n := range need {
				r.left[m][k] -= n
			}
		}
	}
	r.Start[t] = r.now
	r.queue.push(event{r.now + cost, taskEnds, t})
	if r.left != nil {
		r.follow(t)
	}
}

// follow lets the task after t on its machine go.
func (r *Replay) follow(t int32) {
	if s := r.next[t]; s >= 0 {
		if r.missing[s]--; r.missing[s] == 0 {
			r.begin(s)
		}
	}
}

func (r *Replay) taskEnd(t int32) {
	r.Finish[t] = r.now
	r.done++
	if r.left == nil {
		r.follow(t)
	} else if m := r.machine[t]; r.g.Cost[int(t)*r.g.Machines+int(m)] > 0 {
		for k, n := range r.g.Room.Need(t, m) {
			r.left[m][k] += n
		}
		if s := r.waiting[m]; s >= 0 {
			r.waiting[m] = -1
			r.begin(s)
		}
	}
	for _, e := range r.g.Succ(t) {
		r.release(e)
	}
}

// release removes one of the things that edge e waits for.
func (r *Replay) release(e int32) {
	if r.held[e]--; r.held[e] > 0 {
		return
	}
	if r.from != nil && r.from[e] > r.now {
		r.queue.push(event{r.from[e], sends, e})
		return
	}
	r.send(e)
}

// send starts a transfer.
func (r *Replay) send(e int32) {
	g := r.g
	m, n := r.machine[g.From[e]], r.machine[g.To[e]]
	r.Sent[e] = r.now
	switch {
	case m == n && g.Comm(e, m, n) == 0:
		r.arrive(e)
	case m != n && r.files != nil:
		r.ask(e, m, n)
	case r.Contends(m, n) && g.Data[e] > 0:
		r.queue.push(event{r.now + g.Startup(m, n), flowBegins, e})
	default:
		r.queue.push(event{r.now + g.Comm(e, m, n), arrives, e})
	}
}

func (r *Replay) arrive(e int32) {
	r.Arrived[e] = r.now
	t := r.g.To[e]
	if r.missing[t]--; r.missing[t] == 0 {
		r.begin(t)
	}
	for _, h := range r.heldBy[e] {
		r.release(h)
	}
}

func (r *Replay) flowBegin(file int32) {
	g, e, data := r.g, file, r.g.Data
	if r.files != nil {
		e, data = r.files.Edge[file], r.files.Size
	}
	k := r.classOf[int(r.machine[g.From[e]])*g.Machines+int(r.machine[g.To[e]])]
	c := &r.classes[k]
	if len(c.due) == 0 {
		r.active = append(r.active, k)
		c.rate, c.served, c.at = 0, 0, math.Inf(1)
	}
	c.serve(r.now)
	c.push(flow{c.served + data[file], file})
	r.dirty[c.part] = true
}

// flowEnds ends the transfers of a class that are due now.
func (r *Replay) flowEnds(c *class) {
	c.serve(r.now)
	// The first one is due by definition; others are due with it up to rounding.
	end := c.due[0].end
	for len(c.due) > 0 && c.due[0].end <= end+rounding*math.Abs(end) {
		r.land(c.pop().file)
	}
	r.dirty[c.part] = true
	c.at = math.Inf(1)
}

// serve advances the class's virtual clock to now.
func (c *class) serve(now float64) {
	c.served += c.rate * (now - c.since)
	c.since = now
}

// rates recomputes the rates of the components that changed: max-min fairness by
// progressive filling (Bertsekas, Gallager: Data Networks, section 6.5.2), with the
// path's rate as each transfer's own limit.
func (r *Replay) rates() {
	for _, k := range r.active {
		if p := r.classes[k].part; r.dirty[p] {
			r.dirty[p] = false
			r.fill(p)
		}
	}
}

func (r *Replay) fill(part int32) {
	active := r.changed[:0]
	r.work += 10 * int64(1+len(r.active))
	for _, k := range r.active {
		c := &r.classes[k]
		if c.part != part {
			continue
		}
		c.serve(r.now)
		active = append(active, k)
		for _, l := range c.links {
			r.flows[l] += c.weight * int64(len(c.due))
		}
	}
	for _, k := range active {
		for _, l := range r.classes[k].links {
			if r.flows[l] == 0 {
				continue
			}
			r.spare[l], r.open[l] = r.g.Links[l], r.flows[l]
			if r.g.Transfer != model.TransferFair {
				r.spare[l] *= model.TCPShare(int32(r.flows[l]))
			}
			r.flows[l] = 0
		}
	}
	r.changed = active // keeps its memory
	for open := active; len(open) > 0; {
		// The least share of any class is the rate, for each weight of 1, of all that have it.
		least := math.Inf(1)
		r.work += 2 * int64(len(open))
		for _, k := range open {
			least = min(least, r.shareOf(&r.classes[k]))
		}
		kept := 0
		for i, k := range open {
			if r.shareOf(&r.classes[k]) > least+rounding*least {
				open[i], open[kept] = open[kept], k
				kept++
			}
		}
		for _, k := range open[kept:] {
			c := &r.classes[k]
			weight := c.weight * int64(len(c.due))
			c.rate = least * float64(c.weight)
			c.at = r.now + max(0, c.due[0].end-c.served)/c.rate
			for _, l := range c.links {
				r.spare[l] -= least * float64(weight)
				r.open[l] -= weight
			}
		}
		open = open[:kept]
	}
}

// shareOf returns the share of the capacity left that a class's transfers would get now, for a weight of 1.
func (r *Replay) shareOf(c *class) float64 {
	share := c.limit / float64(c.weight)
	for _, l := range c.links {
		share = min(share, r.spare[l]/float64(r.open[l]))
	}
	return share
}
