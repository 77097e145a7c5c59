package report

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/runs"
	"github.com/gapwise/gapwise/internal/stats"
	"github.com/gapwise/gapwise/internal/words"
	"github.com/gapwise/gapwise/model"
)

// Options configure a page.
type Options struct {
	Title    string // empty: what it is about
	Pictures int    // most pictures of solutions
	// Assumed is what of the instances neither their files nor a platform tells; it stands
	// in the page's summary.
	Assumed string
}

// assumptions returns the beginning of a page's summary.
func (o Options) assumptions() []string {
	if o.Assumed == "" {
		return nil
	}
	return []string{words.Upper(o.Assumed) + "."}
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
	p := &page{Title: o.Title, Lead: o.assumptions()}
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

// summarise writes title, cards and lead of runs.
func (p *page) summarise(all []*part) {
	var records, notJudged []runs.Record
	judged := 0
	var plans, kinds, algorithms []string
	note := func(list *[]string, s string) {
		if s != "" && !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
	instances, optimal, statedOptimal, infeasible, failed, open, unknown := 0, 0, 0, 0, 0, 0, 0
	var gaps []float64
	var worst *instance
	for _, q := range all {
		note(&kinds, string(q.kind))
		for _, a := range q.algorithms {
			note(&algorithms, a)
		}
		for _, r := range q.runs {
			records = append(records, r.Record)
			if r.Judged {
				judged++
			} else {
				notJudged = append(notJudged, r.Record)
			}
			note(&plans, r.Plan)
			if r.failed() {
				failed++
			}
		}
		for _, i := range q.instances {
			instances++
			switch i.status() {
			case "optimal":
				optimal++
			case "stated optimal":
				statedOptimal++
			case "infeasible":
				infeasible++
			case "unknown":
				unknown++
			default:
				open++
			}
			if g := i.gap(); !math.IsNaN(g) && !math.IsInf(g, 0) {
				gaps = append(gaps, g)
				if worst == nil || g > worst.gap() {
					worst = i
				}
			}
		}
	}
	if p.Title == "" {
		p.Title = "Results of " + strings.Join(plans, ", ")
		if len(plans) == 0 {
			p.Title = "Results"
			if instances == 1 {
				p.Title = all[0].instances[0].name
			}
		}
	}
	builds := runs.Builds(records)
	p.Subtitle = fmt.Sprintf("%s · gapwise %s", words.And(kinds), words.And(builds))
	p.Cards = append(p.Cards, card{words.Short(float64(len(records)), 0), "runs"}, card{words.Short(float64(instances), 0), "instances"}, card{words.Short(float64(len(algorithms)), 0), "algorithms"},
		card{fmt.Sprintf("%s of %s", words.Short(float64(optimal), 0), words.Short(float64(instances), 0)), "proved optimal"})
	if infeasible > 0 {
		p.Cards = append(p.Cards, card{words.Short(float64(infeasible), 0), "proved infeasible"})
	}
	if len(gaps) > 0 {
		p.Cards = append(p.Cards, card{words.Percent(stats.Mean(gaps)) + " %", "mean gap of the best solutions"}, card{words.Percent(stats.Largest(gaps)) + " %", "worst gap of a best solution"})
	}
	p.Cards = append(p.Cards, card{words.Short(float64(failed), 0), "runs that failed"})
	p.Lead = append(p.Lead, fmt.Sprintf("%s of %s on %s of %s%s.", words.Plural(len(records), "run"), words.Plural(len(algorithms), "algorithm"), words.Plural(instances, "instance"), words.And(kinds), ofPlans(plans)))
	proved := fmt.Sprintf("An optimal solution is proved for %s", words.Plural(optimal, "instance"))
	if infeasible > 0 {
		proved += fmt.Sprintf(", %d %s proved to have no solution", infeasible, verb(infeasible))
	}
	if open > 0 {
		proved += fmt.Sprintf(", %d %s open: a solution is known and not proved optimal", open, verb(open))
	}
	if unknown > 0 {
		proved += fmt.Sprintf(", of %d neither a solution nor a proof is known", unknown)
	}
	p.Lead = append(p.Lead, proved+".")
	if statedOptimal > 0 {
		p.Lead = append(p.Lead, fmt.Sprintf("For %s the files state an optimum; this page takes their word for it.", words.Plural(statedOptimal, "instance")))
	}
	if worst != nil && worst.gap() > model.DefaultGap {
		p.Lead = append(p.Lead, fmt.Sprintf("The best solutions are %s %% from the best bounds on average and %s %% at worst, on %s (n = %d instances with a solution and a bound).",
			words.Percent(stats.Mean(gaps)), words.Percent(worst.gap()), worst.name, len(gaps)))
	}
	if failed > 0 {
		p.Lead = append(p.Lead, fmt.Sprintf("%s ended without a solution on instances that aren't proved infeasible.", words.Plural(failed, "run")))
	}
	if judged > 0 {
		p.Lead = append(p.Lead, fmt.Sprintf("The judge has verified %s of result files for this page; their bounds are as stated.", words.Plural(judged, "solution")))
	}
	for _, line := range runs.Vouched(notJudged) {
		p.Lead = append(p.Lead, words.Upper(line)+".")
	}
	if len(builds) > 1 {
		p.Lead = append(p.Lead, "The runs are of several builds of gapwise: their times may not be comparable.")
	}
}

func verb(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// ofPlans names the plans.
func ofPlans(plans []string) string {
	switch len(plans) {
	case 0:
		return ""
	case 1:
		return ", plan " + plans[0]
	}
	return ", plans " + words.And(plans)
}
