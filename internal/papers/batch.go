// SPDX-License-Identifier: MIT

package papers

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/runs"
)

// batchFindings are those of Liu et al. (FCFS, EASY, KEASY, REASY, MEASY), sections
// 3.4 and 3.5: over the load those of Figures 6 to 12, over load and migration_s
// those of Figures 13 and 14. Those about REASY, average improvements and migrations
// come with runs of REASY.
//
// EASY is compared on one tier, where jobs lose nothing (MEASY performs better "even
// with context switching overhead"), and in the foreground of two, as far as there
// are runs of each.
func batchFindings(s *scope, records []runs.Record, x []string) ([]Finding, error) {
	costs := slices.Equal(x, []string{"load", "migration_s"})
	if !costs && !slices.Equal(x, []string{"load"}) {
		return nil, fmt.Errorf("findings about batch are over load, or over load,migration_s; these results are over %q", x)
	}
	reasy := slices.ContainsFunc(records, func(r runs.Record) bool { return r.Algorithm == "reasy" })
	algorithms := []string{"keasy", "measy"}
	if !costs {
		algorithms = append(algorithms, "easy")
	}
	if !costs && reasy {
		algorithms = append(algorithms, "reasy")
	}
	by := map[string]*experiment{}
	var all []*batchWorkload
	for _, of := range batchWorkloads {
		name := of.name
		own := slices.DeleteFunc(slices.Clone(records), func(r runs.Record) bool { return !strings.HasPrefix(r.Instance, of.prefix) })
		if len(own) == 0 {
			continue
		}
		w := &batchWorkload{name: name, jobs: own[0].Params["jobs"]}
		if err := w.read(own, x, algorithms); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all, by[name] = append(all, w), w.experiment
		s.facts[name] = true
		s.lists["workloads"] = append(s.lists["workloads"], name)
		s.lists["easy on "+name] = w.easy
	}
	switch {
	case len(all) == 0:
		return nil, errors.New("findings about batch are about the models feitelson and jann, there are runs of neither")
	case costs:
		return s.check("costs", by)
	case !reasy:
		return s.check("load", by)
	}
	if len(all) == 2 && !slices.Equal(all[0].easy, all[1].easy) {
		return nil, errors.New("EASY runs on other tiers in FWload than in JWload")
	}
	s.facts["reasy"], s.facts["both"] = true, len(all) == 2
	s.lists["each easy"] = all[0].easy
	by["both"] = together(all)
	return s.check("load", by)
}

// batchWorkloads are the paper's, with the beginnings of their instances' names.
var batchWorkloads = []struct{ name, prefix string }{{"FWload", "batch-feitelson-"}, {"JWload", "batch-jann-"}}

// batchWorkload is a workload of the paper's section 3.1 with its runs.
type batchWorkload struct {
	*experiment
	name string
	jobs float64
	easy []string // EASY on one tier and on two, those that there are
}

const migrations = "migrations"

// read takes EASY on one tier from the runs there, and all else from those on two.
func (w *batchWorkload) read(records []runs.Record, x, algorithms []string) (err error) {
	wanted := []string{"objective", bounded, migrations}
	var one, two []runs.Record
	for _, r := range records {
		switch {
		case r.Params["tiers"] != 1:
			two = append(two, r)
		case r.Algorithm == "easy":
			one = append(one, r)
		}
	}
	if onTwo := slices.ContainsFunc(two, func(r runs.Record) bool { return r.Algorithm == "easy" }); len(one) > 0 && !onTwo {
		algorithms = slices.DeleteFunc(slices.Clone(algorithms), func(a string) bool { return a == "easy" })
	}
	slices.Sort(algorithms)
	if w.experiment, err = newExperiment(two, x, algorithms, wanted); err != nil {
		return err
	}
	if slices.Contains(algorithms, "easy") {
		w.easy = []string{"easy"}
	}
	if len(one) == 0 {
		return nil
	}
	easy, err := newExperiment(one, x, []string{"easy"}, wanted)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(easy.points, w.points, slices.Equal) {
		return fmt.Errorf("runs of easy on one tier are at other values of %s than those on two tiers", strings.Join(x, ","))
	}
	for c, runs := range easy.runs {
		c.algorithm = "easy-one-tier"
		w.runs[c] = runs
	}
	w.easy = append([]string{"easy-one-tier"}, w.easy...)
	return nil
}

// together returns the points of workloads as those of one experiment. Of each EASY it has
// by how many percent MEASY is below it in each draw, and of MEASY the migrations per job.
// Draws of different workloads with one number are as good as any other pairs.
func together(all []*batchWorkload) *experiment {
	e := &experiment{runs: map[cell]map[drawn]float64{}, marks: map[string]int{}}
	put := func(c cell, d drawn, y float64) {
		if e.runs[c] == nil {
			e.runs[c] = map[drawn]float64{}
		}
		e.runs[c][d] = y
	}
	for _, w := range all {
		e.marks[w.name+" first"] = len(e.points)
		for k, p := range w.points {
			at := len(e.points)
			e.points, e.names = append(e.points, p), append(e.names, w.name+" at "+w.where(k))
			for d, n := range w.runs[cell{migrations, "measy", k}] {
				put(cell{migrations, "measy", at}, d, n/w.jobs)
			}
			for _, v := range []string{"objective", bounded} {
				for _, easy := range w.easy {
					for d, from := range w.runs[cell{v, easy, k}] {
						if to, ok := w.runs[cell{v, "measy", k}][d]; ok {
							put(cell{v, easy, at}, d, 100*(1-to/from))
						}
					}
				}
			}
		}
		e.marks[w.name+" last"] = len(e.points) - 1
	}
	return e
}
