// SPDX-License-Identifier: MIT

// Package benchmarks runs experiments. A plan names instances and algorithms.
// Runs are appended to a results file; a plan that was stopped continues. Tables,
// curves and findings are computed from results.
package benchmarks

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/run/process"
	"github.com/gapwise/gapwise/internal/text/nearest"
	"github.com/gapwise/gapwise/model"
)

//go:embed plans/*.yaml
var builtIn embed.FS

// Plan is an experiment: every algorithm solves every instance of the problems that it knows, with every seed. It is
// written in YAML (or JSON, a subset), as docs/reference/plans.md and docs/reference/schema/plan.json say.
type Plan struct {
	Name        string
	Description string
	Generators  []planGenerator
	Files       []File
	Algorithms  []Algorithm
	Seeds       []uint64 // of the algorithms; default: 1
}

// Algorithm is one algorithm of a plan, with its settings.
type Algorithm struct {
	Name string
	// Label distinguishes entries with the same name. Default: the name.
	Label       string
	Engine      string
	Formulation string
	TimeLimit   time.Duration
	AnswerLimit time.Duration // of an online policy that is another program
	Effort      int64         // most work that a run counts (model.Settings); 0: no limit
	Gap         float64
	Threads     int
	// Sample restricts the algorithm to the instances of each specification with an index that is a multiple of it; 0
	// and 1: all.
	Sample int
	// Only restricts the algorithm to instances with the given values of
	// parameters (Params), for example jobs: [12].
	Only map[string][]float64
	// Parameters are settings of one problem's algorithms, such as the rounds of
	// network-aware.
	Parameters map[string]string

	files   []string // of the user's program that it is, once that is looked at
	ofAll   bool     // one of "all": it may take none of the instances
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

// isInstance reports whether data are an instance, and so no plan.
func isInstance(data []byte) bool {
	var head struct {
		Kind     model.Kind      `json:"kind"`
		Workflow json.RawMessage `json:"workflow"`
	}
	return json.Unmarshal(data, &head) == nil && (head.Kind.New() != nil || head.Workflow != nil)
}

// LoadPlan returns the built-in plan of a name, or reads a plan from a file.
func LoadPlan(name string) (*Plan, error) {
	if data, err := builtIn.ReadFile("plans/" + name + ".yaml"); err == nil {
		return decodePlan(data)
	}
	data, err := instances.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w; built-in plans are %s", err, strings.Join(Names(), ", "))
	}
	p, err := decodePlan(data)
	if err != nil && !bytes.Contains(data, []byte("algorithms")) { // one with a mistake is a plan
		f, e := instances.OpenData(name, data)
		if e == nil {
			e = f.Unread()
		}
		if _, what, ok := strings.Cut(fmt.Sprint(e), " instance: "); ok {
			return nil, fmt.Errorf("%s: %w plan: %s", name, model.ErrInvalid, what)
		}
	}
	if err != nil && isInstance(data) {
		return nil, fmt.Errorf("%s: %w plan: this is an instance: say what solves it by --algorithm NAMES", name, model.ErrInvalid)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	beside := func(f string) string {
		if filepath.IsAbs(f) {
			return f
		}
		return filepath.Join(filepath.Dir(name), f)
	}
	// Logs and graphs may lie next to the plan, or in the data sets.
	there := func(f string) string {
		if info, err := os.Stat(beside(f)); err == nil && !info.IsDir() {
			return beside(f)
		}
		return f
	}
	for i := range p.Files {
		f := &p.Files[i]
		if _, err := os.Stat(beside(f.Path)); err == nil || f.Logs == nil {
			f.Path = beside(f.Path)
		}
		if f.Platform != "" {
			f.Platform = there(f.Platform)
		}
	}
	for i := range p.Generators {
		p.Generators[i].files(there)
	}
	return p, nil
}

// Paths returns the files and folders that the plan names.
func (p *Plan) Paths() []string {
	var all []string
	for _, f := range p.Files {
		all = append(all, f.Path)
		if _, err := os.Stat(f.Platform); err == nil { // it may be a description, too
			all = append(all, f.Platform)
		}
	}
	for i := range p.Generators {
		p.Generators[i].files(func(f string) string {
			all = append(all, f)
			return f
		})
	}
	return all
}

// Source returns the text of the built-in plan of a name.
func Source(name string) ([]byte, error) {
	data, err := builtIn.ReadFile("plans/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("%w plan: there is no built-in plan %q; %sgive one of %s", model.ErrInvalid, name,
			nearest.Hint("did you mean %s? ", name, Names()), strings.Join(Names(), ", "))
	}
	return data, nil
}

// solver returns the solver of an algorithm that plans alone have, nil for others.
func (a *Algorithm) solver() model.Solver {
	switch a.Name {
	case runs.GLPK:
		return glpk{a.Formulation}
	case runs.Relaxation:
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
	if name != "search" && name != "kernel" && name != "auto" {
		return ""
	}
	return name
}

// program returns a digest of the files of the user's program that the algorithm is, and their names; "" if it is none, or
// has no files.
func (a *Algorithm) program() (digest string, files []string) {
	_, name := process.Labelled(a.Name)
	if a.Name == "exact" {
		names := gapwise.EngineNames(a.Engine)
		name = names[len(names)-1] // a command is the last one
	}
	for _, sort := range []string{"cmd:", "online:", "mps:"} {
		if text, ok := strings.CutPrefix(name, sort); ok {
			if c, err := process.ParseCommand(text); err == nil {
				return c.Digest()
			}
		}
	}
	return "", nil
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
	settings := model.Settings{Seed: seed, TimeLimit: a.TimeLimit, AnswerLimit: a.AnswerLimit, Effort: a.Effort, Gap: a.Gap, Threads: a.Threads, Parameters: set}
	if len(a.without) > 0 {
		engine := switchable(p, a.engine())
		if engine == nil {
			return gapwise.Options{}, fmt.Errorf("%w: the %s for %s has no devices to switch off", model.ErrUnsupported, a.engine(), kind)
		}
		search, err := engine.Without(a.without...)
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
	add(a.AnswerLimit != 0, "answer_limit", a.AnswerLimit)
	add(a.Effort != 0, "effort", a.Effort)
	add(a.Gap != 0, "gap", a.Gap)
	add(a.Threads > 1, "threads", a.Threads)
	add(len(a.without) > 0, "without", strings.Join(a.without, ","))
	for _, key := range slices.Sorted(maps.Keys(a.Parameters)) {
		add(true, key, a.Parameters[key])
	}
	return strings.Join(all, " ")
}

// class returns the class of the algorithm for instances of some problems: offline if
// these differ.
func (a *Algorithm) class(kinds []model.Kind) model.Class {
	one := runs.Record{Algorithm: a.Label, Options: a.settings()}
	var all []model.Class
	for _, one.Kind = range kinds {
		if a.takes(one.Kind) {
			all = append(all, one.Class())
		}
	}
	if slices.Sort(all); len(slices.Compact(all)) != 1 {
		return model.Offline
	}
	return all[0]
}

// takes reports whether the algorithm is one for a problem's instances.
func (a *Algorithm) takes(kind model.Kind) bool { return a.check(kind) == nil }

// check returns an error if the algorithm isn't one for a problem's instances.
func (a *Algorithm) check(kind model.Kind) error {
	if a.solver() != nil {
		return nil
	}
	plain := *a
	plain.without = nil
	o, err := plain.options(kind, 0)
	if err != nil {
		return err
	}
	return o.Check(kind)
}

// runs reports whether the plan has the algorithm solve an instance. It calls features only for values that the
// instance's generator wasn't given.
func (a *Algorithm) runs(c *instances.Planned, features func() (map[string]float64, error)) (bool, error) {
	if a.Sample > 1 && c.Index%a.Sample != 0 || c.Kind == "" || !a.takes(c.Kind) {
		return false, nil
	}
	for _, key := range slices.Sorted(maps.Keys(a.Only)) {
		got, ok := c.Params[key]
		if !ok {
			all, err := features()
			if errors.As(err, new(unread)) {
				return true, nil // the run's start reports it
			}
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

// useful returns an error if an algorithm takes none of the instances.
func (p *Plan) useful(cases []instances.Planned) error {
	kinds := kindsOf(cases)
	for k := range p.Algorithms {
		a := &p.Algorithms[k]
		if !a.ofAll && len(kinds) > 0 && !slices.ContainsFunc(kinds, a.takes) {
			return fmt.Errorf("%w plan: algorithm %q takes none of the instances: %v", model.ErrInvalid, a.Label, a.check(kinds[0]))
		}
	}
	return nil
}

// tried tries the first instance of each specification, and names the one that fails.
func tried(cases []instances.Planned) (name string, err error) {
	for i := range cases {
		if cases[i].Index == 0 && err == nil {
			name, err = cases[i].Name, cases[i].Try()
		}
	}
	return name, err
}

// kindsOf returns the problems of instances that can be read, each once.
func kindsOf(cases []instances.Planned) (kinds []model.Kind) {
	for i := range cases {
		if cases[i].Kind != "" && !slices.Contains(kinds, cases[i].Kind) {
			kinds = append(kinds, cases[i].Kind)
		}
	}
	return kinds
}

// Instances returns the plan's instances: generators in order, then files. It
// tries the first instance of every specification, so that a specification that
// fails is found before anything runs. A file of a folder that can't be read has no kind, and its Load says why.
func (p *Plan) Instances() ([]instances.Planned, error) {
	var all []instances.Planned
	for i := range p.Generators {
		g := &p.Generators[i]
		cases, err := g.instances()
		if err != nil {
			return nil, fmt.Errorf("%w plan: %w", model.ErrInvalid, err)
		}
		name, err := tried(cases)
		if errors.Is(err, fs.ErrNotExist) && g.Source != "" {
			err = fmt.Errorf("%w; it comes from %s", err, g.Source)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, cases...)
	}
	for i := range p.Files {
		cases, err := p.Files[i].instances()
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
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
