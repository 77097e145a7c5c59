package benchmarks

import (
	"fmt"
	"math"
	"slices"
)

// sevenPolicies lists the policies of the paper on advance reservations.
var sevenPolicies = []string{"ff", "pe-b", "du-b", "pedu-b", "pe-w", "du-w", "pedu-w"}

// similarWithin is the largest difference, in percentage points, of two mean
// acceptance rates that count as similar.
const similarWithin = 2.0

const accepted, slowdown = "acceptance %", "slowdown"

// reservationFindings are those of Li et al., section 6.2.
func reservationFindings(records []Record, x []string) ([]Finding, error) {
	e, err := newExperiment(records, x, sevenPolicies, []string{accepted, slowdown})
	if err != nil {
		return nil, err
	}
	others := func(but ...string) []string {
		return slices.DeleteFunc(slices.Clone(sevenPolicies), func(a string) bool { return slices.Contains(but, a) })
	}
	all := []Finding{
		every("PE_W accepts most", e.leads(accepted, []string{"pe-w"}, others("pe-w"), false)),
		every("FF has the least slowdown", e.leads(slowdown, []string{"ff"}, others("ff"), true)),
		e.similar("pe-w", "du-b", "PE_W and DU_B accept similar shares"),
		e.similar("pe-b", "du-w", "PE_B and DU_W accept similar shares"),
		e.similar("pedu-b", "pedu-w", "PEDU_B and PEDU_W accept similar shares"),
		every("PE_W, DU_B, PEDU_B and PEDU_W accept more than FF", e.leads(accepted, others("ff", "pe-b", "du-w"), []string{"ff"}, false)),
		every("PE_B and DU_W accept less than FF", e.leads(accepted, []string{"pe-b", "du-w"}, []string{"ff"}, true)),
		e.apart(),
	}
	switch {
	case slices.Equal(x, []string{"umed"}):
		all = append(all,
			every("larger jobs: all accept less", e.steps(accepted, sevenPolicies, true)),
			every("larger jobs: all slow down more", e.steps(slowdown, sevenPolicies, false)))
	case slices.Equal(x, []string{"arrival_factor"}):
		all = append(all,
			every("more load: all accept less", e.steps(accepted, sevenPolicies, true)),
			every("more load: all slow down more", e.steps(slowdown, sevenPolicies, false)))
	default:
		all = append(all,
			every("more flexibility: PE_W, DU_B and PEDU_B accept more", e.steps(accepted, []string{"pe-w", "du-b", "pedu-b"}, false)),
			every("more flexibility: all slow down more", e.steps(slowdown, sevenPolicies, false)))
	}
	return all, nil
}

// distances claims that two policies' values are apart by less than a limit at
// each point.
func (e *experiment) distances(value, a, b string, limit float64) (all []claim) {
	for k := range e.points {
		c := e.lead(value, a, b, k, true)
		c.value.mean, c.limit = math.Abs(c.value.mean), limit
		all = append(all, c)
	}
	return all
}

// similar is the finding that two policies accept similar shares.
func (e *experiment) similar(a, b, text string) Finding {
	return every(fmt.Sprintf("%s (within %g points)", text, similarWithin), e.distances(accepted, a, b, similarWithin))
}

// apart is the finding that the slowdowns of PEDU_B and PEDU_W are further apart
// than those of the other pairs: at the point where they are furthest apart the
// interval of their distance is above those of the others at all points.
func (e *experiment) apart() Finding {
	low, high := 0.0, 0.0 // of the largest distance of another pair
	for _, pair := range [][2]string{{"pe-w", "du-b"}, {"pe-b", "du-w"}} {
		for _, c := range e.distances(slowdown, pair[0], pair[1], 0) {
			low, high = max(low, c.value.mean-c.value.half), max(high, c.value.mean+c.value.half)
		}
	}
	own := slices.MaxFunc(e.distances(slowdown, "pedu-b", "pedu-w", 0), func(a, b claim) int { return int(math.Copysign(1, a.value.mean-b.value.mean)) })
	verdict := Undecided
	switch {
	case own.value.mean-own.value.half > high:
		verdict = Held
	case own.value.mean+own.value.half < low:
		verdict = NotHeld
	}
	return Finding{"the slowdowns of PEDU_B and PEDU_W differ, more than those of PE_W and DU_B or of PE_B and DU_W", verdict,
		fmt.Sprintf("%s: %v; the others %.3g at most", own.text, own.value, high)}
}
