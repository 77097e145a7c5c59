// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// try runs a command line of gapwise and returns it as code, without the folder of
// results. The arguments after it are passed, too, and not shown.
func (r *runner) try(line string, more ...string) string {
	r.run(append(strings.Fields(line), more...)...)
	if len(more) > 0 {
		line += " ..."
	}
	return "`gapwise " + strings.ReplaceAll(line, "results/", "") + "`"
}

// coverageStates are the states of a row, which docs/results/coverage.md explains.
var coverageStates = []string{"yes", "part", "no", "out of scope", "lost in print"}

// figureRow is the item of a row on a figure as such.
var figureRow = regexp.MustCompile(`^(Figures?|Fig\.) `)

// planless drops the commands that make something of runs: what is left of gapwise bench draws anew.
var planless = strings.NewReplacer("gapwise bench findings", "", "gapwise bench table", "")

// coverageRule says what is wrong with a row's state, by the rule that docs/results/coverage.md
// states; nothing if it is all right.
func coverageRule(item, where, state, ours string) string {
	switch {
	case state == "yes" && where == "" && ours == "":
		return "says yes and not where"
	case state != "yes" && state != "out of scope" && ours == "":
		return "gives no reason for " + state
	case state == "yes" && figureRow.MatchString(item) && strings.Contains(planless.Replace(where), "gapwise bench"):
		return "says yes of a figure that is drawn anew: what the paper plots is lost, so it is part"
	case state == "yes" && strings.Contains(ours, "a sample"):
		return "says yes of a sample"
	}
	return ""
}

// states counts the rows of a coverage table by their states. A row has five cells
// and a known state that follows the rule.
func states(text string) string {
	counts, n := map[string]int{}, 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| item |") {
			continue
		}
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "/"), "|") // one more before, one after
		if len(cells) != 7 || !slices.Contains(coverageStates, strings.TrimSpace(cells[4])) {
			panic(fmt.Errorf("the row %q must have five cells, the fourth one of %q", line, coverageStates))
		}
		for k := range cells {
			cells[k] = strings.TrimSpace(cells[k])
		}
		if wrong := coverageRule(cells[1], cells[3], cells[4], cells[5]); wrong != "" {
			panic(fmt.Errorf("the row %q %s", line, wrong))
		}
		counts[cells[4]]++
		n++
	}
	var all []string
	for _, s := range coverageStates {
		if counts[s] > 0 {
			all = append(all, fmt.Sprintf("%d %s", counts[s], s))
		}
	}
	return fmt.Sprintf("%d rows: %s.", n, strings.Join(all, ", "))
}

// plan returns the command that runs a built-in plan, as code.
func plan(name string) string {
	describe(name) // it must be there
	return "`gapwise bench " + name + "`"
}

// code returns a link to a file or folder of the module. The file must hold each of
// the given names as a whole word.
func code(path string, names ...string) string {
	if info := must(os.Stat(path)); !info.IsDir() {
		text := must(os.ReadFile(path))
		for _, n := range names {
			if !regexp.MustCompile(`\b` + regexp.QuoteMeta(n) + `\b`).Match(text) {
				panic(fmt.Errorf("%s has no %s", path, n))
			}
		}
	} else if len(names) > 0 {
		panic(fmt.Errorf("%s is a folder, it can't hold %q", path, names))
	}
	return fmt.Sprintf("[`%s`](../../%s)", path, path)
}

// link returns a link to a part of a document in docs/results.
func link(document, part string) string {
	text := must(os.ReadFile("docs/results/" + document))
	_, rest, found := strings.Cut(string(text), fmt.Sprintf("<!-- part: %s -->\n", part))
	title := regexp.MustCompile(`(?m)^#+ (.*)$`).FindStringSubmatch(rest)
	if !found || title == nil {
		panic(fmt.Errorf("docs/results/%s has no part %s with a title", document, part))
	}
	return fmt.Sprintf("[%s, %s](%s#%s)", document, part, document, anchor(title[1]))
}

// anchor returns the name by which Markdown's readers link to a title.
func anchor(title string) string {
	kept := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(title), "")
	return strings.ReplaceAll(kept, " ", "-")
}
