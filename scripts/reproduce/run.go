// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"golang.org/x/mod/semver"

	"github.com/gapwise/gapwise/internal/app/audit"
	"github.com/gapwise/gapwise/internal/app/papers"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// runner runs gapwise for the templates.
type runner struct {
	gapwise, workers string
	runs             int                      // of each Go benchmark
	dirty            bool                     // for a trial
	commit           string                   // of the working tree
	plans            []ran                    // of the part at work
	kinds            list                     // of problems that it measures; nil: not said yet
	read             map[string][]runs.Record // results files of it, see records
}

// functions returns what a template can call beside text/template's own.
func (r *runner) functions() template.FuncMap {
	return template.FuncMap{
		"gapwise": r.run, "draw": r.draw, "bench": r.bench, "benchAlone": r.benchAlone, "solve": r.solve, "optimum": r.optimum, "try": r.try, "edit": edit,
		"table": r.table, "rows": r.rows, "sets": sets, "pick": pick, "oneTier": oneTier, "openReading": openReading,
		"findings": r.findings, "findingsOf": r.findingsOf, "count": r.count, "sameVerdicts": r.sameVerdicts,
		"pivot": r.pivot, "pairs": r.pairs, "across": r.across, "beside": r.beside, "ahead": r.ahead, "curves": r.curvesTable, "picture": r.picture,
		"printed": papers.Printed, "printedTable": papers.Table,
		"tvcLogs": tvcLogs, "batchLoads": batchLoads, "reservationWorkload": reservationWorkload, "slotGrowth": slotGrowth, "batchTargets": batchTargets,
		"degradations": r.degradations, "readings": r.readings, "timesClosest": timesClosest, "timesBeside": r.timesBeside, "above": r.above,
		"batchImprovements": r.batchImprovements, "batchPEASY": r.batchPEASY, "batchCosts": r.batchCosts, "batchReadings": r.batchReadings, "nearest": nearest,
		"batchGaps": batchGaps, "dagSettings": r.dagSettings, "met": met, "stg": r.stg, "traces": traces, "packings": r.packings,
		"ablation": r.ablation, "endToEnd": r.endToEnd, "anytime": r.anytime, "proofs": proofs, "duels": readDuels, "measure": r.measure, "cpuTime": r.cpuTime,
		"audit": r.audit, "reportShot": r.reportShot, "glob": filepath.Glob, "plan": plan, "code": code, "link": link, "baseline": baseline, "benchstat": benchstat, "describe": describe,
		"processor": processor, "replace": strings.ReplaceAll, "runs": func() int { return r.runs },
		"measures": r.measures,
		"dict":     dict,
		"list":     func(x ...any) []any { return x },
		"percent":  func(share float64) float64 { return 100 * share },
		"ratio":    func(a, b float64) float64 { return a / b },
		"sub":      func(a, b int) int { return a - b },
		"add":      func(a, b int) int { return a + b },
	}
}

// dict makes a map of keys, which are texts, and their values.
func dict(x ...any) (map[string]any, error) {
	all := map[string]any{}
	for k := 0; k+1 < len(x); k += 2 {
		key, ok := x[k].(string)
		if !ok {
			return nil, fmt.Errorf("dict: %v is no text", x[k])
		}
		all[key] = x[k+1]
	}
	return all, nil
}

// run runs gapwise and returns its output. Exit codes 5 (stopped by a limit) and
// 4 (proved infeasible) are results, not errors.
func (r *runner) run(args ...string) (string, error) {
	text, err := output(r.gapwise, args...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && (exit.ExitCode() == 4 || exit.ExitCode() == 5) {
		err = nil
	}
	return text, err
}

// draw runs gapwise for the files that it writes.
func (r *runner) draw(args ...string) (string, error) {
	_, err := r.run(args...)
	return "", err
}

// bench runs a plan with the given flags and returns its results file.
func (r *runner) bench(plan string, flags ...string) (string, error) {
	return r.benchWith(r.workers, plan, flags)
}

// benchAlone is bench with one run at a time, for times that can be compared.
func (r *runner) benchAlone(plan string, flags ...string) (string, error) {
	return r.benchWith("1", plan, flags)
}

func (r *runner) benchWith(workers, plan string, flags []string) (string, error) {
	file := "results/" + plan
	for _, f := range flags {
		file += "-" + strings.TrimLeft(f, "-")
	}
	file += ".jsonl"
	r.uses(plan, file)
	if err := r.fresh(file); err != nil {
		return "", err
	}
	_, err := r.run(append([]string{"bench", plan, "--workers", workers, "-o", file}, flags...)...)
	return file, err
}

// table returns a Markdown table of results, as gapwise bench table makes it.
func (r *runner) table(file string, args ...string) (string, error) {
	return r.run(append([]string{"bench", "table", file, "--format", "markdown"}, args...)...)
}

// split returns the names in a list with commas.
func split(list string) []string {
	return strings.FieldsFunc(list, func(x rune) bool { return x == ',' })
}

// rows is a table that templates compute with. Times are in seconds.
type rows struct {
	*runs.Figures
	some []runs.Row
}

// rows returns the rows of a table of results: rows FILE BY ALGORITHMS COLUMNS.
func (r *runner) rows(file, by, algorithms, columns string) (rows, error) {
	records, err := r.records(file)
	if err != nil {
		return rows{}, err
	}
	all, err := runs.Tabulate(records, runs.TableOptions{By: split(by), Algorithms: split(algorithms), Columns: split(columns)})
	if err != nil {
		return rows{}, err
	}
	return rows{all, all.Rows}, nil
}

// Where returns the rows of an algorithm, or with a value of a parameter as it is printed.
func (all rows) Where(column, value string) rows {
	k := slices.Index(all.By, column)
	return rows{all.Figures, kept(all.some, func(r runs.Row) bool {
		return k < 0 && r.Algorithm == value || k >= 0 && words.Figure(r.By[k]) == value
	})}
}

// of returns a column's numbers. It panics for a missing column: that is a mistake in a
// template, which reports the panic as its error.
func (all rows) of(column string) (values []float64) {
	if !slices.Contains(all.Columns, column) {
		panic(fmt.Sprintf("the table has no column %q", column))
	}
	for i := range all.some {
		values = append(values, all.Figures.Of(&all.some[i], column))
	}
	return values
}

// Sum adds up a column's numbers.
func (all rows) Sum(column string) (sum float64) {
	for _, x := range all.of(column) {
		sum += x
	}
	return sum
}

// Count adds up a column of whole numbers.
func (all rows) Count(column string) int { return int(all.Sum(column)) }

// Max returns the largest number of a column, at least 0.
func (all rows) Max(column string) float64 { return slices.Max(append(all.of(column), 0)) }

// number reads a number that must be one: what isn't is a mistake in a template or in
// data, which the template reports.
func number(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("%q is no number", text))
	}
	return x
}

// result holds what the documents use of a result of gapwise solve --json.
type result struct {
	Instance  string      `json:"instance"`
	Status    string      `json:"status"`
	Objective json.Number `json:"objective"`
	Bound     json.Number `json:"bound"`
	Trace     []struct {
		Planned   json.Number `json:"planned"`
		Realistic json.Number `json:"realistic"`
	} `json:"trace"`
}

// Rounds lists the realised makespans of a network-aware run's rounds.
func (r result) Rounds() string {
	var all []string
	for _, t := range r.Trace {
		all = append(all, short(t.Realistic.String()))
	}
	return strings.Join(all, " ")
}

// short rounds a figure to five digits.
func short(text string) string { return strconv.FormatFloat(number(text), 'g', 5, 64) }

// Best describes the best round.
func (r result) Best() string {
	best := 0
	for k, t := range r.Trace {
		if number(t.Realistic.String()) < number(r.Trace[best].Realistic.String()) {
			best = k
		}
	}
	return fmt.Sprintf("%s, at round %d", short(r.Trace[best].Realistic.String()), best+1)
}

// solve returns the result of one run.
func (r *runner) solve(args ...string) (result, error) {
	text, err := r.run(append([]string{"solve", "--json"}, args...)...)
	if err != nil {
		return result{}, err
	}
	all, err := decodeResults(text)
	if err == nil && len(all) != 1 {
		err = fmt.Errorf("solve %s: %d results, want one", strings.Join(args, " "), len(all))
	}
	if err != nil {
		return result{}, err
	}
	return all[0], nil
}

func decodeResults(text string) ([]result, error) {
	var all []result
	for dec := json.NewDecoder(strings.NewReader(text)); dec.More(); {
		var x result
		if err := dec.Decode(&x); err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

// once returns a file's text, made where it isn't there.
func once(file string, text func() (string, error)) (string, error) {
	if had, err := os.ReadFile(file); err == nil {
		return string(had), nil
	}
	made, err := text()
	if err != nil {
		return "", err
	}
	return made, os.WriteFile(file, []byte(made), 0o644)
}

// audit compares everything that gapwise claims, of about so many instances of each problem, and returns what was
// compared as Markdown.
func (r *runner) audit(seed string, instances map[string]any) (string, error) {
	all := audit.NewTally()
	for _, kind := range model.Kinds() {
		code, err := codeOf(string(kind))
		if err != nil {
			return "", err
		}
		t, err := r.audited(string(kind), code, fmt.Sprint(instances[string(kind)]), seed)
		if err != nil {
			return "", err
		}
		all.Add(t)
	}
	return all.Trust(), nil
}

// audited compares what is claimed of a problem, once for its code.
func (r *runner) audited(kind, code, instances, seed string) (*audit.Tally, error) {
	file := fmt.Sprintf("results/audit-%s-%s-%s-%s.json", kind, code, instances, seed)
	text, err := once(file, func() (string, error) {
		_, err := output(r.gapwise, "audit", "--kind", kind, "--time", "0s", "--instances", instances, "--seed", seed, "--workers", r.workers, "--counts", file, "-o", "results/audit")
		if err != nil {
			os.Remove(file) // what disagrees isn't kept
			return "", fmt.Errorf("%w; what disagrees is in results/audit", err)
		}
		text, err := os.ReadFile(file)
		return string(text), err
	})
	if err != nil {
		return nil, err
	}
	var report audit.Report
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return report.Tally, nil
}

// optimum returns the optimum of an instance, proved by both engines.
func (r *runner) optimum(file string) (string, error) {
	x, err := r.solve("-a", "exact", "--engine", "both", file)
	if err == nil && x.Status != "optimal" {
		err = fmt.Errorf("%s: the engines' status is %s, the document says optimal", file, x.Status)
	}
	return x.Objective.String(), err
}

// edit writes an instance with another value of a key, as JSON.
func edit(file, name, key, value string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		return "", err
	}
	keys[key] = json.RawMessage(value)
	if data, err = json.Marshal(keys); err != nil {
		return "", err
	}
	in, err := model.DecodeInstance(data)
	if err != nil {
		return "", err
	}
	if data, err = json.Marshal(in); err != nil {
		return "", err
	}
	name = "results/" + name
	return name, os.WriteFile(name, data, 0o644)
}

// describe returns the description of a built-in plan.
func describe(plan string) (string, error) {
	data, err := os.ReadFile("benchmarks/plans/" + plan + ".yaml")
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(`(?m)^description: "?(.*?)"?$`).FindSubmatch(data)
	if m == nil {
		return "", fmt.Errorf("the plan %s has no description", plan)
	}
	return string(m[1]), nil
}

// dataFolder returns the folder of the data sets.
func dataFolder() (string, error) {
	if f := os.Getenv("GAPWISE_DATA"); f != "" {
		return f, nil
	}
	return "", errors.New("this part needs the data sets, set GAPWISE_DATA to their folder")
}

// processor returns the name of the machine's processor.
func processor() string {
	data, _ := os.ReadFile("/proc/cpuinfo")
	if m := regexp.MustCompile(`(?m)^model name\s*: (.*)$`).FindSubmatch(data); m != nil {
		return string(m[1])
	}
	name, _ := output("uname", "-m")
	return name
}

// benchstat summarises the newest baseline's benchmarks of the given names.
func benchstat(names ...string) (string, error) {
	file, err := newestBaseline()
	if err != nil {
		return "", err
	}
	return output("go", "tool", "benchstat", "-filter", ".name:("+strings.Join(names, " OR ")+")", file)
}

// baseline returns the version of the newest baseline.
func baseline() (string, error) {
	file, err := newestBaseline()
	return strings.TrimSuffix(filepath.Base(file), ".txt"), err
}

func newestBaseline() (string, error) {
	files, err := filepath.Glob("benchmarks/baseline/*.txt")
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("there is no baseline, make bench-baseline writes one (%v)", err)
	}
	// By version: 0.10.0 is newer than 0.5.0.
	version := func(file string) string { return "v" + strings.TrimSuffix(filepath.Base(file), ".txt") }
	return slices.MaxFunc(files, func(a, b string) int { return semver.Compare(version(a), version(b)) }), nil
}
