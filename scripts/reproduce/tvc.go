// SPDX-License-Identifier: MIT

package main

import (
	"cmp"
	"path/filepath"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/papers"
	"github.com/gapwise/gapwise/model"
)

// tvcLog is a row of the paper's Table 1.
type tvcLog struct {
	Name, File             string
	Minutes, Mbps, Largest float64 // as printed
}

func tvcLogs() (all []tvcLog) {
	for _, r := range must(papers.Table(model.KindTVC, "1")) {
		all = append(all, tvcLog{r[0], r[1], number(r[2]), number(r[3]), number(r[4])})
	}
	return all
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
func (l tvcLog) Workloads() (all []tvcWorkload) {
	for _, reading := range instances.TVCReadings {
		in := l.draw(1000, reading)
		w, n := tvcWorkload{Reading: reading, Jobs: len(in.Requests), Never: map[string]float64{}}, float64(len(in.Requests))
		for _, q := range in.Requests {
			w.Largest = max(w.Largest, q.VMs)
			w.Minutes += q.DurationS / 60 / n
			w.Mbps += q.BandwidthMbps / n
		}
		for _, fabric := range model.Fabrics {
			in.FatTree.Fabric = fabric
			fits := in.Fits()
			for k := range in.Requests {
				if !fits(k) {
					w.Never[string(fabric)] += 100 / n
				}
			}
		}
		all = append(all, w)
	}
	return all
}

// Requests counts the usable jobs of the whole log.
func (l tvcLog) Requests() int {
	return len(l.draw(0, "").Requests)
}

// draw draws the first jobs of the log, all of them for 0, by a reading of the bandwidths.
func (l tvcLog) draw(requests int, reading string) *model.TVC {
	spec := instances.NewTVCSpec()
	spec.SWF = filepath.Join(dataFolder(), "swf", l.File+".swf.gz")
	spec.Requests, spec.Reading, spec.Seed = requests, cmp.Or(reading, spec.Reading), 1
	return must(spec.Generate())
}
