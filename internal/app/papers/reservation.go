// SPDX-License-Identifier: MIT

package papers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/app/runs"
)

// reservationPaper is Li et al.: Resource Availability-Aware Advance Reservation for Parallel Jobs with Deadlines.
// It prints no numbers: its figures show how its words are taken.
var reservationPaper = &paper{
	findings: reservationFindings,
	Figures: map[string]*Figure{
		"similar": {Value: 2, What: "largest difference, in points, of two mean acceptance rates that count as similar",
			Where: "section 6.2",
			Why:   "a larger one is clear in the paper's figures", Taken: true},
		"alike": {Value: 0.05, What: "largest difference of two mean slowdowns that count as similar", Where: "section 6.2",
			Why: "a twentieth of the time that the jobs run", Taken: true},
		"line": {Value: 0.1, What: "largest distance from a straight line that counts as almost linear",
			Where: "section 6.2.3",
			Why:   "as a share of the increase from the first point to the last", Taken: true},
	},
}

const accepted, slowdown = "acceptance %", "slowdown"

// reservationTies are five requests of 10,000, and a thousandth of the time that the jobs run.
var reservationTies = map[string]float64{accepted: 0.05, slowdown: 0.001}

// policies are compared by the paper.
var policies = []string{"ff", "pe-b", "du-b", "pedu-b", "pe-w", "du-w", "pedu-w"}

// without returns a list without some of its elements.
func without(all []string, some ...string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(a string) bool { return slices.Contains(some, a) })
}

// reservationFindings are from sections 6.2 and 7: about job sizes (umed), load (arrival_factor) or flexibility
// (any other x).
func reservationFindings(records []runs.Record, x []string) (func(*statements), error) {
	e, err := newExperiment(records, x, policies, []string{accepted, slowdown})
	if err != nil {
		return nil, err
	}
	e.ties = reservationTies
	return func(s *statements) {
		s.inAllExperiments(e)
		switch {
		case slices.Equal(x, []string{"umed"}):
			s.say("larger jobs: all accept less", e.steps(accepted, policies).below(0))
			s.say("larger jobs: all slow down more", e.steps(slowdown, policies))
		case slices.Equal(x, []string{"arrival_factor"}):
			s.say("more load: all accept less", e.steps(accepted, policies).below(0))
			s.say("more load: all slow down more", e.steps(slowdown, policies))
		default:
			s.onFlexibility(e)
		}
	}, nil
}

// inAllExperiments has the statements about all three experiments.
func (s *statements) inAllExperiments(e *experiment) {
	similar, alike := s.limit("similar"), s.limit("alike")
	only := func(a ...string) []string { return a }
	best := only("pe-w", "du-b")
	s.say("PE_W accepts most", e.lead(accepted, only("pe-w"), without(policies, "pe-w")))
	s.say("PE_W and DU_B accept more than the other five", e.lead(accepted, best, without(policies, best...)))
	s.say("PE_W and DU_B accept much more than FF (by more than 2 points)",
		e.lead(accepted, best, only("ff")).above(similar))
	s.say("PE_W, DU_B, PEDU_B and PEDU_W accept more than FF",
		e.lead(accepted, without(policies, "ff", "pe-b", "du-w"), only("ff")))
	s.say("PE_B and DU_W don't accept more than FF", e.lead(accepted, only("pe-b", "du-w"), only("ff")).below(0))
	s.say("PE_W and DU_B accept similar shares (within 2 points)",
		e.apart(accepted, [2]string{"pe-w", "du-b"}).below(similar))
	s.say("PE_B and DU_W accept similar shares (within 2 points)",
		e.apart(accepted, [2]string{"pe-b", "du-w"}).below(similar))
	s.say("PEDU_B and PEDU_W accept similar shares (within 2 points)",
		e.apart(accepted, [2]string{"pedu-b", "pedu-w"}).below(similar))
	s.say("PE_B and PE_W, and DU_B and DU_W, accept different shares (by more than 2 points)",
		e.apart(accepted, [2]string{"pe-b", "pe-w"}, [2]string{"du-b", "du-w"}).above(similar))
	s.say("neither PE-based nor duration-based policies are better: PE_W before DU_W, DU_B before PE_B",
		append(e.lead(accepted, only("pe-w"), only("du-w")), e.lead(accepted, only("du-b"), only("pe-b"))...))
	s.say("neither best fit nor worst fit is better: DU_B before DU_W, PE_W before PE_B",
		append(e.lead(accepted, only("du-b"), only("du-w")), e.lead(accepted, only("pe-w"), only("pe-b"))...))
	s.say("FF has the least slowdown", e.lead(slowdown, only("ff"), without(policies, "ff")).below(0))
	s.say("PE_W and DU_B slow down alike (within 0.05)", e.apart(slowdown, [2]string{"pe-w", "du-b"}).below(alike))
	s.say("PE_B and DU_W slow down alike (within 0.05)", e.apart(slowdown, [2]string{"pe-b", "du-w"}).below(alike))
	s.add(furthestApart("the slowdowns of PEDU_B and PEDU_W differ, more than those of PE_W and DU_B or of PE_B and DU_W", e, slowdown,
		[2]string{"pedu-b", "pedu-w"}, [2]string{"pe-w", "du-b"}, [2]string{"pe-b", "du-w"}))
}

// onFlexibility has the statements of section 6.2.3.
func (s *statements) onFlexibility(e *experiment) {
	steady := []string{"pe-w", "du-b", "pedu-b"}
	unsteady := without(policies, steady...)
	s.say("more flexibility: PE_W, DU_B and PEDU_B accept more", e.steps(accepted, steady))
	if e.spread() > 0 {
		share := s.limit("line")
		offLine := func(a string) claims {
			return e.each("10 % of "+a+"'s increase minus its distance from a line at {k}", func(k int) estimate {
				return e.offLine(accepted, a, k, share)
			})
		}
		for _, a := range steady {
			s.say("more flexibility: "+policyName(a)+" accepts more almost linearly (within 10 % of the increase)", offLine(a))
		}
		for _, a := range unsteady {
			s.one("more flexibility: "+policyName(a)+" isn't stable (further than 10 % of the increase from a line)",
				offLine(a).below(0))
		}
		if at := e.at(4, 4); at >= 0 {
			var all claims
			others := e.having(func(x []float64) bool { return x[0] != 4 })
			for _, a := range unsteady {
				all = append(all, others.each(fmt.Sprintf("the distance of %s at %s minus that at {k}", a, e.where(at)),
					func(k int) estimate {
						return e.bend(accepted, a, at, k)
					})...)
			}
			s.say("FF, PE_B, DU_W and PEDU_W are furthest from a line at {4,4}", all)
		}
	}
	s.say("more flexibility: FF, PE_B, DU_W and PEDU_W accept more in the end", e.ends(accepted, unsteady, 0))
	s.say("more flexibility: PE_W leads DU_B by more",
		e.later().sums("the lead at {k} minus that at {before}", plus(accepted, "pe-w", here), minus(accepted, "du-b", here),
			minus(accepted, "pe-w", before), plus(accepted, "du-b", before)).tied(e.ties[accepted]))
	s.say("PE_W beats all but DU_B easily (by more than 2 points)",
		e.lead(accepted, []string{"pe-w"}, without(policies, "pe-w", "du-b")).above(s.limit("similar")))
	s.say("more flexibility: all slow down more", e.steps(slowdown, policies))
}

// policyName returns a policy's name as the paper prints it.
func policyName(policy string) string { return strings.ToUpper(strings.ReplaceAll(policy, "-", "_")) }
