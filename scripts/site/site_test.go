// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// built builds the site of the checkout and returns its folder and files.
func built(t *testing.T) (folder string, files map[string]string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "site")
	require.OK(t, require.Err(build("../..", folder)))
	files = map[string]string{}
	require.OK(t, fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(name, "play/") {
			return err
		}
		data, err := os.ReadFile(filepath.Join(folder, name))
		files[name] = string(data)
		return err
	}))
	return folder, files
}

var (
	toPage  = regexp.MustCompile(`<a href="([^"]+)"`)
	toFile  = regexp.MustCompile(`(?:src|<link [^>]*href|action)="([^"]+)"`)
	named   = regexp.MustCompile(` id="([^"]+)"`)
	outside = regexp.MustCompile(`(?i)(?:src|action)="[a-z]+:|<link [^>]*href="https?:|url\(|@import|<style|<script>|fetch\(|XMLHttp|import\(`)
)

// Each link leads to a file and a heading of the site, each page can be reached from the
// first, and nothing is asked of anybody else.
func TestSite(t *testing.T) {
	_, files := built(t)
	ids := map[string][]string{}
	for name, text := range files {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			ids[name] = append(ids[name], m[1])
		}
	}
	reached, next := map[string]bool{"index.html": true}, []string{"index.html"}
	for len(next) > 0 {
		from := next[0]
		next = next[1:]
		for _, m := range slices.Concat(toPage.FindAllStringSubmatch(files[from], -1), toFile.FindAllStringSubmatch(files[from], -1)) {
			to, id, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, ":") {
				continue
			}
			at := from
			if to != "" {
				at = path.Join(path.Dir(from), to)
			}
			if strings.HasPrefix(at, "play/") {
				continue
			}
			text, ok := files[at]
			switch {
			case !ok:
				t.Errorf("%s links %s, which isn't there", from, m[1])
			case id != "" && !slices.Contains(ids[at], id):
				t.Errorf("%s links %s, which has no such heading", from, m[1])
			case !reached[at] && strings.HasSuffix(at, ".html"):
				next = append(next, at)
			}
			reached[at] = reached[at] || text != ""
		}
	}
	for name, text := range files {
		if !reached[name] && name != "search-index.js" && name != "search.js" {
			t.Errorf("nothing leads to %s", name)
		}
		if strings.HasSuffix(name, ".html") || strings.HasSuffix(name, ".js") && name != "search-index.js" || strings.HasSuffix(name, ".css") {
			require.Same(t, fmt.Sprintf("%s asks for something outside", name), "", outside.FindString(text))
		}
	}
	if n := strings.Count(files["problems/dag.html"], "<h2"); n < 8 || !strings.Contains(files["problems/dag.html"], `aria-current="page"`) {
		t.Errorf("the page of dag has %d headings", n)
	}
}

// A link that leads nowhere, or to a heading that isn't there, is an error that names it.
func TestBrokenLinks(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"README.md":      "# a\n\n[b](docs/README.md#two-words) [c](docs/none.md) [d](docs/README.md#three) [e](https://example.org) [f](../up.md)",
		"docs/README.md": "# b\n\n## Two *words*\n\n## Two words\n\n[again](#two-words-1) ![p](p.svg)", "docs/p.svg": "<svg/>", "examples/README.md": "# c",
	} {
		file := filepath.Join(root, name)
		require.OK(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.OK(t, os.WriteFile(file, []byte(text), 0o644))
	}
	_, err := build(root, filepath.Join(root, "site"))
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Fatalf("three links lead nowhere: %v", err)
	}
	require.Says(t, "the error", err.Error(), "README.md: links docs/none.md, which isn't there",
		"README.md: links docs/README.md#three, which has no such heading", "README.md: links ../up.md")
	if _, err := os.Stat(filepath.Join(root, "site")); err == nil {
		t.Error("the site is written all the same")
	}
}

// In a browser, opened from a file, the search finds the section on a word first.
func TestSearch(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a browser")
	}
	browser := require.Tool(t, "chromium-headless-shell", "chromium-headless-shell")
	folder, _ := built(t)
	for query, want := range map[string]string{"upward+ran": "glossary.html#", "shadow+time": "batch", "zzzz": "0 sections"} {
		out := require.Value(exec.Command(browser, "--no-sandbox", "--user-data-dir="+t.TempDir(), "--dump-dom",
			"file://"+folder+"/search.html?q="+query).Output())(t)
		_, found, _ := strings.Cut(string(out), `id="said"`)
		if !strings.Contains(found, want) {
			t.Errorf("%s: no %q in %s", query, want, found)
		}
	}
}
