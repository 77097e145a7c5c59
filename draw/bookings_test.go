// SPDX-License-Identifier: MIT

package draw_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/model"
)

// fiveRequests: a runs on two ranges and ends early, b gets what that leaves, c
// is cancelled before its start, d is declined, e runs.
func fiveRequests() (*model.Reservation, *model.Bookings) {
	half, at := 50.0, 20.0
	in := &model.Reservation{Name: "five", PEs: 8, Requests: []model.Request{
		{ID: "a", ReadyS: 0, DurationS: 100, DeadlineS: 200, PEs: 4, RuntimeS: &half},
		{ID: "b", ArrivalS: 5, ReadyS: 50, DurationS: 40, DeadlineS: 90, PEs: 2},
		{ID: "c", ArrivalS: 10, ReadyS: 100, DurationS: 50, DeadlineS: 300, PEs: 8, CancelS: &at},
		{ID: "d", ArrivalS: 10, ReadyS: 10, DurationS: 60, DeadlineS: 70, PEs: 6},
		{ID: "e", ArrivalS: 30, ReadyS: 100, DurationS: 80, DeadlineS: 400, PEs: 1},
	}}
	return in, &model.Bookings{Bookings: []model.Booking{
		{ID: "a", StartS: 0, PEs: model.PEList{{First: 0, Last: 1}, {First: 4, Last: 5}}},
		{ID: "c", StartS: 120, PEs: model.PEList{{First: 0, Last: 7}}},
		{ID: "b", StartS: 50, PEs: model.PEList{{First: 4, Last: 5}}},
		{ID: "e", StartS: 200, PEs: model.PEList{{First: 7, Last: 7}}},
	}}
}

// manyRequests are n requests on so many PEs, every third declined, the
// others in stripes of ranges of two PEs.
func manyRequests(n, pes, ranges int) (*model.Reservation, *model.Bookings) {
	r := rand.New(rand.NewPCG(4, 4))
	in, b := &model.Reservation{Name: "many", PEs: pes}, &model.Bookings{}
	for k := range n {
		t := 10 * float64(k)
		q := model.Request{ID: fmt.Sprint("r", k), ArrivalS: t, ReadyS: t + float64(r.IntN(50)), DurationS: float64(10 + r.IntN(300)), PEs: 1 + r.IntN(pes)}
		q.DeadlineS = q.ReadyS + 3*q.DurationS
		in.Requests = append(in.Requests, q)
		if k%3 != 0 {
			x := model.Booking{ID: q.ID, StartS: q.ReadyS}
			for i := range ranges {
				first := (4*i + k*3) % (pes - 1)
				x.PEs = append(x.PEs, model.PERange{First: first, Last: first + 1})
			}
			b.Bookings = append(b.Bookings, x)
		}
	}
	return in, b
}

func bookings(t testing.TB, format, title string, in *model.Reservation, b *model.Bookings) []byte {
	t.Helper()
	var out bytes.Buffer
	require.OK(t, draw.Bookings(&out, options(format), title, in, b))
	return out.Bytes()
}

func TestBookingsFiveRequests(t *testing.T) {
	in, b := fiveRequests()
	p := parse(t, bookings(t, "svg", "five <5>", in, b))
	require.Same(t, "title", "five <5>", p.title)
	want := []string{"five <5>", "PE", "time (s)", "reserved, not used", "cancelled before its start", "arrival", "ready time to deadline", "declined",
		"0", "1", "2", "3", "4", "5", "6", "7", "0", "50", "100", "150", "200", "250", "300", "350", "400",
		"a: 4 PEs", "b: 2 PEs", "c: 8 PEs", "d: 6 PEs", "e: 1 PE", "a", "a", "b", "c", "e"}
	got := p.values()
	slices.Sort(got)
	slices.Sort(want)
	require.Same(t, "texts", want, got)
	// The rectangles by colour: two of a and its row, and the same paler for its unused time and the legend. Then b, e
	// (in the tint of a) and their rows. Edges: as many in the chart.
	fills := p.fills()
	for colour, n := range map[string]int{tint(0): 5, hex(theme.Mix(theme.Tint(theme.Plain, 0), theme.Paper, 0.6)): 4, tint(1): 2, tint(2): 0} {
		if fills[colour] != n {
			t.Errorf("%d rectangles in %s, want %d (all: %v)", fills[colour], colour, n, fills)
		}
	}
	// c's four edges here, in its row and in the legend.
	dashed := 0
	for _, x := range p.paths {
		if strings.Contains(x.Style, "stroke-dasharray:2,1.5") {
			dashed++
		}
	}
	require.Same(t, "dashed edges", 12, dashed)
	noOverlap(t, p)
	if w, h := size(t, bookings(t, "png", "five", in, b)); w < 1000 || w > 1500 || h < 500 || h > 1000 {
		t.Errorf("the PNG is %d × %d", w, h)
	}
}

// Of some PEs, those alone are drawn: b has all of 4 to 5.
func TestBookingsOfSomePEs(t *testing.T) {
	in, b := fiveRequests()
	o := options("svg")
	o.Rows = &draw.Range{First: 4, Last: 5}
	p := parse(t, draws(t, o, in, b, nil))
	texts(t, p, []string{"4", "5", "b"}, "e:e")
	field := rectangles(t, p, hex(theme.Faint))[0]
	if r := rectangles(t, p, tint(1))[0]; r.y != field.y || r.h != field.h || slices.Contains(p.values(), "7") {
		t.Errorf("b is at %+v of %+v in %q", r, field, p.values())
	}
}

// The real run lies on reserved and unused time: b on the rest of a.
func TestBookingsOrder(t *testing.T) {
	in, b := fiveRequests()
	p := parse(t, bookings(t, "svg", "", in, b))
	last := map[string]int{}
	for k, x := range p.paths {
		if c, ok := strings.CutPrefix(x.Style, "fill:#"); ok && strings.Count(x.D, "L") == 3*strings.Count(x.D, "Z") && last[c] == 0 {
			last[c] = k // the legend is first, but has no orange
		}
	}
	rest := slices.IndexFunc(p.paths, func(x path) bool {
		return strings.HasPrefix(x.Style, "fill:#"+hex(theme.Mix(theme.Tint(theme.Plain, 0), theme.Paper, 0.6))) && strings.Count(x.D, "Z") == 2
	})
	if rest < 0 || rest > last[tint(1)] {
		t.Errorf("the rest of a is path %d, b is path %d", rest, last[tint(1)])
	}
}

func TestBookingsCases(t *testing.T) {
	few, fewBooked := manyRequests(30, 16, 1)
	more, moreBooked := manyRequests(31, 16, 1)
	half, halfBooked := manyRequests(500, 1024, 3)
	texture, textureBooked := manyRequests(3000, 1024, 9)
	late, lateBooked := fiveRequests()
	for k := range late.Requests {
		q := &late.Requests[k]
		q.ArrivalS, q.ReadyS, q.DeadlineS, q.CancelS = q.ArrivalS+1e6, q.ReadyS+1e6, q.DeadlineS+1e6, nil
	}
	for k := range lateBooked.Bookings {
		lateBooked.Bookings[k].StartS += 1e6
	}
	for name, c := range map[string]struct {
		title       string
		in          *model.Reservation
		b           *model.Bookings
		wantTexts   []string
		wantNever   string
		shapesBelow int
	}{
		"nothing":      {in: &model.Reservation{PEs: 1}, b: &model.Bookings{}, wantTexts: []string{"PE", "0", "time (s)"}, wantNever: "arrival", shapesBelow: 40},
		"all declined": {in: few, b: &model.Bookings{}, wantTexts: []string{"declined"}, shapesBelow: 300},
		"thirty":       {in: few, b: fewBooked, wantTexts: []string{"arrival", "declined", "15"}, shapesBelow: 400},
		"thirty-one": {in: more, b: moreBooked, wantTexts: []string{"declined", "declined 11 of 31: r0, r3, r6, r9, r12, r15, r18, r21, r24, r27, r30"},
			wantNever: "arrival", shapesBelow: 200},
		"none declined of many":  {in: &model.Reservation{PEs: 16, Requests: []model.Request{more.Requests[1]}}, b: &model.Bookings{Bookings: moreBooked.Bookings[:1]}, wantNever: "declined", shapesBelow: 100},
		"five hundred":           {in: half, b: halfBooked, wantTexts: []string{"1024", "64", "declined"}, shapesBelow: 2500},
		"texture":                {in: texture, b: textureBooked, wantTexts: []string{"1024", "declined"}, wantNever: "r1", shapesBelow: 100},
		"begins late":            {in: late, b: lateBooked, wantTexts: []string{"1000100"}, wantNever: "200000", shapesBelow: 150},
		"one PE of many":         {in: &model.Reservation{PEs: 1_000_000, Requests: []model.Request{{ID: "x", DurationS: 1, DeadlineS: 1, PEs: 1}}}, b: &model.Bookings{Bookings: []model.Booking{{ID: "x", PEs: model.PEList{{First: 0, Last: 0}}}}}, wantTexts: []string{"x: 1 PE", "1000000"}, shapesBelow: 100},
		"outside of its window":  {in: few, b: &model.Bookings{Bookings: []model.Booking{{ID: "r1", StartS: -1e300, PEs: model.PEList{{First: 3, Last: 3}}}}}, shapesBelow: 400},
		"a title and ids to cut": {title: strings.Repeat("long ", 1e4), in: &model.Reservation{PEs: 3, Requests: []model.Request{{ID: strings.Repeat("<w>", 500), DurationS: 1, DeadlineS: 4e15, PEs: 3}}}, b: &model.Bookings{}, shapesBelow: 100},
	} {
		t.Run(name, func(t *testing.T) {
			p := parse(t, bookings(t, "svg", c.title, c.in, c.b))
			for _, x := range c.wantTexts {
				if !slices.ContainsFunc(p.values(), func(v string) bool { return v == x || strings.HasPrefix(v, x+" ") }) {
					t.Errorf("no text %q in %q", x, p.values())
				}
			}
			for _, x := range p.values() {
				if c.wantNever != "" && strings.HasPrefix(x, c.wantNever) {
					t.Errorf("there is a text %q", x)
				}
			}
			finite(t, p)
			if len(p.paths) > c.shapesBelow {
				t.Errorf("%d shapes, want %d at most", len(p.paths), c.shapesBelow)
			}
			if len(c.in.Requests) < 30 { // many of the others lie on each other
				noOverlap(t, p)
			}
			if p.width > 1440 || p.height > 1180 || p.width < 500 || p.height < 80 {
				t.Errorf("the picture is %v × %v", p.width, p.height)
			}
		})
	}
}

func TestBookingsErrors(t *testing.T) {
	for name, c := range map[string]struct {
		format string
		change string
		is     error
		want   string
	}{
		"format":     {"gif", "", draw.ErrFormat, `"gif"`},
		"instance":   {"svg", "Instance.PEs=0", model.ErrInvalid, "pes is 0"},
		"no request": {"svg", "Solution.Bookings.0.ID=z", model.ErrInvalid, `"z"`},
		"start":      {"svg", "Solution.Bookings.0.StartS=NaN", model.ErrInvalid, "NaN"},
		"far off":    {"svg", "Solution.Bookings.0.StartS=1e301", model.ErrInvalid, "1e+301"},
		"no PE":      {"svg", "Solution.Bookings.3.PEs.0.Last=8", model.ErrInvalid, `"e" has the PEs 7 to 8, there are 0 to 7`},
		"negative":   {"svg", "Solution.Bookings.3.PEs.0.First=-1", model.ErrInvalid, "-1 to 7"},
	} {
		in, b := fiveRequests()
		require.Set(t, &draw.Frame{Instance: in, Solution: b}, c.change)
		require.Refused(t, name, draw.Bookings(new(bytes.Buffer), options(c.format), "", in, b), c.is, c.want)
	}
	in, b := fiveRequests()
	b.Bookings[0].PEs = slices.Repeat(model.PEList{{First: 1, Last: 1}}, draw.MaxRectangles)
	require.Refused(t, "too many", draw.Bookings(new(bytes.Buffer), options("svg"), "", in, b), model.ErrUnsupported, "20003 rectangles, more than the 20000")
}

// There is a picture within its bounds for any bookings, feasible or not.
func TestBookingsAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		in := &model.Reservation{PEs: rapid.IntRange(1, 2000).Draw(rt, "pes")}
		b := &model.Bookings{}
		at := 0.0
		for k := range rapid.IntRange(0, 40).Draw(rt, "requests") {
			at += rapid.Float64Range(0, 100).Draw(rt, "gap")
			q := model.Request{ID: rapid.StringN(0, 6, 20).Draw(rt, "id") + "-" + fmt.Sprint(k), ArrivalS: at, ReadyS: at + rapid.Float64Range(0, 50).Draw(rt, "ahead"),
				DurationS: rapid.Float64Range(1e-3, 500).Draw(rt, "duration"), PEs: rapid.IntRange(1, in.PEs).Draw(rt, "size")}
			q.DeadlineS = q.ReadyS + q.DurationS + rapid.Float64Range(0, 1000).Draw(rt, "flexibility")
			if rapid.Bool().Draw(rt, "early") {
				x := q.DurationS / 3
				q.RuntimeS = &x
			}
			if rapid.IntRange(0, 3).Draw(rt, "cancel") == 0 {
				q.CancelS = &q.ArrivalS
			}
			in.Requests = append(in.Requests, q)
			if rapid.IntRange(0, 3).Draw(rt, "declined") > 0 {
				first := rapid.IntRange(0, in.PEs-q.PEs).Draw(rt, "first")
				b.Bookings = append(b.Bookings, model.Booking{ID: q.ID, StartS: rapid.Float64Range(q.ReadyS, q.Latest()).Draw(rt, "start"),
					PEs: model.PEList{{First: first, Last: first + q.PEs - 1}}})
			}
		}
		p := parse(t, bookings(t, "svg", "t", in, b))
		if p.width > 1440 || p.height > 1180 {
			rt.Fatalf("%v × %v", p.width, p.height)
		}
		for _, x := range p.texts {
			if left, right := x.span(); left < 0 || right > p.width || x.Y < 0 || x.Y > p.height {
				rt.Fatalf("%q is outside", x.Value)
			}
		}
		again := parse(t, bookings(t, "svg", "t", in, b))
		require.Same(rt, "another picture the second time", p, again, cmp.AllowUnexported(picture{}))
	})
}

func BenchmarkBookings(b *testing.B) {
	for _, c := range []struct{ requests, ranges int }{{20, 1}, {500, 3}, {3000, 9}} {
		in, booked := manyRequests(c.requests, 1024, c.ranges)
		b.Run(fmt.Sprintf("svg/requests=%d/rectangles=%d", c.requests, len(booked.Bookings)*c.ranges), func(b *testing.B) {
			for b.Loop() {
				bookings(b, "svg", "", in, booked)
			}
		})
	}
}
