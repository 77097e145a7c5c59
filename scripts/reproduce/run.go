package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/template"

	"github.com/gapwise/gapwise/internal/runs"
)

// runner runs gapwise for the templates.
type runner struct {
	gapwise, workers string
	runs             int                      // of each Go benchmark
	dirty            bool                     // for a trial
	commit           string                   // of the working tree
	plans            []ran                    // of the part at work
	read             map[string][]runs.Record // results files of it, see records
}

// functions returns what a template can call beside text/template's own.
func (r *runner) functions() template.FuncMap {
	return template.FuncMap{
		"gapwise": r.run, "draw": r.draw, "bench": r.bench, "benchAlone": r.benchAlone, "solve": r.solve, "optimum": r.optimum,
		"table": r.table, "rows": r.rows, "findings": r.findings, "ablation": r.ablation, "kernelAblation": r.kernelAblation, "proofs": proofs, "duels": readDuels,
		"batchImprovements": batchImprovements, "batchGaps": batchGaps, "batchLoads": batchLoads, "batchSettings": batchSettings, "batchPEASY": batchPEASY, "batchCosts": batchCosts,
		"batchReadings": batchReadings, "nearest": nearest, "oneTier": oneTier,
		"beside": r.beside, "stg": r.stg,
		"audit": r.audit, "glob": filepath.Glob, "try": r.try, "plan": plan, "code": code, "link": link,
		"readings": r.readings, "besideLeft": r.besideLeft, "findingsLeft": r.findingsLeft, "timesClosest": timesClosest, "picture": r.picture, "across": r.across, "timesBeside": r.timesBeside,
		"above": r.above, "periodic": periodic,
		"baseline": baseline, "benchstat": benchstat, "describe": describe, "edit": edit, "experiments": experiments,
		"replace": strings.ReplaceAll, "tvcLogs": tvcLogs, "tvcAcross": tvcAcross, "tvcSettings": tvcSettings, "tvcBothLogs": tvcBothLogs,
		"pick": pick, "processor": processor, "traces": traces,
		"verdictsOf": r.verdictsOf, "readingsOf": r.readingsOf, "unmet": r.unmet, "sameVerdicts": r.sameVerdicts, "ahead": ahead, "movingExperiment": movingExperiment,
		"reservationWorkload": reservationWorkload, "reservationLogs": reservationLogs, "slotGrowth": slotGrowth,
		"measure": r.measure, "reportShot": r.reportShot, "runs": func() int { return r.runs }, "cpuTime": r.cpuTime, "batchTargets": batchTargets,
		"increase": func(from, to float64) float64 { return 100 * (to/from - 1) },
		"closest":  closest, "met": met, "mostWithin": mostWithin, "nearestTen": nearestTen, "tenReadings": r.tenReadings, "dagReadings": dagReadings, "dagVerdicts": r.dagVerdicts, "dagSettings": dagSettings, "dagSplits": dagSplits,
		"dict":  dict,
		"list":  func(x ...any) []any { return x },
		"ratio": func(a, b float64) float64 { return a / b },
		"sub":   func(a, b int) int { return a - b },
		"add":   func(a, b int) int { return a + b },
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
	_, err := r.run(append([]string{"bench", plan, "--workers", workers, "-o", file}, flags...)...)
	return file, err
}

// table returns a Markdown table of results, as gapwise table makes it.
func (r *runner) table(file string, args ...string) (string, error) {
	return r.run(append([]string{"table", file, "--format", "markdown"}, args...)...)
}

// findings returns the Markdown table of a paper's findings checked against
// results.
func (r *runner) findings(file, by string, args ...string) (string, error) {
	return r.run(append([]string{"findings", file, "--by", by, "--format", "markdown"}, args...)...)
}

// rows is a table that templates compute with. Times are in seconds.
type rows []row

type row map[string]string

// cell returns a column's cell. It panics for a missing column: that is a mistake
// in a template, which reports the panic as its error.
func (r row) cell(column string) string {
	text, ok := r[column]
	if !ok {
		panic(fmt.Sprintf("the table has no column %q", column))
	}
	return text
}

// rows returns the rows that a command prints as a table: rows "table" FILE
// ARGS...
func (r *runner) rows(args ...string) (rows, error) {
	text, err := r.run(append(args, "--format", "csv")...)
	if err != nil {
		return nil, err
	}
	cells, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	var all rows
	for _, line := range cells[1:] {
		row := row{}
		for k, name := range cells[0] {
			row[strings.TrimSuffix(name, " s")] = line[k]
		}
		all = append(all, row)
	}
	return all, nil
}

// Where returns the rows with a value in a column.
func (all rows) Where(column, value string) rows {
	var some rows
	for _, r := range all {
		if r.cell(column) == value {
			some = append(some, r)
		}
	}
	return some
}

// Sum adds up a column's numbers.
func (all rows) Sum(column string) (sum float64) {
	for _, r := range all {
		sum += number(r.cell(column))
	}
	return sum
}

// Count adds up a column of whole numbers.
func (all rows) Count(column string) int { return int(all.Sum(column)) }

// Max returns the largest number of a column.
func (all rows) Max(column string) (most float64) {
	for _, r := range all {
		most = max(most, number(r.cell(column)))
	}
	return most
}

// Leads reports whether an algorithm's value in a column is above another's in
// every group of rows with the same values of the parameters.
func (all rows) Leads(column, first, second string, parameters ...string) bool {
	key := func(r row) string {
		k := ""
		for _, p := range parameters {
			k += r.cell(p) + " "
		}
		return k
	}
	values := map[string]float64{}
	for _, r := range all.Where("algorithm", second) {
		values[key(r)] = number(r.cell(column))
	}
	for _, r := range all.Where("algorithm", first) {
		if number(r.cell(column)) <= values[key(r)] {
			return false
		}
	}
	return len(values) > 0
}

// number returns the number in a cell, 0 if there is none.
func number(cell string) float64 {
	x, _ := strconv.ParseFloat(strings.TrimSpace(cell), 64)
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
	all, err := r.solveAll(args...)
	if err == nil && len(all) != 1 {
		err = fmt.Errorf("solve %s: %d results, want one", strings.Join(args, " "), len(all))
	}
	if err != nil {
		return result{}, err
	}
	return all[0], nil
}

func (r *runner) solveAll(args ...string) ([]result, error) {
	text, err := r.run(append([]string{"solve", "--json"}, args...)...)
	if err != nil {
		return nil, err
	}
	return decodeResults([]byte(text))
}

func decodeResults(text []byte) ([]result, error) {
	var all []result
	for dec := json.NewDecoder(bytes.NewReader(text)); dec.More(); {
		var x result
		if err := dec.Decode(&x); err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

// audit compares everything that gapwise claims for a while, on two threads, and
// returns what was compared as Markdown. The audit of one commit runs once.
func (r *runner) audit(time, seed string) (string, error) {
	file := fmt.Sprintf("results/audit-%s-%s-%s.md", r.commit, time, seed)
	if _, err := os.Stat(file); err != nil {
		if _, err := output(r.gapwise, "audit", "--time", time, "--seed", seed, "--workers", "2", "--trust", file, "-o", "results/audit"); err != nil {
			return "", fmt.Errorf("%w; what disagrees is in results/audit", err)
		}
	}
	text, err := os.ReadFile(file)
	return string(text), err
}

// optimum returns the optimum of an instance, proved by both engines.
func (r *runner) optimum(file string) (string, error) {
	x, err := r.solve("-a", "exact", "--engine", "both", file)
	if err == nil && x.Status != "optimal" {
		err = fmt.Errorf("%s: the engines' status is %s, the document says optimal", file, x.Status)
	}
	return x.Objective.String(), err
}

// pick writes the matching lines of a results file to another file and returns
// its name.
func pick(file, name, pattern string) (string, error) {
	return rewrite(file, name, func(line string) string {
		if !regexp.MustCompile(pattern).MatchString(line) {
			return ""
		}
		return line
	})
}

// rewrite writes what change returns for each line of a file, without empty
// lines.
func rewrite(file, name string, change func(string) string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		if line := change(lines.Text()); line != "" {
			out.WriteString(line + "\n")
		}
	}
	name = "results/" + name + ".jsonl"
	return name, os.WriteFile(name, out.Bytes(), 0o644)
}

// edit writes a file with all matches of a pattern replaced.
func edit(file, name, pattern, replacement string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	name = "results/" + name
	return name, os.WriteFile(name, regexp.MustCompile(pattern).ReplaceAll(data, []byte(replacement)), 0o644)
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
	return files[len(files)-1], nil
}
