package papers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/runs"
)

// sevenPolicies lists the policies of the paper on advance reservations.
var sevenPolicies = []string{"ff", "pe-b", "du-b", "pedu-b", "pe-w", "du-w", "pedu-w"}

const (
	// similarWithin is the largest difference, in percentage points, of two mean
	// acceptance rates that count as similar; a larger one is clear.
	similarWithin = 2.0
	// similarSlowdowns is the largest difference of two mean slowdowns that count
	// as similar: a twentieth of the time that the jobs run.
	similarSlowdowns = 0.05
	// nearlyLinear is the largest distance from a straight line that counts as
	// almost linear, as a share of the increase from the first point to the last.
	nearlyLinear = 0.1
)

const accepted, slowdown = "acceptance %", "slowdown"

// reservationFindings are those of Li et al., sections 6.2 and 7. Those about all
// three experiments come first; the others are about job sizes (umed), load
// (arrival_factor) or flexibility (any other x).
func reservationFindings(records []runs.Record, x []string) ([]Finding, error) {
	e, err := newExperiment(records, x, sevenPolicies, []string{accepted, slowdown})
	if err != nil {
		return nil, err
	}
	best, four := []string{"pe-w", "du-b"}, othersThan("ff", "pe-b", "du-w")
	all := []Finding{
		every("PE_W accepts most", e.leads(accepted, []string{"pe-w"}, othersThan("pe-w"), false)),
		every("PE_W and DU_B accept more than the other five", e.leads(accepted, best, othersThan(best...), false)),
		every(fmt.Sprintf("PE_W and DU_B accept much more than FF (by more than %g points)", similarWithin), above(similarWithin, e.leads(accepted, best, []string{"ff"}, false))),
		every("PE_W, DU_B, PEDU_B and PEDU_W accept more than FF", e.leads(accepted, four, []string{"ff"}, false)),
		every("PE_B and DU_W don't accept more than FF", e.leads(accepted, []string{"pe-b", "du-w"}, []string{"ff"}, true)),
		e.similar(accepted, "pe-w", "du-b"),
		e.similar(accepted, "pe-b", "du-w"),
		e.similar(accepted, "pedu-b", "pedu-w"),
		every(fmt.Sprintf("PE_B and PE_W, and DU_B and DU_W, accept different shares (by more than %g points)", similarWithin),
			append(e.distances(accepted, "pe-b", "pe-w", similarWithin, false), e.distances(accepted, "du-b", "du-w", similarWithin, false)...)),
		every("neither PE-based nor duration-based policies are better: PE_W before DU_W, DU_B before PE_B",
			append(e.leads(accepted, []string{"pe-w"}, []string{"du-w"}, false), e.leads(accepted, []string{"du-b"}, []string{"pe-b"}, false)...)),
		every("neither best fit nor worst fit is better: DU_B before DU_W, PE_W before PE_B",
			append(e.leads(accepted, []string{"du-b"}, []string{"du-w"}, false), e.leads(accepted, []string{"pe-w"}, []string{"pe-b"}, false)...)),
		every("FF has the least slowdown", e.leads(slowdown, []string{"ff"}, othersThan("ff"), true)),
		e.similar(slowdown, "pe-w", "du-b"),
		e.similar(slowdown, "pe-b", "du-w"),
		e.apart(),
	}
	change := func(what string) {
		all = append(all,
			every(what+": all accept less", e.steps(accepted, sevenPolicies, true)),
			every(what+": all slow down more", e.steps(slowdown, sevenPolicies, false)))
	}
	switch {
	case slices.Equal(x, []string{"umed"}):
		change("larger jobs")
	case slices.Equal(x, []string{"arrival_factor"}):
		change("more load")
	default:
		all = append(all, e.flexibility()...)
	}
	return all, nil
}

// othersThan returns the policies but some.
func othersThan(some ...string) []string {
	return slices.DeleteFunc(slices.Clone(sevenPolicies), func(a string) bool { return slices.Contains(some, a) })
}

// above raises the limits of claims.
func above(limit float64, claims []claim) []claim {
	for i := range claims {
		claims[i].limit = limit
	}
	return claims
}

// printed writes policies as the paper does.
func printed(policies ...string) string {
	names := make([]string, len(policies))
	for i, p := range policies {
		names[i] = strings.ToUpper(strings.ReplaceAll(p, "-", "_"))
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// flexibility returns the findings of section 6.2.3.
func (e *experiment) flexibility() []Finding {
	steady := []string{"pe-w", "du-b", "pedu-b"}
	unsteady := othersThan(steady...)
	last := len(e.points) - 1
	all := []Finding{every("more flexibility: "+printed(steady...)+" accept more", e.steps(accepted, steady, false))}
	if e.spread() > 0 {
		for _, a := range steady {
			all = append(all, every(fmt.Sprintf("more flexibility: %s accepts more almost linearly (within %g %% of the increase)", printed(a), 100*nearlyLinear), e.linear(a)))
		}
		for _, a := range unsteady {
			all = append(all, oneOf(fmt.Sprintf("more flexibility: %s isn't stable (further than %g %% of the increase from a line)", printed(a), 100*nearlyLinear), e.unstable(a)))
		}
		if at := slices.IndexFunc(e.points, func(p []float64) bool { return slices.Equal(p, []float64{4, 4}) }); at >= 0 {
			all = append(all, every(printed(unsteady...)+" are furthest from a line at {4,4}", e.furthest(at, unsteady)))
		}
	}
	var rise, lead []claim
	for _, a := range unsteady {
		d := e.mean(term{1, cell{accepted, a, last}}, term{-1, cell{accepted, a, 0}})
		rise = append(rise, claim{text: fmt.Sprintf("%s from %s to %s", a, e.where(0), e.where(last)), value: d})
	}
	for k := 1; k <= last; k++ {
		d := e.mean(term{1, cell{accepted, "pe-w", k}}, term{-1, cell{accepted, "du-b", k}}, term{-1, cell{accepted, "pe-w", k - 1}}, term{1, cell{accepted, "du-b", k - 1}})
		lead = append(lead, claim{text: fmt.Sprintf("the lead at %s minus that at %s", e.where(k), e.where(k-1)), value: d})
	}
	return append(all,
		every("more flexibility: "+printed(unsteady...)+" accept more in the end", rise),
		every("more flexibility: PE_W leads DU_B by more", lead),
		every(fmt.Sprintf("PE_W beats all but DU_B easily (by more than %g points)", similarWithin),
			above(similarWithin, e.leads(accepted, []string{"pe-w"}, othersThan("pe-w", "du-b"), false))),
		every("more flexibility: all slow down more", e.steps(slowdown, sevenPolicies, false)))
}

// spread returns the sum of squared distances of the points' first parameter from
// its mean.
func (e *experiment) spread() float64 {
	mean, sum := 0.0, 0.0
	for _, p := range e.points {
		mean += p[0] / float64(len(e.points))
	}
	for _, p := range e.points {
		sum += (p[0] - mean) * (p[0] - mean)
	}
	return sum
}

// residual returns by how much an algorithm's acceptance at point k is above the
// least-squares line over the first parameter, times a sign. With t the parameter
// and n points that is Σ_j (δ_kj - 1/n - (t_k - mean)(t_j - mean)/spread) y_j.
func (e *experiment) residual(algorithm string, k int, sign float64) (all []term) {
	n, mean := float64(len(e.points)), 0.0
	for _, p := range e.points {
		mean += p[0] / n
	}
	for j, p := range e.points {
		c := -1/n - (e.points[k][0]-mean)*(p[0]-mean)/e.spread()
		if j == k {
			c++
		}
		all = append(all, term{sign * c, cell{accepted, algorithm, j}})
	}
	return all
}

// linear claims that at each point an algorithm's acceptance rate is almost on its
// least-squares line: nearer to it than nearlyLinear of the increase from the first
// point to the last.
func (e *experiment) linear(algorithm string) []claim {
	last := len(e.points) - 1
	var all []claim
	for k := range e.points {
		sign := -1.0
		if e.mean(e.residual(algorithm, k, 1)...).mean < 0 {
			sign = 1
		}
		terms := append(e.residual(algorithm, k, sign), term{nearlyLinear, cell{accepted, algorithm, last}}, term{-nearlyLinear, cell{accepted, algorithm, 0}})
		all = append(all, claim{text: fmt.Sprintf("%g %% of %s's increase minus its distance from a line at %s", 100*nearlyLinear, algorithm, e.where(k)), value: e.mean(terms...)})
	}
	return all
}

// unstable claims of each point that an algorithm's acceptance rate isn't almost on
// its line there.
func (e *experiment) unstable(algorithm string) []claim {
	all := e.linear(algorithm)
	for i := range all {
		all[i].less = true
	}
	return all
}

// furthest claims that algorithms are further from a line at a point than at each
// other.
func (e *experiment) furthest(at int, algorithms []string) (all []claim) {
	side := func(a string, k int) float64 { return math.Copysign(1, e.mean(e.residual(a, k, 1)...).mean) }
	for _, a := range algorithms {
		for k := range e.points {
			if k != at {
				d := e.mean(append(e.residual(a, at, side(a, at)), e.residual(a, k, -side(a, k))...)...)
				all = append(all, claim{text: fmt.Sprintf("the distance of %s at %s minus that at %s", a, e.where(at), e.where(k)), value: d})
			}
		}
	}
	return all
}

// distances claims that two policies' values are apart by less than a limit at
// each point, or by more.
func (e *experiment) distances(value, a, b string, limit float64, less bool) (all []claim) {
	for k := range e.points {
		c := e.lead(value, a, b, k, less)
		if c.value.mean < 0 {
			c = e.lead(value, b, a, k, less)
		}
		c.limit = limit
		all = append(all, c)
	}
	return all
}

// similar is the finding that two policies have similar values.
func (e *experiment) similar(value, a, b string) Finding {
	if value == slowdown {
		return every(fmt.Sprintf("%s slow down alike (within %g)", printed(a, b), similarSlowdowns), e.distances(slowdown, a, b, similarSlowdowns, true))
	}
	return every(fmt.Sprintf("%s accept similar shares (within %g points)", printed(a, b), similarWithin), e.distances(accepted, a, b, similarWithin, true))
}

// apart is the finding that the slowdowns of PEDU_B and PEDU_W are further apart
// than those of the other pairs: at the point where they are furthest apart the
// interval of their distance is above those of the others at all points.
func (e *experiment) apart() Finding {
	low, high := 0.0, 0.0 // of the largest distance of another pair
	for _, pair := range [][2]string{{"pe-w", "du-b"}, {"pe-b", "du-w"}} {
		for _, c := range e.distances(slowdown, pair[0], pair[1], 0, true) {
			low, high = max(low, c.value.mean-c.value.half), max(high, c.value.mean+c.value.half)
		}
	}
	own := slices.MaxFunc(e.distances(slowdown, "pedu-b", "pedu-w", 0, true), func(a, b claim) int { return int(math.Copysign(1, a.value.mean-b.value.mean)) })
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
