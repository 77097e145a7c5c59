// SPDX-License-Identifier: MIT

package benchmarks

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/core/params"
	"github.com/gapwise/gapwise/internal/text/visible"
	"github.com/gapwise/gapwise/model"
)

// keys returns the keys of a plan. lines receives the texts of its algorithms.
func (p *Plan) keys(lines *[]field) []key {
	instances := 0.0
	return []key{
		{"name", &p.Name},
		{"description", &p.Description},
		{"generators", func(v field) error {
			return v.each("[{kind: vcsched, hosts: 4, jobs: 10, count: 1}]", func(x field) error {
				g, err := decodeGenerator(x)
				if err != nil {
					return err
				}
				n, err := g.check()
				if instances += n; err == nil && instances > maxInstances {
					err = fmt.Errorf("that makes %.0f instances, at most %d are allowed", instances, maxInstances)
				}
				p.Generators = append(p.Generators, *g)
				return x.wrong(err)
			})
		}},
		{"files", func(v field) error {
			return v.each("[instance.json, folder, {path: graphs, platform: 'star,machines=4'}]", func(x field) error {
				f, err := decodeFile(x)
				p.Files = append(p.Files, f)
				return err
			})
		}},
		{"algorithms", func(v field) error {
			return v.each("[heft, {name: search, time_limit: 10s}]", func(x field) error {
				*lines = append(*lines, x)
				return p.decodeAlgorithm(x)
			})
		}},
		{"seeds", func(v field) error {
			return v.each("[1, 2, 3]", func(x field) error {
				p.Seeds = append(p.Seeds, 0)
				return x.into(&p.Seeds[len(p.Seeds)-1])
			})
		}},
	}
}

// decodePlan reads a plan, strictly. Errors wrap model.ErrInvalid, are one line, and
// name the line of the text.
func decodePlan(data []byte) (p *Plan, err error) {
	defer func() {
		if err != nil {
			p, err = nil, fmt.Errorf("%w plan: %s", model.ErrInvalid, strings.Join(strings.Fields(err.Error()), " "))
		}
	}()
	doc, err := readYAML(data)
	if err != nil {
		return nil, err
	}
	p = &Plan{}
	var lines []field // of the algorithms
	keys := p.keys(&lines)
	if err := doc.read("a mapping with the keys "+strings.Join(keyNames(keys), ", "), "a plan", keys); err != nil {
		return nil, err
	}
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
		if err := lines[i].wrong(p.fits(&p.Algorithms[i])); err != nil {
			return nil, err
		}
	}
	return p, p.expand()
}

// decodeGenerator reads a generator: its own keys, its problem's parameters, and some more.
func decodeGenerator(v field, more ...key) (*planGenerator, error) {
	g := &planGenerator{Count: 1, Values: map[string][]string{}}
	fields, err := v.fields("a mapping, like {kind: vcsched, hosts: 4, jobs: 10, count: 1}")
	if err != nil {
		return nil, err
	}
	kind := ""
	if k, ok := fields["kind"]; ok {
		if err := k.into(&kind); err != nil {
			return nil, err
		}
	}
	g.Kind = model.Kind(kind)
	problem, err := gapwise.ProblemOf(g.Kind)
	if err != nil {
		return nil, v.bad(": kind is %q, must be one of %q", kind, model.Kinds())
	}
	keys := append(g.keys(), more...)
	for _, x := range problem.Generator.Parameters() {
		keys = append(keys, key{x.Key, func(v field) (err error) {
			g.Values[x.Key], err = several(v, field.text)
			return err
		}})
	}
	return g, v.read("", "a generator of "+kind, keys)
}

// keys returns the keys of a generator, in addition to its problem's parameters.
func (g *planGenerator) keys() []key {
	return []key{{"kind", (*string)(&g.Kind)}, {"count", &g.Count}, {"seed", &g.Seed}, {"source", &g.Source}}
}

// decodeFile reads the path of a file, or a file with the settings that its instances need.
func decodeFile(v field) (f File, err error) {
	f.Variants = map[string]string{}
	if !v.isMapping() {
		err = v.into(&f.Path)
	} else if fields, err2 := v.fields(""); err2 != nil {
		return f, err2
	} else if _, ok := fields["kind"]; ok {
		err = f.decodeLog(v, fields)
	} else {
		err = v.read("", "a file", f.keys(), "and, with kind, of a log: those of its generator")
	}
	switch {
	case err != nil:
		return f, err
	case f.Path == "":
		return f, v.bad(": path is missing, give a file or a folder")
	case f.Logs != nil:
		f.Logs.Values["log"] = []string{f.Path}
		_, err = f.Logs.check()
	}
	return f, v.wrong(err)
}

// decodeLog reads a log with the keys of its generator.
func (f *File) decodeLog(v field, fields map[string]field) (err error) {
	if f.Logs, err = decodeGenerator(v, key{"path", &f.Path}); err != nil {
		return err
	}
	if !slices.Contains(logKinds(), f.Logs.Kind) {
		return fields["kind"].bad("is %q, SWF logs become one of %q; instances tell their kind themselves", f.Logs.Kind,
			logKinds())
	}
	if log, ok := fields["log"]; ok {
		return log.bad("isn't needed, path names the log")
	}
	return nil
}

// keys returns the keys of a file that is no log.
func (f *File) keys() []key {
	all := []key{{"path", &f.Path}, {"platform", &f.Platform}}
	for _, name := range variantKeys() {
		all = append(all, key{name, func(x field) error {
			text, err := x.text()
			if values := variantValues(name); err == nil && !slices.Contains(values, text) {
				err = x.bad("is %q, must be one of %q", text, values)
			}
			f.Variants[name] = text
			return err
		}})
	}
	return all
}

// decodeAlgorithm reads the name of an algorithm, or an algorithm with its settings.
func (p *Plan) decodeAlgorithm(v field) (err error) {
	a := Algorithm{}
	if v.isMapping() {
		err = v.read("", "an algorithm", slices.Concat(a.keys(), a.parameters()))
	} else {
		err = v.into(&a.Name)
	}
	a.Label = cmp.Or(a.Label, a.Name)
	switch {
	case err != nil:
		return err
	case a.Name == "":
		return v.bad(": name is missing, give that of an algorithm (gapwise algorithms lists them)")
	case slices.ContainsFunc(p.Algorithms, func(b Algorithm) bool { return a.Label == b.Label }):
		return v.bad(": two algorithms have the label %q, give one another label", a.Label)
	}
	p.Algorithms = append(p.Algorithms, a)
	return nil
}

// keys returns the keys of every algorithm.
func (a *Algorithm) keys() []key {
	return []key{{"name", &a.Name}, {"label", &a.Label}, {"engine", &a.Engine}, {"formulation", &a.Formulation},
		{"time_limit", &a.TimeLimit}, {"answer_limit", &a.AnswerLimit}, {"effort", &a.Effort},
		{"gap", func(x field) error {
			err := x.into(&a.Gap)
			if err == nil && !(a.Gap >= 0 && a.Gap < 1) {
				err = x.bad("is %v, can't be negative, must be below 1", a.Gap)
			}
			return err
		}},
		{"threads", &a.Threads}, {"sample", &a.Sample},
		{"only", func(x field) error { // values of parameters that instances must have
			a.Only = map[string][]float64{}
			var parameters []key
			for _, name := range runs.Params() {
				parameters = append(parameters, key{name, func(y field) (err error) {
					a.Only[name], err = several(y, field.number)
					return err
				}})
			}
			return x.read("a mapping, like {tasks: [10, 20]}", x.at, parameters)
		}}}
}

// parameters returns the keys of the settings that one problem's algorithms know.
func (a *Algorithm) parameters() (all []key) {
	for _, p := range gapwise.Problems() {
		if p.Parameters == nil {
			continue
		}
		for _, x := range params.Of(p.Parameters()) {
			all = append(all, key{x.Key, func(v field) error {
				text, err := v.text()
				if a.Parameters == nil {
					a.Parameters = map[string]string{}
				}
				a.Parameters[x.Key] = text
				return err
			}})
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
		hint := ""
		if near := nearestAlgorithm(a.Name); near != "" {
			hint = fmt.Sprintf("; did you mean %s?", near)
		}
		return fmt.Errorf("%w %q, for none of %q (gapwise algorithms lists them)%s", gapwise.ErrUnknownAlgorithm, a.Name,
			kinds, hint)
	}
	return err
}
