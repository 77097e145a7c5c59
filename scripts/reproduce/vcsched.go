package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// mcb lists the algorithms of the paper's Tables 1 and 7: the first four sort in
// descending order, the others in ascending order.
var mcb = []string{"mcb8", "mcb5", "mcb6", "mcb7", "mcb3", "mcb2", "mcb1", "mcb4"}

// degradation is a table of the paper's degradations and ours, in percent.
type degradation struct {
	Rows []degraded
}

// degraded holds the means of an algorithm's degradation over all instances, a
// failure counting as 100 %, and over those that it solves, and the largest one.
type degraded struct {
	Algorithm, PaperMean, PaperMax string
	Mean, Solved, Max              float64
	Above3, Above10, Runs          int
}

// beside makes the table of NAME:MEAN:MAX... of the paper.
func (r *runner) beside(file, paper string) (d degradation, err error) {
	ours, err := r.rows("table", file, "--algorithms", strings.Join(mcb, ","), "--columns", "deg. all %,deg. mean %,deg. max %,deg. > 3 %,deg. > 10 %,verified")
	if err != nil {
		return d, err
	}
	for _, p := range strings.Fields(paper) {
		f := strings.Split(p, ":")
		row := ours.Where("algorithm", f[0])
		d.Rows = append(d.Rows, degraded{f[0], f[1], f[2], row.Sum("deg. all %"), row.Sum("deg. mean %"), row.Sum("deg. max %"),
			row.Count("deg. > 3 %"), row.Count("deg. > 10 %"), row.Count("verified")})
	}
	return d, nil
}

// Best returns the algorithm with the least mean degradation.
func (d degradation) Best() string {
	return slices.MinFunc(d.Rows, func(a, b degraded) int { return compare(a.Mean, b.Mean) }).Algorithm
}

// DescendingFirst reports whether every descending sort beats every ascending
// one.
func (d degradation) DescendingFirst() bool {
	descending, ascending := d.Rows[:4], d.Rows[4:]
	worst := slices.MaxFunc(descending, func(a, b degraded) int { return compare(a.Mean, b.Mean) })
	best := slices.MinFunc(ascending, func(a, b degraded) int { return compare(a.Mean, b.Mean) })
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
	return slices.IsSortedFunc(d.Rows, func(a, b degraded) int { return compare(a.Mean, b.Mean) })
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// printed is a figure of the paper on VCSched and ours by both readings of the memory
// needs.
type printed struct {
	Text              string
	Paper             float64
	Rescaled, Redrawn float64
	Format            string
}

// Cell prints one of the figures.
func (p printed) Cell(x float64) string { return fmt.Sprintf(p.Format, x) }

// Closer names the reading that is nearer to the paper.
func (p printed) Closer() string {
	switch a, b := math.Abs(p.Rescaled-p.Paper), math.Abs(p.Redrawn-p.Paper); {
	case a < b:
		return instances.MemoryRescaled
	case a > b:
		return instances.MemoryRedrawn
	}
	return "both"
}

// readings compares both readings of the memory needs with what the paper says of its
// small set. The files hold the runs by one reading each.
func (r *runner) readings(rescaled, redrawn string) (all []printed, err error) {
	var found [2][]float64
	for k, file := range []string{rescaled, redrawn} {
		table, err := r.rows("table", file, "--algorithms", "search,lp,mcb8,sg", "--columns", "infeasible,failed,bound,objective,gap mean %")
		if err != nil {
			return nil, err
		}
		row := func(a string) rows { return table.Where("algorithm", a) }
		degradations, err := r.rows("table", file, "--algorithms", strings.Join(mcb, ","), "--columns", "deg. > 3 %,deg. > 10 %")
		if err != nil {
			return nil, err
		}
		lp, err := r.above(file, "lp", "search")
		if err != nil {
			return nil, err
		}
		mcb8, err := r.above(file, "search", "mcb8")
		if err != nil {
			return nil, err
		}
		worst := degradations.Where("algorithm", "mcb8")
		found[k] = []float64{row("search").Sum("infeasible"), row("mcb8").Sum("failed"), row("sg").Sum("failed"),
			worst.Sum("deg. > 3 %"), worst.Sum("deg. > 10 %"), lp, mcb8}
	}
	for k, p := range []printed{
		{Text: "infeasible instances of 1,440", Paper: 60, Format: "%.0f"},
		{Text: "feasible ones that MCB8 doesn't solve", Paper: 1, Format: "%.0f"},
		{Text: "feasible ones that SG doesn't solve", Paper: 15, Format: "%.0f"},
		{Text: "that MCB8 solves more than 3 % below the best MCB", Paper: 155, Format: "%.0f"},
		{Text: "that MCB8 solves more than 10 % below it", Paper: 19, Format: "%.0f"},
		{Text: "LP above the optimum, in percent", Paper: 4, Format: "%.1f"},
		{Text: "optimum above MCB8, in percent", Paper: 2, Format: "%.1f"},
	} {
		p.Rescaled, p.Redrawn = found[0][k], found[1][k]
		all = append(all, p)
	}
	return all, nil
}

// readingsLarge compares both readings with what the paper says of its large set.
func (r *runner) readingsLarge(rescaled, redrawn string) (all []printed, err error) {
	var found [2][]float64
	for k, file := range []string{rescaled, redrawn} {
		records, err := r.records(file)
		if err != nil {
			return nil, err
		}
		table, err := r.rows("table", file, "--algorithms", strings.Join(mcb, ","), "--columns", "deg. max %")
		if err != nil {
			return nil, err
		}
		failures := func(algorithm string) float64 { // share of all runs
			failed, n := 0.0, 0.0
			for i := range records {
				if x := &records[i]; x.Algorithm == algorithm {
					if n++; x.Objective == nil {
						failed++
					}
				}
			}
			return failed / n
		}
		mean := func(algorithm string, slack float64) float64 { // each over its own instances
			sum, n := 0.0, 0.0
			for i := range records {
				if x := &records[i]; x.Algorithm == algorithm && x.Params["slack"] == slack && !math.IsNaN(yieldOf(x)) {
					sum, n = sum+yieldOf(x), n+1
				}
			}
			return sum / n
		}
		curve := func(slack float64) float64 { return 100 * (mean("lp", slack)/mean("mcb8", slack) - 1) }
		found[k] = []float64{table.Where("algorithm", "mcb8").Sum("deg. max %"), table.Where("algorithm", "mcb5").Sum("deg. max %"),
			curve(0.1), curve(0.2), 100 * (1 - failures("mcb8")/failures("gr"))}
	}
	for k, p := range []printed{
		{Text: "largest degradation of MCB8 (Table 7), in percent", Paper: 3.16, Format: "%.2f"},
		{Text: "largest degradation of MCB5", Paper: 3.50, Format: "%.2f"},
		{Text: "LP's curve above MCB8's at slack 0.1, in percent", Paper: 37, Format: "%.1f"},
		{Text: "LP's curve above MCB8's at slack 0.2", Paper: 8, Format: "%.1f"},
		{Text: "MCB8 fails less than GR, by percent of GR's failures", Paper: 40, Format: "%.1f"},
	} {
		p.Rescaled, p.Redrawn = found[0][k], found[1][k]
		all = append(all, p)
	}
	return all, nil
}

// closer counts the figures to which a reading is nearer than the other one.
func closer(all []printed, reading string) (n int) {
	for _, p := range all {
		if p.Closer() == reading {
			n++
		}
	}
	return n
}

// records reads a results file once: a part computes many figures of it.
func (r *runner) records(file string) ([]benchmarks.Record, error) {
	if r.read == nil {
		r.read = map[string][]benchmarks.Record{}
	}
	if all, ok := r.read[file]; ok {
		return all, nil
	}
	all, _, err := benchmarks.ReadRecords(file)
	if err == nil {
		r.read[file] = all
	}
	return all, err
}

// yieldOf returns the minimum yield of a run, the bound of the LP; NaN without.
func yieldOf(r *benchmarks.Record) float64 {
	x := r.Objective
	if r.Algorithm == "lp" {
		x = r.Bound
	}
	if x == nil {
		return math.NaN()
	}
	return *x
}

// above returns by how many percent the mean minimum yield of one algorithm is above
// another's on the instances of which both have one.
func (r *runner) above(file, first, second string) (float64, error) {
	records, err := r.records(file)
	if err != nil {
		return 0, err
	}
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
		return 0, fmt.Errorf("%s: no instance has runs of %s and %s", file, first, second)
	}
	return 100 * (a/b - 1), nil
}

// aboveHost counts the feasible instances of a plan's rescaled reading in which a memory
// need came out above a host and is a whole one instead.
func (r *runner) aboveHost(plan, file string) (feasible int, err error) {
	p, err := benchmarks.LoadPlan(plan)
	if err != nil {
		return 0, err
	}
	cases, err := p.Instances()
	if err != nil {
		return 0, err
	}
	full := map[string]bool{}
	for _, c := range cases {
		if !strings.Contains(c.Name, instances.MemoryRescaled) {
			continue
		}
		in, err := c.Load()
		if err != nil {
			return 0, err
		}
		full[c.Name] = slices.ContainsFunc(in.(*model.VCSched).Jobs, func(j model.VCSchedJob) bool { return j.Memory == 1 })
	}
	records, err := r.records(file)
	for i := range records {
		if x := &records[i]; x.Algorithm == "search" && x.Objective != nil && full[x.Instance] {
			feasible++
		}
	}
	return feasible, err
}

// lines returns the curves of some algorithms, means over the runs that have the value,
// medians of times: on a busy machine a few runs wait for long.
// The LP has no solution: its minimum yield is its bound, and its average yield is the
// same, as the CPU is used up unless all yields are 1.
func (r *runner) lines(file, by, value string, algorithms ...string) (all []benchmarks.Line, err error) {
	records, err := r.records(file)
	if err != nil {
		return nil, err
	}
	for _, a := range algorithms {
		y := value
		if a == "lp" && (value == "objective" || value == "second") {
			y = "bound"
		}
		lines, err := benchmarks.Series(records, benchmarks.SeriesOptions{X: []string{by}, Y: y, Algorithms: []string{a}})
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
func median(records []benchmarks.Record, algorithm, parameter string, value float64) float64 {
	var all []float64
	for i := range records {
		if x := &records[i]; x.Algorithm == algorithm && (parameter == "" || x.Params[parameter] == value) {
			all = append(all, x.ElapsedS)
		}
	}
	if len(all) == 0 {
		return math.NaN()
	}
	slices.Sort(all)
	n := len(all)
	return (all[(n-1)/2] + all[n/2]) / 2
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
	if err := draw.Curves(&svg, "svg", title, by, unit, curves); err != nil {
		return "", err
	}
	return fmt.Sprintf("![%s](%s.svg)", title, name), os.WriteFile("docs/"+name+".svg", svg.Bytes(), 0o644)
}

// across returns a Markdown table of a value: a row for each value of the parameter, a
// column for each algorithm; "-" where no run has the value.
func (r *runner) across(file, by, value, format, algorithms string) (string, error) {
	lines, err := r.lines(file, by, value, strings.Fields(algorithms)...)
	if err != nil {
		return "", err
	}
	cells, at := map[float64][]string{}, []float64{}
	for _, l := range lines {
		for _, p := range l.Points {
			if !slices.Contains(at, p.X) {
				at = append(at, p.X)
				for range lines {
					cells[p.X] = append(cells[p.X], "-")
				}
			}
		}
	}
	slices.Sort(at)
	for k, l := range lines {
		for _, p := range l.Points {
			y := p.Mean
			if value == "time" {
				y *= 1000
			}
			cells[p.X][k] = fmt.Sprintf(format, y)
		}
	}
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
		ours := median(records, algorithm, name, number(value))
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
