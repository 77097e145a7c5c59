// Package need is for tests that need what isn't in the repository: files of
// the public data sets, other people's programs. Without them such a test is
// skipped and says so, or, where the environment promises that they are there,
// fails: a test that is skipped everywhere tests nothing.
package need

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// T is the part of testing.TB that is used here.
type T interface {
	Helper()
	Skip(args ...any)
	Fatal(args ...any)
}

// Data returns the path of a file or folder of the data sets: below
// GAPWISE_DATA or, if that isn't set, below ../shared/data as seen from the
// module's root. Without it the test is skipped, or fails if
// GAPWISE_REQUIRE_DATA is 1.
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

// Tool returns the path of a program. Without it the test is skipped, or fails
// if GAPWISE_REQUIRE_TOOLS is 1. The package is Debian's.
func Tool(t T, program, debian string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		missing(t, "GAPWISE_REQUIRE_TOOLS", fmt.Sprintf("the program %s isn't on PATH (Debian: %s)", program, debian))
		return ""
	}
	return path
}

func missing(t T, variable, what string) {
	t.Helper()
	if os.Getenv(variable) == "1" {
		t.Fatal(what + "; " + variable + "=1 asks for it")
		return
	}
	t.Skip(what)
}

// moduleRoot is the folder of go.mod, at or above the working folder, which is
// the package's in a test.
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

// Rounds returns how many of n random draws a test makes: a tenth with -short,
// and GAPWISE_ROUNDS times as many where that is set.
func Rounds(n int) int {
	if testing.Short() {
		return n / 10
	}
	if k, err := strconv.Atoi(os.Getenv("GAPWISE_ROUNDS")); err == nil {
		return n * k
	}
	return n
}
