// SPDX-License-Identifier: MIT

package features

import (
	"github.com/gapwise/gapwise/model"
)

// TVC returns the features of an instance. O(requests).
func TVC(v *model.TVC) []Feature {
	var size, bandwidth moments
	first, last, work := 0.0, 0.0, 0.0
	for i := range v.Requests {
		q := &v.Requests[i]
		if i == 0 {
			first, last = q.ArrivalS, q.ArrivalS
		}
		first, last = min(first, q.ArrivalS), max(last, q.ArrivalS)
		size.add(float64(q.VMs), 1)
		bandwidth.add(q.BandwidthMbps, 1)
		work += float64(q.VMs) * q.DurationS
	}
	t := &v.FatTree
	return []Feature{
		{"requests", "", "number of requests", float64(len(v.Requests))},
		{"k", "", "number of pods of the fat-tree", float64(t.K)},
		{"slots", "", "number of slots of a server", float64(t.Slots)},
		{"link_mbps", "Mbps", "rate of the links, unless a layer has its own", t.LinkMbps},
		{"load", "", "requested VM-seconds, divided by the slot-seconds from first to last arrival", offered(work, float64(t.Servers())*float64(t.Slots), first, last)},
		{"size", "", "mean number of VMs of a request", size.mean()},
		{"bandwidth", "Mbps", "mean bandwidth of a VM over the requests", bandwidth.mean()},
		{"migration_s", "s", "cost of a migration", v.MigrationS},
	}
}
