// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

const modulePath = "github.com/gapwise/gapwise"

// floors numbers the rooms from the bottom. A package imports from lower floors
// alone, and from its own room as imported allows.
var floors = map[string]int{
	"internal": 0, "docs": 1, "model": 1, "internal/cp": 1, "internal/num/squashed": 1,
	"internal/core/view": 2, "internal/run": 3, "internal/run/lns": 2, "internal/run/limits": 2, "internal/num/duals": 2, "internal/num/covering": 2,
	"internal/core/features": 3, "internal/core/partial": 3, "internal/num/steps": 3, "internal/problem": 3,
	"internal/core/scene": 4,
	"bounds":              4, "heuristics/online": 4, "internal/test/testkit": 4, "heuristics": 5, "exact": 6, "": doorFloor,
	"internal/app": 8, "verify/verifytest": 8, "benchmarks": 9,
	"internal/app/papers": 9, "internal/app/submit": 9, "internal/app/serve": 9, "internal/app/play": 9,
	"internal/app/report": 10, "web": 10, "cmd": 11, "scripts": 11,
}

// roomOf is the room of a package: the nearest folder above it that has a floor of its own, else its first one.
func roomOf(p string) string {
	for room := p; room != "." && room != ""; room = path.Dir(room) {
		if floors[room] > 0 && (room == p || room != "internal/run") { // the packages in its folder are below it
			return room
		}
	}
	first, _, _ := strings.Cut(p, "/")
	return first
}

// doorFloor is the floor of the root package, the lowest that knows every
// problem.
const doorFloor = 7

// beside lists the permitted imports of the rooms next to the floors, by prefix. They are imported from the root
// package and above alone.
var beside = map[string][]string{
	// verify shares no code with the code that it judges; evidence is names.
	"verify":    {"model", "internal/core/evidence"},
	"draw":      {"model", "internal/"},
	"instances": {"model", "internal/", "instances/"},
}

// testOnly lists the packages that only tests import. The audit draws from the test kit, too.
var testOnly = []string{"internal/test/chromium", "internal/test/require"}

// wrongImport explains why one package of this module may not import another, both as paths in the module, "" for the
// root; "" if it may.
func wrongImport(from, to string) string {
	// problem is the problem that a package of the lower floors belongs to.
	problem := func(p string) string {
		if name, ok := strings.CutPrefix(p, "internal/problem/"); ok {
			name, _, _ = strings.Cut(name, "/")
			return name
		}
		if r := roomOf(p); r == "bounds" || r == "heuristics" || r == "exact" {
			if name := strings.TrimPrefix(strings.TrimPrefix(p, r), "/"); !strings.HasPrefix(name, "internal/") {
				return name
			}
		}
		return ""
	}
	floor, known := floors[roomOf(from)]
	allowed, isBeside := beside[roomOf(from)]
	floorTo, knownTo := floors[roomOf(to)]
	_, toBeside := beside[roomOf(to)]
	switch {
	case !known && !isBeside, !knownTo && !toBeside:
		return "a room has no floor: give it one in floors_test.go"
	case slices.Contains(testOnly, to), to == "internal/test/testkit" && from != "internal/app/audit":
		return "it is for tests"
	case isBeside:
		if slices.ContainsFunc(allowed, func(a string) bool { return to == a || strings.HasSuffix(a, "/") && strings.HasPrefix(to, a) }) {
			return ""
		}
		return fmt.Sprintf("%s imports %s alone", roomOf(from), strings.Join(allowed, ", "))
	case from == "internal/app/audit/plain" && to != "model":
		return "the plain engines share no code with the others"
	case roomOf(from) == "internal":
		return "internal packages import nothing of this module"
	case toBeside && floor < doorFloor:
		return "only the root package and what is above it knows this room"
	case roomOf(to) == "internal/problem" && problem(from) == "": // code for several problems, such as the test kit
	case problem(to) != "" && floor < doorFloor && problem(from) != problem(to):
		return "it belongs to another problem"
	case roomOf(from) == roomOf(to) && roomOf(from) != "":
		if problem(from) == "" && problem(to) != "" {
			return "it runs upwards"
		}
		return ""
	case floorTo >= floor:
		return "it runs upwards"
	}
	return ""
}

func TestFloors(t *testing.T) {
	t.Parallel()
	packages, found := map[string]bool{}, 0
	require.OK(t, filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(name, ".") || name == "testdata"):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		from := strings.TrimPrefix(path.Dir(filepath.ToSlash(file)), ".")
		packages[from] = true
		for _, i := range parsed.Imports {
			imported, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			to, ours := strings.CutPrefix(imported+"/", modulePath+"/")
			if !ours {
				continue
			}
			found++
			to = strings.TrimSuffix(to, "/")
			require.Same(t, fmt.Sprintf("the import of %q by %s", to, file), "", wrongImport(from, to))
		}
		return nil
	}))
	if found == 0 || !packages[""] || !packages["verify"] || !packages["model"] {
		t.Errorf("%d imports of the packages %v: the walk misses some", found, packages)
	}
}

// The rule refuses the imports that it is there for.
func TestWrongImport(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		want     string // a part of the reason; "": allowed
	}{
		{"cmd/gapwise", "benchmarks", ""},
		{"cmd/gapwise", "draw", ""},
		{"internal/app/audit", "", ""},
		{"internal/app/report", "benchmarks", ""},
		{"benchmarks", "internal/app/runs", ""},
		{"internal/app/report", "draw", ""},
		{"internal/app/audit", "internal/app/audit/plain", ""},
		{"internal/app/audit", "internal/test/testkit", ""},
		{"", "exact/dag", ""},
		{"", "instances", ""},
		{"exact/dag", "heuristics/dag", ""},
		{"exact/dag", "bounds", ""},
		{"exact/dag", "exact", ""},
		{"exact/dag", "exact/internal/engine", ""},
		{"exact/internal/engine", "exact", ""},
		{"heuristics/dag", "bounds/dag", ""},
		{"heuristics/batch", "heuristics/online", ""},
		{"heuristics/online/wire", "heuristics/online", ""},
		{"bounds/dag", "model/milp/highs", ""},
		{"model/milp/highs", "model/milp", ""},
		{"instances", "instances/internal/swf", ""},
		{"draw", "internal/core/scene", ""},
		{"verify", "model", ""},
		{"internal/core/view", "model", ""},
		{"verify/verifytest", "verify", ""},
		{"verify/verifytest", "", ""},

		{"model", "bounds", "upwards"},
		{"model", "internal/core/view", "upwards"},
		{"bounds/dag", "heuristics/dag", "upwards"},
		{"heuristics/dag", "exact", "upwards"},
		{"exact/dag", "", "upwards"},
		{"", "benchmarks", "upwards"},
		{"internal/app/audit", "benchmarks", "upwards"},
		{"benchmarks", "internal/app/report", "upwards"},
		{"internal/app/runs", "benchmarks", "upwards"},
		{"internal/app/audit", "cmd/gapwise", "upwards"},
		{"exact/dag", "internal/problem/dag/dagplay", ""},
		{"heuristics/online", "internal/problem/batch/processors", ""},
		{"exact/dag", "internal/problem/batch/processors", "another problem"},
		{"internal/problem/dag/dagplay", "internal/problem/batch/processors", "another problem"},
		{"exact/dag", "bounds/vcsched", "another problem"},
		{"exact/dag", "exact/vcsched", "another problem"},
		{"heuristics/new", "heuristics/dag", "another problem"},
		{"heuristics/online", "heuristics/batch", "another problem"},
		{"exact", "exact/dag", "another problem"},
		{"exact/internal/engine", "exact/dag", "another problem"},
		{"exact", "bounds/dag", "another problem"},
		{"internal/num/flow", "internal/num/heap", "nothing of this module"},
		{"internal/num/flow", "model", "nothing of this module"},
		{"exact/dag", "verify", "what is above it"},
		{"model", "instances", "what is above it"},
		{"verify", "internal/num/heap", "alone"},
		{"verify", "verify/verifytest", "alone"},
		{"verify", "internal/core/view", "alone"},
		{"", "verify/verifytest", "upwards"},
		{"verify", "model/milp", "alone"},
		{"verify", "heuristics/dag", "alone"},
		{"draw", "verify", "alone"},
		{"draw", "", "alone"},
		{"instances", "heuristics/dag", "alone"},
		{"internal/app/audit/plain", "exact/dag", "share no code"},
		{"exact/dag", "internal/test/testkit", "for tests"},
		{"model", "internal/test/require", "for tests"},
		{"web", "internal/test/chromium", "for tests"},
		{"attic", "model", "no floor"},
		{"exact/dag", "attic", "no floor"},
	} {
		why := wrongImport(c.from, c.to)
		if (why == "") != (c.want == "") || !strings.Contains(why, c.want) {
			t.Errorf("%q imports %q: %q, want %q", c.from, c.to, why, c.want)
		}
	}
}
