package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/instances"
)

// batchSettings returns the two workloads in the results of a plan of the paper on
// batch scheduling: FWload is in the given figure, JWload in the next one.
func batchSettings(figure int, file string) []setting {
	return []setting{
		{Title: fmt.Sprintf("FWload (Figure %d)", figure), File: file, By: "load", Pattern: "^batch-feitelson-", Slug: fmt.Sprintf("batch-figure%d", figure)},
		{Title: fmt.Sprintf("JWload (Figure %d)", figure+1), File: file, By: "load", Pattern: "^batch-jann-", Slug: fmt.Sprintf("batch-figure%d", figure+1)},
	}
}

// At returns the setting at one load, over the cost of a migration.
func (x setting) At(load float64) setting {
	x.Title = fmt.Sprintf("%s at load %g", x.Title, load)
	x.Pattern += fmt.Sprintf(".*-load%s-", regexp.QuoteMeta(fmt.Sprint(load)))
	x.By = "migration_s"
	return x
}

var (
	easyRun = regexp.MustCompile(`"algorithm":"easy"`)
	tierOne = regexp.MustCompile(`"tiers":1\b`)
)

// oneTier calls EASY on one tier easy-one-tier in a copy of a results file.
func oneTier(file, name string) (string, error) {
	return rewrite(file, name, func(line string) string {
		if !tierOne.MatchString(line) {
			return line
		}
		return easyRun.ReplaceAllString(line, `"algorithm":"easy-one-tier"`)
	})
}

// batchLoad is a workload of the paper's section 3.1 as printed and as drawn.
type batchLoad struct {
	Name                  string
	Jobs                  int
	Size, Runtime, Serial float64 // printed; serial in percent
	Ours                  [3]float64
}

// batchLoads draws both workloads in the paper's numbers of jobs.
func batchLoads() ([]batchLoad, error) {
	all := []batchLoad{
		{Name: "FWload", Jobs: 200_000, Size: 23.4, Runtime: 2606.6, Serial: 18},
		{Name: "JWload", Jobs: 100_000, Size: 10.5, Runtime: 11267, Serial: 40.8},
	}
	for i, workload := range []string{instances.ModelFeitelson, instances.ModelJann} {
		w := &all[i]
		spec := instances.NewBatchSpec()
		spec.Model, spec.Jobs, spec.Seed = workload, w.Jobs, 1
		spec.MeanSize, spec.MeanRuntime, spec.Serial = w.Size, w.Runtime, w.Serial/100
		in, err := spec.Generate()
		if err != nil {
			return nil, err
		}
		n := float64(len(in.Jobs))
		for _, j := range in.Jobs {
			w.Ours[0] += float64(j.Processes) / n
			w.Ours[1] += j.RuntimeS / n
			if j.Processes == 1 {
				w.Ours[2] += 100 / n
			}
		}
	}
	return all, nil
}

// batchImprovements returns a Markdown table: a row for each load, for each workload
// and each EASY by how many percent MEASY's mean of a value is less.
func batchImprovements(settings []setting, value string) (string, error) {
	var all []benchmarks.Line
	for _, x := range settings {
		lines, err := x.Series(benchmarks.SeriesOptions{Y: value, Algorithms: []string{"measy", "easy-one-tier", "easy"}})
		if err != nil {
			return "", err
		}
		name, _, _ := strings.Cut(x.Title, " ")
		for k, against := range []string{"one tier", "two tiers"} {
			l := benchmarks.Line{Algorithm: name + ", EASY on " + against}
			for i, p := range lines[k+1].Points {
				p.Mean = 100 * (1 - lines[0].Points[i].Mean/p.Mean)
				l.Points = append(l.Points, p)
			}
			all = append(all, l)
		}
	}
	return pivot(settings[0].By, func(p benchmarks.SeriesPoint) string { return fmt.Sprintf(" %.1f |", p.Mean) }, all), nil
}
