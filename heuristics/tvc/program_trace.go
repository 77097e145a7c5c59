// SPDX-License-Identifier: MIT

package tvc

import "github.com/gapwise/gapwise/model"

// share is a subtree's part of the VMs, and 1 if the big server is in it, else 0.
type share struct{ vms, big int }

// all is the share of the tree that holds all VMs.
func (p *problem) all() share {
	x := share{vms: p.n}
	if p.big > 0 {
		x.big = 1
	}
	return x
}

// trace returns an embedding of the least cost with the virtual switch at the
// switch given, which must have one.
func (p *program) trace(at model.Switch) model.Embedding {
	e := model.Embedding{Switch: at}
	p.costs.place(&e, at, p.all(), p.split)
	return e
}

// place adds a share of the VMs below a switch to the embedding, divided among the servers or switches below it by
// among, which reports whether they can take it. The links below an aggregation or a core switch are the ones on the
// way to it.
func (t *tree[T]) place(e *model.Embedding, at model.Switch, x share, among func([]T, share) ([]share, bool)) bool {
	h := t.d.Half
	var parts []T
	switch at.Layer {
	case model.LayerEdge:
		for i := range h {
			parts = append(parts, t.make.server((at.Group*h+at.Index)*h+i))
		}
	case model.LayerAggregation:
		for i := range h {
			parts = append(parts, t.edgeLink(at.Group*h+i, at.Index))
		}
	case model.LayerCore:
		for pod := range t.d.K {
			parts = append(parts, t.podLink(pod, at.Group, t.podRoom(pod, at.Group, at.Index)))
		}
	}
	shares, ok := among(parts, x)
	for i, y := range shares {
		switch {
		case y.vms == 0:
		case at.Layer == model.LayerEdge:
			e.Servers = append(e.Servers, model.ServerVMs{Server: (at.Group*h+at.Index)*h + i, VMs: y.vms})
		case at.Layer == model.LayerAggregation:
			ok = ok && t.place(e, model.Switch{Layer: model.LayerEdge, Group: at.Group, Index: i}, y, among)
		default:
			ok = ok && t.place(e, model.Switch{Layer: model.LayerAggregation, Group: i, Index: at.Group}, y, among)
		}
	}
	return ok
}

// split shares VMs among the parts at the least cost. Later parts get as few as
// they can.
func (p *program) split(parts []costTable, x share) ([]share, bool) {
	before := make([]costTable, len(parts)+1) // of the parts up to here
	before[0] = p.costCells.none()
	for i := range parts {
		before[i+1] = p.costCells.join(before[i], parts[i], 0)
	}
	shares := make([]share, len(parts))
	for i := len(parts) - 1; i >= 0; i-- {
		shares[i] = p.last(before[i], parts[i], before[i+1][x.big][x.vms], x)
		x.vms -= shares[i].vms
		x.big -= shares[i].big
	}
	return shares, true
}

// last returns the smallest share of the last part with which the cost is reached.
func (p *program) last(before, part costTable, cost int64, x share) share {
	at := func(t []int64, m int) int64 {
		if m < len(t) {
			return t[m]
		}
		return never
	}
	for m := 0; m < x.vms; m++ {
		for big := range x.big + 1 {
			if at(part[big], m)+at(before[x.big-big], x.vms-m) == cost {
				return share{m, big}
			}
		}
	}
	return x
}
