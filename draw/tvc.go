// SPDX-License-Identifier: MIT

package draw

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// Sizes in points, and numbers of requests and pods.
const (
	fewClusters    = 30 // each is seen by itself in the chart of slots
	mostPods       = 8  // each server is drawn
	pitch          = 20.0
	widestTree     = 1340.0
	treeHeight     = 210.0 // from the core switches to the edge switches
	serverHeight   = 64.0
	slotsHeight    = 200.0
	waitingHeight  = 80.0
	sharesMatrix   = 180.0 // height of a matrix of shares at most
	clusterHeading = 20.0
)

// drawClusters draws virtual clusters in a fat-tree, in two parts.
//
// The upper part shows the data centre at one moment: the slots in use of each server, each request in a colour. The
// colour and width of each link show the share of its rate that is reserved. The moment is o.At or, if that is nil, the
// moment of the highest load: the start after which the shares of all links that bind have the largest sum. Ties go to
// the most slots in use, then the earliest. Above 8 pods the upper part shows, for each switch, the share of its slots
// and the fullest of its links instead.
//
// The lower part shows the slots in use over time, with up to 30 requests each by itself. It has a tick at the arrival
// of each request without a run. The requests that wait and those suspended are below in queue mode. An area shows the
// mean over each half point of the time axis, and paler the maximum.
//
// If o.Usage is set, there is the lower part alone.
//
// Unknown formats are errFormat. The error is model.ErrInvalid if the instance is invalid, or if o.At is outside of the
// time of the solution. So it is if e isn't a solution, or names missing servers or switches or more VMs than a server
// has slots. O(S log S + n log n) for S servers in all segments and n requests.
func drawClusters(w io.Writer, o Options, title string, in *model.TVC, e *model.Embeddings) error {
	if err := o.drawable(in); err != nil {
		return err
	}
	index, err := in.Index(e)
	if err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	l := &clustersLayout{sheet: sheet{Options: o, title: clean(title)}, in: in, tree: &in.FatTree}
	if err := l.read(e, index); err != nil {
		return err
	}
	if err := l.replay(); err != nil {
		return err
	}
	l.freeze()
	if err := l.place(); err != nil {
		return err
	}
	return l.write(w, l.paint)
}

// clustersTitle says how good the embeddings are.
func clustersTitle(in *model.TVC, e *model.Embeddings, o model.Objective, bound string) string {
	switch {
	case in.Queue:
		return fmt.Sprintf("%d of %d requests run, mean response %.5g s%s, mean bounded slowdown %.4g, %.0f suspensions", len(e.Runs), len(in.Requests), o.Value, bound, o.Second, o.Others[2])
	case in.EffectiveGoal() == model.GoalRevenue:
		return fmt.Sprintf("%d of %d requests accepted, revenue %.6g VM Mbit", len(e.Runs), len(in.Requests), o.Value) + bound
	}
	return fmt.Sprintf("%d of %d requests accepted", len(e.Runs), len(in.Requests)) + bound
}

// clustersLayout holds the drawing's parts and places.
type clustersLayout struct {
	timeAxis
	sheet
	in       *model.TVC
	tree     *model.FatTree
	clusters []cluster // by start
	without  []float64 // arrivals of the requests without a run
	steps    []clusterStep
	moment   float64

	// The data centre at the moment.
	used  [][]held                 // by server
	share [layersOfLinks][]float64 // of its rate, by link, see links

	treeY, serversY float64 // upper edges of core switches and servers
	slotsY, stripY  float64 // upper edge of the slots, of the strip of rejected requests
	waitingY        float64
	axisY           float64

	treeHigh, matrixHigh, slotsHigh, waitingHigh float64 // heights
}

// cluster is a segment of a run.
type cluster struct {
	request, vms int
	start, end   float64
	place        *model.Embedding
}

// held is a number of slots of one server that a request holds.
type held struct{ request, vms int }

// clusterStep holds the state from a time on.
type clusterStep struct{ at, used, waiting, suspended float64 }

// The layers of links, from below.
const (
	serverLinks = iota
	edgeLinks
	aggregationLinks
	layersOfLinks
)

// read checks the runs and lists their segments.
func (l *clustersLayout) read(e *model.Embeddings, index []int) error {
	bad := func(i int, format string, args ...any) error {
		return fmt.Errorf("draw: %w embeddings: %q %s", model.ErrInvalid, e.Runs[i].ID, fmt.Sprintf(format, args...))
	}
	runs := make([]bool, len(l.in.Requests))
	for i, k := range index {
		runs[k] = true
		for j := range e.Runs[i].Segments {
			s := &e.Runs[i].Segments[j]
			c := cluster{k, 0, s.StartS, s.EndS, &s.Place}
			if c.end < c.start {
				return bad(i, "runs from %v to %v, must not end before it starts", c.start, c.end)
			}
			if !l.tree.Has(s.Place.Switch) {
				return bad(i, "has its virtual switch on %v, there is no such switch", s.Place.Switch)
			}
			last := -1
			for _, x := range s.Place.Servers {
				switch {
				case x.Server <= last || x.Server >= l.tree.Servers():
					return bad(i, "has server %d after %d, must be ascending numbers from 0 to %d", x.Server, last, l.tree.Servers()-1)
				case x.VMs < 1 || x.VMs > l.tree.Slots:
					return bad(i, "has %d VMs on server %d, must be from 1 to %d", x.VMs, x.Server, l.tree.Slots)
				}
				last = x.Server
				c.vms += x.VMs
			}
			l.clusters = append(l.clusters, c)
		}
	}
	slices.SortStableFunc(l.clusters, func(a, b cluster) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.request, b.request))
	})
	for k, runs := range runs {
		if !runs {
			l.without = append(l.without, l.in.Requests[k].ArrivalS)
		}
	}
	return nil
}

// links calls f with the layer, the number and the load in Mbps of every link that a cluster loads. A link's number is
// the server's; edge switch · h + number of the aggregation switch; aggregation switch · h + number of the core switch
// in its group.
func (l *clustersLayout) links(c *cluster, f func(layer, link int, mbps float64)) {
	h, b, at := l.tree.Half(), l.in.Requests[c.request].BandwidthMbps, c.place.Switch
	aggregation := at.Index // number in the pod
	if at.Layer == model.LayerCore {
		aggregation = at.Group
	}
	hose := func(m int) int { return max(min(m, c.vms-m), 0) }
	above := func(layer model.Layer) bool {
		return at.Layer >= layer && l.tree.EffectiveFabric() == model.FabricOnePath
	}
	perPath := l.in.EffectiveHose() == model.HosePerPath
	for from := 0; from < len(c.place.Servers); { // one pod at a time
		pod := c.place.Servers[from].Server / (h * h)
		podVMs, podLoad := 0, 0
		for from < len(c.place.Servers) && c.place.Servers[from].Server/(h*h) == pod { // one edge switch
			edge := c.place.Servers[from].Server / h
			edgeVMs, edgeLoad := 0, 0
			for ; from < len(c.place.Servers) && c.place.Servers[from].Server/h == edge; from++ {
				x := c.place.Servers[from]
				f(serverLinks, x.Server, float64(hose(x.VMs))*b)
				edgeVMs += x.VMs
				edgeLoad += hose(x.VMs)
			}
			podVMs += edgeVMs
			podLoad += edgeLoad
			if !perPath {
				edgeLoad = hose(edgeVMs)
			}
			if above(model.LayerAggregation) {
				f(edgeLinks, edge*h+aggregation, float64(edgeLoad)*b)
			}
		}
		if !perPath {
			podLoad = hose(podVMs)
		}
		if above(model.LayerCore) {
			f(aggregationLinks, (pod*h+aggregation)*h+at.Index, float64(podLoad)*b)
		}
	}
}

// rates returns the rates of the layers of links.
func (l *clustersLayout) rates() (rates [layersOfLinks]float64) {
	rates[serverLinks], rates[edgeLinks], rates[aggregationLinks] = l.tree.Rates()
	return rates
}

// replay computes the steps, the span of time and the moment of the highest load.
func (l *clustersLayout) replay() error {
	type event struct {
		clusterStep // changes
		cluster     int
		start       bool
	}
	var events []event
	last := make([]float64, len(l.in.Requests)) // end of the last segment
	seen := make([]bool, len(l.in.Requests))
	low := math.Inf(1)
	var ends []float64
	for i := range l.clusters {
		c := &l.clusters[i]
		low, ends = min(low, c.start), append(ends, c.end)
		vms, arrival := float64(c.vms), l.in.Requests[c.request].ArrivalS
		events = append(events, event{clusterStep{at: c.start, used: vms}, i, true}, event{clusterStep{at: c.end, used: -vms}, i, false})
		switch from := last[c.request]; {
		case seen[c.request] && from < c.start:
			events = append(events, event{clusterStep{at: from, suspended: 1}, -1, false}, event{clusterStep{at: c.start, suspended: -1}, -1, false})
		case !seen[c.request] && arrival < c.start:
			events = append(events, event{clusterStep{at: arrival, waiting: 1}, -1, false}, event{clusterStep{at: c.start, waiting: -1}, -1, false})
		}
		last[c.request], seen[c.request] = c.end, true
	}
	for k := range l.in.Requests {
		low, ends = min(low, l.in.Requests[k].ArrivalS), append(ends, l.in.Requests[k].ArrivalS)
	}
	l.start = model.StartTime(l.in)
	if err := l.span(&l.timeAxis, low, ends, false); err != nil {
		return err
	}
	l.moment = l.low
	if at := l.At; at != nil && !(*at >= l.low && *at <= l.high) {
		return fmt.Errorf("draw: %w moment: %v, the picture is from %v to %v", model.ErrInvalid, *at, l.low, l.high)
	}
	l.without = slices.DeleteFunc(l.without, func(t float64) bool { return t < l.low || t > l.high })

	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	rates := l.rates()
	var loads [layersOfLinks]float64 // whole bit/s: their sums are exact
	now, best, bestUsed := clusterStep{at: min(low, l.low)}, -1.0, -1.0
	l.steps = append(l.steps, now)
	for i := 0; i < len(events); {
		at, starts := events[i].at, false
		for ; i < len(events) && events[i].at == at; i++ {
			x := &events[i]
			now.used += x.used
			now.waiting += x.waiting
			now.suspended += x.suspended
			starts = starts || x.start
			if x.cluster >= 0 {
				l.links(&l.clusters[x.cluster], func(layer, _ int, mbps float64) {
					if x.start {
						loads[layer] += math.Round(mbps * 1e6)
					} else {
						loads[layer] -= math.Round(mbps * 1e6)
					}
				})
			}
		}
		now.at = at
		l.steps = append(l.steps, now)
		load := 0.0
		for layer, rate := range rates {
			load += loads[layer] / rate
		}
		if starts && at >= l.low && at <= l.high && (load > best || load == best && now.used > bestUsed) {
			best, bestUsed, l.moment = load, now.used, at
		}
	}
	if l.At != nil {
		l.moment = *l.At
	}
	return nil
}

// freeze computes the state at the moment.
func (l *clustersLayout) freeze() {
	n := l.tree.Servers() // so many links has every layer
	l.used = make([][]held, n)
	rates := l.rates()
	for layer := range l.share {
		l.share[layer] = make([]float64, n)
	}
	for i := range l.clusters {
		c := &l.clusters[i]
		if !(c.start <= l.moment && l.moment < c.end) {
			continue
		}
		for _, x := range c.place.Servers {
			l.used[x.Server] = append(l.used[x.Server], held{c.request, x.VMs})
		}
		l.links(c, func(layer, link int, mbps float64) { l.share[layer][link] += mbps / rates[layer] })
	}
}

// usedSlots returns the slots in use on a server at the moment.
func (l *clustersLayout) usedSlots(server int) (n int) {
	for _, x := range l.used[server] {
		n += x.vms
	}
	return n
}
