// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
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
func (r *runner) stg(limit string) (all []stgRow) {
	lines, folder := unpacked("stg", "makespans.csv", "stg-rand.tar.gz")
	defer os.RemoveAll(folder)
	published := map[string][]string{} // lower bound, upper bound, status
	for _, l := range lines {
		published[l[0]+","+l[1]] = l[2:]
	}
	code := codeOf("dag", portfolio)
	for _, tasks := range []string{"50", "100"} {
		graphs := must(filepath.Glob(filepath.Join(folder, tasks, "*.stg")))
		for _, m := range []string{"2", "4", "8", "16"} {
			row := stgRow{Tasks: tasks, Processors: m}
			file := fmt.Sprintf("results/dag-stg-%s-%s-%s-%s.jsonl", code, limit, tasks, m)
			text := once(file, func() string {
				return r.run(append([]string{"solve", "--json", "--effort", limit, "--platform", "uniform,machines=" + m}, graphs...)...)
			})
			for _, x := range decoded[result](text) {
				known, value := published[tasks+"/"+x.Instance+".stg,"+m], math.NaN()
				if known == nil {
					panic(fmt.Errorf("no published makespan of %s on %s processors", x.Instance, m))
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
					panic(fmt.Errorf("%s on %s processors: proved %v contradicts the published %s to %s", x.Instance, m, value, known[0], known[1]))
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
	return all
}

// traces lists the workflow traces of the data sets.
func traces() map[string]string {
	all := map[string]string{}
	for _, f := range must(filepath.Glob(filepath.Join(dataFolder(), "wfinstances", "*.json.gz"))) {
		all[strings.TrimSuffix(filepath.Base(f), ".json.gz")] = f
	}
	return all
}

// unpacked returns the rows of a data set's table of published results, and a new folder with the files of its archive.
func unpacked(set, table, archive string) (rows [][]string, folder string) {
	data := filepath.Join(dataFolder(), set)
	rows = must(csv.NewReader(bytes.NewReader(must(os.ReadFile(filepath.Join(data, table))))).ReadAll())
	folder = must(os.MkdirTemp("", set))
	must(output("tar", "-xzf", filepath.Join(data, archive), "-C", folder))
	return rows, folder
}
