package main

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/papers"
)

// experiments are those of section 6.2 of the paper on advance reservations.
func experiments() []set {
	all := []set{
		{Title: "Section 6.2.1, job sizes and durations", Plan: "reservation-size", By: "umed", Figure: 2},
		{Title: "Section 6.2.2, system load", Plan: "reservation-load", By: "arrival_factor", Figure: 4},
		{Title: "Section 6.2.3, flexibility", Plan: "reservation-flexibility", By: "artime,deadline", Figure: 6},
	}
	for i := range all {
		all[i].File = "results/" + all[i].Plan + ".jsonl"
	}
	return all
}

// movingExperiment is the one with PE-seconds as the goal.
func movingExperiment() []set {
	return []set{{Title: "PE-seconds", Plan: "reservation-moving", File: "results/reservation-moving.jsonl", By: "umed"}}
}

// reservationLogs are the experiments on system load with jobs of real logs.
func reservationLogs() (all []set) {
	for _, log := range []string{"LANL-CM5-1994-4.1-cln", "KTH-SP2-1996-2.1-cln", "NASA-iPSC-1993-3.1-cln"} {
		name := strings.Join(strings.SplitN(log, "-", 3)[:2], "-")
		all = append(all, set{Title: name, Plan: "reservation-log", File: "results/reservation-log.jsonl", By: "arrival_factor", Pattern: "^" + regexp.QuoteMeta(log)})
	}
	return all
}

// Readings returns the experiment, the same with open rectangles, and that with the
// workload of column T.
func (s set) Readings() ([]set, error) {
	open, column := s, s
	file, err := openReading(s.File, s.Plan+"-open")
	open.File = file
	column.File, column.Pattern = "results/reservation-column-t.jsonl", map[string]string{
		"umed": "-af1-ar3-dl3-", "arrival_factor": "-um7-.*-ar3-dl3-", "artime,deadline": "-um7-af1-",
	}[s.By]
	return []set{s, open, column}, err
}

// readingsFindings returns the findings of an experiment in each reading.
func (r *runner) readingsFindings(e set) (all []findings, err error) {
	readings, err := e.Readings()
	for _, x := range readings {
		if err != nil {
			return nil, err
		}
		var f findings
		f, err = r.findingsOf(x)
		all = append(all, f)
	}
	return all, err
}

// readingRow is a row of a table: an experiment, a finding of it or none, and what
// there is to say of each reading.
type readingRow struct {
	Title, Finding string
	Words          []string
}

// readingsOf counts the findings of each experiment in each reading, and of all
// experiments together.
func (r *runner) readingsOf(all []set) (table []readingRow, err error) {
	sums, last := make([]verdicts, 3), readingRow{Title: "all"}
	for _, e := range all {
		found, err := r.readingsFindings(e)
		if err != nil {
			return nil, err
		}
		row := readingRow{Title: e.Title}
		for k, f := range found {
			v := f.Count()
			s := &sums[k]
			*s = verdicts{s.Held + v.Held, s.Not + v.Not, s.Undecided + v.Undecided}
			row.Words = append(row.Words, v.String())
		}
		table = append(table, row)
	}
	for _, s := range sums {
		last.Words = append(last.Words, s.String())
	}
	return append(table, last), nil
}

// unmet returns the findings that aren't held in the first reading, with their
// verdicts in each.
func (r *runner) unmet(all []set) (table []readingRow, err error) {
	for _, e := range all {
		found, err := r.readingsFindings(e)
		if err != nil {
			return nil, err
		}
		for _, f := range found[0] {
			if f.Verdict == papers.Held {
				continue
			}
			row := readingRow{Title: e.Title, Finding: f.Text}
			for _, other := range found {
				k := slices.IndexFunc(other, func(x papers.Finding) bool { return x.Text == f.Text })
				if k < 0 {
					return nil, fmt.Errorf("a reading of %s has no finding %q", e.Plan, f.Text)
				}
				row.Words = append(row.Words, string(other[k].Verdict))
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
func (r *runner) sameVerdicts(all []set) (a agreement, err error) {
	seen, order := map[string][]string{}, []string{}
	for _, e := range all {
		found, err := r.findingsOf(e)
		if err != nil {
			return a, err
		}
		for _, f := range found {
			if len(seen[f.Text]) == 0 {
				order = append(order, f.Text)
			}
			seen[f.Text] = append(seen[f.Text], string(f.Verdict))
		}
	}
	for _, text := range order {
		of := seen[text]
		switch {
		case len(of) < len(all):
			continue
		case len(slices.Compact(slices.Clone(of))) == 1:
			a.Same++
		default:
			a.Others = append(a.Others, fmt.Sprintf("%s (%s)", text, strings.Join(of, ", ")))
		}
		a.Shared++
	}
	return a, nil
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

// slotGrowth runs BenchmarkGrowth, or takes what it has written since its package was
// changed, and returns by operation and by what grows ("find records") the exponents by
// which the CPU time of an operation grows, with the paper's list and with Availability:
// log(t'/t) over log(x'/x) for CPU times t and the measured figures x of two runs.
func slotGrowth() (map[string]string, error) {
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

// growthOf reads what the benchmark prints.
func growthOf(text string) (map[string]string, error) {
	m, err := medians("growth", text)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for over, unit := range map[string]string{"records": "records", "window": "in-window", "PEs": "PEs"} {
		for _, op := range []string{"find", "find-du-b", "update"} {
			var exponents []string
			for _, list := range []string{"plain", "fast"} {
				var x, t [2]float64
				for k, larger := range []string{"false", "true"} {
					name := fmt.Sprintf("Growth/over=%s/larger=%s/op=%s/%s", over, larger, op, list)
					if x[k], err = m.Of(unit, name); err != nil {
						return nil, err
					}
					if t[k], err = m.Of("cpu-sec/op", name); err != nil {
						return nil, err
					}
				}
				exponents = append(exponents, fmt.Sprintf("%.2f", math.Log(t[1]/t[0])/math.Log(x[1]/x[0])))
			}
			all[op+" "+over] = strings.Join(exponents, ", ")
		}
	}
	return all, nil
}
