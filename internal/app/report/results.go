// SPDX-License-Identifier: MIT

package report

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/num/stats"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Options configure a page.
type Options struct {
	Title    string // empty: the page's subject
	Pictures int    // most pictures of solutions
	// Goal orders the policies of a batch queue, one of Goals; "": the mean response.
	Goal string
	// Told holds the accounts of the instances' files, a line each; they begin the page's summary.
	Told []string
	// Date is when the page is of, in words; empty: it isn't told.
	Date string
}

// dated returns the date as a part of a subtitle.
func (o Options) dated() string {
	if o.Date == "" {
		return ""
	}
	return o.Date + " · "
}

// told returns the beginning of a page's summary.
func (o Options) told() (all []string) {
	for _, line := range o.Told {
		all = append(all, line+".")
	}
	return all
}

// Tell adds the account of an instance's files to a page.
func (o *Options) Tell(in model.Instance) {
	account := model.AccountOf(in)
	for k, line := range account.Lines() {
		if k >= len(account.Files) { // the first lines begin with the names of files
			line = words.Upper(line)
		}
		if !slices.Contains(o.Told, line) {
			o.Told = append(o.Told, line)
		}
	}
}

// DefaultPictures is how many solutions are drawn unless another number is asked for.
const DefaultPictures = 24

// Results writes the page of some runs. The result depends on them and the options
// alone. The error wraps model.ErrInvalid if runs contradict each other.
func Results(ctx context.Context, w io.Writer, runs []Run, o Options) error {
	if len(runs) == 0 {
		return fmt.Errorf("report: %w: there are no results", model.ErrInvalid)
	}
	all, notes, err := parts(runs)
	if err != nil {
		return err
	}
	p := &page{Title: o.Title, Lead: o.told()}
	p.summarise(all)
	p.Sections = append(p.Sections, gapTables(all), parameterCurves(all), profiles(all), overTime(all), growth(all))
	d := &pictures{left: o.Pictures}
	s, left, err := listed(ctx, all, d)
	if err != nil {
		return err
	}
	p.Sections = append(p.Sections, s)
	p.Left = slices.Concat(left, d.words(), notes)
	return p.write(w)
}

// totals is the content of a page's summary of runs.
type totals struct {
	Records                          []runs.Record
	Kinds, Algorithms, Plans, Builds []string
	Instances, Failed, Judged        int
	Status                           map[string]int // instances by instance.status
	Gaps                             []float64      // of the best solutions
	Worst                            *instance      // with the largest gap; nil: there is no gap
	Mean, WorstGap, Closed           float64
	Vouched                          []string
}

func totalsOf(all []*part) *totals {
	s := &totals{Status: map[string]int{}, Closed: model.DefaultGap}
	var notJudged []runs.Record
	note := func(list *[]string, text string) {
		if text != "" && !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	for _, q := range all {
		note(&s.Kinds, string(q.kind))
		for _, a := range q.algorithms {
			note(&s.Algorithms, a)
		}
		for _, r := range q.runs {
			s.Records = append(s.Records, r.Record)
			if r.Judged {
				s.Judged++
			} else {
				notJudged = append(notJudged, r.Record)
			}
			note(&s.Plans, r.Plan)
			if r.failed() {
				s.Failed++
			}
		}
		for _, i := range q.instances {
			s.Instances++
			s.Status[i.status()]++
			if g := i.gap(); !math.IsNaN(g) && !math.IsInf(g, 0) {
				s.Gaps = append(s.Gaps, g)
				if s.Worst == nil || g > s.WorstGap {
					s.Worst, s.WorstGap = i, g
				}
			}
		}
	}
	s.Mean, s.Builds = stats.Mean(s.Gaps), runs.Builds(s.Records)
	for _, line := range runs.Vouched(notJudged) {
		s.Vouched = append(s.Vouched, words.Upper(line))
	}
	return s
}

// lead puts the results of the runs in words.
func (s *totals) lead() []string {
	first := fmt.Sprintf("%s of %s on %s of %s", words.Plural(len(s.Records), "run"), words.Plural(len(s.Algorithms), "algorithm"),
		words.Plural(s.Instances, "instance"), words.And(s.Kinds))
	if n := len(s.Plans); n == 1 {
		first += ", plan " + s.Plans[0]
	} else if n > 1 {
		first += ", plans " + words.And(s.Plans)
	}
	all := []string{first + "."}
	if len(s.Status) > 0 {
		proved := fmt.Sprintf("An optimal solution is proved for %s", words.Plural(s.Status["optimal"], "instance"))
		if stated := s.Status["stated optimal"]; stated > 0 && s.Status["optimal"] == 0 {
			proved = fmt.Sprintf("What is stated as optimal of %s isn't re-checked here", words.Plural(stated, "instance"))
		}
		if n := s.Status["infeasible"]; n > 0 {
			proved += fmt.Sprintf(", %d %s proved to have no solution", n, verb(n))
		}
		if n := s.Status["open"]; n > 0 {
			proved += fmt.Sprintf(", %d %s open: a solution is known and not proved optimal", n, verb(n))
		}
		if n := s.Status["unknown"]; n > 0 {
			proved += fmt.Sprintf(", of %d neither a solution nor a proof is known", n)
		}
		all = append(all, proved+".")
	}
	if n := s.Status["stated optimal"]; n > 0 {
		all = append(all, fmt.Sprintf("For %s the files state an optimum; this page takes their word for it.", words.Plural(n, "instance")))
	}
	if s.WorstGap > s.Closed {
		all = append(all, fmt.Sprintf("The best solutions are %s %% from the best bounds on average and %s %% at worst, on %s (n = %d instances with a solution and a bound).",
			words.Percent(s.Mean), words.Percent(s.WorstGap), s.Worst.Name, len(s.Gaps)))
	}
	if s.Failed > 0 {
		all = append(all, words.Plural(s.Failed, "run")+" ended without a solution on instances that aren't proved infeasible.")
	}
	if s.Judged > 0 {
		all = append(all, "The judge has verified "+words.Plural(s.Judged, "solution")+" of result files for this page; their bounds are as stated.")
	}
	for _, line := range s.Vouched {
		all = append(all, line+".")
	}
	if len(s.Builds) > 1 {
		all = append(all, "The runs are of several builds of gapwise: their times may not be comparable.")
	}
	return all
}

// summarise writes title, cards and lead of runs.
func (p *page) summarise(all []*part) {
	s := totalsOf(all)
	if p.Title == "" {
		p.Title = "Results of " + strings.Join(s.Plans, ", ")
		if len(s.Plans) == 0 {
			p.Title = "Results"
			if s.Instances == 1 {
				p.Title = all[0].instances[0].Name
			}
		}
	}
	p.Subtitle = fmt.Sprintf("%s · gapwise %s", words.And(s.Kinds), words.And(s.Builds))
	count := func(n int) string { return words.Short(float64(n), 0) }
	proved := card{count(s.Status["optimal"]) + " of " + count(s.Instances), "proved optimal"}
	if n := s.Status["stated optimal"]; n > 0 {
		proved = card{count(n) + " of " + count(s.Instances), "stated optimal, not re-checked here"}
		if k := s.Status["optimal"]; k > 0 {
			proved.Label += "; " + count(k) + " proved"
		}
	}
	p.Cards = append(p.Cards, card{count(len(s.Records)), "runs"}, card{count(s.Instances), "instances"}, card{count(len(s.Algorithms)), "algorithms"},
		proved)
	if n := s.Status["infeasible"]; n > 0 {
		p.Cards = append(p.Cards, card{count(n), "proved infeasible"})
	}
	if s.Worst != nil {
		p.Cards = append(p.Cards, card{words.Percent(s.Mean) + " %", "mean gap of the best solutions"}, card{words.Percent(s.WorstGap) + " %", "worst gap of a best solution"})
	}
	p.Cards = append(p.Cards, card{count(s.Failed), "runs that failed"})
	p.Lead = append(p.Lead, s.lead()...)
}

func verb(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
