// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Lines have mostColumns columns at most. A cell of a table counts for mostCell of them
// where it is longer, and a head for its longest word: a page breaks text. A table whose
// lines fit as they are fits in any case.
const mostColumns, mostCell = 120, 22

// cellsOf returns the cells of a Markdown table, without the line below its head.
func cellsOf(lines []string) (rows [][]string) {
	for k, l := range lines {
		if k == 1 {
			continue
		}
		var cells []string
		for _, c := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(l, "|"), "|"), "|") {
			if n := len(cells); n > 0 && strings.HasSuffix(cells[n-1], `\`) { // the bar is text
				cells[n-1] += "|" + strings.TrimRight(c, " ")
			} else {
				cells = append(cells, strings.TrimSpace(c))
			}
		}
		rows = append(rows, cells)
	}
	return rows
}

// markdown is the reverse of cellsOf.
func markdown(rows [][]string) (lines []string) {
	for k, cells := range rows {
		lines = append(lines, "|")
		for _, c := range cells {
			lines[k] += " " + c + " |"
		}
	}
	return slices.Insert(lines, 1, "|"+strings.Repeat("---|", len(rows[0])))
}

// width returns how many columns a table takes on a page.
func width(rows [][]string) int {
	most, lines := 1, 0
	for _, cells := range rows {
		lines = max(lines, 1+3*len(cells)+utf8.RuneCountInString(strings.Join(cells, "")))
	}
	for i := range rows[0] {
		n := 0
		for k, cells := range rows {
			words := []string{cells[i]}
			if k == 0 {
				words = strings.FieldsFunc(cells[i], func(r rune) bool { return r == ' ' || r == '-' })
			}
			for _, w := range words {
				n = max(n, min(utf8.RuneCountInString(w), mostCell))
			}
		}
		most += n + 3
	}
	return min(most, lines)
}

// narrow makes a table fit a page, and says in words what it leaves out: nothing if its
// figures are but rounded, and half-widths stand in the cells of their means. Left out are
// columns that say the same in each row, then half-widths, then columns from the right.
func narrow(rows [][]string) (fits [][]string, left string) {
	rows = joined(rows)
	for _, cells := range rows {
		for i, c := range cells {
			cells[i] = halves.ReplaceAllStringFunc(c, rounded)
		}
	}
	if width(rows) <= mostColumns {
		return rows, ""
	}
	var out []string
	drop := func(i int) {
		out = append(out, rows[0][i])
		for k := range rows {
			rows[k] = slices.Delete(rows[k], i, i+1)
		}
	}
	for i := len(rows[0]) - 1; i > 0 && width(rows) > mostColumns; i-- {
		if len(rows) > 2 && rows[0][i] != "" && !slices.ContainsFunc(rows[1:], func(cells []string) bool { return cells[i] != rows[1][i] }) {
			drop(i)
		}
	}
	if width(rows) > mostColumns {
		found := false
		for _, cells := range rows[1:] {
			for i, c := range cells {
				if m := halves.FindStringSubmatch(c); m != nil && m[0] == c {
					cells[i], found = m[1], true
				}
			}
		}
		if found {
			left = "half-widths of the intervals"
		}
	}
	for width(rows) > mostColumns {
		drop(len(rows[0]) - 1)
	}
	if len(out) > 0 {
		slices.Reverse(out)
		if left != "" {
			left += " and "
		}
		left += "columns *" + strings.Join(out, "*, *") + "*"
	}
	return rows, left
}

// joined puts a column "x ±" into the cells of the column "x".
func joined(rows [][]string) [][]string {
	for i := len(rows[0]) - 1; i >= 0; i-- {
		of, is := strings.CutSuffix(rows[0][i], " ±")
		at := slices.IndexFunc(rows[0], func(h string) bool { h, _, _ = strings.Cut(h, " ("); return strings.TrimSuffix(h, " %") == of })
		if !is || at < 0 {
			continue
		}
		for k := range rows {
			if k > 0 && rows[k][at] != "-" {
				rows[k][at] += " ± " + rows[k][i]
			}
			rows[k] = slices.Delete(rows[k], i, i+1)
		}
	}
	return rows
}

var halves = regexp.MustCompile(`([-+]?\d[\d.]*(?:e[+-]?\d+)?) ± (\d[\d.]*(?:e[+-]?\d+)?)`)

// rounded writes a mean and its half-width with the digits that mean something: two of the
// half-width, all of what is before the point.
func rounded(text string) string {
	m := halves.FindStringSubmatch(text)
	mean, half := number(m[1]), number(m[2])
	if half == 0 {
		return m[1] + " ± 0"
	}
	digits := max(0, 1-int(math.Floor(math.Log10(half))))
	if _, after, _ := strings.Cut(m[2], "."); !strings.Contains(m[2], "e") {
		digits = min(digits, len(after))
	}
	form := "%.*f ± %.*f"
	if m[1][0] == '+' {
		form = "%+.*f ± %.*f"
	}
	return fmt.Sprintf(form, digits, mean, digits, half)
}
