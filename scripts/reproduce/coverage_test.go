// SPDX-License-Identifier: MIT

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/app/papers"
	"github.com/gapwise/gapwise/internal/test/require"
)

func TestStates(t *testing.T) {
	head := "## T\n\n| item | what it says | where | state | the paper's, and ours |\n|---|---|---|---|---|\n"
	for rows, want := range map[string]string{
		"| a | b | c | yes | |\n| a | b | | lost in print | x \\| y |\n| a | b | c | yes | 1, 2 |\n": "3 rows: 2 yes, 1 lost in print.",
		"| a | b | c | maybe | |\n":                                     "",
		"| a | c | yes | |\n":                                           "",
		"| a | b | | yes | |\n":                                         "",
		"| a | b | c | part | |\n":                                      "",
		"| Figure 2 | b | `gapwise bench x` | yes | |\n":                "",
		"| Figure 2 | b | `gapwise bench x` | part | lost |\n":          "1 rows: 1 part.",
		"| Figure 2 | b | `gapwise bench findings` | yes | |\n":         "1 rows: 1 yes.",
		"| a | b | `gapwise bench x` | yes | a sample of the draws |\n": "",
	} {
		got := ""
		if err := failure(func() { got = states(head + rows) }); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", rows, got, err, want)
		}
	}
}

// The page's own rows follow the rule, and their counts are right.
func TestCoveragePage(t *testing.T) {
	text := must(os.ReadFile("../../docs/results/coverage.md"))
	parts := strings.Split(string(text), "<!-- part: coverage-")[1:]
	require.Same(t, "parts", 5, len(parts))
	for _, part := range parts {
		if counts := states(part); !strings.Contains(part, "\n"+counts+"\n") {
			t.Errorf("%s: counts aren't %q", part[:12], counts)
		}
	}
}

// A row of the coverage names only what is there.
func TestCoverageRows(t *testing.T) {
	t.Chdir(t.TempDir())
	check(os.MkdirAll("docs/results", 0o777))
	for name, text := range map[string]string{
		"a.go":                 "package a\n\nfunc HEFTPlan() {}\n",
		"docs/results/some.md": "# All\n<!-- part: one -->\n<!-- code c0ffee of dag -->\n\n## The one, and (its) title\n<!-- end: one -->\n",
	} {
		check(os.WriteFile(name, []byte(text), 0o666))
	}
	checked := findings{{Text: "A leads B", Verdict: papers.Held, Measured: "2 ± 1"}, {Text: "A leads C", Verdict: papers.Undecided, Measured: "0 ± 1"},
		{Text: "B leads C", Verdict: papers.NotHeld, Measured: "-3 ± 1"}}
	for name, c := range map[string]struct {
		got       func() string
		want, bad string
	}{
		"a name":         {func() string { return code("a.go", "HEFTPlan") }, "[`a.go`](../../a.go)", ""},
		"a folder":       {func() string { return code("docs") }, "[`docs`](../../docs)", ""},
		"half a name":    {func() string { return code("a.go", "HEFT") }, "", "a.go has no HEFT"},
		"no file":        {func() string { return code("b.go") }, "", "b.go"},
		"name in folder": {func() string { return code("docs", "x") }, "", "a folder"},
		"a part":         {func() string { return link("some.md", "one") }, "[some.md, one](some.md#the-one-and-its-title)", ""},
		"no part":        {func() string { return link("some.md", "two") }, "", "no part two"},
		"no plan":        {func() string { return plan("none") }, "", "none"},
		"fails":          {func() string { return (&runner{gapwise: "false"}).try("solve") }, "", "exit status 1"},
		"a verdict":      {func() string { return checked.Verdict("A leads B") }, "*held*: 2 ± 1", ""},
		"two verdicts":   {func() string { return checked.Verdict("A leads") }, "", "2 findings begin with"},
		"verdicts":       {func() string { return checked.Verdicts("A leads") }, "1 *held*, 1 *undecided*", ""},
		"says":           {func() string { return checked.Says("B leads C") }, "not held (-3 ± 1)", ""},
		"says nothing":   {func() string { return checked.Says("B") }, "", "no finding is"},
		"no verdicts":    {func() string { return checked.Verdicts("C") }, "", `no finding begins with "C"`},
		"a result":       {func() string { return (&runner{gapwise: "true"}).try("solve results/x.json") }, "`gapwise solve x.json`", ""},
		"runs":           {func() string { return (&runner{gapwise: "true"}).try("solve -a heft", "x.json") }, "`gapwise solve -a heft ...`", ""},
	} {
		got := ""
		err := failure(func() { got = c.got() })
		if c.bad == "" && (err != nil || got != c.want) || c.bad != "" && (err == nil || !strings.Contains(err.Error(), c.bad)) {
			t.Errorf("%s: %q, %v; want %q, %q", name, got, err, c.want, c.bad)
		}
	}
}

// The audit of a problem's code runs once, and a disagreement ends the part.
func TestAudit(t *testing.T) {
	t.Chdir(t.TempDir())
	check(os.Mkdir("results", 0o777))
	r := &runner{gapwise: "false"}
	fails(t, "an audit that fails", "results/audit", func() { r.audited("dag", "c0de", "1m", "1") })
	check(os.WriteFile("results/audit-dag-c0de-1m-1.json", []byte(`{"counts":{"dag":[[1,2],[3,4]]},"instances":{"dag":[5]}}`), 0o666))
	tally := r.audited("dag", "c0de", "1m", "1")
	if all, _, _, instances := tally.Comparisons(); all != 10 || instances != 5 {
		t.Errorf("an audit that has run: %d comparisons on %d instances", all, instances)
	}
}
