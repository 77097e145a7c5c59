// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/internal/test/require"
)

// whole returns the command line with every command in full.
func whole(p *program) *cli.Command {
	names := []string{"gapwise", "help"}
	for _, c := range p.commands() {
		names = append(names, c.name)
	}
	return p.app(names)
}

// commandNames returns the names of all commands, as they are typed after gapwise.
func commandNames() (all []string) {
	p := &program{}
	for _, c := range p.commands() {
		all = append(all, c.name)
	}
	for _, c := range p.benchCommands() {
		all = append(all, "bench "+c.name)
	}
	return all
}

// A command is built when it is named, and no other.
func TestNamed(t *testing.T) {
	for _, args := range [][]string{{"gapwise"}, {"gapwise", "version"}, {"gapwise", "help", "solve"}} {
		for _, c := range (&program{}).app(args).Commands {
			require.Same(t, fmt.Sprintf("%v: %s built", args, c.Name), slices.Contains(args, c.Name),
				c.Action != nil || c.Commands != nil)
		}
	}
}

// The manual page of a release holds the help of each command; -update writes it.
func TestManual(t *testing.T) {
	const file = "../../scripts/release/gapwise.1"
	app := whole(&program{})
	page := ".TH GAPWISE 1\n.SH NAME\ngapwise \\- " + app.Usage + "\n" + section(t)
	for _, c := range app.Commands {
		if c.Hidden {
			continue
		}
		page += section(t, c.Name)
		for _, below := range c.Commands {
			page += section(t, c.Name, below.Name)
		}
	}
	if *update {
		require.OK(t, os.WriteFile(file, []byte(page), 0o644))
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != page {
		t.Errorf("%s isn't what the program says (error %v); go test ./cmd/gapwise -run TestManual -update writes it", file, err)
	}
	require.Says(t, "the manual page", page, "replay a proof of a bound", "gapwise solve vms.json", "SWF logs",
		"gapwise bench table \\-\\-by")
}

// roff keeps the characters that mean something else to man.
var roff = strings.NewReplacer("\\", "\\e", "-", "\\-", "\n.", "\n\\&.", "\n'", "\n\\&'")

// section returns the help of a command as a section of the manual page, with its lines as they are.
func section(t *testing.T, command ...string) string {
	name := strings.ToUpper(strings.Join(append([]string{"gapwise"}, command...), " "))
	return ".SH " + name + "\n.in 0\n.nf\n" + roff.Replace(help(t, command...)) + ".fi\n"
}

// The pages of the command line hold the program's own help, command by command; -update writes them.
func TestReference(t *testing.T) {
	folder := filepath.Join("..", "..", "docs", "reference", "commands")
	want := map[string]string{}
	var list strings.Builder
	list.WriteString("# The command line\n\nWhat `gapwise help` and `gapwise COMMAND --help` print: the program writes these pages.\n\n" +
		"```\n" + help(t) + "```\n\n## Each command\n\n")
	for _, c := range whole(&program{}).Commands {
		if c.Hidden {
			continue
		}
		add := func(indent, usage string, command ...string) {
			name, file := strings.Join(command, " "), strings.Join(command, "-")+".md"
			want[file] = fmt.Sprintf("# gapwise %s\n\n[All commands](README.md)\n\n```\n%s```\n", name, help(t, command...))
			fmt.Fprintf(&list, "%s- [`gapwise %s`](%s): %s\n", indent, name, file, usage)
		}
		add("", c.Usage, c.Name)
		for _, below := range c.Commands {
			add("  ", below.Usage, c.Name, below.Name)
		}
	}
	want["README.md"] = list.String()
	if *update {
		require.OK(t, os.RemoveAll(folder))
		require.OK(t, os.MkdirAll(folder, 0o755))
		for name, text := range want {
			require.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
		}
	}
	require.Same(t, fmt.Sprintf("%s: pages", folder), len(want), len(require.Value(os.ReadDir(folder))(t)))
	for name, text := range want {
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != text {
			t.Errorf("%s isn't what the program says (error %v); go test ./cmd/gapwise -run TestReference -update writes it", name, err)
		}
	}
}

// help returns the output of gapwise help, for the whole program or for a command.
func help(t *testing.T, command ...string) string {
	t.Helper()
	var out bytes.Buffer
	args := append([]string{"gapwise", "help"}, command...)
	require.OK(t, (&program{out: &out, err: &out}).app(args).Run(context.Background(), args))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for k, l := range lines {
		if lines[k] = strings.TrimRight(l, " "); utf8.RuneCountInString(lines[k]) > 80 {
			t.Errorf("gapwise help %v: a line is wider than a terminal: %s", command, l)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// Every old name works as the new one does, prints the new one in one line, and is on the page of old names.
func TestRenamed(t *testing.T) {
	page := require.Value(os.ReadFile("../../docs/reference/renamed.md"))(t)
	if rows := strings.Count(string(page), "` | `gapwise "); rows != len(renamed) {
		t.Errorf("docs/reference/renamed.md has %d commands, the program %d", rows, len(renamed))
	}
	for old, now := range renamed {
		by := func(args ...string) (code int, out, said string) {
			var stdout, stderr bytes.Buffer
			code = (&program{out: &stdout, err: &stderr}).untilLeft(t.Context(), append([]string{"gapwise"}, args...))
			return code, stdout.String(), stderr.String()
		}
		for _, args := range [][]string{{"--help"}, {}, {"not-there.json"}} {
			code, out, said := by(append([]string{old}, args...)...)
			wantCode, wantOut, wantSaid := by(slices.Concat(now, args)...)
			line, rest, _ := strings.Cut(said, "\n")
			if code != wantCode || out != wantOut || rest != wantSaid {
				t.Errorf("gapwise %s %v: exit code %d and\n%s%s\nas gapwise %v: %d and\n%s%s", old, args, code, out, rest, now, wantCode, wantOut, wantSaid)
			}
			if want := "gapwise " + strings.Join(now, " "); !strings.Contains(line, want+" now") || !strings.Contains(string(page), fmt.Sprintf("| `%s` | `%s` |", old, want)) {
				t.Errorf("gapwise %s: its line is %q, without %q, or docs/reference/renamed.md hasn't both", old, line, want)
			}
		}
	}
}
