package verify_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// At the borders: touching intervals don't overlap, and the tolerance is
// 1e-9 of the last deadline, or what is asked for.
func TestReservationBorders(t *testing.T) {
	zero := 0.0
	for name, c := range map[string]struct {
		start1, runtime1, start2, ready2, deadline2 float64
		zero, tolerant                              []string // constraints at tolerance 0 and at the default
	}{
		"touching":         {1, 2, 3, 0, 10, nil, nil},
		"0.1+0.2 as a sum": {0.1, 0.2, 0.30000000000000004, 0, 10, nil, nil},
		// The floats 0.1 and 0.2 add up to 2.8e-17 more than the float 0.3 is.
		"0.1+0.2 and 0.3": {0.1, 0.2, 0.3, 0, 10, []string{verify.PEOverlap}, nil},
		// A third, 1 - 1/3 rounded: the sum is 1 less 2^-54 exactly, and 1 in floats.
		"exactly less than floats say": {1. / 3, 2. / 3, math.Nextafter(1, 0), 0, 10, []string{verify.PEOverlap}, nil},
		"within the tolerance":         {1, 2, 3 - 9e-9, 0, 10, []string{verify.PEOverlap}, nil},
		"beyond the tolerance":         {1, 2, 3 - 11e-9, 0, 10, []string{verify.PEOverlap}, []string{verify.PEOverlap}},
		"early by rounding":            {5, 1, 0.3, 0.30000000000000004, 10, []string{verify.EarlyStart}, nil},
		"early":                        {5, 1, 3 - 11e-9, 3, 10, []string{verify.EarlyStart}, []string{verify.EarlyStart}},
		"late by rounding":             {5, 1, 0.1, 0, 0.3, []string{verify.LateEnd}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			length2 := 1.0
			if c.deadline2 < 1 {
				length2 = 0.2
			}
			in := &model.Reservation{PEs: 1, Requests: []model.Request{
				{ID: "a", DurationS: c.runtime1, DeadlineS: 10, PEs: 1},
				{ID: "b", ReadyS: c.ready2, DurationS: length2, DeadlineS: c.deadline2, PEs: 1}}}
			b := &model.Bookings{Bookings: []model.Booking{{ID: "a", StartS: c.start1, PEs: pes(t, "0")}, {ID: "b", StartS: c.start2, PEs: pes(t, "0")}}}
			for _, o := range []struct {
				tolerance *float64
				want      []string
			}{{&zero, c.zero}, {nil, c.tolerant}} {
				var got []string
				for _, v := range judge(t, in, b, verify.Options{Tolerance: o.tolerance}).Violations {
					got = append(got, v.Constraint)
				}
				if diff := cmp.Diff(o.want, got); diff != "" {
					t.Errorf("tolerance %v: (-want,+got)\n%s", o.tolerance, diff)
				}
			}
		})
	}
}

// A job far shorter than the tolerance can't run amidst another one.
func TestReservationShortJob(t *testing.T) {
	in := &model.Reservation{PEs: 1, Requests: []model.Request{
		{ID: "a", DurationS: 1e6, DeadlineS: 1e12, PEs: 1}, {ID: "b", DurationS: 1, DeadlineS: 1e12, PEs: 1}}}
	b := &model.Bookings{Bookings: []model.Booking{{ID: "a", PEs: pes(t, "0")}, {ID: "b", StartS: 5e5, PEs: pes(t, "0")}}}
	if r := judge(t, in, b, verify.Options{}); len(r.Violations) != 1 || r.Violations[0].Constraint != verify.PEOverlap {
		t.Errorf("amidst: %v", r)
	}
	for _, start := range []float64{500, 1e6 - 500} {
		b.Bookings[1].StartS = start
		if r := judge(t, in, b, verify.Options{}); !r.Feasible() {
			t.Errorf("at %v, less than 1000 s from a border: %v", start, r)
		}
	}
}

// The border of the tolerance is sharp, even below the rounding of sums.
func TestReservationToleranceBorder(t *testing.T) {
	tolerance := 0x1p-10 // of 16 s: 2^-6 s
	for name, c := range map[string]struct {
		length, start float64
		want          bool
	}{
		"all of it":                 {1, 9 - 0x1p-6, true},
		"a float more":              {1, math.Nextafter(9-0x1p-6, 0), false},
		"all of it by rounding":     {0x1p-6, 8, true},
		"more by what rounding cut": {0x1p-6 + 0x1p-58, 8, false}, // the end is 8 + 2^-6 in floats
	} {
		t.Run(name, func(t *testing.T) {
			in := &model.Reservation{PEs: 1, Requests: []model.Request{
				{ID: "a", DurationS: c.length, DeadlineS: 16, PEs: 1}, {ID: "b", DurationS: 2, DeadlineS: 16, PEs: 1}}}
			b := &model.Bookings{Bookings: []model.Booking{{ID: "a", StartS: 8, PEs: pes(t, "0")}, {ID: "b", StartS: c.start, PEs: pes(t, "0")}}}
			if r := judge(t, in, b, verify.Options{Tolerance: &tolerance}); r.Feasible() != c.want {
				t.Errorf("want %v: %v", c.want, r)
			}
		})
	}
}
