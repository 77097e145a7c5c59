// SPDX-License-Identifier: MIT

package model

// TransferModel states how long transfers take. It has two parts. A plan counts on a length for a transfer
// (Graph.Comm); ranks, the choice of machines and bounds use nothing else. A replay adds delays when transfers under
// way share links. A transfer's rate is never above the one that plans count on (Graph.Rate), whatever the model:
// contention only delays.
type TransferModel string

// The transfer models. Equations are the paper's.
const (
	// TransferIdeal has no contention: a transfer takes data over the path's rate
	// (Eq. 6), on average over the machines data over the mean rate (Eq. 7). A
	// replay adds nothing.
	TransferIdeal TransferModel = "ideal"
	// TransferFair plans with Eq. 6 and 7. In a replay links are shared max-min
	// fairly: n transfers on one bottleneck get 1/n of it each.
	TransferFair TransferModel = "fair"
	// TransferTCP plans with Eq. 6 and 7. In a replay n transfers on a link get
	// the share TCPShare(n) of it together (Eq. 10), max-min fairly: one alone
	// gets 3/4. A transfer keeps its planned length if its route names no link, as in the paper's example.
	TransferTCP TransferModel = "tcp"
	// TransferTCPAll plans with Eq. 11 and 12: each path gives a transfer
	// TCPShare(1) = 3/4 of its rate, whether it names links or not. A replay adds
	// Eq. 10 on the links.
	TransferTCPAll TransferModel = "tcp-all"
)

// TCPShare returns the share of a capacity that n TCP connections get together
// (Eq. 10; Altman, Barman, Tuffin, Vojnović: Parallel TCP Sockets, INFOCOM 2006).
func TCPShare(n int32) float64 { return 1 - 1/(1+3*float64(n)) }

// TransferModels lists them all.
var TransferModels = []TransferModel{TransferIdeal, TransferFair, TransferTCP, TransferTCPAll}

// Machine is a place where tasks run, one at a time unless it has a capacity.
type Machine struct {
	ID       string  `json:"id"`
	StartupS float64 `json:"startup_s,omitempty"` // L: seconds before a transfer from here begins to send
	Speed    float64 `json:"speed,omitempty"`     // work per second, for tasks that state their work
	// LocalRate is the rate of data between two tasks here, in data units per second; 0: they take no time.
	LocalRate float64 `json:"local_rate,omitempty"`
	// Capacity is what the tasks that run here at a time have together, by resource.
	Capacity []int64 `json:"capacity,omitempty"`
}

// Network connects the machines: any two by a path with a rate of its own, some
// paths through links that they share with others.
type Network struct {
	Bandwidth float64 `json:"bandwidth,omitempty"` // data units per second; the default of everything below
	// PathCapacity is the matrix S of the paper: row m, column n is the rate of the path from machine m to n, in data
	// units per second; 0: there is no path, and nothing can be transferred. The diagonal is ignored.
	PathCapacity [][]float64 `json:"path_capacity,omitempty"`
	Links        []Link      `json:"links,omitempty"`
	Routes       []Route     `json:"routes,omitempty"`
}

// Link is a bottleneck: transfers with a route that names it share its capacity.
type Link struct {
	ID       string  `json:"id"`
	Capacity float64 `json:"capacity,omitempty"` // data units per second; default: the bandwidth
}

// Route is the list of links between two machines, in both directions unless
// it is one-way. Pairs without a route share nothing.
type Route struct {
	From  string   `json:"from"`
	To    string   `json:"to"`
	Links []string `json:"links"`
	// LatencyS are seconds before a transfer on this route begins to send, beside the start-up of its sender: the two add
	// up, as float64s.
	LatencyS float64 `json:"latency_s,omitempty"`
	// Weight is of the transfers on this route: where they share a link, rates are max-min fair in proportion to it, as if
	// each were so many transfers (weighted max-min fairness; Bertsekas, Gallager: Data Networks, section 6.5.2). 0 is 1.
	// Transfer models with TCP know none.
	Weight int64 `json:"weight,omitempty"`
	OneWay bool  `json:"one_way,omitempty"`
}

// maxWeight is the most weight of a route: sums of a million transfers' weights are exact in float64.
const maxWeight = 1e6

var networkKeys = object{
	keys: []key{
		{name: "bandwidth", zero: true, least: minFigure, most: maxFigure,
			about: "data units per second, of paths and links that state none; 0 is none"},
		{name: "path_capacity", each: &key{each: &key{}, rules: `"minItems": 1`}, rules: `"minItems": 1`,
			about: "row m, column n: data units per second from machine m to n, 0 (nothing can be transferred) or " +
				"from 1e-30 to 1e30; the diagonal isn't looked at"},
		{name: "links", of: &linkKeys, about: "bottlenecks: transfers whose routes name one share its capacity"},
		{name: "routes", of: &routeKeys, about: "a pair of machines has one at most in each direction; pairs " +
			"without one share nothing"},
	},
	rules: `"if": {"required": ["links"], "properties": {"links": {"contains":
		{"anyOf": [{"not": {"required": ["capacity"]}}, {"properties": {"capacity": {"const": 0}}}]}}}}, "then": ` + bandwidthRule}

var linkKeys = object{keys: []key{
	idKey,
	{name: "capacity", zero: true, least: minFigure, most: maxFigure, about: "data units per second; missing or " +
		"0: the bandwidth"},
}}

var routeKeys = object{keys: []key{
	{name: "from", filled: true, about: "a machine"},
	{name: "to", filled: true, about: "another machine"},
	{name: "links", distinct: true, each: &key{filled: true}},
	{name: "latency_s", zero: true, least: minFigure, most: maxFigure, about: "seconds before a transfer on this " +
		"route begins to send, beside the start-up of the machine that sends"},
	{name: "weight", zero: true, least: 1, most: maxWeight, about: "where transfers share a link, their rates are in " +
		"proportion to it; missing or 0: 1; not with tcp or tcp-all"},
	{name: "one_way", about: "the route isn't that of the other direction"},
}}

// checkNetwork reports the first broken rule of the network; machines are the
// numbers of the machines' ids.
func (d *DAG) checkNetwork(machines map[string]int) error {
	n := &d.Network
	rate := linkKeys.key("capacity")
	if s := n.PathCapacity; s != nil {
		if len(s) != len(d.Machines) {
			return d.bad("", -1, "network.path_capacity has %d rows for %d machines", len(s), len(d.Machines))
		}
		for a := range s {
			if len(s[a]) != len(d.Machines) {
				return d.bad("", -1, "network.path_capacity[%d] has %d entries for %d machines", a, len(s[a]), len(d.Machines))
			}
			for b, x := range s[a] {
				if a != b && !rate.holds(x) {
					return d.bad("", -1, "network.path_capacity[%d][%d] (from machine %q to %q) is %v, must be 0 or from %g to %g",
						a, b, d.Machines[a].ID, d.Machines[b].ID, x, minFigure, maxFigure)
				}
			}
		}
	} else if n.Bandwidth == 0 && len(d.Machines) > 1 && len(d.Edges) > 0 {
		return d.bad("", -1, "network.bandwidth is missing, give it or network.path_capacity")
	}
	links := make(map[string]int, len(n.Links))
	for l, x := range n.Links {
		if err := d.newID(links, "network.links", l, x.ID, linkKeys.wrong(&x)); err != nil {
			return err
		}
		if x.Capacity == 0 && n.Bandwidth == 0 {
			return d.bad("network.links", l, "id %q: capacity is missing and there is no bandwidth to stand for it", x.ID)
		}
	}
	routes, latency, weight := map[[2]int]int{}, routeKeys.key("latency_s"), routeKeys.key("weight")
	overTCP := d.Transfers() == TransferTCP || d.Transfers() == TransferTCPAll
	for r, x := range n.Routes {
		var ends [2]int
		for k, id := range []string{x.From, x.To} {
			m, ok := machines[id]
			if !ok {
				return d.bad("network.routes", r, "%s is %q, there is no such machine", []string{"from", "to"}[k], id)
			}
			ends[k] = m
		}
		if ends[0] == ends[1] {
			return d.bad("network.routes", r, "from and to are both %q, a machine needs no route to itself", x.From)
		}
		both := [][2]int{ends, {ends[1], ends[0]}}
		if x.OneWay {
			both = both[:1]
		}
		for _, p := range both {
			if first, ok := routes[p]; ok {
				return d.bad("network.routes", r, "the route from %q to %q is routes[%d] already; one_way tells the directions apart", d.Machines[p[0]].ID, d.Machines[p[1]].ID, first)
			}
			routes[p] = r
		}
		if !latency.holds(x.LatencyS) {
			return d.bad("network.routes", r, "%s", latency.misfit("latency_s", x.LatencyS, x.LatencyS))
		}
		if !weight.holds(float64(x.Weight)) {
			return d.bad("network.routes", r, "%s", weight.misfit("weight", float64(x.Weight), x.Weight))
		}
		if x.Weight > 1 && overTCP {
			return d.bad("network.routes", r, "the route has a weight, and the transfer model is %q: give fair or ideal, or leave the weights out", d.Transfers())
		}
		used := map[string]bool{}
		for _, l := range x.Links {
			if _, ok := links[l]; !ok {
				return d.bad("network.routes", r, "there is no link %q", l)
			}
			if used[l] {
				return d.bad("network.routes", r, "link %q is on the route twice", l)
			}
			used[l] = true
		}
	}
	return nil
}
