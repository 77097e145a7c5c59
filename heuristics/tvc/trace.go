// SPDX-License-Identifier: MIT

package tvc

import (
	"fmt"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/num/steps"
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// tracer reports the steps of AdaBa; nil: nobody listens.
type tracer struct {
	steps.Teller
	of string // the request in hand
}

// newTracer returns the tracer of a run, and makes AdaBa's embedder report each step to it.
func newTracer(q *sequence, set model.Settings) *tracer {
	if set.Trace == nil {
		return nil
	}
	q.tracer = &tracer{Teller: set.Trace}
	return q.tracer
}

func (x *tracer) step(what string, values []model.StepValue, words string, args ...any) {
	x.Tell(what, x.of, values, "request %s: %s", x.of, fmt.Sprintf(words, args...))
}

// arrives reports the arrival of a request, and what is free.
func (x *tracer) arrives(d *fattree.DataCentre, q *online.TVCRequest) {
	if x == nil {
		return
	}
	x.of = q.ID
	at := d.Seconds(q.Arrival)
	x.step("arrive", steps.Figures("time", at, "free slots", float64(d.AllFree)),
		"at %.9g s, %d VMs at %.6g Mbit/s for %.9g s; %d of %d slots are free", at, q.VMs, float64(q.Bandwidth)/1e6, d.Seconds(q.Duration), d.AllFree, d.Servers*d.Slots)
}

// decided reports whether the request is accepted, and on which servers.
func (x *tracer) decided(e *model.Embedding, fits bool) {
	switch {
	case x == nil:
	case !fits:
		x.step("decline", nil, "rejected: it doesn't fit in the empty data centre")
	case e == nil:
		x.step("decline", nil, "rejected")
	default:
		var on steps.Candidates
		for _, s := range e.Servers {
			on.Add(fmt.Sprintf("%d on server %d", s.VMs, s.Server), steps.Figures(fmt.Sprintf("VMs on server %d", s.Server), float64(s.VMs))...)
		}
		x.step("accept", on.Figures, "accepted below %s, VMs: %s", e.Switch, &on)
	}
}

// embed is subtrees.find with q.try. It reports the switches that are passed over on the way, between two that are
// tried, in the order of find.
func (x *tracer) embed(q *sequence, d *fattree.DataCentre, n int, b int64, lowest model.Layer) (model.Embedding, bool) {
	var hosts []model.Switch
	h, routes := d.Half, d.Half
	if d.NonBlocking {
		routes = 1
	}
	for layer := lowest; layer <= model.LayerCore; layer++ {
		groups, each := d.K, h
		if layer == model.LayerAggregation {
			each = routes
		} else if layer == model.LayerCore {
			groups, each = routes, routes
		}
		for g := range groups {
			for i := range each {
				hosts = append(hosts, model.Switch{Layer: layer, Group: g, Index: i})
			}
		}
	}
	e, ok := q.find(d, n, b, lowest, func(host model.Switch) (model.Embedding, bool) {
		at := 0
		for hosts[at] != host {
			at++
		}
		x.passed(q, hosts[:at])
		hosts = hosts[at+1:]
		return q.try(host)
	})
	switch {
	case ok:
	case d.AllFree < n:
		x.step("pass", nil, "%d slots are free in all, %d fewer than needed", d.AllFree, n-d.AllFree)
	default:
		x.passed(q, hosts)
	}
	return e, ok
}

// passed reports why switches can't host the request, one step for each layer.
func (x *tracer) passed(q *sequence, hosts []model.Switch) {
	var over steps.Candidates
	for k, host := range hosts {
		free, room := q.AllFree, 0
		switch host.Layer {
		case model.LayerEdge:
			free = q.EdgeFree[host.Group*q.Half+host.Index]
			room = q.edge(host.Group*q.Half + host.Index).most(q.n)
		case model.LayerAggregation:
			free, room = q.PodFree[host.Group], q.pod(host.Group, host.Index).most(q.n)
		case model.LayerCore:
			room = q.core(host.Group, host.Index).most(q.n)
		}
		words := fmt.Sprintf("%s (links for %d of %d VMs)", host, room, q.n)
		if free < q.n {
			words, room = fmt.Sprintf("%s (free slots: %d)", host, free), free
		}
		over.Add(words, steps.Figures("room below "+host.String(), float64(room))...)
		if k+1 == len(hosts) || hosts[k+1].Layer != host.Layer {
			x.step("pass", over.Figures, "passed over: %s", &over)
			over = steps.Candidates{}
		}
	}
}

// again reports that the servers below a host would be filled as they were in vain before.
func (x *tracer) again(host model.Switch) {
	if x != nil {
		x.step("try", nil, "below %s the links leave the same room as below the last: no", host)
	}
}

// filled reports how many VMs the servers below a host took, in their order.
func (x *tracer) filled(q *sequence, host model.Switch, ok bool) {
	if x == nil {
		return
	}
	vms := map[int]int{}
	left := q.n
	for _, s := range q.placed {
		vms[s.Server] = s.VMs
		left -= s.VMs
	}
	var on steps.Candidates
	still := q.n
	for _, s := range q.servers.order {
		if still == 0 {
			break
		}
		n := vms[int(s)]
		still -= n
		text := fmt.Sprintf("server %d takes %d", s, n)
		if free := int(q.Free[s]); n < min(free, still+n) {
			text += fmt.Sprintf(" in %d free slots, its links are full", free)
		} else {
			text += fmt.Sprintf(" of %d", free)
		}
		on.Add(text, steps.Figures(fmt.Sprintf("server %d", s), float64(n))...)
	}
	end := "all VMs have a server"
	if !ok {
		end = fmt.Sprintf("no, %d VMs are left over", left)
	}
	nearest := float64(q.Slots) * float64(q.b) / float64(max(q.Most, q.b))
	x.step("try", on.Figures, "below %s, servers whose free slots are nearest to %.4g first: %s: %s", host, nearest, &on, end)
}
