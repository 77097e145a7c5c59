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
	got := shelve(filepath.Join(dir, "page.md"), "part", text)
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
	shelve(filepath.Join(dir, "page.md"), "part", table(40))
	for k, want := range []bool{1: true, 2: false} {
		if _, err := os.Stat(filepath.Join(dir, tableFile("part", k))); k > 0 && (err == nil) != want {
			t.Errorf("after one long table for two, file %d: %v", k, err)
		}
	}
	statements := "| verdict | statement |\n|---|---|" + strings.Repeat("\n| held | one |", 10) + "\n| tied | two |\n| undecided | three |\n| not held | four |" + strings.Repeat("\n| held | five |", 5)
	if got = shelve(filepath.Join(dir, "page.md"), "verdicts", statements); !strings.Contains(got, "|---|---|\n| not held | four |\n| undecided | three |\n| tied | two |\n| held | one |\n") || !strings.HasPrefix(got[strings.LastIndex(got, "\n")+1:], "6 of 18 rows, those that don't hold first; all are in") {
		t.Errorf("verdicts:\n%s", got)
	}
	if got := shelve("page.md", "coverage-batch", text); got != text {
		t.Errorf("coverage:\n%s", got)
	}
}

// Parts have names of their own: files beside the pages go by them.
func TestPartsHaveNames(t *testing.T) {
	t.Chdir("../..")
	documents := parse(&runner{})
	of := map[string]string{}
	for document, parts := range documents {
		for _, p := range parts {
			if of[p.Name()] != "" {
				t.Errorf("%s and %s have a part %s", document, of[p.Name()], p.Name())
			}
			of[p.Name()] = document
		}
	}
}
