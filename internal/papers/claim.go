// SPDX-License-Identifier: MIT

package papers

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/words"
)

// claim says that a figure is above a limit, or below it if less.
type claim struct {
	text  string // what the figure is
	value estimate
	limit float64
	less  bool
}

// excess returns by how much the mean is on the claimed side of the limit.
func (c *claim) excess() float64 {
	if c.less {
		return c.limit - c.value.mean
	}
	return c.value.mean - c.limit
}

func (c *claim) verdict() Verdict {
	switch x := c.excess(); {
	case x > c.value.half:
		return Held
	case -x > c.value.half:
		return NotHeld
	}
	return Undecided // NaN, too
}

// supported compares claims by how well the results support them.
func supported(a, b claim) int {
	rank := []Verdict{NotHeld, Undecided, Held}
	return cmp.Or(cmp.Compare(slices.Index(rank, a.verdict()), slices.Index(rank, b.verdict())), cmp.Compare(a.excess(), b.excess()))
}

// judged is the finding that all of some claims hold or, by how, more than half of them
// ("most") or one at least ("one"). It describes the claim that the results support
// least, or of one the most.
func judged(text, how string, claims []claim) Finding {
	if len(claims) == 0 { // there are no runs at these points
		return Finding{text, Undecided, "these runs don't tell"}
	}
	of := map[Verdict]int{}
	for i := range claims {
		of[claims[i].verdict()]++
	}
	n, held, not := len(claims), of[Held] == len(claims), of[NotHeld] > 0
	c, which := slices.MinFunc(claims, supported), "weakest"
	switch how {
	case "most":
		held, not = 2*of[Held] > n, 2*(of[Held]+of[Undecided]) <= n
	case "one":
		held, not = of[Held] > 0, of[NotHeld] == n
		c, which = slices.MaxFunc(claims, supported), "strongest"
	}
	f := Finding{text, Undecided, fmt.Sprintf("%s: %s, %v; of %d comparisons %d hold, %d don't, %d undecided", which, c.text, c.value, n, of[Held], of[NotHeld], of[Undecided])}
	if n == 1 && how != "one" {
		f.Measured = fmt.Sprintf("%s: %v", c.text, c.value)
	}
	switch {
	case held:
		f.Verdict = Held
	case not:
		f.Verdict = NotHeld
	}
	return f
}

// near claims that a figure is what a paper prints, up to a share of that: within
// 0.1, for example, is between 9 and 11 for a printed 10.
func near(text string, value estimate, printed, within float64) Finding {
	margin := within * math.Abs(printed)
	verdict := Undecided
	switch off := math.Abs(value.mean - printed); {
	case off+value.half <= margin:
		verdict = Held
	case off-value.half > margin:
		verdict = NotHeld
	}
	return Finding{fmt.Sprintf("%s: %s (within %s %%)", text, words.Plain(printed), words.Plain(100*within)), verdict, fmt.Sprintf("%v", value)}
}

// counted is near for a count: our share of the runs is compared with the printed
// one. The printed one is a sample, too, and both have intervals.
func counted(text string, ours, printed tally, within float64) Finding {
	p := 100 * float64(printed.n) / float64(printed.of)
	d := difference(ours.share(), printed.share())
	f := near("", estimate{p + d.mean, d.half}, p, within)
	return Finding{fmt.Sprintf("%s: %v (within %s %%)", text, printed, words.Plain(100*within)), f.Verdict, ours.String()}
}

// none is the finding that no run has a property.
func none(text string, ours tally) Finding {
	verdict := Held
	switch {
	case ours.of == 0:
		verdict = Undecided
	case ours.n > 0:
		verdict = NotHeld
	}
	return Finding{text, verdict, ours.String()}
}

// furthestApart is the finding that a measure of two algorithms differs by more than that
// of other pairs: at the point where they are furthest apart the interval of their
// distance is above those of the others at all points.
func furthestApart(text string, e *experiment, measure string, pair, others []string) Finding {
	distances := func(a, b string) (all []claim) {
		for k := range e.points {
			c := claim{fmt.Sprintf("%s minus %s at %s", a, b, e.where(k)), e.mean(term{1, cell{measure, a, k}}, term{-1, cell{measure, b, k}}), 0, true}
			if c.value.mean < 0 {
				c.text, c.value.mean = fmt.Sprintf("%s minus %s at %s", b, a, e.where(k)), -c.value.mean
			}
			all = append(all, c)
		}
		return all
	}
	low, high := 0.0, 0.0 // of the largest distance of another pair
	for i := 0; i+1 < len(others); i += 2 {
		for _, c := range distances(others[i], others[i+1]) {
			low, high = max(low, c.value.mean-c.value.half), max(high, c.value.mean+c.value.half)
		}
	}
	own := slices.MaxFunc(distances(pair[0], pair[1]), func(a, b claim) int { return cmp.Compare(a.value.mean, b.value.mean) })
	verdict := Undecided
	switch {
	case own.value.mean-own.value.half > high:
		verdict = Held
	case own.value.mean+own.value.half < low:
		verdict = NotHeld
	}
	return Finding{text, verdict, fmt.Sprintf("%s: %v; the others %.3g at most", own.text, own.value, high)}
}
