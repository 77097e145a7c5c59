package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/runs"
	"github.com/gapwise/gapwise/model"
)

// tvcLog is a row of the paper's Table 1.
type tvcLog struct {
	Name, File             string
	Minutes, Mbps, Largest float64 // as printed
}

func tvcLogs() []tvcLog {
	return []tvcLog{
		{"KTH-SP2", "KTH-SP2-1996-2.1-cln", 72.4, 251, 100},
		{"NASA-iPSC", "NASA-iPSC-1993-3.1-cln", 10.4, 247, 128},
	}
}

// tvcWorkload holds the figures of Table 1 of one log by one reading of its
// bandwidths, and the share of the requests that fit no empty data centre.
type tvcWorkload struct {
	Reading       string
	Jobs, Largest int
	Minutes, Mbps float64
	Never         map[string]float64 // percent
}

// Workloads draws the log's first 1,000 jobs by each reading of the bandwidths.
func (l tvcLog) Workloads() (all []tvcWorkload, err error) {
	data, err := dataFolder()
	if err != nil {
		return nil, err
	}
	for _, reading := range instances.TVCReadings {
		spec := instances.NewTVCSpec()
		spec.SWF, spec.Reading, spec.Seed = filepath.Join(data, "swf", l.File+".swf.gz"), reading, 1
		in, err := spec.Generate()
		if err != nil {
			return nil, err
		}
		w, n := tvcWorkload{Reading: reading, Jobs: len(in.Requests), Never: map[string]float64{}}, float64(len(in.Requests))
		for _, q := range in.Requests {
			w.Largest = max(w.Largest, q.VMs)
			w.Minutes += q.DurationS / 60 / n
			w.Mbps += q.BandwidthMbps / n
		}
		for _, fabric := range model.Fabrics {
			in.FatTree.Fabric = fabric
			for k := range in.Requests {
				if !in.Fits(k) {
					w.Never[string(fabric)] += 100 / n
				}
			}
		}
		all = append(all, w)
	}
	return all, nil
}

// Requests counts the usable jobs of the whole log.
func (l tvcLog) Requests() (int, error) {
	data, err := dataFolder()
	if err != nil {
		return 0, err
	}
	spec := instances.NewTVCSpec()
	spec.SWF, spec.Requests = filepath.Join(data, "swf", l.File+".swf.gz"), 0
	in, err := spec.Generate()
	if err != nil {
		return 0, err
	}
	return len(in.Requests), nil
}

// setting is a part of the instances of a plan.
type setting struct {
	Title   string
	File    string // of results
	By      string // the parameter on the x axis
	Pattern string // of the instances' names
	Slug    string // for names of files
	Figure  bool   // with the fabric of the paper's figures
}

// tvcSettings returns the parts of the results of a figure's plan: those with the
// fabric of the paper's figures first.
func tvcSettings(figure int, file string) (all []setting) {
	by := "load"
	if figure == 4 {
		by = "bandwidth"
	}
	for _, fabric := range []model.Fabric{model.FabricNonBlocking, model.FabricOnePath} {
		add := func(title, slug, begins string) {
			all = append(all, setting{title + ", " + string(fabric), file, by, begins + ".*-" + string(fabric) + "-", slug, fabric == model.FabricNonBlocking})
		}
		if figure == 4 {
			add("uniform sizes", "uniform", "-uniform8-")
			add("log-uniform sizes", "log", "-log8-")
			continue
		}
		for _, l := range tvcLogs() {
			name, _, _ := strings.Cut(l.Name, "-")
			add(l.Name, strings.ToLower(name), l.File)
		}
	}
	return all
}

// tvcBothLogs matches the runs on both logs with the fabric of the paper's figures.
func tvcBothLogs() string {
	return fmt.Sprintf("^(%s|%s).*-%s-", tvcLogs()[0].File, tvcLogs()[1].File, model.FabricNonBlocking)
}

// Series computes curves of the setting's results.
func (x setting) Series(o runs.SeriesOptions) ([]runs.Line, error) {
	records, _, err := runs.ReadRecords(x.File)
	if err != nil {
		return nil, err
	}
	pattern, err := regexp.Compile(x.Pattern)
	if err != nil {
		return nil, err
	}
	records = slices.DeleteFunc(records, func(r runs.Record) bool { return !pattern.MatchString(r.Instance) })
	o.X = []string{x.By}
	return runs.Series(records, o)
}

// Pivot returns a Markdown table of a value: a row for each value of the
// parameter, a column for each algorithm.
func (x setting) Pivot(value, algorithms string) (string, error) {
	lines, err := x.Series(runs.SeriesOptions{Y: value, Algorithms: strings.Split(algorithms, ",")})
	if err != nil {
		return "", err
	}
	return pivot(x.By, meanHalf(" %.2f ± %.2f |"), lines), nil
}

// tvcAcross returns a Markdown table of an algorithm's value, or if minus isn't
// empty of its paired differences from that algorithm: a row for each value of the
// parameter, a column for each setting.
func tvcAcross(settings []setting, value, algorithm, minus string) (string, error) {
	var all []runs.Line
	for _, x := range settings {
		lines, err := x.Series(runs.SeriesOptions{Y: value, Algorithms: []string{algorithm}, Minus: minus})
		if err != nil {
			return "", err
		}
		all = append(all, runs.Line{Algorithm: x.Title, Points: lines[0].Points})
	}
	format := " %.2f ± %.2f |"
	if minus != "" {
		format = " %+.2f ± %.2f |"
	}
	return pivot(settings[0].By, meanHalf(format), all), nil
}

// meanHalf returns a cell of pivot with the mean and the half-width of its interval.
func meanHalf(format string) func(runs.SeriesPoint) string {
	return func(p runs.SeriesPoint) string { return fmt.Sprintf(format, p.Mean, p.Half) }
}

// pivot returns a Markdown table with a column for each line, under the name of its
// algorithm.
func pivot(by string, cell func(runs.SeriesPoint) string, lines []runs.Line) string {
	head, rule := "| "+by+" |", "|---|"
	for _, l := range lines {
		head, rule = head+" "+l.Algorithm+" |", rule+"---|"
	}
	text := []string{head, rule}
	for k, p := range lines[0].Points {
		row := fmt.Sprintf("| %v |", p.X)
		for _, l := range lines {
			row += cell(l.Points[k])
		}
		text = append(text, row)
	}
	return strings.Join(text, "\n")
}

// Beside returns, as cells of a Markdown row, the paired differences of algorithms
// from AdaBa at the last value of the parameter.
func (x setting) Beside(value, algorithms string) (string, error) {
	lines, err := x.Series(runs.SeriesOptions{Y: value, Algorithms: strings.Split(algorithms, ","), Minus: "adaba"})
	if err != nil {
		return "", err
	}
	row := ""
	for _, l := range lines {
		p := l.Points[len(l.Points)-1]
		row += fmt.Sprintf(" %+.2f ± %.2f |", p.Mean, p.Half)
	}
	return row, nil
}
