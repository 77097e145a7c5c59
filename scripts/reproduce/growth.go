// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// benchstat summarises the newest baseline's benchmarks of the given names.
func benchstat(names ...string) string {
	return must(output("go", "tool", "benchstat", "-filter", ".name:("+strings.Join(names, " OR ")+")", newestBaseline()))
}

// baseline returns the version of the newest baseline.
func baseline() string {
	return strings.TrimSuffix(filepath.Base(newestBaseline()), ".txt")
}

func newestBaseline() string {
	files, err := filepath.Glob("benchmarks/baseline/*.txt")
	if err != nil || len(files) == 0 {
		panic(fmt.Errorf("there is no baseline, make bench-baseline writes one (%v)", err))
	}
	// By version: 0.10.0 is newer than 0.5.0.
	version := func(file string) string { return "v" + strings.TrimSuffix(filepath.Base(file), ".txt") }
	return slices.MaxFunc(files, func(a, b string) int { return semver.Compare(version(a), version(b)) })
}
