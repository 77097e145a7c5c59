// SPDX-License-Identifier: MIT

package benchmarks

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

// File is a file or a folder of a plan, with the settings that its instances need.
type File struct {
	// Path names an instance, a task graph in a foreign format, an SWF log, or a
	// folder with such files. Relative paths start at the plan's folder.
	Path string
	// Platform is the machines and network of task graphs without machines (instances.ParsePlatform).
	Platform string
	// DOT names attributes of DOT graphs (instances.Options).
	DOT string
	// Files says whether machines keep files (instances.Options).
	Files string
	// Network is the network model of task graphs (instances.Options).
	Network string
	// WorkUnit is the unit of a task graph's works (instances.Options).
	WorkUnit string
	// Strict refuses files that say what isn't modelled.
	Strict bool
	// Variants are the readings of the instances, by flag (gapwise.Problem.Variants).
	// In a folder they and the platform go to those that know them.
	Variants map[string]string
	bins     bool // the platform of files of vector packing is bins, unless Platform says another one (runs.CountBins)
	// Logs makes instances of SWF logs as a generator with the key log does; nil: the
	// file is no log.
	Logs *planGenerator
}

// readings returns the values of the readings of all problems, by key.
func readings() map[string][]string {
	all := map[string][]string{}
	for _, p := range gapwise.Problems() {
		for _, v := range p.Variants {
			all[v.Flag] = append(all[v.Flag], v.Values...)
		}
	}
	return all
}

// logKinds returns the problems that have instances of SWF logs.
func logKinds() []model.Kind {
	var all []model.Kind
	for _, p := range gapwise.Problems() {
		if _, ok := instances.SWFKeys(p.Generator()); ok {
			all = append(all, p.Kind)
		}
	}
	return all
}

// unread is why a file of a folder is left out: it can't be read. Files that a plan names end it.
type unread struct{ error }

// Unwrap returns the reason.
func (u unread) Unwrap() error { return u.error }

// instances lists the instances of the file, or of all files below the folder. One of a folder that can't be read has no
// kind, and loads as an unread error.
func (f *File) instances() ([]instances.Planned, error) {
	paths, folder := []string{f.Path}, false
	if info, err := os.Stat(f.Path); err == nil && info.IsDir() {
		folder = true
		if paths, err = instances.Folder(f.Path); err != nil {
			return nil, err
		}
	}
	var all []instances.Planned
	for _, path := range paths {
		switch {
		case f.Logs != nil && (!folder || instances.IsLog(path)):
			cases, err := f.ofLog(path)
			if folder && err != nil {
				cases, err = []instances.Planned{{Name: path, Load: func() (model.Instance, error) { return nil, unread{err} }}}, nil
			}
			if err != nil {
				return nil, err
			}
			all = append(all, cases...)
		case f.Logs != nil:
		default:
			c, err := f.ofInstance(path, folder)
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w plan: no SWF log below %s", model.ErrInvalid, f.Path)
	}
	return all, nil
}

// ofLog lists the instances of a log.
func (f *File) ofLog(path string) ([]instances.Planned, error) {
	g := *f.Logs
	g.Values = maps.Clone(g.Values)
	g.Values["log"] = []string{path}
	cases, err := g.instances()
	if err == nil {
		_, err = tried(cases)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return cases, nil
}

// ofInstance returns the instance of a file. One that doesn't begin with its kind is
// loaded: foreign graphs lack machines more often than not, and that is better known
// before anything runs.
func (f *File) ofInstance(path string, folder bool) (instances.Planned, error) {
	c := instances.Planned{Name: path, Kind: instances.KindOf(path)}
	load := func() (model.Instance, error) {
		o := instances.Options{Platform: f.Platform, DOT: f.DOT, Files: f.Files, Network: f.Network, WorkUnit: f.WorkUnit, IfNeeded: folder, Strict: f.Strict}
		file, err := instances.Open(path)
		if err != nil {
			return nil, err
		}
		if f.bins && f.Platform == "" && file.IsPacking() {
			o.Platform, o.IfNeeded = "bins", true
		}
		in, err := file.Instance(o)
		if err != nil {
			return nil, err
		}
		return f.asRead(in, path, folder)
	}
	c.Load = func() (model.Instance, error) {
		in, err := load()
		if folder && err != nil {
			err = unread{err}
		}
		return in, err
	}
	var how []string
	if f.Platform != "" {
		how = append(how, "platform "+f.Platform)
	}
	if f.Files != "" {
		how = append(how, "files "+f.Files)
	}
	if f.Network != "" {
		how = append(how, "network "+f.Network)
	}
	if f.WorkUnit != "" {
		how = append(how, "work unit "+f.WorkUnit)
	}
	for _, key := range slices.Sorted(maps.Keys(f.Variants)) {
		how = append(how, key+" "+f.Variants[key])
	}
	if len(how) > 0 {
		c.Name += " (" + strings.Join(how, "; ") + ")"
	}
	if c.Kind == "" {
		in, err := c.Load()
		switch {
		case err == nil:
			c.Kind = in.Kind()
		case !folder:
			return c, err
		}
	}
	return c, nil
}

// asRead returns the instance in the readings asked for.
func (f *File) asRead(in model.Instance, path string, folder bool) (model.Instance, error) {
	p, err := gapwise.ProblemOf(in.Kind())
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(f.Variants)) {
		value := f.Variants[key]
		k := slices.IndexFunc(p.Variants, func(v gapwise.Variant) bool { return v.Flag == key && slices.Contains(v.Values, value) })
		switch {
		case k >= 0 && p.Variants[k].Get(in) != value:
			in = p.Variants[k].With(in, value)
		case k < 0 && !folder:
			return nil, fmt.Errorf("%s: %w: %s instances have no %s %q", path, model.ErrInvalid, in.Kind(), key, value)
		}
	}
	return in, nil
}
