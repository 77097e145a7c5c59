package benchmarks

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// tvcFindings are those of Li et al. (Bandwidth-Guaranteed Resource Allocation and
// Scheduling), section 5.3: without a queue of Figure 4 over the mean bandwidth
// and of Figure 5 over the load, with one of Figures 6 to 8 over the load. Some of
// the latter are about one log: the instances' names begin with it.
func tvcFindings(records []Record, x []string) ([]Finding, error) {
	queue := records[0].metrics()[0].Key == "response"
	switch {
	case queue && slices.Equal(x, []string{"load"}):
		return queueFindings(records, x)
	case !queue && (slices.Equal(x, []string{"load"}) || slices.Equal(x, []string{"bandwidth"})):
		return embedderFindings(records, x)
	}
	return nil, fmt.Errorf("findings about tvc are over bandwidth or load without a queue, over load with one; these results are over %q", x)
}

// tvcRivals lists the embedders that AdaBa is compared with: those of the paper,
// each in the readings that gapwise has of it.
var tvcRivals = []string{"oktopus", "greedy", "greedy-minmax", "best-fit", "best-fit-local"}

const acceptRate = "accept rate"

// embedderFindings checks AdaBa against each rival that has runs.
func embedderFindings(records []Record, x []string) ([]Finding, error) {
	var rivals []string
	for _, a := range tvcRivals {
		if slices.ContainsFunc(records, func(r Record) bool { return r.Algorithm == a }) {
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
	var all []Finding
	if x[0] == "load" { // Figure 5
		for _, a := range rivals {
			all = append(all, most("AdaBa accepts more than "+a+" at most loads", e.leads(acceptRate, []string{"adaba"}, []string{a}, false)))
		}
		for _, a := range rivals {
			all = append(all, every("AdaBa's lead over "+a+" grows with the load", growth(a)))
		}
		return all, nil
	}
	for _, a := range rivals {
		all = append(all, every("AdaBa accepts more than "+a+" at every bandwidth", e.leads(acceptRate, []string{"adaba"}, []string{a}, false)))
	}
	for _, a := range rivals {
		c := e.lead(acceptRate, "adaba", a, last, false)
		c.limit = 15
		all = append(all, every(fmt.Sprintf("AdaBa is 15 points ahead of %s at %s", a, e.where(last)), []claim{c}))
	}
	for _, a := range rivals {
		all = append(all, every("AdaBa's accept rate falls by less than that of "+a, growth(a)))
	}
	all = append(all, every("more bandwidth: all accept less", e.steps(acceptRate, append([]string{"adaba"}, rivals...), true)))
	for _, a := range rivals {
		if !strings.HasPrefix(a, "best-fit") {
			continue
		}
		for _, b := range rivals {
			if !strings.HasPrefix(b, "best-fit") {
				all = append(all, most(fmt.Sprintf("%s accepts more than %s in most cases", a, b), e.leads(acceptRate, []string{a}, []string{b}, false)))
			}
		}
	}
	return all, nil
}

// queueFindings checks the findings about schedulers.
func queueFindings(records []Record, x []string) ([]Finding, error) {
	// Eq. 1 defines what the paper calls the response time; it is the wait.
	const response, wait, bounded, suspensions = "response", "wait", "bounded slowdown", "suspensions"
	log := ""
	for _, l := range []string{"KTH", "NASA"} {
		if strings.HasPrefix(records[0].Instance, l) {
			log = l
		}
	}
	e, err := newExperiment(records, x, []string{"fcfs", "sbf", "sdf", "bgmbf", "bgmbf-sdf"}, []string{response, wait, bounded, suspensions})
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(records, func(r Record) bool { return !strings.HasPrefix(r.Instance, log) }) {
		return nil, errors.New("the runs are of several logs, give those of one")
	}
	var all []Finding
	for _, v := range []string{response, wait, bounded} {
		all = append(all,
			every("BgMBF has less "+v+" than FCFS at every load", e.leads(v, []string{"bgmbf"}, []string{"fcfs"}, true)),
			every("BgMBF has less "+v+" than SBF at every load", e.leads(v, []string{"bgmbf"}, []string{"sbf"}, true)),
			every("SBF has more "+v+" than FCFS at every load", e.leads(v, []string{"sbf"}, []string{"fcfs"}, false)),
			every("BgMBFSDF has less "+v+" than BgMBF at every load", e.leads(v, []string{"bgmbf-sdf"}, []string{"bgmbf"}, true)))
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
				claims = append(claims, claim{fmt.Sprintf("%s at %s", a, e.where(k)), e.mean(term{1, cell{suspensions, a, k}}), limit, true})
			}
		}
		all = append(all, every(fmt.Sprintf("at most %g suspensions (%s)", limit, log), claims))
	}
	fewer := e.leads(suspensions, []string{"bgmbf-sdf"}, []string{"bgmbf"}, true)
	if but >= 0 {
		fewer = slices.Delete(fewer, but, but+1)
		all = append(all, every("BgMBFSDF suspends more than BgMBF at load 0.6 (KTH)", []claim{e.lead(suspensions, "bgmbf-sdf", "bgmbf", but, false)}))
	}
	text := "BgMBFSDF suspends less than BgMBF at every load"
	if but >= 0 {
		text = "BgMBFSDF suspends less than BgMBF at every other load"
	}
	return append(all, every(text, fewer)), nil
}
