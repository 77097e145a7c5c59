// SPDX-License-Identifier: MIT

package scene

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// mostServers is how many servers have a row in a page.
const mostServers = 160

// Cluster is a segment of a run.
type Cluster struct {
	Request, VMs int
	Start, End   float64
	Place        *model.Embedding

	id            string
	segment, last int // of the run
}

// Clusters returns the segments of all runs by their starts. The error wraps model.ErrInvalid if e isn't a solution, or
// names missing servers or switches or more VMs than a server may have.
func Clusters(in *model.TVC, e *model.Embeddings, slots int) (all []Cluster, err error) {
	index, err := in.Index(e)
	if err != nil {
		return nil, err
	}
	tree := &in.FatTree
	for i, k := range index {
		bad := func(format string, args ...any) ([]Cluster, error) {
			return nil, fmt.Errorf("%w embeddings: %q %s", model.ErrInvalid, e.Runs[i].ID, fmt.Sprintf(format, args...))
		}
		for j := range e.Runs[i].Segments {
			s := &e.Runs[i].Segments[j]
			c := Cluster{k, 0, s.StartS, s.EndS, &s.Place, Clean(e.Runs[i].ID), j, len(e.Runs[i].Segments) - 1}
			if c.End < c.Start {
				return bad("runs from %v to %v, must not end before it starts", c.Start, c.End)
			}
			if !tree.Has(s.Place.Switch) {
				return bad("has its virtual switch on %v, there is no such switch", s.Place.Switch)
			}
			last := -1
			for _, x := range s.Place.Servers {
				switch {
				case x.Server <= last || x.Server >= tree.Servers():
					return bad("has server %d after %d, must be ascending numbers from 0 to %d", x.Server, last, tree.Servers()-1)
				case x.VMs < 1 || x.VMs > slots:
					return bad("has %d VMs on server %d, must be from 1 to %d", x.VMs, x.Server, slots)
				}
				last = x.Server
				c.VMs += x.VMs
			}
			all = append(all, c)
		}
	}
	order.Stable(all, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Request, b.Request))
	})
	return all, nil
}

// The layers of links, from below.
const (
	ServerLinks = iota
	EdgeLinks
	AggregationLinks
	LayersOfLinks
)

// Links calls f with the layer, the number and the load in Mbps of every link that a cluster loads. A link's number is
// the server's; edge switch · h + number of the aggregation switch; aggregation switch · h + number of the core switch
// in its group.
func (c *Cluster) Links(in *model.TVC, f func(layer, link int, mbps float64)) {
	h, b, at := in.FatTree.Half(), in.Requests[c.Request].BandwidthMbps, c.Place.Switch
	aggregation := at.Index // number in the pod
	if at.Layer == model.LayerCore {
		aggregation = at.Group
	}
	hose := func(m int) int { return max(min(m, c.VMs-m), 0) }
	above := func(layer model.Layer) bool {
		return at.Layer >= layer && in.FatTree.EffectiveFabric() == model.FabricOnePath
	}
	perPath := in.EffectiveHose() == model.HosePerPath
	for from, servers := 0, c.Place.Servers; from < len(servers); { // one pod at a time
		pod := servers[from].Server / (h * h)
		podVMs, podLoad := 0, 0
		for from < len(servers) && servers[from].Server/(h*h) == pod { // one edge switch
			edge := servers[from].Server / h
			edgeVMs, edgeLoad := 0, 0
			for ; from < len(servers) && servers[from].Server/h == edge; from++ {
				x := servers[from]
				f(ServerLinks, x.Server, float64(hose(x.VMs))*b)
				edgeVMs += x.VMs
				edgeLoad += hose(x.VMs)
			}
			podVMs += edgeVMs
			podLoad += edgeLoad
			if !perPath {
				edgeLoad = hose(edgeVMs)
			}
			if above(model.LayerAggregation) {
				f(EdgeLinks, edge*h+aggregation, float64(edgeLoad)*b)
			}
		}
		if !perPath {
			podLoad = hose(podVMs)
		}
		if above(model.LayerCore) {
			f(AggregationLinks, (pod*h+aggregation)*h+at.Index, float64(podLoad)*b)
		}
	}
}

// Rates returns the rates of the layers of links in Mbps.
func Rates(in *model.TVC) (rates [LayersOfLinks]float64) {
	rates[ServerLinks], rates[EdgeLinks], rates[AggregationLinks] = in.FatTree.Rates()
	return rates
}

// tvc draws the slots of servers over time, and of a page the rejected requests and the fullest links beneath.
func tvc(in *model.TVC, e *model.Embeddings, o Options) (*Scene, error) {
	slots := in.FatTree.Slots
	if o.Page {
		slots = math.MaxInt // a person may have put more there
	}
	clusters, err := Clusters(in, e, slots)
	if err != nil {
		return nil, err
	}
	x := &Scene{Unit: "s"}
	servers, half := in.FatTree.Servers(), in.FatTree.Half()
	shown := servers
	if o.Page && servers > mostServers {
		shown, x.Note = mostServers, fmt.Sprintf("servers 0 to %d of %d are drawn", mostServers-1, servers)
	}
	for h := range shown {
		pod, edge := h/(half*half), h/half%half
		x.row(Row{Label: fmt.Sprint("server ", h), Group: fmt.Sprintf("pod %d, edge switch %d", pod, edge),
			Lanes: in.FatTree.Slots, Drop: fmt.Sprint("server:", h)})
	}
	until := make([][]float64, shown) // when each slot is free, [server][slot]
	for h := range until {
		until[h] = slices.Repeat([]float64{-MaxTime}, in.FatTree.Slots)
	}
	for i := range clusters {
		c := &clusters[i]
		q := &in.Requests[c.Request]
		for _, v := range c.Place.Servers {
			if v.Server >= shown {
				break
			}
			b := Box{Item: q.ID, Task: v.Server, Row: v.Server, Low: c.Start, High: c.End, Label: c.id, Tint: c.Request,
				facts: func() []string {
					return append(clusterFacts(q), "here "+words.Plural(v.VMs, "VM")+" from "+seconds(c.Start, c.End),
						"virtual switch at "+c.Place.Switch.String())
				}}
			if c.last == 0 {
				if b.Drag = "row"; in.Queue {
					b.Drag, b.Window = "both", []float64{q.ArrivalS}
				}
			}
			for _, r := range Ranges(take(until[v.Server], v.VMs, c.Start, c.End)) {
				b.Lane, b.Lanes = r[0], r[1]-r[0]+1
				x.Boxes = append(x.Boxes, b)
			}
		}
	}
	if o.Page {
		x.besides(in, clusters)
		x.links(in, clusters)
	}
	x.span()
	return x, nil
}

// take returns n slots that are taken from start to end, ascending. If too few are free, clusters lie on each other.
func take(until []float64, n int, start, end float64) (slots []int) {
	for c := range until {
		if len(slots) < n && until[c] <= start+1e-9 {
			slots = append(slots, c)
			until[c] = end
		}
	}
	for c := 0; len(slots) < min(n, len(until)); c++ {
		if !slices.Contains(slots, c) {
			slots = append(slots, c)
		}
	}
	slices.Sort(slots)
	return slots
}

// besides adds rows of the requests that wait or are suspended, and of those rejected.
func (x *Scene) besides(in *model.TVC, clusters []Cluster) {
	var waiting, rejected []Box
	ends := map[int]float64{} // of each request's segments so far
	for i := range clusters {
		c := &clusters[i]
		q := &in.Requests[c.Request]
		from, began := ends[c.Request]
		role, text := Suspended, "suspended"
		if !began {
			from, role, text = q.ArrivalS, Waiting, "waits"
		}
		if from < c.Start {
			waiting = append(waiting, Box{Item: q.ID, Low: from, High: c.Start, Label: c.id, Role: role, facts: func() []string {
				return append(clusterFacts(q), text+" from "+seconds(from, c.Start))
			}})
		}
		ends[c.Request] = c.End
	}
	for k := range in.Requests {
		q := &in.Requests[k]
		if _, ran := ends[k]; !ran {
			rejected = append(rejected, Box{Item: q.ID, Low: q.ArrivalS, High: q.ArrivalS + q.DurationS, Label: Clean(q.ID),
				Role:  Declined,
				facts: func() []string { return append(clusterFacts(q), "rejected") }})
		}
	}
	if in.Queue {
		x.stack(x.row(Row{Label: "waiting", Group: "waiting"}), waiting)
	}
	x.stack(x.row(Row{Label: "rejected", Group: "rejected"}), rejected)
}

func clusterFacts(q *model.TVCRequest) []string {
	return []string{fmt.Sprintf("request %s: %s with %s Mbps each, for %s s", Clean(q.ID), words.Plural(q.VMs, "VM"),
		Number(q.BandwidthMbps), Number(q.DurationS)),
		"arrives at " + Number(q.ArrivalS) + " s"}
}

// mostLinks is how many links have a row: the fullest.
const mostLinks = 24

// links adds the loads of the fullest links of a fat-tree over time. O(L log L) for L
// loads of links by segments.
func (x *Scene) links(in *model.TVC, clusters []Cluster) {
	type change struct{ at, by float64 }
	type link struct {
		layer, number int
		label         string
		boxes         []Box
		most          float64
	}
	changes := map[[2]int][]change{}
	for i := range clusters {
		c := &clusters[i]
		c.Links(in, func(layer, link int, mbps float64) {
			if key := [2]int{layer, link}; mbps > 0 {
				changes[key] = append(changes[key], change{c.Start, mbps}, change{c.End, -mbps})
			}
		})
	}
	rates, h := Rates(in), in.FatTree.Half()
	var all []link
	for key, list := range changes {
		l, k, rate := link{layer: key[0], number: key[1]}, key[1], rates[key[0]]
		l.label = []string{fmt.Sprintf("server %d", k), fmt.Sprintf("edge-%d-%d to %d", k/h/h, k/h%h, k%h),
			fmt.Sprintf("agg-%d-%d to %d", k/h/h, k/h%h, k%h)}[l.layer]
		order.Stable(list, func(a, b change) int { return cmp.Compare(a.at, b.at) })
		load := 0.0
		for i, c := range list {
			load = math.Round(1e6*(load+c.by)) / 1e6 // whole bit/s: their sums are exact
			if i+1 == len(list) || list[i+1].at <= c.at || load <= 0 {
				continue
			}
			share, until := load/rate, list[i+1].at
			l.most = max(l.most, share)
			b := Box{Item: l.label, Lanes: 1, Low: c.at, High: until, Label: fmt.Sprintf("%.0f %%", 100*share),
				Role: shares[min(int(math.Ceil(4*share))-1, 3)], facts: func() []string {
					return []string{"the link from " + l.label, fmt.Sprintf("%s of %s Mbps (%.4g %%)", Number(load), Number(rate),
						100*share), "from " + seconds(c.at, until)}
				}}
			if n := len(l.boxes); n > 0 && l.boxes[n-1].High == b.Low && l.boxes[n-1].Label == b.Label {
				l.boxes[n-1].High = b.High
				continue
			}
			l.boxes = append(l.boxes, b)
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b link) int {
		return cmp.Or(cmp.Compare(b.most, a.most), cmp.Compare(a.layer, b.layer), cmp.Compare(a.number, b.number))
	})
	group := "links, the fullest first"
	if len(all) > mostLinks {
		all, group = all[:mostLinks], fmt.Sprintf("links, the %d fullest", mostLinks)
	}
	for _, l := range all {
		row := Row{Label: l.label, Group: group, Lanes: 1}
		if l.most > 1-1e-6 {
			row.Role = Tight
		}
		k := x.row(row)
		for _, b := range l.boxes {
			b.Row = k
			x.Boxes = append(x.Boxes, b)
		}
	}
}

// shares are the roles of loads up to a quarter, a half, three quarters, and more.
var shares = [...]Role{"share1", "share2", "share3", "share4"}
