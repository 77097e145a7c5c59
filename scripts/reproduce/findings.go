// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/app/papers"
	"github.com/gapwise/gapwise/internal/app/runs"
)

// verdicts counts comparisons, of findings or of points, by how they come out.
type verdicts map[papers.Verdict]int

// All counts them all.
func (v verdicts) All() (n int) {
	for _, k := range v {
		n += k
	}
	return n
}

// Held counts those that hold.
func (v verdicts) Held() int { return v[papers.Held] }

// Not counts those that don't.
func (v verdicts) Not() int { return v[papers.NotHeld] }

// Tied counts those that are equal, and Undecided the others.
func (v verdicts) Tied() int      { return v[papers.Tied] }
func (v verdicts) Undecided() int { return v[papers.Undecided] }

// add counts a comparison.
func (v *verdicts) add(x papers.Verdict) papers.Verdict {
	if *v == nil {
		*v = verdicts{}
	}
	(*v)[x]++
	return x
}

func (v verdicts) String() string {
	var all []string
	for _, x := range papers.Verdicts {
		if v[x] > 0 || x == papers.Held || x == papers.NotHeld {
			all = append(all, fmt.Sprintf("%d %s", v[x], x))
		}
	}
	return strings.Join(all, ", ")
}

// verdict says whether a difference is above 0.
func verdict(p runs.SeriesPoint) papers.Verdict {
	switch {
	case p.Mean > p.Half:
		return papers.Held
	case -p.Mean > p.Half:
		return papers.NotHeld
	case p.Mean == 0 && p.Half == 0:
		return papers.Tied
	}
	return papers.Undecided // one of the two isn't a number, too
}

// findings are what a paper says, checked.
type findings []papers.Finding

// findings checks a paper's findings against results over parameters, of the instances
// that a pattern matches.
func (r *runner) findings(file, by string, pattern ...string) findings {
	return r.findingsOf(set{File: file, By: by, Pattern: strings.Join(pattern, "")})
}

// findingsOf checks the findings about a set.
func (r *runner) findingsOf(s set) findings {
	return must(papers.FindingsOf(r.of(s), split(s.By)))
}

// count counts the verdicts on the findings about some sets.
func (r *runner) count(sets []set) verdicts {
	var all findings
	for _, s := range sets {
		found := r.findingsOf(s)
		all = append(all, found...)
	}
	return all.Count()
}

// Count counts the verdicts.
func (all findings) Count() (v verdicts) {
	for _, f := range all {
		v.add(f.Verdict)
	}
	return v
}

// ByHolm counts the verdicts with Holm's correction.
func (all findings) ByHolm() (v verdicts) {
	for _, f := range all {
		v.add(f.ByHolm)
	}
	return v
}

// String returns the findings as a Markdown table.
func (all findings) String() string {
	var text strings.Builder
	check(papers.Tabulate(all).Render(&text, "markdown"))
	return strings.TrimRight(text.String(), "\n")
}

// Of returns the finding of a text.
func (all findings) Of(text string) papers.Finding {
	k := slices.IndexFunc(all, func(f papers.Finding) bool { return f.Text == text })
	if k < 0 {
		panic(fmt.Errorf("no finding is %q", text))
	}
	return all[k]
}

// Says returns verdict and figures of the finding of a text.
func (all findings) Says(text string) string {
	f := all.Of(text)
	return fmt.Sprintf("%s%s (%s)", f.Verdict, byHolm(f), f.Measured)
}

// byHolm says which verdict a finding has with Holm's correction, if another.
func byHolm(f papers.Finding) string {
	if f.ByHolm == f.Verdict || f.ByHolm == "" {
		return ""
	}
	return " (by Holm *" + string(f.ByHolm) + "*)"
}

// about returns the findings whose texts begin with begin.
func (all findings) about(begin string) findings {
	return kept(all, func(f papers.Finding) bool { return strings.HasPrefix(f.Text, begin) })
}

// Verdict returns verdict and figures of the one finding whose text begins with begin.
func (all findings) Verdict(begin string) string {
	found := all.about(begin)
	if len(found) != 1 {
		panic(fmt.Errorf("%d findings begin with %q, not one", len(found), begin))
	}
	return fmt.Sprintf("*%s*%s: %s", found[0].Verdict, byHolm(found[0]), found[0].Measured)
}

// Verdicts counts the verdicts of the findings whose texts begin with begin.
func (all findings) Verdicts(begin string) string {
	found := all.about(begin)
	if len(found) == 0 {
		panic(fmt.Errorf("no finding begins with %q", begin))
	}
	var counts []string
	for _, v := range papers.Verdicts {
		if n := len(kept(found, func(f papers.Finding) bool { return f.Verdict == v })); n > 0 {
			counts = append(counts, fmt.Sprintf("%d *%s*", n, v))
		}
	}
	return strings.Join(counts, ", ")
}

// agreement says which findings have one verdict in all experiments.
type agreement struct {
	Shared, Same int
	Others       []string // the findings that don't
}

// sameVerdicts compares the verdicts on the findings that all experiments share.
func (r *runner) sameVerdicts(all []set) (a agreement) {
	seen, order := map[string][]string{}, []string{}
	for _, e := range all {
		found := r.findingsOf(e)
		for _, f := range found {
			if len(seen[f.Text]) == 0 {
				order = append(order, f.Text)
			}
			seen[f.Text] = append(seen[f.Text], string(f.Verdict))
		}
	}
	for _, text := range order {
		of := seen[text]
		switch {
		case len(of) < len(all):
			continue
		case len(slices.Compact(slices.Clone(of))) == 1:
			a.Same++
		default:
			a.Others = append(a.Others, fmt.Sprintf("%s (%s)", text, strings.Join(of, ", ")))
		}
		a.Shared++
	}
	return a
}
