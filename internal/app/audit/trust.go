// SPDX-License-Identifier: MIT

package audit

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/internal/text/words"
)

// Write prints the counts in a few lines, of the given build.
func (r *Report) Write(w io.Writer, build string) error {
	all, engines, proofs, instances := r.Comparisons()
	_, err := fmt.Fprintf(w, "%s, seed %d: %d comparisons on %d instances in %v, %d of them between two engines\non instances of at least 12 tasks, jobs or requests, %d of a proof that the checker replayed; disagreements: %d\n",
		build, r.Seed, all, instances, r.Elapsed.Round(time.Second), engines, proofs, len(r.Disagreements))
	return err
}

// Trust returns the counts, and the comparisons, as Markdown.
func (t *Tally) Trust() string {
	var b strings.Builder
	all, engines, proofs, instances := t.Comparisons()
	fmt.Fprintf(&b, `%s comparisons on %s drawn instances. Of the comparisons,
%s are between the proofs of two engines on instances of at least 12 tasks, jobs or requests.
The checker replayed %s proofs.
`, words.Thousands(all), words.Thousands(instances), words.Thousands(engines), words.Thousands(proofs))
	kinds := slices.Sorted(maps.Keys(t.Counts))
	for big, title := range []string{"fewer than 12 tasks, jobs or requests", "at least 12"} {
		fmt.Fprintf(&b, "\nComparisons on instances of %s:\n\n| comparison |", title)
		for _, k := range kinds {
			fmt.Fprintf(&b, " %s |", k)
		}
		fmt.Fprintf(&b, " all |\n|---|%s\n", strings.Repeat("---|", len(kinds)+1))
		for c, name := range comparisonNames {
			total := int64(0)
			fmt.Fprintf(&b, "| %s |", name)
			for _, k := range kinds {
				n := t.Counts[k][c][big]
				fmt.Fprintf(&b, " %s |", words.Thousands(n))
				total += n
			}
			fmt.Fprintf(&b, " %s |\n", words.Thousands(total))
		}
	}
	b.WriteString("\n| instances of | up to 8 | 12 to 16 | 17 and more tasks, jobs or requests |\n|---|---|---|---|\n")
	for _, k := range kinds {
		n := t.Instances[k]
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", k, words.Thousands(n[tiny]), words.Thousands(n[middle]), words.Thousands(n[large]))
	}
	b.WriteString("\n### What is compared\n\n" + wrapped("Instances are graphs, windows, hosts and fat-trees of many shapes. Their numbers come in styles: "+strings.Join(styleNames(), "; ")+
		". The judge checks each solution of each algorithm, which is then compared with each bound and each proof of the others. "+
		"Plain engines are depth-first searches of at most 400 lines, which share no code with the engines. They search for anything better than the proved optimum, and must find nothing. "+
		"Single phases of a search, started from a poor solution, are compared with it, too.") +
		"\nProofs are related if one follows from the other. An instance is changed in these ways:\n\n")
	for _, k := range kinds {
		var names []string
		for _, rel := range problemOf(k).relations {
			names = append(names, rel.name)
		}
		fmt.Fprintf(&b, "%s", wrapped(fmt.Sprintf("- %s: %s", k, strings.Join(names, "; "))))
	}
	b.WriteString("\n" + wrapped("The search changes, too: another seed, two threads, or a start from its own or a heuristic's solution."))
	return b.String()
}

func styleNames() (names []string) {
	for _, s := range testkit.Styles {
		names = append(names, s.Name)
	}
	return names
}

// wrapped breaks a paragraph into lines.
func wrapped(text string) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		if column > 0 && column+1+utf8.RuneCountInString(word) > 120 {
			b.WriteByte('\n')
			column = 0
			if strings.HasPrefix(text, "- ") {
				b.WriteString("  ")
				column = 2
			}
		} else if column > 0 {
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += utf8.RuneCountInString(word)
	}
	b.WriteByte('\n')
	return b.String()
}
