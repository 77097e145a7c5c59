// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// Constraints of TVC (section 3 of its paper, and model.TVC). Those on runs in
// segments hold, too (see emptyRun).
const (
	delayedStart     = "delayed_start"     // in loss mode: a start after the arrival
	suspendedRequest = "suspended_request" // in loss mode: a run of several segments
	vmCount          = "vm_count"          // the number of VMs isn't that asked for, or a server is listed with less than one
	unknownServer    = "unknown_server"
	serverOrder      = "server_order" // servers that aren't listed once each in ascending order
	unknownSwitch    = "unknown_switch"
	notBelow         = "not_below"        // a server that isn't below the switch that hosts the virtual switch
	serverSlots      = "server_slots"     // more VMs on a server than it has slots
	serverLink       = "server_link"      // the link above a server carries more than its rate
	edgeLink         = "edge_link"        // a link between an edge and an aggregation switch
	aggregationLink  = "aggregation_link" // a link between an aggregation and a core switch
)

// tvc judges embeddings. Times are compared in whole microseconds and rates in
// whole bits per second, so nothing is rounded and nothing tolerated. Amounts are
// shares: of a request's duration, a server's slots, a link's rate.
//
// Slots and links are checked at every start of a segment. That is enough: the use grows at starts alone, and ends come
// first at an instant. So from a start up to the next one no more is in use than at the first of them.
//
// A server without a number in the data centre or with less than one VM is left
// out of the further checks, as are the links above a server that isn't below the
// switch. segmentJudge.read describes how the objectives are computed.
//
// The time is O((s + v) log s) and the memory O(s + v), for s segments of v servers in all.
func tvc(ctx context.Context, in *model.TVC, e *model.Embeddings, r *Report) {
	j := newTVCJudge(in, r)
	migration, _ := micros(in.MigrationS)
	runs := &segmentJudge[model.Embedding]{ctx: ctx, report: r, noun: "request", requests: len(in.Requests), steady: true, migration: migration,
		request: func(k int) (string, int64, int64) {
			q := &in.Requests[k]
			arrival, _ := micros(q.ArrivalS)
			duration, _ := micros(q.DurationS)
			return q.ID, arrival, duration
		},
		moved: func(from, to *model.Embedding) bool { return !slices.Equal(from.Servers, to.Servers) },
	}
	segments, complete := runs.read(e.Runs)
	for k, run := range segments {
		if ctx.Err() != nil {
			return
		}
		id, arrival, duration := runs.request(k)
		switch {
		case in.Queue:
			if run == nil && j.fits(&in.Requests[k]) {
				r.add(declinedRequest, 0, "request %q fits the empty data centre and doesn't run, in queue mode it must", id)
			}
		case len(run) > 1:
			r.add(suspendedRequest, 0, "request %q runs in %d segments, in loss mode it can't be suspended", id, len(run))
		}
		if !in.Queue && len(run) > 0 && run[0].start > arrival {
			r.add(delayedStart, share(float64(run[0].start-arrival), duration), "request %q starts at %v and arrives at %v, in loss mode it can't wait", id, inSeconds(run[0].start), inSeconds(arrival))
		}
	}
	runs.replay(segments, j.start, j.end, nil)
	if complete && ctx.Err() == nil {
		if in.Queue {
			r.Objective, r.Second = j.responses(segments)
		} else {
			r.Objective, r.Second = j.accepted(segments)
		}
	}
}

// layerRates returns the rates of the links above servers, edge switches and
// aggregation switches, in Mbps.
func layerRates(f *model.FatTree) [3]float64 {
	rates := [3]float64{f.LinkMbps, f.LinkMbps, f.LinkMbps}
	if f.LayersMbps != nil {
		for layer, rate := range [3]float64{f.LayersMbps.ServerMbps, f.LayersMbps.EdgeMbps, f.LayersMbps.AggregationMbps} {
			if rate != 0 {
				rates[layer] = rate
			}
		}
	}
	return rates
}

// tvcJudge holds the use at a moment.
type tvcJudge struct {
	in     *model.TVC
	report *Report
	half   int      // k/2
	rates  [3]int64 // bit/s of the links above servers, edge and aggregation switches
	used   map[resource]*wideSum
	runs   map[*segment[model.Embedding]][]use
}

func newTVCJudge(in *model.TVC, r *Report) *tvcJudge {
	j := &tvcJudge{in: in, report: r, half: in.FatTree.K / 2, used: map[resource]*wideSum{}, runs: map[*segment[model.Embedding]][]use{}}
	for layer, rate := range layerRates(&in.FatTree) {
		j.rates[layer], _ = micros(rate)
	}
	return j
}

// resource is a server's slots or a link. Switches count through the whole data
// centre, layer by layer: edge or aggregation switch i of pod p is p·k/2 + i.
type resource struct {
	kind  int // of resourceConstraints
	lower int // the server, or the switch at the lower end
	upper int // of the switches that the lower end is joined to; 0 for servers
}

// Kinds of resources: slots, and links by layer from below.
const (
	slotsOfServer = iota
	linkOfServer
	linkOfEdge
	linkOfAggregation
)

// resourceConstraints are the constraints on the kinds of resources.
var resourceConstraints = [...]string{serverSlots, serverLink, edgeLink, aggregationLink}

// capacity returns the capacity of the resource: slots, or bit/s.
func (j *tvcJudge) capacity(x resource) int64 {
	if x.kind == slotsOfServer {
		return int64(j.in.FatTree.Slots)
	}
	return j.rates[x.kind-linkOfServer]
}

// words names the resource.
func (j *tvcJudge) words(x resource) string {
	pod, at := x.lower/j.half, x.lower%j.half
	switch x.kind {
	case slotsOfServer:
		return fmt.Sprintf("server %d has more VMs than its %d slots", x.lower, j.in.FatTree.Slots)
	case linkOfServer:
		return fmt.Sprintf("the link above server %d is overloaded", x.lower)
	case linkOfEdge:
		return fmt.Sprintf("the link from edge-%d-%d to aggregation-%d-%d is overloaded", pod, at, pod, x.upper)
	}
	return fmt.Sprintf("the link from aggregation-%d-%d to core-%d-%d is overloaded", pod, at, at, x.upper)
}

// start checks a segment's place and takes its resources.
func (j *tvcJudge) start(s *segment[model.Embedding]) {
	j.place(s)
	j.runs[s] = j.uses(s)
	for k := range j.runs[s] {
		u := &j.runs[s][k]
		if u.total = j.used[u.of]; u.total == nil {
			u.total = new(wideSum)
			j.used[u.of] = u.total
		}
		u.total.add(u.amount, u.rate)
		capacity := j.capacity(u.of)
		over := *u.total
		if over.add(-capacity, 1); over.positive() {
			by, _ := new(big.Rat).SetFrac(over.integer(), big.NewInt(capacity)).Float64()
			j.report.add(resourceConstraints[u.of.kind], by, "%s when request %q starts at %v", j.words(u.of), s.id, inSeconds(s.start))
		}
	}
}

// end gives back the resources that start took.
func (j *tvcJudge) end(s *segment[model.Embedding]) {
	for _, u := range j.runs[s] {
		if u.total.add(-u.amount, u.rate); *u.total == (wideSum{}) {
			delete(j.used, u.of)
		}
	}
	delete(j.runs, s)
}

// place checks an embedding by itself.
func (j *tvcJudge) place(s *segment[model.Embedding]) {
	r, p, h := j.report, s.place, j.half
	servers := 2 * h * h * h
	total := new(big.Int)
	for i, x := range p.Servers {
		if x.Server < 0 || x.Server >= servers {
			r.add(unknownServer, 0, "request %q is on server %d, there are 0 to %d", s.id, x.Server, servers-1)
		}
		if x.VMs < 1 {
			r.add(vmCount, 0, "request %q lists server %d with %d VMs, must be at least 1", s.id, x.Server, x.VMs)
		}
		if i > 0 && x.Server <= p.Servers[i-1].Server {
			r.add(serverOrder, 0, "request %q lists server %d after %d, must be in ascending order, each once", s.id, x.Server, p.Servers[i-1].Server)
		}
		total.Add(total, big.NewInt(int64(x.VMs)))
	}
	if n := j.in.Requests[s.request].VMs; total.Cmp(big.NewInt(int64(n))) != 0 {
		r.add(vmCount, 0, "request %q asks for %d VMs and gets %d", s.id, n, total)
	}
	if !j.known(p.Switch) {
		r.add(unknownSwitch, 0, "request %q has its virtual switch at %v, there is no such switch", s.id, p.Switch)
		return
	}
	for _, x := range p.Servers {
		if x.Server >= 0 && x.Server < servers && !j.below(x.Server, p.Switch) {
			r.add(notBelow, 0, "request %q has VMs on server %d, which isn't below %s", s.id, x.Server, p.Switch)
		}
	}
}

// known reports whether there is such a switch.
func (j *tvcJudge) known(s model.Switch) bool {
	groups := 2 * j.half
	switch s.Layer {
	case model.LayerEdge, model.LayerAggregation:
	case model.LayerCore:
		groups = j.half
	default:
		return false
	}
	return s.Group >= 0 && s.Group < groups && s.Index >= 0 && s.Index < j.half
}

// below reports whether a server is below a switch: at an edge switch, in the pod
// of an aggregation switch, anywhere for a core switch.
func (j *tvcJudge) below(server int, s model.Switch) bool {
	h := j.half
	switch s.Layer {
	case model.LayerEdge:
		return server/h == s.Group*h+s.Index
	case model.LayerAggregation:
		return server/(h*h) == s.Group
	}
	return true
}

// use is an amount of one resource: so many VMs, at a rate each.
type use struct {
	of           resource
	amount, rate int64
	total        *wideSum // of the resource, while it is used
}

// uses returns a segment's use: slots, and the load of each link on the paths from its servers to the virtual switch. A
// link that has m of the N VMs below it carries min(m, N-m)·B; with model.HosePerPath, the sum of that over the servers
// below it, m the VMs on each.
func (j *tvcJudge) uses(s *segment[model.Embedding]) []use {
	h, servers, at := j.half, 2*j.half*j.half*j.half, s.place.Switch
	q := &j.in.Requests[s.request]
	n := int64(q.VMs)
	rate, _ := micros(q.BandwidthMbps)
	type part struct {
		of     resource
		amount int64
	}
	vms := make([]part, 0, len(s.place.Servers)) // by server, each once
	for _, x := range s.place.Servers {
		if x.Server >= 0 && x.Server < servers && x.VMs >= 1 {
			vms = append(vms, part{resource{kind: slotsOfServer, lower: x.Server}, int64(x.VMs)})
		}
	}
	total := func(parts []part) (sums []part) {
		slices.SortFunc(parts, func(a, b part) int {
			if a.of.lower != b.of.lower {
				return a.of.lower - b.of.lower
			}
			return a.of.upper - b.of.upper
		})
		for _, x := range parts {
			if last := len(sums) - 1; last >= 0 && sums[last].of == x.of {
				if sums[last].amount += x.amount; sums[last].amount < 0 { // the sum overflows
					sums[last].amount = 1<<63 - 1
				}
			} else {
				sums = append(sums, x)
			}
		}
		return sums
	}
	vms = total(vms)
	hose := func(m int64) int64 { return max(0, min(m, n-m)) }
	all := make([]use, 0, 4*len(vms))
	for _, x := range vms {
		all = append(all, use{of: x.of, amount: x.amount, rate: 1})
	}
	carry := func(parts []part) {
		perPath := j.in.Hose == model.HosePerPath
		if perPath {
			for i := range parts {
				parts[i].amount = hose(parts[i].amount)
			}
		}
		for _, x := range total(parts) {
			if !perPath {
				x.amount = hose(x.amount)
			}
			if x.amount > 0 {
				all = append(all, use{of: x.of, amount: x.amount, rate: rate})
			}
		}
	}
	var server, edge, aggregation []part
	for _, x := range vms {
		s, m := x.of.lower, x.amount
		server = append(server, part{resource{kind: linkOfServer, lower: s}, m})
		if !j.known(at) || !j.below(s, at) || j.in.FatTree.Fabric == model.FabricNonBlocking || at.Layer == model.LayerEdge {
			continue
		}
		// A path to core switch c of group a leads over aggregation switch a.
		up := at.Index
		if at.Layer == model.LayerCore {
			up = at.Group
			aggregation = append(aggregation, part{resource{linkOfAggregation, s/(h*h)*h + up, at.Index}, m})
		}
		edge = append(edge, part{resource{linkOfEdge, s / h, up}, m})
	}
	carry(server)
	carry(edge)
	carry(aggregation)
	return all
}

// suspensions counts the segments of embeddings after which their request goes on in
// another one; ok is false where there are no embeddings.
func suspensions(in model.Instance, s model.Solution) (n int, ok bool) {
	e, ok := s.(*model.Embeddings)
	if _, tvc := in.(*model.TVC); !ok || !tvc {
		return 0, false
	}
	for k := range e.Runs {
		n += max(0, len(e.Runs[k].Segments)-1)
	}
	return n, true
}
