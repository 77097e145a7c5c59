package main

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/runs"
)

// experiment is one of section 6.2 of the paper on advance reservations, or the same
// on a log: part of a results file over a parameter.
type experiment struct {
	Title, Plan, By string
	Pattern         string // of the instances' names; empty: all
	Figure          int    // of the acceptance rate; the next one is the slowdown's
	Open            bool   // with open rectangles
}

// Next returns the slowdown's figure.
func (e experiment) Next() int { return e.Figure + 1 }

// File returns its results file; that of a copy with open rectangles if they are.
func (e experiment) File() (string, error) {
	file := "results/" + e.Plan + ".jsonl"
	if !e.Open {
		return file, nil
	}
	return openReading(file, e.Plan+"-open")
}

// Readings returns the experiment, the same with open rectangles, and that with the
// workload of column T.
func (e experiment) Readings() []experiment {
	open, column := e, e
	open.Open = true
	column.Plan, column.Pattern = "reservation-column-t", map[string]string{
		"umed": "-af1-ar3-dl3-", "arrival_factor": "-um7-.*-ar3-dl3-", "artime,deadline": "-um7-af1-",
	}[e.By]
	return []experiment{e, open, column}
}

func experiments() []experiment {
	return []experiment{
		{Title: "Section 6.2.1, job sizes and durations", Plan: "reservation-size", By: "umed", Figure: 2},
		{Title: "Section 6.2.2, system load", Plan: "reservation-load", By: "arrival_factor", Figure: 4},
		{Title: "Section 6.2.3, flexibility", Plan: "reservation-flexibility", By: "artime,deadline", Figure: 6},
	}
}

// reservationLogs returns the experiments on system load with jobs of real logs.
func reservationLogs() (all []experiment) {
	for _, log := range []string{"LANL-CM5-1994-4.1-cln", "KTH-SP2-1996-2.1-cln", "NASA-iPSC-1993-3.1-cln"} {
		name := strings.Join(strings.SplitN(log, "-", 3)[:2], "-")
		all = append(all, experiment{Title: name, Plan: "reservation-log", By: "arrival_factor", Pattern: "^" + regexp.QuoteMeta(log)})
	}
	return all
}

var openPolicy = regexp.MustCompile(`"algorithm":"(du-b|du-w|pedu-b|pedu-w)(-open)?"`)

// openReading replaces the paper's policies in a results file by those with open
// rectangles.
func openReading(file, name string) (string, error) {
	return rewrite(file, name, func(line string) string {
		if m := openPolicy.FindStringSubmatch(line); m != nil && m[2] == "" {
			return ""
		}
		return openPolicy.ReplaceAllString(line, `"algorithm":"$1"`)
	})
}

// verdicts counts findings.
type verdicts struct{ Held, Not, Undecided int }

func (v verdicts) All() int { return v.Held + v.Not + v.Undecided }

func (v verdicts) String() string {
	return fmt.Sprintf("%d held, %d not held, %d undecided", v.Held, v.Not, v.Undecided)
}

// findingsOf returns the findings of an experiment.
func (r *runner) findingsOf(e experiment) (rows, error) {
	file, err := e.File()
	if err != nil {
		return nil, err
	}
	args := []string{"findings", file, "--by", e.By}
	if e.Pattern != "" {
		args = append(args, "--instances", e.Pattern)
	}
	return r.rows(args...)
}

// verdictsOf counts the findings of an experiment.
func (r *runner) verdictsOf(e experiment) (v verdicts, err error) {
	all, err := r.findingsOf(e)
	if err != nil {
		return v, err
	}
	v = verdicts{len(all.Where("", "held")), len(all.Where("", "not held")), len(all.Where("", "undecided"))}
	if v.All() != len(all) {
		return v, fmt.Errorf("%s: %d verdicts of %d findings are known", e.Plan, v.All(), len(all))
	}
	return v, nil
}

// readingRow is a row of a table: an experiment, a finding of it or none, and what
// there is to say of each reading.
type readingRow struct {
	Title, Finding string
	Words          []string
}

// readingsOf counts the findings of each experiment in each reading, and of all
// experiments together.
func (r *runner) readingsOf(all []experiment) (table []readingRow, err error) {
	sums := make([]verdicts, len(all[0].Readings()))
	for _, e := range all {
		row := readingRow{Title: e.Title}
		for k, x := range e.Readings() {
			v, err := r.verdictsOf(x)
			if err != nil {
				return nil, err
			}
			s := &sums[k]
			*s = verdicts{s.Held + v.Held, s.Not + v.Not, s.Undecided + v.Undecided}
			row.Words = append(row.Words, v.String())
		}
		table = append(table, row)
	}
	row := readingRow{Title: "all"}
	for _, s := range sums {
		row.Words = append(row.Words, s.String())
	}
	return append(table, row), nil
}

// unmet returns the findings that aren't held in the first reading, with their
// verdicts in each.
func (r *runner) unmet(all []experiment) (table []readingRow, err error) {
	for _, e := range all {
		var found []rows
		for _, x := range e.Readings() {
			f, err := r.findingsOf(x)
			if err != nil {
				return nil, err
			}
			found = append(found, f)
		}
		for _, f := range found[0] {
			if f.cell("") == "held" {
				continue
			}
			row := readingRow{Title: e.Title, Finding: f.cell("finding")}
			for _, other := range found {
				same := other.Where("finding", row.Finding)
				if len(same) != 1 {
					return nil, fmt.Errorf("%d findings are %q, not one", len(same), row.Finding)
				}
				row.Words = append(row.Words, same[0].cell(""))
			}
			table = append(table, row)
		}
	}
	return table, nil
}

// agreement says which findings have one verdict in all experiments.
type agreement struct {
	Shared, Same int
	Others       []string // the findings that don't
}

// sameVerdicts compares the verdicts on the findings that all experiments share.
func (r *runner) sameVerdicts(all []experiment) (a agreement, err error) {
	seen, order := map[string][]string{}, []string{}
	for _, e := range all {
		found, err := r.findingsOf(e)
		if err != nil {
			return a, err
		}
		for _, f := range found {
			text := f.cell("finding")
			if len(seen[text]) == 0 {
				order = append(order, text)
			}
			seen[text] = append(seen[text], f.cell(""))
		}
	}
	for _, text := range order {
		if of := seen[text]; len(of) == len(all) {
			a.Shared++
			if len(slices.Compact(slices.Clone(of))) == 1 {
				a.Same++
			} else {
				a.Others = append(a.Others, fmt.Sprintf("%s (%s)", text, strings.Join(of, ", ")))
			}
		}
	}
	return a, nil
}

// series computes curves of an experiment's results.
func (e experiment) series(o runs.SeriesOptions) ([]runs.Line, error) {
	file, err := e.File()
	if err != nil {
		return nil, err
	}
	records, _, err := runs.ReadRecords(file)
	if err != nil {
		return nil, err
	}
	pattern, err := regexp.Compile(e.Pattern)
	if err != nil {
		return nil, err
	}
	records = slices.DeleteFunc(records, func(r runs.Record) bool { return !pattern.MatchString(r.Instance) })
	o.X = strings.Split(e.By, ",")
	return runs.Series(records, o)
}

// Pairs returns a Markdown table of paired differences of acceptance rates: a row
// for each point, a column for each pair "pe-w du-b".
func (e experiment) Pairs(pairs ...string) (string, error) {
	var all []runs.Line
	for _, p := range pairs {
		first, second, _ := strings.Cut(p, " ")
		lines, err := e.series(runs.SeriesOptions{Y: "acceptance %", Algorithms: []string{first}, Minus: second})
		if err != nil {
			return "", err
		}
		all = append(all, runs.Line{Algorithm: first + " - " + second, Points: lines[0].Points})
	}
	head, rule := "| "+e.By+" |", "|---|"
	for _, l := range all {
		head, rule = head+" "+l.Algorithm+" |", rule+"---|"
	}
	text := []string{head, rule}
	for k, p := range all[0].Points {
		label := p.Label
		if label == "" {
			label = fmt.Sprint(p.X)
		}
		row := "| " + label + " |"
		for _, l := range all {
			row += fmt.Sprintf(" %+.3f ± %.3f |", l.Points[k].Mean, l.Points[k].Half)
		}
		text = append(text, row)
	}
	return strings.Join(text, "\n"), nil
}

// leads counts the points at which one algorithm has more than another, by paired
// intervals: more, less, and those undecided.
type leads struct{ More, Less, Undecided, Points int }

// movingExperiment is the one with PE-seconds as the goal.
func movingExperiment() []experiment {
	return []experiment{{Title: "PE-seconds", Plan: "reservation-moving", By: "umed"}}
}

// ahead compares a value of two algorithms at all points of some experiments.
func ahead(value string, all []experiment, first, second string) (l leads, err error) {
	for _, e := range all {
		lines, err := e.series(runs.SeriesOptions{Y: value, Algorithms: []string{first}, Minus: second})
		if err != nil {
			return l, err
		}
		for _, p := range lines[0].Points {
			l.Points++
			switch {
			case p.Mean > p.Half:
				l.More++
			case -p.Mean > p.Half:
				l.Less++
			default: // one of the two isn't a number, too
				l.Undecided++
			}
		}
	}
	return l, nil
}

// workload describes the requests at a UMed, on average over the draws of the plan.
type workload struct {
	UMed                 int
	Size, Duration, Load float64 // PEs, seconds, PE-seconds asked for over those there are
}

// workloads are those of several values of UMed.
type workloads struct {
	Rows []workload
	// Both mean size and mean duration rise from each UMed to the next: in how many
	// of the draws.
	Rising, Draws int
}

// reservationWorkload draws the requests of the plan reservation-size. The offered
// load is the PE-seconds asked for, over those available from the first arrival to
// the last.
func reservationWorkload() (w workloads, err error) {
	w.Draws = 20
	rising := make([]bool, w.Draws)
	for k := range rising {
		rising[k] = true
	}
	before := make([]workload, w.Draws)
	for umed := 5; umed <= 9; umed++ {
		row := workload{UMed: umed}
		for k := range w.Draws {
			spec := instances.NewReservationSpec()
			spec.UMed, spec.Index, spec.Seed = float64(umed), k, 1
			in, err := spec.Generate()
			if err != nil {
				return w, err
			}
			var one workload
			n := float64(len(in.Requests))
			for _, q := range in.Requests {
				one.Size += float64(q.PEs) / n
				one.Duration += q.DurationS / n
				one.Load += q.DurationS * float64(q.PEs)
			}
			one.Load /= float64(in.PEs) * (in.Requests[len(in.Requests)-1].ArrivalS - in.Requests[0].ArrivalS)
			rising[k] = rising[k] && one.Size > before[k].Size && one.Duration > before[k].Duration
			before[k] = one
			row.Size, row.Duration, row.Load = row.Size+one.Size/float64(w.Draws), row.Duration+one.Duration/float64(w.Draws), row.Load+one.Load/float64(w.Draws)
		}
		w.Rows = append(w.Rows, row)
	}
	for _, r := range rising {
		if r {
			w.Rising++
		}
	}
	return w, nil
}

// growth holds the exponents by which the CPU time of an operation grows, from
// BenchmarkGrowth: with the paper's list, and with Availability.
type growth struct{ Plain, Fast float64 }

func (g growth) String() string { return fmt.Sprintf("%.2f, %.2f", g.Plain, g.Fast) }

var growthLine = regexp.MustCompile(`^BenchmarkGrowth/over=(\w+)/larger=(\w+)/op=([\w-]+)/(plain|fast)(?:-\d+)?\s`)

// slotGrowth runs BenchmarkGrowth, or takes what it has written since its package
// was changed. It returns the growth by operation and by what grows: "find records".
// The exponent is log(t'/t) over log(x'/x) for CPU times t and the measured figures
// x of two runs.
func slotGrowth() (map[string]growth, error) {
	const folder = "heuristics/reservation"
	commit, err := output("git", "log", "-1", "--format=%h", "--", folder)
	if err != nil {
		return nil, err
	}
	file := "results/reservation-growth-" + commit + ".txt"
	text, err := os.ReadFile(file)
	if err != nil {
		out, err := output("go", "test", "./"+folder, "-run", "^$", "-bench", "BenchmarkGrowth", "-benchtime", "1x")
		if err != nil {
			return nil, err
		}
		text = []byte(out)
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return nil, err
		}
	}
	return growthOf(string(text))
}

// growthOf reads the benchmark's lines.
func growthOf(text string) (map[string]growth, error) {
	figure := map[string]string{"records": "records", "window": "in-window", "PEs": "PEs"}
	type run struct{ x, t float64 }
	runs := map[string]run{} // by over, larger, operation, list
	for line := range strings.Lines(text) {
		m := growthLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		var x run
		fields := strings.Fields(line)
		for k := 3; k < len(fields); k++ {
			value, err := strconv.ParseFloat(fields[k-1], 64)
			switch {
			case err != nil:
			case fields[k] == "cpu-ns/op":
				x.t = value
			case fields[k] == figure[m[1]]:
				x.x = value
			}
		}
		runs[strings.Join(m[1:], " ")] = x
	}
	all := map[string]growth{}
	for over := range figure {
		for _, op := range []string{"find", "find-du-b", "update"} {
			exponent := func(list string) (float64, error) {
				a, b := runs[over+" false "+op+" "+list], runs[over+" true "+op+" "+list]
				e := math.Log(b.t/a.t) / math.Log(b.x/a.x)
				if math.IsNaN(e) || math.IsInf(e, 0) {
					return 0, fmt.Errorf("the benchmark has no growth of %s on the %s list with %s", op, list, over)
				}
				return e, nil
			}
			plain, err := exponent("plain")
			if err != nil {
				return nil, err
			}
			fast, err := exponent("fast")
			if err != nil {
				return nil, err
			}
			all[op+" "+over] = growth{plain, fast}
		}
	}
	return all, nil
}
