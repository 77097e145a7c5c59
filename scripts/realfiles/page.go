// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// The table of the page stands between these lines.
const begin, end = "<!-- table: go run ./scripts/realfiles -update -->\n", "<!-- end -->\n"

// withTable returns the page with the table of the list's files.
func withTable(page []byte, rows []row) []byte {
	before, rest, _ := bytes.Cut(page, []byte(begin))
	_, after, _ := bytes.Cut(rest, []byte(end))
	return slices.Concat(before, []byte(begin), table(rows), []byte(end), after)
}

// shown are the quantities in the table's column of what is taken; a fact has several words.
var shown = []string{"tasks", "edges", "jobs", "items", "work"}

// table sums the counts of the rows with the same format and source.
func table(rows []row) []byte {
	sums, all := map[[2]string]map[string]float64{}, map[string]float64{}
	for _, r := range rows {
		key := [2]string{r.format, r.source}
		if sums[key] == nil {
			sums[key] = map[string]float64{}
		}
		for name, x := range r.counts {
			sums[key][name] += x
			all[name] += x
		}
	}
	text := []byte("| format | source | files | taken | told in the accounts |\n|---|---|---|---|---|\n")
	for _, key := range slices.SortedFunc(maps.Keys(sums), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		var taken, told []string
		for _, name := range shown {
			if x, ok := sums[key][name]; ok {
				taken = append(taken, name+" "+words.Thousands(int64(x)))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(sums[key])) {
			if strings.Contains(name, " ") {
				told = append(told, model.Telling{Count: sums[key][name], Text: name}.String())
			}
		}
		text = fmt.Appendf(text, "| %s | %s | %s | %s | %s |\n", key[0], key[1], words.Thousands(int64(sums[key]["files"])),
			strings.Join(taken, ", "), strings.Join(told, "; "))
	}
	return fmt.Appendf(text, "\nIn all %s files are read and %.0f refused, in %d rows of the list.\n",
		words.Thousands(int64(all["files"])), all[refused], len(rows))
}
