package main

import (
	"os"
	"strings"
	"testing"
)

// A row of the coverage names only what is there.
func TestCoverageRows(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("docs", 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.go":         "package a\n\nfunc HEFTPlan() {}\n",
		"docs/some.md": "# All\n<!-- part: one -->\n<!-- run at c0ffee -->\n\n## The one, and (its) title\n<!-- end: one -->\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		got       func() (string, error)
		want, bad string
	}{
		"a name":         {func() (string, error) { return code("a.go", "HEFTPlan") }, "[`a.go`](../a.go)", ""},
		"a folder":       {func() (string, error) { return code("docs") }, "[`docs`](../docs)", ""},
		"half a name":    {func() (string, error) { return code("a.go", "HEFT") }, "", "a.go has no HEFT"},
		"no file":        {func() (string, error) { return code("b.go") }, "", "b.go"},
		"name in folder": {func() (string, error) { return code("docs", "x") }, "", "a folder"},
		"a part":         {func() (string, error) { return link("some.md", "one") }, "[The one, and (its) title](some.md#the-one-and-its-title)", ""},
		"no part":        {func() (string, error) { return link("some.md", "two") }, "", "no part two"},
		"no plan":        {func() (string, error) { return plan("none") }, "", "none"},
		"fails":          {func() (string, error) { return (&runner{gapwise: "false"}).try("solve") }, "", "exit status 1"},
		"runs":           {func() (string, error) { return (&runner{gapwise: "true"}).try("solve -a heft", "x.json") }, "`gapwise solve -a heft ...`", ""},
	} {
		got, err := c.got()
		if c.bad == "" && (err != nil || got != c.want) || c.bad != "" && (err == nil || !strings.Contains(err.Error(), c.bad)) {
			t.Errorf("%s: %q, %v; want %q, %q", name, got, err, c.want, c.bad)
		}
	}
}
