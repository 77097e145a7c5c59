// SPDX-License-Identifier: MIT

package model

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/gapwise/gapwise/internal/core/ticks"
)

// Reservation is the advance reservation of identical processing elements
// (PEs) for rigid parallel jobs with deadlines (Li et al.: Resource
// Availability-Aware Advance Reservation for Parallel Jobs with Deadlines,
// section 3).
//
// Requests arrive one after another. Each is declined, or accepted with a start and
// named PEs, on which it runs without interruption. A request may end earlier than it asked for, or be cancelled before
// it has started. Both are known only at that moment, and an online scheduler may use the PEs from then on.
//
// The objective, to be maximised, is the number of accepted requests or their
// PE-seconds (see Goal). The second objective, to be minimised, is the mean slowdown of the requests that run.
type Reservation struct {
	Name string `json:"name"`
	// Account tells what reading files made of them, nil if the instance comes from none.
	Account *Account `json:"account,omitempty"`
	// StartTime is when second 0 is, of an instance made from a log (RFC 3339);
	// pictures show dates by it. It means nothing to a solver.
	StartTime string `json:"start_time,omitempty"`
	// Goal is the quantity to maximise; empty means GoalAccepted, see EffectiveGoal.
	Goal     Goal      `json:"goal,omitempty"`
	PEs      int       `json:"pes"` // how many, numbered from 0
	Requests []Request `json:"requests" nil:"[]"`
}

// Goal is the quantity that a Reservation maximises.
type Goal string

// The goals.
const (
	// GoalAccepted is the number of accepted requests, as the paper counts them
	// (section 6.1): one that is withdrawn later has been accepted, too.
	GoalAccepted Goal = "accepted"
	// GoalPESeconds is the PE-seconds that are used: the sum of PEs times
	// runtime over the accepted requests that run. One that is withdrawn before
	// its start counts for nothing.
	GoalPESeconds Goal = "pe_seconds"
	// GoalReservedPESeconds is the PE-seconds that are promised: the sum of PEs
	// times duration over the accepted requests, withdrawn ones included.
	GoalReservedPESeconds Goal = "reserved_pe_seconds"
	// GoalAll asks whether all requests can be accepted: a solution that
	// declines one isn't feasible. The objective is the number of requests.
	GoalAll Goal = "all"
)

// Goals lists the goals.
var Goals = []Goal{GoalAccepted, GoalPESeconds, GoalReservedPESeconds, GoalAll}

// PESeconds reports whether the goal is measured in PE-seconds, and not in
// requests.
func (g Goal) PESeconds() bool { return g == GoalPESeconds || g == GoalReservedPESeconds }

// Request asks for PEs over DurationS seconds within a window. Times are
// seconds since the beginning of the instance.
type Request struct {
	ID        string  `json:"id"`
	ArrivalS  float64 `json:"arrival_s"`  // when it is accepted or declined online
	ReadyS    float64 `json:"ready_s"`    // earliest start
	DurationS float64 `json:"duration_s"` // the reserved time
	DeadlineS float64 `json:"deadline_s"` // latest end of the reserved time
	PEs       int     `json:"pes"`
	// RuntimeS is how long the job really takes, if less than reserved.
	RuntimeS *float64 `json:"runtime_s,omitempty"`
	// CancelS is when the user withdraws the request, unless it has started by
	// then.
	CancelS *float64 `json:"cancel_s,omitempty"`
}

// Latest returns the latest start.
func (r *Request) Latest() float64 { return max(r.ReadyS, r.DeadlineS-r.DurationS) }

// Runtime returns how many seconds the job occupies its PEs.
func (r *Request) Runtime() float64 {
	if r.RuntimeS != nil {
		return *r.RuntimeS
	}
	return r.DurationS
}

// Runs reports whether the job runs if it is to start at the given time: it
// isn't cancelled before.
func (r *Request) Runs(startS float64) bool { return r.CancelS == nil || startS <= *r.CancelS }

// Slowdown returns the slowdown of a job that starts at the given time (section
// 6.1): the waiting time after the ready time plus the duration, over the duration.
func (r *Request) Slowdown(startS float64) float64 {
	return (startS - r.ReadyS + r.DurationS) / r.DurationS
}

// Bookings is a solution of Reservation: the accepted requests.
type Bookings struct {
	// Goal must be the instance's if it is given.
	Goal Goal `json:"goal,omitempty"`
	// Online claims that the requests were decided on in the order of their arrival, without knowledge of later ones
	// and without moving earlier bookings. Bookings are then in that order, and none uses PEs that were promised to
	// another at the time of its arrival.
	Online   bool      `json:"online,omitempty"`
	Bookings []Booking `json:"bookings" nil:"[]"`
}

var bookingsKeys = object{
	about: "Bookings: for each accepted request its start and the PEs that it keeps until it ends. The other " +
		"requests are declined.",
	keys: []key{
		{name: "goal", about: "the instance's, if it is given"},
		{name: "online", about: "claims that the requests were decided upon one after another as they arrived: " +
			"the bookings are in that order, and none takes PEs over its duration that were promised to another " +
			"at its arrival"},
		{name: "bookings", of: &object{keys: []key{
			{name: "start_s", about: "seconds"},
			{name: "pes", rules: numbersRule, about: "PE numbers and ranges of them, each PE once and in " +
				"ascending order, in the list format of Linux's cpusets: 0-31,64,70-71"},
		}}},
	}}

// Booking accepts a request.
type Booking struct {
	ID     string  `json:"id"`
	StartS float64 `json:"start_s"`
	PEs    PEList  `json:"pes"`
}

// Kind returns KindReservation.
func (*Reservation) Kind() Kind { return KindReservation }

// Kind returns KindReservation.
func (*Bookings) Kind() Kind { return KindReservation }

// ID returns the instance's name.
func (r *Reservation) ID() string { return r.Name }

// Metrics implements Instance. The first figure depends on the goal.
func (r *Reservation) Metrics() []Metric {
	first := Metric{"accepted", "accepted requests", "", Maximise, true}
	switch r.EffectiveGoal() {
	case GoalPESeconds:
		first = Metric{"used PE-seconds", "used PE-seconds", "", Maximise, false}
	case GoalReservedPESeconds:
		first = Metric{"reserved PE-seconds", "reserved PE-seconds", "", Maximise, false}
	}
	return []Metric{first, {"slowdown", "mean slowdown", "", Minimise, false}, {"acceptance %", "acceptance rate", "%", Maximise, false}}
}

// KindReservation is the problem of advance reservations with deadlines.
const KindReservation Kind = "reservation"

var reservationFormat = format{
	Kind:     KindReservation,
	Instance: func() Instance { return new(Reservation) },
	Solution: func() Solution { return new(Bookings) },
	Details:  func() Details { return new(ReservationDetails) },
	Keys:     &reservationKeys,
	Decided:  &bookingsKeys,
}

// ReservationDetails holds the solvers' reports on a reservation's result.
type ReservationDetails struct {
	// Conflict, with the status infeasible, is a smallest infeasible part of the instance. It lists ids of requests
	// that can't be kept together, although leaving out any one of them would keep the others.
	Conflict []string `json:"conflict,omitempty"`
	// Partial holds the requests that a policy had accepted until it failed, without a solution.
	Partial []Booking `json:"partial,omitempty"`
}

// NewReservationDetails returns the details that hold a conflict, nil for none.
func NewReservationDetails(conflict []string) Details {
	if len(conflict) == 0 {
		return nil
	}
	return &ReservationDetails{Conflict: conflict}
}

// Kind implements Details.
func (*ReservationDetails) Kind() Kind { return KindReservation }

// Lines implements Details: it shows the conflict, or the accepted requests.
func (d *ReservationDetails) Lines(Result) []string {
	n := len(d.Conflict)
	switch {
	case d.Partial != nil:
		return []string{fmt.Sprintf("%d requests had been accepted until then (the result's key partial)", len(d.Partial))}
	case n == 0:
		return nil
	}
	const most = 10
	names := strings.Join(d.Conflict[:min(n, most)], ", ")
	if n > most {
		names += fmt.Sprintf(" and %d more", n-most)
	}
	return []string{fmt.Sprintf("minimal conflict (%d requests; without any one of them the others can be kept): %s", n, names)}
}

// Claims implements Details.
func (d *ReservationDetails) Claims() []string {
	if len(d.Conflict) == 0 {
		return nil
	}
	return []string{"the conflict"}
}

// Figures implements Details: there are none.
func (*ReservationDetails) Figures() map[string]float64 { return nil }

// EffectiveGoal returns the goal, GoalAccepted if none is given.
func (r *Reservation) EffectiveGoal() Goal {
	if r.Goal == "" {
		return GoalAccepted
	}
	return r.Goal
}

// Weight returns request k's contribution to the objective if it is accepted and runs.
func (r *Reservation) Weight(k int) float64 {
	switch q := &r.Requests[k]; r.EffectiveGoal() {
	case GoalPESeconds:
		return float64(q.PEs) * q.Runtime()
	case GoalReservedPESeconds:
		return float64(q.PEs) * q.DurationS
	}
	return 1
}

// WithdrawnWeight returns request k's contribution to the objective if it is accepted and withdrawn before its start.
func (r *Reservation) WithdrawnWeight(k int) float64 {
	if r.EffectiveGoal() == GoalPESeconds {
		return 0 // it held no PEs
	}
	return r.Weight(k)
}

// timeSlack is the relative rounding error that a sum of two times may have. A
// deadline that is before ready plus duration by no more than that means the sum.
const timeSlack = 0x1p-50

var reservationKeys = object{about: "Requests that reserve some of a cluster's identical processing elements " +
	"(PEs), numbered from 0, within a " +
	"window of time. Each is accepted or declined when it arrives. Times are seconds since the beginning of the " +
	"instance.",
	keys: []key{
		accountKey,
		startTimeKey,
		{name: "goal", texts: textsOf(Goals), about: "what is maximised: the number of accepted requests " +
			"(accepted, the default; one that is " +
			"withdrawn later counts), the PE-seconds that are used (pe_seconds: PEs times runtime of those that " +
			"run) or promised " +
			"(reserved_pe_seconds: PEs times duration of the accepted, withdrawn ones included); all asks whether " +
			"every request can be accepted"},
		{name: "pes", least: 1, most: maxSize},
		{name: "requests", of: &requestKeys, many: maxSize,
			about: "in the order of their arrival; those at the same time in the order in which they are decided " +
				"upon"},
	}}

var requestKeys = object{keys: []key{
	idKey,
	{name: "arrival_s", most: maxTime, about: "when the request is accepted or declined; no earlier than the one " +
		"before"},
	{name: "ready_s", most: maxTime, about: "the earliest start, no earlier than the arrival"},
	{name: "duration_s", least: minTime, most: maxTime, about: "what is reserved"},
	{name: "deadline_s", most: maxTime, about: "the latest end of what is reserved, no earlier than ready_s plus " +
		"duration_s"},
	{name: "pes", least: 1, most: maxSize, about: "how many PEs, at most the cluster's"},
	{name: "runtime_s", least: minTime, most: maxTime,
		about: "how long the job really takes, at most duration_s, which is the default; known once it has ended"},
	{name: "cancel_s", most: maxTime, about: "when the request is withdrawn unless its job has started by then, " +
		"no earlier than the arrival; " +
		"known from then on"},
}}

// Validate reports the first broken rule. An instance has at least one PE. Each request has its own id; finite times
// that aren't negative; an arrival no earlier than the one before; a ready time no earlier than the arrival; a positive
// duration; a deadline no earlier than ready time plus duration; from one PE to as many as there are; a runtime above 0
// and at most the duration; a cancellation no earlier than the arrival. If times have so many digits that they are
// rounded (see view.Reservation), runtimes have at least 1000 ticks. Errors are ErrInvalid; those about a request are
// an ElementError.
func (r *Reservation) Validate() error {
	requests, each := elements{kind: KindReservation, list: "requests", id: func(k int) string { return r.Requests[k].ID }}, &requestKeys
	if why := cmp.Or(checkStartTime(r.StartTime), reservationKeys.wrong(r)); why != "" {
		return requests.bad(-1, "%s", why)
	}
	arrival, ready, duration := each.key("arrival_s"), each.key("ready_s"), each.key("duration_s")
	deadline, pes := each.key("deadline_s"), each.key("pes")
	last := 0.0
	for k := range r.Requests {
		q := &r.Requests[k]
		fit := q.ID != "" && arrival.holds(q.ArrivalS) && ready.holds(q.ReadyS) && duration.holds(q.DurationS) &&
			deadline.holds(q.DeadlineS) && pes.holds(float64(q.PEs)) && (q.RuntimeS == nil || duration.holds(*q.RuntimeS)) &&
			(q.CancelS == nil || arrival.holds(*q.CancelS))
		if why := requests.wrong(k, fit, each, q); why != "" {
			return requests.bad(k, "%s", why)
		}
		switch {
		case q.ArrivalS < last:
			return requests.bad(k, "arrival_s is %v, after one at %v; sort the requests by arrival", q.ArrivalS, last)
		case q.ReadyS < q.ArrivalS:
			return requests.bad(k, "ready_s is %v, before its arrival at %v", q.ReadyS, q.ArrivalS)
		case q.DeadlineS < (q.ReadyS+q.DurationS)*(1-timeSlack):
			return requests.bad(k, "deadline_s is %v, before ready_s + duration_s = %v", q.DeadlineS, q.ReadyS+q.DurationS)
		case q.PEs > r.PEs:
			return requests.bad(k, "pes is %d, the cluster has %d", q.PEs, r.PEs)
		case q.RuntimeS != nil && *q.RuntimeS > q.DurationS:
			return requests.bad(k, "runtime_s is %v, must be at most duration_s = %v", *q.RuntimeS, q.DurationS)
		case q.CancelS != nil && *q.CancelS < q.ArrivalS:
			return requests.bad(k, "cancel_s is %v, before its arrival at %v", *q.CancelS, q.ArrivalS)
		}
		last = q.ArrivalS
	}
	return r.checkTimes(requests.bad)
}

// Times are at most 100 million years, which is less than 2^52 s, and durations at
// least a nanosecond, so that sums and products stay in range.
const (
	maxTime = 4e15
	minTime = 1e-9
)

// Objective returns the goal's value for the accepted requests, and the mean slowdown of the ones that run (1, the
// least possible, if none does). The error is ErrInvalid for another problem's solution and for bookings that Index
// refuses.
func (r *Reservation) Objective(s Solution) (Objective, error) {
	b, ok := s.(*Bookings)
	if !ok {
		return Objective{}, fmt.Errorf("%w solution: a %T can't solve a reservation instance", ErrInvalid, s)
	}
	index, err := r.Index(b)
	if err != nil {
		return Objective{}, err
	}
	o := Objective{Second: 1, Sense: Maximise, SecondSense: Minimise}
	sum, n := 0.0, 0
	var times ticks.Times
	for i, k := range index {
		start, runs := b.Bookings[i].StartS, true
		if r.Requests[k].CancelS != nil {
			if times.Requests == nil {
				times = ticks.Of(len(r.Requests), r.timesOf)
			}
			runs = start <= *r.Requests[k].CancelS || times.Starts(k, start)
		}
		if !runs {
			o.Value += r.WithdrawnWeight(k)
			continue
		}
		o.Value += r.Weight(k)
		sum += r.Requests[k].Slowdown(start)
		n++
	}
	if n > 0 {
		o.Second = sum / float64(n)
	}
	o.Others = []float64{100 * float64(len(index)) / float64(len(r.Requests))} // NaN without requests
	return o, nil
}

// Index returns the request number of each booking. The error is ErrInvalid if b
// aren't bookings of r's requests: an unknown id, a request booked twice, a start
// that is NaN or infinite, another goal.
func (r *Reservation) Index(b *Bookings) ([]int, error) {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w bookings: %s", ErrInvalid, fmt.Sprintf(format, args...))
	}
	if b.Goal != "" && b.Goal != r.EffectiveGoal() {
		return nil, bad("they are for the goal %q, the instance has %q", b.Goal, r.EffectiveGoal())
	}
	ids := idFinder{n: len(r.Requests), at: func(k int) string { return r.Requests[k].ID }}
	index := make([]int, len(b.Bookings))
	seen := make([]bool, len(r.Requests))
	for i := range b.Bookings {
		x := &b.Bookings[i]
		k, ok := ids.find(x.ID)
		switch {
		case !ok:
			return nil, bad("bookings[%d] is of %q, there is no such request", i, x.ID)
		case seen[k]:
			return nil, bad("request %q is booked twice", x.ID)
		case math.IsNaN(x.StartS) || math.IsInf(x.StartS, 0):
			return nil, bad("request %q starts at %v", x.ID, x.StartS)
		}
		seen[k], index[i] = true, k
	}
	return index, nil
}

// MarshalJSON writes the instance in its own format, "kind" first.
func (r *Reservation) MarshalJSON() ([]byte, error) { return marshalOwn(r) }

// MarshalJSON writes the bookings in their own format, "kind" first.
func (b *Bookings) MarshalJSON() ([]byte, error) { return marshalOwn(b) }

// timesOf returns the times of request k.
func (r *Reservation) timesOf(k int) ticks.Seconds {
	q := &r.Requests[k]
	t := ticks.Seconds{Arrival: q.ArrivalS, Ready: q.ReadyS, Duration: q.DurationS, Deadline: q.DeadlineS, Runtime: q.Runtime(), Cancel: math.Inf(1)}
	if q.CancelS != nil {
		t.Cancel = *q.CancelS
	}
	return t
}

// leastTicks is how many ticks of rounded times the shortest runtime needs.
const leastTicks = 1000

// checkTimes reports a runtime that rounding reduces to fewer than leastTicks.
func (r *Reservation) checkTimes(bad func(int, string, ...any) error) error {
	_, exact, last := ticks.Unit(len(r.Requests), r.timesOf)
	if exact {
		return nil
	}
	t := ticks.Of(len(r.Requests), r.timesOf)
	for k := range t.Requests {
		if t.Requests[k].Runtime < leastTicks {
			key := "duration_s"
			if r.Requests[k].RuntimeS != nil {
				key = "runtime_s"
			}
			return bad(k, "%s is %v, too short beside the deadline of %v with times of as many digits: they can be kept to 1e-%d s; round all times to %d decimals",
				key, r.Requests[k].Runtime(), last, t.Decimals, t.Decimals)
		}
	}
	return nil
}
