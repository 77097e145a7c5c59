// SPDX-License-Identifier: MIT

package papers

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/app/runs"
)

// batchPaper is Liu et al.: FCFS, EASY, KEASY, REASY, MEASY.
var batchPaper = &paper{
	findings: batchFindings,
	Over:     []string{"load", "migration_s"},
	Figures: map[string]*Figure{
		"response mean": {Value: 23.1, Where: "abstract", What: "MEASY's mean response below EASY's in percent",
			Margin: 0.1, Why: standIns},
		"response most": {Value: 41.1, Where: "abstract", What: "the most at a load", Margin: 0.1, Why: standIns},
		"bounded slowdown mean": {Value: 69.3, Where: "abstract", What: "MEASY's bounded slowdown below EASY's in percent",
			Margin: 0.1, Why: standIns},
		"bounded slowdown most": {Value: 82.9, Where: "abstract", What: "the most at a load", Margin: 0.1, Why: standIns},
		"comparable": {Value: 10, Where: "section 3.5.3",
			What: "percent within which MEASY and KEASY are comparable"},
	},
	Tables: map[string][][]string{
		"workloads": { // section 3.1: jobs, mean size, mean runtime in seconds, single processes in percent
			{"FWload", "200000", "23.4", "2606.6", "18"},
			{"JWload", "100000", "10.5", "11267", "40.8"},
		},
	},
}

const (
	standIns   = "workloads are stand-ins for models whose numbers are lost"
	migrations = "migrations"
)

// batchTies are a second, as times are whole ones, and a thousandth of the time that the jobs run.
var batchTies = map[string]float64{"objective": 1, bounded: 0.001}

// batchNames are the names of algorithms and measures in findings.
var batchNames = map[string]string{"objective": "response", bounded: bounded, "easy-one-tier": "EASY on one tier",
	"easy":  "EASY on two tiers",
	"keasy": "KEASY", "measy": "MEASY", "reasy": "REASY"}

// batchFindings are from sections 3.4 and 3.5: over the load from Figures 6 to 12, over load and migration_s from
// Figures 13 and 14. Findings about REASY, average improvements and migrations come with runs of REASY.
//
// EASY is compared on one tier, where jobs lose nothing (MEASY performs better "even with context switching overhead"),
// and in the foreground of two, if there are runs of each.
func batchFindings(records []runs.Record, x []string) (func(*statements), error) {
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
	var all []*batchWorkload
	for _, of := range batchWorkloads {
		own := slices.DeleteFunc(slices.Clone(records),
			func(r runs.Record) bool { return !strings.HasPrefix(r.Instance, of.prefix) })
		if len(own) == 0 {
			continue
		}
		w := &batchWorkload{name: of.name, jobs: own[0].Params["jobs"]}
		if err := w.read(own, x, algorithms); err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		all = append(all, w)
	}
	switch {
	case len(all) == 0:
		return nil, errors.New("findings about batch are about the models feitelson and jann, there are runs of neither")
	case costs:
		return func(s *statements) { s.overCosts(all) }, nil
	case reasy && len(all) == 2 && !slices.Equal(all[0].easy, all[1].easy):
		return nil, errors.New("EASY runs on other tiers in FWload than in JWload")
	}
	return func(s *statements) {
		for _, w := range all {
			s.overLoads(w, reasy)
		}
		if reasy {
			s.ofAverages(all)
		}
	}, nil
}

// overLoads has the statements about Figures 6 to 12.
func (s *statements) overLoads(w *batchWorkload, reasy bool) {
	for _, v := range batchMeasures {
		leads := func(better, worse string) {
			s.say(fmt.Sprintf("%s has less %s than %s at every load (%s)", batchNames[better], batchNames[v],
				batchNames[worse], w.name),
				w.lead(v, []string{better}, []string{worse}).below(0))
		}
		for _, easy := range w.easy {
			leads("measy", easy)
			leads("keasy", easy)
		}
		leads("measy", "keasy")
		if !reasy {
			continue
		}
		leads("measy", "reasy")
		leads("keasy", "reasy")
		for _, easy := range w.easy {
			if w.name == "JWload" {
				leads(easy, "reasy")
			} else {
				leads("reasy", easy)
			}
		}
	}
}

// ofAverages has the statements about average improvements, over all loads of the workloads, and of migrations.
func (s *statements) ofAverages(all []*batchWorkload) {
	both := together(all)
	for _, v := range batchMeasures {
		for _, easy := range all[0].easy {
			var average []term
			var largest estimate
			for k := range both.points {
				average = append(average, term{1 / float64(len(both.points)), cell{v, easy, k}})
				if x := both.mean(plus(v, easy, k)); k == 0 || cmp.Compare(x.mean, largest.mean) > 0 {
					largest = x
				}
			}
			name := batchNames[v]
			s.near("MEASY's "+name+" is {printed} % below that of "+batchNames[easy]+", mean over the loads",
				both.mean(average...), name+" mean")
			s.near("MEASY's "+name+" is up to {printed} % below that of "+batchNames[easy]+", at one load", largest,
				name+" most")
		}
	}
	if len(all) < 2 {
		return
	}
	more := func(jann, feitelson int) claims {
		return once("migrations per job of "+both.where(jann)+" minus those of "+both.where(feitelson),
			both.mean(plus(migrations, "measy", jann), minus(migrations, "measy", feitelson)))
	}
	first := len(all[0].points) // of JWload
	s.say("MEASY migrates more in JWload than in FWload at the highest load, per job", more(both.last(), first-1))
	s.say("MEASY migrates less in JWload than in FWload at the lowest load, per job", more(first, 0).below(0))
}

// overCosts states up to which cost of a migration MEASY is ahead of KEASY, by Figures 13 and 14.
func (s *statements) overCosts(all []*batchWorkload) {
	for _, w := range all {
		ahead, behind := 900.0, 1500.0
		if w.name == "JWload" {
			ahead, behind = 480, 900
		}
		cheap := w.those(func(x []float64) bool { return x[1] < ahead })
		dear := w.having(func(x []float64) bool { return x[1] >= behind })
		measy, keasy := []string{"measy"}, []string{"keasy"}
		for _, v := range batchMeasures {
			if len(cheap) > 0 {
				s.say(fmt.Sprintf("MEASY has less %s than KEASY at every load if a migration costs less than %g s (%s)",
					batchNames[v], ahead, w.name),
					w.only(cheap...).lead(v, measy, keasy).below(0))
			}
			if len(dear.chosen) == 0 {
				continue
			}
			s.say(fmt.Sprintf("MEASY has more %s than KEASY at every load if a migration costs %g s or more (%s)",
				batchNames[v], behind, w.name),
				dear.lead(v, measy, keasy))
			s.say(fmt.Sprintf("MEASY has less than 10 %% more %s than KEASY at every load if a migration costs %g s or more: comparable (%s)",
				batchNames[v], behind, w.name), dear.changes("measy above keasy in percent at {k}", cell{v, "measy", here},
				cell{v, "keasy", here}).below(s.limit("comparable")))
		}
	}
}

// batchMeasures are compared by the paper.
var batchMeasures = []string{"objective", bounded}

// batchWorkloads are the paper's, with the beginnings of their instances' names.
var batchWorkloads = []struct{ name, prefix string }{{"FWload", "batch-feitelson-"}, {"JWload", "batch-jann-"}}

// batchWorkload is a workload of the paper's section 3.1 with its runs.
type batchWorkload struct {
	*experiment
	name string
	jobs float64
	easy []string // the available ones of EASY on one tier and on two
}

// read takes EASY on one tier from the runs there, and all else from the runs on two.
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
	if onTwo := slices.ContainsFunc(two,
		func(r runs.Record) bool { return r.Algorithm == "easy" }); len(one) > 0 && !onTwo {
		algorithms = slices.DeleteFunc(slices.Clone(algorithms), func(a string) bool { return a == "easy" })
	}
	slices.Sort(algorithms)
	if w.experiment, err = newExperiment(two, x, algorithms, wanted); err != nil {
		return err
	}
	w.ties = batchTies
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

// together joins the points of workloads into one experiment. For each EASY it has by how many percent MEASY is below
// it in each draw, and for MEASY the migrations per job. Draws of different workloads with one number are as good as
// any other pairs.
func together(all []*batchWorkload) *experiment {
	e := &experiment{runs: map[cell]map[drawn]float64{}}
	put := func(c cell, d drawn, y float64) {
		if e.runs[c] == nil {
			e.runs[c] = map[drawn]float64{}
		}
		e.runs[c][d] = y
	}
	for _, w := range all {
		for k, p := range w.points {
			at := len(e.points)
			e.points, e.names = append(e.points, p), append(e.names, w.name+" at "+w.where(k))
			for d, n := range w.runs[cell{migrations, "measy", k}] {
				put(cell{migrations, "measy", at}, d, n/w.jobs)
			}
			for _, v := range batchMeasures {
				for _, easy := range w.easy {
					for d, from := range w.runs[cell{v, easy, k}] {
						if to, ok := w.runs[cell{v, "measy", k}][d]; ok {
							put(cell{v, easy, at}, d, 100*(1-to/from))
						}
					}
				}
			}
		}
	}
	return e
}
