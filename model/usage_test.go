// SPDX-License-Identifier: MIT

package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// Three jobs, worked out by hand: b waits from 5 to 6, after its restart.
func TestUsageOfBatch(t *testing.T) {
	in := &Batch{Name: "three", Processors: 8, Tiers: 2, KillAtEstimate: true, Jobs: []BatchJob{
		{ID: "a", RuntimeS: 10, EstimateS: 20, Processes: 4}, {ID: "b", SubmitS: 1.5, RuntimeS: 30, Processes: 2}, {ID: "c", SubmitS: 2, RuntimeS: 50, EstimateS: 40, Processes: 1}}}
	place := func(tier Tier, processors ...int32) BatchPlace { return BatchPlace{Tier: tier, Processors: processors} }
	type segment = Segment[BatchPlace]
	s := &Execution{Runs: []Run[BatchPlace]{
		{ID: "c", Segments: []segment{{StartS: 2, EndS: 42, Place: place("", 7)}}},
		{ID: "b", Segments: []segment{{StartS: 1.5, EndS: 5, Place: place(TierBackground, 1, 0), Lost: true},
			{StartS: 6, EndS: 7, Place: place(TierBackground, 2, 3)}, {StartS: 7, EndS: 20, Place: place("", 6, 4)}, {StartS: 20, EndS: 61.5, Place: place("", 6, 4)}}},
		{ID: "a", Segments: []segment{{StartS: 0, EndS: 10, Place: place("", 3, 1, 0, 5)}}}}}
	u := require.Value(UsageOf(in, s))(t)
	want := &Usage{Unit: "processors", Capacity: 8, Steps: []UsageStep{
		{AtS: 0, Used: 4}, {AtS: 1.5, Used: 4, Background: 2}, {AtS: 2, Used: 5, Background: 2}, {AtS: 5, Used: 5, Waiting: 1}, {AtS: 6, Used: 5, Background: 2},
		{AtS: 7, Used: 7}, {AtS: 10, Used: 3}, {AtS: 20, Used: 3}, {AtS: 42, Used: 2}, {AtS: 61.5}}}
	require.Same(t, "result", want, u)
	if from, to := u.Span(); from != 0 || to != 61.5 {
		t.Errorf("span %v to %v, want 0 to 61.5", from, to)
	}
	if got, want := u.Utilisation(0, 10), (4*2+5*5+7*3)/80.; math.Abs(got-want) > 1e-12 {
		t.Errorf("utilisation %v, want %v", got, want)
	}
}

// One of four requests is accepted, one ends early, one is withdrawn before its start, one declined.
func TestUsageOfReservation(t *testing.T) {
	early, withdrawn := 3., 7.
	in := &Reservation{Name: "four", PEs: 10, Requests: []Request{
		{ID: "a", ReadyS: 2, DurationS: 4, DeadlineS: 9, PEs: 3},
		{ID: "b", ArrivalS: 1, ReadyS: 1, DurationS: 5, RuntimeS: &early, DeadlineS: 9, PEs: 4},
		{ID: "c", ArrivalS: 5, ReadyS: 8, DurationS: 1, DeadlineS: 20, PEs: 1, CancelS: &withdrawn},
		{ID: "d", ArrivalS: 6, ReadyS: 6, DurationS: 2, DeadlineS: 9, PEs: 10}}}
	u := require.Value(UsageOf(in,
		&Bookings{Bookings: []Booking{{ID: "a", StartS: 2}, {ID: "b", StartS: 1}, {ID: "c", StartS: 8}}}))(t)
	want := []UsageStep{{AtS: 0, Waiting: 1}, {AtS: 1, Used: 4, Waiting: 1}, {AtS: 2, Used: 7}, {AtS: 4, Used: 3}, {AtS: 5, Used: 3, Waiting: 1},
		{AtS: 6, Waiting: 1, Declined: 20}, {AtS: 7, Declined: 20}}
	require.Same(t, "steps", want, u.Steps)
	require.Refused(t, "an execution of reservations", require.Err(UsageOf(in, &Execution{})), ErrInvalid, "")
	require.Refused(t, "a schedule", require.Err(UsageOf(&DAG{}, &Schedule{})), ErrUnsupported, "")
}

func TestUsageOfTVC(t *testing.T) {
	in := &TVC{Name: "v", FatTree: FatTree{K: 2, Slots: 4, LinkMbps: 10}, Requests: []TVCRequest{
		{ID: "x", VMs: 3, BandwidthMbps: 1, DurationS: 7}, {ID: "y", ArrivalS: 1, VMs: 9, BandwidthMbps: 1, DurationS: 3}}}
	u := require.Value(UsageOf(in,
		&Embeddings{Runs: []Run[Embedding]{{ID: "x", Segments: []Segment[Embedding]{{StartS: 2, EndS: 9}}}}}))(t)
	want := &Usage{Unit: "slots", Capacity: 8, Steps: []UsageStep{{AtS: 0, Waiting: 1}, {AtS: 1, Waiting: 1, Declined: 27}, {AtS: 2, Used: 3, Declined: 27}, {AtS: 9, Declined: 27}}}
	require.Same(t, "result", want, u)
}

// The means of any partition add up to the integral of the steps.
func TestUsageMeans(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var u Usage
		want := 0.
		for range 1 + rng.IntN(20) {
			from, long, used := rng.Float64()*10, rng.Float64()*5, float64(1+rng.IntN(9))
			u.use(from, from+long, used, 0)
			u.decline(from, 1)
			want += used * long
		}
		n := float64(len(u.Steps)) / 3 // two changes of each use, one that is declined
		u.Steps = UsageSteps(u.Steps)
		from, to := u.Span()
		parts := 1 + rng.IntN(50)
		means, got := u.Means(from, to, parts), 0.
		for _, m := range means {
			got += m.Used * (to - from) / float64(parts)
		}
		if math.Abs(got-want) > 1e-9*want || means[parts-1].Declined != n {
			t.Fatalf("%d parts: integral %v, want %v; %v declined, want %v", parts, got, want, means[parts-1].Declined, n)
		}
	}
}
