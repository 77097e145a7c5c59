// SPDX-License-Identifier: MIT

package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Run is one run, with its instance and its solution where they are at hand.
type Run struct {
	runs.Record
	Instance model.Instance // nil: not at hand
	Solution model.Solution // nil: not at hand
	// Load, if not nil, returns the instance and the solution of a run that has neither,
	// which have to be loaded.
	Load func(context.Context) (model.Instance, model.Solution, error)
	// Judged means that the judge has looked, for this page, at a solution that a file only states.
	Judged bool
}

// run is a Run among others on the same instance.
type run struct {
	*Run
	on *instance
}

// instance holds the results of all runs together on an instance.
type instance struct {
	Name, hash string
	params     map[string]float64
	*runs.Known
	runs []*run
}

// part holds the runs of one problem with one objective, which can be compared.
type part struct {
	kind       model.Kind
	first      model.Metric
	second     model.Metric
	algorithms []string // by class, in the order in which they appear
	class      map[string]model.Class
	instances  []*instance
	runs       []*run
}

// parts divides the runs. Runs that runs.Merge refuses are an error.
func parts(given []Run) (all []*part, notes []string, err error) {
	records := make([]runs.Record, len(given))
	kept := map[runKey]*Run{}
	for i := range given {
		r := &given[i]
		records[i] = r.Record
		if k := keyOf(&r.Record); kept[k] == nil || r.Solution != nil && kept[k].Solution == nil || r.Load != nil && kept[k].Load == nil && kept[k].Solution == nil {
			kept[k] = r
		}
	}
	merged, notes, err := runs.Merge(records)
	if err != nil {
		return nil, nil, err
	}
	known := runs.Learn(merged, nil)
	found, byHash := map[string]*part{}, map[string]*instance{}
	for i := range merged {
		first, second := merged[i].Objectives()
		id := string(merged[i].Kind) + "\x00" + first.Key
		p := found[id]
		if p == nil {
			p = &part{kind: merged[i].Kind, first: first, second: second}
			found[id], all = p, append(all, p)
		}
		k := kept[keyOf(&merged[i])]
		one := &run{Run: &Run{Record: merged[i], Instance: k.Instance, Solution: k.Solution, Load: k.Load, Judged: k.Judged}}
		on := byHash[one.Hash]
		if on == nil {
			on = &instance{Name: one.Record.Instance, hash: one.Hash, params: paramsOf(&one.Record), Known: known[one.Hash]}
			byHash[one.Hash] = on
			p.instances = append(p.instances, on)
		}
		one.on = on
		on.runs, p.runs = append(on.runs, one), append(p.runs, one)
		if !slices.Contains(p.algorithms, one.Algorithm) {
			p.algorithms = append(p.algorithms, one.Algorithm)
		}
	}
	for _, p := range all {
		p.grouped()
	}
	return all, notes, nil
}

// paramsOf returns the parameters of a run's instance: the generator's inputs take precedence over computed ones.
func paramsOf(r *runs.Record) map[string]float64 {
	all := maps.Clone(r.Features)
	if all == nil {
		all = map[string]float64{}
	}
	maps.Copy(all, r.Params)
	delete(all, "draw")
	return all
}

// unitOf returns a parameter's name with its unit.
func (p *part) unitOf(key string) string {
	problem, err := gapwise.ProblemOf(p.kind)
	if err != nil {
		return key
	}
	for _, x := range runs.ParamsOf(problem) {
		if x.Key == key && x.Unit != "" {
			return key + " (" + x.Unit + ")"
		}
	}
	return key
}

type runKey struct {
	hash, algorithm string
	seed            uint64
}

func keyOf(r *runs.Record) runKey { return runKey{r.Hash, r.Algorithm, r.Seed} }

// bestRun returns the first run with the best objective of online policies, of the others or of all. How a log's own
// scheduler ran is no run of a policy. nil if there is none.
func (i *instance) bestRun(online ...bool) *run {
	var best *run
	for _, r := range i.runs {
		if r.Objective == nil || len(online) > 0 && ((r.Class() == model.Online) != online[0] || r.Algorithm == gapwise.LogAlgorithm) {
			continue
		}
		if best == nil || i.Sense.Better(*r.Objective, *best.Objective) {
			best = r
		}
	}
	return best
}

// gap returns the gap of the best solution to the best bound.
func (i *instance) gap() float64 { return i.Gap(i.Best) }

// closed reports whether a solution is within the gap that counts as optimal.
func (i *instance) closed() bool { return i.gap() <= model.DefaultGap }

// ran returns the run of the log's own scheduler, nil if it isn't known.
func (i *instance) ran() *run {
	for _, r := range i.runs {
		if r.Algorithm == gapwise.LogAlgorithm && r.Objective != nil {
			return r
		}
	}
	return nil
}

// grouped puts the algorithms into the order of their classes.
func (p *part) grouped() {
	p.class = map[string]model.Class{}
	for _, r := range p.runs {
		if _, ok := p.class[r.Algorithm]; !ok {
			p.class[r.Algorithm] = r.Class()
		}
	}
	slices.SortStableFunc(p.algorithms, func(a, b string) int { return cmp.Compare(p.rankOf(a), p.rankOf(b)) })
}

// rankOf returns the place of an algorithm's class.
func (p *part) rankOf(algorithm string) int {
	return slices.Index(model.Classes(), p.class[algorithm])
}

// mixed reports whether the algorithms are of more than one class, which are shown then.
func (p *part) mixed() bool {
	return slices.ContainsFunc(p.algorithms, func(a string) bool { return p.class[a] != p.class[p.algorithms[0]] })
}

func (r *run) objective() float64 { return runs.Number(r.Objective) }

// gap returns the gap to the best bound of the instance.
func (r *run) gap() float64 { return r.on.Gap(r.objective()) }

// failed reports whether the run found nothing where there may be something.
func (r *run) failed() bool { return r.Objective == nil && !r.on.Infeasible }

// stopped reports whether the run ended before it was through, or without a solution.
func (r *run) stopped() bool {
	return r.Status != model.StatusOptimal && r.Status != model.StatusInfeasible && r.Reason != ""
}

// status describes how the run ended, and why it stopped. A solution that another run proves to be optimal is optimal;
// a result that a file only states is stated.
func (r *run) status() string {
	switch {
	case r.Objective != nil && r.on.Optimal(*r.Objective):
		if r.Status == model.StatusOptimal || r.on.BoundBy == "" || r.on.BoundBy == r.Algorithm {
			return string(model.StatusOptimal)
		}
		return fmt.Sprintf("%s (%s)", model.StatusOptimal, clipText(r.on.BoundBy, 24))
	case r.Status == model.StatusOptimal && !r.Sealed:
		return "stated optimal"
	case r.stopped():
		return string(r.Status) + ": " + clipText(r.Reason, 60)
	}
	return string(r.Status)
}

// runsOf returns the runs of one algorithm.
func (p *part) runsOf(algorithm string) []*run {
	var all []*run
	for _, r := range p.runs {
		if r.Algorithm == algorithm {
			all = append(all, r)
		}
	}
	return all
}

// title names the part in words.
func (p *part) title() string { return fmt.Sprintf("%s: %s", p.kind, p.first.Name) }

// varying returns the parameters that all instances have and that differ, sorted.
func (p *part) varying() []string {
	values := map[string]map[float64]bool{}
	has := map[string]int{}
	for _, i := range p.instances {
		for key, x := range i.params {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				continue
			}
			if values[key] == nil {
				values[key] = map[float64]bool{}
			}
			values[key][x] = true
			has[key]++
		}
	}
	var all []string
	for key := range values {
		if len(values[key]) > 1 && has[key] == len(p.instances) {
			all = append(all, key)
		}
	}
	order := p.order()
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(order[a], order[b]), strings.Compare(a, b)) })
	return all
}

// order numbers the parameters: first the inputs of the runs' generator, then the ones computed of the instances, both
// as the problem lists them.
func (p *part) order() map[string]int {
	order, told := map[string]int{}, map[string]bool{}
	for _, r := range p.runs {
		for key := range r.Params {
			told[key] = true
		}
	}
	problem, err := gapwise.ProblemOf(p.kind)
	if err != nil {
		return order
	}
	all := runs.ParamsOf(problem)
	for k, x := range all {
		if order[x.Key] = k + 1; !told[x.Key] {
			order[x.Key] += len(all)
		}
	}
	return order
}

// class holds the instances with equal values of a parameter or, if there are many values, with values near each other.
type class struct {
	x     float64 // the value; of several their mean
	label string
	in    map[*instance]bool
}

// mostClasses is how many values of a parameter are kept apart.
const mostClasses = 16

// classes divides the instances by a parameter: by value or, of more than mostClasses
// values, in classes of about equally many instances.
func (p *part) classes(param string) []class {
	byValue := map[float64][]*instance{}
	for _, i := range p.instances {
		byValue[i.params[param]] = append(byValue[i.params[param]], i)
	}
	values := slices.Sorted(maps.Keys(byValue))
	var all []class
	add := func(values []float64) {
		c := class{in: map[*instance]bool{}, label: words.Tidy(values[0])}
		if n := len(values); n > 1 {
			c.label += " to " + words.Tidy(values[n-1])
		}
		sum := 0.0
		for _, x := range values {
			for _, i := range byValue[x] {
				c.in[i] = true
				sum += x
			}
		}
		if c.x = sum / float64(len(c.in)); len(values) == 1 {
			c.x = values[0]
		}
		all = append(all, c)
	}
	if len(values) <= mostClasses {
		for k := range values {
			add(values[k : k+1])
		}
		return all
	}
	const groups = 12
	seen, begin := 0, 0
	for k, x := range values {
		seen += len(byValue[x])
		if seen*groups >= (len(all)+1)*len(p.instances) || k+1 == len(values) {
			add(values[begin : k+1])
			begin = k + 1
		}
	}
	return all
}

// byName sorts instances.
func byName(all []*instance) {
	slices.SortStableFunc(all, func(a, b *instance) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.hash, b.hash))
	})
}

// values returns f of the runs where it is finite.
func values(runs []*run, f func(*run) float64) []float64 {
	var all []float64
	for _, r := range runs {
		if x := f(r); !math.IsNaN(x) && !math.IsInf(x, 0) {
			all = append(all, x)
		}
	}
	return all
}
