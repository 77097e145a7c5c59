// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

func (p *program) table() *cli.Command {
	help := "Columns:\n"
	for _, c := range runs.ColumnNames() {
		help += fmt.Sprintf("  %-21s %s\n", c[0], words.Wrap(c[1], 51, 24))
	}
	help += "\n" + parametersHelp() +
		"\n" + words.Wrap("Jobs: --by "+strings.Join(runs.JobKeys, ", ")+" makes a table of the jobs in solutions with a queue (batch, tvc), grouped by that key. "+
		"Give each INSTANCE and the RESULT of gapwise solve -o, or RESULTS whose solutions gapwise bench --solutions has kept. "+
		"Sizes are 1, 2 to 4, 5 to 16 processes and so on.", 76, 0) + "\n\n" +
		"Columns of jobs:\n"
	for _, c := range runs.JobColumns() {
		help += fmt.Sprintf("  %-21s %s\n", c[0], words.Wrap(c[1], 51, 24))
	}
	return &cli.Command{
		ArgsUsage:   "RESULTS... [INSTANCE...]",
		Description: strings.TrimRight(help, "\n"),
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "by", Usage: "`LIST` of parameters to group by, or instance; run for a row for each run; or user, queue, size, ... of jobs"},
			&cli.StringFlag{Name: "algorithms", Usage: "`LIST` of algorithms to show, in this order"},
			&cli.StringFlag{Name: "columns", Usage: "`LIST` of columns to show, or all"},
			&cli.BoolFlag{Name: "wide", Usage: "make a column for each algorithm, with the one value of --columns, and mark the best"},
			&cli.IntFlag{Name: "most", Value: 20, Usage: "jobs: number of users, groups, ... to show; the others are one row; 0: all"},
			&cli.StringFlag{Name: "plan", Usage: "jobs: `FILE` of the plan whose runs kept their solutions"},
			instancesFlag(),
		}, tableFlags()...),
		Action: func(ctx context.Context, c *cli.Command) error {
			if slices.Contains(runs.JobKeys, c.String("by")) {
				if c.Bool("wide") {
					return usagef("table: --wide goes with parameters of instances, not with --by %s of jobs", c.String("by"))
				}
				return p.tableOfJobs(ctx, c)
			}
			records, err := p.results(c)
			if err != nil {
				return err
			}
			o := runs.TableOptions{By: list(c, "by"), Algorithms: list(c, "algorithms"), Columns: list(c, "columns"),
				Plain: c.String("format") == "csv", OneUnit: c.String("format") == "latex", Wide: c.Bool("wide")}
			if slices.Equal(o.Columns, []string{"all"}) {
				o.Columns = nil
				for _, k := range runs.ColumnNames() {
					o.Columns = append(o.Columns, k[0])
				}
			}
			if slices.Equal(o.By, []string{runs.ByRun}) {
				return p.tableOfRuns(c, records, o)
			}
			figures, err := runs.Tabulate(records, o)
			if err != nil {
				return err
			}
			records = figures.Records()
			vouched := runs.Vouched(records)
			if c.String("format") != "text" && !slices.ContainsFunc(records, func(r runs.Record) bool { return !r.Sealed }) {
				vouched = nil
			}
			return p.writeFile(c.String("output"), func(w io.Writer) error {
				if err := render(w, c, figures.Table(o)); err != nil {
					return err
				}
				// The source of the table's figures is for people: in the other formats it would be in the way.
				if c.String("format") != "text" {
					w = p.err
				}
				for _, s := range vouched {
					fmt.Fprintln(w, words.Wrap(s, 78, 2))
				}
				return nil
			})
		},
	}
}

// tableOfRuns writes a table with a row for each run.
func (p *program) tableOfRuns(c *cli.Command, records []runs.Record, o runs.TableOptions) error {
	if o.Wide {
		return usagef("table: --wide goes with parameters of instances or --by %s, not with --by %s", runs.ByInstance, runs.ByRun)
	}
	if c.String("columns") == "all" {
		o.Columns = nil
	}
	o.Plain = o.Plain || c.String("columns") == "all"
	t, err := runs.TabulateRuns(records, o)
	if err != nil {
		return err
	}
	return p.writeFile(c.String("output"), func(w io.Writer) error { return render(w, c, t) })
}

// parametersHelp lists the parameters of each problem.
func parametersHelp() string {
	help := "Parameters, computed for any instance unless its generator gives them:\n"
	for _, p := range gapwise.Problems() {
		help += fmt.Sprintf("  %s\n", p.Kind)
		var drawn []string
		for _, x := range runs.ParamsOf(p) {
			if !x.Computed {
				drawn = append(drawn, x.Key)
				continue
			}
			if x.Unit != "" {
				x.Help += ", in " + x.Unit
			}
			help += fmt.Sprintf("    %-15s %s\n", x.Key, words.Wrap(x.Help, 55, 20))
		}
		help += fmt.Sprintf("    %-15s %s\n", "generated also", words.Wrap(strings.Join(append(drawn, "draw"), ", "), 55, 20))
	}
	return help
}

// list splits a flag at its commas.
func list(c *cli.Command, flag string) []string {
	var all []string
	for _, s := range strings.Split(c.String(flag), ",") {
		if s = strings.TrimSpace(s); s != "" {
			all = append(all, s)
		}
	}
	return all
}

// results reads the results files of a command line, all as one.
func (p *program) results(c *cli.Command) ([]runs.Record, error) {
	paths, err := tableFiles(c)
	if err != nil {
		return nil, err
	}
	records, err := readRecords(paths)
	if err != nil {
		return nil, err
	}
	if records, err = p.ofInstances(c, records); err != nil {
		return nil, err
	}
	records, notes, err := runs.Merge(records)
	p.note(notes)
	return records, err
}

// tableOfJobs writes a table of jobs by user, queue and so on.
func (p *program) tableOfJobs(ctx context.Context, c *cli.Command) error {
	paths, err := tableFiles(c)
	if err != nil {
		return err
	}
	found, _, err := p.reported(ctx, c, paths, nil)
	if err != nil {
		return err
	}
	chosen := list(c, "algorithms")
	var solved []runs.Solved
	for i := range found {
		r := &found[i]
		if len(chosen) > 0 && !slices.Contains(chosen, r.Algorithm) {
			continue
		}
		if r.Load != nil && r.Solution == nil {
			if r.Instance, r.Solution, err = r.Load(ctx); err != nil {
				return err
			}
		}
		if r.Instance != nil && r.Solution != nil {
			solved = append(solved, runs.Solved{Record: &r.Record, Instance: r.Instance, Solution: r.Solution})
		}
	}
	if len(solved) == 0 {
		return fmt.Errorf("table: %w: --by %s is of jobs, and no solution is at hand with its instance; give both, as in gapwise bench table --by %s INSTANCE RESULT", model.ErrInvalid, c.String("by"), c.String("by"))
	}
	t, err := runs.TabulateJobs(solved, c.String("by"), list(c, "columns"), c.Int("most"))
	if err != nil {
		return err
	}
	return p.writeFile(c.String("output"), func(w io.Writer) error { return render(w, c, t) })
}

// tableFiles returns the files of a command line, after a look at the flags --format and
// --output.
func tableFiles(c *cli.Command) ([]string, error) {
	paths, err := files(c, 0)
	if err != nil {
		return nil, err
	}
	if f := c.String("format"); !slices.Contains(runs.Formats, f) {
		return nil, usagef("%s: --format is %q, give one of %s", c.Name, f, strings.Join(runs.Formats, ", "))
	}
	for _, f := range []string{"caption", "label"} {
		if c.IsSet(f) && c.String("format") != "latex" {
			return nil, usagef("%s: --%s goes with --format latex", c.Name, f)
		}
	}
	return paths, checkOutput(c.String("output"), paths)
}

// note prints the notes on results, a line each.
func (p *program) note(lines []string) {
	for _, s := range lines {
		fmt.Fprintf(p.err, "gapwise: %s\n", s)
	}
}

// instancesFlag is the flag of the commands that read runs and can restrict them to some instances.
func instancesFlag() cli.Flag {
	return &cli.StringFlag{Name: "instances", Usage: "only instances whose names match `PATTERN`, a regular expression"}
}

// ofInstances returns the runs that the flag --instances leaves, and of each run the last state of its program. It reports results of several builds.
func (p *program) ofInstances(c *cli.Command, records []runs.Record) ([]runs.Record, error) {
	pattern, err := regexp.Compile(c.String("instances"))
	if err != nil {
		return nil, usagef("%s: --instances is %q: %v", c.Name, c.String("instances"), err)
	}
	some := slices.DeleteFunc(slices.Clone(records), func(r runs.Record) bool { return !pattern.MatchString(r.Instance) })
	if len(some) == 0 && len(records) > 0 {
		return nil, fmt.Errorf("%s: %w results: no run's instance matches --instances %q, one is %s", c.Name, model.ErrInvalid, c.String("instances"), records[0].Instance)
	}
	some, notes := runs.Current(some)
	p.note(append(notes, origins(some)...))
	return some, nil
}

// origins reports files that end within a run, and runs of several builds, or of several processors.
func origins(records []runs.Record) (all []string) {
	for k := range records {
		if r := &records[k]; r.Cut {
			all = append(all, fmt.Sprintf("%s line %d is cut off, and its run left out", r.File, r.Line+1))
		}
	}
	if builds := runs.Builds(records); len(builds) > 1 {
		all = append(all, "these runs are of several builds of gapwise: "+strings.Join(builds, ", "))
	}
	if cpus := runs.Processors(records); len(cpus) > 1 {
		all = append(all, "these times are of several models of processor and don't compare: "+strings.Join(cpus, ", "))
	}
	return all
}

// readRecords reads results files, all as one.
func readRecords(paths []string) ([]runs.Record, error) {
	var records []runs.Record
	for _, path := range paths {
		var some []runs.Record
		var err error
		if path == "-" {
			some, _, err = runs.DecodeRecords(os.Stdin, "standard input")
		} else {
			some, err = runs.ReadRecords(path)
		}
		var at *fs.PathError
		if errors.As(err, &at) {
			err = fmt.Errorf("%w input: can't read %s: %w", model.ErrInvalid, path, at.Err)
		} else if err != nil && !errors.Is(err, model.ErrInvalid) {
			err = fmt.Errorf("%w: %w", model.ErrInvalid, err)
		}
		if err != nil {
			return nil, noRuns(path, err)
		}
		records = append(records, some...)
	}
	return records, nil
}

// noRuns returns the error of a file that holds no runs in the words of its format, if it has one of those that gapwise
// reads elsewhere: err is why its first line is no run.
func noRuns(path string, err error) error {
	if path == "-" || !strings.Contains(err.Error(), " line 1: ") {
		return err
	}
	data, e := instances.ReadFile(path)
	if e != nil || isRecord(data) { // a damaged run is in err
		return err
	}
	if what := heldBy(data); what != "" {
		return fmt.Errorf("%s: %w results: %s", instances.Label(path), model.ErrInvalid, what)
	}
	return err
}
