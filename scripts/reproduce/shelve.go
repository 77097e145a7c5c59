// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mostRows is how many rows a table on a page has at most; of a longer one shownRows
// stand there, and all in a file beside the page.
const (
	mostRows  = 15
	shownRows = 6
)

// shelve moves the long tables of a part into CSV files in the folder tables beside its
// document, and returns the part's text with their first rows and a link. Coverage is
// one table a paper, which a reader searches on the page: it stays.
func shelve(document, part, text string) (string, error) {
	if strings.HasPrefix(part, "coverage-") {
		return text, nil
	}
	lines, tables := strings.Split(text, "\n"), 0
	var out []string
	for len(lines) > 0 {
		n := slices.IndexFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "|") })
		if n < 0 {
			n = len(lines)
		}
		if n <= mostRows+2 {
			out = append(out, lines[:max(n, 1)]...)
			lines = lines[max(n, 1):]
			continue
		}
		tables++
		file := filepath.Join("tables", fmt.Sprintf("%s-%d.csv", part, tables))
		if err := writeCSV(filepath.Join(filepath.Dir(document), file), lines[:n]); err != nil {
			return "", err
		}
		out = append(out, lines[:shownRows+2]...)
		out = append(out, "", fmt.Sprintf("The first %d of %d rows; all are in [%s](%s).", shownRows, n-2, file, filepath.ToSlash(file)))
		lines = lines[n:]
	}
	return strings.Join(out, "\n"), nil
}

// writeCSV writes the rows of a Markdown table, without the line below its head and
// without marks of emphasis and code.
func writeCSV(file string, rows []string) error {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	for k, row := range rows {
		if k == 1 {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|"), "|")
		for i, c := range cells {
			cells[i] = strings.NewReplacer("*", "", "`", "").Replace(strings.TrimSpace(c))
		}
		if err := w.Write(cells); err != nil {
			return err
		}
	}
	if w.Flush(); w.Error() != nil {
		return w.Error()
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text.Bytes(), 0o644)
}
