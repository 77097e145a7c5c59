// SPDX-License-Identifier: MIT

package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// stgRow counts the runs on the Standard Task Graphs of one size on one number
// of processors.
type stgRow struct {
	Tasks, Processors                string
	Graphs, Proved, Met, Missed, New int
}

// stg solves the Standard Task Graph set, each graph with a limit on the effort, and
// compares the results with the published makespans. It returns an error if a
// proof contradicts one.
func (r *runner) stg(limit string) (all []stgRow, err error) {
	data, err := dataFolder()
	if err != nil {
		return nil, err
	}
	table, err := os.Open(filepath.Join(data, "stg", "makespans.csv"))
	if err != nil {
		return nil, err
	}
	defer table.Close()
	lines, err := csv.NewReader(table).ReadAll()
	if err != nil {
		return nil, err
	}
	published := map[string][]string{} // lower bound, upper bound, status
	for _, l := range lines {
		published[l[0]+","+l[1]] = l[2:]
	}
	folder, err := os.MkdirTemp("", "stg")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	if _, err := output("tar", "-xzf", filepath.Join(data, "stg", "stg-rand.tar.gz"), "-C", folder); err != nil {
		return nil, err
	}
	code, err := codeOf("dag", portfolio)
	if err != nil {
		return nil, err
	}
	for _, tasks := range []string{"50", "100"} {
		graphs, err := filepath.Glob(filepath.Join(folder, tasks, "*.stg"))
		if err != nil {
			return nil, err
		}
		for _, m := range []string{"2", "4", "8", "16"} {
			row := stgRow{Tasks: tasks, Processors: m}
			file := fmt.Sprintf("results/dag-stg-%s-%s-%s-%s.jsonl", code, limit, tasks, m)
			text, err := once(file, func() (string, error) {
				return r.run(append([]string{"solve", "--json", "--effort", limit, "--platform", "uniform,machines=" + m}, graphs...)...)
			})
			if err != nil {
				return nil, err
			}
			results, err := decodeResults(text)
			if err != nil {
				return nil, err
			}
			for _, x := range results {
				known, value := published[tasks+"/"+x.Instance+".stg,"+m], math.NaN()
				if known == nil {
					return nil, fmt.Errorf("no published makespan of %s on %s processors", x.Instance, m)
				}
				if x.Status == "optimal" {
					value = number(x.Objective.String())
				}
				proved, open := x.Status == "optimal", known[2] == "open"
				row.Graphs++
				switch {
				case !proved && !open:
					row.Missed++
				case proved && (value < number(known[0]) || value > number(known[1])):
					return nil, fmt.Errorf("%s on %s processors: proved %v contradicts the published %s to %s", x.Instance, m, value, known[0], known[1])
				case proved && open:
					row.New++
				case proved:
					row.Met++
				}
			}
			row.Proved = row.Met + row.New
			all = append(all, row)
		}
	}
	return all, nil
}

// traces lists the workflow traces of the data sets.
func traces() (map[string]string, error) {
	data, err := dataFolder()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(data, "wfinstances", "*.json.gz"))
	all := map[string]string{}
	for _, f := range files {
		all[strings.TrimSuffix(filepath.Base(f), ".json.gz")] = f
	}
	return all, err
}
