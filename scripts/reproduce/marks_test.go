// SPDX-License-Identifier: MIT

package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
)

// marked is what a page says of its algorithms, from "Who knows what" to the end of the
// paragraph.
var marked = regexp.MustCompile(`(?s)\[Who knows what\][^\n]*.*?\n\n`)

// markOf is the part of marked about one class.
var markOf = regexp.MustCompile(`(?s)\*(online|offline|yardstick)\*:(.*?)(?:\.|$)`)

// Every page of results that has algorithms in tables says which of them are online, which
// offline and which yardsticks, and it is so.
func TestResultsSayWhoKnowsWhat(t *testing.T) {
	t.Chdir("../..")
	classes := map[string][]model.Class{} // of a name, in any problem
	for _, k := range model.Kinds() {
		for _, a := range gapwise.Algorithms(k) {
			classes[a.Name] = append(classes[a.Name], a.Class)
		}
	}
	said := 0
	for file, p := range pages(t) {
		if filepath.Dir(file) != filepath.Join("docs", "results") {
			continue
		}
		told := map[string]model.Class{}
		for _, part := range markOf.FindAllStringSubmatch(strings.TrimSpace(marked.FindString(p.text)), -1) {
			for _, name := range strings.FieldsFunc(part[2], func(r rune) bool { return strings.ContainsRune(" ,;\n", r) }) {
				told[name] = model.Class(part[1])
				if known := classes[name]; len(known) > 0 && !slices.Contains(known, told[name]) {
					t.Errorf("%s calls %s %s, it is %v", file, name, told[name], known)
				}
			}
		}
		for _, name := range inTables(p.lines) {
			if _, ok := told[name]; len(classes[name]) > 0 {
				if said++; !ok {
					t.Errorf("%s has %s in a table, and doesn't say if it is online, offline or a yardstick", file, name)
				}
			}
		}
	}
	if said < 50 {
		t.Errorf("%d algorithms found in tables", said)
	}
}

// inTables returns the cells in the headings of tables and in their columns of algorithms.
func inTables(lines []string) (all []string) {
	column, inside := -1, false
	for _, l := range lines {
		if !strings.HasPrefix(l, "|") {
			inside = false
			continue
		}
		cells := strings.Split(strings.Trim(l, "| "), "|")
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " `")
		}
		switch {
		case !inside:
			inside, column = true, slices.IndexFunc(cells, func(c string) bool { return c == "algorithm" || c == "scheduler" })
			all = append(all, cells...)
		case column >= 0 && column < len(cells):
			all = append(all, cells[column])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
