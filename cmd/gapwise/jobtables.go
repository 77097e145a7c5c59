// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/model"
)

// checkCSV reports flags that don't go with --csv and --batsim: one table is of one solution.
func checkCSV(c *cli.Command, paths []string) error {
	file := c.String("csv")
	if prefix := c.String("batsim"); prefix != "" {
		if len(paths) > 1 || several(c) {
			return usagef("solve: --batsim takes one file and one algorithm")
		}
		for _, path := range batsimFiles(prefix) {
			if err := checkOutput(path, paths); err != nil {
				return err
			}
		}
	}
	switch {
	case file == "":
		return nil
	case len(paths) > 1 || several(c):
		return usagef("solve: --csv takes one file and one algorithm")
	case isStdout(file) && (c.Bool("json") || isStdout(c.String("output"))):
		return usagef("solve: standard output takes --csv, or results by --json or -o")
	}
	return checkOutput(file, paths)
}

// batsimFiles returns the names of Batsim's tables: of the jobs, and of the schedule.
func batsimFiles(prefix string) [2]string {
	return [2]string{prefix + "_jobs.csv", prefix + "_schedule.csv"}
}

// writeBatsim writes Batsim's tables of the only result; none without a prefix.
func (p *program) writeBatsim(prefix string, in model.Instance, results []model.Result) error {
	if prefix == "" {
		return nil
	}
	for k, path := range batsimFiles(prefix) {
		if results[0].Solution == nil {
			fmt.Fprintf(p.err, "%s isn't written: there is no solution\n", path)
			continue
		}
		of := []func(model.Instance, model.Solution) (runs.Table, error){runs.JobTable, runs.ScheduleTable}[k]
		if err := p.writeTable(path, of, in, results[0].Solution); err != nil {
			return err
		}
	}
	return nil
}

// writeTable writes a table of a solution as CSV.
func (p *program) writeTable(file string, of func(model.Instance, model.Solution) (runs.Table, error), in model.Instance, s model.Solution) error {
	t, err := of(in, s)
	if err != nil {
		return err
	}
	return p.writeFile(file, func(w io.Writer) error { return t.Render(w, "csv") })
}
