// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
)

// pages returns the Markdown files that readers see, by their paths, in parts: text
// and what stands in code blocks.
func pages(t *testing.T) map[string]page {
	t.Helper()
	all := map[string]page{}
	read := func(file string) {
		data := must(os.ReadFile(file))
		p := page{lines: strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")}
		code := false
		for _, l := range p.lines {
			if strings.HasPrefix(l, "```") {
				code = !code
			} else if !code {
				p.text += l + "\n"
			}
		}
		all[file] = p
	}
	for _, pattern := range []string{"*.md", ".github/*.md"} {
		files := must(filepath.Glob(pattern))
		for _, f := range files {
			read(f)
		}
	}
	for _, folder := range []string{"docs", "examples"} {
		err := filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(file) == ".md" {
				read(file)
			}
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	return all
}

type page struct {
	lines []string
	text  string // outside of code blocks
}

// README.md is one screen beside its pictures, 80 columns wide.
func TestReadmeIsOneScreen(t *testing.T) {
	t.Chdir("../..")
	readme := pages(t)["README.md"]
	if n := len(readme.lines); n > 68 {
		t.Errorf("README.md has %d lines, must have 68 at most: what is more belongs to a page of docs", n)
	}
	for k, l := range readme.lines {
		if utf8.RuneCountInString(l) > 80 && !strings.HasPrefix(l, "<!--") { // which nobody sees
			t.Errorf("README.md:%d is %d columns wide", k+1, utf8.RuneCountInString(l))
		}
	}
}

// A page is read in one sitting.
func TestPagesAreShort(t *testing.T) {
	t.Chdir("../..")
	for file, p := range pages(t) {
		if len(p.lines) > 400 {
			t.Errorf("%s has %d lines, must have 400 at most", file, len(p.lines))
		}
	}
}

// Lines of text fit an editor, but for those of links; tables fit a page.
func TestPagesAreNarrow(t *testing.T) {
	t.Chdir("../..")
	for file, p := range pages(t) {
		if file == "CHANGELOG.md" { // a change is a line
			for k, version := range strings.Split(p.text, "\n## ") {
				if n := strings.Count(version, "\n- "); k > 0 && n > 12 {
					t.Errorf("%s: %d changes of %.20s, must be 12 at most", file, n, version)
				}
			}
			continue
		}
		var table []string
		for _, l := range strings.Split(p.text, "\n") {
			if strings.HasPrefix(l, "|") {
				table = append(table, l)
				continue
			}
			if table != nil {
				for _, cells := range cellsOf(table) {
					if len(cells) != len(cellsOf(table)[0]) {
						t.Fatalf("%s: a table has %d columns, and a row of it %d: %s", file, len(cellsOf(table)[0]), len(cells), cells)
					}
				}
				if n := width(cellsOf(table)); n > mostColumns {
					t.Errorf("%s: a table of %d columns: %s", file, n, table[0])
				}
			}
			table = nil
			if n := utf8.RuneCountInString(l); n > mostColumns && !strings.Contains(l, "](") && !asItIs.MatchString(l) {
				t.Errorf("%s: a line of %d columns: %s", file, n, l)
			}
		}
	}
}

var (
	inText   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	byName   = regexp.MustCompile(`(?m)^\[[^\]]+\]: (\S+)$`)
	codeSpan = regexp.MustCompile("`[^`\n]*`")
	linked   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// Every link to a file of the checkout finds it, and the heading that it names.
// A template that formats a value of another type leaves %! in the page or in its table.
func TestFiguresAreFormatted(t *testing.T) {
	t.Chdir("../..")
	check := func(file, text string) {
		if _, after, found := strings.Cut(text, "%!"); found {
			t.Errorf("%s: %%!%.20s", file, after)
		}
	}
	for file, p := range pages(t) {
		check(file, strings.Join(p.lines, "\n"))
	}
	tables, err := filepath.Glob("docs/results/tables/*.csv")
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	for _, file := range tables {
		text := must(os.ReadFile(file))
		check(file, string(text))
	}
}

func TestLinksResolve(t *testing.T) {
	t.Chdir("../..")
	all := pages(t)
	headings := func(file string) (names []string) {
		for _, l := range strings.Split(all[file].text, "\n") {
			if text := strings.TrimLeft(l, "#"); len(text) < len(l) {
				names = append(names, anchor(strings.TrimSpace(linked.ReplaceAllString(text, "$1"))))
			}
		}
		return names
	}
	for file, p := range all {
		text := codeSpan.ReplaceAllString(p.text, "")
		for _, m := range append(inText.FindAllStringSubmatch(text, -1), byName.FindAllStringSubmatch(text, -1)...) {
			to, name, named := strings.Cut(m[1], "#")
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			at := file
			if to != "" {
				at = filepath.Join(filepath.Dir(file), to)
			}
			if _, err := os.Stat(at); err != nil {
				t.Errorf("%s links %s, which isn't there", file, m[1])
			} else if named && filepath.Ext(at) == ".md" && !slices.Contains(headings(at), name) {
				t.Errorf("%s links %s, which has no such heading", file, m[1])
			}
		}
	}
}

// docs/README.md leads to every page, but for those of single commands.
func TestPagesAreListed(t *testing.T) {
	t.Chdir("../..")
	all := pages(t)
	listed := []string{"docs/README.md"}
	for _, from := range []string{"docs/README.md", "docs/results/summary.md"} { // the results have an index of their own
		for _, m := range inText.FindAllStringSubmatch(all[from].text, -1) {
			listed = append(listed, filepath.Join(filepath.Dir(from), m[1]))
		}
	}
	for file := range all {
		if strings.HasPrefix(file, "docs/") && !slices.Contains(listed, file) && (filepath.Base(file) == "README.md" || filepath.Dir(file) != "docs/reference/commands") {
			t.Errorf("docs/README.md doesn't lead to %s", file)
		}
	}
}

// The pages of the problems have the same parts, in one order, and others after them.
func TestPagesOfProblems(t *testing.T) {
	t.Chdir("../..")
	want := []string{"The model", "A smallest example", "Words", "Algorithms", "Engines", "Bounds", "Limits", "What the judge checks"}
	all := pages(t)
	for _, kind := range model.Kinds() {
		var got []string
		for _, l := range all["docs/problems/"+string(kind)+".md"].lines {
			if h, ok := strings.CutPrefix(l, "## "); ok {
				got = append(got, h)
			}
		}
		if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("docs/problems/%s.md has the parts %q, want %q", kind, got, want)
		}
	}
}

// Each schema says its own address, by which others refer to it.
func TestSchemasHaveAddresses(t *testing.T) {
	files, err := filepath.Glob("../../docs/reference/schema/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no schemas")
	}
	for _, f := range files {
		text := must(os.ReadFile(f))
		var s struct {
			ID string `json:"$id"`
		}
		if err := json.Unmarshal(text, &s); err != nil || s.ID != "https://raw.githubusercontent.com/gapwise/gapwise/main/docs/reference/schema/"+filepath.Base(f) {
			t.Errorf("%s has the $id %q (%v)", f, s.ID, err)
		}
	}
}

// formal are the pages that state formulas and rules, whose sentences may be long, and
// the history.
var formal = []string{"CHANGELOG.md", "docs/reference/proofs.md"}

var (
	comment  = regexp.MustCompile(`(?s)<!--.*?-->`)
	newBlock = regexp.MustCompile(`(?m)^(#+ .*|\|.*|\s*(- |\d+\. ))`)
	sentence = regexp.MustCompile(`[.!?:;][")*”]*\s`)
)

// Sentences of prose are short: 25 words at most, and 14 on average.
func TestSentencesAreShort(t *testing.T) {
	t.Chdir("../..")
	for file, p := range pages(t) {
		if slices.Contains(formal, file) {
			continue
		}
		text := linked.ReplaceAllString(comment.ReplaceAllString(codeSpan.ReplaceAllString(p.text, "X"), ""), "$1")
		words, n := 0, 0
		for _, block := range strings.Split(newBlock.ReplaceAllString(text, "\n\n"), "\n\n") {
			for _, s := range sentence.Split(block+" ", -1) {
				k := len(strings.Fields(s))
				if k > 25 && !strings.Contains(s, "Λ") { // no formula
					t.Errorf("%s: %d words in a sentence: %s", file, k, s)
				}
				if k > 0 {
					words, n = words+k, n+1
				}
			}
		}
		if n > 0 && words > 14*n {
			t.Errorf("%s: %d words in %d sentences", file, words, n)
		}
	}
}

// CITATION.cff and CHANGELOG.md name the program's version and its date.
func TestVersionsHaveDates(t *testing.T) {
	t.Chdir("../..")
	changes := must(os.ReadFile("CHANGELOG.md"))
	dates := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^## (\S+)(?: \((\d{4}-\d\d-\d\d)\))?$`).FindAllStringSubmatch(string(changes), -1) {
		if dates[m[1]] = m[2]; m[2] == "" && m[1] != "Unreleased" {
			t.Errorf("CHANGELOG.md: %s has no date", m[1])
		}
	}
	cite := must(os.ReadFile("CITATION.cff"))
	last := regexp.MustCompile(`(?m)^## (\d\S+) \(`).FindStringSubmatch(string(changes))[1]
	if want := "\nversion: " + last + "\ndate-released: " + dates[last] + "\n"; !strings.Contains(string(cite), want) {
		t.Errorf("CITATION.cff doesn't have %q", want)
	}
	// Between releases the program has the next one's version: what it writes isn't taken for the last one's.
	if _, unreleased := dates["Unreleased"]; (gapwise.Version == last) == unreleased {
		t.Errorf("the version is %s, the last release %s", gapwise.Version, last)
	}
}
