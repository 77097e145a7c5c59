package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/internal/papers"
	"github.com/gapwise/gapwise/internal/runs"
	"github.com/gapwise/gapwise/internal/stats"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// mcb returns the algorithms of the paper's Table 1 or 7, as it orders them, with what is
// printed: the first four sort in descending order, the others in ascending order.
func mcb(table string) (names []string, printed [][]string, err error) {
	printed, err = printedTable("vcsched", table)
	for _, p := range printed {
		names = append(names, p[0])
	}
	return names, printed, err
}

// degradation is a table of the paper's degradations and ours, in percent.
type degradation struct {
	Rows []degraded
}

// degraded holds the means of an algorithm's degradation over all instances, a
// failure counting as 100 %, and over those that it solves, and the largest one.
type degraded struct {
	Algorithm, PaperMean, PaperMax string
	Mean, Solved, Max              float64
}

// degradations compares a table of the paper with the runs in a file, by the reading left
// of a plan if one is given.
func (r *runner) degradations(table, file string, plan ...string) (d degradation, err error) {
	records, err := r.records(file)
	if len(plan) > 0 {
		records, err = r.left(plan[0], file)
	}
	if err != nil {
		return d, err
	}
	names, printed, err := mcb(table)
	if err != nil {
		return d, err
	}
	t, err := runs.Tabulate(records, runs.TableOptions{Algorithms: names, Columns: []string{"deg. all %", "deg. mean %", "deg. max %"}})
	if err != nil {
		return d, err
	}
	for _, p := range printed {
		x := t.Rows[slices.IndexFunc(t.Rows, func(row runs.Row) bool { return row.Algorithm == p[0] })].Values
		d.Rows = append(d.Rows, degraded{p[0], p[1], p[2], x[0], x[1], x[2]})
	}
	return d, nil
}

// Best returns the algorithm with the least mean degradation.
func (d degradation) Best() string {
	return slices.MinFunc(d.Rows, func(a, b degraded) int { return cmp.Compare(a.Mean, b.Mean) }).Algorithm
}

// DescendingFirst reports whether every descending sort beats every ascending
// one.
func (d degradation) DescendingFirst() bool {
	descending, ascending := d.Rows[:4], d.Rows[4:]
	worst := slices.MaxFunc(descending, func(a, b degraded) int { return cmp.Compare(a.Mean, b.Mean) })
	best := slices.MinFunc(ascending, func(a, b degraded) int { return cmp.Compare(a.Mean, b.Mean) })
	return worst.Mean < best.Mean
}

// Ratios returns the smallest and the largest ratio of our mean, over all instances
// or those solved, to the paper's.
func (d degradation) Ratios(solved bool) string {
	least, most := math.Inf(1), 0.0
	for _, row := range d.Rows {
		x := row.Mean / number(row.PaperMean)
		if solved {
			x = row.Solved / number(row.PaperMean)
		}
		least, most = min(least, x), max(most, x)
	}
	return fmt.Sprintf("%.2f to %.2f", least, most)
}

// SameOrder reports whether all means are in the paper's order.
func (d degradation) SameOrder() bool {
	return slices.IsSortedFunc(d.Rows, func(a, b degraded) int { return cmp.Compare(a.Mean, b.Mean) })
}

// printed is a figure of the paper on VCSched and ours by the readings of the memory
// needs.
type printed struct {
	Text  string
	Paper float64
	Ours  []float64 // by reading, as the columns of a table
	Cells []string
}

// Closest returns the number of the reading that is nearest to the paper, -1 if several
// are.
func (p printed) Closest() int {
	best, number := math.Inf(1), -1
	for k, x := range p.Ours {
		switch d := math.Abs(x - p.Paper); {
		case d < best:
			best, number = d, k
		case d == best:
			number = -1
		}
	}
	return number
}

// figure is what a paper prints, by its name there, and how it is computed of runs. Text is
// empty if it is the paper's; sign is -1 for what is printed as a percentage below.
type figure struct {
	name, text, format string
	sign               float64
	of                 func([]runs.Record) (float64, error)
}

// smallFigures and largeFigures are those that tell readings of the memory needs apart.
var smallFigures = []figure{
	{"infeasible", "", "%.0f", 1, cellOf("search", "infeasible")},
	{"mcb8 fails", "feasible ones that MCB8 doesn't solve", "%.0f", 1, cellOf("mcb8", "failed")},
	{"sg fails", "feasible ones that SG doesn't solve", "%.0f", 1, cellOf("sg", "failed")},
	{"mcb8 above 3", "that MCB8 solves more than 3 % below the best MCB", "%.0f", 1, cellOf("mcb8", "deg. > 3 %")},
	{"mcb8 above 10", "that MCB8 solves more than 10 % below it", "%.0f", 1, cellOf("mcb8", "deg. > 10 %")},
	{"lp above milp", "", "%.2f", 1, func(all []runs.Record) (float64, error) { return aboveIn(all, "lp", "search") }},
	{"milp above mcb8", "", "%.2f", 1, func(all []runs.Record) (float64, error) { return aboveIn(all, "search", "mcb8") }},
}

var largeFigures = []figure{
	{"mcb8 most", "largest degradation of MCB8 (Table 7), in percent", "%.2f", 1, cellOf("mcb8", "deg. max %")},
	{"mcb5 most", "largest degradation of MCB5", "%.2f", 1, cellOf("mcb5", "deg. max %")},
	{"curve at 0.1", "MCB8's curve below the LP's at slack 0.1, in percent of the LP's", "%.1f", -1, curveBelow(0.1)},
	{"curve at 0.2", "MCB8's curve below the LP's at slack 0.2", "%.1f", -1, curveBelow(0.2)},
	{"mcb8 fails less", "MCB8 fails less than GR, by percent of GR's failures", "%.1f", -1, func(all []runs.Record) (float64, error) {
		mcb8, err := cellOf("mcb8", "unsolved %")(all)
		gr, err2 := cellOf("gr", "unsolved %")(all)
		return 100 * (1 - mcb8/gr), errors.Join(err, err2)
	}},
}

// cellOf returns the cell of an algorithm in a table; degradations are from the best MCB.
func cellOf(algorithm, column string) func([]runs.Record) (float64, error) {
	return func(all []runs.Record) (float64, error) {
		algorithms := []string{algorithm}
		if strings.HasPrefix(algorithm, "mcb") {
			var err error
			if algorithms, _, err = mcb("1"); err != nil {
				return 0, err
			}
		}
		t, err := runs.Tabulate(all, runs.TableOptions{Algorithms: algorithms, Columns: []string{column}, Plain: true})
		if err != nil {
			return 0, err
		}
		k := slices.IndexFunc(t.Rows, func(row runs.Row) bool { return row.Algorithm == algorithm })
		return t.Rows[k].Values[0], nil
	}
}

// curveBelow compares the curves of Figure 15 at a slack: each is the mean over the
// instances that its algorithm has a yield on.
func curveBelow(slack float64) func([]runs.Record) (float64, error) {
	return func(all []runs.Record) (float64, error) {
		mean := func(algorithm, column string) (float64, error) {
			return cellOf(algorithm, column)(slices.DeleteFunc(slices.Clone(all), func(x runs.Record) bool { return x.Params["slack"] != slack }))
		}
		mcb8, err := mean("mcb8", "objective")
		lp, err2 := mean("lp", "bound")
		return 100 * (1 - mcb8/lp), errors.Join(err, err2)
	}
}

// readings compares the readings of the memory needs with what the paper says of the
// small or the large set: rescaled needs; those of them that come out above a host left
// as they are, so that nothing but the LP has a solution; redrawn needs. The files hold
// the runs by one reading each, plan is that of the rescaled ones.
func (r *runner) readings(set, plan, rescaled, redrawn string) (all []printed, err error) {
	figures := smallFigures
	if set == "large" {
		figures = largeFigures
	}
	capped, err := r.records(rescaled)
	if err != nil {
		return nil, err
	}
	other, err := r.records(redrawn)
	if err != nil {
		return nil, err
	}
	left, err := r.left(plan, rescaled)
	if err != nil {
		return nil, err
	}
	for _, f := range figures {
		is, err := papers.Printed(model.KindVCSched, f.name)
		if err != nil {
			return nil, err
		}
		p := printed{Text: cmp.Or(f.text, is.What), Paper: f.sign * is.Value}
		for _, records := range [][]runs.Record{capped, left, other} {
			x, err := f.of(records)
			if err != nil {
				return nil, err
			}
			p.Ours, p.Cells = append(p.Ours, x), append(p.Cells, fmt.Sprintf(f.format, x))
		}
		all = append(all, p)
	}
	return all, nil
}

// left returns the runs in a file of a plan's rescaled instances as they would be if
// needs that come out above a host were left as they are: only the LP has a solution of
// such an instance. Its relaxation splits tasks, and its sums are the same.
func (r *runner) left(plan, file string) ([]runs.Record, error) {
	capped, err := r.records(file)
	if err != nil {
		return nil, err
	}
	full, err := needsOfAHost(plan)
	if err != nil {
		return nil, err
	}
	left := slices.Clone(capped)
	for i := range left {
		if x := &left[i]; full[x.Instance] && x.Algorithm != "lp" {
			x.Objective, x.Second, x.Bound, x.Status, x.Verified = nil, nil, nil, model.StatusInfeasible, false
		}
	}
	return left, nil
}

// findingsLeft checks the findings by the reading left.
func (r *runner) findingsLeft(plan, file string) (findings, error) {
	records, err := r.left(plan, file)
	if err != nil {
		return nil, err
	}
	return papers.FindingsOf(records, nil)
}

// needsOfAHost tells by name in which rescaled instances of a plan a memory need came
// out above a host and is a whole one instead.
func needsOfAHost(plan string) (map[string]bool, error) {
	p, err := benchmarks.LoadPlan(plan)
	if err != nil {
		return nil, err
	}
	cases, err := p.Instances()
	if err != nil {
		return nil, err
	}
	full := map[string]bool{}
	for _, c := range cases {
		if !strings.Contains(c.Name, "rescaled") {
			continue
		}
		in, err := c.Load()
		if err != nil {
			return nil, err
		}
		full[c.Name] = slices.ContainsFunc(in.(*model.VCSched).Jobs, func(j model.VCSchedJob) bool { return j.Memory == 1 })
	}
	return full, nil
}

// timesClosest counts the figures that a reading, by its number, is nearest to.
func timesClosest(all []printed, reading int) (n int) {
	for _, p := range all {
		if p.Closest() == reading {
			n++
		}
	}
	return n
}

// yieldOf returns the minimum yield of a run, the bound of the LP; NaN without.
func yieldOf(r *runs.Record) float64 {
	x := r.Objective
	if r.Algorithm == "lp" {
		x = r.Bound
	}
	if x == nil {
		return math.NaN()
	}
	return *x
}

// above is aboveIn a results file.
func (r *runner) above(file, first, second string) (float64, error) {
	records, err := r.records(file)
	if err != nil {
		return 0, err
	}
	x, err := aboveIn(records, first, second)
	if err != nil {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return x, err
}

// aboveIn returns by how many percent the mean minimum yield of one algorithm is above
// another's on the instances of which both have one.
func aboveIn(records []runs.Record, first, second string) (float64, error) {
	known := map[string]float64{}
	for i := range records {
		if records[i].Algorithm == first {
			known[records[i].Hash] = yieldOf(&records[i])
		}
	}
	a, b := 0.0, 0.0
	for i := range records {
		if x, ok := known[records[i].Hash]; ok && records[i].Algorithm == second {
			if y := yieldOf(&records[i]); !math.IsNaN(x) && !math.IsNaN(y) {
				a, b = a+x, b+y
			}
		}
	}
	if b == 0 {
		return 0, fmt.Errorf("no instance has runs of %s and %s", first, second)
	}
	return 100 * (a/b - 1), nil
}

// lines returns the curves of some algorithms, means over the runs that have the value,
// medians of times: on a busy machine a few runs wait for long.
// The LP has no solution: its minimum yield is its bound, and its average yield is the
// same, as the CPU is used up unless all yields are 1.
func (r *runner) lines(file, by, value string, algorithms ...string) (all []runs.Line, err error) {
	records, err := r.records(file)
	if err != nil {
		return nil, err
	}
	for _, a := range algorithms {
		y := value
		if a == "lp" && (value == "objective" || value == "second") {
			y = "bound"
		}
		lines, err := runs.Series(records, runs.SeriesOptions{X: []string{by}, Y: y, Algorithms: []string{a}})
		if err != nil {
			return nil, err
		}
		all = append(all, lines...)
	}
	if value == "time" {
		for i := range all {
			for k := range all[i].Points {
				p := &all[i].Points[k]
				p.Mean = median(records, all[i].Algorithm, by, p.X)
			}
		}
	}
	return all, nil
}

// median returns the median time of an algorithm's runs with a value of a parameter, of
// all its runs if the parameter is empty; NaN without runs.
func median(records []runs.Record, algorithm, parameter string, value float64) float64 {
	var all []float64
	for i := range records {
		if x := &records[i]; x.Algorithm == algorithm && (parameter == "" || x.Params[parameter] == value) {
			all = append(all, x.ElapsedS)
		}
	}
	return stats.Median(all)
}

// picture draws curves without intervals, which say nothing about differences of runs on
// the same instances, and returns the Markdown of the picture.
func (r *runner) picture(file, name, title, by, value, unit, algorithms string) (string, error) {
	lines, err := r.lines(file, by, value, strings.Fields(algorithms)...)
	if err != nil {
		return "", err
	}
	var curves []draw.Curve
	for _, l := range lines {
		c := draw.Curve{Label: l.Algorithm}
		for _, p := range l.Points {
			c.Points = append(c.Points, draw.Point{X: p.X, Y: p.Mean})
		}
		curves = append(curves, c)
	}
	var svg bytes.Buffer
	if err := draw.Curves(&svg, draw.Style{Format: "svg"}, title, draw.Axis{Label: by}, draw.Axis{Label: unit}, curves); err != nil {
		return "", err
	}
	return fmt.Sprintf("![%s](%s.svg)", title, name), os.WriteFile("docs/"+name+".svg", svg.Bytes(), 0o644)
}

// curves returns a Markdown table of a value: a row for each value of the parameter, a
// column for each algorithm; "-" where no run has the value.
func (r *runner) curves(file, by, value, format, algorithms string) (string, error) {
	lines, err := r.lines(file, by, value, strings.Fields(algorithms)...)
	if err != nil {
		return "", err
	}
	cells, at := map[float64][]string{}, []float64{}
	for k, l := range lines {
		for _, p := range l.Points {
			if cells[p.X] == nil {
				at, cells[p.X] = append(at, p.X), strings.Split(strings.Repeat("-", len(lines)), "")
			}
			if value == "time" {
				p.Mean *= 1000
			}
			cells[p.X][k] = fmt.Sprintf(format, p.Mean)
		}
	}
	slices.Sort(at)
	text := []string{"| " + by + " | " + strings.Join(strings.Fields(algorithms), " | ") + " |", "|---" + strings.Repeat("|---", len(lines)) + "|"}
	for _, x := range at {
		text = append(text, fmt.Sprintf("| %v | %s |", x, strings.Join(cells[x], " | ")))
	}
	return strings.Join(text, "\n"), nil
}

// timed is a time that the paper prints beside ours.
type timed struct {
	Text        string
	Paper, Ours float64 // seconds
}

// Ratio returns how many times as long the paper's was.
func (x timed) Ratio() float64 { return x.Paper / x.Ours }

// timesBeside compares median times with the paper's: TEXT|ALGORITHM|PARAMETER=VALUE|SECONDS
// each, the parameter empty for all runs. ALGORITHM:mean is the mean of all its runs.
func (r *runner) timesBeside(file string, paper ...string) (all []timed, err error) {
	records, err := r.records(file)
	if err != nil {
		return nil, err
	}
	for _, p := range paper {
		f := strings.Split(p, "|")
		if len(f) != 4 {
			return nil, fmt.Errorf("%q isn't TEXT|ALGORITHM|PARAMETER=VALUE|SECONDS", p)
		}
		name, value, _ := strings.Cut(f[2], "=")
		algorithm, byMean := strings.CutSuffix(f[1], ":mean")
		at := 0.0
		if name != "" {
			at = number(value)
		}
		ours := median(records, algorithm, name, at)
		if byMean {
			sum, n := 0.0, 0.0
			for i := range records {
				if records[i].Algorithm == algorithm {
					sum, n = sum+records[i].ElapsedS, n+1
				}
			}
			ours = sum / n
		}
		if math.IsNaN(ours) {
			return nil, fmt.Errorf("%s: no run is of %s", file, p)
		}
		all = append(all, timed{f[0], number(f[3]), ours})
	}
	return all, nil
}

// periodic returns the least average yield of the periodic schedule of section 2.3: two
// allocations of two hosts, each half of the time. The judge finds both feasible.
func periodic(file string) (least float64, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	in, err := model.DecodeInstance(data)
	if err != nil {
		return 0, err
	}
	v := in.(*model.VCSched)
	mean := make([]float64, len(v.Jobs))
	for _, half := range []struct {
		hosts  []int32
		shares []float64
	}{{[]int32{0, 0, 1}, []float64{0.45, 0.55, 0.6}}, {[]int32{0, 1, 1}, []float64{0.6, 0.55, 0.45}}} {
		p := v.NewPlacement(half.hosts, 0)
		for i := range p.Jobs {
			p.Jobs[i].CPU[0] = half.shares[i]
			mean[i] += half.shares[i] / v.Jobs[i].CPU / 2
		}
		report, err := verify.Verify(context.Background(), v, p, verify.Options{})
		if err != nil {
			return 0, err
		}
		if !report.Feasible() {
			return 0, fmt.Errorf("the paper's allocation %v isn't feasible: %v", half.shares, report)
		}
	}
	return slices.Min(mean), nil
}
