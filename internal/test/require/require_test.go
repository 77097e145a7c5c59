// SPDX-License-Identifier: MIT

package require_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// probe notes how a test ends.
type probe struct{ skipped, failed string }

func (*probe) Helper()             {}
func (p *probe) Skip(args ...any)  { p.skipped = fmt.Sprint(args...) }
func (p *probe) Fatal(args ...any) { p.failed = fmt.Sprint(args...) }

func TestData(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "set", "a.json")
	require.OK(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.OK(t, os.WriteFile(file, []byte("{}"), 0o644))
	t.Setenv("GAPWISE_DATA", folder)
	for _, required := range []string{"", "0", "1"} {
		t.Setenv("GAPWISE_REQUIRE_DATA", required)
		p := &probe{}
		if got := require.Data(p, "set", "a.json"); got != file || *p != (probe{}) {
			t.Errorf("required %q: path %q, ended with %+v", required, got, *p)
		}
		require.Data(p, "set", "b.json")
		ended := p.skipped
		if required == "1" {
			ended = p.failed
		}
		if !strings.Contains(ended, filepath.Join("set", "b.json")) || (p.skipped == "") == (p.failed == "") {
			t.Errorf("required %q: ended with %+v", required, *p)
		}
	}
}

// Without GAPWISE_DATA the folder beside the module is meant, from any package.
func TestDataBesideTheModule(t *testing.T) {
	t.Setenv("GAPWISE_DATA", "")
	t.Setenv("GAPWISE_REQUIRE_DATA", "")
	p := &probe{}
	require.Data(p, "no such set")
	root := require.Value(filepath.Abs(filepath.Join("..", "..", "..")))(t)
	if want := filepath.Join(filepath.Dir(root), "shared", "data", "no such set"); !strings.Contains(p.skipped, want) {
		t.Errorf("ended with %+v, want a skip that names %s", *p, want)
	}
}

func TestTool(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, required := range []string{"", "1"} {
		t.Setenv("GAPWISE_REQUIRE_TOOLS", required)
		p := &probe{}
		require.Tool(p, "glpsol", "glpk-utils")
		ended := p.skipped
		if required == "1" {
			ended = p.failed
		}
		if !strings.Contains(ended, "glpk-utils") || (p.skipped == "") == (p.failed == "") {
			t.Errorf("required %q: ended with %+v", required, *p)
		}
	}
}

// judged is a report that says whether a solution is feasible.
type judged bool

func (j judged) Feasible() bool { return bool(j) }

// A solution that isn't feasible, an error, another value, and a pattern of no file end a test, which says where.
func TestNeeded(t *testing.T) {
	p := &probe{}
	require.Feasible(judged(true), nil)(p, "seed", 3)
	require.Files(p, "*.go")
	require.OK(p, nil, "seed", 3)
	require.Is(p, 4, 4, "seed", 3)
	if *p != (probe{}) {
		t.Errorf("ended with %+v", *p)
	}
	require.Feasible(judged(false), nil)(p, "seed", 3)
	require.Says(t, "an infeasible solution", p.failed, "seed", "3", "false")
	require.Feasible(judged(true), os.ErrNotExist)(p)
	require.Says(t, "an error", p.failed, os.ErrNotExist.Error())
	require.OK(p, os.ErrNotExist, "seed", 7)
	require.Says(t, "an error", p.failed, "seed", "7", os.ErrNotExist.Error())
	require.Is(p, 4, 5, "seed", 6)
	require.Says(t, "another value", p.failed, "seed", "6", "is 5, want 4")
	require.Files(p, "*.none")
	require.Says(t, "no file", p.failed, "*.none")
}
