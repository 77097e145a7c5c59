// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"math/big"

	"github.com/gapwise/gapwise/model"
)

// fits reports whether a request fits the empty data centre.
//
// Let u be the VMs that a link lets through, its rate over B, rounded down. A link
// is light if at most half of the N VMs are below it, otherwise heavy. At most one
// link of a layer is heavy, and the links above a heavy link are heavy. So there
// are four cases, by the lowest heavy link: none is heavy, only one above an
// aggregation switch is, one above an edge switch, one above a server.
//
// Below a light link all links are light. A light link carries as many VMs as are below it, so any number of them up to
// a most is possible. The most is min(L, u, N/2) for a server, and min(the sum of the links below it, u, N/2) for a
// switch.
//
// A heavy link carries N-m, so m VMs are possible if m ≥ N-u. The possible numbers below the heavy links of a layer are
// then an interval in each case: the numbers below the heavy link one layer below, and as many VMs as wanted below the
// light ones.
func (j *tvcJudge) fits(q *model.TVCRequest) bool {
	n := int64(q.VMs)
	rate, _ := micros(q.BandwidthMbps)
	var through [3]int64 // u, by layer from below
	for layer := range through {
		through[layer] = j.rates[layer] / rate
		if layer > 0 && j.in.FatTree.Fabric == model.FabricNonBlocking {
			through[layer] = n
		}
	}
	slots, h := int64(j.in.FatTree.Slots), int64(j.half)
	children := [3]int64{h, h, 2 * h} // of an edge switch, of an aggregation switch, of a core switch
	if j.in.Hose == model.HosePerPath {
		return fitsPerPath(n, slots, through, children)
	}
	var light [3]int64 // the most VMs below a light link
	most := slots
	for layer := range light {
		light[layer] = min(most, through[layer], n/2)
		most = children[layer] * light[layer]
	}
	for heavy := range 4 { // the layer of the lowest heavy link; 3: none
		low, high := int64(0), slots
		if heavy > 0 {
			high = children[heavy-1] * light[heavy-1]
		}
		for layer := heavy; layer < 3; layer++ {
			low = max(low, n/2+1, n-through[layer])
			high = min(high, n)
			if low > high {
				break
			}
			high += (children[layer] - 1) * light[layer]
		}
		if low <= n && n <= high {
			return true
		}
	}
	return false
}

// fitsPerPath is fits with HosePerPath, for the VMs that links let through and the
// links below a switch, by layer from below.
//
// If one server has c > N/2 VMs, it loads the links above it with N-c. Moving a VM
// to it from another server makes no load larger, so c is as large as it can be.
// The others then fit on one server, for N-c < c, and load its links with N-c, too. It is at the same edge switch, if
// that has a second server.
//
// Otherwise a server loads all links above it with one for each of its VMs, so a
// link carries the VMs below it. All may be below one edge or one aggregation switch; its links up then carry nothing.
func fitsPerPath(n, slots int64, through, children [3]int64) bool {
	c := min(slots, n)
	if rest := n - c; c > n/2 && rest <= through[0] && (children[0] > 1 || rest <= min(through[1], through[2])) {
		return true
	}
	light := min(slots, n/2) // the most VMs below a link
	for layer, links := range children {
		if light = min(light, through[layer]) * links; light >= n {
			return true
		}
	}
	return false
}

// neverFit counts the requests that don't fit the empty data centre.
func neverFit(ctx context.Context, in *model.TVC) (count int) {
	j := newTVCJudge(in, nil)
	for k := range in.Requests {
		if stopped(ctx, k) {
			return count
		}
		if !j.fits(&in.Requests[k]) {
			count++
		}
	}
	return count
}

// accepted returns the number of requests that run and their revenue, N·B·duration
// in VM Mbit, the goal first. The revenue is rounded once.
func (j *tvcJudge) accepted(segments [][]segment[model.Embedding]) (value, second float64) {
	count, total := 0, new(big.Int)
	for k, run := range segments {
		if run == nil {
			continue
		}
		q := &j.in.Requests[k]
		rate, _ := micros(q.BandwidthMbps)
		duration, _ := micros(q.DurationS)
		term := big.NewInt(int64(q.VMs))
		total.Add(total, term.Mul(term, big.NewInt(rate)).Mul(term, big.NewInt(duration)))
		count++
	}
	revenue, _ := new(big.Rat).SetFrac(total, big.NewInt(1e12)).Float64()
	if j.in.Goal == model.GoalRevenue {
		return revenue, float64(count)
	}
	return float64(count), revenue
}

// responses returns the mean response time in seconds, 0 without runs, and the
// mean bounded slowdown, 1 without runs.
func (j *tvcJudge) responses(segments [][]segment[model.Embedding]) (response, slowdown float64) {
	var all responses
	for k, run := range segments {
		if run == nil {
			continue
		}
		arrival, _ := micros(j.in.Requests[k].ArrivalS)
		duration, _ := micros(j.in.Requests[k].DurationS)
		all.add(run[len(run)-1].end-arrival, duration, 1)
	}
	return all.means()
}
