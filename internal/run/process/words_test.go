// SPDX-License-Identifier: MIT

package process

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

func TestCommand(t *testing.T) {
	t.Parallel()
	values := map[string]string{"{in}": "/a folder/in.json", "{seed}": "7"}
	for text, want := range map[string][]string{
		`python3 mine.py {in} --seed={seed}`:    {"python3", "mine.py", "/a folder/in.json", "--seed=7"},
		`sh -c 'awk "{print}" {in}; $HOME'`:     {"sh", "-c", `awk "{print}" /a folder/in.json; $HOME`},
		`a\ b "c d" '' {out}`:                   {"a b", "c d", "", "{out}"},
		`sh -c "echo \$0 \\ \x \"$HOME\"" {in}`: {"sh", "-c", `echo $0 \ \x "$HOME"`, "/a folder/in.json"},
		`é$HOME/x ${in} "$(date)" *.py ~ x=1`:   {"é$HOME/x", "$/a folder/in.json", "$(date)", "*.py", "~", "x=1"},
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
	for _, text := range []string{"", "  ", `a 'b`, `a "b`, `''`, "a | b", "a > b", "a; b", "a & b"} {
		if c, err := ParseCommand(text); err == nil {
			t.Errorf("%q is %q", text, c)
		}
	}
}

// ParseCommand reads the output of Quote, and a shell passes it on as it was; no reader sees a character that can't be
// shown.
func TestQuote(t *testing.T) {
	t.Parallel()
	plain := []string{"gapwise", "-o", "a b", "", "it's", "$HOME", `\`, "x=1,2", "é", "-", "$(touch x)", "`touch x`", "a\u00a0'b", "a;b", "a|b&", "it's!x", "!", "~", "*", "if", "{a,b}", `"`, "#"}
	text := Quote(plain...)
	if want := `gapwise -o 'a b' '' "it's" '$HOME' '\' 'x=1,2' é - '$(touch x)' '` + "`touch x`" + "' 'a\u00a0'\\''b" + `' 'a;b' 'a|b&' "it's"'!'x '!' '~' '*' 'if' '{a,b}' '"' '#'`; text != want {
		t.Errorf("%s, want %s", text, want)
	}
	c := require.Value(ParseCommand(text))(t)
	if got := c.Args(nil); !slices.Equal(got, plain) {
		t.Errorf("%q, want %q", got, plain)
	}
	hidden := []string{"a\x1b]0;title\a", "two\nlines", "\x9b", "turned \u202etxt"}
	if got, want := Quote(append(hidden, "n\x00l")...), `$'a\x1b]0;title\a' $'two\nlines' $'\x9b' $'turned \u202etxt' 'n\u0000l'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for shell, words := range map[string][]string{"sh": plain, "bash": append(hidden, plain...)} {
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		said := exec.Command(shell, "-c", `printf '%s\0' `+Quote(words...))
		said.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
		if out, err := said.Output(); err != nil || string(out) != strings.Join(words, "\x00")+"\x00" {
			t.Errorf("%s: %q, want %q (%v)", shell, out, words, err)
		}
	}
}

// A name of a user's own is a word before the sort of a command.
func TestLabelled(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]string{
		"mine=cmd:sh -c 'a=b'": {"mine", "cmd:sh -c 'a=b'"}, "é2.1_x+y-z=online:x": {"é2.1_x+y-z", "online:x"}, "b=batsim:tcp://h:1": {"b", "batsim:tcp://h:1"},
		"cmd:a=cmd:b": {"", "cmd:a=cmd:b"}, "=cmd:x": {"", "=cmd:x"}, "a b=cmd:x": {"", "a b=cmd:x"}, "heft": {"", "heft"}, "a=mps:x": {"", "a=mps:x"}, "a=b": {"", "a=b"},
	} {
		if label, rest := Labelled(name); label != want[0] || rest != want[1] {
			t.Errorf("%s: %q and %q", name, label, rest)
		}
	}
}

// A command's digest is that of the files that its words name, wherever they are.
func TestDigest(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) { require.OK(t, os.WriteFile(name, []byte(text), 0o755)) }
	of := func(text string) string {
		digest, _ := require.Value(ParseCommand(text))(t).Digest()
		return digest
	}
	write("mine", "one")
	write("data", "x")
	require.OK(t, os.Mkdir("folder", 0o755))
	first := of("./mine data {in}")
	if digest, files := require.Value(ParseCommand("./mine data folder none {in}"))(t).Digest(); digest != first || !slices.Equal(files, []string{"./mine", "data"}) {
		t.Errorf("%s of %q, want %s", digest, files, first)
	}
	require.Is(t, "", of("no-such-program-anywhere {in}"), "nothing is there")
	for name, change := range map[string]func(){
		"the program": func() { write("mine", "two") },
		"an argument": func() { write("data", "y") },
		"one is gone": func() { require.OK(t, os.Remove("data")) },
	} {
		before := of("./mine data {in}")
		if change(); of("./mine data {in}") == before || before == "" {
			t.Errorf("%s changes and the digest doesn't", name)
		}
		write("data", "x")
		write("mine", "one")
	}
	require.Is(t, first, of("./mine data {in}"), "as before")
	// A program on the PATH is found.
	t.Setenv("PATH", ".")
	t.Setenv("GODEBUG", "execerrdot=0")
	if of("mine data {in}") == of("nothing data {in}") {
		t.Error("a program on the PATH doesn't count")
	}
}
