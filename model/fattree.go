// SPDX-License-Identifier: MIT

package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// FatTree is a data centre network of k pods (Al-Fares, Loukissas, Vahdat: A
// Scalable, Commodity Data Center Network Architecture, SIGCOMM 2008). Let h = k/2. A pod has h edge switches and h
// aggregation switches, each joined to each. An edge switch has h servers. There are h² core switches in h groups; each
// is joined to one aggregation switch of every pod, the one with its group's number.
//
// Servers are numbered from 0, pod by pod and edge switch by edge switch: server
// (p·h + e)·h + i is number i at edge switch e of pod p.
type FatTree struct {
	K     int `json:"k"`     // even, at least 2
	Slots int `json:"slots"` // L: VMs that a server holds
	// LinkMbps is the rate of every link.
	LinkMbps float64 `json:"link_mbps"`
	// LayersMbps replaces the rate of some layers.
	LayersMbps *LayerRates `json:"layers_mbps,omitempty"`
	// Fabric states which links above the servers bind; empty means FabricOnePath.
	Fabric Fabric `json:"fabric,omitempty"`
}

// LayerRates are the rates of a fat-tree's layers of links; 0 or missing means
// LinkMbps.
type LayerRates struct {
	ServerMbps      float64 `json:"server,omitempty"`      // server to edge switch
	EdgeMbps        float64 `json:"edge,omitempty"`        // edge to aggregation switch
	AggregationMbps float64 `json:"aggregation,omitempty"` // aggregation to core switch
}

// Fabric states which links above the servers bind.
type Fabric string

// The fabrics.
const (
	// FabricOnePath sends all traffic of a virtual cluster by the switch that hosts
	// its virtual switch: a core switch, or an aggregation switch inside one pod,
	// fixes the one path to each server below it.
	FabricOnePath Fabric = "one-path"
	// FabricNonBlocking spreads traffic over all paths so evenly that the links of
	// the servers alone bind. If all links of a fat-tree are alike, the links up from a switch carry as much as the
	// links down.
	FabricNonBlocking Fabric = "non-blocking"
)

// Fabrics lists the fabrics.
var Fabrics = []Fabric{FabricOnePath, FabricNonBlocking}

// EffectiveFabric returns Fabric, or FabricOnePath if it is empty.
func (f *FatTree) EffectiveFabric() Fabric {
	if f.Fabric == "" {
		return FabricOnePath
	}
	return f.Fabric
}

// Half returns h = k/2.
func (f *FatTree) Half() int { return f.K / 2 }

// Servers returns the number of servers, k³/4.
func (f *FatTree) Servers() int { return f.K * f.K / 2 * f.K / 2 }

// Rates returns the rates of the links above servers, edge switches and
// aggregation switches, in Mbps.
func (f *FatTree) Rates() (server, edge, aggregation float64) {
	server, edge, aggregation = f.LinkMbps, f.LinkMbps, f.LinkMbps
	if l := f.LayersMbps; l != nil {
		for _, x := range []struct {
			to   *float64
			rate float64
		}{{&server, l.ServerMbps}, {&edge, l.EdgeMbps}, {&aggregation, l.AggregationMbps}} {
			if x.rate != 0 {
				*x.to = x.rate
			}
		}
	}
	return server, edge, aggregation
}

var fatTreeKeys = object{keys: []key{
	{name: "k", least: 2, most: 128, whole: even, // 524,288 servers
		about: "pods; a pod has k/2 edge and k/2 aggregation switches, an edge switch k/2 servers; there are " +
			"(k/2)² core switches"},
	{name: "slots", least: 1, most: MostSlots / 2, about: "VMs that a server holds; the data centre holds at most " +
		"1,000,000"},
	{name: "link_mbps", least: positive, most: mostMbps, whole: bits, about: "rate of every link"},
	{name: "layers_mbps", of: &layerRatesKeys,
		about: "rates of some layers of links, where they differ from link_mbps; 0 or missing means link_mbps"},
	{name: "fabric", texts: textsOf(Fabrics), about: "one-path (the default): a cluster's traffic takes the one " +
		"path to the switch that hosts its " +
		"virtual switch; non-blocking: only the links of servers bind"},
}}

var layerRatesKeys = object{keys: []key{
	{name: "server", zero: true, least: positive, most: mostMbps, whole: bits, about: "from a server to its edge " +
		"switch"},
	{name: "edge", zero: true, least: positive, most: mostMbps, whole: bits, about: "from an edge switch to an " +
		"aggregation switch"},
	{name: "aggregation", zero: true, least: positive, most: mostMbps, whole: bits, about: "from an aggregation " +
		"switch to a core switch"},
}}

// Layer is a layer of switches.
type Layer uint8

// The layers of a fat-tree, from below.
const (
	LayerEdge Layer = iota
	LayerAggregation
	LayerCore
)

var layerNames = [...]string{"edge", "aggregation", "core"}

// Switch names a switch of a fat-tree. edge-P-E is edge switch E of pod P, aggregation-P-A aggregation switch A of pod
// P. core-A-C is core switch C of group A, with links to aggregation switch A of every pod. Numbers count from 0.
type Switch struct {
	Layer Layer
	Group int // the pod, or the group of a core switch
	Index int // in the pod or the group
}

func (s Switch) String() string {
	layer := "layer" + strconv.Itoa(int(s.Layer))
	if int(s.Layer) < len(layerNames) {
		layer = layerNames[s.Layer]
	}
	return layer + "-" + strconv.Itoa(s.Group) + "-" + strconv.Itoa(s.Index)
}

// MarshalText writes the switch's name.
func (s Switch) MarshalText() ([]byte, error) {
	if int(s.Layer) >= len(layerNames) {
		return nil, fmt.Errorf("%w switch: there is no layer %d", ErrInvalid, s.Layer)
	}
	return []byte(s.String()), nil
}

// UnmarshalText reads a switch's name.
func (s *Switch) UnmarshalText(text []byte) error {
	parts := strings.Split(string(text), "-")
	if len(parts) == 3 {
		layer := slices.Index(layerNames[:], parts[0])
		group, err1 := strconv.Atoi(parts[1])
		index, err2 := strconv.Atoi(parts[2])
		if x := (Switch{Layer(layer), group, index}); layer >= 0 && err1 == nil && err2 == nil && x.String() == string(text) && group >= 0 && index >= 0 {
			*s = x
			return nil
		}
	}
	return fmt.Errorf("%w switch %q, must be as edge-0-1 (pod, number), aggregation-0-1 or core-0-1 (group, number)", ErrInvalid, text)
}

// Has reports whether the fat-tree has the switch.
func (f *FatTree) Has(s Switch) bool {
	groups := f.K
	if s.Layer == LayerCore {
		groups = f.Half()
	}
	return s.Layer <= LayerCore && s.Group >= 0 && s.Group < groups && s.Index >= 0 && s.Index < f.Half()
}
