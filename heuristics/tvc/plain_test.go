// SPDX-License-Identifier: MIT

package tvc

import (
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// plainBelow reports whether server s is below the switch.
func plainBelow(d *fattree.DataCentre, s int, w model.Switch) bool {
	h := d.Half
	switch w.Layer {
	case model.LayerEdge:
		return s/h == w.Group*h+w.Index
	case model.LayerAggregation:
		return s/(h*h) == w.Group
	}
	return true
}

// plainEmbedding returns the embedding of VM counts by server below the host.
func plainEmbedding(d *fattree.DataCentre, host model.Switch, vms []int) model.Embedding {
	var servers []model.ServerVMs
	for s, c := range vms {
		if c > 0 {
			servers = append(servers, model.ServerVMs{Server: s, VMs: c})
		}
	}
	return model.Embedding{Switch: d.Lowest(host, servers), Servers: servers}
}
