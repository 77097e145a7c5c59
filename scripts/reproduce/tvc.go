package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/papers"
	"github.com/gapwise/gapwise/model"
)

// printedTable returns a table of the paper on a problem, as printed.
func printedTable(kind, name string) ([][]string, error) { return papers.Table(model.Kind(kind), name) }

// tvcLog is a row of the paper's Table 1.
type tvcLog struct {
	Name, File             string
	Minutes, Mbps, Largest float64 // as printed
}

func tvcLogs() (all []tvcLog, err error) {
	rows, err := printedTable("tvc", "1")
	for _, r := range rows {
		all = append(all, tvcLog{r[0], r[1], number(r[2]), number(r[3]), number(r[4])})
	}
	return all, err
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

// tvcSets returns the parts of the results of a figure's plan: those with the fabric of
// the paper's figures first.
func tvcSets(figure int, file string) (all []set, err error) {
	logs, err := tvcLogs()
	for _, fabric := range []model.Fabric{model.FabricNonBlocking, model.FabricOnePath} {
		add := func(title, slug, by, begins string) {
			s := set{Title: title + ", " + string(fabric), File: file, By: by, Pattern: begins + ".*-" + string(fabric) + "-", Slug: slug}
			if fabric == model.FabricNonBlocking {
				s.Figure = figure
			}
			all = append(all, s)
		}
		if figure == 4 {
			add("uniform sizes", "uniform", "bandwidth", "-uniform8-")
			add("log-uniform sizes", "log", "bandwidth", "-log8-")
			continue
		}
		for _, l := range logs {
			name, _, _ := strings.Cut(l.Name, "-")
			add(l.Name, strings.ToLower(name), "load", l.File)
		}
	}
	return all, err
}

// tvcBothLogs matches the runs on both logs with the fabric of the paper's figures.
func tvcBothLogs() (string, error) {
	logs, err := tvcLogs()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("^(%s|%s).*-%s-", logs[0].File, logs[1].File, model.FabricNonBlocking), nil
}
