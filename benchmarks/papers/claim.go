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

// lead claims that one algorithm's value is above another's at point k, below it
// if less.
func (e *experiment) lead(value, first, second string, k int, less bool) claim {
	d := e.mean(term{1, cell{value, first, k}}, term{-1, cell{value, second, k}})
	return claim{fmt.Sprintf("%s minus %s at %s", first, second, e.where(k)), d, 0, less}
}

// leads makes a lead at every point of each of some algorithms over each of
// others.
func (e *experiment) leads(value string, first, second []string, less bool) (all []claim) {
	for _, a := range first {
		for _, b := range second {
			for k := range e.points {
				all = append(all, e.lead(value, a, b, k, less))
			}
		}
	}
	return all
}

// steps claims that some algorithms' values rise, or fall, from each point to the
// next.
func (e *experiment) steps(value string, algorithms []string, fall bool) (all []claim) {
	for _, a := range algorithms {
		for k := 1; k < len(e.points); k++ {
			d := e.mean(term{1, cell{value, a, k}}, term{-1, cell{value, a, k - 1}})
			all = append(all, claim{fmt.Sprintf("%s from %s to %s", a, e.where(k-1), e.where(k)), d, 0, fall})
		}
	}
	return all
}

// supported compares claims by how well the results support them.
func supported(a, b claim) int {
	rank := []Verdict{NotHeld, Undecided, Held}
	return cmp.Or(cmp.Compare(slices.Index(rank, a.verdict()), slices.Index(rank, b.verdict())), cmp.Compare(a.excess(), b.excess()))
}

// tally counts the claims that hold, those that don't, and those undecided.
func tally(claims []claim) (held, not, undecided int) {
	for i := range claims {
		switch claims[i].verdict() {
		case Held:
			held++
		case NotHeld:
			not++
		default:
			undecided++
		}
	}
	return held, not, undecided
}

// every is the finding that all claims hold.
func every(text string, claims []claim) Finding {
	held, not, undecided := tally(claims)
	verdict := Held
	switch {
	case not > 0:
		verdict = NotHeld
	case undecided > 0 || len(claims) == 0: // these runs don't tell
		verdict = Undecided
	}
	return Finding{text, verdict, weakest(claims, held, not, undecided)}
}

// most is the finding that more than half of the claims hold.
func most(text string, claims []claim) Finding {
	held, not, undecided := tally(claims)
	verdict := Undecided
	switch {
	case 2*held > len(claims):
		verdict = Held
	case len(claims) > 0 && 2*(held+undecided) <= len(claims):
		verdict = NotHeld
	}
	return Finding{text, verdict, weakest(claims, held, not, undecided)}
}

// oneOf is the finding that one claim at least holds.
func oneOf(text string, claims []claim) Finding {
	held, not, undecided := tally(claims)
	verdict := Undecided
	switch {
	case held > 0:
		verdict = Held
	case undecided == 0:
		verdict = NotHeld
	}
	if len(claims) == 0 {
		return Finding{text, Undecided, silent}
	}
	c := slices.MaxFunc(claims, supported)
	return Finding{text, verdict, fmt.Sprintf("strongest: %s, %v; of %d comparisons %d hold, %d don't, %d undecided", c.text, c.value, len(claims), held, not, undecided)}
}

// silent is said of a finding about points of which there are no runs.
const silent = "these runs don't tell"

// weakest describes the claim that the results support least, and how many hold.
func weakest(claims []claim, held, not, undecided int) string {
	if len(claims) == 0 {
		return silent
	}
	c := slices.MinFunc(claims, supported)
	if len(claims) == 1 {
		return fmt.Sprintf("%s: %v", c.text, c.value)
	}
	return fmt.Sprintf("weakest: %s, %v; of %d comparisons %d hold, %d don't, %d undecided", c.text, c.value, len(claims), held, not, undecided)
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
func counted(text string, ours, printed count, within float64) Finding {
	p := 100 * float64(printed.n) / float64(printed.of)
	d := difference(ours.share(), printed.share())
	f := near("", estimate{p + d.mean, d.half}, p, within)
	return Finding{fmt.Sprintf("%s: %v (within %s %%)", text, printed, words.Plain(100*within)), f.Verdict, ours.String()}
}

// none is the finding that no run has a property.
func none(text string, ours count) Finding {
	verdict := Held
	switch {
	case ours.of == 0:
		verdict = Undecided
	case ours.n > 0:
		verdict = NotHeld
	}
	return Finding{text, verdict, ours.String()}
}
