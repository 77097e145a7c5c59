// SPDX-License-Identifier: MIT

// Package words writes numbers, times and lists as people read them.
package words

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Known prints a number by a format of fmt, "-" if it isn't known.
func Known(format string, x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf(format, x)
}

// Figure prints a number to five digits, whole ones of up to 15 digits whole; "-" if it
// isn't known.
func Figure(x float64) string {
	if size := math.Abs(x); size >= 1e5 && size < 1e15 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return Known("%.5g", x)
}

// Plain prints a number to three digits, and all before the decimal point.
func Plain(x float64) string {
	if math.Abs(x) >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// Probability prints the p of a test, to three decimals unless plain, "-" if there is none.
func Probability(p float64, plain bool) string {
	switch {
	case math.IsNaN(p):
		return "-"
	case plain:
		return strconv.FormatFloat(p, 'g', 6, 64)
	case p < 0.001:
		return "<0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}

// Within prints a figure and the half-width of its interval with the decimals that the latter
// has a meaning in: with two of its digits at least, and all before the decimal point.
func Within(x, half float64) string {
	decimals := max(0, 1-int(math.Floor(math.Log10(half))))
	if half == 0 || decimals > 9 || math.IsInf(half, 0) {
		return Plain(x) + " ± " + Plain(half)
	}
	scale := math.Pow(10, float64(decimals))
	return fmt.Sprintf("%.*f ± %.*f", decimals, math.Round(x*scale)/scale+0, decimals, half) // -0 + 0 is 0
}

// Thousands prints a count with commas between its thousands.
func Thousands(n int64) string {
	return strings.Replace(Short(float64(n), 0), "−", "-", 1)
}

// Short prints a number with so many decimals, and with separators of thousands.
func Short(x float64, decimals int) string {
	if math.Abs(x) >= 1e15 {
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-")
	}
	whole, rest, _ := strings.Cut(text, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "−", whole[1:]
	}
	for k := len(whole) - 3; k > 0; k -= 3 {
		whole = whole[:k] + "," + whole[k:]
	}
	if rest != "" {
		return sign + whole + "." + rest
	}
	return sign + whole
}

// Tidy prints a number to four digits at least, whole numbers whole; "–" if it isn't
// known.
func Tidy(x float64) string {
	switch size := math.Abs(x); {
	case math.IsNaN(x):
		return "–"
	case math.IsInf(x, 0):
		return "∞"
	case x == 0:
		return "0"
	case size >= 1e15 || size < 1e-4:
		return scientific(x)
	case x == math.Trunc(x) || size >= 1000:
		return Short(x, 0)
	default:
		decimals := 3 - int(math.Floor(math.Log10(size)))
		text := Short(x, decimals)
		return strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
}

// scientific prints a number as 1.234·10⁻⁵.
func scientific(x float64) string {
	digits, power, _ := strings.Cut(strconv.FormatFloat(x, 'e', 3, 64), "e")
	digits = strings.Replace(strings.TrimRight(strings.TrimRight(digits, "0"), "."), "-", "−", 1)
	n, _ := strconv.Atoi(power)
	raised := strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹").Replace(strconv.Itoa(n))
	if digits == "1" {
		return "10" + raised
	}
	return digits + "·10" + raised
}

// Percent prints a share in percent, its unit not included.
func Percent(share float64) string {
	switch x := 100 * share; {
	case math.IsNaN(x):
		return "–"
	case math.IsInf(x, 0):
		return "∞"
	case x == 0:
		return "0"
	case math.Abs(x) < 0.001:
		return "<0.001"
	case math.Abs(x) >= 1000:
		return Short(x, 0)
	default:
		return Short(x, max(1, 2-int(math.Floor(math.Log10(math.Abs(x))))))
	}
}

// TimeUnit returns the unit in which times up to a longest one are printed, and how
// many seconds it has.
func TimeUnit(longest float64) (unit string, seconds float64) {
	switch {
	case longest < 1e-3:
		return "µs", 1e-6
	case longest < 1:
		return "ms", 1e-3
	case longest < 600:
		return "s", 1
	case longest < 6*3600:
		return "min", 60
	case longest < 4*86400:
		return "h", 3600
	}
	return "days", 86400
}

// UnitFor returns the unit in which all of some times are printed: that which suits
// the middle of the shortest and the longest on a logarithmic scale.
func UnitFor(all []float64) (unit string, seconds float64) {
	low, high := math.Inf(1), 0.0
	for _, s := range all {
		if s > 0 && !math.IsInf(s, 0) {
			low, high = min(low, s), max(high, s)
		}
	}
	if high == 0 {
		return TimeUnit(0.5)
	}
	return TimeUnit(math.Sqrt(low * high))
}

// Duration prints a time with a unit that fits.
func Duration(s float64) string {
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return "–"
	}
	if s == 0 {
		return "0 s"
	}
	unit, seconds := TimeUnit(math.Abs(s))
	return fmt.Sprintf("%s %s", Three(s/seconds), unit)
}

// Three prints a number to three digits at least.
func Three(x float64) string {
	if size := math.Abs(x); size >= 100 || x == 0 {
		return Short(x, 0)
	} else if size >= 1e-4 {
		return Short(x, 2-int(math.Floor(math.Log10(size))))
	}
	return scientific(x)
}

// Precise prints a number to six digits at least.
func Precise(x float64) string {
	if size := math.Abs(x); size < 1e-3 || size >= 1000 || math.IsNaN(x) || x == math.Trunc(x) {
		return Tidy(x)
	}
	text := Short(x, 5-int(math.Floor(math.Log10(math.Abs(x)))))
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// Aligned returns a function that prints the numbers of a column with the same number
// of decimals, six digits of the largest; as Tidy does where that would show a small
// one as 0.
func Aligned(x []float64) func(float64) string {
	most, small, whole := 0.0, math.Inf(1), true
	for _, v := range x {
		if size := math.Abs(v); size > 0 && !math.IsInf(v, 0) {
			most, small = max(most, size), min(small, size)
			whole = whole && v == math.Trunc(v)
		}
	}
	decimals := 0
	if most > 0 && !whole {
		decimals = max(0, 5-int(math.Floor(math.Log10(most))))
	}
	if most >= 1e15 || small < 5*math.Pow(10, -float64(decimals)) && !whole || decimals > 8 {
		return Tidy
	}
	return func(v float64) string {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Tidy(v)
		}
		return Short(v, decimals)
	}
}

// And joins words with commas, the last one with "and".
func And(all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " and " + all[last]
}

// Some joins at most so many words with commas, and says how many more there are.
func Some(all []string, most int) string {
	if len(all) <= most {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
}

// Plural prints a number of things, whose name's end it changes: "1 node", "2 nodes", "3 policies".
func Plural(n int, what string) string {
	switch stem, y := strings.CutSuffix(what, "y"); {
	case n == 1:
		return "1 " + what
	case y && !strings.ContainsAny(stem[max(0, len(stem)-1):], "aeou"):
		return Short(float64(n), 0) + " " + stem + "ies"
	}
	return Short(float64(n), 0) + " " + what + "s"
}

// Upper begins a text with a capital letter.
func Upper(s string) string {
	_, first := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:first]) + s[first:]
}

// Wrap breaks a text at spaces into lines of at most width letters as far as words allow;
// beside them all lines after the first are indented.
func Wrap(text string, width, indent int) string {
	var b strings.Builder
	line := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case line+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			line = 0
		default:
			b.WriteByte(' ')
			line++
		}
		b.WriteString(word)
		line += n
	}
	return b.String()
}

// Apart returns the names with an ellipsis in the place of the words that all names with one first word begin and end
// with, if there are several: the words in which they differ stay where there is little room.
func Apart(names []string) []string {
	families := map[string][]int{}
	split := make([][]string, len(names))
	for k, name := range names {
		if split[k] = strings.Fields(name); len(split[k]) > 1 {
			families[split[k][0]] = append(families[split[k][0]], k)
		}
	}
	out := slices.Clone(names)
	for _, family := range families {
		if len(family) < 2 {
			continue
		}
		one := split[family[0]]
		same := func(at func(all []string, n int) string) (n int) {
			for slices.IndexFunc(family, func(k int) bool { return len(split[k]) <= n || at(split[k], n) != at(one, n) }) < 0 {
				n++
			}
			return n
		}
		begin := same(func(all []string, n int) string { return all[n] })
		end := same(func(all []string, n int) string { return all[len(all)-1-n] })
		for _, k := range family {
			if middle := len(split[k]) - end; middle > begin {
				out[k] = "… " + strings.Join(split[k][begin:middle], " ")
			}
		}
	}
	for k, name := range out {
		if at := slices.Index(out, name); names[at] != names[k] {
			return names // of two families
		}
	}
	return out
}

// Shorten cuts a text to n letters, in its middle: names differ at their ends. Below four letters it takes the first.
func Shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	if n < 4 {
		return string(r[:max(0, n)])
	}
	head := (n - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(n-1-head):])
}
