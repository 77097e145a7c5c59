// SPDX-License-Identifier: MIT

package play

import (
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// mostServers is how many servers have a row.
const mostServers = 160

// tvcScene draws the slots of servers over time, and the rejected requests beneath.
func tvcScene(in *model.TVC, e *model.Embeddings) (*Scene, error) {
	index, err := in.Index(e)
	if err != nil {
		return nil, err
	}
	x := &Scene{Unit: "s"}
	servers, half := in.FatTree.Servers(), in.FatTree.Half()
	for h := range min(servers, mostServers) {
		pod, edge := h/(half*half), h/half%half
		x.row(Row{Label: fmt.Sprint("server ", h), Group: fmt.Sprintf("pod %d, edge switch %d", pod, edge), Lanes: in.FatTree.Slots, Drop: fmt.Sprint("server:", h)})
	}
	if servers > mostServers {
		x.Note = fmt.Sprintf("servers 0 to %d of %d are drawn", mostServers-1, servers)
	}
	type part struct {
		run, segment, server, vms int
		start, end                float64
	}
	var parts []part
	ran := make([]bool, len(in.Requests))
	var waiting, rejected []Box
	for i, k := range index {
		ran[k] = true
		q := &in.Requests[k]
		for n := range e.Runs[i].Segments {
			s := &e.Runs[i].Segments[n]
			if n == 0 && s.StartS > q.ArrivalS {
				waiting = append(waiting, Box{Item: q.ID, Low: q.ArrivalS, High: s.StartS, Label: clean(q.ID), Role: Waiting, Facts: append(requestFacts(q), "waits from "+seconds(q.ArrivalS, s.StartS))})
			}
			if n > 0 && s.StartS > e.Runs[i].Segments[n-1].EndS {
				from := e.Runs[i].Segments[n-1].EndS
				waiting = append(waiting, Box{Item: q.ID, Low: from, High: s.StartS, Label: clean(q.ID), Role: Suspended, Facts: append(requestFacts(q), "suspended from "+seconds(from, s.StartS))})
			}
			for _, v := range s.Place.Servers {
				if v.Server < len(x.Rows) {
					parts = append(parts, part{i, n, v.Server, v.VMs, s.StartS, s.EndS})
				}
			}
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int {
		switch {
		case a.start < b.start:
			return -1
		case a.start > b.start:
			return 1
		}
		return 0
	})
	until := make([][]float64, len(x.Rows)) // when each slot is free, [server][slot]
	for h := range until {
		until[h] = make([]float64, in.FatTree.Slots)
		for c := range until[h] {
			until[h][c] = -1e300
		}
	}
	for _, p := range parts {
		k := index[p.run]
		q, s := &in.Requests[k], &e.Runs[p.run].Segments[p.segment]
		var slots []int
		for c := range until[p.server] {
			if len(slots) < p.vms && until[p.server][c] <= p.start+1e-9 {
				slots = append(slots, c)
				until[p.server][c] = p.end
			}
		}
		for c := 0; len(slots) < min(p.vms, in.FatTree.Slots); c++ { // too many are there: they lie on each other
			if !slices.Contains(slots, c) {
				slots = append(slots, c)
			}
		}
		slices.Sort(slots)
		b := Box{Item: q.ID, Task: p.server, Row: p.server, Low: p.start, High: p.end, Label: clean(q.ID), Tint: k % tints,
			Facts: append(requestFacts(q), "here "+plural(p.vms, "VM")+" from "+seconds(p.start, p.end), "virtual switch at "+s.Place.Switch.String())}
		if len(e.Runs[p.run].Segments) == 1 {
			if b.Drag = "row"; in.Queue {
				b.Drag, b.Window = "both", []float64{q.ArrivalS}
			}
		}
		for _, r := range ranges(slots) {
			b.Lane, b.Lanes = r[0], r[1]-r[0]+1
			x.Boxes = append(x.Boxes, b)
		}
	}
	for k, yes := range ran {
		if q := &in.Requests[k]; !yes {
			rejected = append(rejected, Box{Item: q.ID, Low: q.ArrivalS, High: q.ArrivalS + q.DurationS, Label: clean(q.ID), Role: Declined, Facts: append(requestFacts(q), "rejected")})
		}
	}
	if in.Queue {
		x.stack(x.row(Row{Label: "waiting", Group: "waiting"}), waiting)
	}
	x.stack(x.row(Row{Label: "rejected", Group: "rejected"}), rejected)
	x.linkRows(in, e, index)
	x.span()
	return x, nil
}

func requestFacts(q *model.TVCRequest) []string {
	return []string{fmt.Sprintf("request %s: %s with %s Mbps each, for %s s", clean(q.ID), plural(q.VMs, "VM"), number(q.BandwidthMbps), number(q.DurationS)),
		"arrives at " + number(q.ArrivalS) + " s"}
}
