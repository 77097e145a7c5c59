package benchmarks

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// Finding is a statement of a paper about its experiments, checked against
// results.
type Finding struct {
	Text string
	Held bool
	// Measured describes what the results show.
	Measured string
}

// similarWithin is the largest difference, in percentage points, of two mean
// acceptance rates that count as similar.
const similarWithin = 2.0

// FindingsOf checks the findings of the paper on advance reservations (Li et al.,
// section 6.2) against results of the seven policies over x: one parameter, or
// several that change together. A finding holds if it is true of the means at
// every x. The error wraps model.ErrInvalid.
func FindingsOf(records []Record, x []string) ([]Finding, error) {
	e := experiment{x: x}
	for _, y := range []string{"acceptance %", "slowdown"} {
		lines, err := Series(records, SeriesOptions{X: x, Y: y, Algorithms: sevenPolicies})
		if err != nil {
			return nil, err
		}
		for _, l := range lines {
			if len(l.Points) != len(lines[0].Points) || len(l.Points) < 2 {
				return nil, fmt.Errorf("%w results: findings need runs of all seven policies at two values of %s at least", model.ErrInvalid, strings.Join(x, ", "))
			}
		}
		e.lines = append(e.lines, lines)
	}
	const accepted, slowdown = 0, 1
	others := func(but ...string) []string {
		return slices.DeleteFunc(slices.Clone(sevenPolicies), func(a string) bool { return slices.Contains(but, a) })
	}
	all := []Finding{
		e.above(accepted, []string{"pe-w"}, others("pe-w"), "PE_W accepts most"),
		e.above(slowdown, others("ff"), []string{"ff"}, "FF has the least slowdown"),
		e.similar("pe-w", "du-b", "PE_W and DU_B accept similar shares"),
		e.similar("pe-b", "du-w", "PE_B and DU_W accept similar shares"),
		e.similar("pedu-b", "pedu-w", "PEDU_B and PEDU_W accept similar shares"),
		e.above(accepted, others("ff", "pe-b", "du-w"), []string{"ff"}, "PE_W, DU_B, PEDU_B and PEDU_W accept more than FF"),
		e.above(accepted, []string{"ff"}, []string{"pe-b", "du-w"}, "PE_B and DU_W accept less than FF"),
		e.apart("pedu-b", "pedu-w", "the slowdowns of PEDU_B and PEDU_W differ, more than those of PE_W and DU_B or of PE_B and DU_W", [][2]string{{"pe-w", "du-b"}, {"pe-b", "du-w"}}),
	}
	switch {
	case slices.Equal(x, []string{"umed"}):
		all = append(all,
			e.monotone(accepted, -1, sevenPolicies, "larger jobs: all accept less"),
			e.monotone(slowdown, 1, sevenPolicies, "larger jobs: all slow down more"))
	case slices.Equal(x, []string{"arrival_factor"}):
		all = append(all,
			e.monotone(accepted, -1, sevenPolicies, "more load: all accept less"),
			e.monotone(slowdown, 1, sevenPolicies, "more load: all slow down more"))
	default:
		all = append(all,
			e.monotone(accepted, 1, []string{"pe-w", "du-b", "pedu-b"}, "more flexibility: PE_W, DU_B and PEDU_B accept more"),
			e.monotone(slowdown, 1, sevenPolicies, "more flexibility: all slow down more"))
	}
	return all, nil
}

// sevenPolicies lists the paper's policies.
var sevenPolicies = []string{"ff", "pe-b", "du-b", "pedu-b", "pe-w", "du-w", "pedu-w"}

// Varied returns the generator parameters, without the draw, that have several
// values among the records, in alphabetical order.
func Varied(records []Record) []string {
	values := map[string]map[float64]bool{}
	for _, r := range records {
		for p, v := range r.Params {
			if values[p] == nil {
				values[p] = map[float64]bool{}
			}
			values[p][v] = true
		}
	}
	var all []string
	for p := range values {
		if len(values[p]) > 1 && p != "draw" {
			all = append(all, p)
		}
	}
	slices.Sort(all)
	return all
}

// experiment holds the means that findings are about.
type experiment struct {
	x     []string
	lines [][]Line // by value (acceptance, slowdown), then policy
}

func (e *experiment) line(value int, policy string) Line {
	return e.lines[value][slices.Index(sevenPolicies, policy)]
}

// where describes the k-th x in words.
func (e *experiment) where(k int) string {
	p := e.lines[0][0].Points[k]
	return strings.Join(e.x, ",") + " " + cmp.Or(p.Label, figure(p.X))
}

// above checks that each of some policies has more than each of others.
func (e *experiment) above(value int, more, less []string, text string) Finding {
	margin, at := math.Inf(1), ""
	for _, a := range more {
		for _, b := range less {
			for k, p := range e.line(value, a).Points {
				if d := p.Mean - e.line(value, b).Points[k].Mean; d < margin {
					margin, at = d, fmt.Sprintf("%s over %s at %s", a, b, e.where(k))
				}
			}
		}
	}
	return Finding{text, margin > 0, fmt.Sprintf("smallest lead %.3g, of %s", margin, at)}
}

// similar checks that two policies accept similar shares.
func (e *experiment) similar(a, b, text string) Finding {
	d, k := e.distance(0, a, b)
	return Finding{fmt.Sprintf("%s (within %g points)", text, similarWithin), d <= similarWithin, fmt.Sprintf("at most %.3g points apart, at %s", d, e.where(k))}
}

// distance returns the largest difference of two policies, and its x.
func (e *experiment) distance(value int, a, b string) (most float64, at int) {
	for k, p := range e.line(value, a).Points {
		if d := math.Abs(p.Mean - e.line(value, b).Points[k].Mean); d > most {
			most, at = d, k
		}
	}
	return most, at
}

// apart checks that the slowdowns of two policies are further apart than those of
// each of other pairs.
func (e *experiment) apart(a, b, text string, pairs [][2]string) Finding {
	d, k := e.distance(1, a, b)
	most := 0.0
	for _, p := range pairs {
		x, _ := e.distance(1, p[0], p[1])
		most = max(most, x)
	}
	return Finding{text, d > most, fmt.Sprintf("%.3g apart at %s, the others at most %.3g", d, e.where(k), most)}
}

// monotone checks that the policies' values rise (sign 1) or fall (-1) with x.
func (e *experiment) monotone(value int, sign float64, policies []string, text string) Finding {
	step, at := math.Inf(1), ""
	for _, a := range policies {
		points := e.line(value, a).Points
		for k := 1; k < len(points); k++ {
			if d := sign * (points[k].Mean - points[k-1].Mean); d < step {
				step, at = d, fmt.Sprintf("%s from %s to %s", a, e.where(k-1), e.where(k))
			}
		}
	}
	return Finding{text, step > 0, fmt.Sprintf("smallest step %.3g, of %s", step, at)}
}
