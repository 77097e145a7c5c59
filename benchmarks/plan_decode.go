// SPDX-License-Identifier: MIT

package benchmarks

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/params"
	"github.com/gapwise/gapwise/internal/runs"
	"github.com/gapwise/gapwise/internal/visible"
	"github.com/gapwise/gapwise/model"
)

// The keys of a plan, of an algorithm, and of a file beside the flags that read it
// in a variant.
var (
	planKeys      = []string{"name", "description", "generators", "files", "algorithms", "seeds"}
	algorithmKeys = []string{"name", "label", "engine", "formulation", "time_limit", "answer_limit", "effort", "gap", "threads", "sample", "only"}
	fileKeys      = []string{"path", "platform"}
)

// algorithmParameters returns the keys of the settings that one problem's algorithms
// know.
func algorithmParameters() []string {
	var all []string
	for _, p := range gapwise.Problems() {
		if p.Parameters == nil {
			continue
		}
		for _, x := range params.Of(p.Parameters()) {
			if !slices.Contains(all, x.Key) {
				all = append(all, x.Key)
			}
		}
	}
	return all
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
	fields, err := doc.fields("a mapping with the keys " + strings.Join(planKeys, ", "))
	if err != nil {
		return nil, err
	}
	p = &Plan{}
	var lines []field // of the algorithms
	err = each(fields, func(key string, v field) (err error) {
		switch key {
		case "name":
			p.Name, err = v.text()
		case "description":
			p.Description, err = v.text()
		case "generators":
			err = p.decodeGenerators(v)
		case "files":
			err = p.decodeFiles(v)
		case "algorithms":
			lines, err = p.decodeAlgorithms(v)
		case "seeds":
			err = p.decodeSeeds(v)
		default:
			err = v.unknown(key, "a plan", planKeys)
		}
		return err
	})
	if err != nil {
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
	n := 0.0
	for i := range p.Generators {
		one, err := p.Generators[i].check()
		if err == nil {
			if n += one; n > maxInstances {
				err = fmt.Errorf("that makes %.0f instances, at most %d are allowed", n, maxInstances)
			}
		}
		if err != nil {
			list, _ := fields["generators"].list("")
			return nil, list[i].bad("%v", colon(err))
		}
	}
	for i := range p.Files {
		if g := p.Files[i].Logs; g != nil {
			if _, err := g.check(); err != nil {
				list, _ := fields["files"].list("")
				return nil, list[i].bad("%v", colon(err))
			}
		}
	}
	for i := range p.Algorithms {
		if err := p.fits(&p.Algorithms[i]); err != nil {
			return nil, lines[i].bad("%v", colon(err))
		}
	}
	if err := p.expand(); err != nil {
		return nil, err
	}
	return p, nil
}

// colon separates an error about a part of a plan from its place.
func colon(err error) string { return ": " + err.Error() }

func (p *Plan) decodeSeeds(v field) error {
	list, err := v.list("[1, 2, 3]")
	for _, x := range list {
		seed, err := x.seed()
		if err != nil {
			return err
		}
		p.Seeds = append(p.Seeds, seed)
	}
	return err
}

func (p *Plan) decodeGenerators(v field) error {
	list, err := v.list("[{kind: vcsched, hosts: 4, jobs: 10, count: 1}]")
	if err != nil {
		return err
	}
	for _, x := range list {
		fields, err := x.fields("a mapping, like {kind: vcsched, hosts: 4, jobs: 10, count: 1}")
		if err != nil {
			return err
		}
		g, err := decodeGenerator(x, fields, generatorKeys)
		if err != nil {
			return err
		}
		p.Generators = append(p.Generators, *g)
	}
	return nil
}

// decodeGenerator reads the fields of a generator: the named keys and its problem's
// parameters.
func decodeGenerator(v field, fields map[string]field, named []string) (*planGenerator, error) {
	g := &planGenerator{Count: 1, Values: map[string][]string{}}
	kind := ""
	if k, ok := fields["kind"]; ok {
		var err error
		if kind, err = k.text(); err != nil {
			return nil, err
		}
	}
	g.Kind = model.Kind(kind)
	problem, err := gapwise.ProblemOf(g.Kind)
	if err != nil {
		return nil, v.bad(": kind is %q, must be one of %q", kind, model.Kinds())
	}
	known := slices.Clone(named)
	for _, x := range problem.Generator.Parameters() {
		known = append(known, x.Key)
	}
	return g, each(fields, func(key string, x field) (err error) {
		switch {
		case !slices.Contains(known, key):
			err = x.unknown(key, fmt.Sprintf("a generator of %s", kind), known)
		case !slices.Contains(named, key):
			g.Values[key], err = x.texts()
		case key == "count":
			g.Count, err = x.whole(1)
		case key == "seed":
			g.Seed, err = x.seed()
		case key == "source":
			g.Source, err = x.text()
		}
		return err
	})
}

func (p *Plan) decodeFiles(v field) error {
	list, err := v.list("[instance.json, folder, {path: graphs, platform: 'star,machines=4'}]")
	if err != nil {
		return err
	}
	for _, x := range list {
		f := File{}
		if !x.isMapping() {
			f.Path, err = x.text()
		} else {
			f, err = decodeFile(x)
		}
		if err != nil {
			return err
		}
		if f.Path == "" {
			return x.bad(": path is missing, give a file or a folder")
		}
		p.Files = append(p.Files, f)
	}
	return nil
}

// decodeFile reads a file with what its instances need.
func decodeFile(v field) (File, error) {
	f := File{Variants: map[string]string{}}
	fields, err := v.fields("")
	if err != nil {
		return f, err
	}
	if path, ok := fields["path"]; ok {
		if f.Path, err = path.text(); err != nil {
			return f, err
		}
		delete(fields, "path")
	}
	if _, ok := fields["kind"]; ok {
		f.Logs, err = decodeGenerator(v, fields, generatorKeys)
		if err != nil {
			return f, err
		}
		if !slices.Contains(logKinds(), f.Logs.Kind) {
			return f, fields["kind"].bad("is %q, SWF logs become one of %q; instances tell their kind themselves", f.Logs.Kind, logKinds())
		}
		if log, ok := fields["log"]; ok {
			return f, log.bad("isn't needed, path names the log")
		}
		f.Logs.Values["log"] = []string{f.Path}
		return f, nil
	}
	known := slices.Concat(fileKeys, variantKeys())
	err = each(fields, func(key string, x field) error {
		if !slices.Contains(known, key) {
			return x.unknown(key, "a file", append(known, "and, with kind, of a log: those of its generator"))
		}
		text, err := x.text()
		if values := variantValues(key); err == nil && key != "platform" && !slices.Contains(values, text) {
			err = x.bad("is %q, must be one of %q", text, values)
		}
		f.Variants[key] = text
		return err
	})
	f.Platform = f.Variants["platform"]
	delete(f.Variants, "platform")
	return f, err
}

func (p *Plan) decodeAlgorithms(v field) ([]field, error) {
	list, err := v.list("[heft, {name: search, time_limit: 10s}]")
	if err != nil {
		return nil, err
	}
	labels := map[string]bool{}
	for _, x := range list {
		a := Algorithm{}
		if !x.isMapping() {
			a.Name, err = x.text()
		} else {
			a, err = decodeAlgorithm(x)
		}
		if err != nil {
			return nil, err
		}
		if a.Name == "" {
			return nil, x.bad(": name is missing, give that of an algorithm (gapwise algorithms lists them)")
		}
		if a.Label == "" {
			a.Label = a.Name
		}
		if labels[a.Label] {
			return nil, x.bad(": two algorithms have the label %q, give one another label", a.Label)
		}
		labels[a.Label] = true
		p.Algorithms = append(p.Algorithms, a)
	}
	return list, nil
}

// decodeAlgorithm reads an algorithm with its settings.
func decodeAlgorithm(v field) (a Algorithm, err error) {
	fields, err := v.fields("")
	if err != nil {
		return a, err
	}
	known := slices.Concat(algorithmKeys, algorithmParameters())
	err = each(fields, func(key string, x field) (err error) {
		switch key {
		case "name":
			a.Name, err = x.text()
		case "label":
			a.Label, err = x.text()
		case "engine":
			a.Engine, err = x.text()
		case "formulation":
			a.Formulation, err = x.text()
		case "time_limit":
			a.TimeLimit, err = x.duration()
		case "answer_limit":
			a.AnswerLimit, err = x.duration()
		case "effort":
			var n int
			n, err = x.whole(1)
			a.Effort = int64(n)
		case "gap":
			if a.Gap, err = x.number(); err == nil && !(a.Gap >= 0 && a.Gap < 1) {
				err = x.bad("is %v, can't be negative, must be below 1", a.Gap)
			}
		case "threads":
			a.Threads, err = x.whole(0)
		case "sample":
			a.Sample, err = x.whole(0)
		case "only":
			a.Only, err = decodeOnly(x)
		default:
			if !slices.Contains(known, key) {
				return x.unknown(key, "an algorithm", known)
			}
			if a.Parameters == nil {
				a.Parameters = map[string]string{}
			}
			a.Parameters[key], err = x.text()
		}
		return err
	})
	return a, err
}

// decodeOnly reads the values of parameters that instances must have.
func decodeOnly(v field) (map[string][]float64, error) {
	fields, err := v.fields("a mapping, like {tasks: [10, 20]}")
	if err != nil {
		return nil, err
	}
	only := map[string][]float64{}
	return only, each(fields, func(key string, x field) error {
		if !slices.Contains(runs.Params(), key) {
			return x.unknown(key, v.at, runs.Params())
		}
		list := []field{x}
		if x.isList() {
			list, _ = x.list("")
		}
		only[key] = []float64{}
		for _, y := range list {
			number, err := y.number()
			if err != nil {
				return err
			}
			only[key] = append(only[key], number)
		}
		return nil
	})
}

// kinds returns the problems that the plan has instances of, as far as that is known
// before its files are read.
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
		return fmt.Errorf("%w, or formulation %q, for none of %q (gapwise export --help lists them)", gapwise.ErrUnknownAlgorithm, a.Formulation, kinds)
	case several && a.Engine == "" && len(a.Parameters) == 0:
		hint := ""
		if near := nearestAlgorithm(a.Name); near != "" {
			hint = fmt.Sprintf("; did you mean %s?", near)
		}
		return fmt.Errorf("%w %q, for none of %q (gapwise algorithms lists them)%s", gapwise.ErrUnknownAlgorithm, a.Name, kinds, hint)
	}
	return err
}
