// SPDX-License-Identifier: MIT

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// A line that is another, new or gone is named, and lines of groups that didn't run are left alone.
func TestCompare(t *testing.T) {
	a, b := line{"dag", "heft", 3, 1, 0, 30, "ab"}, line{"dag contention", "heft", 3, 0, 0, 40, "cd"}
	text := "# title\n" + a.String() + "\n" + b.String() + "\n"
	both := []group{{name: "dag"}, {name: "dag contention"}}
	if err := compare(text, []line{a, b}, both); err != nil {
		t.Error(err)
	}
	other := line{"dag", "heft", 3, 1, 0, 30, "ef"}
	if err := compare(text, []line{other, b}, both); err == nil || !strings.Contains(err.Error(), "was:  dag heft 3 1 0 30 ab\n") {
		t.Error(err)
	}
	fresh := a
	fresh.algorithm = "peft"
	if err := compare(text, []line{a, fresh, b}, both); err == nil || !strings.HasPrefix(err.Error(), "new:  dag peft") {
		t.Error(err)
	}
	if err := compare(text, []line{a}, both); err == nil || !strings.HasPrefix(err.Error(), "gone: dag contention heft") {
		t.Error(err)
	}
	for k, l := range []line{a, b} { // a group's name begins another's
		if err := compare(text, []line{l}, both[k:k+1]); err != nil {
			t.Error(err)
		}
	}
}

// Each group has its lines in the file, for every algorithm.
func TestCorpusIsWhole(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	groups := require.Value(corpus())(t)
	text := require.Value(os.ReadFile(file))(t)
	for _, g := range groups {
		if len(g.all) == 0 || !strings.Contains(string(text), "\n"+g.name+" ") {
			t.Errorf("%s has %d instances, or no lines", g.name, len(g.all))
		}
	}
}
