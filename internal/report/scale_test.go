package report

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestNumbers(t *testing.T) {
	t.Parallel()
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		got, want string
	}{
		{tidy(0), "0"}, {tidy(nan), "–"}, {tidy(inf), "∞"}, {tidy(28436), "28,436"}, {tidy(-1234567), "−1,234,567"}, {tidy(0.15423), "0.1542"}, {tidy(12.5), "12.5"},
		{tidy(14.9996), "15"}, {tidy(1.1e-5), "1.1·10⁻⁵"}, {tidy(1e-6), "10⁻⁶"}, {tidy(2e15), "2·10¹⁵"}, {tidy(9999.96), "10,000"},
		{precise(0.154231), "0.154231"}, {precise(0.2), "0.2"},
		{percentOf(0.00848), "0.848"}, {percentOf(0.123), "12.3"}, {percentOf(0), "0"}, {percentOf(1e-7), "<0.001"}, {percentOf(nan), "–"}, {percentOf(inf), "∞"}, {percentOf(1.878), "187.8"},
		{duration(0.0123), "12.3 ms"}, {duration(90), "90.0 s"}, {duration(7200), "120 min"}, {duration(2e-6), "2.00 µs"}, {duration(1e6), "11.6 days"}, {duration(nan), "–"},
		{short(-0.0001, 2), "0.00"}, {short(1234.5, 1), "1,234.5"}, {long(86400), "1 day"}, {long(7 * 86400), "7 days"}, {long(5400), "90 minutes"}, {long(0.25), "250 ms"},
		{list(nil), ""}, {list([]string{"a"}), "a"}, {list([]string{"a", "b", "c"}), "a, b and c"},
		{sentence("über all"), "Über all"}, {sentence(""), ""},
		{aligned([]float64{1, 2.5})(1), "1.00000"}, {aligned([]float64{100, 3})(3), "3"}, {aligned([]float64{1e9, 1e-9})(1e-9), "10⁻⁹"}, {aligned(nil)(nan), "–"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

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
		all := a.ticks(6)
		for k, x := range all {
			size := math.Abs(a.high) + math.Abs(a.low)
			if x.at < a.low-1e-9*size || x.at > a.high+1e-9*size || k > 0 && x.at <= all[k-1].at || x.label == "" {
				t.Fatalf("%+v: marks %v", a, all)
			}
		}
		if long := a.begin == nil || a.high > 600; len(all) > 40 || len(all) == 0 && long && !(a.log && a.high < 2*a.low) {
			t.Fatalf("%+v: %d marks", a, len(all))
		}
	}
}

func TestDates(t *testing.T) {
	t.Parallel()
	begin := time.Date(1996, 9, 23, 13, 0, 31, 0, time.UTC)
	for days, want := range map[float64]string{340: "Nov 1996", 30: "30 Sep 1996", 1: "24 Sep 00:00"} {
		a := axis{begin: &begin, high: 86400 * days}
		var labels []string
		for _, x := range a.ticks(6) {
			labels = append(labels, x.label)
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
