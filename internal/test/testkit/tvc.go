// SPDX-License-Identifier: MIT

package testkit

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// RandomTVC draws a valid instance of n requests on a fat-tree of k pods, with or
// without a queue: layers of equal or different rates, both fabrics and hoses, both goals.
// Slots are scarce or links are. Durations are of one style; requests arrive together or one
// by one, many when others leave; some never fit. Bandwidths are parts of a link's rate, a bit
// per second more or less, tiny or huge.
func RandomTVC(rng *rand.Rand, k, n int, queue bool) *model.TVC {
	duration, unit := pick(rng), one(rng, 1, 1, 1, 0.1, 1e-6, 1000)
	in := &model.TVC{Queue: queue, Requests: []model.TVCRequest{}, FatTree: model.FatTree{K: k, Slots: 1 + rng.IntN(4)}}
	f := &in.FatTree
	f.LinkMbps = one(rng, 1, 10, 100, 1000, 333.333333, 0.000007, inMillionths(max(1e-6, min(1e7, pick(rng).Draw(rng)))))
	if rng.IntN(3) == 0 {
		layer := func() float64 { return min(1e7, inMillionths(one(rng, 0, 0.5, 1, 2, 3, 5)*f.LinkMbps)) }
		f.LayersMbps = &model.LayerRates{ServerMbps: layer(), EdgeMbps: one(rng, layer(), layer(), 10), AggregationMbps: one(rng, layer(), layer(), 1e-6, 10)}
	}
	f.Fabric = one(rng, "", model.FabricOnePath, model.FabricNonBlocking)
	in.Hose = one(rng, "", model.HoseCut, model.HosePerPath)
	if queue {
		in.MigrationS = one(rng, 0, 0, 1, 0.5, 1e-6)
	} else {
		in.Goal = one(rng, "", model.GoalRequests, model.GoalRevenue)
	}
	in.Name = fmt.Sprintf("%s-k%d-slots%d-%s-%s-%s", duration.Name, k, f.Slots, in.EffectiveHose(), f.EffectiveFabric(), in.EffectiveGoal())
	// VMs fill a part of a server, a server, an edge switch or a pod.
	slots := f.Servers() * f.Slots
	most := min(slots, one(rng, 1+rng.IntN(2*f.Slots+2), 1+rng.IntN(2*f.Slots+2), 2*f.Slots+2, k*f.Slots/2, k*k*f.Slots/4))
	length := func() float64 { return max(1, math.Round(min(duration.Draw(rng)*unit, 1e7)*1e6)) / 1e6 }
	mean := 0.0
	for range 20 {
		mean += length() / 20
	}
	arrive := timing(rng, n, mean, mean*float64(1+most)/2/float64(slots))
	for range n {
		q := model.TVCRequest{ArrivalS: arrive(), VMs: 1 + rng.IntN(most), DurationS: length()}
		q.BandwidthMbps = f.LinkMbps / one(rng, 0.7, 0.7, 1, 1, 2, 2, 3, 4, 8)
		switch rng.IntN(10) {
		case 0:
			q.BandwidthMbps = one(rng, 1e-6, 1e7, f.LinkMbps, 2*f.LinkMbps, 2*f.LinkMbps)
		case 1:
			q.BandwidthMbps += one(rng, 1e-6, -1e-6)
		case 2:
			q.BandwidthMbps *= rng.Float64()
		}
		q.BandwidthMbps = min(max(inMillionths(q.BandwidthMbps), 1e-6), 1e7)
		if len(in.Requests) > 0 && rng.IntN(4) == 0 { // equal to another, or in all but one figure
			other := in.Requests[rng.IntN(len(in.Requests))]
			switch rng.IntN(5) {
			case 0:
				other.ArrivalS = q.ArrivalS
			case 1:
				other.DurationS = q.DurationS
			case 2:
				other.VMs = q.VMs
			case 3: // when the other leaves, or just before
				other.ArrivalS = max(0, inMillionths(other.ArrivalS+other.DurationS-one(rng, 0, 0, 1e-6)))
			}
			q = other
		}
		in.Requests = append(in.Requests, q)
	}
	slices.SortStableFunc(in.Requests, func(a, b model.TVCRequest) int { return cmp.Compare(a.ArrivalS, b.ArrivalS) })
	for i := range in.Requests {
		in.Requests[i].ID = fmt.Sprint("r", i+1)
	}
	return in
}
