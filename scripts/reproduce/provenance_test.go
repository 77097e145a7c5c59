// SPDX-License-Identifier: MIT

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/test/require"
)

// repository makes a repository with one commit and goes there.
func repository(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, folder := range []string{"docs", "results"} {
		check(os.Mkdir(folder, 0o777))
	}
	write(t, ".gitignore", "/results/\n")
	write(t, "docs/a.md", "# A\n")
	git(t, "init", "-q")
	git(t, "add", "-A")
	commitAll(t, "first")
}

func git(t *testing.T, args ...string) string {
	t.Helper()
	return strings.TrimSpace(require.Run(t, exec.Command("git", args...)))
}

func commitAll(t *testing.T, message string) {
	git(t, "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false", "commit", "-q", "--no-verify", "-am", message)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	check(os.WriteFile(file, []byte(text), 0o666))
}

// A run needs a commit that says everything: changed documents and results don't
// count, other changes do.
func TestHead(t *testing.T) {
	repository(t)
	want := git(t, "rev-parse", "--short=10", "HEAD")
	is := func(what, want string) {
		t.Helper()
		require.Same(t, what, want, head())
	}
	is("clean", want)
	write(t, "docs/a.md", "# B\n")
	write(t, "docs/a.svg", "<svg/>")
	write(t, "results/r.jsonl", "{}")
	is("a document and results", want)
	write(t, "a.go", "package a\n")
	is("a new file", want+"+dirty")
	r := &runner{gapwise: "true"}
	fails(t, "changes", "-dirty for a trial", r.prepare)
	r.dirty = true
	if r.prepare(); r.commit != want+"+dirty" {
		t.Errorf("a trial: commit %q", r.commit)
	}
	check(os.Remove("a.go"))
	fails(t, "a command of another commit", "isn't built from commit "+want, (&runner{gapwise: "true"}).prepare)
}

// A part names its plans and the code that solves their problems. Results of other code, or of a commit that is
// lost, aren't taken.
func TestMade(t *testing.T) {
	repository(t)
	check(os.MkdirAll("scripts/corpus", 0o777))
	write(t, corpusFile, "tvc ff 1 0 0 10 aa\n")
	git(t, "add", "-A")
	commitAll(t, "second")
	second := git(t, "rev-parse", "--short=10", "HEAD")
	write(t, corpusFile, "tvc ff 1 0 0 10 bb\n")
	commitAll(t, "third")
	third := git(t, "rev-parse", "--short=10", "HEAD")
	write(t, corpusFile, "dag heft 1 0 0 10 cc\ntvc  ff  1 0 0 10 bb\n")
	write(t, "docs/a.md", "# B\n")
	git(t, "add", "-A")
	commitAll(t, "fourth")
	fourth := git(t, "rev-parse", "--short=10", "HEAD")
	record := func(commit string) string {
		return `{"plan":"tvc-log","instance":"i","instance_hash":"h","kind":"tvc","algorithm":"a","seed":1,"status":"unknown","elapsed_s":1,"nodes":0,"verified":false,"version":"v","commit":"` + commit + `","tools":"go1.0, GLPK 5.0"}` + "\n"
	}
	code := codeOf("tvc")
	version := "gapwise " + gapwise.Version + ", " + gapwise.Built().Tools()
	want := "code " + code + " of tvc, " + version + ", go1.0, GLPK 5.0; plan `tvc-log` (3 draws, seed 1)"
	for name, c := range map[string]struct{ text, want, bad string }{
		"this commit":              {record(fourth), want, ""},
		"an earlier one":           {record(third), want, ""},
		"other code":               {record(second), "", "of commit " + second + ", which solves tvc by other code"},
		"one that is lost":         {record("0123456789"), "", "of commit 0123456789, which the present one doesn't come from"},
		"uncommitted":              {record(third + "+dirty"), "", "uncommitted changes"},
		"without its commit":       {strings.Replace(record(""), `"commit":"",`, "", 1), "", "a commit that they don't name"},
		"a part without a plan":    {"", "", "{{measures}} if none"},
		"one of no problem":        {"none", "", `no problem "nonsense"`},
		"one that quotes figures":  {"quotes", version, ""},
		"one that measures itself": {"tvc", "code " + code + " of tvc, " + version, ""},
	} {
		r := &runner{commit: fourth}
		got := ""
		err := failure(func() {
			switch c.text {
			case "":
			case "quotes":
				r.measures()
			case "tvc":
				r.measures("tvc", "tvc")
			case "none":
				r.measures("nonsense")
			default:
				write(t, "results/tvc-log.jsonl", c.text)
				r.uses("tvc-log", "results/tvc-log.jsonl")
				r.uses("tvc-log", "results/tvc-log.jsonl")
				check(r.current("results/tvc-log.jsonl"))
			}
			got = r.made()
		})
		if c.bad == "" && (err != nil || got != c.want) || c.bad != "" && (err == nil || !strings.Contains(err.Error(), c.bad)) {
			t.Errorf("%s: %q, %v; want %q, %q", name, got, err, c.want, c.bad)
		}
	}
	// What is of other code makes room for new runs, and is kept.
	for _, commit := range []string{second, third} {
		write(t, "results/tvc-log.jsonl", record(commit))
		(&runner{commit: fourth}).fresh("results/tvc-log.jsonl")
		_, here := os.Stat("results/tvc-log.jsonl")
		old, aside := os.ReadFile("results/old/" + commit + "-tvc-log.jsonl")
		if stale := commit == second; (here != nil) != stale || (aside == nil) != stale || stale && string(old) != record(commit) {
			t.Errorf("%s: %v, aside: %v", commit, here, aside)
		}
	}
}

func TestStamped(t *testing.T) {
	for text, want := range map[string]string{
		"## T\n\ntext":     "## T\n\n*Made.*\n\ntext",
		"a\n\n### T\ntext": "a\n\n### T\n\n*Made.*\ntext",
		"no title":         "no title",
	} {
		require.Same(t, "result", want, stamped(text, "made"))
	}
}
