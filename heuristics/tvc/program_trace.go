package tvc

import "github.com/gapwise/gapwise/model"

// share is a subtree's part of the VMs, and 1 if the big server is in it, else 0.
type share struct{ vms, big int }

// trace returns an embedding of the least cost with the virtual switch at the
// switch given, which must have one.
func (p *program) trace(at model.Switch) model.Embedding {
	t, h := &p.costs, p.d.Half
	e := model.Embedding{Switch: at}
	inEdge := func(edge int, x share) {
		parts := make([]costTable, h)
		for i := range parts {
			parts[i] = p.costCells.server(edge*h + i)
		}
		for i, y := range p.split(parts, x) {
			if y.vms > 0 {
				e.Servers = append(e.Servers, model.ServerVMs{Server: edge*h + i, VMs: y.vms})
			}
		}
	}
	inPod := func(pod, a int, x share) {
		parts := make([]costTable, h)
		for i := range parts {
			parts[i] = t.edgeLink(pod*h+i, a)
		}
		for i, y := range p.split(parts, x) {
			if y.vms > 0 {
				inEdge(pod*h+i, y)
			}
		}
	}
	all := share{vms: p.n}
	if p.big > 0 {
		all.big = 1
	}
	switch at.Layer {
	case model.LayerEdge:
		inEdge(at.Group*h+at.Index, all)
	case model.LayerAggregation:
		inPod(at.Group, at.Index, all)
	case model.LayerCore:
		parts := make([]costTable, p.d.K)
		for pod := range parts {
			parts[pod] = t.podLink(pod, at.Group, p.podRoom(pod, at.Group, at.Index))
		}
		for pod, y := range p.split(parts, all) {
			if y.vms > 0 {
				inPod(pod, at.Group, y)
			}
		}
	}
	return e
}

// split shares VMs among the parts at the least cost. Later parts get as few as
// they can.
func (p *program) split(parts []costTable, x share) []share {
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
	return shares
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
