// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mostRows is how many rows a table on a page has at most; of a longer one shownRows
// stand there, and all in a file beside the page.
const (
	mostRows  = 14
	shownRows = 6
)

// shelve moves the long tables of a part, and those that are too wide, into CSV files in
// the folder tables beside its document, and returns the part's text with what fits of
// them and a link. Coverage and devices are
// tables that a reader searches on the page: they stay.
func shelve(document, part, text string) string {
	if strings.HasPrefix(part, "coverage-") || strings.HasPrefix(part, "ablation-") {
		return text
	}
	lines, tables := strings.Split(text, "\n"), 0
	var out []string
	for len(lines) > 0 {
		n := slices.IndexFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "|") })
		if n < 0 {
			n = len(lines)
		}
		if n < 2 {
			out = append(out, lines[:max(n, 1)]...)
			lines = lines[max(n, 1):]
			continue
		}
		rows := cellsOf(lines[:n])
		long := n > mostRows+2
		verdicts := false
		if long {
			rows, verdicts = firstRows(rows)
		}
		shown, left := narrow(rows)
		out = append(out, markdown(shown)...)
		if !long && left == "" {
			lines = lines[n:]
			continue
		}
		tables++
		file := tableFile(part, tables)
		writeCSV(filepath.Join(filepath.Dir(document), file), lines[:n])
		out = append(out, "", note(long, verdicts, n-2, left, filepath.ToSlash(file)))
		lines = lines[n:]
	}
	for tables++; ; tables++ {
		err := os.Remove(filepath.Join(filepath.Dir(document), tableFile(part, tables)))
		if errors.Is(err, fs.ErrNotExist) {
			return strings.Join(out, "\n")
		}
		check(err)
	}
}

// tableFile names the file of a part's k-th long table, from beside its document.
func tableFile(part string, k int) string {
	return filepath.Join("tables", fmt.Sprintf("%s-%d.csv", part, k))
}

// verdictOrder is the order in which verdicts are shown where a page has room for some.
var verdictOrder = []string{"not held", "undecided", "tied", "held"}

// firstRows returns the head of a long table and the rows that a page shows: the first of
// them, and of verdicts, which it reports, first those that a reader looks for.
func firstRows(rows [][]string) (shown [][]string, verdicts bool) {
	shown = slices.Clone(rows)
	if verdicts = slices.Contains(verdictOrder, rows[1][0]); verdicts {
		slices.SortStableFunc(shown[1:], func(a, b []string) int {
			return cmp.Compare(slices.Index(verdictOrder, a[0]), slices.Index(verdictOrder, b[0]))
		})
	}
	return shown[:shownRows+1], verdicts
}

// note says what a page leaves out of a table, and where it is.
func note(long, verdicts bool, rows int, left, file string) string {
	what := "All"
	switch {
	case verdicts:
		what = fmt.Sprintf("%d of %d rows, those that don't hold first; all", shownRows, rows)
	case long:
		what = fmt.Sprintf("The first %d of %d rows; all", shownRows, rows)
	}
	if left != "" {
		what += ", with the " + left + ","
	}
	return fmt.Sprintf("%s are in [%s](%s).", what, file, file)
}

// writeCSV writes the rows of a Markdown table, without the line below its head and
// without marks of emphasis and code.
func writeCSV(file string, rows []string) {
	var text bytes.Buffer
	all := cellsOf(rows)
	for _, cells := range all {
		for i, c := range cells {
			cells[i] = strings.NewReplacer("*", "", "`", "").Replace(c)
		}
	}
	check(csv.NewWriter(&text).WriteAll(all))
	check(os.MkdirAll(filepath.Dir(file), 0o755))
	check(os.WriteFile(file, text.Bytes(), 0o644))
}
