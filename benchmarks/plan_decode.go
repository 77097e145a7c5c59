// SPDX-License-Identifier: MIT

package benchmarks

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/core/params"
	"github.com/gapwise/gapwise/internal/text/nearest"
	"github.com/gapwise/gapwise/internal/text/visible"
	"github.com/gapwise/gapwise/model"
)

// keys returns the keys of a plan. lines receives the texts of its algorithms.
func (p *Plan) keys(lines *[]field) []key {
	instances := 0.0
	return []key{
		{"name", &p.Name},
		{"description", &p.Description},
		{"generators", func(v field) {
			v.each("[{kind: vcsched, hosts: 4, jobs: 10, count: 1}]", func(x field) {
				g := decodeGenerator(x)
				n, err := g.check()
				if instances += n; err == nil && instances > maxInstances {
					err = fmt.Errorf("that makes %.0f instances, at most %d are allowed", instances, maxInstances)
				}
				x.check(err)
				p.Generators = append(p.Generators, *g)
			})
		}},
		{"files", func(v field) {
			v.each("[instance.json, folder, {path: graphs, platform: 'star,machines=4'}]", func(x field) { p.Files = append(p.Files, decodeFile(x)) })
		}},
		{"algorithms", func(v field) {
			v.each("[heft, {name: search, time_limit: 10s}]", func(x field) {
				*lines = append(*lines, x)
				p.decodeAlgorithm(x)
			})
		}},
		{"seeds", func(v field) {
			v.each("[1, 2, 3]", func(x field) {
				p.Seeds = append(p.Seeds, 0)
				x.into(&p.Seeds[len(p.Seeds)-1])
			})
		}},
	}
}

// decodePlan reads a plan, strictly. Errors wrap model.ErrInvalid, are one line, and
// name the line of the text.
func decodePlan(data []byte) (p *Plan, err error) {
	defer func() {
		if x := recover(); x != nil {
			wrong, is := x.(mistake)
			if !is {
				panic(x)
			}
			err = wrong.error
		}
		if err != nil {
			p, err = nil, fmt.Errorf("%w plan: %s", model.ErrInvalid, strings.Join(strings.Fields(err.Error()), " "))
		}
	}()
	p = &Plan{}
	var lines []field // of the algorithms
	keys := p.keys(&lines)
	readYAML(data).read("a mapping with the keys "+strings.Join(keyNames(keys), ", "), "a plan", keys)
	switch {
	case p.Name == "" || strings.ContainsAny(p.Name, `/\`) || visible.Text(p.Name, "") != p.Name:
		return nil, fmt.Errorf("name is %q, must be a word that can name a file", p.Name)
	case len(p.Generators) == 0 && len(p.Files) == 0:
		return nil, errors.New("there are neither generators nor files")
	case len(p.Algorithms) == 0:
		return nil, errors.New("there are no algorithms")
	case len(p.Seeds) == 0:
		p.Seeds = []uint64{1}
	}
	for i := range p.Algorithms {
		lines[i].check(p.fits(&p.Algorithms[i]))
	}
	return p, p.expand()
}

// decodeGenerator reads a generator: its own keys, its problem's parameters, and some more.
func decodeGenerator(v field, more ...key) *planGenerator {
	g := &planGenerator{Count: 1, Values: map[string][]string{}}
	if k, ok := v.fields("a mapping, like {kind: vcsched, hosts: 4, jobs: 10, count: 1}")["kind"]; ok {
		g.Kind = model.Kind(k.text())
	}
	var err error
	if g.problem, err = gapwise.ProblemOf(g.Kind); err != nil {
		v.bad(": kind is %q, must be one of %q", g.Kind, model.Kinds())
	}
	keys := append(g.keys(), more...)
	for _, x := range g.problem.Generator.Parameters() {
		keys = append(keys, key{x.Key, func(v field) { g.Values[x.Key] = several(v, field.text) }})
	}
	v.read("", "a generator of "+string(g.Kind), keys)
	return g
}

// keys returns the keys of a generator, in addition to its problem's parameters.
func (g *planGenerator) keys() []key {
	return []key{{"kind", (*string)(&g.Kind)}, {"count", &g.Count}, {"seed", &g.Seed}, {"source", &g.Source}}
}

// decodeFile reads the path of a file, or a file with the settings that its instances need.
func decodeFile(v field) File {
	f := File{Variants: map[string]string{}}
	if !v.isMapping() {
		v.into(&f.Path)
	} else if _, ok := v.fields("")["kind"]; ok {
		f.decodeLog(v)
	} else {
		v.read("", "a file", f.keys(), "and, with kind, of a log: those of its generator")
	}
	if f.Path == "" {
		v.bad(": path is missing, give a file or a folder")
	}
	if f.Logs != nil {
		f.Logs.Values["log"] = []string{f.Path}
		_, err := f.Logs.check()
		v.check(err)
	}
	return f
}

// decodeLog reads a log with the keys of its generator.
func (f *File) decodeLog(v field) {
	f.Logs = decodeGenerator(v, key{"path", &f.Path})
	fields := v.fields("")
	if !slices.Contains(logKinds(), f.Logs.Kind) {
		fields["kind"].bad("is %q, SWF logs become one of %q; instances tell their kind themselves", f.Logs.Kind, logKinds())
	}
	if log, ok := fields["log"]; ok {
		log.bad("isn't needed, path names the log")
	}
}

// keys returns the keys of a file that is no log.
func (f *File) keys() []key {
	all := []key{{"path", &f.Path}, {"platform", &f.Platform}, {"dot", &f.DOT}, {"files", &f.Files}, {"network", &f.Network}, {"work_unit", &f.WorkUnit}}
	readings := readings()
	for _, name := range slices.Sorted(maps.Keys(readings)) {
		all = append(all, key{name, func(x field) {
			f.Variants[name] = x.text()
			if !slices.Contains(readings[name], f.Variants[name]) {
				x.bad("is %q, must be one of %q", f.Variants[name], readings[name])
			}
		}})
	}
	return all
}

// decodeAlgorithm reads the name of an algorithm, or an algorithm with its settings.
func (p *Plan) decodeAlgorithm(v field) {
	a := Algorithm{}
	if v.isMapping() {
		v.read("", "an algorithm", slices.Concat(a.keys(), a.parameters()))
	} else {
		v.into(&a.Name)
	}
	a.Label = cmp.Or(a.Label, a.Name)
	switch {
	case a.Name == "":
		v.bad(": name is missing, give that of an algorithm (gapwise algorithms lists them)")
	case slices.ContainsFunc(p.Algorithms, func(b Algorithm) bool { return a.Label == b.Label }):
		v.bad(": two algorithms have the label %q, give one another label", a.Label)
	}
	p.Algorithms = append(p.Algorithms, a)
}

// keys returns the keys of every algorithm.
func (a *Algorithm) keys() []key {
	return []key{{"name", &a.Name}, {"label", &a.Label}, {"engine", &a.Engine}, {"formulation", &a.Formulation},
		{"time_limit", &a.TimeLimit}, {"answer_limit", &a.AnswerLimit}, {"effort", &a.Effort},
		{"gap", func(x field) {
			if x.into(&a.Gap); !(a.Gap >= 0 && a.Gap < 1) {
				x.bad("is %v, can't be negative, must be below 1", a.Gap)
			}
		}},
		{"threads", &a.Threads}, {"sample", &a.Sample},
		{"only", func(x field) { // values of parameters that instances must have
			a.Only = map[string][]float64{}
			var parameters []key
			for _, name := range runs.Params() {
				parameters = append(parameters, key{name, func(y field) { a.Only[name] = several(y, field.number) }})
			}
			x.read("a mapping, like {tasks: [10, 20]}", x.at, parameters)
		}}}
}

// parameters returns the keys of the settings that one problem's algorithms know.
func (a *Algorithm) parameters() (all []key) {
	a.Parameters = map[string]string{}
	for _, p := range gapwise.Problems() {
		if p.Parameters == nil {
			continue
		}
		for _, x := range params.Of(p.Parameters()) {
			all = append(all, key{x.Key, func(v field) { a.Parameters[x.Key] = v.text() }})
		}
	}
	return all
}

// kinds returns the problems of the plan's instances, if known before its files are read.
func (p *Plan) kinds() []model.Kind {
	var all []model.Kind
	for _, g := range p.Generators {
		all = append(all, g.Kind)
	}
	for _, f := range p.Files {
		if f.Logs == nil {
			return model.Kinds()
		}
		all = append(all, f.Logs.Kind)
	}
	return all
}

// fits returns an error if the algorithm solves none of the problems that the plan
// has instances of.
func (p *Plan) fits(a *Algorithm) error {
	if a.Name == allName {
		return nil
	}
	kinds := p.kinds()
	if slices.ContainsFunc(kinds, a.takes) {
		return nil
	}
	err := a.check(kinds[len(kinds)-1])
	several := slices.ContainsFunc(kinds, func(k model.Kind) bool { return k != kinds[0] })
	switch {
	case several && a.Formulation != "":
		return fmt.Errorf("%w, or formulation %q, for none of %q (gapwise export --help lists them)",
			gapwise.ErrUnknownAlgorithm, a.Formulation, kinds)
	case several && a.Engine == "" && len(a.Parameters) == 0:
		var known []string
		for _, kind := range model.Kinds() {
			for _, b := range gapwise.Algorithms(kind) {
				known = append(known, b.Name)
			}
		}
		return fmt.Errorf("%w %q, for none of %q (gapwise algorithms lists them)%s", gapwise.ErrUnknownAlgorithm, a.Name,
			kinds, nearest.Hint("; did you mean %s?", a.Name, known))
	}
	return err
}
