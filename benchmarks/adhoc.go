// SPDX-License-Identifier: MIT

package benchmarks

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/heuristics/command"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/run/process"
	"github.com/gapwise/gapwise/model"
)

// SplitAlgorithms splits lists of algorithms at their commas, up to a command ("cmd:..." or "mps:..."), which keeps its
// commas.
func SplitAlgorithms(lists []string) []string {
	var all []string
	for _, list := range lists {
		for _, name := range gapwise.EngineNames(list) {
			if name = strings.TrimSpace(name); name != "" {
				all = append(all, name)
			}
		}
	}
	return all
}

// AdHoc returns a plan that nobody has written: some algorithms, all with the same settings, solve files. Its name
// comes from the files alone, so that asking for further algorithms goes on with the same results. Errors wrap
// model.ErrInvalid, or gapwise.ErrUnknownAlgorithm.
func AdHoc(files []File, names []string, settings Algorithm, seeds []uint64) (*Plan, error) {
	bad := func(format string, args ...any) (*Plan, error) {
		return nil, fmt.Errorf("%w bench: %s", model.ErrInvalid, fmt.Sprintf(format, args...))
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	p := &Plan{Name: AdHocName(paths), Files: slices.Clone(files), Seeds: seeds}
	for k := range p.Files {
		p.Files[k].bins = CountBins(names)
	}
	if len(seeds) == 0 {
		p.Seeds = []uint64{1}
	}
	for _, name := range names {
		label, rest := process.Labelled(name)
		if label = cmp.Or(label, name); slices.ContainsFunc(p.Algorithms, func(a Algorithm) bool { return a.Label == label }) {
			return bad("the algorithm %s is named twice", label)
		}
		if label != name { // the label is none of gapwise's names
			for _, kind := range model.Kinds() {
				if _, err := gapwise.Find(kind, name); errors.Is(err, gapwise.ErrUnknownAlgorithm) {
					return nil, fmt.Errorf("bench: %w", err)
				}
			}
		}
		a := settings
		a.Name, a.Label = rest, label
		if err := p.fits(&a); err != nil {
			return nil, fmt.Errorf("bench: %w", err)
		}
		p.Algorithms = append(p.Algorithms, a)
	}
	if err := p.expand(); err != nil {
		return bad("%v", err)
	}
	return p, nil
}

// CountBins reports whether files of vector packing are to be read as the question for the least number of bins, with room
// for any heuristic: one of the algorithms is a command, and the others know consolidation, too.
func CountBins(names []string) bool {
	commands := 0
	for _, name := range names {
		if _, rest := process.Labelled(name); strings.HasPrefix(rest, command.Prefix) {
			commands++
		} else if o := (gapwise.Options{Algorithm: name}); name == allName || o.Check(model.KindConsolidation) != nil {
			return false
		}
	}
	return commands > 0
}

// AdHocName names a plan by the paths of its files.
func AdHocName(paths []string) string {
	const most = 3
	var bases []string
	for _, path := range paths {
		base := filepath.Base(filepath.Clean(path))
		if abs, err := filepath.Abs(path); err == nil { // "." has a name, too
			base = filepath.Base(abs)
		}
		if !slices.Contains(bases, base) {
			bases = append(bases, base)
		}
	}
	more := ""
	if len(bases) > most {
		more = fmt.Sprintf("+%d", len(bases)-most)
		bases = bases[:most]
	}
	for k := range bases {
		bases[k] = fileWord(bases[k], 40)
	}
	return runs.AdHocPrefix + strings.Join(bases, "+") + more
}

// fileWord makes a text a part of a file's name, of at most so many bytes. Characters other than letters, digits and .
// _ - = become _.
func fileWord(text string, most int) string {
	word := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._-=", r):
			return r
		}
		return '_'
	}, text)
	return word[:min(len(word), most)]
}
