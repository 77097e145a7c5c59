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

// foldersOf returns the folders of the code that solves some kinds of problems: their bounds, exact
// engines and heuristics, and what those of several are made of. What reads, judges and
// writes isn't among them: it doesn't change what is found.
func foldersOf(kinds []string) []string {
	all := []string{"exact/internal/engine", "internal/cp", "internal/cp/lcg", "internal/lns", "heuristics/online"}
	for _, kind := range kinds {
		for _, room := range []string{"bounds", "exact", "heuristics"} {
			all = append(all, room+"/"+kind)
		}
	}
	return all
}

// codeOf returns the digest of the Go code of some folders, in their order, without tests and
// comments. Commits don't serve: their names change when a branch lands.
func codeOf(folders ...string) (string, error) {
	digest := sha256.New()
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(folder), "*.go"))
		if err != nil {
			return "", err
		}
		slices.Sort(files)
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
