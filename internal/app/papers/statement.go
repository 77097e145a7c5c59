// SPDX-License-Identifier: MIT

package papers

import (
	"fmt"
	"slices"
	"strings"
)

// statements collects the findings about the statements of a paper.
type statements struct {
	*paper
	scale float64 // of limits that are taken
	all   []Finding
}

// judge returns the findings of a paper. If a limit isn't printed but taken, a finding states how another one, half or
// twice as large, changes its verdict.
func (p *paper) judge(say func(*statements)) []Finding {
	at := func(scale float64) []Finding {
		s := &statements{paper: p, scale: scale}
		say(s)
		return s.all
	}
	all := at(1)
	for _, other := range []struct {
		text  string
		scale float64
	}{{"half", 0.5}, {"twice", 2}} {
		for k, g := range at(other.scale) {
			if f := &all[k]; g.Verdict != f.Verdict {
				f.Measured += fmt.Sprintf("; with %s the limit %s", other.text, g.Verdict)
			}
		}
	}
	apart(all)
	adjust(all)
	return all
}

// limit returns the value of a printed figure, or of one that is taken.
func (s *statements) limit(name string) float64 {
	f := s.Figures[name]
	if f.Taken {
		return f.Value * s.scale
	}
	return f.Value
}

func (s *statements) add(f Finding) { s.all = append(s.all, f) }

// say adds the statement that all claims hold.
func (s *statements) say(text string, all claims) { s.add(judged(text, "", all)) }

// most adds the statement that more than half of the claims hold.
func (s *statements) most(text string, all claims) { s.add(judged(text, "most", all)) }

// one adds the statement that a claim holds at least.
func (s *statements) one(text string, all claims) { s.add(judged(text, "one", all)) }

// near adds the statement that an estimate is as printed. The text has the printed figure at {printed}.
func (s *statements) near(text string, x estimate, figure string) {
	f := s.Figures[figure]
	s.add(near(strings.ReplaceAll(text, "{printed}", f.printed()), x, f))
}

// counted adds the statement that a count is as printed. The text has the printed figure at {printed}.
func (s *statements) counted(text string, n tally, figure string) {
	f := s.Figures[figure]
	s.add(counted(strings.ReplaceAll(text, "{printed}", f.printed()), n, tally{int(f.Value), f.Among}))
}

// claims are about one statement.
type claims []claim

// once claims that a figure is above 0.
func once(text string, x estimate) claims { return claims{above(text, x, 0)} }

// above claims that each figure is above a limit.
func (all claims) above(limit float64) claims {
	for i, c := range all {
		all[i] = above(c.text, c.value, limit).tiedAt(limit, c.tie)
	}
	return all
}

// below claims that each figure is below a limit.
func (all claims) below(limit float64) claims {
	for i, c := range all {
		all[i] = below(c.text, c.value, limit).tiedAt(limit, c.tie)
	}
	return all
}

// within claims that the size of each figure is a limit at most.
func (all claims) within(limit float64) claims {
	for i, c := range all {
		all[i] = between(c.text, c.value, -limit, limit)
	}
	return all
}

// tiedAt sets up to which difference from 0 a figure is as good as on that limit.
func (c claim) tiedAt(limit, tie float64) claim {
	if c.tie = tie; limit == 0 {
		c.same = tie
	}
	return c
}

// tied sets up to which difference from 0 figures are as good as 0.
func (all claims) tied(within float64) claims {
	for i := range all {
		all[i].tie, all[i].same = within, within
	}
	return all
}

// size turns figures into their sizes.
func (all claims) size() claims {
	for i := range all {
		if x := &all[i].value; x.mean < 0 {
			x.mean = -x.mean
		}
	}
	return all
}

// only restricts an experiment's comparisons to some of its points.
func (e *experiment) only(points ...int) *experiment {
	some := *e
	some.chosen = append([]int{}, points...)
	return &some
}

// having restricts an experiment's comparisons to the points with parameters for which is holds.
func (e *experiment) having(is func(x []float64) bool) *experiment { return e.only(e.those(is)...) }

// last is the last point.
func (e *experiment) last() int { return len(e.points) - 1 }

// those returns the points with parameters for which is holds.
func (e *experiment) those(is func(x []float64) bool) (all []int) {
	for k, x := range e.points {
		if is(x) {
			all = append(all, k)
		}
	}
	return all
}

// later returns the points after the first.
func (e *experiment) later() *experiment {
	return e.having(func(x []float64) bool { return !slices.Equal(x, e.points[0]) })
}

// compared returns the points that an experiment's comparisons are made at.
func (e *experiment) compared() []int {
	if e.chosen != nil {
		return e.chosen
	}
	return e.those(func([]float64) bool { return true })
}

// each claims that a figure is above 0 at each point. The text has the point at {k}, and the one before at {before}.
func (e *experiment) each(text string, value func(k int) estimate) (all claims) {
	for _, k := range e.compared() {
		here := strings.ReplaceAll(text, "{k}", e.where(k))
		if k > 0 {
			here = strings.ReplaceAll(here, "{before}", e.where(k-1))
		}
		all = append(all, above(here, value(k), 0))
	}
	return all
}

// here and before stand for the point of a comparison, and for the one before it.
const here, before = -1, -2

// at puts points in their place.
func (c cell) at(k int) cell {
	if c.point < 0 {
		c.point += k + 1
	}
	return c
}

// sums claims that a sum of terms is above 0 at each point.
func (e *experiment) sums(text string, terms ...term) claims {
	return e.each(text, func(k int) estimate {
		there := slices.Clone(terms)
		for i := range there {
			there[i].cell = there[i].at(k)
		}
		return e.mean(there...)
	})
}

// changes claims that one figure is above another by more than 0 percent at each point.
func (e *experiment) changes(text string, to, from cell) claims {
	return e.each(text, func(k int) estimate { return e.change(to.at(k), from.at(k)) })
}

// over estimates by how many percent an algorithm has more of a measure than another at a point.
func (e *experiment) over(measure, to, from string, k int) estimate {
	return e.change(cell{measure, to, k}, cell{measure, from, k})
}

// lead claims that each of some algorithms has more of a measure than each of others at each point.
func (e *experiment) lead(measure string, some, others []string) (all claims) {
	for _, a := range some {
		for _, b := range others {
			all = append(all, e.sums(a+" minus "+b+" at {k}", plus(measure, a, here), minus(measure, b, here))...)
		}
	}
	return all.tied(e.ties[measure])
}

// steps claims that some algorithms have more of a measure at each point than at the one before.
func (e *experiment) steps(measure string, some []string) (all claims) {
	for _, a := range some {
		all = append(all, e.later().sums(a+" from {before} to {k}", plus(measure, a, here), minus(measure, a, before))...)
	}
	return all.tied(e.ties[measure])
}

// ends claims that some algorithms have more of a measure at the last point than at another one.
func (e *experiment) ends(measure string, some []string, from int) (all claims) {
	for _, a := range some {
		x := e.mean(plus(measure, a, e.last()), minus(measure, a, from))
		all = append(all, above(a+" from "+e.where(from)+" to "+e.where(e.last()), x, 0))
	}
	return all.tied(e.ties[measure])
}

// apart claims that pairs of algorithms differ in a measure at each point.
func (e *experiment) apart(measure string, pairs ...[2]string) (all claims) {
	for _, p := range pairs {
		back := e.lead(measure, p[1:], p[:1])
		for k, c := range e.lead(measure, p[:1], p[1:]) {
			if c.value.mean < 0 {
				c.text, c.value.mean = back[k].text, -c.value.mean
			}
			all = append(all, c)
		}
	}
	return all.tied(0)
}

// count counts an algorithm's runs, and the runs among them with a measure for which is holds. It leaves out runs
// without a solution on demand.
func (e *experiment) count(measure, algorithm string, solved bool, is func(float64) bool) (n tally) {
	for _, k := range e.compared() {
		for d, y := range e.runs[cell{measure, algorithm, k}] {
			if solved && e.runs[cell{unsolved, algorithm, k}][d] > 0 {
				continue
			}
			if n.of++; is(y) {
				n.n++
			}
		}
	}
	return n
}
