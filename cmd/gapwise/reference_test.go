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

	docs "github.com/urfave/cli-docs/v3"
	"github.com/urfave/cli/v3"
)

// whole returns the command line with every command in full.
func whole(p *program) *cli.Command {
	names := []string{"gapwise", "help"}
	for _, c := range p.commands() {
		names = append(names, c.name)
	}
	return p.app(names)
}

// A command is built when it is named, and no other.
func TestNamed(t *testing.T) {
	for _, args := range [][]string{{"gapwise"}, {"gapwise", "version"}, {"gapwise", "help", "solve"}} {
		for _, c := range (&program{}).app(args).Commands {
			if built := c.Action != nil || c.Commands != nil; built != slices.Contains(args, c.Name) {
				t.Errorf("%v: %s built: %v", args, c.Name, built)
			}
		}
	}
}

// The manual page is what the commands say of themselves. Descriptions and examples keep
// their lines; -update writes it.
func TestManual(t *testing.T) {
	app := whole(&program{})
	cli.FlagStringer = plainFlag // one line each: the page's reader breaks them
	defer func() { cli.FlagStringer = wrappedFlag }()
	app.Description = "```\n" + app.Description + "\n```"
	for _, c := range app.Commands {
		c.UsageText = strings.TrimSpace(fmt.Sprintf("gapwise %s [options] %s", c.Name, strings.TrimSpace(c.ArgsUsage))) + "\n"
		if c.Description != "" {
			c.UsageText += "\n" + strings.TrimRight(c.Description, "\n") + "\n"
		}
		c.UsageText += exampleLines(c.Name, "Examples:", "  ")
	}
	page, err := docs.ToManWithSection(app, 1)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("gapwise.1", []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		manual = page
	}
	if page != manual {
		t.Error("gapwise.1 isn't what the program says; go test ./cmd/gapwise -run TestManual -update writes it")
	}
}

// The pages of the command line are what the program says of itself, command by
// command; -update writes them.
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
		want[c.Name+".md"] = fmt.Sprintf("# gapwise %s\n\n[All commands](README.md)\n\n```\n%s```\n", c.Name, help(t, c.Name))
		fmt.Fprintf(&list, "- [`gapwise %s`](%s.md): %s\n", c.Name, c.Name, c.Usage)
	}
	want["README.md"] = list.String()
	if *update {
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	there, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(there) != len(want) {
		t.Errorf("%s has %d pages, want %d", folder, len(there), len(want))
	}
	for name, text := range want {
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != text {
			t.Errorf("%s isn't what the program says (error %v); go test ./cmd/gapwise -run TestReference -update writes it", name, err)
		}
	}
}

// help returns what gapwise help prints, of the whole program or of a command.
func help(t *testing.T, command ...string) string {
	t.Helper()
	var out bytes.Buffer
	args := append([]string{"gapwise", "help"}, command...)
	if err := (&program{out: &out, err: &out}).app(args).Run(context.Background(), args); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for k, l := range lines {
		if lines[k] = strings.TrimRight(l, " "); utf8.RuneCountInString(lines[k]) > 80 {
			t.Errorf("gapwise help %v: a line is wider than a terminal: %s", command, l)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
