// SPDX-License-Identifier: MIT

package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Paragraphs and items are broken anew; titles, tables, code and links are kept.
func TestReflow(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("word 12 - ", 40))
	kept := "# " + long + "\n\n| " + long + " |\n\n    " + long + "\n\n```\n" + long + "\n```\n\n![" + long + "](a.svg)\n[a]: " + strings.ReplaceAll(long, " ", "")
	if got := reflow(kept); got != kept {
		t.Errorf("got\n%s", got)
	}
	text := long + "\nand\nmore.\n\n- " + long + "\n  " + long + "\n  1. " + long + "\n- short\n"
	got := reflow(text)
	for _, l := range strings.Split(got, "\n") {
		if utf8.RuneCountInString(l) > mostColumns || strings.HasPrefix(strings.TrimSpace(l), "- 1") || l == "and" {
			t.Errorf("line %q", l)
		}
	}
	if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(text), " ") || reflow(got) != got || strings.Count(got, "\n-") != 2 || !strings.Contains(got, "\n  1. word") || !strings.Contains(got, "\n     ") {
		t.Errorf("got\n%s", got)
	}
}
