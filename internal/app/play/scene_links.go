// SPDX-License-Identifier: MIT

package play

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// mostLinks is how many links have a row: the fullest.
const mostLinks = 24

// linkRows draws the loads of the fullest links of a fat-tree over time. O(L log L) for L
// loads of links by segments.
func (s *Scene) linkRows(in *model.TVC, e *model.Embeddings, index []int) {
	t := view.OfTVC(in)
	d := fattree.New(t)
	type change struct{ at, by float64 }
	changes := map[*int64][]change{}
	for i, k := range index {
		vms := in.Requests[k].VMs
		for n := range e.Runs[i].Segments {
			x := &e.Runs[i].Segments[n]
			if len(x.Place.Servers) == 0 {
				continue
			}
			d.Loads(&x.Place, vms, t.Requests[k].Bandwidth, func(link *int64, load int64) {
				changes[link] = append(changes[link], change{x.StartS, float64(load)}, change{x.EndS, -float64(load)})
			})
		}
	}
	type link struct {
		label string
		rate  float64
		boxes []Box
		most  float64
	}
	var all []link
	add := func(address *int64, rate int64, label string) {
		list := changes[address]
		if len(list) == 0 || rate <= 0 {
			return
		}
		slices.SortFunc(list, func(a, b change) int { return cmp.Compare(a.at, b.at) })
		l, load := link{label: label, rate: float64(rate)}, 0.0
		for i, c := range list {
			load += c.by
			if i+1 == len(list) || list[i+1].at <= c.at || load <= 0 {
				continue
			}
			share := load / l.rate
			l.most = max(l.most, share)
			b := Box{Item: label, Lanes: 1, Low: c.at, High: list[i+1].at, Label: fmt.Sprintf("%.0f %%", 100*share), Role: shares[min(int(math.Ceil(4*share))-1, 3)],
				Facts: []string{"the link from " + label, fmt.Sprintf("%s of %s Mbps (%.4g %%)", number(load/1e6), number(l.rate/1e6), 100*share), "from " + seconds(c.at, list[i+1].at)}}
			if n := len(l.boxes); n > 0 && l.boxes[n-1].High == b.Low && l.boxes[n-1].Label == b.Label {
				l.boxes[n-1].High = b.High
				continue
			}
			l.boxes = append(l.boxes, b)
		}
		all = append(all, l)
	}
	h := t.Half
	for k := range d.Server {
		add(&d.Server[k], t.ServerRate, fmt.Sprintf("server %d", k))
	}
	for k := range d.Edge {
		add(&d.Edge[k], t.EdgeRate, fmt.Sprintf("edge-%d-%d to %d", k/h/h, k/h%h, k%h))
	}
	for k := range d.Aggregation {
		add(&d.Aggregation[k], t.AggregationRate, fmt.Sprintf("agg-%d-%d to %d", k/h/h, k/h%h, k%h))
	}
	slices.SortStableFunc(all, func(a, b link) int { return cmp.Compare(b.most, a.most) })
	group := "links, the fullest first"
	if len(all) > mostLinks {
		all, group = all[:mostLinks], fmt.Sprintf("links, the %d fullest", mostLinks)
	}
	for _, l := range all {
		row := Row{Label: l.label, Group: group, Lanes: 1}
		if l.most > 1-1e-6 {
			row.Role = Tight
		}
		k := s.row(row)
		for _, b := range l.boxes {
			b.Row = k
			s.Boxes = append(s.Boxes, b)
		}
	}
}

// shares are the roles of loads up to a quarter, a half, three quarters, and more.
var shares = [...]Role{"share1", "share2", "share3", "share4"}
