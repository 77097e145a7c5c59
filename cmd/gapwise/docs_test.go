// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
)

// Every command has examples, which run one after the other in one folder.
func TestExamples(t *testing.T) {
	for _, c := range (&program{}).app().Commands {
		if len(examples[c.Name]) == 0 {
			t.Errorf("gapwise %s has no example", c.Name)
		}
	}
	var commands []string
	used := map[string]bool{}
	for _, c := range exampleOrder {
		used[c] = true
		for _, e := range examples[c] {
			commands = append(commands, e.command)
		}
	}
	for c := range examples {
		if !used[c] {
			t.Errorf("the examples of gapwise %s are not run: name it in exampleOrder", c)
		}
	}
	runCommands(t, "examples", commands)
}

// exampleOrder lists the commands so that each finds the files that its examples
// read.
var exampleOrder = []string{"help", "version", "man", "completion", "algorithms", "generate", "solve", "pack", "verify", "check", "bound", "explain", "export",
	"convert", "gantt", "bench", "merge", "table", "compare", "plot", "report", "findings", "audit"}

// What stands in a page of the documents after "$ gapwise" is run, page by page,
// in a folder with the examples of docs and the files below; what isn't for sure a
// command to type is parsed: its flags, algorithms and plans exist.
func TestDocuments(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("there are no documents")
	}
	for _, page := range append(pages, "../../README.md") {
		name := filepath.Base(page)
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range inline.FindAllStringSubmatch(string(text), -1) {
			if err := parses(m[1]); err != nil {
				t.Errorf("%s: `%s`: %v", name, m[1], err)
			}
		}
		var commands []string
		for _, line := range strings.Split(string(text), "\n") {
			command, typed := strings.CutPrefix(line, "$ ")
			if !typed || !strings.Contains(command, "gapwise ") || strings.Contains(command, "make ") {
				continue
			}
			if !toolsThere(command) {
				t.Logf("not run, for want of a program: %s", command)
				continue
			}
			commands = append(commands, command)
		}
		if name == "README.md" && testing.Short() {
			continue // its commands are run when it is written, too
		}
		runCommands(t, strings.TrimSuffix(name, ".md"), commands)
	}
}

// toolsThere reports whether the programs that a command needs beside gapwise are
// there, or must be.
func toolsThere(command string) bool {
	for _, tool := range []string{"python3", "cbc", "glpsol"} {
		if _, err := exec.LookPath(tool); err != nil && strings.Contains(command, tool) && os.Getenv("GAPWISE_REQUIRE_TOOLS") != "1" {
			return false
		}
	}
	return true
}

// The programs that a page shows are those that its commands run.
func TestProgramsInDocuments(t *testing.T) {
	page, err := os.ReadFile("../../docs/how-to/bring-your-own.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"heft.py", "cbc.sh"} {
		text, err := os.ReadFile(filepath.Join("testdata/documents", name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "\n"+string(text)+"```\n") {
			t.Errorf("docs/how-to/bring-your-own.md shows another %s than is run", name)
		}
	}
}

var inline = regexp.MustCompile("`gapwise ([a-z][^`]*)`")

// placeholder matches words of a command line that stand for others.
var placeholder = regexp.MustCompile(`^\.\.\.$|[A-Z]{3,}|^\[`)

// parses returns an error if no such command line can be typed.
func parses(line string) error {
	p := &program{out: io.Discard, err: io.Discard}
	app := p.app()
	quiet := func(context.Context, *cli.Command) error { return nil }
	if err := app.Run(context.Background(), []string{"gapwise", "version"}); err != nil { // it adds the command completion
		return err
	}
	for _, c := range app.Commands {
		c.Action = quiet
	}
	args := strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(line))
	if k := slices.IndexFunc(args, placeholder.MatchString); k >= 0 {
		args = args[:k]
		if k > 0 && strings.HasPrefix(args[k-1], "-") {
			args = append(args, "1")
		}
	}
	if len(args) == 0 || args[0] == "completion" { // the library adds it when the program runs
		return nil
	}
	c := app.Command(args[0])
	if c == nil {
		return fmt.Errorf("there is no command %q", args[0])
	}
	if last := args[len(args)-1]; strings.HasPrefix(last, "--") && !strings.Contains(last, "=") {
		for _, f := range c.Flags { // named without its value
			if takes, ok := f.(cli.DocGenerationFlag); ok && takes.TakesValue() && slices.Contains(f.Names(), last[2:]) {
				args = args[:len(args)-1]
				break
			}
		}
	}
	for k, a := range args[1:] {
		if (a == "-a" || a == "--algorithm") && k+2 < len(args) && args[k+2] != "1" {
			if !slices.ContainsFunc(model.Kinds(), func(kind model.Kind) bool {
				return gapwise.Options{Algorithm: args[k+2]}.Check(kind) == nil
			}) && args[k+2] != "all" {
				return fmt.Errorf("there is no algorithm %q", args[k+2])
			}
		}
	}
	err := app.Run(context.Background(), append([]string{"gapwise"}, args...))
	var code codeError
	if errors.As(err, &code) {
		return nil
	}
	return err
}

// runCommands runs command lines in one folder, by the shell. They succeed, or say
// by their exit code that there is no solution or that a limit stopped them.
func runCommands(t *testing.T, name string, commands []string) {
	if len(commands) == 0 {
		return
	}
	var script strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&script, "exits 0,4,5 sh -c '%s'\n", strings.ReplaceAll(c, "'", "''"))
	}
	file := filepath.Join(t.TempDir(), name+".txtar")
	if err := os.WriteFile(file, []byte(script.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files: []string{file},
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			for _, from := range []string{"testdata/documents", "../../docs/examples"} {
				to := filepath.Join(env.WorkDir, strings.TrimPrefix(strings.TrimPrefix(from, "../../"), "testdata/documents"))
				if err := os.CopyFS(to, os.DirFS(from)); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}
