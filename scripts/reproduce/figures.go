package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/exact"
	"github.com/gapwise/gapwise/model"
)

// stgRow counts the runs on the Standard Task Graphs of one size on one number
// of processors.
type stgRow struct {
	Tasks, Processors                string
	Graphs, Proved, Met, Missed, New int
}

// stg solves the Standard Task Graph set, each graph within a time limit, and
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
	for _, tasks := range []string{"50", "100"} {
		graphs, err := filepath.Glob(filepath.Join(folder, tasks, "*.stg"))
		if err != nil {
			return nil, err
		}
		for _, m := range []string{"2", "4", "8", "16"} {
			row := stgRow{Tasks: tasks, Processors: m}
			file := fmt.Sprintf("results/dag-stg-%s-%s-%s.jsonl", gapwise.Version, tasks, m)
			text, err := os.ReadFile(file)
			if err != nil {
				out, err := r.run(append([]string{"solve", "--json", "--time-limit", limit, "--platform", "uniform,machines=" + m}, graphs...)...)
				if err != nil {
					return nil, err
				}
				text = []byte(out)
				if err := os.WriteFile(file, text, 0o644); err != nil {
					return nil, err
				}
			}
			results, err := decodeResults(text)
			if err != nil {
				return nil, err
			}
			for _, x := range results {
				known, value := published[tasks+"/"+x.Instance+".stg,"+m], number(x.Objective.String())
				if known == nil {
					return nil, fmt.Errorf("no published makespan of %s on %s processors", x.Instance, m)
				}
				open := known[2] == "open"
				row.Graphs++
				switch {
				case x.Status == "optimal" && (value < number(known[0]) || value > number(known[1])):
					return nil, fmt.Errorf("%s on %s processors: proved %v contradicts the published %s to %s", x.Instance, m, value, known[0], known[1])
				case x.Status == "optimal" && !open:
					row.Proved++
					row.Met++
				case x.Status == "optimal":
					row.Proved++
					row.New++
				case !open:
					row.Missed++
				}
			}
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

// ablation runs the plan ablation-KIND as it is and without each device of the
// problem's native search. It returns, for each of them, what the plan's two
// algorithms do, the second on larger instances with more time.
func (r *runner) ablation(kind any) (all []ablated, err error) {
	p, err := gapwise.ProblemOf(model.Kind(fmt.Sprint(kind)))
	if err != nil {
		return nil, err
	}
	for _, d := range append([]exact.Device{{}}, p.Search.Devices()...) {
		var flags []string
		if d.Name != "" {
			flags = []string{"--without", d.Name}
		}
		file, err := r.bench(fmt.Sprint("ablation-", kind), flags...)
		if err != nil {
			return nil, err
		}
		found, err := r.rows("table", file, "--algorithms", "search,search-60s", "--columns", "runs,infeasible,optimal,gap mean %,nodes mean,time mean")
		if err != nil {
			return nil, err
		}
		if len(found) != 2 {
			return nil, fmt.Errorf("the plan ablation-%v has %d algorithms, not search and search-60s", kind, len(found))
		}
		all = append(all, ablated{d, found[0], found[1]})
	}
	return all, nil
}

// ablated is what a search does without a device.
type ablated struct {
	exact.Device
	Small, Large row
}

// kernelAblation runs the plan ablation-kernel, of DAGs, as it is and without each
// device of the engine kernel. Large stays empty.
func (r *runner) kernelAblation() (all []ablated, err error) {
	p, err := gapwise.ProblemOf(model.KindDAG)
	if err != nil {
		return nil, err
	}
	for _, d := range append([]exact.Device{{}}, p.Kernel.Devices()...) {
		var flags []string
		if d.Name != "" {
			flags = []string{"--without", d.Name}
		}
		file, err := r.bench("ablation-kernel", flags...)
		if err != nil {
			return nil, err
		}
		found, err := r.rows("table", file, "--algorithms", "kernel", "--columns", "runs,infeasible,optimal,gap mean %,nodes mean,time mean")
		if err != nil {
			return nil, err
		}
		all = append(all, ablated{Device: d, Small: found[0]})
	}
	return all, nil
}

// Proved counts the instances proved optimal or infeasible.
func (r row) Proved() int { return int(number(r.cell("optimal")) + number(r.cell("infeasible"))) }
