// SPDX-License-Identifier: MIT

//go:build !js

package instances

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// The figures of LV08, the network model that SimGrid takes by default (Velho, Legrand: Accuracy Study and Improvement of
// Network Simulation in the SimGrid Framework, SIMUTools 2009), as in SimGrid 3.32: its options network/bandwidth-factor,
// latency-factor, weight-S, TCP-gamma and crosstraffic.
const (
	lv08Bandwidth = 0.97
	lv08Latency   = 13.01
	lv08S         = 20537   // bytes
	lv08Window    = 4194304 // bytes
	lv08Acks      = 5       // percent
)

// mostWeight is the weight of the routes with the shortest way.
const mostWeight = 1_000_000

// asNetwork makes the network of a task graph, in bytes and seconds, one on which plans under fair sharing take about as long
// as in SimGrid's LV08. Links have 97 % of their bandwidth, and a transfer takes 5 % of its rate on the way back, too.
// Latencies count 13.01 times. Transfers that share a link get rates in inverse proportion to the latency of their route
// plus 20,537 bytes over the bandwidth of each link on it, and of the path if that is slower; without latency SimGrid has
// 1 s in place of that sum. No transfer is faster than 97 % of a window of 4 MiB in two latencies. O(routes × links of a
// route + machines²).
func asNetwork(in model.Instance, label, network string) error {
	d, graph := in.(*model.DAG)
	switch {
	case network != "lv08":
		return fmt.Errorf("%w option: --network is %q, give lv08", model.ErrInvalid, network)
	case !graph:
		return fmt.Errorf("%w option: --network is for task graphs, it is a %s", model.ErrInvalid, in.Kind())
	case d.TransferModel == model.TransferTCP || d.TransferModel == model.TransferTCPAll:
		return fmt.Errorf("%w option: --network lv08 goes with --transfers fair, the instance has %s", model.ErrInvalid, d.TransferModel)
	case len(d.Machines) > maxRouted:
		return fmt.Errorf("%w option: --network lv08 is for at most %d machines, there are %d", model.ErrInvalid, maxRouted, len(d.Machines))
	}
	const told = "the network of SimGrid's LV08"
	if d.Account == nil {
		d.Account = model.NewAccount(label, "gapwise instance")
	}
	if slices.ContainsFunc(d.Account.Assumed, func(t model.Telling) bool { return strings.HasPrefix(t.Text, told) }) {
		return fmt.Errorf("%w option: the instance has %s already, leave --network out", model.ErrInvalid, told)
	}
	d.Account.Assumed = slices.DeleteFunc(d.Account.Assumed, func(t model.Telling) bool { return t.Text == sharedMaxMin })
	d.Account.Assumed.Say(told+": rates of %g %%, latencies times %g, acknowledgements of %d %%, weights by latency, a window of 4 MiB; data in bytes",
		100*lv08Bandwidth, lv08Latency, lv08Acks)
	d.TransferModel = model.TransferFair

	net, m := &d.Network, len(d.Machines)
	net.AcksPercent = lv08Acks
	capacity, machine := map[string]float64{}, map[string]int{}
	for l := range net.Links {
		x := &net.Links[l]
		if x.Capacity == 0 {
			x.Capacity = net.Bandwidth
		}
		capacity[x.ID] = x.Capacity
		x.Capacity *= lv08Bandwidth
	}
	latency := make([][]float64, m) // of each pair
	for a := range d.Machines {
		machine[d.Machines[a].ID] = a
		latency[a] = slices.Repeat([]float64{d.Machines[a].StartupS}, m)
		d.Machines[a].StartupS *= lv08Latency
	}
	// A route in both directions has one weight, so it is parted where the start-ups of its ends differ.
	for r, back := range net.Routes {
		if !back.OneWay && latency[machine[back.From]][0] != latency[machine[back.To]][0] {
			net.Routes[r].OneWay = true
			back.From, back.To, back.OneWay = back.To, back.From, true
			net.Routes = append(net.Routes, back)
		}
	}
	penalty, shortest, longest := make([]float64, len(net.Routes)), math.Inf(1), 0.0
	for r := range net.Routes {
		x := &net.Routes[r]
		a, b := machine[x.From], machine[x.To]
		if latency[a][b] += x.LatencyS; !x.OneWay {
			latency[b][a] += x.LatencyS
		}
		x.LatencyS *= lv08Latency
		penalty[r] = latency[a][b]
		own, least := net.Bandwidth, math.Inf(1)
		if net.PathCapacity != nil {
			own = net.PathCapacity[a][b]
		}
		for _, l := range x.Links {
			penalty[r] += lv08S / capacity[l]
			least = min(least, capacity[l])
		}
		if own < least { // the path is a link that isn't shared
			penalty[r] += lv08S / own
		}
		if latency[a][b] == 0 {
			penalty[r] = 1 // as SimGrid sets it: others get nearly all
		}
		if len(x.Links) > 0 {
			shortest, longest = min(shortest, penalty[r]), max(longest, penalty[r])
		}
	}
	for r, p := range penalty {
		if shortest < longest && len(net.Routes[r].Links) > 0 {
			net.Routes[r].Weight = int64(max(1, math.Round(mostWeight*shortest/p)))
		}
	}
	return lv08Paths(d, latency)
}

// lv08Paths bounds the rates of paths: by the bandwidth that LV08 leaves of their own and by the window.
func lv08Paths(d *model.DAG, latency [][]float64) error {
	net, binds := &d.Network, false
	rates := make([][]float64, len(d.Machines))
	for a := range rates {
		rates[a] = slices.Repeat([]float64{net.Bandwidth * lv08Bandwidth}, len(rates))
		for b := range rates {
			if net.PathCapacity != nil {
				rates[a][b], binds = net.PathCapacity[a][b]*lv08Bandwidth, true
			}
			if window := lv08Bandwidth * lv08Window / (2 * latency[a][b]); a != b && window < rates[a][b] {
				rates[a][b], binds = window, true
			}
		}
	}
	if net.Bandwidth *= lv08Bandwidth; binds {
		net.PathCapacity = rates
	}
	return d.Validate()
}
