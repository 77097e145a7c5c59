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
