// SPDX-License-Identifier: MIT

package words

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

func TestNumbers(t *testing.T) {
	t.Parallel()
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		got, want string
	}{
		{Tidy(0), "0"}, {Tidy(nan), "–"}, {Tidy(inf), "∞"}, {Tidy(28436), "28,436"}, {Tidy(-1234567), "−1,234,567"}, {Tidy(0.15423), "0.1542"}, {Tidy(12.5), "12.5"},
		{Tidy(14.9996), "15"}, {Tidy(1.1e-5), "1.1·10⁻⁵"}, {Tidy(1e-6), "10⁻⁶"}, {Tidy(2e15), "2·10¹⁵"}, {Tidy(9999.96), "10,000"},
		{Precise(0.154231), "0.154231"}, {Precise(0.2), "0.2"},
		{Percent(0.00848), "0.848"}, {Percent(0.123), "12.3"}, {Percent(0), "0"}, {Percent(1e-7), "<0.001"}, {Percent(nan), "–"}, {Percent(inf), "∞"}, {Percent(1.878), "187.8"},
		{Duration(0.0123), "12.3 ms"}, {Duration(90), "90.0 s"}, {Duration(7200), "120 min"}, {Duration(2e-6), "2.00 µs"}, {Duration(1e6), "11.6 days"}, {Duration(0), "0 s"}, {Duration(-7200), "−120 min"}, {Duration(nan), "–"},
		{Short(-0.0001, 2), "0.00"}, {Short(1234.5, 1), "1,234.5"},
		{And(nil), ""}, {And([]string{"a"}), "a"}, {And([]string{"a", "b", "c"}), "a, b and c"},
		{Upper("über all"), "Über all"}, {Upper(""), ""},
		{Aligned([]float64{1, 2.5})(1), "1.00000"}, {Aligned([]float64{100, 3})(3), "3"}, {Aligned([]float64{1e9, 1e-9})(1e-9), "10⁻⁹"}, {Aligned(nil)(nan), "–"},
	} {
		require.Same(t, "the words", c.want, c.got)
	}
}

func TestPlural(t *testing.T) {
	for _, x := range []struct {
		n          int
		what, want string
	}{{1, "node", "1 node"}, {0, "node", "0 nodes"}, {2, "policy", "2 policies"}, {1, "policy", "1 policy"}, {3, "day", "3 days"}} {
		require.Same(t, fmt.Sprintf("%d of %s", x.n, x.what), x.want, Plural(x.n, x.what))
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text          string
		width, indent int
		want          string
	}{
		{"", 10, 2, ""},
		{"one two  three", 7, 2, "one two\n  three"},
		{"äöü ± x", 5, 0, "äöü ±\nx"},
		{"unbreakable x", 4, 1, "unbreakable\n x"},
	} {
		require.Same(t, fmt.Sprintf("%q at %d", c.text, c.width), c.want, Wrap(c.text, c.width, c.indent))
	}
	require.Same(t, "And, Some and Thousands", "a, b and c;a, b and 1 more;-1,234,567",
		And([]string{"a", "b", "c"})+";"+Some([]string{"a", "b", "c"}, 2)+";"+Thousands(-1234567))
}

// Names of one beginning stay apart where there is little room, and others are left alone.
func TestApart(t *testing.T) {
	for _, c := range [][2][]string{
		{{"heft", "cmd:python3 a.py {in} {out}", "cmd:python3 b.py {in} {out}"}, {"heft", "… a.py", "… b.py"}},
		{{"cmd:python3 a.py {in}"}, {"cmd:python3 a.py {in}"}},
		{{"cmd:x a", "cmd:x a b"}, {"cmd:x a", "… b"}},
		{{"p a {in}", "p b {in}", "q a {in}", "q b {in}"}, {"p a {in}", "p b {in}", "q a {in}", "q b {in}"}},
		{{"p -x 1", "p -x 2"}, {"… 1", "… 2"}},
	} {
		if got := Apart(c[0]); !slices.Equal(got, c[1]) {
			t.Errorf("%q are %q, want %q", c[0], got, c[1])
		}
	}
}
