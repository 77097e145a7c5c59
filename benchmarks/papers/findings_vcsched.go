package papers

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/runs"
)

// vcschedFindings are those of Stillwell et al. (Resource Allocation using Virtual
// Clusters), sections 4.2 and 5.2: of the small set if the runs are of 4 hosts, of the
// parallel jobs if jobs have several tasks, else of the large set. They are of one
// reading of the memory needs.
//
// The MILP is the run "search", the rational LP the bound of "lp". Where the paper says
// "close" or "a few percent" the finding names the limit that was taken.
func vcschedFindings(records []runs.Record, _ []string) ([]Finding, error) {
	isRescaled := func(r runs.Record) bool { return strings.Contains(r.Instance, "-"+instances.MemoryRescaled+"-") }
	same := func(what string, of func(runs.Record) float64) error {
		for i := range records {
			if of(records[i]) != of(records[0]) {
				return fmt.Errorf("there are instances with several %s: %s and %s, choose some by --instances", what, records[0].Instance, records[i].Instance)
			}
		}
		return nil
	}
	parallel := records[0].Params["max_tasks"] > 1
	if err := errors.Join(same("numbers of hosts", func(r runs.Record) float64 { return r.Params["hosts"] }),
		same("limits of a job's tasks", func(r runs.Record) float64 { return r.Params["max_tasks"] }),
		same("readings of the memory needs", func(r runs.Record) float64 {
			if isRescaled(r) {
				return 1
			}
			return 0
		})); err != nil {
		return nil, err
	}
	v := &vcschedRuns{records: records}
	var all []Finding
	switch {
	case parallel:
		all = v.parallel()
	case records[0].Params["hosts"] == 4:
		all = append(v.multiCapacity(true), v.small()...)
	default:
		all = append(v.multiCapacity(false), v.large()...)
	}
	return all, v.err
}

// vcschedRuns makes surveys of runs and keeps the first error.
type vcschedRuns struct {
	records []runs.Record
	err     error
}

// The algorithms of section 3.
var (
	vcschedDescending = []string{"mcb8", "mcb5", "mcb6", "mcb7"}
	vcschedAscending  = []string{"mcb3", "mcb2", "mcb1", "mcb4"}
	vcschedMCB        = slices.Concat(vcschedDescending, vcschedAscending) // in the order of Tables 1 and 7
	vcschedGreedy     = []string{"gr", "sg", "gb", "sgb"}
	vcschedRounding   = []string{"rrnd", "rrnz"}
)

const (
	unsolved    = "unsolved %"
	degradation = "deg. all %"
	runTime     = "time"
	relaxed     = "bound" // of lp
	// littleMore bounds what the paper calls close: 5 %.
	littleMore = 5.0
)

// survey reads the runs of some algorithms at the slacks from least on.
func (v *vcschedRuns) survey(x []string, least float64, algorithms []string) *experiment {
	some := slices.DeleteFunc(slices.Clone(v.records), func(r runs.Record) bool { return r.Params["slack"] < least })
	e, err := newSurvey(some, x, algorithms, []string{"objective", "second", unsolved, degradation, runTime, relaxed, "failure %"}, nil)
	if err != nil && v.err == nil {
		v.err = err
	}
	return e
}

// multiCapacity checks the findings about the eight MCB algorithms (section 4.2.1).
func (v *vcschedRuns) multiCapacity(small bool) []Finding {
	e, all := v.survey([]string{"slack"}, 0, vcschedMCB), v.survey(nil, 0, vcschedMCB)
	if v.err != nil {
		return nil
	}
	others := vcschedMCB[1:]
	var best []claim
	for _, a := range others {
		best = append(best, claim{"MCB8's average yield in percent above that of " + a, all.change(cell{"second", "mcb8", 0}, cell{"second", a, 0}), -1, false})
	}
	var order []claim
	for k := 1; k < len(vcschedMCB); k++ {
		order = append(order, all.lead(degradation, vcschedMCB[k-1], vcschedMCB[k], 0, true))
	}
	found := []Finding{
		every("each MCB has a higher minimum yield at the largest slack than at the least", e.ends("objective", vcschedMCB, false)),
		every("the four descending sorts have a higher minimum yield than the four ascending ones", all.leads("objective", vcschedDescending, vcschedAscending, false)),
		every("MCB8 has a higher minimum yield than each other MCB at every slack", e.leads("objective", vcschedMCB[:1], others, false)),
		every("MCB8 has the least average degradation over all instances", all.leads(degradation, vcschedMCB[:1], others, true)),
		every("the eight are in the printed order by average degradation", order),
		every("MCB8 is among the best in average yield: at most 1 % below each other", best),
		every("failures are fewer at the largest slack than at the least", e.ends(unsolved, vcschedMCB, true)),
		every("the four descending sorts fail less than the four ascending ones", all.leads(unsolved, vcschedDescending, vcschedAscending, true)),
		every("MCB8 takes the least time of the eight", all.leads(runTime, vcschedMCB[:1], others, true)),
	}
	if small {
		worse := func(limit float64) count {
			solved := count{}
			for d, y := range all.runs[cell{degradation, "mcb8", 0}] {
				if all.runs[cell{unsolved, "mcb8", 0}][d] > 0 {
					continue
				}
				if solved.of++; y > limit {
					solved.n++
				}
			}
			return solved
		}
		found = append(found,
			counted("instances that MCB8 solves with a degradation above 3 %", worse(3), count{155, 1379}, 0.25),
			counted("instances that MCB8 solves with a degradation above 10 %", worse(10), count{19, 1379}, 0.25))
	}
	return found
}

// small checks the findings about the small set (section 4.2.2).
func (v *vcschedRuns) small() []Finding {
	heuristics := slices.Concat(vcschedGreedy, []string{"mcb8"})
	algorithms := slices.Concat([]string{"search", "lp"}, heuristics, vcschedRounding)
	e, all := v.survey([]string{"slack"}, 0, algorithms), v.survey(nil, 0, algorithms)
	if v.err != nil {
		return nil
	}
	optimum := func(k int) cell { return cell{"objective", "search", k} }
	lp := func(k int) cell { return cell{relaxed, "lp", k} }
	last := len(e.points) - 1
	found := []Finding{
		near("the LP is above the MILP, in percent", all.change(lp(0), optimum(0)), 4, 0.125),
		every("the LP is farther above the MILP at the least slack than at the largest", []claim{{
			"difference of the percentages", difference(e.change(lp(0), optimum(0)), e.change(lp(last), optimum(last))), 0, false}}),
		near("the MILP is above MCB8, in percent", all.change(optimum(0), cell{"objective", "mcb8", 0}), 2, 0.25),
	}
	for _, a := range vcschedGreedy {
		found = append(found, near("the MILP is above "+strings.ToUpper(a)+", in percent (11 to 13)", all.change(optimum(0), cell{"objective", a, 0}), 12, 1.0/6))
	}
	var alike, slight []claim
	for _, a := range append([]string{"search"}, heuristics...) {
		alike = append(alike, within("average yield of "+a+" above the LP's, in percent", all.change(cell{"second", a, 0}, lp(0)))...)
	}
	for _, a := range []string{"mcb8", "sg", "sgb"} {
		c := all.lead(unsolved, a, "search", 0, true)
		c.limit = 2
		slight = append(slight, c)
	}
	failed := func(a string) count {
		return all.count(cell{"failure %", a, 0}, func(x float64) bool { return x > 0 })
	}
	return append(found,
		every("RRND and RRNZ have lower minimum yields than MCB8 and the greedy algorithms", all.leads("objective", vcschedRounding, heuristics, true)),
		every("RRNZ has a higher minimum yield than RRND", all.leads("objective", []string{"rrnz"}, []string{"rrnd"}, false)),
		every("from slack 0.2 on RRND and RRNZ become worse: to the largest slack", e.between("objective", vcschedRounding, e.at(0.2), last, true)),
		every("the average yields of MILP, MCB8 and the greedy algorithms are within 5 % of the LP's", alike),
		every("RRND fails most, then GR, then RRNZ", []claim{all.lead(unsolved, "rrnd", "gr", 0, false), all.lead(unsolved, "gr", "rrnz", 0, false)}),
		counted("infeasible instances", all.count(cell{unsolved, "search", 0}, func(x float64) bool { return x > 0 }), count{60, 1440}, 0.25),
		every("MCB8, SG and SGB fail hardly more than the MILP: by less than 2 points", slight),
		none("GB never fails on a feasible instance", failed("gb")),
		none("SGB never fails on a feasible instance", failed("sgb")),
		counted("feasible instances on which MCB8 fails", failed("mcb8"), count{1, 1380}, 0.25),
		counted("feasible instances on which SG fails", failed("sg"), count{15, 1380}, 0.25),
		every("GR and SG are the fastest", all.leads(runTime, []string{"gr", "sg"}, []string{"gb", "sgb", "mcb8"}, true)),
		every("RRND and RRNZ are slower than MCB8 and the greedy algorithms", all.leads(runTime, vcschedRounding, heuristics, false)))
}

// large checks the findings about the large set (section 4.2.3). Curves of Figure 15
// have their own instances each: those that an algorithm solves.
func (v *vcschedRuns) large() []Finding {
	heuristics := slices.Concat(vcschedGreedy, vcschedRounding)
	algorithms := slices.Concat([]string{"search", "lp", "mcb8"}, heuristics)
	e, all, by := v.survey([]string{"slack"}, 0, algorithms), v.survey(nil, 0, algorithms), v.survey([]string{"jobs"}, 0, []string{"gr", "sg", "gb", "sgb", "mcb8"})
	from3, from4 := v.survey(nil, 0.3, algorithms), v.survey(nil, 0.4, algorithms)
	if v.err != nil {
		return nil
	}
	last := len(e.points) - 1
	mcb8, lp := func(k int) cell { return cell{"objective", "mcb8", k} }, func(k int) cell { return cell{relaxed, "lp", k} }
	found := []Finding{every("MCB8 has a higher minimum yield than each other heuristic at every slack that it solves", measurable(e.leads("objective", []string{"mcb8"}, heuristics, false)))}
	for _, printed := range [][2]float64{{0.1, 37}, {0.2, 8}} {
		if k := e.at(printed[0]); k >= 0 {
			found = append(found, near(fmt.Sprintf("MCB8's curve is above the LP's at slack %g, in percent", printed[0]), e.curves(mcb8(k), lp(k)), -printed[1], 0.1))
		}
	}
	var close, tracks, few []claim
	for k, p := range e.points {
		if p[0] >= 0.3 {
			close = append(close, claim{"the LP above MCB8 at " + e.where(k) + ", in percent", e.change(lp(k), mcb8(k)), littleMore, true})
		}
		if p[0] > 0.3 {
			tracks = append(tracks, within("average yield of MCB8 above the LP's at "+e.where(k)+", in percent", e.change(cell{"second", "mcb8", k}, lp(k)))...)
		}
	}
	found = append(found, every("MCB8 is less than 5 % below the LP from slack 0.3 on", close))
	for _, a := range vcschedGreedy {
		found = append(found, near(strings.ToUpper(a)+" is above the LP from slack 0.3 on, in percent", from3.change(cell{"objective", a, 0}, lp(0)), -20, 0.1))
	}
	for _, a := range slices.Concat([]string{"mcb8", "rrnz"}, vcschedGreedy) {
		few = append(few, claim{"runs of " + a + " without a solution, in percent", from4.mean(term{1, cell{unsolved, a, 0}}), 1, true})
	}
	few = append(few, claim{"runs of rrnd without a solution, in percent", from4.mean(term{1, cell{unsolved, "rrnd", 0}}), 1, false})
	solved := count{}
	for k, p := range e.points {
		if p[0] < 0.4 {
			c := e.count(cell{unsolved, "rrnd", k}, func(x float64) bool { return x == 0 })
			solved = count{solved.n + c.n, solved.of + c.of}
		}
	}
	least := 0 // of the slacks at which RRNZ solves an instance
	for least < last && len(e.runs[cell{"objective", "rrnz", least}]) == 0 {
		least++
	}
	same := all.change(cell{"objective", "gb", 0}, cell{"objective", "gr", 0})
	const gbOverGR = "minimum yield of gb above that of gr, in percent"
	found = append(found,
		every("GR and GB have nearly the same minimum yield: within 1 %", []claim{{gbOverGR, same, -1, false}, {gbOverGR, same, 1, true}}),
		every("RRNZ's minimum yield is lower at the largest slack than at the least that it solves", e.between("objective", []string{"rrnz"}, least, last, true)),
		every("RRND has the lowest minimum yield", all.leads("objective", []string{"rrnd"}, []string{"rrnz", "gr", "sg", "gb", "sgb", "mcb8"}, true)),
		none("RRND solves no instance with a slack below 0.4", solved),
		every("MCB8's average yield is within 5 % of the LP's above slack 0.3", tracks),
		every("the greedy algorithms have a higher average yield than the MILP and MCB8", all.leads("second", vcschedGreedy, []string{"search", "mcb8"}, false)),
		every("RRNZ has a higher average yield than GR and GB at the least slack that it solves", []claim{e.lead("second", "rrnz", "gr", least, false), e.lead("second", "rrnz", "gb", least, false)}),
		every("RRNZ has a lower average yield than GR and GB at the largest slack", []claim{e.lead("second", "rrnz", "gr", last, true), e.lead("second", "rrnz", "gb", last, true)}),
		every("GB and SGB fail nearly as often as GR and SG at the least slack: at most 10 % less", []claim{
			{"failures of gb above those of gr, in percent", e.change(cell{unsolved, "gb", 0}, cell{unsolved, "gr", 0}), -10, false},
			{"failures of sgb above those of sg, in percent", e.change(cell{unsolved, "sgb", 0}, cell{unsolved, "sg", 0}), -10, false}}),
		every("above slack 0.3 RRND alone fails on more than 1 %", few))
	for _, a := range []string{"gr", "gb", "rrnz"} {
		found = append(found, near("failures of MCB8 above those of "+strings.ToUpper(a)+", in percent", all.change(cell{unsolved, "mcb8", 0}, cell{unsolved, a, 0}), -40, 0.25))
	}
	found = append(found,
		every("RRND fails more than 14 times as often as MCB8", []claim{{"failures of rrnd above those of mcb8, in percent", all.change(cell{unsolved, "rrnd", 0}, cell{unsolved, "mcb8", 0}), 1300, false}}),
		every("the greedy algorithms without backtracking are faster than MCB8 with most tasks", []claim{by.lead(runTime, "gr", "mcb8", len(by.points)-1, true), by.lead(runTime, "sg", "mcb8", len(by.points)-1, true)}),
		every("GB and SGB take longer with the fewest tasks than with most", by.ends(runTime, []string{"gb", "sgb"}, true)),
		every("RRND and RRNZ take longer than each other heuristic", all.leads(runTime, vcschedRounding, slices.Concat(vcschedGreedy, []string{"mcb8"}), false)))
	return found
}

// parallel checks the findings about parallel jobs (section 5.2).
func (v *vcschedRuns) parallel() []Finding {
	size := "tasks"
	if v.records[0].Params["tasks"] == 0 {
		size = "jobs"
	}
	algorithms := []string{"mcb8", "sg", "lp"}
	e, by, all := v.survey([]string{"slack"}, 0, algorithms), v.survey([]string{size}, 0, algorithms), v.survey(nil, 0, algorithms)
	if v.err != nil {
		return nil
	}
	most := len(by.points) - 1
	fails := all.lead(unsolved, "mcb8", "sg", 0, true)
	fails.limit = 1
	more := fails
	more.limit, more.less = -1, false
	return []Finding{
		every("MCB8 has a higher minimum yield than SG at every slack", e.leads("objective", []string{"mcb8"}, []string{"sg"}, false)),
		every("SG has a higher average yield of jobs than MCB8 at every slack", e.leads("second", []string{"sg"}, []string{"mcb8"}, false)),
		every("MCB8 and SG fail equally often: within 1 point", []claim{fails, more}),
		near("MCB8's time is above SG's at "+by.where(most)+", in percent (32 times)", by.change(cell{runTime, "mcb8", most}, cell{runTime, "sg", most}), 3100, 0.25),
		every("MCB8 takes less than half a second at "+by.where(most), []claim{{"seconds", by.mean(term{1, cell{runTime, "mcb8", most}}), 0.5, true}}),
	}
}

// ends claims that some algorithms' values are higher at the last point than at the
// first, lower if less.
func (e *experiment) ends(value string, algorithms []string, less bool) []claim {
	return e.between(value, algorithms, 0, len(e.points)-1, less)
}

// between claims that some algorithms' values are higher at point to than at point
// from, lower if less; nothing where there is no such point (-1).
func (e *experiment) between(value string, algorithms []string, from, to int, less bool) (all []claim) {
	if from < 0 || to < 0 {
		return nil
	}
	for _, a := range algorithms {
		d := e.mean(term{1, cell{value, a, to}}, term{-1, cell{value, a, from}})
		all = append(all, claim{fmt.Sprintf("%s from %s to %s", a, e.where(from), e.where(to)), d, 0, less})
	}
	return all
}

// within claims that a percentage is between -littleMore and littleMore.
func within(text string, x estimate) []claim {
	return []claim{{text, x, -littleMore, false}, {text, x, littleMore, true}}
}

// measurable drops claims about what no run has a value of.
func measurable(claims []claim) []claim {
	return slices.DeleteFunc(claims, func(c claim) bool { return math.IsNaN(c.value.mean) })
}

// curves estimates by how many percent one curve is above another at one point, each
// the mean over those instances of which its algorithm has a value. With A the sum of
// the values of the first, a their number, and B and b those of the second, R = (A/a) /
// (B/b) has the interval of the mean of R (A_i/mean(A) - a_i/mean(a) - B_i/mean(B) +
// b_i/mean(b)) over all instances, its linear approximation.
func (e *experiment) curves(to, from cell) estimate {
	drawn := map[drawn]bool{}
	for _, c := range []cell{to, from, {unsolved, to.algorithm, to.point}, {unsolved, from.algorithm, from.point}} {
		for d := range e.runs[c] {
			drawn[d] = true
		}
	}
	n := float64(len(drawn))
	total := func(c cell) (sum, size float64) {
		for d := range drawn {
			if y, ok := e.runs[c][d]; ok {
				sum, size = sum+y/n, size+1/n
			}
		}
		return sum, size
	}
	first, a := total(to)
	second, b := total(from)
	if a == 0 || b == 0 || second == 0 {
		return estimate{math.NaN(), math.NaN()}
	}
	ratio := first / a / (second / b)
	var all []float64
	for d := range drawn {
		x := 0.0
		if y, ok := e.runs[to][d]; ok {
			x += y/first - 1/a
		}
		if y, ok := e.runs[from][d]; ok {
			x -= y/second - 1/b
		}
		all = append(all, 100*ratio*x)
	}
	d := estimated(all, 100*ratio)
	return estimate{100 * (ratio - 1), d.half}
}
