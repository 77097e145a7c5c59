// SPDX-License-Identifier: MIT

package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/num/stats"
	"github.com/gapwise/gapwise/internal/text/words"
)

// page writes the page.
func (x *whatIf) page(w io.Writer, log *Log, o Options) error {
	today := x.cases[0]
	p := &page{Title: cmp.Or(o.Title, "What if: "+today.in.Name)}
	p.Subtitle = fmt.Sprintf("batch · %s jobs · today %s · gapwise %s", words.Short(float64(len(today.in.Jobs)), 0), today.words(), gapwise.Version)
	o.Tell(today.in)
	p.Lead = o.told()
	wait := &x.measures()[0]
	show := func(y float64) string { return shown(y) + " " + wait.unit }
	if x.log != nil {
		p.Cards = append(p.Cards, card{show(wait.valueOf(x.log)), "mean wait, by the log"})
		p.Lead = append(p.Lead, fmt.Sprintf("The jobs of the log waited %s in the mean, those of today's replay wait %s.", show(wait.valueOf(x.log)), show(wait.valueOf(today))))
		if far := x.farWords(); far != "" {
			p.Lead = append(p.Lead, far)
		}
	}
	p.Cards = append(p.Cards, card{show(wait.valueOf(today)), "mean wait, today"})
	for _, c := range x.cases[1:] {
		p.Cards = append(p.Cards, card{show(wait.valueOf(c)), "mean wait, " + c.name})
		p.Lead = append(p.Lead, x.sentence(wait, c))
	}
	verified := 0
	all := x.all()
	for _, c := range all {
		for _, r := range []*Run{&c.run, &c.seer} {
			if r.Verified {
				verified++
			}
		}
	}
	p.Lead = append(p.Lead, fmt.Sprintf("The judge, which shares no code with the schedulers, has verified %d of %s.", verified, words.Plural(2*len(all), "solution")))
	p.Sections = []section{x.comparison(), x.ground(), x.overWeeks()}
	for _, by := range []string{"size", "resource", "partition", "queue", "user"} {
		s, err := x.classes(by)
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, s)
	}
	if log != nil && log.Command != "" {
		p.Sections = append(p.Sections, section{ID: "again", Title: "Run it again", Blocks: []block{{Words: "Makes the instance of the log:", Command: log.Command}}})
	}
	if len(x.left) > 0 {
		p.Left = append(p.Left, x.leftWords())
	}
	return p.write(w)
}

// leftWords names the changes that have no case.
func (x *whatIf) leftWords() string {
	return "What the command was stopped before: " + strings.Join(x.left, "; ") + "."
}

// all returns the cases, and the log's own scheduler at the end.
func (x *whatIf) all() []*whatIfCase {
	if x.log == nil {
		return x.cases
	}
	return append(slices.Clip(x.cases), x.log)
}

// sentence describes the effect of a change on a measure.
func (x *whatIf) sentence(m *whatIfMeasure, c *whatIfCase) string {
	before, after := m.valueOf(x.cases[0]), m.valueOf(c)
	show := func(y float64) string { return shown(y) + " " + m.unit }
	said := fmt.Sprintf("With %s the %s is %s for %s", c.name, m.name, show(after), show(before))
	if before > 0 {
		said += fmt.Sprintf(" (%s %%)", signed(100*(after-before)/before))
	}
	if low, high := x.interval(m, c); !math.IsNaN(low) {
		said += fmt.Sprintf("; the difference is between %s and %s in 95 %% of resampled %ss", show(low), show(high), x.block)
		if low <= 0 && high >= 0 {
			said += ", so that it may be the " + x.block + "s' alone"
		}
	}
	if off := x.off(m); !math.IsNaN(off) {
		said += "; the error of today is " + signed(off) + " " + m.unit
	}
	return said + "."
}

// comparison is the table of measures, a column for each case.
func (x *whatIf) comparison() section {
	s := section{ID: "what-if", Title: "What if", Text: []string{x.intervalWords(), x.groundWords(), x.measureWords()}}
	t := &table{Caption: "What if", Plain: true, Columns: []column{{Name: "figure"}}}
	if x.log != nil {
		t.Columns = append(t.Columns, column{gapwise.LogAlgorithm, "the log's own scheduler", true}, column{"error", "of today, less the log's, where nothing is fitted; of the whole machine: throughout", true})
	}
	t.Columns = append(t.Columns, column{"today", x.cases[0].words(), true})
	for k, c := range x.cases[1:] {
		s.Text = append(s.Text, fmt.Sprintf("%s: %s: %s.", letter(k+1), c.name, c.words()))
		t.Columns = append(t.Columns, column{letter(k + 1), c.words(), true}, column{"change", "less today's; in brackets the 95 % interval", true})
	}
	s.Text = append(s.Text, x.costWords()...)
	measures := x.measures()
	for i := range measures {
		m := &measures[i]
		before := m.valueOf(x.cases[0])
		r := row{Cells: []cell{text(m.title())}}
		if x.log != nil {
			y, off := m.valueOf(x.log), x.off(m)
			r.Cells = append(r.Cells, number(y, shown(y)), number(off, signed(off)))
		}
		r.Cells = append(r.Cells, number(before, shown(before)))
		for _, c := range x.cases[1:] {
			after := m.valueOf(c)
			change := x.changeWords(m, after-before)
			if low, high := x.interval(m, c); !math.IsNaN(low) {
				change += fmt.Sprintf(" [%s, %s]", signed(low), signed(high))
			}
			r.Cells = append(r.Cells, number(after, shown(after)), number(after-before, change))
		}
		t.Rows = append(t.Rows, r)
	}
	for _, f := range []struct {
		name string
		of   func(*whatIfCase) float64
	}{{seerName, func(c *whatIfCase) float64 { return *c.seer.Objective / x.seconds }}, {boundName, func(c *whatIfCase) float64 { return c.bound() / x.seconds }}} {
		before := f.of(x.cases[0])
		r := row{Cells: []cell{text(f.name + " (" + x.unit + "), yardstick")}}
		if x.log != nil {
			r.Cells = append(r.Cells, text(""), text(""))
		}
		r.Cells = append(r.Cells, number(before, shown(before)))
		for _, c := range x.cases[1:] {
			r.Cells = append(r.Cells, number(f.of(c), shown(f.of(c))), number(f.of(c)-before, signed(f.of(c)-before)))
		}
		t.Rows = append(t.Rows, r)
	}
	last := row{Cells: []cell{text(provedName + " (" + x.unit + ")"), text("")}}
	if x.log != nil {
		last.Cells = append(last.Cells, text(""), text(""))
	}
	for _, c := range x.cases[1:] {
		low, _ := x.proved(c)
		last.Cells = append(last.Cells, text(""), number(low, x.provedWords(c)))
	}
	t.Rows = append(t.Rows, last)
	s.Blocks = []block{{Table: t}}
	return s
}

// ground is the picture of policies between bound and clairvoyant.
func (x *whatIf) ground() section {
	r := &ranking{name: "Mean response of each what-if, between the bound and what not knowing costs", axis: axis{label: "mean response (" + x.unit + ")"}, bound: math.NaN()}
	if x.log != nil {
		y := *x.log.run.Objective / x.seconds
		r.rows = append(r.rows, rank{"its scheduler", y, shown(y), hues - 1, "the log"})
	}
	for k, c := range x.cases {
		group := c.name
		for i, y := range []struct {
			name string
			x    float64
		}{{c.Policy, *c.run.Objective}, {"clairvoyant", *c.seer.Objective}, {"bound", c.bound()}} {
			hue := k
			if i > 0 {
				hue = hues - 3 + i
			}
			r.rows = append(r.rows, rank{y.name, y.x / x.seconds, shown(y.x / x.seconds), hue, group})
		}
	}
	return section{ID: "ground", Title: "Between bound and clairvoyant", Blocks: []block{{Figures: &figures{Charts: []figure{{SVG: r.svg(), Wide: true,
		Caption: "Mean response of the policy, of the best schedule that is known, and the bound, which no schedule beats. No policy can count on reaching the clairvoyant's."}}}}}}
}

// overWeeks draws the mean wait of the jobs submitted in each block of time.
func (x *whatIf) overWeeks() section {
	s := section{ID: "weeks", Title: "Over time"}
	if x.block == "" {
		return s
	}
	today := x.cases[0].in
	at, scale := timeAxis(today, today.Jobs[len(today.Jobs)-1].SubmitS)
	c := &chart{name: "Mean wait of the jobs submitted in each " + x.block, x: at, y: axis{label: "mean wait (" + x.unit + ")"}, wide: true, zero: true}
	for k, a := range x.all() {
		v := curve{name: a.name, step: true, hue: k}
		for _, some := range x.blocks {
			var waits []float64
			for _, j := range some {
				waits = append(waits, a.waits[j]/x.seconds)
			}
			v.points = append(v.points, point{x: today.Jobs[some[0]].SubmitS / scale, y: stats.Mean(waits)})
		}
		c.curves = append(c.curves, v)
	}
	s.Blocks = []block{{Figures: &figures{Charts: []figure{figureOf(c, fmt.Sprintf("Mean wait of the jobs submitted in each %s of the log (n = %d). Click a name to show or hide its curve.", x.block, len(x.blocks)))}}}}
	return s
}

// classes is the table of the gains and losses of classes of jobs.
func (x *whatIf) classes(by string) (section, error) {
	var all []runs.Solved
	for k, c := range x.all() {
		r := c.run.Record
		r.Algorithm, r.Options, r.Run = c.name, "algorithm="+c.Policy, k+1 // in this order
		all = append(all, runs.Solved{Record: &r, Instance: c.in, Solution: c.run.Solution})
	}
	s, err := byJobs(by, "what if", all)
	if x.log != nil && len(s.Blocks) > 0 {
		s.Text = []string{"No error of today is known of a class by itself; the rows of the log's own scheduler stand beside."}
	}
	return s, err
}
