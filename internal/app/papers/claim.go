// SPDX-License-Identifier: MIT

package papers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gapwise/gapwise/internal/num/stats"
	"github.com/gapwise/gapwise/internal/text/words"
)

// level is the probability by which a verdict may be due to chance, as for 95 % intervals.
const level = 0.05

// claim states that a figure lies between two limits; one of them may be infinite.
type claim struct {
	text      string // the meaning of the figure
	value     estimate
	low, high float64
	closed    bool    // the limits are among its claims: a printed range is the range
	same      float64 // how far from its one limit a figure is as good as on it
	tie       float64 // same of a claim with the limit 0
}

// above and below claim that a figure is on one side of a limit.
func above(text string, x estimate, limit float64) claim {
	return claim{text: text, value: x, low: limit, high: math.Inf(1)}
}

func below(text string, x estimate, limit float64) claim {
	return claim{text: text, value: x, low: math.Inf(-1), high: limit}
}

// between claims that a figure is in a range, its ends included.
func between(text string, x estimate, low, high float64) claim {
	return claim{text: text, value: x, low: low, high: high, closed: true}
}

// excess returns by how much the mean is inside of the limits.
func (c *claim) excess() float64 { return min(c.value.mean-c.low, c.high-c.value.mean) }

// tied reports whether the figure is on its limit: exactly, in all draws, or for practical purposes. The last means
// that its whole interval is no further from the limit than same (the test of equivalence by two one-sided tests,
// Schuirmann 1987). A tie is on no side.
func (c *claim) tied() bool { return !c.closed && math.Abs(c.excess())+c.value.half <= c.same }

func (c *claim) verdict() Verdict {
	holds, not := c.p()
	switch {
	case c.tied():
		return Tied
	case holds < level:
		return Held
	case not < level:
		return NotHeld
	}
	return Undecided
}

// p returns the p of the figure being inside of the limits, and of its being outside, two-sided by Student's t. It is
// below the level if the interval is wholly on a side, and 1 on the side where the mean isn't.
func (c *claim) p() (holds, not float64) {
	x, half := c.excess(), c.value.half
	switch {
	case c.tied() || math.IsNaN(x) || math.IsNaN(half):
		return 1, 1
	case half == 0 && (x > 0 || c.closed && x == 0):
		return 0, 1
	case half == 0:
		return 1, 0
	}
	var t interface {
		Quantile(float64) float64
		Survival(float64) float64
	} = distuv.UnitNormal
	if c.value.df > 0 {
		t = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: c.value.df}
	}
	p := 2 * t.Survival(math.Abs(x)/half*t.Quantile(1-level/2))
	if x > 0 {
		return p, 1
	}
	return 1, p
}

// supported compares claims by how well the results support them.
func supported(a, b claim) int {
	rank := []Verdict{NotHeld, Undecided, Tied, Held}
	return cmp.Or(cmp.Compare(slices.Index(rank, a.verdict()), slices.Index(rank, b.verdict())), cmp.Compare(a.excess(), b.excess()))
}

// judged is the finding that all of some claims hold or, by how, more than half of them
// ("most") or one at least ("one"). Its p is the p of so many of them being true, or of so many being false that it
// isn't (see stats.Partial): one claim of many that chance decides doesn't decide it. It is tied if none is undecided
// that matters, and it would hold if those that are tied did. It describes the claim that the results support least, or
// of one the most.
func judged(text, how string, claims []claim) Finding {
	f := Finding{Text: text, Verdict: Undecided, Measured: "these runs don't tell", P: 1}
	n := len(claims)
	if n == 0 { // there are no runs at these points
		return f
	}
	var holds, not []float64
	of := map[Verdict]int{}
	for i := range claims {
		p, q := claims[i].p()
		holds, not = append(holds, p), append(not, q)
		of[claims[i].verdict()]++
	}
	c, which, needed := slices.MinFunc(claims, supported), "weakest", n
	switch how {
	case "most":
		needed = n/2 + 1
	case "one":
		c, which, needed = slices.MaxFunc(claims, supported), "strongest", 1
	}
	p, q := stats.Partial(holds, needed), stats.Partial(not, n-needed+1)
	f.P = min(p, q)
	switch {
	case p < level:
		f.Verdict = Held
	case q < level:
		f.Verdict = NotHeld
	case of[Held]+of[Undecided] < needed && of[Held]+of[Tied] >= needed:
		f.Verdict, f.P = Tied, 1
	}
	f.Measured = fmt.Sprintf("%s: %v", c.text, c.value)
	if n > 1 || how == "one" {
		var counts []string
		for _, v := range Verdicts {
			if of[v] > 0 {
				counts = append(counts, fmt.Sprintf("%d %s", of[v], v))
			}
		}
		f.Measured = fmt.Sprintf("%s: %s; of %d comparisons %s", which, f.Measured, n, strings.Join(counts, ", "))
	}
	return f
}

// near is the finding that a figure is as a paper prints it: in the printed range, or up to a
// share of the printed number.
func near(text string, value estimate, f *Figure) Finding {
	low, high := f.limits()
	if f.Range == nil {
		text += fmt.Sprintf(" (within %s %% of that)", words.Plain(100*f.Margin))
	}
	found := judged(text, "", []claim{between("", value, low, high)})
	found.Measured = value.String()
	return found
}

// counted is near for a count. The printed count is a sample, too: the finding is held if Fisher's exact test doesn't
// distinguish the two samples. A sample less than half as large as the printed one is too small to decide.
func counted(text string, ours, printed tally) Finding {
	p := stats.Fisher(ours.n, ours.of, printed.n, printed.of)
	f := Finding{Text: text, Verdict: Held, Measured: ours.String(), P: p}
	switch {
	case f.P < level:
		f.Verdict = NotHeld
	case 2*ours.of < printed.of:
		f.Verdict = Undecided
	}
	return f
}

// none is the finding that no run has a property. Its figure states how common that can be in spite of it.
func none(text string, ours tally) Finding {
	f := Finding{Text: text, Verdict: Held, Measured: ours.String(), P: math.NaN()}
	switch {
	case ours.of == 0:
		f.Verdict = Undecided
	case ours.n > 0:
		f.Verdict = NotHeld
	default: // Clopper and Pearson
		most := 100 * (1 - math.Pow(level/2, 1/float64(ours.of)))
		f.Measured += fmt.Sprintf("; of all such instances at most %s %%, with 95 %% confidence", words.Plain(most))
	}
	return f
}

// ranked is the finding that an algorithm has some rank, from 1, by the largest value of a
// measure, the least first, in these runs with a solution. A largest value is one instance's: no test decides,
// and another sample may have another order.
func ranked(text string, want int, e *experiment, measure, algorithm string, others []string) Finding {
	most := func(a string) float64 {
		x := math.Inf(-1)
		for d, y := range e.runs[cell{measure, a, 0}] {
			if e.runs[cell{unsolved, a, 0}][d] == 0 {
				x = max(x, y)
			}
		}
		return x
	}
	own, rank, all := most(algorithm), 1, []string{}
	for _, a := range others {
		if y := most(a); y < own {
			rank, all = rank+1, append(all, a+" "+words.Plain(y))
		}
	}
	measured := fmt.Sprintf("rank %d: %s %s", rank, algorithm, words.Plain(own))
	f := Finding{Text: text, Verdict: NotHeld, Measured: measured, P: math.NaN()}
	if len(all) > 0 {
		f.Measured += ", after " + strings.Join(all, ", ")
	}
	f.Measured += "; largest values of one sample, which no test compares"
	switch {
	case math.IsInf(own, -1):
		f.Verdict = Undecided
	case rank == want:
		f.Verdict = Held
	}
	return f
}

// furthestApart is the finding that a measure of two algorithms differs by more than for other pairs. At the point
// where they are furthest apart, the interval of their distance is above the others' intervals at all points.
func furthestApart(text string, e *experiment, measure string, pair [2]string, others ...[2]string) Finding {
	low, high := 0.0, 0.0 // of the largest distance of another pair
	for _, c := range e.apart(measure, others...) {
		low, high = max(low, c.value.mean-c.value.half), max(high, c.value.mean+c.value.half)
	}
	own := slices.MaxFunc(e.apart(measure, pair), func(a, b claim) int { return cmp.Compare(a.value.mean, b.value.mean) })
	measured := fmt.Sprintf("%s: %v; the others %.3g at most", own.text, own.value, high)
	f := Finding{Text: text, Verdict: Undecided, Measured: measured, P: math.NaN()}
	switch {
	case own.value.mean-own.value.half > high:
		f.Verdict = Held
	case own.value.mean+own.value.half < low:
		f.Verdict = NotHeld
	}
	return f
}
