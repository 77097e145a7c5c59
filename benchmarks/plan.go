// Package benchmarks runs experiments. A plan names instances and algorithms.
// Runs are appended to a results file; a plan that was stopped continues. Tables,
// curves and findings are computed from results.
package benchmarks

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

//go:embed plans/*.yaml
var builtIn embed.FS

// Plan is an experiment: every algorithm solves every instance with every seed.
// It is written in YAML (or JSON, a subset). Unknown keys are refused.
type Plan struct {
	Name        string      `yaml:"name"`
	Description string      `yaml:"description"`
	Generators  []Generator `yaml:"generators"`
	// Files are instance files, or folders of them; relative paths start at the
	// plan's folder.
	Files      []string    `yaml:"files"`
	Algorithms []Algorithm `yaml:"algorithms"`
	Seeds      []uint64    `yaml:"seeds"` // of the algorithms; default: 1
}

// Algorithm is one algorithm of a plan, with its settings.
type Algorithm struct {
	Name string `yaml:"name"`
	// Label distinguishes entries with the same name. Default: the name.
	Label       string        `yaml:"label"`
	Engine      string        `yaml:"engine"`
	Formulation string        `yaml:"formulation"`
	TimeLimit   time.Duration `yaml:"time_limit"`
	Gap         float64       `yaml:"gap"`
	Threads     int           `yaml:"threads"`
	// Sample restricts the algorithm to the instances of each specification whose
	// index is a multiple of it; 0 and 1: all.
	Sample int `yaml:"sample"`
	// Only restricts the algorithm to instances with the given values of
	// parameters (Params), for example jobs: [12].
	Only map[string][]float64 `yaml:"only"`
	// Parameters are settings of one problem's algorithms, such as the rounds of
	// network-aware.
	Parameters map[string]string `yaml:",inline"`

	without []string // devices of the search that are switched off
}

// maxInstances bounds a plan's instances: more are almost certainly a mistake.
const maxInstances = 10_000_000

// Names returns the names of the built-in plans.
func Names() []string {
	files, _ := fs.Glob(builtIn, "plans/*.yaml")
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(f), ".yaml")
	}
	return files
}

// LoadPlan returns the built-in plan of a name, or reads a plan from a file.
func LoadPlan(name string) (*Plan, error) {
	if data, err := builtIn.ReadFile("plans/" + name + ".yaml"); err == nil {
		return DecodePlan(data)
	}
	data, err := instances.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w; built-in plans are %s", err, strings.Join(Names(), ", "))
	}
	p, err := DecodePlan(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for i, f := range p.Files {
		if !filepath.IsAbs(f) {
			p.Files[i] = filepath.Join(filepath.Dir(name), f)
		}
	}
	for i := range p.Generators {
		p.Generators[i].files(func(f string) string {
			beside := filepath.Join(filepath.Dir(name), f)
			if info, err := os.Stat(beside); err == nil && !info.IsDir() && !filepath.IsAbs(f) {
				return beside
			}
			return f
		})
	}
	return p, nil
}

// DecodePlan reads a plan, strictly. Errors wrap model.ErrInvalid.
func DecodePlan(data []byte) (*Plan, error) {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w plan: %s", model.ErrInvalid, fmt.Sprintf(format, args...))
	}
	p := &Plan{}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(p); errors.Is(err, io.EOF) {
		return nil, bad("the file is empty")
	} else if err != nil {
		return nil, bad("%s", strings.Join(strings.Fields(err.Error()), " "))
	}
	if err := dec.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, bad("there is more after the plan, give one document")
	}
	if p.Name == "" || strings.ContainsAny(p.Name, "/\\\n") {
		return nil, bad("name is %q, must be a word that can name a file", p.Name)
	}
	if len(p.Generators) == 0 && len(p.Files) == 0 {
		return nil, bad("there are neither generators nor files")
	}
	if len(p.Algorithms) == 0 {
		return nil, bad("there are no algorithms")
	}
	if len(p.Seeds) == 0 {
		p.Seeds = []uint64{1}
	}
	labels := map[string]bool{}
	for i := range p.Algorithms {
		a := &p.Algorithms[i]
		if a.Label == "" {
			a.Label = a.Name
		}
		if labels[a.Label] {
			return nil, bad("two algorithms have the label %q, give one another label", a.Label)
		}
		labels[a.Label] = true
		if a.Sample < 0 || a.TimeLimit < 0 || a.Threads < 0 || !(a.Gap >= 0) {
			return nil, bad("algorithm %q: sample, time_limit, threads and gap can't be negative", a.Label)
		}
		for key := range a.Only {
			if !slices.Contains(Params(), key) {
				return nil, bad("algorithm %q: only: there is no parameter %q, give one of %s", a.Label, key, strings.Join(Params(), ", "))
			}
		}
		if a.solver() == nil {
			if err := p.check(a); err != nil {
				return nil, bad("algorithm %q: %v", a.Label, err)
			}
		}
	}
	all := 0.0
	for i := range p.Generators {
		n, err := p.Generators[i].read()
		if err != nil {
			return nil, bad("generator %d: %v", i+1, err)
		}
		if all += n; all > maxInstances {
			return nil, bad("generator %d: that makes %.0f instances, at most %d are allowed", i+1, all, maxInstances)
		}
	}
	return p, nil
}

// check returns an error if the algorithm solves none of the problems that the
// plan draws instances of; if the plan has files, whose problems aren't known yet,
// if it solves no problem.
func (p *Plan) check(a *Algorithm) error {
	var kinds []model.Kind
	for _, g := range p.Generators {
		kinds = append(kinds, g.Kind)
	}
	if len(p.Files) > 0 {
		kinds = model.Kinds()
	}
	var err error
	for _, kind := range kinds {
		var o gapwise.Options
		if o, err = a.options(kind, 0); err == nil {
			if err = o.Check(kind); err == nil {
				return nil
			}
		}
	}
	switch {
	case a.Name == "all":
		return fmt.Errorf("%w \"all\": a plan names each algorithm (gapwise algorithms lists them)", gapwise.ErrUnknownAlgorithm)
	case len(p.Files) > 0 && a.Formulation != "":
		return fmt.Errorf("%w, or formulation %q, for none of %q (gapwise export --help lists them)", gapwise.ErrUnknownAlgorithm, a.Formulation, kinds)
	case len(p.Files) > 0 && a.Engine == "":
		return fmt.Errorf("%w %q, for none of %q (gapwise algorithms lists them)", gapwise.ErrUnknownAlgorithm, a.Name, kinds)
	}
	return err
}

// solver returns the solver of an algorithm that plans alone have, nil for others.
func (a *Algorithm) solver() model.Solver {
	switch a.Name {
	case glpkName:
		return glpk{a.Formulation}
	case relaxationName:
		return relaxation{}
	}
	return nil
}

// engine returns the engine with devices to switch off that the algorithm is:
// search or kernel; "" if it is another, or several.
func (a *Algorithm) engine() string {
	name := a.Name
	if name == "exact" {
		name = cmp.Or(a.Engine, "search")
	}
	if name != "search" && name != "kernel" {
		return ""
	}
	return name
}

// options returns the options of one run on an instance of a kind.
func (a *Algorithm) options(kind model.Kind, seed uint64) (gapwise.Options, error) {
	p, err := gapwise.ProblemOf(kind)
	if err != nil {
		return gapwise.Options{}, err
	}
	set, err := p.ParseParameters(a.Parameters)
	if err != nil {
		return gapwise.Options{}, err
	}
	settings := model.Settings{Seed: seed, TimeLimit: a.TimeLimit, Gap: a.Gap, Threads: a.Threads, Parameters: set}
	if len(a.without) > 0 {
		without := p.Without
		if a.engine() == "kernel" {
			without = p.KernelWithout
		}
		if without == nil {
			return gapwise.Options{}, fmt.Errorf("%w: the %s for %s has no devices to switch off", model.ErrUnsupported, a.engine(), kind)
		}
		search, err := without(a.without...)
		if err != nil {
			return gapwise.Options{}, fmt.Errorf("%w: %w", gapwise.ErrUnknownAlgorithm, err)
		}
		return gapwise.Options{Solver: search, Settings: settings}, nil
	}
	return gapwise.Options{Algorithm: a.Name, Engine: a.Engine, Formulation: a.Formulation,
		Settings: settings}, nil
}

// settings returns, as text for the records, the options that change what a run
// finds: a results file must not mix them under one label.
func (a *Algorithm) settings() string {
	var all []string
	add := func(given bool, key string, value any) {
		if given {
			all = append(all, fmt.Sprintf("%s=%v", key, value))
		}
	}
	add(a.Label != a.Name, "algorithm", a.Name)
	add(a.Engine != "", "engine", a.Engine)
	add(a.Formulation != "", "formulation", a.Formulation)
	add(a.TimeLimit != 0, "time_limit", a.TimeLimit)
	add(a.Gap != 0, "gap", a.Gap)
	add(a.Threads > 1, "threads", a.Threads)
	add(len(a.without) > 0, "without", strings.Join(a.without, ","))
	for _, key := range slices.Sorted(maps.Keys(a.Parameters)) {
		add(true, key, a.Parameters[key])
	}
	return strings.Join(all, " ")
}

// runs reports whether the plan has the algorithm solve an instance. features is
// asked only for what the instance's generator wasn't told.
func (a *Algorithm) runs(c *instances.Planned, features func() (map[string]float64, error)) (bool, error) {
	if a.Sample > 1 && c.Index%a.Sample != 0 {
		return false, nil
	}
	for _, key := range slices.Sorted(maps.Keys(a.Only)) {
		got, ok := c.Params[key]
		if !ok {
			all, err := features()
			if err != nil {
				return false, err
			}
			got, ok = all[key]
		}
		if !ok || !slices.Contains(a.Only[key], got) {
			return false, nil
		}
	}
	return true, nil
}

// Instances returns the plan's instances: generators in order, then files. It
// tries the first instance of every specification, so that a specification that
// fails is found before anything runs.
func (p *Plan) Instances() ([]instances.Planned, error) {
	var all []instances.Planned
	for i := range p.Generators {
		g := &p.Generators[i]
		cases, err := g.instances()
		if err != nil {
			return nil, fmt.Errorf("%w plan: %w", model.ErrInvalid, err)
		}
		for i := range cases {
			if cases[i].Index == 0 {
				err := cases[i].Try()
				if errors.Is(err, fs.ErrNotExist) && g.Source != "" {
					err = fmt.Errorf("%w; it comes from %s", err, g.Source)
				}
				if err != nil {
					return nil, fmt.Errorf("%s: %w", cases[i].Name, err)
				}
			}
		}
		all = append(all, cases...)
	}
	for _, f := range p.Files {
		files := []string{f}
		if info, err := os.Stat(f); err == nil && info.IsDir() {
			if files, err = instances.Folder(f); err != nil {
				return nil, err
			}
		}
		for _, f := range files {
			all = append(all, instances.Planned{Name: f, Load: func() (model.Instance, error) { return instances.Load(f) }})
		}
	}
	names := map[string]bool{}
	for _, c := range all {
		if names[c.Name] {
			return nil, fmt.Errorf("%w plan: the instance %s is there twice", model.ErrInvalid, c.Name)
		}
		names[c.Name] = true
	}
	return all, nil
}
