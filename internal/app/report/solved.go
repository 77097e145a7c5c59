// SPDX-License-Identifier: MIT

package report

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Log describes the log that an instance was made of.
type Log struct {
	Name    string
	Command string // that makes the instance, in the file FileOf(the instance's name)
	// Ran is how the log's own scheduler ran the jobs, nil if it isn't known; then Unran tells why, or is "" if the
	// instance isn't of the log's own machine.
	Ran   *model.Execution
	Unran string
}

// Instance solves an instance by all heuristics and auto, and writes the page of the results. Log is nil for an
// instance that is of no log.
func Instance(ctx context.Context, w io.Writer, in model.Instance, log *Log, s Solving, o Options) error {
	found, err := s.solve(ctx, in, log)
	if err != nil {
		return err
	}
	all, _, err := parts(found.runs)
	if err != nil {
		return err
	}
	q, i := all[0], all[0].instances[0]
	i.Tighten(found.bounds)
	// The best algorithms of each class come first, and have the first colours.
	slices.SortStableFunc(q.runs, func(a, b *run) int {
		return cmp.Or(cmp.Compare(q.rankOf(a.Algorithm), q.rankOf(b.Algorithm)), q.compare(a.objective(), b.objective()))
	})
	for k, r := range q.runs {
		q.algorithms[k] = r.Algorithm
	}
	p := &page{Title: cmp.Or(o.Title, in.ID(), "Instance")}
	o.Tell(in)
	p.Lead = o.told()
	q.lead(p, found, log)
	batch, ok := in.(*model.Batch)
	var goals *byGoals
	if ok && batch.Tiers == 1 {
		if goals, err = q.compareGoals(batch, o.Goal, s.Seed); err != nil {
			return err
		}
	}
	if goals != nil {
		p.Lead = append(p.Lead, goals.lead())
	}
	for _, line := range p.Lead[len(o.Told):] {
		s.say("%s", line)
	}
	usages := q.usages(found)
	d := &pictures{left: o.Pictures}
	comparison := q.comparison(found, usages)
	over := overTime(all)
	if log != nil { // policies don't improve anything while they run
		comparison.Title, over = "Policies", section{}
	}
	picture, err := q.best(ctx, d)
	if err != nil {
		return err
	}
	p.Sections = append(p.Sections, comparison)
	if goals != nil {
		p.Sections = append(p.Sections, goals.section())
	}
	if ok && log != nil {
		for _, by := range []string{"size", "resource", "partition", "queue", "user"} {
			s, err := byJobs(by, "algorithm", q.solved())
			if err != nil {
				return err
			}
			p.Sections = append(p.Sections, s)
		}
	}
	p.Sections = append(p.Sections, q.overLog(usages), picture, over, q.boundTable(found), q.again(found, log), q.figures(found))
	if found.cut {
		p.Left = append(p.Left, "Algorithms that didn't run: the command was stopped before.")
	}
	p.Left = append(p.Left, d.words()...)
	return p.write(w)
}

// solved returns the runs of the best algorithms of each class that have solutions, at most four online: of sixteen the
// tables of jobs would be long. The log's own is among them.
func (p *part) solved() (all []runs.Solved) {
	taken := map[model.Class]int{}
	for k, r := range p.runs {
		class := p.class[r.Algorithm]
		most := 1
		if class == model.Online {
			most = 4
		}
		log := r.Algorithm == gapwise.LogAlgorithm
		if r.Solution != nil && (log || taken[class] < most) {
			if !log {
				taken[class]++
			}
			rec := r.Record
			rec.Run = k + 1 // in this order
			all = append(all, runs.Solved{Record: &rec, Instance: r.Instance, Solution: r.Solution})
		}
	}
	return all
}

// instanceLead is the text of a page about an instance. Seer is the best algorithm that sees the whole instance, and
// Best the best policy. Regret is by how much Seer is better, as a share of the policy's value; gaps are shares of it,
// too.
type instanceLead struct {
	Ran                                      string // of the log's own scheduler: its value and by how much Best is better
	Overrun, Best, Seer, Measure, Time       string
	Value, SeerValue, Regret, Bound, BoundBy string
	Gap, OwnGap                              string
	Ties                                     []string // others of Best's class
	Infeasible, Closed                       bool
	Policies, Algorithms                     int
	Verified, Solutions                      int
}

// words returns the page's text, a paragraph each.
func (x *instanceLead) words() []string {
	var all []string
	if x.Overrun != "" {
		all = append(all, x.Overrun)
	}
	if all = append(all, x.best()); x.Ran != "" {
		all = append(all, x.Ran)
	}
	return append(all, fmt.Sprintf("The judge, which shares no code with the solvers, has verified %d of %s.", x.Verified, words.Plural(x.Solutions, "solution")))
}

// best returns the page's text on the best solution.
func (x *instanceLead) best() string {
	bound := fmt.Sprintf("the bound %s (%s)", x.Bound, x.BoundBy)
	switch {
	case x.Infeasible:
		return "The instance is proved to have no solution."
	case x.Best == "":
		return "No algorithm found a solution, and none is proved not to exist."
	case x.Seer == "":
		said := fmt.Sprintf("The best of %s is %s: %s %s, found in %s.%s", words.Plural(x.Algorithms, "algorithm"), x.Best, x.Measure, x.Value, x.Time, x.tied())
		if x.Closed {
			said += " It is optimal: no solution is better than " + bound + "."
		} else if x.Bound != "" {
			said += fmt.Sprintf(" No solution is better than %s, so it is at most %s %% of its value from the optimum.", bound, x.Gap)
		}
		return said
	}
	policies := words.Plural(x.Policies, "policy")
	said := fmt.Sprintf("The best of %s is %s: %s %s.%s They decide with what is known at that time.", policies, x.Best, x.Measure, x.Value, x.tied())
	if x.Regret != "" {
		said += fmt.Sprintf(" The best algorithm that sees the whole instance is %s: %s. So the best policy's regret is %s %% of its value.", x.Seer, x.SeerValue, x.Regret)
	} else {
		said += " No algorithm that sees the whole instance found a better solution."
	}
	if x.Closed {
		said += " The best solution of all is optimal: no solution is better than " + bound + "."
	} else if x.Bound != "" {
		said += fmt.Sprintf(" No solution is better than %s: of its value, the best policy is at most %s %% from the optimum, the best of all %s %%.", bound, x.OwnGap, x.Gap)
	}
	return said
}

// tied names the algorithms that are as good as the best, up to noise.
func (x *instanceLead) tied() string {
	if len(x.Ties) == 0 {
		return ""
	}
	return fmt.Sprintf(" Tied with it, less than %s %% apart: %s.", words.Percent(noise), words.Some(x.Ties, 5))
}

// noise is the difference, as a share of the better value, below which one is no better: another log of the same
// machine turns it round.
const noise = 0.001

// lead writes the summary of an instance.
func (p *part) lead(to *page, found *solved, log *Log) {
	i := p.instances[0]
	for k, f := range runs.Features(found.in) {
		if k < 2 {
			to.Cards = append(to.Cards, card{words.Tidy(f.Value), f.Usage})
		}
	}
	algorithms := len(p.algorithms)
	if ran := i.ran(); ran != nil { // people look for their own scheduler first; a row has seven cards
		algorithms--
		to.Cards = append(to.Cards, card{withUnit(ran.objective(), p.first.Unit), p.first.Name + ", by the log"})
	} else {
		to.Cards = append(to.Cards, card{words.Short(float64(algorithms), 0), "algorithms"})
	}
	to.Subtitle = fmt.Sprintf("%s · %s the %s · gapwise %s", p.kind, p.first.Sense, p.first.Name, gapwise.Version)
	x := instanceLead{Infeasible: i.Infeasible, Closed: i.closed(), Measure: p.first.Name, BoundBy: i.BoundBy, Gap: words.Percent(i.gap()), Algorithms: algorithms}
	if log != nil {
		to.Subtitle += " · log " + log.Name
		if from, end := model.StartTime(found.in), spanOf(found.in); !from.IsZero() && end > 0 {
			to.Subtitle += fmt.Sprintf(", %s to %s", from.Format("2 Jan 2006"), from.Add(time.Duration(end*float64(time.Second))).Format("2 Jan 2006"))
		}
	}
	if batch, ok := found.in.(*model.Batch); ok {
		x.Overrun = overrun(batch)
	}
	if !math.IsNaN(i.Bound) {
		x.Bound = withUnit(i.Bound, p.first.Unit)
	}
	r, seer := i.bestRun(true), i.bestRun(false)
	what := "the best policy, "
	if r == nil || seer == nil {
		r, seer, what = i.bestRun(), nil, "the best, by "
	}
	switch {
	case i.Infeasible:
		to.Cards = append(to.Cards, card{"infeasible", "proved"})
	case r != nil:
		to.Cards = append(to.Cards, card{withUnit(r.objective(), p.first.Unit), p.first.Name + ", " + what + r.Algorithm})
		x.Best, x.Value, x.Time, x.OwnGap = r.Algorithm, p.human(r.objective()), words.Duration(r.ElapsedS), words.Percent(r.gap())
		for _, o := range p.runs {
			if o.Objective != nil && o.Algorithm != r.Algorithm && o.Algorithm != gapwise.LogAlgorithm && (seer == nil || o.Class() == r.Class()) && !slices.Contains(x.Ties, o.Algorithm) &&
				math.Abs(o.objective()-r.objective()) < noise*math.Abs(r.objective()) {
				x.Ties = append(x.Ties, o.Algorithm)
			}
		}
		if seer != nil {
			x.Seer, x.SeerValue = seer.Algorithm, p.human(seer.objective())
		}
		if seer != nil && p.first.Sense.Better(seer.objective(), r.objective()) {
			x.Regret = words.Percent(model.Gap(r.objective(), seer.objective()))
			to.Cards = append(to.Cards, card{withUnit(seer.objective(), p.first.Unit), "seeing the whole instance, " + seer.Algorithm})
		}
		to.Cards = append(to.Cards, card{withUnit(i.Bound, p.first.Unit), "bound: no solution is better"}, card{words.Percent(i.gap()) + " %", "gap of the best solution"})
	}
	if log != nil && log.Unran != "" {
		x.Ran = "The log's own scheduler isn't beside them: " + log.Unran + "."
	}
	if ran := i.ran(); ran != nil {
		x.Ran = fmt.Sprintf("Under the log's own scheduler the %s was %s.", p.first.Name, p.human(ran.objective()))
		if r != nil && ran.objective() > 0 {
			change := 100 * (r.objective() - ran.objective()) / ran.objective()
			x.Ran += fmt.Sprintf(" That of %s, in a replay that starts jobs at once and loses none, is %s %%.", r.Algorithm, signed(change))
			x.Ran += " What a real scheduler would reach lies between: --what-if fits a replay to the log."
		}
	}
	for _, a := range p.algorithms {
		if p.class[a] == model.Online && a != gapwise.LogAlgorithm {
			x.Policies++
		}
	}
	for _, r := range p.runs {
		if r.Objective != nil {
			x.Solutions++
			if r.Verified {
				x.Verified++
			}
		}
	}
	to.Lead = append(to.Lead, x.words()...)
}

// overrun describes the jobs that run longer than their users estimated, and the effect on policies that backfill by
// the estimates; "" if none does.
func overrun(b *model.Batch) string {
	jobs, over, all := 0, 0.0, 0.0
	for k := range b.Jobs {
		j := &b.Jobs[k]
		work := float64(j.Processes) * j.RuntimeS
		all += work
		if j.EstimateS > 0 && j.RuntimeS > j.EstimateS {
			jobs++
			over += work
		}
	}
	if jobs == 0 {
		return ""
	}
	n := float64(len(b.Jobs))
	who := fmt.Sprintf("%s of %s jobs (%s %%), with %s %% of the work, run longer than their users estimated.", words.Short(float64(jobs), 0), words.Short(n, 0), words.Percent(float64(jobs)/n), words.Percent(over/all))
	if b.KillAtEstimate {
		return who + " They are killed at their estimates, and count as ended then; without --kill yes they run on."
	}
	return who + " Here they run on, so that what is backfilled by estimates delays those whom reservations were to protect, and the policies differ by how they take late ends. On many machines such jobs are killed: --kill yes shows that reading, in which the order of the policies may be another."
}

// spanOf returns when the last request arrives, in seconds; 0 for other problems.
func spanOf(in model.Instance) (last float64) {
	switch in := in.(type) {
	case *model.Reservation:
		for k := range in.Requests {
			last = max(last, in.Requests[k].ArrivalS)
		}
	case *model.Batch:
		for k := range in.Jobs {
			last = max(last, in.Jobs[k].SubmitS)
		}
	case *model.TVC:
		for k := range in.Requests {
			last = max(last, in.Requests[k].ArrivalS)
		}
	}
	return last
}

// comparison is the picture and the table of the algorithms.
func (p *part) comparison(found *solved, usages map[string]*model.Usage) section {
	i := p.instances[0]
	r := &ranking{name: fmt.Sprintf("%s of each algorithm, with the bound", p.first.Name), axis: axis{label: p.first.String()}, bound: i.Bound}
	stopped := ""
	show := words.Aligned(values(p.runs, (*run).objective)) // as in the table below
	for _, x := range p.runs {
		text := show(x.objective())
		if x.stopped() && x.Objective != nil {
			text, stopped = text+" *", " The limit stopped runs with a star."
		}
		group := ""
		if p.mixed() {
			group = words.Upper(p.class[x.Algorithm].Plural())
		}
		r.rows = append(r.rows, rank{x.Algorithm, x.objective(), text, p.hue(x.Algorithm), group})
	}
	caption := words.Upper(p.first.String()) + ", best first." + stopped
	if p.mixed() {
		caption = words.Upper(p.first.String()) + ", best first in each group." + stopped
		for _, c := range model.Classes() {
			if slices.ContainsFunc(p.algorithms, func(a string) bool { return p.class[a] == c }) {
				caption += fmt.Sprintf(" %s: %s.", words.Upper(c.Plural()), c.Meaning())
			}
		}
	}
	if !math.IsNaN(i.Bound) {
		caption += fmt.Sprintf(" The dotted line is the bound %s (%s): no solution lies beyond it.", words.Tidy(i.Bound), i.BoundBy)
	}
	s := section{ID: "algorithms", Title: "Algorithms", Blocks: []block{{Figures: &figures{Charts: []figure{{SVG: r.svg(), Caption: caption, Wide: true}}}}}}

	unit, seconds := words.UnitFor(values(p.runs, func(r *run) float64 { return r.ElapsedS }))
	columns := append(append([]measure{byAlgorithm}, p.group()...),
		single(p.first.String(), "the objective", true, func(r *run) cell { return figureCell(r.objective()) }),
		single("gap (%)", "to the best bound", true, func(r *run) cell { return share(r.gap()) }),
		single(p.second.String(), "breaks ties", true, func(r *run) cell { return figureCell(runs.Number(r.Second)) }))
	for _, m := range found.in.Metrics()[2:] {
		if slices.ContainsFunc(p.runs, func(r *run) bool { return r.Metrics[m.Key] != 0 }) { // a column of zeros takes room from others
			columns = append(columns, single(m.String(), "", true, func(r *run) cell {
				y, ok := r.Metrics[m.Key]
				if !ok {
					y = math.NaN()
				}
				return figureCell(y)
			}))
		}
	}
	from, to, work := 0.0, spanOf(found.in), workOf(found.in)
	used := func(name, help string, show func(*model.Usage) cell) {
		columns = append(columns, single(name, help, true, func(r *run) cell {
			if u := usages[r.Algorithm]; u != nil && to > from {
				return show(u)
			}
			return number(math.NaN(), words.Percent(math.NaN()))
		}))
	}
	if len(usages) > 0 {
		used("in use (%)", "mean share in use (of a batch, in the foreground) from the first to the last arrival", func(u *model.Usage) cell { return share(u.Means(from, to, 1)[0].Used / u.Capacity) })
		used("waiting", "mean number of "+asking(found.in)+" that wait, from the first to the last arrival", func(u *model.Usage) cell {
			waiting := u.Means(from, to, 1)[0].Waiting
			return number(waiting, words.Three(waiting))
		})
		if work > 0 {
			used("declined work (%)", "work of declined requests as a share of all", func(u *model.Usage) cell { return share(u.Steps[len(u.Steps)-1].Declined / work) })
		}
	}
	columns = append(columns, single("status", "", false, func(r *run) cell { return text(r.status()) }), single("time ("+unit+")", "of the algorithm, on this machine", true, func(r *run) cell { return number(r.ElapsedS, words.Three(r.ElapsedS/seconds)) }),
		single("nodes", "what the algorithm expands", true, func(r *run) cell { return count(int(r.Nodes)) }))
	t := &table{Caption: "Algorithms", Plain: len(p.runs) < 8, Columns: columnsOf(columns)}
	for _, x := range p.runs {
		t.Rows = append(t.Rows, row{Cells: cellsOf(columns, []*run{x})})
	}
	s.Blocks = append(s.Blocks, block{Table: t})
	return s
}

// human returns an objective with its unit, a long time in hours or days, too.
func (p *part) human(x float64) string {
	if long := p.first.Long(x); long != "" {
		return withUnit(x, p.first.Unit) + " (" + long + ")"
	}
	return withUnit(x, p.first.Unit)
}

// compare orders objectives, the best first and unknown ones last.
func (p *part) compare(a, b float64) int {
	switch {
	case math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(b), p.first.Sense.Better(a, b):
		return -1
	case math.IsNaN(a), p.first.Sense.Better(b, a):
		return 1
	}
	return 0
}

// boundTable lists the bounds by name.
func (p *part) boundTable(found *solved) section {
	i := p.instances[0]
	s := section{ID: "bounds", Title: "Bounds", Text: []string{"Each bounds the " + p.first.Name + " of every solution, proved. Those of the runs are the strongest that each run ended with."}}
	t := &table{Caption: "Bounds", Plain: true, Columns: []column{{Name: "bound"}, {p.first.String(), "no solution is better", true}, {"best solution's gap (%)", "to this bound", true}}}
	seen := map[string]bool{}
	for _, b := range found.bounds {
		said := words.Tidy(b.Value)
		if b.Infeasible {
			said = "infeasible: " + b.Reason
		}
		seen[said] = true
		t.Rows = append(t.Rows, row{Cells: []cell{text(b.Name), number(b.Value, said), number(model.Gap(i.Best, b.Value), words.Percent(model.Gap(i.Best, b.Value)))}})
	}
	for _, r := range p.runs {
		if r.Bound != nil && !seen[words.Tidy(*r.Bound)] {
			seen[words.Tidy(*r.Bound)] = true
			g := model.Gap(i.Best, *r.Bound)
			t.Rows = append(t.Rows, row{Cells: []cell{text("run by " + r.Algorithm), figureCell(*r.Bound), number(g, words.Percent(g))}})
		}
	}
	if len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, block{Table: t})
	}
	if len(found.others) > 0 {
		o := &table{Caption: "Bounds of other figures", Plain: true, Columns: []column{{Name: "figure"}, {"bound", "", true}}}
		for _, b := range found.others {
			o.Rows = append(o.Rows, row{Cells: []cell{text(b.Name), figureCell(b.Value)}})
		}
		s.Blocks = append(s.Blocks, block{Table: o})
	}
	return s
}

// best is the picture of the best solution.
func (p *part) best(ctx context.Context, d *pictures) (section, error) {
	s := section{ID: "picture", Title: "Picture"}
	r := p.instances[0].drawn()
	if r == nil {
		return s, nil
	}
	drawn, err := d.draw(ctx, r, "Picture of the best solution, by "+r.Algorithm, fmt.Sprintf("The solution by %s.", r.Algorithm))
	if err != nil || drawn == nil {
		return s, err
	}
	s.Blocks = []block{{Picture: drawn}}
	return s, nil
}

// again holds the commands that run it again.
func (p *part) again(found *solved, log *Log) section {
	s := section{ID: "again", Title: "Run it again"}
	if log != nil && log.Command != "" {
		s.Blocks = append(s.Blocks, block{Words: "Makes the instance of the log:", Command: log.Command})
	}
	if r := p.instances[0].bestRun(); r != nil {
		s.Blocks = append(s.Blocks, block{Words: "The best run, if the instance is in the file " + FileOf(r.Record.Instance) + ":", Command: Command(&r.Record)})
	}
	return s
}

// figures lists the features of the instance.
func (p *part) figures(found *solved) section {
	t := &table{Caption: "Figures of the instance", Plain: true, Columns: []column{{Name: "key"}, {"value", "", true}, {Name: "unit"}, {Name: "what it is"}}}
	batch, _ := found.in.(*model.Batch)
	for _, f := range runs.Features(found.in) {
		if batch != nil && batch.Tiers == 1 && slices.Contains([]string{"tiers", "migration_s", "threshold"}, f.Key) {
			continue // without a second tier they mean nothing
		}
		t.Rows = append(t.Rows, row{Cells: []cell{text(f.Key), number(f.Value, words.Tidy(f.Value)), text(f.Unit), text(f.Usage)}})
	}
	s := section{ID: "instance", Title: "Instance"}
	if hash := p.instances[0].hash; hash != "" {
		s.Text = append(s.Text, "Hash "+strings.TrimPrefix(hash, "sha256:"))
	}
	if len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, block{Table: t})
	}
	return s
}
