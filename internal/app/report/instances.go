// SPDX-License-Identifier: MIT

package report

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/num/stats"
	"github.com/gapwise/gapwise/internal/run/process"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Limits of the page, which has to open: instances that are listed, runs in their
// tables, bytes of pictures.
const (
	mostInstances = 2000
	mostListed    = 12_000
	mostPicture   = 1 << 20
	largeSVG      = 300 << 10 // from here on a PNG may be smaller
	mostPictures  = 12 << 20
)

// pictures draws solutions until there are enough of them.
type pictures struct {
	left, bytes     int
	without, larger int // solutions left out
	stopped         int // left out as the context ended
}

// draw draws the solution of a run, with the bound. It returns nil, and counts, where
// there is no picture of the problem or no room.
func (d *pictures) draw(ctx context.Context, r *run, alt, caption string) (*picture, error) {
	in, s := r.Instance, r.Solution
	if in == nil || s == nil {
		return nil, nil
	}
	if d.left <= 0 {
		d.without++
		return nil, nil
	}
	problem, err := gapwise.ProblemOf(in.Kind())
	if err != nil || len(problem.Gantt) == 0 {
		return nil, err
	}
	shown, err := problem.Pictured(ctx, in, s)
	if ctx.Err() != nil {
		d.stopped++
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var frames []draw.Frame
	for _, x := range shown {
		frames = append(frames, draw.Frame{Instance: x.Instance, Solution: x.Solution, Arrived: x.Arrived, Label: x.Label})
	}
	o := draw.Options{Style: draw.Style{Format: "svg"}, By: r.Algorithm}
	if bound := r.on.Bound; !math.IsNaN(bound) && !r.on.Stated {
		o.Bound = &bound
	}
	var b bytes.Buffer
	kind := "svg+xml"
	err = draw.Solution(&b, o, frames)
	if err == nil && b.Len() > largeSVG {
		var png bytes.Buffer
		o.Format = "png"
		if err = draw.Solution(&png, o, frames); err == nil && png.Len() < b.Len() {
			b, kind = png, "png"
		}
	}
	switch {
	case errors.Is(err, model.ErrUnsupported):
		d.without++
		return nil, nil
	case err != nil:
		return nil, err
	case b.Len() > mostPicture || d.bytes+b.Len() > mostPictures:
		d.larger++
		return nil, nil
	}
	d.left--
	d.bytes += b.Len()
	return newPicture(kind, b.Bytes(), alt, caption), nil
}

// words states what the pictures leave out.
func (d *pictures) words() (all []string) {
	if d.without > 0 {
		all = append(all, fmt.Sprintf("Pictures of %s: more than the page holds (--pictures), or more in them than can be drawn.", words.Plural(d.without, "solution")))
	}
	if d.larger > 0 {
		all = append(all, fmt.Sprintf("Pictures of %s, too large for the page: gapwise gantt draws each.", words.Plural(d.larger, "solution")))
	}
	if d.stopped > 0 {
		all = append(all, fmt.Sprintf("Pictures of %s: the command was stopped before.", words.Plural(d.stopped, "solution")))
	}
	return all
}

// listed makes the list of the instances, with the largest gaps first.
func listed(ctx context.Context, all []*part, d *pictures) (s section, left []string, err error) {
	s = section{ID: "instances", Title: "Instances", Text: []string{"Each opens to its runs, the command that runs it again and, where the solution is kept, its picture."}}
	list := &items{Columns: []itemColumn{{Name: "kind", Minor: true}, {Name: "status"}, {Name: "best", Number: true}, {Name: "bound", Number: true, Minor: true},
		{Name: "gap (%)", Number: true}, {Name: "by", Help: "algorithm of the best solution", Minor: true}, {Name: "time", Help: "of the longest run", Number: true, Minor: true}}}
	type entry struct {
		p *part
		i *instance
	}
	var entries []entry
	var kinds, statuses []string
	for _, p := range all {
		byName(p.instances)
		for _, i := range p.instances {
			entries = append(entries, entry{p, i})
		}
		if !slices.Contains(kinds, string(p.kind)) {
			kinds = append(kinds, string(p.kind))
		}
	}
	urgency := func(i *instance) float64 { // no solution first, then no bound, then by gap
		switch gap := i.gap(); {
		case i.Infeasible:
			return -1
		case math.IsNaN(i.Best):
			return math.Inf(1)
		case math.IsNaN(gap):
			return 1e300
		default:
			return min(gap, 1e299)
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(urgency(b.i), urgency(a.i)) })
	if n := len(entries); n > mostInstances {
		left = append(left, fmt.Sprintf("%d of %d instances are not listed: those with the smallest gaps. All count in tables and charts.", n-mostInstances, n))
		entries = entries[:mostInstances]
	}
	runs := 0
	short := 0
	for _, e := range entries {
		p, i := e.p, e.i
		status := i.status()
		if !slices.Contains(statuses, status) {
			statuses = append(statuses, status)
		}
		gap, longest := i.gap(), stats.Largest(values(i.runs, func(r *run) float64 { return r.ElapsedS }))
		it := item{Name: cmp.Or(i.Name, "(no name)"), Values: []string{string(p.kind), status}}
		best, by := "–", "–"
		if i.bestRun() != nil {
			best, by = words.Precise(i.Best), i.bestRun().Algorithm
		}
		it.Cells = []cell{text(string(p.kind)), text(status), number(i.Best, best), number(i.Bound, words.Precise(i.Bound)), number(gap, words.Percent(gap)), text(by), number(longest, words.Duration(longest))}
		it.Words = i.describe(p)
		if runs < mostListed {
			it.Runs = i.table(p)
			runs += len(i.runs)
		} else {
			short++
		}
		if r := i.drawn(); r != nil && r.Solution == nil && d.left > 0 {
			if r.Instance, r.Solution, err = r.Load(ctx); err != nil {
				left = append(left, fmt.Sprintf("The picture of %s: %v.", i.Name, err))
				err = nil
			}
		} else if r != nil && r.Solution == nil {
			d.without++
		}
		if r := i.drawn(); r != nil && r.Solution != nil {
			alt := fmt.Sprintf("Picture of the solution of %s by %s", i.Name, r.Algorithm)
			if it.Picture, err = d.draw(ctx, r, alt, fmt.Sprintf("Solution by %s, %s %s.", r.Algorithm, p.first.Name, withUnit(r.objective(), p.first.Unit))); err != nil {
				return s, nil, err
			}
		}
		it.Commands = i.commands()
		list.All = append(list.All, it)
	}
	if short > 0 {
		left = append(left, fmt.Sprintf("The single runs of %d instances.", short))
	}
	list.Choices = []choice{{Name: "Kind", Values: kinds}, {Name: "Status", Index: 1, Values: statuses}}
	if len(list.All) > 0 {
		s.Blocks = []block{{Items: list}}
	}
	return s, left, nil
}

// status states the knowledge of the instance.
func (i *instance) status() string {
	switch {
	case i.Infeasible:
		return "infeasible"
	case i.closed() && i.Stated:
		return "stated optimal"
	case i.closed():
		return "optimal"
	case math.IsNaN(i.Best):
		return "unknown"
	}
	return "open"
}

// drawn returns the run with the solution to draw: the best that is at hand.
func (i *instance) drawn() *run {
	var best *run
	for _, r := range i.runs {
		if (r.Instance != nil && r.Solution != nil || r.Load != nil) && r.Objective != nil && (best == nil || i.Sense.Better(r.objective(), best.objective())) {
			best = r
		}
	}
	return best
}

func withUnit(x float64, unit string) string {
	if unit == "" {
		return words.Precise(x)
	}
	return words.Precise(x) + " " + unit
}

// describe puts that knowledge in words.
func (i *instance) describe(p *part) (all []string) {
	if len(i.params) > 0 {
		var params []string
		for _, key := range slices.Sorted(maps.Keys(i.params)) {
			params = append(params, key+" "+words.Tidy(i.params[key]))
		}
		all = append(all, "Parameters: "+strings.Join(params, ", ")+".")
	}
	said := ""
	switch {
	case i.Infeasible:
		all = append(all, "Proved infeasible.")
	case !math.IsNaN(i.Bound):
		if i.Stated {
			said = ", as a file states it and nobody has checked"
		}
		all = append(all, fmt.Sprintf("Bound on the %s: %s, no solution is better (run by %s%s).", p.first.Name, withUnit(i.Bound, p.first.Unit), i.BoundBy, said))
	}
	return all
}

// table lists the runs.
func (i *instance) table(p *part) *table {
	unit, seconds := words.UnitFor(values(i.runs, func(r *run) float64 { return r.ElapsedS }))
	columns := slices.Concat([]measure{byAlgorithm}, p.group(), []measure{
		single("status", "", false, func(r *run) cell { return text(r.status()) }),
		single(p.first.String(), "objective", true, func(r *run) cell { return figureCell(r.objective()) }),
		single(p.second.String(), "what breaks ties", true, func(r *run) cell { return figureCell(runs.Number(r.Second)) }),
		single("bound", "that the run itself has", true, func(r *run) cell { return figureCell(runs.Number(r.Bound)) }),
		single("gap (%)", "to the best bound of all runs", true, func(r *run) cell { return share(r.gap()) }),
		single("time ("+unit+")", "", true, func(r *run) cell { return number(r.ElapsedS, words.Three(r.ElapsedS/seconds)) }),
		single("nodes", "", true, func(r *run) cell { return count(int(r.Nodes)) }),
		single("seed", "", true, func(r *run) cell { return text(fmt.Sprint(r.Seed)) }),
		single("checked", "", false, func(r *run) cell {
			switch {
			case r.Objective == nil:
				return text("–")
			case r.Judged:
				return text("verified now")
			case !(r.Sealed && r.Verified):
				return text("stated")
			}
			return text("verified")
		})})
	t := &table{Caption: "Runs", Plain: true, Columns: columnsOf(columns)}
	for _, r := range i.runs {
		t.Rows = append(t.Rows, row{Cells: cellsOf(columns, []*run{r})})
	}
	return t
}

// commands returns the command lines that run the instance again: its best run, or the
// plan on this instance alone.
func (i *instance) commands() []string {
	r := i.bestRun()
	if r == nil {
		r = i.runs[0]
	}
	return []string{Command(&r.Record)}
}

// FileOf returns the file in which the page expects an instance: its name, with .json unless it is a file's name
// already.
func FileOf(instance string) string {
	name := strings.TrimSuffix(strings.ToLower(instance), ".gz")
	for _, ending := range []string{".json", ".dot", ".gv", ".stg", ".vbp", ".mvp"} {
		if strings.HasSuffix(name, ending) {
			return instance
		}
	}
	return instance + ".json"
}

// Command returns the command line that runs a record's algorithm again on its
// instance: gapwise solve for a file, for an instance that a plan makes gapwise bench
// with the plan, on this instance alone.
func Command(r *runs.Record) string {
	file := func(name string) string { // no option
		if strings.HasPrefix(name, "-") {
			return "./" + name
		}
		return name
	}
	name := FileOf(r.Instance)
	if r.Plan != "" && name != r.Instance {
		plan := r.Plan
		if !slices.Contains(benchmarks.Names(), plan) {
			plan += ".yaml"
		}
		return process.Quote("gapwise", "bench", file(plan), "--instances", "^"+regexp.QuoteMeta(r.Instance)+"$", "-o", "again.jsonl")
	}
	args := []string{"gapwise", "solve", "--algorithm", r.Algorithm}
	for _, option := range strings.Fields(r.Options) {
		key, value, _ := strings.Cut(option, "=")
		if key == "algorithm" {
			args[3] = value
			continue
		}
		args = append(args, "--"+strings.ReplaceAll(key, "_", "-"), value)
	}
	for _, key := range slices.Sorted(maps.Keys(r.Variants)) {
		args = append(args, "--"+key, r.Variants[key])
	}
	return process.Quote(append(args, "--seed", fmt.Sprint(r.Seed), file(name))...)
}
