// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Long tables stand beside the page, whole; short ones and other lines stay as they are.
func TestShelve(t *testing.T) {
	dir := t.TempDir()
	table := func(rows int) string {
		s := "| case | *n* |\n|---|---|"
		for k := range rows {
			s += fmt.Sprintf("\n| `a`, %d | *held*: %d |", k, k*k)
		}
		return s
	}
	text := "# A\n\n" + table(mostRows) + "\n\nbetween\n\n" + table(mostRows+1) + "\nafter\n" + table(40)
	got, err := shelve(filepath.Join(dir, "page.md"), "part", text)
	if err != nil {
		t.Fatal(err)
	}
	short := func(n, all int) string {
		return table(shownRows) + fmt.Sprintf("\n\nThe first %d of %d rows; all are in [tables/part-%d.csv](tables/part-%d.csv).", shownRows, all, n, n)
	}
	want := "# A\n\n" + table(mostRows) + "\n\nbetween\n\n" + short(1, mostRows+1) + "\nafter\n" + short(2, 40)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	file, err := os.ReadFile(filepath.Join(dir, "tables", "part-2.csv"))
	if err != nil || !strings.HasPrefix(string(file), "case,n\n\"a, 0\",held: 0\n") || strings.Count(string(file), "\n") != 41 {
		t.Errorf("%v\n%s", err, file)
	}
	if got, err := shelve("page.md", "coverage-batch", text); err != nil || got != text {
		t.Errorf("coverage: %v\n%s", err, got)
	}
}
