// SPDX-License-Identifier: MIT

package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
)

// What a part measures are kinds of problems; of those of which it has runs of heuristics alone, and their bounds,
// the kinds followed by heuristics; and portfolio, if it has runs of auto.
const (
	portfolio  = "auto"
	heuristics = " heuristics"
)

// changed is what a part says between a change of its code and its next run, so that its figures are read as what they are.
const changed = "*The code has changed since: to be run again.*"

// corpusFile tells what every algorithm does on a corpus of instances (scripts/corpus).
const corpusFile = "scripts/corpus/corpus.txt"

// codeOf returns the digest of what the code does that a part measures: of the corpus's lines of its kinds and
// algorithms. A change of names leaves it as it is, and so does a branch that lands.
func codeOf(measured ...string) string {
	text := must(os.ReadFile(corpusFile))
	return codeIn(string(text), measured...)
}

// codeIn is codeOf of a corpus's text.
func codeIn(corpus string, measured ...string) string {
	digest := sha256.New()
	auto := slices.Contains(measured, portfolio)
	for _, kind := range measured {
		if kind == portfolio {
			continue
		}
		kind, alone := strings.CutSuffix(kind, heuristics)
		p := must(gapwise.ProblemOf(model.Kind(kind)))
		lines := 0
		for line := range strings.Lines(corpus) {
			f := strings.Fields(line)
			if len(f) < 7 || f[0] != kind {
				continue
			}
			name := f[len(f)-6]
			switch k := slices.IndexFunc(p.Algorithms, func(a model.Algorithm) bool { return a.Name == name }); {
			case name == portfolio && !auto, k >= 0 && p.Algorithms[k].Exact && alone:
				continue
			}
			fmt.Fprintln(digest, strings.Join(f, " "))
			lines++
		}
		if lines == 0 {
			panic(fmt.Errorf("%s has no lines of %s: run go run ./scripts/corpus -update", corpusFile, kind))
		}
	}
	return fmt.Sprintf("%.8x", digest.Sum(nil))
}
