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
	documents, err := parse(&runner{})
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]string{} // many parts are of the same rooms
	for document, parts := range documents {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
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
					if codes[m[2]], err = codeOf(strings.Split(m[2], " and ")...); err != nil {
						t.Fatal(err)
					}
				}
				if codes[m[2]] != m[1] && !strings.Contains(part, " "+changed+"\n") {
					t.Errorf("%s: the part %s is of other code of %s than there is now: run go run ./scripts/reproduce %[2]s", document, p.Name(), m[2])
				}
			}
		}
	}
}

// Comments and tests aren't code, a number is.
func TestCodeOf(t *testing.T) {
	of := func(text string) string {
		dir := t.TempDir()
		for name, text := range map[string]string{"a.go": text, "a_test.go": text + "// other\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		code, err := digestOf([]string{dir})
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	plain := of("package a\n\nconst x = 1\n")
	if other := of("// Package a is.\npackage a\n\n// x is one.\nconst x = 1 // or so\n"); other != plain {
		t.Error("a comment changes the digest")
	}
	if other := of("package a\n\nconst x = 2\n"); other == plain {
		t.Error("a number doesn't change the digest")
	}
}
