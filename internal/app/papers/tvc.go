// SPDX-License-Identifier: MIT

package papers

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/app/runs"
)

// tvcPaper is Li et al.: Bandwidth-Guaranteed Resource Allocation and Scheduling for Parallel Jobs in Cloud Data
// Center.
var tvcPaper = &paper{
	findings: tvcFindings,
	Figures: map[string]*Figure{
		"lead": {Value: 15, Where: "section 5.3.1",
			What: "up to 15 percent of improvement on accept rate at the largest bandwidth, points or percent"},
		"similar": {Value: 2, Where: "Figure 4", What: "points within which accept rates are alike",
			Why: "curves that can't be told apart in print", Taken: true},
		"preemptions KTH":  {Value: 350, Where: "Figure 8", What: "most migrations"},
		"preemptions NASA": {Value: 200, Where: "Figure 8", What: "most migrations"},
	},
	Tables: map[string][][]string{
		"1": { // logs: jobs of mean minutes, mean Mbps, largest job
			{"KTH-SP2", "KTH-SP2-1996-2.1-cln", "72.4", "251", "100"},
			{"NASA-iPSC", "NASA-iPSC-1993-3.1-cln", "10.4", "247", "128"},
		},
	},
}

const (
	acceptRate         = "accept rate"
	bounded, preempted = "bounded slowdown", "preempted"
)

// tvcTies are one request of 1,000, a second as in the logs, and a thousandth of the time that the jobs run.
var tvcTies = map[string]float64{acceptRate: 0.1, "response": 1, "wait": 1, bounded: 0.001}

// tvcRivals are AdaBa's in the paper, each in the readings that gapwise has of it.
var tvcRivals = []string{"oktopus", "greedy", "greedy-minmax", "best-fit", "best-fit-local"}

// tvcLogs are the beginnings of the names of instances.
var tvcLogs = []string{"KTH", "NASA"}

// tvcFindings are from section 5.3: without a queue of Figure 4 over the mean bandwidth and of Figure 5 over the
// load, with one of Figures 6 to 8 over the load. Some of the latter are about one log: the instances' names begin
// with it. Runs on both logs are checked for the paper's words on both together.
//
// Eq. 1 defines the wait, though the paper calls it the response time. Its number of migrations counts each preempted
// job.
func tvcFindings(records []runs.Record, x []string) (func(*statements), error) {
	first, _ := records[0].Objectives()
	queue, load := first.Key == "response", slices.Equal(x, []string{"load"})
	switch {
	case queue && load:
		return tvcQueue(records, x)
	case queue || !load && !slices.Equal(x, []string{"bandwidth"}):
		return nil, fmt.Errorf("findings about tvc are over bandwidth or load without a queue, over load with one; these results are over %q", x)
	}
	rivals := slices.DeleteFunc(slices.Clone(tvcRivals), func(a string) bool {
		return !slices.ContainsFunc(records, func(r runs.Record) bool { return r.Algorithm == a })
	})
	if len(rivals) == 0 {
		return nil, fmt.Errorf("findings need runs of adaba and of some of %s", strings.Join(tvcRivals, ", "))
	}
	e, err := newExperiment(records, x, append([]string{"adaba"}, rivals...), []string{acceptRate})
	if err != nil {
		return nil, err
	}
	e.ties = tvcTies
	if load {
		return func(s *statements) { s.overLoad(e, rivals) }, nil
	}
	return func(s *statements) { s.overBandwidth(e, rivals) }, nil
}

// adabasLead claims that AdaBa leads a rival.
func adabasLead(e *experiment, rival string) claims {
	return e.lead(acceptRate, []string{"adaba"}, []string{rival})
}

// growth claims that AdaBa leads a rival by more at the last point than at the first.
func growth(e *experiment, rival string) claims {
	first, last := 0, e.last()
	return once(fmt.Sprintf("lead over %s at %s minus that at %s", rival, e.where(last), e.where(first)), e.mean(
		plus(acceptRate, "adaba", last), minus(acceptRate, rival, last), minus(acceptRate, "adaba", first), plus(acceptRate,
			rival, first)))
}

// overLoad has the statements about Figure 5.
func (s *statements) overLoad(e *experiment, rivals []string) {
	for _, a := range rivals {
		s.most("AdaBa accepts more than "+a+" at most loads", adabasLead(e, a))
	}
	for _, a := range rivals {
		s.say("AdaBa's lead over "+a+" grows with the load", growth(e, a).tied(e.ties[acceptRate]))
	}
	for _, a := range rivals {
		s.say("AdaBa's lead over "+a+" is less than 15 points at every load", adabasLead(e, a).below(s.limit("lead")))
	}
}

// overBandwidth has the statements about Figure 4.
func (s *statements) overBandwidth(e *experiment, rivals []string) {
	last, similar := e.only(e.last()), s.limit("similar")
	fallsLess := func(a string) string { return "AdaBa's accept rate falls by less than that of " + a }
	for _, a := range rivals {
		s.say("AdaBa accepts more than "+a+" at every bandwidth", adabasLead(e, a))
	}
	for _, a := range rivals {
		s.say("AdaBa is up to 15 points ahead of "+a+" at "+e.where(e.last()),
			append(adabasLead(last, a), adabasLead(last, a).below(s.limit("lead"))...))
		more := e.over(acceptRate, "adaba", a, e.last())
		s.say("AdaBa accepts up to 15 % more than "+a+" at "+e.where(e.last()),
			append(once("in percent, above 0", more), once("in percent", more).below(s.limit("lead"))...))
	}
	for _, a := range rivals {
		s.say(fallsLess(a), growth(e, a).tied(similar))
	}
	s.say("more bandwidth: all accept less", e.steps(acceptRate, append([]string{"adaba"}, rivals...)).below(0))
	isBestFit := func(a string) bool { return strings.HasPrefix(a, "best-fit") }
	for _, a := range rivals {
		if !isBestFit(a) {
			continue
		}
		s.say(a+"'s accept rate falls like AdaBa's (within 2 points)", growth(e, a).size().below(similar))
		s.all[len(s.all)-1].contrary = fallsLess(a)
		s.say(a+" accepts what AdaBa does at the least bandwidth (within 2 points)",
			e.only(0).apart(acceptRate, [2]string{"adaba", a}).below(similar))
		for _, b := range slices.DeleteFunc(slices.Clone(rivals), isBestFit) {
			s.most(a+" accepts more than "+b+" in most cases", e.lead(acceptRate, []string{a}, []string{b}))
		}
	}
}

// tvcQueue reads runs with a queue, of one log or of both.
func tvcQueue(records []runs.Record, x []string) (func(*statements), error) {
	logs := map[string][]runs.Record{}
	for _, r := range records {
		l := ""
		if k := slices.IndexFunc(tvcLogs, func(l string) bool { return strings.HasPrefix(r.Instance, l) }); k >= 0 {
			l = tvcLogs[k]
		}
		logs[l] = append(logs[l], r)
	}
	read := func(records []runs.Record, algorithms ...string) (*experiment, error) {
		e, err := newExperiment(records, x, algorithms, []string{"response", "wait", bounded, preempted})
		if err == nil {
			e.ties = tvcTies
		}
		return e, err
	}
	if len(logs) == 2 && logs[""] == nil {
		var both [2]*experiment
		for k, l := range tvcLogs {
			var err error
			if both[k], err = read(logs[l], "bgmbf", "bgmbf-sdf"); err != nil {
				return nil, fmt.Errorf("%s: %w", l, err)
			}
		}
		if !slices.EqualFunc(both[0].points, both[1].points, slices.Equal) {
			return nil, errors.New("the runs on both logs are at different loads")
		}
		return func(s *statements) { s.ofBothLogs(both[0], both[1]) }, nil
	}
	e, err := read(records, "fcfs", "sbf", "sdf", "bgmbf", "bgmbf-sdf")
	switch {
	case err != nil:
		return nil, err
	case len(logs) > 1:
		return nil, errors.New("the runs are of several logs, give those of one")
	}
	return func(s *statements) { s.ofQueue(e, logs["KTH"] != nil, logs["NASA"] != nil) }, nil
}

// ofQueue has the statements about Figures 6 to 8, of any log and of its own.
func (s *statements) ofQueue(e *experiment, kth, nasa bool) {
	const bg, sdf = "bgmbf", "bgmbf-sdf"
	lead := func(measure, a string, others ...string) claims { return e.lead(measure, []string{a}, others) }
	for _, v := range []string{"response", "wait", bounded} {
		s.say("BgMBF has less "+v+" than FCFS at every load", lead(v, bg, "fcfs").below(0))
		s.say("BgMBF has less "+v+" than SBF at every load", lead(v, bg, "sbf").below(0))
		s.say("SBF has more "+v+" than FCFS at every load", lead(v, "sbf", "fcfs"))
		s.say("BgMBFSDF has less "+v+" than BgMBF at every load", lead(v, sdf, bg).below(0))
		var closer claims
		for _, p := range [][2]string{{"sdf", bg}, {bg, "sdf"}, {"sdf", sdf}, {sdf, "sdf"}, {bg, sdf}, {sdf, bg}} {
			closer = append(closer, e.sums(fmt.Sprintf("(fcfs minus bgmbf) minus (%s minus %s) at {k}", p[0], p[1]),
				plus(v, "fcfs", here), minus(v, bg, here), minus(v, p[0], here), plus(v, p[1], here))...)
		}
		s.say("SDF, BgMBF and BgMBFSDF differ less in "+v+" than FCFS and BgMBF at every load", closer.tied(e.ties[v]))
	}
	for _, v := range []string{"response", "wait"} {
		switch {
		case nasa:
			s.say("SDF has less "+v+" than BgMBF and BgMBFSDF (NASA)", lead(v, "sdf", bg, sdf).below(0))
		case kth:
			s.say("SDF has more "+v+" than BgMBF and BgMBFSDF (KTH)", lead(v, "sdf", bg, sdf))
		}
	}
	most := func(limit float64) (all claims) {
		for _, a := range []string{bg, sdf} {
			all = append(all, e.sums(a+" at {k}", plus(preempted, a, here))...)
		}
		return all.below(limit)
	}
	switch {
	case nasa:
		s.say("at most 200 preemptions (NASA)", most(s.limit("preemptions NASA")))
	case kth:
		s.say("at most 350 preemptions (KTH)", most(s.limit("preemptions KTH")))
	}
	// The paper cites 20 s for a migration.
	s.say("BgMBF's preemptions, 20 s each, take less together than the mean response",
		e.sums("20 s a preemption minus the response at {k}", term{20, cell{preempted, bg, here}}, minus("response", bg, here)).below(0))
	at := e.those(func(x []float64) bool { return x[0] == 0.6 })
	if !kth || len(at) == 0 {
		s.say("BgMBFSDF preempts less than BgMBF at every load", lead(preempted, sdf, bg).below(0))
		return
	}
	others := e.those(func(x []float64) bool { return x[0] != 0.6 })
	s.say("BgMBFSDF preempts more than BgMBF at load 0.6 (KTH)",
		e.only(at...).lead(preempted, []string{sdf}, []string{bg}))
	s.say("BgMBFSDF preempts less than BgMBF at every other load",
		e.only(others...).lead(preempted, []string{sdf}, []string{bg}).below(0))
}

// ofBothLogs has the statements about both logs together. Their draws have nothing in common.
func (s *statements) ofBothLogs(kth, nasa *experiment) {
	for _, v := range []string{"response", "wait"} {
		s.say("BgMBFSDF shortens BgMBF's "+v+" by more percent for NASA than for KTH at every load",
			kth.each("change in percent at {k}, NASA minus KTH", func(k int) estimate {
				return difference(nasa.over(v, "bgmbf-sdf", "bgmbf", k), kth.over(v, "bgmbf-sdf", "bgmbf", k))
			}).below(0))
	}
	s.say("BgMBF preempts less for KTH than for NASA at every load",
		kth.each("preemptions at {k}, NASA minus KTH", func(k int) estimate {
			return difference(nasa.mean(plus(preempted, "bgmbf", k)), kth.mean(plus(preempted, "bgmbf", k)))
		}))
}
