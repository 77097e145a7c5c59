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

// Files returns the files of a pattern. If there are none the test ends.
func Files(t T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal("no file is as ", pattern, ": ", err)
	}
	return files
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

// Pair returns two values that a test needs; an error ends the test.
func Pair[V, W any](x V, y W, err error) func(T) (V, W) {
	return func(t T) (V, W) {
		t.Helper()
		OK(t, err)
		return x, y
	}
}

// OK ends the test at an error, and says where.
func OK(t T, err error, where ...any) {
	t.Helper()
	if err != nil {
		t.Fatal(append(where, err)...)
	}
}

// Is ends the test at a value that isn't the wanted one, and says where.
func Is[V comparable](t T, want, got V, where ...any) {
	t.Helper()
	if got != want {
		t.Fatal(append(where, fmt.Sprintf("is %+v, want %+v", got, want))...)
	}
}

// Run runs a command that has to end well, and returns its output.
func Run(t T, c *exec.Cmd) string {
	t.Helper()
	out, err := c.CombinedOutput()
	OK(t, err, c.Args, string(out))
	return string(out)
}

// Feasible returns a report on a solution; an error or a solution that isn't feasible ends the test, which says where.
func Feasible[R interface{ Feasible() bool }](r R, err error) func(t T, where ...any) R {
	return func(t T, where ...any) R {
		t.Helper()
		if err != nil || !r.Feasible() {
			t.Fatal(append(where, err, r)...)
		}
		return r
	}
}
