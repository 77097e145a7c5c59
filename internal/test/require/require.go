// SPDX-License-Identifier: MIT

// Package require finds what tests need from outside the repository: files of the
// public data sets, and programs. A test without them is skipped, or fails where
// the environment promises that they are there: a test that is skipped
// everywhere tests nothing.
package require

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// T holds the methods of testing.TB that this package uses.
type T interface {
	Helper()
	Skip(args ...any)
	Fatal(args ...any)
}

// Data returns the path of a file or folder of the data sets, below GAPWISE_DATA
// or, if that isn't set, below ../shared/data from the module's root. If it isn't
// there the test is skipped, or fails if GAPWISE_REQUIRE_DATA is 1.
func Data(t T, path ...string) string {
	t.Helper()
	folder := os.Getenv("GAPWISE_DATA")
	if folder == "" {
		root, err := moduleRoot()
		if err != nil {
			t.Fatal(err)
			return ""
		}
		folder = filepath.Join(root, "..", "shared", "data")
	}
	file := filepath.Join(append([]string{folder}, path...)...)
	if _, err := os.Stat(file); err != nil {
		missing(t, "GAPWISE_REQUIRE_DATA", fmt.Sprintf("the data set isn't there, GAPWISE_DATA names its folder: %v", err))
		return ""
	}
	return file
}

// Tool returns the path of a program. debian names the package to install. If the
// program isn't on PATH the test is skipped, or fails if GAPWISE_REQUIRE_TOOLS
// is 1.
func Tool(t T, program, debian string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		missing(t, "GAPWISE_REQUIRE_TOOLS", fmt.Sprintf("the program %s isn't on PATH; scripts/tools installs it (Debian: %s)", program, debian))
		return ""
	}
	return path
}

// HiGHS skips the test if HiGHS isn't where scripts/highs puts it, or fails if GAPWISE_REQUIRE_TOOLS is 1. It
// looks as model/milp/highs does, which this package doesn't import.
func HiGHS(t T) {
	t.Helper()
	if file := os.Getenv("GAPWISE_HIGHS"); file != "" {
		return
	}
	cache, err := os.UserCacheDir()
	if found, _ := filepath.Glob(filepath.Join(cache, "gapwise", "highs-*.wasm")); err != nil || len(found) == 0 {
		missing(t, "GAPWISE_REQUIRE_TOOLS", "HiGHS isn't there: run scripts/highs")
	}
}

func missing(t T, variable, what string) {
	t.Helper()
	if os.Getenv(variable) == "1" {
		t.Fatal(what + "; " + variable + "=1 asks for it")
		return
	}
	t.Skip(what)
}

// moduleRoot returns the folder of go.mod, at or above the working folder (in a
// test that of the package).
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("there is no go.mod at or above the working folder")
		}
		dir = up
	}
}

// Night reports whether tests take what is too long for every change, as make nightly has them.
func Night() bool { return os.Getenv("GAPWISE_ROUNDS") != "" }

// Rounds returns how many random draws a test makes of n: a tenth with -short,
// else n times GAPWISE_ROUNDS if that is set. Of what HiGHS solves a fifth of the draws
// that our own engines have says as much by day: each takes it a hundred times as long.
func Rounds(n int) int {
	if testing.Short() {
		return max(1, n/10)
	}
	if k, err := strconv.Atoi(os.Getenv("GAPWISE_ROUNDS")); err == nil {
		return n * k
	}
	return n
}

// Value returns a value that a test needs; an error ends the test.
func Value[V any](x V, err error) func(T) V {
	return func(t T) V {
		t.Helper()
		OK(t, err)
		return x
	}
}

// OK ends the test at an error.
func OK(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
