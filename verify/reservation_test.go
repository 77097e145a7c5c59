// SPDX-License-Identifier: MIT

package verify_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func pointer(x float64) *float64 { return &x }

// pes reads a list of PEs.
func pes(t testing.TB, text string) model.PEList {
	t.Helper()
	var l model.PEList
	require.OK(t, l.UnmarshalText([]byte(text)))
	return l
}

// four requests on eight PEs: c ends early, d is cancelled before it starts.
func fourRequests(t testing.TB) (*model.Reservation, *model.Bookings) {
	in := &model.Reservation{Name: "four", PEs: 8, Requests: []model.Request{
		{ID: "a", ArrivalS: 0, ReadyS: 0, DurationS: 10, DeadlineS: 20, PEs: 4},
		{ID: "b", ArrivalS: 1, ReadyS: 5, DurationS: 10, DeadlineS: 40, PEs: 6},
		{ID: "c", ArrivalS: 2, ReadyS: 2, DurationS: 20, DeadlineS: 60, PEs: 8, RuntimeS: pointer(5)},
		{ID: "d", ArrivalS: 3, ReadyS: 50, DurationS: 10, DeadlineS: 100, PEs: 1, CancelS: pointer(30)},
	}}
	return in, &model.Bookings{Bookings: []model.Booking{
		{ID: "a", StartS: 0, PEs: pes(t, "0-3")},
		{ID: "b", StartS: 10, PEs: pes(t, "0,2-6")},
		{ID: "c", StartS: 20, PEs: pes(t, "0-7")},
		{ID: "d", StartS: 50, PEs: pes(t, "7")},
	}}
}

// Each constraint, broken by hand: the lines of the report, amounts included.
func TestReservationConstraints(t *testing.T) {
	for name, c := range map[string]struct {
		set  string
		edit func(*model.Reservation, *model.Bookings)
		want []string
	}{
		"nothing":          {"", nil, nil},
		"online":           {"S.Online=true", nil, nil},
		"none booked":      {"S.Bookings=nil; S.Online=true", nil, nil},
		"the goal":         {"S.Goal=accepted", nil, nil},
		"in another order": {"", func(in *model.Reservation, b *model.Bookings) { slices.Reverse(b.Bookings) }, nil},
		"ranges that touch": {"", func(in *model.Reservation, b *model.Bookings) {
			b.Bookings[0].PEs = model.PEList{{First: 0, Last: 1}, {First: 2, Last: 3}}
		}, nil},
		"unknown request": {"S.Bookings.0.ID=x", nil,
			[]string{`unknown_request: request "x" isn't in the instance`}},
		"booked twice": {"S.Bookings.1.ID=a", nil,
			[]string{`repeated_request: request "a" is booked twice`}},
		"too few PEs": {"S.Bookings.0.PEs=[:0]", nil,
			[]string{`pe_count: request "a" asks for 4 PEs and gets 0`}},
		"too many PEs": {"S.Bookings.0.PEs.0.Last=4", nil,
			[]string{`pe_count: request "a" asks for 4 PEs and gets 5`}},
		"unknown PE": {"", func(in *model.Reservation, b *model.Bookings) {
			b.Bookings[0].PEs = model.PEList{{First: 5, Last: math.MaxInt}}
		},
			[]string{`unknown_pe: request "a" is on PE 8, there are 0 to 7`, `pe_count: request "a" asks for 4 PEs and gets 3`}},
		"negative PE": {"", func(in *model.Reservation, b *model.Bookings) {
			b.Bookings[0].PEs = model.PEList{{First: math.MinInt, Last: 3}}
		},
			[]string{fmt.Sprintf(`unknown_pe: request "a" is on PE %d, there are 0 to 7`, math.MinInt)}},
		"all PEs beyond": {"S.Bookings.0.PEs=9-12", nil,
			[]string{`unknown_pe: request "a" is on PE 9, there are 0 to 7`, `pe_count: request "a" asks for 4 PEs and gets 0`}},
		"descending": {"", func(in *model.Reservation, b *model.Bookings) {
			b.Bookings[0].PEs = model.PEList{{First: 2, Last: 3}, {First: 0, Last: 1}}
		},
			[]string{`pe_order: request "a" lists the PEs 0-1 where they aren't in ascending order, each once`}},
		"a PE twice": {"", func(in *model.Reservation, b *model.Bookings) {
			b.Bookings[0].PEs = model.PEList{{First: 0, Last: 1}, {First: 1, Last: 2}}
		},
			[]string{`pe_order: request "a" lists the PEs 1-2 where they aren't in ascending order, each once`, `pe_count: request "a" asks for 4 PEs and gets 3`}},
		"a range backwards": {"", func(in *model.Reservation, b *model.Bookings) { b.Bookings[0].PEs = model.PEList{{First: 3, Last: 0}} },
			[]string{`pe_order: request "a" lists the PEs 3-0 where they aren't in ascending order, each once`, `pe_count: request "a" asks for 4 PEs and gets 0`}},
		"early": {"In.Requests.1.ReadyS=15", nil,
			[]string{`early_start: request "b" starts at 10 and is ready at 15, by 0.5`}},
		"late": {"S.Bookings.2.StartS=45", nil,
			[]string{`late_end: request "c" is reserved until 65, its deadline is 60, by 0.25`}},
		"NaN": {"S.Bookings.2.StartS=NaN", nil,
			[]string{`invalid_start: request "c" starts at NaN`}},
		"infinite": {"S.Bookings.2.StartS=-Inf", nil,
			[]string{`invalid_start: request "c" starts at -Inf`}},
		"largest start": {"S.Bookings.2.StartS=1.7976931348623157e308", nil,
			[]string{`late_end: request "c" is reserved until 1.7976931348623157e+308, its deadline is 60, by 1.15292e+17`}},
		"PEs twice": {"S.Bookings.1.StartS=8", nil,
			[]string{`pe_overlap: requests "a" and "b" on PEs 0,2-3 for 2 s, by 0.2`}},
		"one amidst another": {"S.Bookings.2.StartS=12", nil,
			[]string{`pe_overlap: requests "b" and "c" on PEs 0,2-6 for 5 s, by 1`}},
		"several": {"S.Bookings.1.StartS=5; S.Bookings.2.StartS=6", nil,
			[]string{`pe_overlap: requests "a" and "b" on PEs 0,2-3 for 5 s, by 0.5`, `pe_overlap: requests "a" and "c" on PEs 0-3 for 4 s, by 0.8`,
				`pe_overlap: requests "b" and "c" on PEs 0,2-6 for 5 s, by 1`}},
		"declined": {"In.Goal=all; S.Bookings=[:3]", nil,
			[]string{`declined_request: request "d" is declined, the goal is all of them`}},
		"goal": {"S.Goal=pe_seconds", nil,
			[]string{`wrong_goal: the bookings are for the goal "pe_seconds", the instance has "accepted"`}},
		"order claimed": {"", func(in *model.Reservation, b *model.Bookings) {
			b.Online = true
			b.Bookings[0], b.Bookings[2] = b.Bookings[2], b.Bookings[0]
		}, []string{`online_order: request "b" is booked after "c" and comes before it in the order of arrival`,
			`online_order: request "a" is booked after "c" and comes before it in the order of arrival`}},
		// c ends at 25, but until then its PEs are promised until 40.
		"offline, after an early end": {"", func(in *model.Reservation, b *model.Bookings) {
			b.Bookings[3] = model.Booking{ID: "d", StartS: 25, PEs: pes(t, "7")}
			in.Requests[3].ReadyS = 25
		},
			nil},
		"online, before an early end": {"", func(in *model.Reservation, b *model.Bookings) {
			b.Bookings[3] = model.Booking{ID: "d", StartS: 25, PEs: pes(t, "7")}
			b.Online, in.Requests[3].ReadyS = true, 25
		}, []string{`online_conflict: request "d" takes what was promised to "c" when it arrived, PEs 7 for 10 s, by 1`}},
		"online, at an early end": {"", func(in *model.Reservation, b *model.Bookings) {
			b.Bookings[3] = model.Booking{ID: "d", StartS: 25, PEs: pes(t, "7")}
			b.Online, in.Requests[3].ReadyS, in.Requests[3].ArrivalS = true, 25, 25
		}, nil},
		"cancelled by then": {"", func(in *model.Reservation, b *model.Bookings) {
			in.Requests = append(in.Requests, model.Request{ID: "e", ArrivalS: 30, ReadyS: 45, DurationS: 10, DeadlineS: 100, PEs: 1})
			b.Bookings = append(b.Bookings, model.Booking{ID: "e", StartS: 45, PEs: pes(t, "7")})
			b.Online = true
		}, nil},
		"cancelled later": {"", func(in *model.Reservation, b *model.Bookings) {
			in.Requests = append(in.Requests, model.Request{ID: "e", ArrivalS: 29, ReadyS: 45, DurationS: 10, DeadlineS: 100, PEs: 1})
			b.Bookings = append(b.Bookings, model.Booking{ID: "e", StartS: 45, PEs: pes(t, "7")})
			b.Online = true
		}, []string{`online_conflict: request "e" takes what was promised to "d" when it arrived, PEs 7 for 5 s, by 0.5`}},
		"started before it was cancelled": {"", func(in *model.Reservation, b *model.Bookings) {
			in.Requests[3].CancelS = pointer(50)
			in.Requests = append(in.Requests, model.Request{ID: "e", ArrivalS: 52, ReadyS: 52, DurationS: 10, DeadlineS: 100, PEs: 1})
			b.Bookings = append(b.Bookings, model.Booking{ID: "e", StartS: 52, PEs: pes(t, "7")})
			b.Online = true
		}, []string{`pe_overlap: requests "d" and "e" on PEs 7 for 8 s, by 0.8`,
			`online_conflict: request "e" takes what was promised to "d" when it arrived, PEs 7 for 8 s, by 0.8`}},
		// One that will be cancelled needs no PEs, but that isn't known yet.
		"cancelled itself": {"S.Online=true; S.Bookings.3.StartS=35; In.Requests.3.ReadyS=3", nil, []string{`online_conflict: request "d" takes what was promised to "c" when it arrived, PEs 7 for 5 s, by 0.5`}},
	} {
		t.Run(name, func(t *testing.T) {
			in, b := fourRequests(t)
			edited(t, in, b, c.set, c.edit)
			r := judge(t, in, b, verify.Options{})
			var got []string
			for _, v := range r.Violations {
				got = append(got, v.String())
			}
			require.Same(t, "result", c.want, got)
			require.Same(t, fmt.Sprintf("infeasible by the error %v", r.Err()), len(c.want) > 0, errors.Is(r.Err(), model.ErrInfeasible))
			o, err := in.Objective(b)
			require.Same(t, fmt.Sprintf("the model says %+v, %v, the judge %v and %v", o, err, r.Objective, r.Second),
				math.IsNaN(r.Objective) && math.IsNaN(r.Second), err != nil)
			if err == nil && (r.Objective != o.Value || math.Abs(r.Second-o.Second) > 1e-9*math.Abs(o.Second)) {
				t.Errorf("the objectives are %v and %v, want %v and %v", r.Objective, r.Second, o.Value, o.Second)
			}
		})
	}
}

func TestReservationNotJudged(t *testing.T) {
	in, b := fourRequests(t)
	if r := judge(t, in, &model.Schedule{}, verify.Options{}); len(r.Violations) != 1 || r.Violations[0].Constraint != "wrong_kind" {
		t.Errorf("a schedule: %v", r)
	}
	if r := judge(t, in, (*model.Bookings)(nil), verify.Options{}); len(r.Violations) != 1 || r.Violations[0].Constraint != "wrong_kind" {
		t.Errorf("no bookings: %v", r)
	}
	in.Requests[0].DurationS = math.NaN()
	require.Refused(t, "an instance with NaN", require.Err(verify.Verify(t.Context(), in, b, verify.Options{})),
		model.ErrInvalid, "")
}

// The objectives are exact: PE-seconds beyond 53 bits, slowdowns that cancel.
func TestReservationObjectives(t *testing.T) {
	in := &model.Reservation{Goal: model.GoalReservedPESeconds, PEs: 7, Requests: []model.Request{
		{ID: "a", DurationS: 1 << 51, DeadlineS: 4e15, PEs: 7}, {ID: "b", DurationS: 1, DeadlineS: 4e15, PEs: 1}, {ID: "c", DurationS: 1, DeadlineS: 4e15, PEs: 1},
		{ID: "d", DurationS: 5, DeadlineS: 4e15, PEs: 1, CancelS: pointer(0)}}}
	b := &model.Bookings{}
	for i, start := range []float64{0, 1<<51 + 2, 1<<51 + 6, 7} {
		b.Bookings = append(b.Bookings, model.Booking{ID: in.Requests[i].ID, StartS: start, PEs: pes(t, "0")})
	}
	b.Bookings[0].PEs = pes(t, "0-6")
	r := judge(t, in, b, verify.Options{})
	// 7*2^51 + 7 is halfway between multiples of 2, and 8 the multiple of 4; one by one it would get no further than 7*2^51 + 4.
	if want := float64(7*1<<51 + 8); !r.Feasible() || r.Objective != want {
		t.Errorf("objective %v, want %v: %v", r.Objective, want, r)
	}
	require.Same(t, "second objective", float64((1+(1<<51+3)+(1<<51+7))/3), r.Second)
	// The used PEs leave out the withdrawn one, and count runtimes.
	in.Goal, in.Requests[0].RuntimeS = model.GoalPESeconds, pointer(1<<20)
	if r := judge(t, in, b, verify.Options{}); !r.Feasible() || r.Objective != 7*1<<20+2 {
		t.Errorf("objective %v, want %v: %v", r.Objective, 7*1<<20+2, r)
	}
}

// Hopeless bookings give a report that stops.
func TestReservationManyConflicts(t *testing.T) {
	in, b := &model.Reservation{PEs: 3000}, &model.Bookings{Online: true}
	var odd model.PEList
	for p := 1; p < 3000; p += 2 {
		odd = odd.Append(p)
	}
	for i := range 400 {
		id := fmt.Sprint(i)
		in.Requests = append(in.Requests, model.Request{ID: id, DurationS: 1, DeadlineS: 1, PEs: 1500})
		b.Bookings = append(b.Bookings, model.Booking{ID: id, PEs: odd})
	}
	r := judge(t, in, b, verify.Options{})
	if n := len(r.Violations); n != 20_002 {
		t.Errorf("%d violations, want 10,000 pairs and a line more, twice", n)
	}
	if first := r.Violations[0].String(); !strings.Contains(first, "29,31 and 1484 more for 1 s") {
		t.Error(first)
	}
}

// drawLarge draws feasible online bookings of n requests of powers of two PEs up to 1,024, as long as the paper's jobs.
// Each takes PEs at random when all of them are free, early ends and cancellations notwithstanding. With reused they
// may take the PEs of bookings that have ended by their arrival.
func drawLarge(seed uint64, n int, scattered, reused bool) (*model.Reservation, *model.Bookings) {
	rng := rand.New(rand.NewPCG(seed, 7))
	const all = 1024
	in, b := &model.Reservation{Name: "large", PEs: all}, &model.Bookings{Online: true}
	var free [all]float64 // when the last promise ends
	var ends [all]float64 // when the last job really ends
	arrival := 0.0
	for i := range n {
		arrival += math.Floor(1200 * rng.ExpFloat64()) // whole seconds, so that sums are exact
		q := model.Request{ID: fmt.Sprint("r", i), ArrivalS: arrival, ReadyS: arrival + math.Floor(3600*rng.Float64()),
			DurationS: []float64{60, 300, 900, 1800, 3600, 10800}[rng.IntN(6)], PEs: 1 << rng.IntN(11)}
		if i == n/2 {
			q.PEs = all
		}
		var chosen []int
		if first := rng.IntN(all); scattered {
			chosen = rng.Perm(all)[:q.PEs]
			slices.Sort(chosen)
		} else {
			for p := range q.PEs {
				chosen = append(chosen, (first+p)%all)
			}
			slices.Sort(chosen)
		}
		start := q.ReadyS
		for _, p := range chosen {
			if !reused || ends[p] > arrival {
				start = max(start, free[p])
			}
		}
		if rng.IntN(3) == 0 {
			q.RuntimeS = pointer(q.DurationS * (0.1 + 0.9*rng.Float64()))
		}
		if rng.IntN(10) == 0 {
			q.CancelS = pointer(arrival + math.Floor(3600*rng.Float64()))
		}
		q.DeadlineS = start + q.DurationS + 100*rng.Float64()
		var l model.PEList
		for _, p := range chosen {
			l = l.Append(p)
			free[p] = start + q.DurationS
			ends[p] = start + q.Runtime()
		}
		in.Requests = append(in.Requests, q)
		b.Bookings = append(b.Bookings, model.Booking{ID: q.ID, StartS: start, PEs: l})
	}
	return in, b
}

// Large bookings are judged feasible, and errors in them are found: the least move of one that touches another.
func TestReservationLarge(t *testing.T) {
	t.Parallel()
	for _, scattered := range []bool{false, true} {
		in, b := drawLarge(1, 10_000, scattered, true)
		require.OK(t, in.Validate())
		r := judge(t, in, b, verify.Options{})
		o, err := in.Objective(b)
		if err != nil || !r.Feasible() || o.Value != r.Objective || math.Abs(o.Second-r.Second) > 1e-9*o.Second {
			t.Fatalf("want %+v: %v", o, r)
		}
		moved := *b
		moved.Bookings = slices.Clone(b.Bookings)
		// That with all PEs touches whichever ended last before it or is early.
		moved.Bookings[5000].StartS -= 1
		if r := judge(t, in, &moved, verify.Options{}); r.Feasible() || !strings.Contains(r.Violations[0].Where, `"r5000"`) {
			t.Errorf("moved by 1 s: %v", r)
		}
	}
}

func BenchmarkVerifyReservation(b *testing.B) {
	for _, scattered := range []bool{false, true} {
		for _, n := range []int{100, 1000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("scattered=%v/bookings=%d", scattered, n), func(b *testing.B) {
				in, s := drawLarge(1, n, scattered, true)
				for b.Loop() {
					require.Feasible(verify.Verify(b.Context(), in, s, verify.Options{}))(b)
				}
			})
		}
	}
}
