// SPDX-License-Identifier: MIT

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each part of the documents is of the code that there is now, and names the version; a part
// whose code has changed since says so, or is run again.
func TestAges(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	code := regexp.MustCompile(`^<!-- code ([0-9a-f]{16}) of ([a-z ]+)\b`)
	version := regexp.MustCompile(`(?m)^(?:<!-- |\*).*[gG]apwise \d+\.\d+\.\d+`)
	documents := parse(&runner{})
	codes := map[string]string{} // many parts are of the same rooms
	for document, parts := range documents {
		text := must(os.ReadFile(document))
		for _, p := range parts {
			_, part, found := strings.Cut(string(text), "<!-- part: "+p.Name()+" -->\n")
			part, _, ended := strings.Cut(part, "<!-- end: "+p.Name()+" -->")
			switch {
			case !found || !ended || strings.HasPrefix(part, "<!-- run at "):
				t.Errorf("%s: the part %s isn't there, or doesn't name its code: run go run ./scripts/reproduce %[2]s", document, p.Name())
				continue
			case !version.MatchString(part):
				t.Errorf("%s: the part %s doesn't say by which version it was made", document, p.Name())
			}
			if m := code.FindStringSubmatch(part); m != nil {
				if codes[m[2]] == "" {
					codes[m[2]] = codeOf(strings.Split(m[2], " and ")...)
				}
				if codes[m[2]] != m[1] && !strings.Contains(part, " "+changed+"\n") {
					t.Errorf("%s: the part %s is of other code of %s than there is now: run go run ./scripts/reproduce %[2]s", document, p.Name(), m[2])
				}
			}
		}
	}
}

// A digest is of the lines of its kinds and algorithms alone.
func TestCodeOf(t *testing.T) {

	corpus := "# title\ndag heft 1 0 0 10 aa\ndag contention search 1 0 5 10 bb\ndag auto 1 0 5 10 cc\ntvc ff 1 0 0 10 dd\n"
	for _, c := range []struct {
		line     string
		measured []string
		differs  bool
	}{
		{"heft", []string{"dag heuristics"}, true}, {"heft", []string{"dag"}, true}, {"heft", []string{"tvc"}, false},
		{"search", []string{"dag heuristics"}, false}, {"search", []string{"dag"}, true},
		{"auto", []string{"dag"}, false}, {"auto", []string{"auto", "dag"}, true}, {"ff", []string{"dag", "tvc"}, true},
	} {
		other := regexp.MustCompile("("+c.line+" .*) [a-d]{2}\n").ReplaceAllString(corpus, "$1 ee\n")
		if differs := codeIn(other, c.measured...) != codeIn(corpus, c.measured...); other == corpus || differs != c.differs {
			t.Errorf("another line of %s: the digest of %q differs: %v", c.line, c.measured, differs)
		}
	}
	fails(t, "a kind without lines has a digest", "", func() { codeIn(corpus, "batch") })
}
