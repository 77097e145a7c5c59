// SPDX-License-Identifier: MIT

package view

import (
	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/model"
)

// TVC is a model.TVC in whole numbers: times in microseconds, rates in bits per
// second. Nothing is rounded (see model.TVC.Validate). With m ≤ N/2 ≤ 5·10^5 VMs and
// B ≤ 10^13 bit/s a load m·B is less than 2^63.
type TVC struct {
	K, Half, Slots                        int
	Servers                               int
	ServerRate, EdgeRate, AggregationRate int64 // rates of the links above servers, edge and aggregation switches
	NonBlocking                           bool  // only the servers' links bind
	PerPath                               bool  // see HosePerPath
	Queue                                 bool
	Goal                                  model.TVCGoal // never empty; means nothing in queue mode
	Migration                             int64
	Requests                              []TVCRequest // as in the instance
}

// TVCRequest is a request in whole numbers.
type TVCRequest struct {
	Arrival, Duration int64
	VMs               int
	Bandwidth         int64
	Fits              bool    // it fits an empty data centre
	Revenue           float64 // VM Mbit
}

// OfTVC returns the instance, which must be valid, in whole numbers.
func OfTVC(v *model.TVC) *TVC {
	f := &v.FatTree
	server, edge, aggregation := f.Rates()
	t := &TVC{K: f.K, Half: f.Half(), Slots: f.Slots, Servers: f.Servers(),
		ServerRate: units.Micro(server), EdgeRate: units.Micro(edge), AggregationRate: units.Micro(aggregation),
		NonBlocking: f.EffectiveFabric() == model.FabricNonBlocking, PerPath: v.EffectiveHose() == model.HosePerPath,
		Queue: v.Queue, Goal: v.EffectiveGoal(), Migration: units.Micro(v.MigrationS), Requests: make([]TVCRequest, len(v.Requests))}
	fits := v.Fits()
	for k := range v.Requests {
		q := &v.Requests[k]
		t.Requests[k] = TVCRequest{Arrival: units.Micro(q.ArrivalS), Duration: units.Micro(q.DurationS), VMs: q.VMs,
			Bandwidth: units.Micro(q.BandwidthMbps), Fits: fits(k), Revenue: q.Revenue()}
	}
	return t
}

// Seconds returns a time in ticks as seconds.
func (*TVC) Seconds(ticks int64) float64 { return units.Seconds(ticks) }
