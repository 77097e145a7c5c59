// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// SinnenSousa is contention-aware list scheduling (Sinnen, Sousa: Communication Contention in Task Scheduling, IEEE
// TPDS 2005). It takes tasks by descending upward rank. A task's incoming edges are scheduled on the links of their
// routes like tasks on machines. Each link serves one transfer at a time, inserted into the first gap that all links of
// the route have in common. The task goes where it finishes first. Edges of a task are scheduled in the order of their
// producers' finish.
//
// Its transfers don't overlap on any link, so each gets a lone transfer's rate under the instance's transfer model, and
// the schedule is as planned. Under the ideal model the plan is replayed without contention.
//
// O(E M P log E) for routes of P links (M trials of each task).
func SinnenSousa(ctx context.Context, d *model.DAG, set model.Settings) (*model.Schedule, error) {
	return schedule(sinnenSousa(ctx, d, set))
}

func sinnenSousa(ctx context.Context, d *model.DAG, _ model.Settings) (*model.Schedule, []model.Round, error) {
	g := view.Shared(ctx, d, view.OfDAG)
	b := newBuilder(newCosts(g, nil))
	c := contention{builder: b, replay: dagplay.NewReplay(g), links: make([]*timeline, len(g.Links)),
		sent: make([]float64, len(g.Data)), begun: make([]float64, len(g.Data)), arrived: make([]float64, len(g.Data)), ended: make([]float64, len(g.Data)),
		there: map[[2]int32]int32{}}
	for l := range c.links {
		c.links[l] = newTimeline()
	}
	for _, t := range byPriority(g, b.upward()) {
		if meter.Stop(ctx, int64(g.Machines)/4+2) {
			return nil, nil, stopped(ctx)
		}
		edges := c.byFinish(t)
		best, start, first := int32(-1), 0.0, math.Inf(1)
		for m := range int32(g.Machines) {
			ready := c.receive(edges, m)
			s := b.find(t, m, ready)
			if finish := s + b.cost(t, m); less(finish, first) {
				best, start, first = m, s, finish
			}
			c.giveBack(edges, m)
		}
		if best < 0 {
			p, err := startPlan(ctx, g)
			if err != nil {
				return nil, nil, err
			}
			return played(ctx, d, g, p)
		}
		c.receive(edges, best)
		c.keep(edges, best)
		b.place(t, best, start)
	}
	p := b.plan()
	if g.Transfer == model.TransferIdeal {
		return idealSchedule(d, g, p), nil, nil
	}
	return d.Schedule(b.machine, b.start, c.sent),
		[]model.Round{{Round: 1, Planned: dagplay.Ideal(g, p), Realistic: b.makespan(), Kept: true}}, nil
}

// contention is a schedule under construction with its links' timelines.
type contention struct {
	*builder
	replay               *dagplay.Replay
	links                []*timeline
	sent, begun, arrived []float64          // by edge; begun: after the start-up, or +Inf if links aren't booked
	ended                []float64          // by edge: end of the booking
	there                map[[2]int32]int32 // by file of several edges and machine: the edge that books it
	edges                []int32            // scratch
}

// byFinish lists the edges into t by their producers' finish, ties by number.
func (c *contention) byFinish(t int32) []int32 {
	c.edges = append(c.edges[:0], c.g.Pred(t)...)
	for i := 1; i < len(c.edges); i++ {
		for k := i; k > 0 && c.finish[c.g.From[c.edges[k]]] < c.finish[c.g.From[c.edges[k-1]]]; k-- {
			c.edges[k], c.edges[k-1] = c.edges[k-1], c.edges[k]
		}
	}
	return c.edges
}

// receive schedules the edges to machine m and returns when the last arrives.
func (c *contention) receive(edges []int32, m int32) float64 {
	g, ready := c.g, 0.0
	for _, e := range edges {
		from := c.machine[g.From[e]]
		sent := c.finish[g.From[e]]
		switch {
		case !c.replay.Contends(from, m) || g.Data[e] == 0:
			c.arrived[e] = sent + g.Comm(e, from, m)
		default:
			data, asks, there := c.rest(e, m)
			sent = max(sent, asks)
			if c.begun[e] = math.Inf(1); data == 0 {
				c.arrived[e] = max(sent, there)
				break
			}
			length := data / loneRate(g, from, m)
			begin := c.common(g.Route(from, m), sent+g.Startup(from, m), length)
			for _, l := range g.Route(from, m) {
				c.links[l].occupy(begin, begin+length)
			}
			c.begun[e], c.ended[e] = begin, begin+length
			sent, c.arrived[e] = max(sent, begin-g.Startup(from, m)), max(there, begin+length) // the difference is rounded
		}
		c.sent[e] = sent
		ready = max(ready, c.arrived[e])
	}
	return ready
}

// rest returns the data of edge e that no edge before it has booked to machine m, and when those others start and their
// data are there. An edge starts no sooner than they do: so each file is sent when it is booked, and the data that are
// sent in a booking, in files side by side, take no longer than in one transfer.
func (c *contention) rest(e, m int32) (data, asks, there float64) {
	x := c.g.Files
	if x == nil {
		return c.g.Data[e], 0, 0
	}
	for i := x.At[e]; i < x.At[e+1]; i++ {
		first, booked := c.there[[2]int32{x.File[i], m}]
		if !booked || x.File[i] < 0 {
			data += x.Size[i]
			continue
		}
		asks, there = max(asks, c.sent[first]), max(there, c.arrived[first])
	}
	return data, asks, there
}

// keep notes the files that the edges have booked to machine m.
func (c *contention) keep(edges []int32, m int32) {
	x := c.g.Files
	if x == nil {
		return
	}
	for _, e := range edges {
		for i := x.At[e]; i < x.At[e+1]; i++ {
			k := [2]int32{x.File[i], m}
			if _, booked := c.there[k]; !booked && k[0] >= 0 && c.machine[c.g.From[e]] != m {
				c.there[k] = e
			}
		}
	}
}

// giveBack undoes receive.
func (c *contention) giveBack(edges []int32, m int32) {
	g := c.g
	for _, e := range edges {
		from := c.machine[g.From[e]]
		if from == m || !c.replay.Contends(from, m) || g.Data[e] == 0 || math.IsInf(c.begun[e], 1) {
			continue
		}
		for _, l := range g.Route(from, m) {
			c.links[l].release(c.begun[e], c.ended[e])
		}
	}
}

// common returns the earliest start at ready or later from which all links are free
// for length.
func (c *contention) common(links []int32, ready, length float64) float64 {
	for {
		at := ready
		for _, l := range links {
			at = c.links[l].find(at, length)
		}
		if at == ready {
			return at
		}
		ready = at
	}
}
