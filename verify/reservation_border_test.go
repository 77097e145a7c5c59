// SPDX-License-Identifier: MIT

package verify_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// At the borders: touching intervals don't overlap. Times are their printed decimal numbers. A start is set to a tick
// that is near (1e-9 of the shortest runtime, or the tolerance asked for, or 4 units in the last place), unless the
// tolerance is 0.
func TestReservationBorders(t *testing.T) {
	zero := 0.0
	for name, c := range map[string]struct {
		start1, runtime1, start2, ready2, deadline2 float64
		zero, tolerant                              []string // constraints at tolerance 0 and at the default
	}{
		"touching": {1, 2, 3, 0, 10, nil, nil},
		// The floats 0.1 and 0.2 add up to 2.8e-17 more than the float 0.3 is; the decimal numbers don't.
		"0.1+0.2 and 0.3":      {0.1, 0.2, 0.3, 0, 10, nil, nil},
		"0.1+0.2 as a sum":     {0.1, 0.2, 0.30000000000000004, 0, 10, nil, nil},
		"a sum rounded down":   {0.7, 0.1, 0.7999999999999999, 0, 10, []string{"pe_overlap"}, nil},
		"thirds as decimals":   {1. / 3, 2. / 3, math.Nextafter(1, 0), 0, 10, nil, nil},
		"within the tolerance": {1, 2, 3 - 9e-10, 0, 10, []string{"pe_overlap"}, nil},
		"beyond the tolerance": {1, 2, 3 - 11e-10, 0, 10, []string{"pe_overlap"}, []string{"pe_overlap"}},
		"early by rounding":    {5, 1, 0.29999999999999993, 0.3, 10, []string{"early_start"}, nil},
		"early":                {5, 1, 3 - 11e-9, 3, 10, []string{"early_start"}, []string{"early_start"}},
		"late as floats alone": {5, 1, 0.1, 0, 0.3, nil, nil},
		"late by rounding":     {5, 1, 0.10000000000000002, 0, 0.3, []string{"late_end"}, nil},
		"late":                 {5, 1, 0.1 + 1e-8, 0, 0.3, []string{"late_end"}, []string{"late_end"}},
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
				require.Same(t, fmt.Sprintf("tolerance %v", o.tolerance), o.want, got)
			}
		})
	}
}

// Distant values change nothing: a far deadline, a long job.
func TestReservationFarDeadline(t *testing.T) {
	in := &model.Reservation{PEs: 1, Requests: []model.Request{
		{ID: "a", DurationS: 1e6, DeadlineS: 1e12, PEs: 1}, {ID: "b", DurationS: 1, DeadlineS: 1e12, PEs: 1}}}
	b := &model.Bookings{Bookings: []model.Booking{{ID: "a", PEs: pes(t, "0")}, {ID: "b", StartS: 5e5, PEs: pes(t, "0")}}}
	for start, want := range map[float64]bool{5e5: false, 0: false, 1e6 - 1: false, 1e6 - 0.5: false, 1e6: true, 1e6 + 0.25: true} {
		b.Bookings[1].StartS = start
		if r := judge(t, in, b, verify.Options{}); r.Feasible() != want {
			t.Errorf("at %v: %v", start, r)
		}
	}
	for _, c := range []struct {
		file   string
		starts []float64
		want   bool
	}{
		{"reservation-far-deadline-tolerance.json", []float64{0, 0, 0}, false},
		{"reservation-far-deadline-tolerance.json", []float64{0, math.NaN(), 0}, false},
		{"reservation-far-deadline-tolerance.json", []float64{0, math.NaN(), 60}, true},
		{"reservation-decimals-back-to-back.json", []float64{3.4, 1.8}, true},
		{"reservation-decimals-tight.json", []float64{1.1, 2.6}, true},
	} {
		in := found(t, c.file)
		b := &model.Bookings{}
		for k, s := range c.starts {
			if !math.IsNaN(s) {
				b.Bookings = append(b.Bookings, model.Booking{ID: in.Requests[k].ID, StartS: s, PEs: pes(t, "0")})
			}
		}
		for _, tolerance := range []float64{0, verify.Tolerance} {
			if r := judge(t, in, b, verify.Options{Tolerance: &tolerance}); r.Feasible() != c.want {
				t.Errorf("%s, starts %v: %v", c.file, c.starts, r)
			}
		}
	}
}

// found is an instance on which version 0.3.0 was wrong.
func found(t *testing.T, file string) *model.Reservation {
	t.Helper()
	in := require.Value(model.DecodeInstance(require.Value(os.ReadFile(filepath.Join("testdata", file)))(t)))(t)
	return in.(*model.Reservation)
}

// The border of the tolerance is sharp: 2^-10 of the shortest runtime, 8 s, or 2^-7 s.
func TestReservationToleranceBorder(t *testing.T) {
	tolerance := 0x1p-10
	for start, want := range map[float64]bool{16 - 0x1p-7: true, math.Nextafter(16-0x1p-7, 0): false} {
		in := &model.Reservation{PEs: 1, Requests: []model.Request{
			{ID: "a", DurationS: 8, DeadlineS: 64, PEs: 1}, {ID: "b", DurationS: 9, DeadlineS: 64, PEs: 1}}}
		b := &model.Bookings{Bookings: []model.Booking{{ID: "a", StartS: 8, PEs: pes(t, "0")}, {ID: "b", StartS: start, PEs: pes(t, "0")}}}
		if r := judge(t, in, b, verify.Options{Tolerance: &tolerance}); r.Feasible() != want {
			t.Errorf("start %v, want %v: %v", start, want, r)
		}
	}
}

// Times of too many digits for their own ticks are rounded so that a feasible plan passes, and one that is too far off
// doesn't.
func TestReservationRounded(t *testing.T) {
	in := &model.Reservation{PEs: 1, Requests: []model.Request{
		{ID: "a", ReadyS: 1234567.8901234567, DurationS: 0.12345678901234567, DeadlineS: 1234568.1, PEs: 1},
		{ID: "b", ReadyS: 1234567.8901234567, DurationS: 0.012345678901234567, DeadlineS: 1e7, PEs: 1}}}
	end := 1234567.8901234567 + 0.12345678901234567
	for start, want := range map[float64]bool{end: true, end - 1e-7: false, end + 1e-3: true} {
		b := &model.Bookings{Bookings: []model.Booking{{ID: "a", StartS: 1234567.8901234567, PEs: pes(t, "0")}, {ID: "b", StartS: start, PEs: pes(t, "0")}}}
		if r := judge(t, in, b, verify.Options{}); r.Feasible() != want {
			t.Errorf("start %v, want %v: %v", start, want, r)
		}
	}
}
