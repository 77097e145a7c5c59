// SPDX-License-Identifier: MIT

// Package papers holds the figures and statements of papers about their experiments, a file each, and checks them
// against runs.
package papers

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/num/stats"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Finding is a statement of a paper about its experiments, checked against
// results.
type Finding struct {
	Text    string
	Verdict Verdict
	// Measured describes the figures that decide.
	Measured string
	// P is by how likely chance alone decides so, NaN where no test does; Holm is P adjusted
	// for the number of statements that are checked together, and ByHolm the verdict by it.
	P, Holm float64
	ByHolm  Verdict

	contrary string // the text of a statement that can't be true as well
}

// Tabulate returns findings as a table.
func Tabulate(all []Finding) runs.Table {
	t := runs.Table{Header: []string{"verdict", "by Holm", "statement", "measured", "p", "p by Holm"}}
	for _, f := range all {
		p, holm := words.Probability(f.P, false), words.Probability(f.Holm, false)
		t.Rows = append(t.Rows, []string{string(f.Verdict), string(f.ByHolm), f.Text, f.Measured, p, holm})
	}
	return t
}

// Verdict states whether results support a finding.
type Verdict string

// The verdicts. A tied one has figures that are equal, exactly or for practical purposes.
const (
	Held      Verdict = "held"
	NotHeld   Verdict = "not held"
	Tied      Verdict = "tied"
	Undecided Verdict = "undecided"
)

// Verdicts are all of them, in the order in which they are counted.
var Verdicts = []Verdict{Held, NotHeld, Tied, Undecided}

// paper holds the printed figures of a paper, and reads runs for its statements.
type paper struct {
	Over    []string // the parameters that findings are over if none is given; nil: all that vary
	Own     bool     // the findings choose their parameters themselves
	Figures map[string]*Figure
	Tables  map[string][][]string // as printed

	// findings reads the runs for findings over x, and returns a function that states them.
	findings func(records []runs.Record, x []string) (func(*statements), error)
}

// Figure is a number that a paper prints.
type Figure struct {
	Value  float64
	Among  int       // of a count: of how many
	Where  string    // table, figure or section
	What   string    // in words
	Margin float64   // the share of it by which ours may differ
	Range  []float64 // a printed one, from and to, in place of value and margin
	Why    string    // the reason of the margin
	Taken  bool      // no number is printed: the limit is ours, and findings show half and twice of it
}

// limits returns the range in which a figure of ours is as printed.
func (f *Figure) limits() (low, high float64) {
	if f.Range != nil {
		return f.Range[0], f.Range[1]
	}
	margin := f.Margin * math.Abs(f.Value)
	return f.Value - margin, f.Value + margin
}

// printed returns the figure as a text has it.
func (f *Figure) printed() string {
	switch {
	case f.Range != nil:
		return words.Plain(f.Range[0]) + " to " + words.Plain(f.Range[1])
	case f.Among > 0:
		return tally{int(f.Value), f.Among}.String()
	case f.Value == math.Trunc(f.Value):
		return fmt.Sprintf("%.0f", f.Value)
	}
	return fmt.Sprintf("%.4g", f.Value)
}

// papers are the papers by problem.
var papers = map[model.Kind]*paper{
	model.KindBatch: batchPaper, model.KindDAG: dagPaper, model.KindReservation: reservationPaper, model.KindTVC: tvcPaper,
	model.KindVCSched: vcschedPaper,
}

// Printed returns a figure that the paper on a problem prints.
func Printed(kind model.Kind, name string) (Figure, error) {
	if p := papers[kind]; p != nil && p.Figures[name] != nil {
		return *p.Figures[name], nil
	}
	return Figure{}, fmt.Errorf("%w paper: that on %s prints no %q", model.ErrInvalid, kind, name)
}

// Table returns the rows of a table that the paper on a problem prints, as printed.
func Table(kind model.Kind, name string) ([][]string, error) {
	if p := papers[kind]; p != nil && p.Tables[name] != nil {
		return p.Tables[name], nil
	}
	return nil, fmt.Errorf("%w paper: that on %s prints no table %q", model.ErrInvalid, kind, name)
}

// apart leaves no statement held together with its contrary: both are undecided.
func apart(all []Finding) {
	for i := range all {
		f := &all[i]
		k := slices.IndexFunc(all, func(g Finding) bool { return f.contrary != "" && g.Text == f.contrary })
		if k < 0 || f.Verdict != Held || all[k].Verdict != Held {
			continue
		}
		for _, g := range []*Finding{f, &all[k]} {
			g.Verdict, g.Measured = Undecided, g.Measured+"; it holds beside its contrary"
		}
	}
}

// adjust adjusts the p of the findings for their number. A verdict that this leaves without
// evidence is undecided.
func adjust(all []Finding) {
	var p []float64
	for i := range all {
		p = append(p, all[i].P)
	}
	for i, x := range stats.Holm(p) {
		f := &all[i]
		if f.Holm, f.ByHolm = x, f.Verdict; f.P < level && x >= level {
			f.ByHolm = Undecided
		}
	}
}

// FindingsOf checks the findings of the paper on the records' problem over x: one
// parameter, or several that change together. An empty x means the paper's parameters if findings go over several, else
// all that vary.
//
// A finding compares runs in pairs: two algorithms on one instance, or one
// algorithm on one draw at two values of x. A comparison uses the 95 % confidence interval of the mean difference
// (Student's t over the draws, or over the instances if each is a draw of its own). It holds if the interval lies
// wholly on the paper's side, and doesn't hold if it lies wholly on the other side. It is tied if the two are equal in
// all draws, or the interval lies wholly within a margin that the paper's file states. It is undecided otherwise. A
// printed figure is met if the interval of ours lies wholly within the printed range, or a stated margin around the
// figure, isn't if it lies wholly outside. A printed count is met if Fisher's exact test doesn't distinguish it from
// ours.
//
// A finding about several comparisons holds if all hold; it doesn't if one doesn't,
// with Bonferroni's correction for their number (see judged). ByHolm is also given: the verdict with Holm's correction
// for all findings of one call, which a paper makes of one experiment.
//
// The error wraps model.ErrInvalid.
func FindingsOf(records []runs.Record, x []string) ([]Finding, error) {
	bad := func(err error) error { return fmt.Errorf("%w results: %w", model.ErrInvalid, err) }
	records, _, err := runs.Merge(records)
	if err != nil {
		return nil, err
	}
	if len(records) == 0 {
		return nil, bad(errors.New("there are none to check findings against"))
	}
	for i := range records {
		if err := records[0].Unlike(&records[i]); err != nil {
			return nil, bad(err)
		}
	}
	kind := records[0].Kind
	p := papers[kind]
	switch {
	case p == nil:
		return nil, bad(fmt.Errorf("there are no findings about %s; there are some about %q", kind, slices.Sorted(maps.Keys(papers))))
	case p.Own && len(x) > 0:
		return nil, bad(fmt.Errorf("findings about %s are over the paper's own parameters, give none; given are %q", kind, x))
	case !p.Own && len(x) == 0:
		if x = Varied(records); p.Over != nil {
			x = slices.DeleteFunc(x, func(one string) bool { return !slices.Contains(p.Over, one) })
		}
	}
	say, err := p.findings(records, x)
	if err != nil {
		return nil, bad(err)
	}
	return p.judge(say), nil
}

// Varied returns the generator parameters, without the draw, that have several
// values among the records, in alphabetical order.
func Varied(records []runs.Record) []string {
	first, varied := map[string]float64{}, map[string]bool{}
	for _, r := range records {
		for p, v := range r.Params {
			if _, known := first[p]; !known {
				first[p] = v
			}
			if first[p] != v && p != "draw" {
				varied[p] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(varied))
}
