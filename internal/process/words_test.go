// SPDX-License-Identifier: MIT

package process

import (
	"slices"
	"testing"
)

func TestCommand(t *testing.T) {
	t.Parallel()
	values := map[string]string{"{in}": "/a folder/in.json", "{seed}": "7"}
	for text, want := range map[string][]string{
		`python3 mine.py {in} --seed={seed}`: {"python3", "mine.py", "/a folder/in.json", "--seed=7"},
		`sh -c 'awk "{print}" {in}; $HOME'`:  {"sh", "-c", `awk "{print}" /a folder/in.json; $HOME`},
		`a\ b "c d" '' {out}`:                {"a b", "c d", "", "{out}"},
	} {
		c, err := ParseCommand(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := c.Args(values); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	c, err := ParseCommand("a {in}")
	if err != nil || !c.Has("{in}") || c.Has("{out}") {
		t.Errorf("%v %v", c, err)
	}
	for _, text := range []string{"", "  ", `a 'b`, `a "b`, `''`} {
		if c, err := ParseCommand(text); err == nil {
			t.Errorf("%q is %q", text, c)
		}
	}
}

// What Quote writes, ParseCommand reads.
func TestQuote(t *testing.T) {
	t.Parallel()
	words := []string{"gapwise", "-o", "a b", "", "it's", "$HOME", `\`, "x=1,2", "é", "-"}
	text := Quote(words...)
	if want := `gapwise -o 'a b' '' 'it'\''s' '$HOME' '\' x=1,2 'é' -`; text != want {
		t.Errorf("%s, want %s", text, want)
	}
	c, err := ParseCommand(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Args(nil); !slices.Equal(got, words) {
		t.Errorf("%q, want %q", got, words)
	}
}
