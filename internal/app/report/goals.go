// SPDX-License-Identifier: MIT

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// goal is a figure by which the policies of a queue can be compared.
type goal struct {
	name string // of --goal
	whatIfMeasure
}

// goals are those of batch; the first is the objective.
var goals = []goal{
	{"response", meanResponse},
	{"wait", meanWait},
	{"slowdown", whatIfMeasure{name: "mean bounded slowdown", values: func(c *whatIfCase) []float64 { return c.slowdowns }}},
	{"wait_p95", lateWait},
	{"makespan", whatIfMeasure{name: "makespan", unit: "s", percent: 100, values: func(c *whatIfCase) []float64 { return c.ends }}},
}

// Goals returns the names of the figures by which the policies of a batch queue can be ordered (Options.Goal).
func Goals() (names []string) {
	for _, g := range goals {
		names = append(names, g.name)
	}
	return names
}

// byGoals compares the online policies by all goals.
type byGoals struct {
	whatIf
	first  int         // the goal that orders them
	values [][]float64 // of each case and goal
	best   []int       // the best case of each goal
	tied   [][]bool    // cases that can't be told from the best of each goal
	beaten []string    // for each case a policy that is as good in all goals and better in one; "" for none
}

// compareGoals returns the comparison, the best by the goal first; nil without two policies. A policy ties with the best
// if the 95 % interval of their paired difference holds 0.
func (p *part) compareGoals(in *model.Batch, name string, seed uint64) (*byGoals, error) {
	x := &byGoals{first: max(0, slices.Index(Goals(), name))}
	for _, r := range p.runs {
		if r.Solution == nil || r.Class() != model.Online {
			continue
		}
		c := &whatIfCase{name: r.Algorithm, in: in, run: *r.Run}
		if err := c.measure(); err != nil {
			return nil, err
		}
		x.cases = append(x.cases, c)
	}
	if len(x.cases) < 2 {
		return nil, nil
	}
	slices.SortStableFunc(x.cases, func(a, b *whatIfCase) int {
		return cmp.Compare(goals[x.first].valueOf(a), goals[x.first].valueOf(b))
	})
	x.divide()
	x.draw(seed)
	for _, c := range x.cases {
		var row []float64
		for g := range goals {
			row = append(row, goals[g].valueOf(c))
		}
		x.values = append(x.values, row)
	}
	for g := range goals {
		best := 0
		for k := range x.values {
			if x.values[k][g] < x.values[best][g] {
				best = k
			}
		}
		x.best = append(x.best, best)
	}
	for k := range x.cases {
		x.tied = append(x.tied, make([]bool, len(goals)))
		for g := range goals {
			x.tied[k][g] = x.ties(k, g)
		}
		by := slices.IndexFunc(x.values, func(o []float64) bool { return dominates(o, x.values[k]) })
		if x.beaten = append(x.beaten, ""); by >= 0 {
			x.beaten[k] = x.cases[by].name
		}
	}
	return x, nil
}

// dominates reports whether a is nowhere above b, and somewhere below.
func dominates(a, b []float64) bool {
	below := false
	for k := range a {
		if a[k] > b[k] {
			return false
		}
		below = below || a[k] < b[k]
	}
	return below
}

// ties reports whether a case can't be told from the best of a goal: their values are equal, or the interval of their
// paired difference holds 0.
func (x *byGoals) ties(k, g int) bool {
	best := x.best[g]
	if k == best || x.values[k][g] == x.values[best][g] {
		return true
	}
	pair := whatIf{blocks: x.blocks, block: x.block, draws: x.draws, cases: []*whatIfCase{x.cases[best], x.cases[k]}}
	m := &goals[g].whatIfMeasure
	if m.percent == 100 { // the last job's end is no mean: to draw weeks tells nothing of it
		return false
	}
	low, high := pair.interval(m, x.cases[k])
	return low <= 0 && high >= 0
}

// lead tells the best policy by the chosen goal and by each other goal that has another.
func (x *byGoals) lead() string {
	g := x.first
	said := fmt.Sprintf("By %s the best policy is %s", goals[g].whatIfMeasure.name, x.winners(g))
	for o := range goals {
		if o != g && x.winners(o) != x.winners(g) {
			said += fmt.Sprintf("; by %s, %s", goals[o].whatIfMeasure.name, x.winners(o))
		}
	}
	var front []string
	for k, c := range x.cases {
		if x.beaten[k] == "" {
			front = append(front, c.name)
		}
	}
	return said + ". No policy beats " + words.Some(front, 6) + " in all of them."
}

// winners names the best policy of a goal, and those that tie with it.
func (x *byGoals) winners(g int) string {
	said := x.cases[x.best[g]].name
	var ties []string
	for k, c := range x.cases {
		if k != x.best[g] && x.tied[k][g] {
			ties = append(ties, c.name)
		}
	}
	if len(ties) > 0 {
		said += " (not told apart from it: " + words.Some(ties, 4) + ")"
	}
	return said
}

// section is the table of the policies and goals, and a picture of two of the goals.
func (x *byGoals) section() section {
	s := section{ID: "goals", Title: "Goals", Text: []string{
		"A star marks the best of each column, = a policy that can't be told from it: the values are equal, or the 95 % interval of their paired difference holds 0. " + x.intervalWords(),
		"Not beaten: no other policy is at least as good in all columns and better in one."}}
	t := &table{Caption: "Goals", Plain: true, Columns: []column{{Name: "policy"}}}
	for g := range goals {
		t.Columns = append(t.Columns, column{Name: goals[g].title(), Number: true})
	}
	t.Columns = append(t.Columns, column{Name: "not beaten", Help: "no other policy is as good in all columns and better in one"})
	for k, c := range x.cases {
		r := row{Cells: []cell{text(c.name)}}
		for g := range goals {
			mark := ""
			switch {
			case k == x.best[g]:
				mark = " *"
			case x.tied[k][g]:
				mark = " ="
			}
			r.Cells = append(r.Cells, number(x.values[k][g], shown(x.values[k][g])+mark))
		}
		front := "yes"
		if x.beaten[k] != "" {
			front = "by " + x.beaten[k]
		}
		t.Rows = append(t.Rows, row{Cells: append(r.Cells, text(front))})
	}
	c := &chart{name: "Mean wait and 95 % wait of each policy", x: axis{label: "mean wait (s)"}, y: axis{label: "95 % wait at most (s)"}}
	for k, o := range x.cases {
		v := curve{name: o.name, dots: true, bare: true, hue: k,
			points: []point{{x: x.values[k][1], y: x.values[k][3], title: shown(x.values[k][1]) + " s, " + shown(x.values[k][3]) + " s"}}}
		if x.beaten[k] == "" {
			v.name += " (not beaten)"
		}
		c.curves = append(c.curves, v)
	}
	s.Blocks = []block{{Table: t}}
	if !c.empty() && slices.ContainsFunc(x.values, func(v []float64) bool { return v[3] > 0 && !math.IsNaN(v[3]) }) {
		s.Blocks = append(s.Blocks, block{Figures: &figures{Charts: []figure{figureOf(c, "Each policy by its mean wait and the wait that 95 % of the jobs don't exceed: further left and lower is better.")}}})
	}
	return s
}
