// SPDX-License-Identifier: MIT

package papers

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/runs"
)

// The measures that readers read; the others are named by the papers' files alone.
const (
	accepted, slowdown = "acceptance %", "slowdown"
	acceptRate         = "accept rate"
	bounded, preempted = "bounded slowdown", "preempted"
	unsolved           = "unsolved %"
)

// reservationFindings are those of Li et al., sections 6.2 and 7: about job sizes (umed),
// load (arrival_factor) or flexibility (any other x).
func reservationFindings(s *scope, records []runs.Record, x []string) ([]Finding, error) {
	e, err := newExperiment(records, x, s.lists["all"], []string{accepted, slowdown})
	if err != nil {
		return nil, err
	}
	sizes, load := slices.Equal(x, []string{"umed"}), slices.Equal(x, []string{"arrival_factor"})
	s.facts["sizes"], s.facts["load"], s.facts["flexibility"] = sizes, load, !sizes && !load
	s.facts["a line"] = !sizes && !load && e.spread() > 0
	if at := e.at(4, 4); at >= 0 {
		s.facts["a bend"], e.marks = true, map[string]int{"bend": at}
	}
	return s.check("all", map[string]*experiment{"": e})
}

// tvcFindings are those of Li et al. (Bandwidth-Guaranteed Resource Allocation and
// Scheduling), section 5.3: without a queue of Figure 4 over the mean bandwidth
// and of Figure 5 over the load, with one of Figures 6 to 8 over the load. Some of
// the latter are about one log: the instances' names begin with it. Runs on both logs
// are checked for what the paper says of both together.
//
// Eq. 1 defines what the paper calls the response time; it is the wait. Its number of
// migrations counts each preempted job.
func tvcFindings(s *scope, records []runs.Record, x []string) ([]Finding, error) {
	first, _ := records[0].Objectives()
	queue, load := first.Key == "response", slices.Equal(x, []string{"load"})
	switch {
	case queue && load:
		return tvcQueue(s, records, x)
	case queue || !load && !slices.Equal(x, []string{"bandwidth"}):
		return nil, fmt.Errorf("findings about tvc are over bandwidth or load without a queue, over load with one; these results are over %q", x)
	}
	var rivals []string
	for _, a := range s.lists["rivals"] {
		if slices.ContainsFunc(records, func(r runs.Record) bool { return r.Algorithm == a }) {
			rivals = append(rivals, a)
		}
	}
	if len(rivals) == 0 {
		return nil, fmt.Errorf("findings need runs of adaba and of some of %s", strings.Join(s.lists["rivals"], ", "))
	}
	isBestFit := func(a string) bool { return strings.HasPrefix(a, "best-fit") }
	s.lists["rivals"], s.lists["adaba and rivals"] = rivals, append([]string{"adaba"}, rivals...)
	s.lists["best fits"] = slices.DeleteFunc(slices.Clone(rivals), func(a string) bool { return !isBestFit(a) })
	s.lists["no best fits"] = slices.DeleteFunc(slices.Clone(rivals), isBestFit)
	e, err := newExperiment(records, x, s.lists["adaba and rivals"], []string{acceptRate})
	if err != nil {
		return nil, err
	}
	return s.check(x[0], map[string]*experiment{"": e})
}

func tvcQueue(s *scope, records []runs.Record, x []string) ([]Finding, error) {
	logs := map[string][]runs.Record{}
	for _, r := range records {
		k := slices.IndexFunc(s.lists["logs"], func(l string) bool { return strings.HasPrefix(r.Instance, l) })
		l := ""
		if k >= 0 {
			l = s.lists["logs"][k]
		}
		logs[l] = append(logs[l], r)
	}
	by, algorithms, rules := map[string]*experiment{}, s.lists["all"], "queue"
	if len(logs) == 2 && logs[""] == nil {
		algorithms, rules = []string{"bgmbf", "bgmbf-sdf"}, "both logs"
	} else {
		logs = map[string][]runs.Record{"": records}
	}
	for _, l := range append([]string{""}, s.lists["logs"]...) {
		if logs[l] == nil {
			continue
		}
		e, err := newExperiment(logs[l], x, algorithms, []string{"response", "wait", bounded, preempted})
		if err != nil && l != "" {
			err = fmt.Errorf("%s: %w", l, err)
		}
		if err != nil {
			return nil, err
		}
		by[l] = e
	}
	if rules == "both logs" {
		kth, nasa := by[s.lists["logs"][0]], by[s.lists["logs"][1]]
		if !slices.EqualFunc(kth.points, nasa.points, slices.Equal) {
			return nil, errors.New("the runs on both logs are at different loads")
		}
		by[""] = logsApart(kth, nasa)
		return s.check(rules, by)
	}
	for _, l := range s.lists["logs"] {
		is := func(r runs.Record) bool { return strings.HasPrefix(r.Instance, l) }
		if some := slices.ContainsFunc(records, is); some && slices.ContainsFunc(records, func(r runs.Record) bool { return !is(r) }) {
			return nil, errors.New("the runs are of several logs, give those of one")
		}
		s.facts[l] = is(records[0])
	}
	return s.check(rules, by)
}

// logsApart has the runs of both logs, whose draws have nothing in common, as those of
// KTH/A and NASA/A.
func logsApart(kth, nasa *experiment) *experiment {
	e := &experiment{x: kth.x, points: kth.points, runs: map[cell]map[drawn]float64{}}
	for name, log := range map[string]*experiment{"KTH/": kth, "NASA/": nasa} {
		for c, all := range log.runs {
			c.algorithm = name + c.algorithm
			e.runs[c] = all
		}
	}
	return e
}

// vcschedFindings are those of Stillwell et al. (Resource Allocation using Virtual
// Clusters), sections 4.2 and 5.2: of the small set if the runs are of 4 hosts, of the
// parallel jobs if jobs have several tasks, else of the large set. They are of one
// reading of the memory needs.
//
// The MILP is the run "search", the rational LP the bound of "lp". Where the paper says
// "close" or "a few percent" the finding names the limit that was taken.
func vcschedFindings(s *scope, records []runs.Record, _ []string) ([]Finding, error) {
	for _, p := range []struct {
		what string
		of   func(runs.Record) any
	}{
		{"numbers of hosts", func(r runs.Record) any { return r.Params["hosts"] }},
		{"limits of a job's tasks", func(r runs.Record) any { return r.Params["max_tasks"] }},
		{"readings of the memory needs", func(r runs.Record) any {
			return slices.IndexFunc([]string{"-left-", "-rescaled-"}, func(s string) bool { return strings.Contains(r.Instance, s) })
		}},
	} {
		for i := range records {
			if p.of(records[i]) != p.of(records[0]) {
				return nil, fmt.Errorf("there are instances with several %s: %s and %s, choose some by --instances", p.what, records[0].Instance, records[i].Instance)
			}
		}
	}
	set, size := "large", "jobs"
	switch {
	case records[0].Params["max_tasks"] > 1:
		set = "parallel"
		if records[0].Params["tasks"] != 0 {
			size = "tasks"
		}
	case records[0].Params["hosts"] == 4:
		set = "small"
	}
	s.facts[set], s.facts["sequential"] = true, set != "parallel"
	by := map[string]*experiment{}
	survey := func(name string, x []string, least float64, algorithms string) (err error) {
		some := slices.DeleteFunc(slices.Clone(records), func(r runs.Record) bool { return r.Params["slack"] < least })
		by[name], err = newSurvey(some, x, s.lists[algorithms], []string{"objective", "second", unsolved, "deg. all %", "time", "bound", "failure %"})
		return err
	}
	err := error(nil)
	if set != "parallel" { // degradations of the MCBs are from the best MCB
		err = firstOf(survey("mcb slack", []string{"slack"}, 0, "mcb"), survey("mcb", nil, 0, "mcb"))
	}
	err = firstOf(err, survey("slack", []string{"slack"}, 0, set), survey("", nil, 0, set))
	switch set {
	case "parallel":
		err = firstOf(err, survey("size", []string{size}, 0, set))
	case "large":
		err = firstOf(err, survey("mcb size", []string{"jobs"}, 0, "mcb"), survey("size", []string{"jobs"}, 0, "by size"), survey("from 0.3", nil, 0.3, set), survey("from 0.4", nil, 0.4, set))
	}
	if err != nil {
		return nil, err
	}
	return s.check("all", by)
}

// firstOf returns the first error.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
