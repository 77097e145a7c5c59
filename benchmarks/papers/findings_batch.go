package papers

import (
	"cmp"
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
func batchFindings(records []runs.Record, x []string) ([]Finding, error) {
	costs := slices.Equal(x, []string{"load", "migration_s"})
	if !costs && !slices.Equal(x, []string{"load"}) {
		return nil, fmt.Errorf("findings about batch are over load, or over load,migration_s; these results are over %q", x)
	}
	has := func(algorithm string) bool {
		return slices.ContainsFunc(records, func(r runs.Record) bool { return r.Algorithm == algorithm })
	}
	algorithms := []string{"keasy", "measy"}
	switch {
	case costs:
	case has("reasy"):
		algorithms = []string{"easy", "keasy", "measy", "reasy"}
	default:
		algorithms = []string{"easy", "keasy", "measy"}
	}
	var all []Finding
	var loads []*batchWorkload
	for _, w := range batchWorkloads() {
		own := slices.DeleteFunc(slices.Clone(records), func(r runs.Record) bool { return !strings.HasPrefix(r.Instance, w.prefix) })
		if len(own) == 0 {
			continue
		}
		if err := w.read(own, x, algorithms); err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		loads = append(loads, w)
		if costs {
			all = append(all, w.costs()...)
		} else {
			all = append(all, w.order(has("reasy"))...)
		}
	}
	switch {
	case len(loads) == 0:
		return nil, errors.New("findings about batch are about the models feitelson and jann, there are runs of neither")
	case costs || !has("reasy"):
		return all, nil
	}
	if len(loads) == 2 && !slices.Equal(loads[0].easy, loads[1].easy) {
		return nil, errors.New("EASY runs on other tiers in FWload than in JWload")
	}
	all = append(all, improvements(loads)...)
	if len(loads) == 2 {
		all = append(all, moreMigrations(loads[0], loads[1])...)
	}
	return all, nil
}

// batchWorkload is a workload of the paper's section 3.1 with its runs.
type batchWorkload struct {
	*experiment
	name, prefix string // of its instances
	// MEASY is ahead of KEASY below the first cost of a migration in seconds, and
	// isn't from the second one on.
	ahead, behind float64
	jobs          float64
	easy          []string // of easyRuns, those that there are
}

// easyRuns names EASY on one tier and on two.
var easyRuns = []struct{ algorithm, name string }{{"easy-one-tier", "EASY on one tier"}, {"easy", "EASY on two tiers"}}

// schedulerName returns an algorithm's name in findings.
func schedulerName(algorithm string) string {
	for _, x := range easyRuns {
		if x.algorithm == algorithm {
			return x.name
		}
	}
	return strings.ToUpper(algorithm)
}

func batchWorkloads() []*batchWorkload {
	return []*batchWorkload{
		{name: "FWload", prefix: "batch-feitelson-", ahead: 900, behind: 1500},
		{name: "JWload", prefix: "batch-jann-", ahead: 480, behind: 900},
	}
}

// batchValues are the paper's metrics: the objective is the mean response time.
var batchValues = []struct{ key, name string }{{"objective", "response"}, {"bounded slowdown", "bounded slowdown"}}

const migrations = "migrations"

// read takes EASY on one tier from the runs there, and all else from those on two.
func (w *batchWorkload) read(records []runs.Record, x, algorithms []string) (err error) {
	wanted := []string{"objective", "bounded slowdown", migrations}
	var one, two []runs.Record
	for _, r := range records {
		switch {
		case r.Params["tiers"] != 1:
			two = append(two, r)
		case r.Algorithm == "easy":
			one = append(one, r)
		}
	}
	w.jobs = records[0].Params["jobs"]
	if onTwo := slices.ContainsFunc(two, func(r runs.Record) bool { return r.Algorithm == "easy" }); len(one) > 0 && !onTwo {
		algorithms = slices.DeleteFunc(slices.Clone(algorithms), func(a string) bool { return a == "easy" })
	}
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

// order checks which algorithm is ahead of which.
func (w *batchWorkload) order(reasy bool) (all []Finding) {
	for _, v := range batchValues {
		less := func(first, second string) {
			all = append(all, every(fmt.Sprintf("%s has less %s than %s at every load (%s)", schedulerName(first), v.name, schedulerName(second), w.name),
				w.leads(v.key, []string{first}, []string{second}, true)))
		}
		for _, easy := range w.easy {
			less("measy", easy)
			less("keasy", easy)
		}
		less("measy", "keasy")
		if reasy {
			less("measy", "reasy")
			less("keasy", "reasy")
			for _, easy := range w.easy {
				if w.name == "JWload" {
					less(easy, "reasy")
				} else {
					less("reasy", easy)
				}
			}
		}
	}
	return all
}

// similar is the share by which figures that are the same, or comparable, may differ.
const similar = 0.1

// costs checks up to which cost of a migration MEASY is ahead of KEASY.
func (w *batchWorkload) costs() (all []Finding) {
	for _, v := range batchValues {
		var below, above, comparable []claim
		for k, p := range w.points {
			switch cost := p[1]; {
			case cost < w.ahead:
				below = append(below, w.lead(v.key, "measy", "keasy", k, true))
			case cost >= w.behind:
				above = append(above, w.lead(v.key, "measy", "keasy", k, false))
				comparable = append(comparable, claim{"measy above keasy in percent at " + w.where(k), w.change(cell{v.key, "measy", k}, cell{v.key, "keasy", k}), 100 * similar, true})
			}
		}
		if len(below) > 0 {
			all = append(all, every(fmt.Sprintf("MEASY has less %s than KEASY at every load if a migration costs less than %g s (%s)", v.name, w.ahead, w.name), below))
		}
		if len(above) > 0 {
			all = append(all, every(fmt.Sprintf("MEASY has more %s than KEASY at every load if a migration costs %g s or more (%s)", v.name, w.behind, w.name), above),
				every(fmt.Sprintf("MEASY has less than %g %% more %s than KEASY at every load if a migration costs %g s or more: comparable (%s)", 100*similar, v.name, w.behind, w.name), comparable))
		}
	}
	return all
}

// improvements checks by how much MEASY is ahead of EASY, over all loads of the
// workloads.
func improvements(all []*batchWorkload) []Finding {
	printed := []struct{ mean, most float64 }{{23.1, 41.1}, {69.3, 82.9}}
	var found []Finding
	for i, v := range batchValues {
		for _, easy := range all[0].easy {
			var points []claim
			for _, w := range all {
				for k := range w.points {
					points = append(points, claim{fmt.Sprintf("%s at %s, in percent", w.name, w.where(k)), w.improvement(v.key, easy, k), printed[i].most, false})
				}
			}
			average, name := improvement(v.key, easy, all...), schedulerName(easy)
			mean := claim{"improvement in percent", average, printed[i].mean, false}
			largest := slices.MaxFunc(points, func(a, b claim) int { return cmp.Compare(a.value.mean, b.value.mean) })
			found = append(found,
				every(fmt.Sprintf("MEASY's %s is %g %% or more below that of %s, mean over the loads", v.name, printed[i].mean, name), []claim{mean}),
				oneOf(fmt.Sprintf("MEASY's %s is %g %% or more below that of %s at some load", v.name, printed[i].most, name), points),
				near(fmt.Sprintf("MEASY's %s below that of %s in percent, mean over the loads", v.name, name), average, printed[i].mean, similar),
				near(fmt.Sprintf("MEASY's %s below that of %s in percent, the most at a load", v.name, name), largest.value, printed[i].most, similar))
		}
	}
	return found
}

// improvement estimates by how many percent MEASY's value is below that of an EASY at
// point k.
func (w *batchWorkload) improvement(value, easy string, k int) estimate {
	one := &batchWorkload{experiment: &experiment{points: w.points[:1], runs: map[cell]map[drawn]float64{}}}
	for _, a := range []string{easy, "measy"} {
		one.runs[cell{value, a, 0}] = w.runs[cell{value, a, k}]
	}
	return improvement(value, easy, one)
}

// improvement estimates by how many percent MEASY's value is below that of an EASY:
// in each draw the mean over all points of some workloads.
func improvement(value, easy string, all ...*batchWorkload) estimate {
	sum, n := map[drawn]float64{}, 0
	seen := map[drawn]int{}
	for _, w := range all {
		for k := range w.points {
			n++
			for d, from := range w.runs[cell{value, easy, k}] {
				if to, ok := w.runs[cell{value, "measy", k}][d]; ok {
					sum[d] += 100 * (1 - to/from)
					seen[d]++
				}
			}
		}
	}
	e := experiment{runs: map[cell]map[drawn]float64{{}: {}}}
	for d := range sum {
		if seen[d] == n {
			e.runs[cell{}][d] = sum[d] / float64(n)
		}
	}
	return e.mean(term{1, cell{}})
}

// moreMigrations compares MEASY's migrations per job on both workloads at the lowest
// and the highest load. Draws of different workloads with one number are as good as
// any other pairs.
func moreMigrations(fw, jw *batchWorkload) []Finding {
	at := func(text string, a, b int, less bool) Finding {
		e := experiment{runs: map[cell]map[drawn]float64{{point: 0}: jw.runs[cell{migrations, "measy", a}], {point: 1}: fw.runs[cell{migrations, "measy", b}]}}
		d := e.mean(term{1 / jw.jobs, cell{point: 0}}, term{-1 / fw.jobs, cell{point: 1}})
		return every(text, []claim{{fmt.Sprintf("migrations per job of JWload at %s minus those of FWload at %s", jw.where(a), fw.where(b)), d, 0, less}})
	}
	return []Finding{
		at("MEASY migrates more in JWload than in FWload at the highest load, per job", len(jw.points)-1, len(fw.points)-1, false),
		at("MEASY migrates less in JWload than in FWload at the lowest load, per job", 0, 0, true),
	}
}
