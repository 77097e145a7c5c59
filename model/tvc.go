// SPDX-License-Identifier: MIT

package model

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/internal/core/units"
)

// TVC is the allocation of time-aware virtual clusters in a fat-tree data centre
// (Li et al.: Bandwidth-Guaranteed Resource Allocation and Scheduling for
// Parallel Jobs in Cloud Data Center, Symmetry 10(5), 2018, section 3).
//
// A request asks for N virtual machines (VMs), each joined to a virtual switch by
// B Mbps (the hose model), for a duration. An embedding gives each VM a slot of
// a server and the virtual switch a switch above all of them, and reserves
// bandwidth on the links between (see Hose).
//
// A request in loss mode is embedded at its arrival, for its whole duration, or rejected. The objective, to be
// maximised, is the number of accepted requests or their revenue (see TVCGoal). The other of the two is the second
// objective, which compares results of one objective. The exact engines optimise the first alone: they stop at any of
// its optima, so "optimal" states nothing about the second.
//
// In queue mode (Queue) requests wait. A request runs in one or more segments,
// never before its arrival: it may be suspended, keeps the work that is done,
// and goes on later, on the same servers or on others. Every request that fits
// an empty data centre must run; one that never fits is refused. The objective,
// to be minimised, is the mean response time, the second the mean bounded
// slowdown. Metrics defines these figures.
//
// At one instant departures come before arrivals: a segment holds its slots and
// links from StartS up to EndS, without EndS. Requests that arrive at one
// instant arrive in the order of their list.
//
// Times are whole microseconds, rates whole bits per second, so that all
// arithmetic on them is exact (see view.TVC).
type TVC struct {
	Name string `json:"name"`
	// Account tells what reading files made of them, nil if the instance comes from none.
	Account *Account `json:"account,omitempty"`
	// StartTime is when second 0 is, of an instance made from a log (RFC 3339);
	// pictures show dates by it. It means nothing to a solver.
	StartTime string  `json:"start_time,omitempty"`
	FatTree   FatTree `json:"fat_tree"`
	Queue     bool    `json:"queue"`
	// Goal is the quantity to maximise in loss mode; empty means GoalRequests. In queue mode it must be empty.
	Goal TVCGoal `json:"goal,omitempty"`
	// Hose is the rule for an embedding's reservations; empty means HoseCut.
	Hose Hose `json:"hose,omitempty"`
	// MigrationS is the cost of a migration, which is a segment on other servers than
	// the one before: no work is done until the request has run there for MigrationS
	// seconds. If the segment ends before, the next one on these servers goes on
	// with the migration.
	MigrationS float64      `json:"migration_s,omitempty"`
	Requests   []TVCRequest `json:"requests" nil:"[]"` // by arrival
}

// TVCRequest asks for a virtual cluster <N, B> (section 3.2). Times are seconds
// since the beginning of the instance.
type TVCRequest struct {
	ID            string  `json:"id"`
	ArrivalS      float64 `json:"arrival_s"`
	VMs           int     `json:"vms"`            // N, at least 1
	BandwidthMbps float64 `json:"bandwidth_mbps"` // B, of each VM's link to the virtual switch
	DurationS     float64 `json:"duration_s"`     // es, under the guaranteed bandwidth
}

// TVCGoal is the quantity that a TVC in loss mode maximises.
type TVCGoal string

// The goals of loss mode.
const (
	GoalRequests TVCGoal = "requests" // the number of accepted requests
	GoalRevenue  TVCGoal = "revenue"  // the sum of N·B·duration over them
)

// TVCGoals lists the goals of loss mode.
var TVCGoals = []TVCGoal{GoalRequests, GoalRevenue}

// Hose states how much bandwidth an embedding reserves on a link that separates m VMs below it from the others.
type Hose string

// The readings of the hose model.
const (
	// HoseCut reserves min(m, N-m)·B, m the number of VMs below the link: no more
	// can cross it, whatever the VMs send (Ballani et al.: Towards Predictable
	// Datacenter Networks, SIGCOMM 2011, section 4). The load is 0 above a switch that has all VMs below it. So any of
	// the switches above all VMs may host the virtual switch, as long as the links below them are the same.
	HoseCut Hose = "cut"
	// HosePerPath is Eq. 6 of the paper to the letter: each server reserves min(m,
	// N-m)·B on every link of its path to the virtual switch, m the VMs on this
	// server. A link near the core then reserves more than can cross it.
	HosePerPath Hose = "per-path"
)

// Hoses lists the readings of the hose model.
var Hoses = []Hose{HoseCut, HosePerPath}

// EffectiveHose returns Hose, or HoseCut if it is empty.
func (v *TVC) EffectiveHose() Hose {
	if v.Hose == "" {
		return HoseCut
	}
	return v.Hose
}

// EffectiveGoal returns Goal, or GoalRequests if it is empty. It means nothing
// in queue mode.
func (v *TVC) EffectiveGoal() TVCGoal {
	if v.Goal == "" {
		return GoalRequests
	}
	return v.Goal
}

// Embeddings is a solution of TVC: the requests that run, in any order. A request
// without a run is rejected.
type Embeddings struct {
	Runs []Run[Embedding] `json:"runs" nil:"[]"`
}

var embeddingsKeys = object{
	about: "Embeddings: for each request that runs its segments, spans of time in which it has its virtual " +
		"machines (VMs) in one place. The other requests are rejected.",
	keys: []key{{name: "runs", of: &object{keys: []key{
		{name: "segments", about: "in the order of time; one unless the request is " +
			"suspended", of: &object{keys: []key{
			{name: "start_s", about: "seconds, in whole microseconds"},
			{name: "end_s", about: "seconds, in whole microseconds"},
			{name: "place", of: &object{keys: []key{
				{name: "switch", rules: `"pattern": "^(edge|aggregation|core)-(0|[1-9][0-9]{0,17})-(0|[1-9][0-9]{0,17})$"`,
					about: "hosts the virtual switch, above all VMs: edge-P-E is edge switch E of pod P, " +
						"aggregation-P-A aggregation switch A of pod P, core-A-C core switch C of group A, which " +
						"is joined to aggregation switch A of every pod"},
				{name: "servers", of: &object{}, about: "those with VMs, in ascending order; server (P·k/2 + " +
					"E)·k/2 + I is number I at edge-P-E"},
			}}},
			{name: "lost", about: "true: the request is killed at the end, and its next segment starts it from " +
				"the beginning, without a migration; false if it is missing"},
		}}},
	}}}}}

// Embedding places a virtual cluster.
type Embedding struct {
	// Switch hosts the virtual switch. All VMs are on servers below it.
	Switch Switch `json:"switch"`
	// Servers holds the servers with VMs, by ascending number.
	Servers []ServerVMs `json:"servers" nil:"[]"`
}

// ServerVMs is a number of VMs, at least 1, on one server.
type ServerVMs struct {
	Server int `json:"server"`
	VMs    int `json:"vms"`
}

// SameServers reports whether both embeddings have the same VMs on the same
// servers.
func (e *Embedding) SameServers(x *Embedding) bool { return slices.Equal(e.Servers, x.Servers) }

// Kind returns KindTVC.
func (*TVC) Kind() Kind { return KindTVC }

// Kind returns KindTVC.
func (*Embeddings) Kind() Kind { return KindTVC }

// ID returns the instance's name.
func (v *TVC) ID() string { return v.Name }

// KindTVC is the problem of time-aware virtual clusters.
const KindTVC Kind = "tvc"

var tvcFormat = format{
	Kind:     KindTVC,
	Instance: func() Instance { return new(TVC) },
	Solution: func() Solution { return new(Embeddings) },
	Details:  func() Details { return new(TVCDetails) },
	Keys:     &tvcKeys,
	Decided:  &embeddingsKeys,
}

// MostSlots bounds the slots of a data centre, and so the VMs of a request.
const MostSlots = 1_000_000

// mostMbps bounds rates: 5·10^5 VMs at 10^13 bit/s are less than 2^63.
const mostMbps = 1e7

// mostSeconds bounds times: 10^15 microseconds are less than 2^52. Durations may sum to
// maxSize times as much. In loss mode no request ends after 2·10^9 s. In queue mode the maker of a schedule refuses one
// that would go on after 8·10^9 s.
const mostSeconds = 1e9

var tvcKeys = object{about: "Requests for virtual clusters in a fat-tree data centre: N virtual machines (VMs), " +
	"each with a link of B Mbps to a " +
	"virtual switch, for a duration. In loss mode each is embedded at its arrival or rejected; with a queue " +
	"requests wait and may be suspended. " +
	"Times are seconds since the beginning of the instance, in whole microseconds; rates are Mbps, in whole bits " +
	"per second.",
	keys: []key{
		accountKey,
		startTimeKey,
		{name: "fat_tree", of: &fatTreeKeys},
		{name: "queue", about: "true: requests wait, and the mean response time is minimised; false: each runs " +
			"from its arrival on or is rejected"},
		{name: "goal", texts: textsOf(TVCGoals), about: "what is maximised without a queue: the number of " +
			"accepted requests (requests, the " +
			"default) or the sum of N·B·duration over them (revenue); none with a queue"},
		{name: "hose", texts: textsOf(Hoses), about: "what a link with m of a cluster's N VMs below it reserves: " +
			"min(m, N-m)·B (cut, the " +
			"default), or the sum of that over the servers below it, with m the VMs on each (per-path)"},
		{name: "migration_s", most: mostSeconds, whole: micros,
			about: "how long a request does no work after it has moved to other servers; 0 if it is missing"},
		{name: "requests", of: &tvcRequestKeys, many: maxSize,
			about: "in the order of their arrival; those at the same time in the order in which they arrive"},
	}}

var tvcRequestKeys = object{keys: []key{
	idKey,
	{name: "arrival_s", most: mostSeconds, whole: micros, about: "no earlier than the one before"},
	{name: "vms", least: 1, most: MostSlots, about: "N, at most the slots of the data centre"},
	{name: "bandwidth_mbps", least: positive, most: mostMbps, whole: bits, about: "B, of the link from each VM to " +
		"the virtual switch"},
	{name: "duration_s", least: positive, most: mostSeconds, whole: micros},
}}

// Validate reports the first rule that v breaks. The rules are the fat-tree's (see FatTree.check); ids not empty and
// distinct; arrivals in order, from 0; durations above 0, of whole microseconds; VMs from 1 to the slots of the data
// centre; bandwidths above 0, of whole bits per second. Errors are ErrInvalid; those about a request are an
// ElementError.
func (v *TVC) Validate() error {
	requests, each := elements{kind: KindTVC, list: "requests", id: func(k int) string { return v.Requests[k].ID }}, &tvcRequestKeys
	if why := cmp.Or(checkStartTime(v.StartTime), tvcKeys.wrong(v)); why != "" {
		return requests.bad(-1, "%s", why)
	}
	servers := v.FatTree.Servers()
	switch slots := MostSlots / servers; {
	case v.FatTree.Slots > slots:
		return requests.bad(-1, "fat_tree.slots is %d, must be from 1 to %d: %d servers may have %d slots", v.FatTree.Slots, slots, servers, MostSlots)
	case v.Queue && v.Goal != "":
		return requests.bad(-1, "goal is %q, but in queue mode the mean response time is minimised; leave it out", v.Goal)
	}
	arrival, vms, bandwidth, duration := each.key("arrival_s"), each.key("vms"), each.key("bandwidth_mbps"), each.key("duration_s")
	last, slots := 0.0, servers*v.FatTree.Slots
	for k := range v.Requests {
		q := &v.Requests[k]
		fit := q.ID != "" && arrival.holds(q.ArrivalS) && vms.holds(float64(q.VMs)) && bandwidth.holds(q.BandwidthMbps) &&
			duration.holds(q.DurationS)
		if why := requests.wrong(k, fit, each, q); why != "" {
			return requests.bad(k, "%s", why)
		}
		switch {
		case q.ArrivalS < last:
			return requests.bad(k, "arrival_s is %v, after one at %v; sort the requests by arrival", q.ArrivalS, last)
		case q.VMs > slots:
			return requests.bad(k, "vms is %d, the data centre has %d slots", q.VMs, slots)
		}
		last = q.ArrivalS
	}
	return nil
}

// SlowdownFloor is Γ of the bounded slowdown, in seconds (section 3.3; its value comes from Mu'alem, Feitelson 2001,
// which the paper cites).
const SlowdownFloor = 10

// Metrics implements Instance. In loss mode:
//
//   - requests: the number of accepted requests.
//   - revenue: the sum of N·B·duration over the accepted requests.
//   - accept rate: accepted requests over all requests, those that never fit
//     included, in percent.
//   - never fit: requests that don't fit an empty data centre.
//
// The figures in queue mode are means over the requests that run, with a the arrival, s the start of the first segment,
// e the end of the last, and d the duration:
//
//   - response: e - a.
//   - bounded slowdown: max(1, (e - a)/max(Γ, d)).
//   - wait: s - a. This is what Eq. 1 of the paper calls the response time.
//   - slowdown eq2: (s + e - a)/max(Γ, e). This is Eq. 2 of the paper to the
//     letter: its end time counts the start once more. It depends on when time
//     begins.
//   - suspensions: segments that end before the work is done.
//   - migrations: segments on other servers than the segment before, its work
//     kept. A migration needs a suspension, if only for an instant.
//   - never fit: as above.
func (v *TVC) Metrics() []Metric {
	never := Metric{"never fit", "requests that never fit", "", Minimise, true}
	if v.Queue {
		return []Metric{{"response", "mean response time", "s", Minimise, false}, {"bounded slowdown", "mean bounded slowdown", "", Minimise, false},
			{"wait", "mean wait (Eq. 1)", "s", Minimise, false}, {"slowdown eq2", "mean bounded slowdown (Eq. 2 as printed)", "", Minimise, false},
			{"suspensions", "suspensions", "", Minimise, false}, {"migrations", "migrations", "", Minimise, false}, never}
	}
	requests, revenue := Metric{"requests", "accepted requests", "", Maximise, true}, Metric{"revenue", "revenue", "VM Mbit", Maximise, false}
	if v.EffectiveGoal() == GoalRevenue {
		requests, revenue = revenue, requests
	}
	return []Metric{requests, revenue, {"accept rate", "accept rate", "%", Maximise, false}, never}
}

// Revenue returns the revenue of accepting the request: N·B·duration, in VM Mbit.
func (q *TVCRequest) Revenue() float64 { return float64(q.VMs) * q.BandwidthMbps * q.DurationS }

// Objective returns the figures of Metrics. The error is ErrInvalid for another
// problem's solution and for runs that Index refuses.
func (v *TVC) Objective(s Solution) (Objective, error) {
	e, ok := s.(*Embeddings)
	if !ok {
		return Objective{}, fmt.Errorf("%w solution: a %T can't solve a tvc instance", ErrInvalid, s)
	}
	index, err := v.Index(e)
	if err != nil {
		return Objective{}, err
	}
	never, fits := 0.0, v.Fits()
	for k := range v.Requests {
		if !fits(k) {
			never++
		}
	}
	metrics := v.Metrics()
	o := Objective{Sense: metrics[0].Sense, SecondSense: metrics[1].Sense}
	if v.Queue {
		f := v.queueFigures(e, index)
		o.Value, o.Second, o.Others = f[0], f[1], append(f[2:], never)
		return o, nil
	}
	// The sum takes the requests in their own order, so that it doesn't depend on the order of the runs.
	revenue, accepted := 0.0, make([]bool, len(v.Requests))
	for _, k := range index {
		accepted[k] = true
	}
	for k, in := range accepted {
		if in {
			revenue += v.Requests[k].Revenue()
		}
	}
	n := float64(len(index))
	if o.Value, o.Second = n, revenue; v.EffectiveGoal() == GoalRevenue {
		o.Value, o.Second = revenue, n
	}
	o.Others = []float64{100 * n / float64(len(v.Requests)), never} // NaN without requests
	return o, nil
}

// queueFigures returns the means of response, bounded slowdown, wait and slowdown
// eq2, 0 (1 for slowdowns) without runs, and the numbers of suspensions and
// migrations.
func (v *TVC) queueFigures(e *Embeddings, index []int) []float64 {
	runs := make([]*Run[Embedding], len(v.Requests))
	for i, k := range index {
		runs[k] = &e.Runs[i]
	}
	var responses, waits units.TimeSum
	slowdowns, printed, suspensions, migrations := 0.0, 0.0, 0.0, 0.0
	for k, r := range runs {
		if r == nil {
			continue
		}
		q := &v.Requests[k]
		start, end := r.Segments[0].StartS, r.Segments[len(r.Segments)-1].EndS
		responses.Add(units.Micro(end)-units.Micro(q.ArrivalS), 1)
		waits.Add(units.Micro(start)-units.Micro(q.ArrivalS), 1)
		slowdowns += max(1, units.Seconds(units.Micro(end)-units.Micro(q.ArrivalS))/max(SlowdownFloor, q.DurationS))
		printed += (start + end - q.ArrivalS) / max(SlowdownFloor, end)
		suspensions += float64(len(r.Segments) - 1)
		for i := 1; i < len(r.Segments); i++ {
			if before := &r.Segments[i-1]; !before.Lost && !r.Segments[i].Place.SameServers(&before.Place) {
				migrations++
			}
		}
	}
	n := float64(len(index))
	if n == 0 {
		return []float64{0, 1, 0, 1, 0, 0}
	}
	return []float64{responses.Seconds() / n, slowdowns / n, waits.Seconds() / n, printed / n, suspensions, migrations}
}

// Index returns the request number of each run. The error is ErrInvalid if the
// solution doesn't fit the instance: an unknown id, a request that runs twice, a
// run without segments, a time that isn't a number from 0 to 10^10.
func (v *TVC) Index(e *Embeddings) ([]int, error) {
	return indexRuns(e.Runs, len(v.Requests), "request", func(k int) string { return v.Requests[k].ID })
}

// MarshalJSON writes the instance in its own format, "kind" first.
func (v *TVC) MarshalJSON() ([]byte, error) { return marshalOwn(v) }

// MarshalJSON writes the embeddings in their own format, "kind" first.
func (e *Embeddings) MarshalJSON() ([]byte, error) { return marshalOwn(e) }
