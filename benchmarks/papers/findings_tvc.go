package papers

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/runs"
)

// tvcFindings are those of Li et al. (Bandwidth-Guaranteed Resource Allocation and
// Scheduling), section 5.3: without a queue of Figure 4 over the mean bandwidth
// and of Figure 5 over the load, with one of Figures 6 to 8 over the load. Some of
// the latter are about one log: the instances' names begin with it. Runs on both logs
// are checked for what the paper says of both together.
func tvcFindings(records []runs.Record, x []string) ([]Finding, error) {
	first, _ := records[0].Objectives()
	queue := first.Key == "response"
	switch {
	case queue && slices.Equal(x, []string{"load"}):
		logs := map[string][]runs.Record{}
		for _, r := range records {
			l := tvcLog(&r)
			logs[l] = append(logs[l], r)
		}
		if len(logs) == 2 && logs[""] == nil {
			return acrossLogs(logs, x)
		}
		return queueFindings(records, x)
	case !queue && (slices.Equal(x, []string{"load"}) || slices.Equal(x, []string{"bandwidth"})):
		return embedderFindings(records, x)
	}
	return nil, fmt.Errorf("findings about tvc are over bandwidth or load without a queue, over load with one; these results are over %q", x)
}

// tvcRivals lists the embedders that AdaBa is compared with: those of the paper,
// each in the readings that gapwise has of it.
var tvcRivals = []string{"oktopus", "greedy", "greedy-minmax", "best-fit", "best-fit-local"}

// tvcLogs are the logs of the paper, the beginnings of their instances' names.
var tvcLogs = []string{"KTH", "NASA"}

// tvcLog returns the log that a run is on, "" for none.
func tvcLog(r *runs.Record) string {
	for _, l := range tvcLogs {
		if strings.HasPrefix(r.Instance, l) {
			return l
		}
	}
	return ""
}

// The values that the findings are about. Eq. 1 defines what the paper calls the
// response time; it is the wait. Its number of migrations counts each preempted job.
const acceptRate, response, wait, bounded, preempted = "accept rate", "response", "wait", "bounded slowdown", "preempted"

// printedLead is by how much AdaBa is ahead at the largest bandwidth at most: "up to 15
// percent of improvement on accept rate", points or percent.
const printedLead = 15

// embedderFindings checks AdaBa against each rival that has runs.
func embedderFindings(records []runs.Record, x []string) ([]Finding, error) {
	var rivals []string
	for _, a := range tvcRivals {
		if slices.ContainsFunc(records, func(r runs.Record) bool { return r.Algorithm == a }) {
			rivals = append(rivals, a)
		}
	}
	if len(rivals) == 0 {
		return nil, fmt.Errorf("findings need runs of adaba and of some of %s", strings.Join(tvcRivals, ", "))
	}
	e, err := newExperiment(records, x, append([]string{"adaba"}, rivals...), []string{acceptRate})
	if err != nil {
		return nil, err
	}
	last := len(e.points) - 1
	// growth claims that AdaBa's lead is larger at the last point than at the first.
	growth := func(rival string) []claim {
		d := e.mean(term{1, cell{acceptRate, "adaba", last}}, term{-1, cell{acceptRate, rival, last}},
			term{-1, cell{acceptRate, "adaba", 0}}, term{1, cell{acceptRate, rival, 0}})
		return []claim{{fmt.Sprintf("lead over %s at %s minus that at %s", rival, e.where(last), e.where(0)), d, 0, false}}
	}
	// below claims that AdaBa is ahead by less than the printed lead at a point.
	below := func(rival string, k int) claim {
		c := e.lead(acceptRate, "adaba", rival, k, true)
		c.limit = printedLead
		return c
	}
	var all []Finding
	if x[0] == "load" { // Figure 5
		for _, a := range rivals {
			all = append(all, most("AdaBa accepts more than "+a+" at most loads", e.leads(acceptRate, []string{"adaba"}, []string{a}, false)))
		}
		for _, a := range rivals {
			all = append(all, every("AdaBa's lead over "+a+" grows with the load", growth(a)))
		}
		for _, a := range rivals {
			var claims []claim
			for k := range e.points {
				claims = append(claims, below(a, k))
			}
			all = append(all, every(fmt.Sprintf("AdaBa's lead over %s is less than %d points at every load", a, printedLead), claims))
		}
		return all, nil
	}
	for _, a := range rivals {
		all = append(all, every("AdaBa accepts more than "+a+" at every bandwidth", e.leads(acceptRate, []string{"adaba"}, []string{a}, false)))
	}
	for _, a := range rivals {
		all = append(all, every(fmt.Sprintf("AdaBa is up to %d points ahead of %s at %s", printedLead, a, e.where(last)),
			[]claim{e.lead(acceptRate, "adaba", a, last, false), below(a, last)}))
		more := e.change(cell{acceptRate, "adaba", last}, cell{acceptRate, a, last})
		all = append(all, every(fmt.Sprintf("AdaBa accepts up to %d %% more than %s at %s", printedLead, a, e.where(last)),
			[]claim{{"in percent, above 0", more, 0, false}, {"in percent", more, printedLead, true}}))
	}
	for _, a := range rivals {
		all = append(all, every("AdaBa's accept rate falls by less than that of "+a, growth(a)))
	}
	all = append(all, every("more bandwidth: all accept less", e.steps(acceptRate, append([]string{"adaba"}, rivals...), true)))
	for _, a := range rivals {
		if !strings.HasPrefix(a, "best-fit") {
			continue
		}
		like := growth(a)[0]
		like.value.mean, like.limit, like.less = math.Abs(like.value.mean), similarWithin, true
		all = append(all, every(fmt.Sprintf("%s's accept rate falls like AdaBa's (within %g points)", a, similarWithin), []claim{like}),
			every(fmt.Sprintf("%s accepts what AdaBa does at the least bandwidth (within %g points)", a, similarWithin), e.distances(acceptRate, "adaba", a, similarWithin, true)[:1]))
		for _, b := range rivals {
			if !strings.HasPrefix(b, "best-fit") {
				all = append(all, most(fmt.Sprintf("%s accepts more than %s in most cases", a, b), e.leads(acceptRate, []string{a}, []string{b}, false)))
			}
		}
	}
	return all, nil
}

// queueFindings checks the findings about schedulers.
func queueFindings(records []runs.Record, x []string) ([]Finding, error) {
	log := tvcLog(&records[0])
	e, err := newExperiment(records, x, []string{"fcfs", "sbf", "sdf", "bgmbf", "bgmbf-sdf"}, []string{response, wait, bounded, preempted})
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(records, func(r runs.Record) bool { return tvcLog(&r) != log }) {
		return nil, errors.New("the runs are of several logs, give those of one")
	}
	var all []Finding
	for _, v := range []string{response, wait, bounded} {
		all = append(all,
			every("BgMBF has less "+v+" than FCFS at every load", e.leads(v, []string{"bgmbf"}, []string{"fcfs"}, true)),
			every("BgMBF has less "+v+" than SBF at every load", e.leads(v, []string{"bgmbf"}, []string{"sbf"}, true)),
			every("SBF has more "+v+" than FCFS at every load", e.leads(v, []string{"sbf"}, []string{"fcfs"}, false)),
			every("BgMBFSDF has less "+v+" than BgMBF at every load", e.leads(v, []string{"bgmbf-sdf"}, []string{"bgmbf"}, true)),
			every("SDF, BgMBF and BgMBFSDF differ less in "+v+" than FCFS and BgMBF at every load", e.closer(v, []string{"sdf", "bgmbf", "bgmbf-sdf"}, "fcfs", "bgmbf")))
	}
	limit, but := 0.0, -1
	switch log {
	case "NASA":
		for _, v := range []string{response, wait} {
			all = append(all, every("SDF has less "+v+" than BgMBF and BgMBFSDF (NASA)", e.leads(v, []string{"sdf"}, []string{"bgmbf", "bgmbf-sdf"}, true)))
		}
		limit = 200
	case "KTH":
		for _, v := range []string{response, wait} {
			all = append(all, every("SDF has more "+v+" than BgMBF and BgMBFSDF (KTH)", e.leads(v, []string{"sdf"}, []string{"bgmbf", "bgmbf-sdf"}, false)))
		}
		limit = 350
		but = slices.IndexFunc(e.points, func(p []float64) bool { return p[0] == 0.6 })
	}
	if limit > 0 {
		var claims []claim
		for _, a := range []string{"bgmbf", "bgmbf-sdf"} {
			for k := range e.points {
				claims = append(claims, claim{fmt.Sprintf("%s at %s", a, e.where(k)), e.mean(term{1, cell{preempted, a, k}}), limit, true})
			}
		}
		all = append(all, every(fmt.Sprintf("at most %g preemptions (%s)", limit, log), claims))
	}
	var cheap []claim
	for k := range e.points {
		d := e.mean(term{migrationCost, cell{preempted, "bgmbf", k}}, term{-1, cell{response, "bgmbf", k}})
		cheap = append(cheap, claim{fmt.Sprintf("%d s a preemption minus the response at %s", migrationCost, e.where(k)), d, 0, true})
	}
	all = append(all, every(fmt.Sprintf("BgMBF's preemptions, %d s each, take less together than the mean response", migrationCost), cheap))
	fewer := e.leads(preempted, []string{"bgmbf-sdf"}, []string{"bgmbf"}, true)
	if but >= 0 {
		fewer = slices.Delete(fewer, but, but+1)
		all = append(all, every("BgMBFSDF preempts more than BgMBF at load 0.6 (KTH)", []claim{e.lead(preempted, "bgmbf-sdf", "bgmbf", but, false)}))
	}
	text := "BgMBFSDF preempts less than BgMBF at every load"
	if but >= 0 {
		text = "BgMBFSDF preempts less than BgMBF at every other load"
	}
	return append(all, every(text, fewer)), nil
}

// migrationCost is what the paper cites for a migration, in seconds.
const migrationCost = 20

// closer claims that some algorithms' values are closer to each other than one value is
// above another's, at every point.
func (e *experiment) closer(value string, algorithms []string, above, below string) (all []claim) {
	for k := range e.points {
		for i, a := range algorithms {
			for _, b := range algorithms[i+1:] {
				for _, pair := range [][2]string{{a, b}, {b, a}} {
					d := e.mean(term{1, cell{value, above, k}}, term{-1, cell{value, below, k}}, term{-1, cell{value, pair[0], k}}, term{1, cell{value, pair[1], k}})
					all = append(all, claim{fmt.Sprintf("(%s minus %s) minus (%s minus %s) at %s", above, below, pair[0], pair[1], e.where(k)), d, 0, false})
				}
			}
		}
	}
	return all
}

// acrossLogs checks what the paper says of both logs together. Their draws have
// nothing in common.
func acrossLogs(logs map[string][]runs.Record, x []string) ([]Finding, error) {
	var of [2]*experiment
	for i, l := range tvcLogs {
		var err error
		if of[i], err = newExperiment(logs[l], x, []string{"bgmbf", "bgmbf-sdf"}, []string{response, wait, preempted}); err != nil {
			return nil, fmt.Errorf("%s: %w", l, err)
		}
	}
	kth, nasa := of[0], of[1]
	if !slices.EqualFunc(kth.points, nasa.points, slices.Equal) {
		return nil, errors.New("the runs on both logs are at different loads")
	}
	// over makes a claim at every load, about what is estimated for each log.
	over := func(text string, less bool, of func(e *experiment, k int) estimate) (all []claim) {
		for k := range kth.points {
			all = append(all, claim{fmt.Sprintf("%s at %s, NASA minus KTH", text, kth.where(k)), difference(of(nasa, k), of(kth, k)), 0, less})
		}
		return all
	}
	var all []Finding
	for _, v := range []string{response, wait} {
		all = append(all, every(fmt.Sprintf("BgMBFSDF shortens BgMBF's %s by more percent for NASA than for KTH at every load", v),
			over("change in percent", true, func(e *experiment, k int) estimate { return e.change(cell{v, "bgmbf-sdf", k}, cell{v, "bgmbf", k}) })))
	}
	return append(all, every("BgMBF preempts less for KTH than for NASA at every load",
		over("preemptions", false, func(e *experiment, k int) estimate { return e.mean(term{1, cell{preempted, "bgmbf", k}}) }))), nil
}
