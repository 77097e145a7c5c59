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
	p := &Plan{Name: runs.AdHocName(paths), Files: slices.Clone(files), Seeds: seeds}
	for k := range p.Files {
		p.Files[k].bins = runs.CountBins(names)
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
