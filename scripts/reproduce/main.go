// SPDX-License-Identifier: MIT

// Command reproduce writes the measured parts of the documents. It runs the plans
// and commands that a part names (a plan that was stopped continues) and fills
// the part's template with their results.
//
//	go run ./scripts/reproduce [-gapwise COMMAND] [-workers N] [-runs N] [-dirty] [PART...]
//
// Each file docs/templates/FOLDER/NAME.md.tmpl defines the parts of docs/FOLDER/NAME.md,
// readme.md.tmpl the parts of README.md; values.go names the parts of results
// that they compare. A part replaces the text between its markers
// <!-- part: NAME --> and <!-- end: NAME -->; a part whose markers aren't there yet
// goes to the end of the document. Under its title a part names what it comes from: the digest
// of the code that it measures, versions, plans, draws and seeds, and the command that writes it. A test fails when that code has
// changed since. Changes must be committed before, but for the documents; -dirty allows
// others for a trial. Results of plans that were run by the same code are kept. Without
// PART it runs all of them, in an hour and forty minutes on two cores, twenty of them
// for the audit.
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/gapwise/gapwise/internal/app/runs"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == spender {
		os.Exit(spend(os.Args[2:]))
	}
	r := &runner{}
	flag.StringVar(&r.gapwise, "gapwise", "", "the command that is run; it is built by default")
	flag.BoolVar(&r.dirty, "dirty", false, "run in spite of changes that aren't committed, for a trial")
	flag.StringVar(&r.workers, "workers", "2", "worker threads of plans whose times aren't the point")
	flag.IntVar(&r.runs, "runs", 3, "runs of each Go benchmark, of which documents give the median")
	flag.Parse()
	if err := failure(func() { r.reproduce(flag.Args()) }); err != nil {
		fmt.Fprintln(os.Stderr, "reproduce:", err)
		os.Exit(1)
	}
}

// reproduce writes the parts with the given names, all of them without names.
func (r *runner) reproduce(names []string) {
	documents := parse(r)
	known := map[string]bool{}
	for _, parts := range documents {
		for _, p := range parts {
			known[p.Name()] = true
		}
	}
	for _, n := range names {
		if !known[n] {
			panic(fmt.Errorf("there is no part %s, give some of %s", n, strings.Join(slices.Sorted(maps.Keys(known)), ", ")))
		}
	}
	check(os.MkdirAll("results", 0o755))
	r.prepare()
	for _, document := range slices.Sorted(maps.Keys(documents)) {
		for _, part := range documents[document] {
			if len(names) > 0 && !slices.Contains(names, part.Name()) {
				continue
			}
			fmt.Fprintf(os.Stderr, "%s: %s\n", document, part.Name())
			var text bytes.Buffer
			r.plans, r.read, r.kinds = nil, map[string][]runs.Record{}, nil
			check(part.Execute(&text, nil))
			if strings.HasPrefix(part.Name(), "coverage-") {
				fmt.Fprintf(&text, "\n\n%s\n", states(text.String()))
			}
			replace(document, part.Name(), r.made(), reflow(shelve(document, part.Name(), tidy(text.String()))))
		}
	}
}

// parse returns the parts of each document, in the order of its template file.
// A name that begins with _ is no part but a template that parts use, of their file or of
// results/shared.tmpl.
func parse(r *runner) map[string][]*template.Template {
	documents := map[string][]*template.Template{}
	for _, f := range templates() {
		page := filepath.Base(f)
		file := must(template.New(page).Funcs(r.functions(strings.TrimSuffix(page, ".md.tmpl"))).ParseFiles("docs/templates/results/shared.tmpl", f))
		parts := slices.DeleteFunc(file.Templates(), func(p *template.Template) bool {
			return strings.HasSuffix(p.Name(), ".tmpl") || p.Name()[0] == '_'
		})
		slices.SortFunc(parts, func(a, b *template.Template) int { return cmp.Compare(a.Root.Pos, b.Root.Pos) })
		documents[documentOf(f)] = parts
	}
	return documents
}

// templates lists the template files: the one of README.md, and the others by folder of docs.
func templates() []string {
	files, err := filepath.Glob("docs/templates/*/*.md.tmpl")
	if err != nil || len(files) == 0 {
		panic(fmt.Errorf("there are no templates in docs/templates, run this in the module's root (%v)", err))
	}
	return append(files, "docs/templates/readme.md.tmpl")
}

// documentOf returns the document that a template file writes.
func documentOf(file string) string {
	if filepath.Base(file) == "readme.md.tmpl" {
		return "README.md"
	}
	name, _ := filepath.Rel("docs/templates", strings.TrimSuffix(file, ".tmpl"))
	return filepath.Join("docs", name)
}

var manyLines = regexp.MustCompile(`\n{3,}`)

// tidy drops the empty lines that a template's actions leave.
func tidy(text string) string { return manyLines.ReplaceAllString(strings.TrimSpace(text), "\n\n") }

// replace puts a part's text between its markers, stamped with its sources.
func replace(document, part, made, text string) {
	begin, end := fmt.Sprintf("<!-- part: %s -->\n", part), fmt.Sprintf("<!-- end: %s -->\n", part)
	before, rest, found := strings.Cut(string(must(os.ReadFile(document))), begin)
	after := ""
	if found {
		if _, after, found = strings.Cut(rest, end); !found {
			panic(fmt.Errorf("%s: the marker %s is missing", document, strings.TrimSpace(end)))
		}
	}
	stamp := made
	if whole := stamped(text, fmt.Sprintf("%s; by `go run ./scripts/reproduce %s`", made, part)); whole != text {
		text = whole
		stamp, _, _ = strings.Cut(made, ",")
	}
	text = fmt.Sprintf("%s%s<!-- %s -->\n\n%s\n%s%s", before, begin, stamp, text, end, after)
	check(os.WriteFile(document, []byte(text), 0o644))
}

// output runs a command and returns its output, without the last line's
// end.
func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimRight(string(out), "\n"), err
}
