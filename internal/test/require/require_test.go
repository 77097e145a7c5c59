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
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
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
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
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
