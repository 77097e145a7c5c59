// SPDX-License-Identifier: MIT

package papers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/app/runs"
)

// vcschedPaper is Stillwell, Schanzenbach, Vivien, Casanova: Resource Allocation using Virtual Clusters.
var vcschedPaper = &paper{
	findings: vcschedFindings,
	Own:      true,
	Figures: map[string]*Figure{
		"mcb8 above 3": {Value: 155, Among: 1379, Where: "section 4.2.1",
			What: "instances that MCB8 solves more than 3 % below the best MCB"},
		"mcb8 above 10": {Value: 19, Among: 1379, Where: "section 4.2.1",
			What: "instances that MCB8 solves more than 10 % below the best MCB"},
		"lp above milp": {Value: 4, Where: "section 4.2.2", What: "LP above the optimum, in percent", Margin: 0.125,
			Why: "printed without decimals"},
		"milp above mcb8": {Value: 2, Where: "section 4.2.2", What: "optimum above MCB8, in percent", Margin: 0.25,
			Why: "printed without decimals"},
		"milp above greedy": {Range: []float64{11, 13}, Where: "section 4.2.2",
			What: "optimum above a greedy algorithm, in percent"},
		"infeasible": {Value: 60, Among: 1440, Where: "section 4.2.2", What: "infeasible instances of 1,440"},
		"mcb8 fails": {Value: 1, Among: 1380, Where: "section 4.2.2",
			What: "feasible instances that MCB8 doesn't solve"},
		"sg fails": {Value: 15, Among: 1380, Where: "section 4.2.2",
			What: "feasible instances that SG doesn't solve"},
		"mcb8 most": {Value: 3.16, Where: "Table 7", What: "largest degradation of MCB8, in percent"},
		"mcb5 most": {Value: 3.5, Where: "Table 7", What: "largest degradation of MCB5, in percent"},
		"curve at 0.1": {Value: 37, Where: "section 4.2.3",
			What:   "MCB8's curve below the LP's at slack 0.1, in percent of the LP's",
			Margin: 0.1, Why: readFromCurves},
		"curve at 0.2": {Value: 8, Where: "section 4.2.3",
			What:   "MCB8's curve below the LP's at slack 0.2, in percent of the LP's",
			Margin: 0.1, Why: readFromCurves},
		"greedy below lp": {Value: 20, Where: "section 4.2.3",
			What:   "a greedy algorithm below the LP from slack 0.3 on, in percent",
			Margin: 0.1, Why: readFromCurves},
		"mcb8 fails less": {Value: 40, Where: "section 4.2.3",
			What:   "MCB8's failures below those of GR, GB or RRNZ, in percent",
			Margin: 0.25, Why: `"about"`},
		"close": {Value: 5, Where: "section 4.2.2", What: "percent that is called close",
			Why: "curves that can't be told apart in print", Taken: true},
		"parallel time": {Value: 32, Where: "section 5.2", What: "how many times as long as SG MCB8 takes", Margin: 0.25,
			Why: "another machine"},
	},
	Tables: map[string][][]string{ // average and largest degradation from the best MCB in percent, as printed
		"1": {{"mcb8", "1.06", "40.45"}, {"mcb5", "1.60", "38.67"}, {"mcb6", "1.83", "37.61"}, {"mcb7", "3.91", "40.71"},
			{"mcb3", "11.76", "55.73"}, {"mcb2", "14.21", "48.30"}, {"mcb1", "14.90", "55.84"}, {"mcb4", "17.32", "46.95"}},
		"7": {{"mcb8", "0.09", "3.16"}, {"mcb5", "0.25", "3.50"}, {"mcb6", "0.46", "16.68"}, {"mcb7", "1.04", "48.39"},
			{"mcb3", "4.07", "64.71"}, {"mcb2", "8.68", "46.68"}, {"mcb1", "10.97", "73.33"}, {"mcb4", "14.80", "61.20"}},
	},
}

const (
	readFromCurves        = "read by the authors from curves"
	yield, average        = "objective", "second"
	unsolved, degradation = "unsolved %", "deg. all %"
	failure, seconds      = "failure %", "time"
)

// vcschedTies are below the least digit that the paper prints of a yield. Ten microseconds of a run are within the
// time that the machine takes for other work.
var vcschedTies = map[string]float64{yield: 0.0001, average: 0.0001, seconds: 0.00001}

var (
	mcb8 = []string{"mcb8"}
	mcbs = []string{"mcb8", "mcb5", "mcb6", "mcb7", "mcb3", "mcb2", "mcb1",
		"mcb4"} // in the order of Tables 1 and 7
	otherMCBs          = mcbs[1:]
	descending         = mcbs[:4]
	ascending          = mcbs[4:]
	greedy             = []string{"gr", "sg", "gb", "sgb"}
	rounding           = []string{"rrnd", "rrnz"}
	greedyAndMCB8      = slices.Concat(greedy, mcb8)
	otherHeuristics    = slices.Concat(greedy, rounding)
	ofSmall            = []string{"search", "lp", "gr", "sg", "gb", "sgb", "mcb8", "rrnd", "rrnz"}
	ofLarge            = []string{"search", "lp", "mcb8", "gr", "sg", "gb", "sgb", "rrnd", "rrnz"}
	ofParallel         = []string{"mcb8", "sg", "lp"}
	ofVCSched          = []string{yield, average, unsolved, degradation, seconds, "bound", failure}
	readingsOfTheNeeds = []string{"-left-", "-rescaled-"}
)

// vcschedRuns are the runs of a set, of the algorithms that the paper compares on it.
type vcschedRuns struct {
	all, slack, size *experiment // at one point, by slack, by the number of jobs or tasks
	mcb, mcbSlack    *experiment // of the MCBs alone: degradations are from the best of them
	mcbSize          *experiment
	from3, from4     *experiment // of slacks from 0.3, and from 0.4 on
}

// vcschedFindings are from sections 4.2 and 5.2: of the small set if the runs are of 4 hosts, of the parallel jobs
// if jobs have several tasks, else of the large set. They are of one reading of the memory needs.
//
// The MILP is the run "search", the rational LP the bound of "lp". If the paper writes "close" or "a few percent" the
// finding names the limit that was taken.
func vcschedFindings(records []runs.Record, _ []string) (func(*statements), error) {
	for _, p := range []struct {
		what string
		of   func(runs.Record) any
	}{
		{"numbers of hosts", func(r runs.Record) any { return r.Params["hosts"] }},
		{"limits of a job's tasks", func(r runs.Record) any { return r.Params["max_tasks"] }},
		{"readings of the memory needs", func(r runs.Record) any {
			return slices.IndexFunc(readingsOfTheNeeds, func(s string) bool { return strings.Contains(r.Instance, s) })
		}},
	} {
		for i := range records {
			if p.of(records[i]) != p.of(records[0]) {
				return nil, fmt.Errorf("there are instances with several %s: %s and %s, choose some by --instances", p.what,
					records[0].Instance, records[i].Instance)
			}
		}
	}
	var err error
	survey := func(least float64, algorithms []string, x ...string) *experiment {
		if err != nil {
			return nil
		}
		var e *experiment
		some := slices.DeleteFunc(slices.Clone(records), func(r runs.Record) bool { return r.Params["slack"] < least })
		if e, err = newSurvey(some, x, algorithms, ofVCSched); err == nil {
			e.ties = vcschedTies
		}
		return e
	}
	var r vcschedRuns
	if records[0].Params["max_tasks"] > 1 {
		size := "jobs"
		if records[0].Params["tasks"] != 0 {
			size = "tasks"
		}
		r.slack, r.all, r.size = survey(0, ofParallel, "slack"), survey(0, ofParallel), survey(0, ofParallel, size)
		return r.onParallel, err
	}
	r.mcbSlack, r.mcb = survey(0, mcbs, "slack"), survey(0, mcbs)
	if records[0].Params["hosts"] == 4 {
		r.slack, r.all = survey(0, ofSmall, "slack"), survey(0, ofSmall)
		return r.onSmall, err
	}
	r.slack, r.all = survey(0, ofLarge, "slack"), survey(0, ofLarge)
	r.mcbSize, r.size = survey(0, mcbs, "jobs"), survey(0, greedyAndMCB8, "jobs")
	r.from3, r.from4 = survey(0.3, ofLarge), survey(0.4, ofLarge)
	return r.onLarge, err
}

// solved returns the first point at which an algorithm has a measure, else the last.
func (e *experiment) solved(measure, algorithm string) int {
	for k := range e.points {
		if len(e.runs[cell{measure, algorithm, k}]) > 0 {
			return k
		}
	}
	return e.last()
}

// more claims that an algorithm has more of a measure than another by more than 0, in percent.
func (e *experiment) more(text, measure, to, from string) claims {
	return once(text, e.over(measure, to, from, 0))
}

// negative turns percent above into percent below.
func negative(x estimate) estimate { return estimate{-x.mean, x.half, x.df} }

// measured leaves out claims about figures that no run has.
func (all claims) measured() claims {
	return slices.DeleteFunc(all, func(c claim) bool { return math.IsNaN(c.value.mean) })
}

// onMCBs has the statements of section 4.2.1 about both sets.
func (r *vcschedRuns) onMCBs(s *statements) {
	s.say("each MCB has a higher minimum yield at the largest slack than at the least", r.mcbSlack.ends(yield, mcbs, 0))
	s.say("the four descending sorts have a higher minimum yield than the four ascending ones",
		r.mcb.lead(yield, descending, ascending))
	s.say("MCB8 has a higher minimum yield than each other MCB at every slack", r.mcbSlack.lead(yield, mcb8, otherMCBs))
	s.say("MCB8 has the least average degradation over all instances", r.mcb.lead(degradation, mcb8, otherMCBs).below(0))
	var order, second claims
	for k, a := range otherMCBs {
		order = append(order, r.mcb.lead(degradation, mcbs[k:k+1], otherMCBs[k:k+1])...)
		second = append(second, r.mcb.more("MCB8's average yield in percent above that of "+a, average, "mcb8", a)...)
	}
	s.say("the eight are in the printed order by average degradation", order.below(0))
	s.say("MCB8 is among the best in average yield: at most 1 % below each other", second.above(-1))
	s.say("failures are fewer at the largest slack than at the least", r.mcbSlack.ends(unsolved, mcbs, 0).below(0))
	s.say("the four descending sorts fail less than the four ascending ones",
		r.mcb.lead(unsolved, descending, ascending).below(0))
}

// onSmall has the statements of sections 4.2.1 and 4.2.2 about the small set.
func (r *vcschedRuns) onSmall(s *statements) {
	r.onMCBs(s)
	s.add(ranked("by the largest degradation MCB8 ranks third, after MCB5 and MCB6", 3, r.mcb, degradation, "mcb8",
		otherMCBs))
	s.say("MCB8 takes the least time of the eight", r.mcb.lead(seconds, mcb8, otherMCBs).below(0))

	all := r.all
	some := func(x float64) bool { return x > 0 }
	s.counted("MCB8 is more than 3 % below the best on {printed} instances that it solves",
		r.mcb.count(degradation, "mcb8", true, func(x float64) bool { return x > 3 }), "mcb8 above 3")
	s.counted("MCB8 is more than 10 % below the best on {printed} instances that it solves",
		r.mcb.count(degradation, "mcb8", true, func(x float64) bool { return x > 10 }), "mcb8 above 10")
	lpAbove := func(e *experiment, k int) estimate { return e.change(cell{"bound", "lp", k}, cell{yield, "search", k}) }
	s.near("the LP is {printed} % above the MILP on average", lpAbove(all, 0), "lp above milp")
	s.say("the LP is farther above the MILP at the least slack than at the largest",
		once("difference of the percentages", difference(lpAbove(r.slack, 0), lpAbove(r.slack, r.slack.last()))))
	s.near("the MILP is {printed} % above MCB8 on average", all.over(yield, "search", "mcb8", 0), "milp above mcb8")
	var alike, fair claims
	for _, a := range greedy {
		s.near("the MILP is {printed} % above "+strings.ToUpper(a)+" on average", all.over(yield, "search", a, 0),
			"milp above greedy")
		if a != "gr" {
			alike = append(alike, all.more("minimum yield of "+a+" above GR's, in percent", yield, a, "gr")...)
		}
	}
	s.say("all greedy algorithms have roughly the same minimum yield: within 5 % of GR's", alike.within(s.limit("close")))
	s.say("RRND and RRNZ have lower minimum yields than MCB8 and the greedy algorithms",
		all.lead(yield, rounding, greedyAndMCB8).below(0))
	s.say("RRNZ has a higher minimum yield than RRND", all.lead(yield, rounding[1:], rounding[:1]))
	var worse claims
	if from := r.slack.those(func(x []float64) bool { return x[0] == 0.2 }); len(from) > 0 {
		worse = r.slack.ends(yield, rounding, from[0]).below(0)
	}
	s.say("from slack 0.2 on RRND and RRNZ become worse: to the largest slack", worse)
	for _, a := range slices.Concat([]string{"search"}, greedyAndMCB8) {
		fair = append(fair, once("average yield of "+a+" above the LP's, in percent",
			all.change(cell{average, a, 0}, cell{"bound", "lp", 0}))...)
	}
	s.say("the average yields of MILP, MCB8 and the greedy algorithms are within 5 % of the LP's",
		fair.within(s.limit("close")))
	s.say("backtracking helps on small problems (GB fails less than GR, SGB less than SG)", append(
		once("failures of gb minus those of gr", all.mean(plus(unsolved, "gb", 0), minus(unsolved, "gr", 0))),
		once("failures of sgb minus those of sg", all.mean(plus(unsolved, "sgb", 0), minus(unsolved, "sg", 0)))...).below(0))
	r.acrossTheBoard(s)
	s.say("RRND fails most, then GR, then RRNZ",
		append(all.lead(unsolved, []string{"rrnd"}, []string{"gr"}), all.lead(unsolved, []string{"gr"}, []string{"rrnz"})...))
	s.counted("{printed} instances are infeasible", all.count(unsolved, "search", false, some), "infeasible")
	s.say("MCB8, SG and SGB fail hardly more than the MILP: by less than 2 points",
		all.lead(unsolved, []string{"mcb8", "sg", "sgb"}, []string{"search"}).below(2))
	for _, a := range []string{"gb", "sgb"} {
		s.add(none(strings.ToUpper(a)+" never fails on a feasible instance", all.count(failure, a, false, some)))
	}
	for _, a := range []string{"mcb8", "sg"} {
		s.counted(strings.ToUpper(a)+" fails on {printed} feasible instances", all.count(failure, a, false, some), a+" fails")
	}
	s.say("GR and SG are the fastest", all.lead(seconds, []string{"gr", "sg"}, []string{"gb", "sgb", "mcb8"}).below(0))
	s.say("RRND and RRNZ are slower than MCB8 and the greedy algorithms", all.lead(seconds, rounding, greedyAndMCB8))
}

// acrossTheBoard has the statements about MCB8 on both sets.
func (r *vcschedRuns) acrossTheBoard(s *statements) {
	s.most("MCB8 has a higher average yield than most other heuristics", r.all.lead(average, mcb8, otherHeuristics))
	s.most("MCB8 fails less than most other heuristics", r.all.lead(unsolved, mcb8, otherHeuristics).below(0))
}

// onLarge has the statements of sections 4.2.1 and 4.2.3 about the large set. Each curve of Figure 15 has its own
// instances, as an algorithm solves them.
func (r *vcschedRuns) onLarge(s *statements) {
	all, slack, few := r.all, r.slack, s.limit("close")
	r.onMCBs(s)
	s.add(ranked("MCB8 has the least largest degradation, too", 1, r.mcb, degradation, "mcb8", otherMCBs))
	var took claims
	for _, a := range mcbs {
		took = append(took, once("seconds of "+a, r.mcbSize.mean(plus(seconds, a, r.mcbSize.last())))...)
	}
	s.say("each MCB takes less than half a second with most jobs", took.below(0.5))
	s.say("MCB8 takes the least time of the eight", r.mcb.lead(seconds, mcb8, otherMCBs).below(0))

	s.say("MCB8 has a higher minimum yield than each other heuristic at every slack that it solves",
		slack.lead(yield, mcb8, otherHeuristics).measured())
	for _, x := range []float64{0.1, 0.2} {
		for _, k := range slack.those(func(p []float64) bool { return p[0] == x }) {
			s.near(fmt.Sprintf("at slack %g MCB8's minimum yield is {printed} %% below the LP's", x),
				negative(slack.curves(cell{yield, "mcb8", k}, cell{"bound", "lp", k})), fmt.Sprintf("curve at %g", x))
		}
	}
	s.say("MCB8 is less than 5 % below the LP from slack 0.3 on",
		slack.having(func(x []float64) bool { return x[0] >= 0.3 }).changes("the LP above MCB8 at {k}, in percent", cell{"bound", "lp", here}, cell{yield, "mcb8", here}).below(few))
	for _, a := range greedy {
		s.near("from slack 0.3 on "+strings.ToUpper(a)+" is {printed} % below the LP",
			negative(r.from3.change(cell{yield, a, 0}, cell{"bound", "lp", 0})), "greedy below lp")
	}
	s.say("GR and GB have nearly the same minimum yield: within 1 %",
		all.more("minimum yield of gb above that of gr, in percent", yield, "gb", "gr").within(1))
	s.say("RRNZ's minimum yield is lower at the largest slack than at the least that it solves",
		slack.ends(yield, rounding[1:], slack.solved(yield, "rrnz")).below(0))
	s.say("RRND has the lowest minimum yield",
		all.lead(yield, rounding[:1], slices.Concat(rounding[1:], greedyAndMCB8)).below(0))
	s.add(none("RRND solves no instance with a slack below 0.4",
		slack.having(func(x []float64) bool { return x[0] < 0.4 }).
			count(unsolved, "rrnd", false, func(x float64) bool { return x < 50 })))
	s.say("MCB8's average yield is within 5 % of the LP's above slack 0.3",
		slack.having(func(x []float64) bool { return x[0] > 0.3 }).changes("average yield of MCB8 above the LP's at {k}, in percent",
			cell{average, "mcb8", here}, cell{"bound", "lp", here}).within(few))
	s.say("the greedy algorithms have a higher average yield than the MILP and MCB8",
		all.lead(average, greedy, []string{"search", "mcb8"}))
	grAndGB := []string{"gr", "gb"}
	s.say("RRNZ has a higher average yield than GR and GB at the least slack that it solves",
		slack.only(slack.solved(average, "rrnz")).lead(average, rounding[1:], grAndGB))
	s.say("RRNZ has a lower average yield than GR and GB at the largest slack",
		slack.only(slack.last()).lead(average, rounding[1:], grAndGB).below(0))
	s.say("GB and SGB fail nearly as often as GR and SG at the least slack: at most 10 % less", append(
		slack.more("failures of gb above those of gr, in percent", unsolved, "gb", "gr"),
		slack.more("failures of sgb above those of sg, in percent", unsolved, "sgb", "sg")...).above(-10))
	without := func(a string) claims {
		return once("runs of "+a+" without a solution, in percent", r.from4.mean(plus(unsolved, a, 0)))
	}
	var others claims
	for _, a := range slices.Concat(mcb8, rounding[1:], greedy) {
		others = append(others, without(a).below(1)...)
	}
	s.say("above slack 0.3 RRND alone fails on more than 1 %", append(others, without("rrnd").above(1)...))
	for _, a := range []string{"gr", "gb", "rrnz"} {
		s.near("MCB8 fails {printed} % less often than "+strings.ToUpper(a), negative(all.over(unsolved, "mcb8", a, 0)),
			"mcb8 fails less")
	}
	r.acrossTheBoard(s)
	s.say("RRND fails more than 14 times as often as MCB8",
		all.more("failures of rrnd above those of mcb8, in percent", unsolved, "rrnd", "mcb8").above(1300))
	s.say("the greedy algorithms without backtracking are faster than MCB8 with most tasks",
		r.size.only(r.size.last()).lead(seconds, []string{"gr", "sg"}, mcb8).below(0))
	s.say("GB and SGB take longer with the fewest tasks than with most",
		r.size.ends(seconds, []string{"gb", "sgb"}, 0).below(0))
	s.say("RRND and RRNZ take longer than each other heuristic", all.lead(seconds, rounding, greedyAndMCB8))
}

// onParallel has the statements of section 5.2 about jobs of several tasks.
func (r *vcschedRuns) onParallel(s *statements) {
	sg := []string{"sg"}
	s.say("MCB8 has a higher minimum yield than SG at every slack", r.slack.lead(yield, mcb8, sg))
	s.say("SG has a higher average yield of jobs than MCB8 at every slack", r.slack.lead(average, sg, mcb8))
	s.say("MCB8 and SG fail equally often: within 1 point",
		append(r.all.lead(unsolved, mcb8, sg).below(1), r.all.lead(unsolved, mcb8, sg).above(-1)...))
	last := r.size.last()
	more, most := r.size.over(seconds, "mcb8", "sg", last), r.size.where(last)
	s.near("MCB8 takes {printed} times as long as SG at "+most, estimate{1 + more.mean/100, more.half / 100, more.df},
		"parallel time")
	s.say("MCB8 takes less than half a second at "+most,
		once("seconds", r.size.mean(plus(seconds, "mcb8", last))).below(0.5))
}
