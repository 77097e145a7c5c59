// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/template"

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

// functions returns what the templates of all pages can call beside text/template's own, and then the values of one.
// What goes wrong in one of them is a panic, which text/template reports as its error.
func (r *runner) functions(page string) template.FuncMap {
	all := template.FuncMap{
		"gapwise": r.run, "draw": r.draw, "bench": r.bench, "benchAlone": r.benchAlone, "solve": r.solve, "optimum": r.optimum, "edit": edit,
		"table": r.table, "rows": r.rows, "sets": sets, "pick": pick, "findings": r.findings, "findingsOf": r.findingsOf, "count": r.count, "ahead": r.ahead,
		"pivot": r.pivot, "across": r.across, "beside": r.beside, "printed": papers.Printed, "met": met,
		"plan": plan, "code": code, "link": link, "describe": describe, "processor": processor, "replace": strings.ReplaceAll,
		"measures": r.measures,
		"dict":     dict,
		"list":     func(x ...any) []any { return x },
		"percent":  func(share float64) float64 { return 100 * share },
		"add":      func(a, b int) int { return a + b },
	}
	maps.Copy(all, r.values()[page])
	return all
}

// values are of one page each, or of two about one paper.
func (r *runner) values() map[string]template.FuncMap {
	batch := template.FuncMap{"oneTier": oneTier, "loads": batchLoads, "improvements": r.batchImprovements,
		"costs": r.batchCosts, "peasy": r.batchPEASY, "readings": r.batchReadings, "nearest": nearest}
	vcsched := template.FuncMap{"degradations": r.degradations, "readings": r.readings, "timesClosest": timesClosest,
		"timesBeside": r.timesBeside, "above": r.above, "curves": r.curvesTable, "picture": r.picture}
	tvc := template.FuncMap{"logs": tvcLogs}
	return map[string]template.FuncMap{
		"ablation": {"ablation": r.ablation},
		"auto":     {"anytime": r.anytime},
		"batch":    batch, "batch-settings": batch,
		"coverage": {"try": r.try, "workload": reservationWorkload, "sameVerdicts": r.sameVerdicts, "logs": tvcLogs},
		"dag":      {"settings": r.dagSettings, "stg": r.stg, "traces": traces, "printedTable": papers.Table},
		"growth":   {"benchstat": benchstat, "baseline": baseline},
		"million":  {"endToEnd": r.endToEnd},
		"performance": {"measure": r.measure, "cpuTime": r.cpuTime, "runs": func() int { return r.runs }, "targets": batchTargets, "gaps": batchGaps,
			"duels": readDuels, "packings": r.packings, "sub": func(a, b int) int { return a - b }, "ratio": func(a, b float64) float64 { return a / b }},
		"report":      {"reportShot": r.reportShot},
		"reservation": {"openReading": openReading, "sameVerdicts": r.sameVerdicts, "workload": reservationWorkload, "slotGrowth": slotGrowth, "pairs": r.pairs},
		"trust":       {"audit": r.audit, "proofs": proofs, "glob": filepath.Glob},
		"tvc":         tvc, "tvc-queue": tvc,
		"vcsched": vcsched, "vcsched-large": vcsched,
	}
}

// must returns a value, and ends the part at work at an error.
func must[T any](x T, err error) T {
	check(err)
	return x
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// within adds the place to an error that ends the function which defers it.
func within(place string) {
	if x := recover(); x != nil {
		if err, ok := x.(error); ok {
			x = fmt.Errorf("%s: %w", place, err)
		}
		panic(x)
	}
}

// failure returns the error that ends a function, nil if it comes to its end.
func failure(do func()) (err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case runtime.Error: // a mistake of the program
			panic(x)
		case error:
			err = x
		default:
			panic(x)
		}
	}()
	do()
	return nil
}

// dict makes a map of keys, which are texts, and their values.
func dict(x ...any) map[string]any {
	all := map[string]any{}
	for k := 0; k+1 < len(x); k += 2 {
		key, ok := x[k].(string)
		if !ok {
			panic(fmt.Errorf("dict: %v is no text", x[k]))
		}
		all[key] = x[k+1]
	}
	return all
}

// run runs gapwise and returns its output. Exit codes 5 (stopped by a limit) and
// 4 (proved infeasible) are results, not errors.
func (r *runner) run(args ...string) string {
	text, err := output(r.gapwise, args...)
	if !isResult(err) {
		panic(err)
	}
	return text
}

// isResult reports whether a command has ended with a result.
func isResult(err error) bool {
	var exit *exec.ExitError
	return err == nil || errors.As(err, &exit) && (exit.ExitCode() == 4 || exit.ExitCode() == 5)
}

// draw runs gapwise for the files that it writes.
func (r *runner) draw(args ...string) string {
	r.run(args...)
	return ""
}

// bench runs a plan with the given flags and returns its results file.
func (r *runner) bench(plan string, flags ...string) string {
	return r.benchWith(r.workers, plan, flags)
}

// benchAlone is bench with one run at a time, for times that can be compared.
func (r *runner) benchAlone(plan string, flags ...string) string {
	return r.benchWith("1", plan, flags)
}

func (r *runner) benchWith(workers, plan string, flags []string) string {
	file := "results/" + plan
	for _, f := range flags {
		file += "-" + strings.TrimLeft(f, "-")
	}
	file += ".jsonl"
	r.uses(plan, file)
	r.fresh(file)
	r.run(append([]string{"bench", plan, "--workers", workers, "-o", file}, flags...)...)
	return file
}

// table returns a Markdown table of results, as gapwise bench table makes it.
func (r *runner) table(file string, args ...string) string {
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
func (r *runner) rows(file, by, algorithms, columns string) rows {
	all := must(runs.Tabulate(r.records(file), runs.TableOptions{By: split(by), Algorithms: split(algorithms), Columns: split(columns)}))
	return rows{all, all.Rows}
}

// Where returns the rows of an algorithm, or with a value of a parameter as it is printed.
func (all rows) Where(column, value string) rows {
	k := slices.Index(all.By, column)
	return rows{all.Figures, kept(all.some, func(r runs.Row) bool {
		return k < 0 && r.Algorithm == value || k >= 0 && words.Figure(r.By[k]) == value
	})}
}

// of returns a column's numbers.
func (all rows) of(column string) (values []float64) {
	if !slices.Contains(all.Columns, column) {
		panic(fmt.Errorf("the table has no column %q", column))
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

// number reads a number that must be one.
func number(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Errorf("%q is no number", text))
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

// solve returns the result of one run.
func (r *runner) solve(args ...string) result {
	all := decoded[result](r.run(append([]string{"solve", "--json"}, args...)...))
	if len(all) != 1 {
		panic(fmt.Errorf("solve %s: %d results, want one", strings.Join(args, " "), len(all)))
	}
	return all[0]
}

// decoded reads the values of a text of JSON, a line each.
func decoded[T any](text string) (all []T) {
	for dec := json.NewDecoder(strings.NewReader(text)); dec.More(); {
		var x T
		check(dec.Decode(&x))
		all = append(all, x)
	}
	return all
}

// once returns a file's text, made where it isn't there.
func once(file string, text func() string) string {
	if had, err := os.ReadFile(file); err == nil {
		return string(had)
	}
	made := text()
	check(os.WriteFile(file, []byte(made), 0o644))
	return made
}

// optimum returns the optimum of an instance, proved by both engines.
func (r *runner) optimum(file string) string {
	x := r.solve("-a", "exact", "--engine", "both", file)
	if x.Status != "optimal" {
		panic(fmt.Errorf("%s: the engines' status is %s, the document says optimal", file, x.Status))
	}
	return x.Objective.String()
}

// edit writes an instance with another value of a key, as JSON.
func edit(file, name, key, value string) string {
	var keys map[string]json.RawMessage
	check(json.Unmarshal(must(os.ReadFile(file)), &keys))
	keys[key] = json.RawMessage(value)
	in := must(model.DecodeInstance(must(json.Marshal(keys))))
	name = "results/" + name
	check(os.WriteFile(name, must(json.Marshal(in)), 0o644))
	return name
}

// describe returns the description of a built-in plan.
func describe(plan string) string {
	data := must(os.ReadFile("benchmarks/plans/" + plan + ".yaml"))
	m := regexp.MustCompile(`(?m)^description: "?(.*?)"?$`).FindSubmatch(data)
	if m == nil {
		panic(fmt.Errorf("the plan %s has no description", plan))
	}
	return string(m[1])
}

// dataFolder returns the folder of the data sets.
func dataFolder() string {
	if f := os.Getenv("GAPWISE_DATA"); f != "" {
		return f
	}
	panic(errors.New("this part needs the data sets, set GAPWISE_DATA to their folder"))
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
