// SPDX-License-Identifier: MIT

package runs

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/heuristics/command"
	"github.com/gapwise/gapwise/internal/run/process"
	"github.com/gapwise/gapwise/model"
)

// CountBins reports whether files of vector packing are to be read as the question for the least number of bins, with room
// for any heuristic: one of the algorithms is a command, and the others know consolidation, too.
func CountBins(names []string) bool {
	commands := 0
	for _, name := range names {
		if _, rest := process.Labelled(name); strings.HasPrefix(rest, command.Prefix) {
			commands++
		} else if o := (gapwise.Options{Algorithm: name}); name == "all" || o.Check(model.KindConsolidation) != nil {
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
		bases[k] = FileWord(bases[k], 40)
	}
	return AdHocPrefix + strings.Join(bases, "+") + more
}

// FileWord makes a text a part of a file's name, of at most so many bytes. Characters other than letters, digits and .
// _ - = become _.
func FileWord(text string, most int) string {
	word := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._-=", r):
			return r
		}
		return '_'
	}, text)
	return word[:min(len(word), most)]
}
