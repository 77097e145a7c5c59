// SPDX-License-Identifier: MIT

package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/test/require"
)

// Marks lie on the axis, ascending, and there are some.
func TestTicks(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	begin := time.Date(1996, 9, 23, 13, 0, 31, 0, time.UTC)
	for range 3000 {
		a := axis{log: rng.IntN(2) == 0}
		a.low = math.Exp(rng.Float64()*60 - 30)
		a.high = a.low * math.Exp(rng.Float64()*10)
		if !a.log && rng.IntN(2) == 0 {
			a.begin, a.low, a.high = &begin, 0, math.Exp(rng.Float64()*20)
		}
		a.widen()
		all := a.ticks(500)
		for k, x := range all {
			size := math.Abs(a.high) + math.Abs(a.low)
			if x.At < a.low-1e-9*size || x.At > a.high+1e-9*size || k > 0 && x.At <= all[k-1].At || x.Label == "" {
				t.Fatalf("%+v: marks %v", a, all)
			}
		}
		if long := a.begin == nil || a.high > 600; len(all) > 40 || len(all) == 0 && long && !(a.log && a.high < 2*a.low) {
			t.Fatalf("%+v: %d marks", a, len(all))
		}
	}
}

func TestDates(t *testing.T) {
	begin := time.Date(1996, 9, 23, 13, 0, 31, 0, time.UTC)
	for days, want := range map[float64]string{340: "Oct 1996", 30: "30 Sep", 1: "24 Sep 00:00"} {
		a := axis{begin: &begin, high: 86400 * days}
		var labels []string
		for _, x := range a.ticks(500) {
			labels = append(labels, x.Label)
		}
		if !strings.Contains(strings.Join(labels, "|"), want) {
			t.Errorf("%v days: %q, want %q among them", days, labels, want)
		}
	}
}

// A chart of anything is well-formed, and a number in it is a number.
func TestChartIsWellFormed(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	odd := []float64{0, 1, -1, 1e-300, 1e300, math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1), 3, 3.0000001}
	value := func() float64 {
		if rng.IntN(2) == 0 {
			return odd[rng.IntN(len(odd))]
		}
		return rng.NormFloat64() * 100
	}
	for range 500 {
		c := &chart{name: `a "b" <script>`, x: axis{label: "<x>", log: rng.IntN(2) == 0}, y: axis{label: "y & z", log: rng.IntN(2) == 0}, wide: rng.IntN(2) == 0, zero: rng.IntN(2) == 0}
		for k := range rng.IntN(12) {
			v := curve{name: `</svg>"`, step: rng.IntN(2) == 0, dots: rng.IntN(2) == 0, bound: rng.IntN(4) == 0, hidden: rng.IntN(4) == 0, hue: k}
			for range rng.IntN(10) {
				v.points = append(v.points, point{value(), value(), "<i>"})
			}
			c.curves = append(c.curves, v)
		}
		wellFormed(t, string(c.svg()))
		r := &ranking{name: "<r>", bound: value()}
		for range rng.IntN(5) {
			r.rows = append(r.rows, rank{name: "<n>", x: value(), text: "&"})
		}
		wellFormed(t, string(r.svg()))
	}
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	for _, bad := range []string{"NaN", "Inf", "<script", "<i>"} {
		if strings.Contains(svg, bad) {
			t.Fatalf("it holds %q: %s", bad, svg)
		}
	}
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
	}
}

func TestLong(t *testing.T) {
	for s, want := range map[float64]string{86400: "1 day", 7 * 86400: "7 days", 5400: "90 minutes", 0.25: "250 ms"} {
		require.Same(t, fmt.Sprintf("%v s", s), want, long(s))
	}
}
