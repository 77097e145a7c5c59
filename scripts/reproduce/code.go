// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// module is the path of what is measured.
const module = "github.com/gapwise/gapwise/"

// What a part measures are kinds of problems; of those of which it has runs of heuristics alone, and their bounds,
// the kinds followed by heuristics; and portfolio, if it has runs of auto.
const (
	portfolio  = "auto"
	heuristics = " heuristics"
)

// changed is what a part says between a change of its code and its next run, so that its figures are read as what they are.
const changed = "*The code has changed since: to be run again.*"

// unmeasured are the rooms that don't change what is found.
var unmeasured = []string{"model", "internal/evidence", "model/milp/highs"}

// roomsOf returns the code of what a part measures, folders and files in their order: bounds, exact
// engines and heuristics, with all that these are made of; beside portfolio also how auto shares them. Package model, names of
// evidence and what reads, judges and writes aren't among it: they don't change what is found. Nor is package highs: a part
// names the version of HiGHS.
func roomsOf(measured ...string) (all []string, err error) {
	args := []string{"list", "-deps", "-f", "{{.ImportPath}}"}
	auto := slices.Contains(measured, portfolio)
	if auto {
		all = append(all, "portfolio.go")
	}
	for _, kind := range measured {
		if kind == portfolio {
			continue
		}
		if auto {
			all = append(all, "problem_"+kind+".go")
		}
		kind, alone := strings.CutSuffix(kind, heuristics)
		args = append(args, "./bounds/"+kind, "./heuristics/"+kind)
		if !alone {
			args = append(args, "./exact/"+kind)
		}
	}
	text, err := output("go", args...)
	if err != nil {
		return nil, err
	}
	for path := range strings.Lines(text) {
		if folder, ours := strings.CutPrefix(strings.TrimSpace(path), module); ours && !slices.Contains(unmeasured, folder) {
			all = append(all, folder)
		}
	}
	slices.Sort(all)
	return all, nil
}

// codeOf returns the digest of the Go code of what a part measures (roomsOf), without tests and
// comments. Commits don't serve: their names change when a branch lands.
func codeOf(measured ...string) (string, error) {
	rooms, err := roomsOf(measured...)
	if err != nil {
		return "", err
	}
	return digestOf(rooms)
}

// digestOf returns the digest of the code of some folders and files.
func digestOf(rooms []string) (string, error) {
	digest := sha256.New()
	for _, room := range rooms {
		files := []string{filepath.FromSlash(room)}
		if !strings.HasSuffix(room, ".go") {
			var err error
			if files, err = filepath.Glob(filepath.Join(files[0], "*.go")); err != nil {
				return "", err
			}
			slices.Sort(files)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			if err := addCode(digest, file); err != nil {
				return "", err
			}
		}
	}
	return fmt.Sprintf("%.8x", digest.Sum(nil)), nil
}

// addCode writes a file's lines without comments, and without those that comments leave empty.
func addCode(w io.Writer, file string) error {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := format.Node(&text, set, parsed); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		if line = strings.TrimSpace(line); line != "" {
			fmt.Fprintln(w, line)
		}
	}
	return nil
}
