// SPDX-License-Identifier: MIT

package tvc

import (
	"context"

	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// Oktopus is the allocation of Ballani et al.: Towards Predictable Datacenter Networks, SIGCOMM 2011, section 4.2. It
// computes bottom-up the numbers of VMs that fit below each switch. The first switch (edge, aggregation, core, each by
// index) below which all fit hosts them. Each of its subtrees in turn, by index, takes as many VMs as it can, if the
// others can take the rest. It shares them among its own subtrees in the same way.
//
// The paper keeps the set M_v of numbers for each subtree v, and takes the largest. As min(m, n-m) isn't monotone in m
// the sets have gaps, so that the rest must be looked at, too. The sets equal the program's with HosePerPath.
func Oktopus(ctx context.Context, in *model.TVC, set model.Settings) (*model.Embeddings, error) {
	return solve(ctx, in, set, "oktopus")
}

type oktopus struct {
	subtrees
	program program
	started bool
}

func newOktopus() embedder { return new(oktopus) }

// Embed implements embedder.
func (o *oktopus) Embed(d *fattree.DataCentre, n int, b int64) (model.Embedding, bool) {
	o.started = false
	return o.find(d, n, b, model.LayerEdge, o.try)
}

// try allocates the VMs below the host. With HoseCut it always can.
func (o *oktopus) try(host model.Switch) (model.Embedding, bool) {
	p := &o.program
	if !o.started {
		p.start(o.DataCentre, o.n, o.b)
		o.started = true
	}
	for p.big = range p.bigs() {
		p.sets.reset(p, &p.setCells, weights{})
		if e := (model.Embedding{}); p.sets.place(&e, host, p.all(), o.most) {
			e.Switch = o.Lowest(host, e.Servers)
			return e, true
		}
	}
	return model.Embedding{}, false
}

// most shares VMs among the parts: each in turn gets as many as it can such that
// those after it can take the rest. False if they can't take all.
func (o *oktopus) most(parts []setTable, x share) ([]share, bool) {
	c := &o.program.setCells
	after := make([]setTable, len(parts)+1) // of the parts from here on
	after[len(parts)] = c.none()
	for i := len(parts) - 1; i >= 0; i-- {
		after[i] = c.join(parts[i], after[i+1], 0)
	}
	if !after[0][x.big].Has(x.vms) {
		return nil, false
	}
	shares := make([]share, len(parts))
	for i, part := range parts {
		shares[i] = largestShare(part, after[i+1], x)
		x.vms -= shares[i].vms
		x.big -= shares[i].big
	}
	return shares, true
}

// largestShare returns the largest share that the part can take and leave the rest
// to those after it; there must be one.
func largestShare(part, after setTable, x share) share {
	for m := x.vms; ; m-- {
		for big := x.big; big >= 0; big-- {
			if m == 0 && big == 0 || part[big].Has(m) && after[x.big-big].Has(x.vms-m) {
				return share{m, big}
			}
		}
	}
}
