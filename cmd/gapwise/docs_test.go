// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// Every command has examples, which run one after the other in one folder.
func TestExamples(t *testing.T) {
	for _, name := range commandNames() {
		if len(examples[name]) == 0 {
			t.Errorf("gapwise %s has no example", name)
		}
	}
	var commands []string
	used := map[string]bool{}
	for _, c := range exampleOrder {
		used[c] = true
		for _, e := range examples[c] {
			command := e.command
			if c == "web" { // which this build doesn't have
				command += " || test $? = 3"
			} else if strings.HasPrefix(command, "gapwise serve") && !strings.Contains(command, "--openapi") { // until it is stopped
				command += " & sleep 0.5; kill $! && wait $!"
			}
			commands = append(commands, command)
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
var exampleOrder = []string{"help", "version", "completion", "algorithms", "generate", "solve", "kubernetes", "verify", "check", "bound", "explain", "export",
	"convert", "gantt", "bench", "bench merge", "bench table", "bench compare", "bench plot", "report", "bench findings", "policy", "session", "serve", "web", "audit"}

// The commands after "$ gapwise" in the documents are run, page by page. Their folder has the examples of docs, the
// files of docs/files and the page's own files. Lines that are not surely commands to type are parsed: their
// flags, algorithms and plans exist. A tutorial, or a page of a problem, shows the true output below a command and the
// pictures that its commands draw. go test -update writes both.
func TestDocuments(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("there are no documents")
	}
	for _, page := range append(pages, "../../README.md") {
		name := filepath.Base(page)
		text := require.Value(os.ReadFile(page))(t)
		for _, m := range inline.FindAllStringSubmatch(string(text), -1) {
			if err := parses(m[1]); err != nil {
				t.Errorf("%s: `%s`: %v", name, m[1], err)
			}
		}
		if name == "README.md" && testing.Short() {
			continue // its commands are run when it is written, too
		}
		t.Run(name, func(t *testing.T) { runPage(t, page, string(text)) })
	}
}

// typed is a command line of a page, and the text that the page shows below it: the lines from the one after the
// command to the one before last.
type typed struct {
	line       string
	from, last int
}

// shown returns the text that a page shows below the command.
func (c typed) shown(lines []string) string { return strings.Join(lines[c.from:c.last], "\n") }

var (
	// A page declares a program that a command needs and doesn't name.
	needed = regexp.MustCompile(`<!-- needs ([a-z0-9]+) -->`)
	// A block is a file if its first line is a comment with the name of that file.
	shownFile = regexp.MustCompile("(?m)^```[a-z]+\n((?:#|//) ([a-z0-9-]+\\.(?:py|sh|yaml))\\b(?s:.*?\n))```$")
	// A number in parentheses that begin so is one that a command of the page prints.
	hereNumbers  = regexp.MustCompile(`\(here\s([^)]*)\)`)
	someNumber   = regexp.MustCompile(`\d[\d,.]*\d|\d`)
	shownPicture = regexp.MustCompile(`\]\(\.\./pictures/([^)]+)\)`)
)

// commandsOf returns the command lines of a page: the lines of gapwise, or all of a tutorial.
func commandsOf(lines []string, tutorial bool) []typed {
	var all []typed
	fenced, open := false, false
	for k, line := range lines {
		command, prompt := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			fenced, open = !fenced, false
		case prompt:
			first, _, _ := strings.Cut(command, " ")
			asks := slices.Contains([]string{"curl", "printf", "kill"}, first) // the service
			if open = tutorial || asks || strings.Contains(command, "gapwise ") && !strings.Contains(command, "make "); open {
				all = append(all, typed{command, k + 1, k + 1})
			}
		case fenced && open:
			all[len(all)-1].last = k + 1
		}
	}
	return all
}

// runPage runs the commands of a page; for a tutorial it compares their output and pictures with the page's.
func runPage(t *testing.T, page, text string) {
	room := filepath.Base(filepath.Dir(page))
	tutorial := room == "tutorial"
	shows := slices.Contains([]string{"tutorial", "how-to", "problems"}, room) || filepath.Base(page) == "policies.md"
	lines := strings.Split(text, "\n")
	commands := commandsOf(lines, tutorial)
	if len(commands) == 0 {
		return
	}
	for _, c := range commands { // a later command reads files of an earlier one: the whole page is run, or nothing
		needTools(t, c.line)
	}
	for _, m := range needed.FindAllStringSubmatch(text, -1) {
		needTools(t, m[1])
	}
	files := map[string]string{}
	for _, m := range shownFile.FindAllStringSubmatch(text, -1) {
		files[m[2]] = m[1]
	}
	printed := make([]string, len(commands))
	port := freePort(t)
	check := func(ts *testscript.TestScript, _ bool, args []string) {
		if strings.Contains(text, "serve.pid") { // a page that fails leaves its service at work
			ts.Defer(func() { _ = ts.Exec("sh", "-c", "kill $(cat serve.pid)") })
		}
		said := ""
		for k, c := range commands {
			exits(ts, false, []string{"0,4,5", "sh", "-c", strings.ReplaceAll(c.line, servicePort, port)})
			printed[k] = strings.ReplaceAll(ts.ReadFile("stdout"), port, servicePort)
			said += printed[k] + ts.ReadFile("stderr")
			if shows && !*update {
				if diff := otherThan(c.shown(lines), printed[k]); diff != "" {
					ts.Fatalf("$ %s\nprints something else than is shown (%s): -shown +printed\n%s", c.line, anew, diff)
				}
			}
		}
		words := strings.FieldsFunc(said, func(r rune) bool { return strings.ContainsRune(" \n(:;", r) })
		for _, m := range hereNumbers.FindAllStringSubmatch(text, -1) {
			for _, n := range someNumber.FindAllString(m[1], -1) {
				if !slices.Contains(words, n) {
					ts.Fatalf("%s: no command prints the %s of (%s)", page, n, m[0])
				}
			}
		}
		for _, m := range shownPicture.FindAllStringSubmatch(text, -1) {
			picture, err := os.ReadFile(ts.MkAbs(m[1]))
			if !shows || err != nil {
				continue
			}
			kept := "../../docs/pictures/" + m[1]
			if *update {
				ts.Check(os.WriteFile(kept, picture, 0o644))
			} else if now, err := os.ReadFile(kept); err != nil || string(now) != string(picture) {
				ts.Fatalf("docs/pictures/%s isn't what the page's command draws (%s)", m[1], anew)
			}
		}
	}
	if shows && *update {
		t.Cleanup(func() { // the script has run by then
			for k := len(commands) - 1; k >= 0; k-- {
				if c := commands[k]; otherThan(c.shown(lines), printed[k]) != "" {
					lines = slices.Replace(lines, c.from, c.last, strings.Split(strings.TrimSuffix(printed[k], "\n"), "\n")...)
				}
			}
			if err := os.WriteFile(page, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
				t.Error(err)
			}
		})
	}
	inFolder(t, strings.TrimSuffix(filepath.Base(page), ".md"), "page", map[string]func(*testscript.TestScript, bool, []string){"page": check},
		func(dir string) error {
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					return err
				}
			}
			return nil
		})
}

var update = flag.Bool("update", false, "write anew what tutorials and examples show")

// The parts that differ from run to run, or from release to release.
var (
	someTime  = regexp.MustCompile(`\d[\d.]*(µs|ms|s)\b|\d[\d.]* (us|ms)\b`)
	ofVersion = regexp.MustCompile(`gapwise \d+\.\d+\.\d+`)
)

// otherThan returns how an output differs from the one shown, up to spaces, times
// and the version. Nothing shown is right, too.
func otherThan(shown, printed string) string {
	plain := func(text string) (lines []string) {
		text = ofVersion.ReplaceAllString(someTime.ReplaceAllString(text, "TIME"), "gapwise VERSION")
		for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		return lines
	}
	if shown == "" {
		return ""
	}
	return cmp.Diff(plain(shown), plain(printed))
}

const anew = "go test ./cmd/gapwise -run 'TestDocuments|TestExampleFolders' -update"

// Each folder of examples has a script, run.sh, that prints the text of expected.txt. It runs in a copy of its folder.
func TestExampleFolders(t *testing.T) {
	scripts, err := filepath.Glob("../../examples/*/run.sh")
	if err != nil || len(scripts) == 0 {
		t.Fatal("there are no examples")
	}
	for _, script := range scripts {
		folder := filepath.Dir(script)
		expected := filepath.Join(folder, "expected.txt")
		text := require.Value(os.ReadFile(script))(t)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			needTools(t, string(text))
			check := func(ts *testscript.TestScript, _ bool, _ []string) {
				ts.Check(ts.Exec("sh", "run.sh"))
				kept, err := os.ReadFile(expected)
				diff := otherThan(string(kept), ts.ReadFile("stdout"))
				switch {
				case *update && (err != nil || diff != ""):
					ts.Check(os.WriteFile(expected, []byte(ts.ReadFile("stdout")), 0o644))
				case err != nil || diff != "":
					ts.Fatalf("%s prints something else than expected.txt says (%s): %v -expected +printed\n%s", script, anew, err, diff)
				}
			}
			inFolder(t, filepath.Base(folder), "example", map[string]func(*testscript.TestScript, bool, []string){"example": check},
				func(dir string) error { return os.CopyFS(dir, os.DirFS(folder)) })
		})
	}
}

// The demo runs, and fits a terminal of 80 columns, with and without a log.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	require.HiGHS(t)
	script := require.Value(filepath.Abs("../../scripts/demo"))(t)
	check := func(ts *testscript.TestScript, _ bool, _ []string) {
		for _, data := range []string{"", ts.MkAbs(".")} {
			if data == "" && !require.Night() {
				continue // as .ci/bare runs it
			}
			ts.Setenv("GAPWISE_DATA", data)
			ts.Check(ts.Exec("bash", script, "gapwise"))
			for _, line := range strings.Split(ts.ReadFile("stdout"), "\n") {
				if len([]rune(line)) > 80 {
					t.Errorf("a line of %d columns: %s", len([]rune(line)), line)
				}
			}
		}
	}
	inFolder(t, "demo", "demo", map[string]func(*testscript.TestScript, bool, []string){"demo": check}, func(dir string) error {
		log, err := os.ReadFile("../../docs/files/log.swf")
		if err != nil {
			return err
		}
		if err := os.Mkdir(filepath.Join(dir, "swf"), 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "swf", "log.swf"), log, 0o644)
	})
}

// servicePort is the port of gapwise serve that pages show.
const servicePort = "8380"

// freePort returns a port for gapwise serve in its place, since others may test here, too.
func freePort(t *testing.T) string {
	l := require.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	_, port := require.Pair(net.SplitHostPort(l.Addr().String()))(t)
	return port
}

// needTools skips the test if a program other than gapwise that the commands need isn't there. It fails where the
// environment promises the program.
func needTools(t *testing.T, commands string) {
	t.Helper()
	for _, tool := range [][2]string{{"python3", "python3"}, {"cbc", "coinor-cbc"}, {"glpsol", "glpk-utils"}, {"curl", "curl"}} {
		if strings.Contains(commands, tool[0]) {
			require.Tool(t, tool[0], tool[1])
		}
	}
}

var inline = regexp.MustCompile("`gapwise ([a-z][^`]*)`")

// placeholder matches the placeholders in a command line.
var placeholder = regexp.MustCompile(`^\.\.\.$|[A-Z]{3,}|^\[`)

// parses returns an error if no such command line can be typed.
func parses(line string) error {
	p := &program{out: io.Discard, err: io.Discard}
	app := whole(p)
	quiet := func(context.Context, *cli.Command) error { return nil }
	if err := app.Run(context.Background(), []string{"gapwise", "version"}); err != nil { // it adds the command completion
		return err
	}
	for _, c := range app.Commands {
		c.Action = quiet
		for _, below := range c.Commands {
			below.Action = quiet
		}
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
	if len(args) > 1 && c.Command(args[1]) != nil {
		c = c.Command(args[1])
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
		if (a == "-a" || a == "--algorithm") && k+2 < len(args) && args[k+2] != "1" && !lacksProgram(args[k+2]) {
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

// lacksProgram reports whether an algorithm is an online policy with a program that isn't on PATH: no name is known
// then.
func lacksProgram(algorithm string) bool {
	program, online := strings.CutPrefix(algorithm, "online:")
	_, err := exec.LookPath(program)
	return online && err != nil
}

// runCommands runs command lines in one folder, by the shell. They succeed, or their exit code shows that there is no
// solution or that a limit stopped them.
func runCommands(t *testing.T, name string, commands []string) {
	run := func(ts *testscript.TestScript, _ bool, _ []string) {
		for _, c := range commands {
			exits(ts, false, []string{"0,4,5", "sh", "-c", c})
		}
	}
	inFolder(t, name, "commands", map[string]func(*testscript.TestScript, bool, []string){"commands": run}, func(string) error { return nil })
}

// inFolder runs a script in a folder with the examples of docs and the files of
// docs/files, to which prepare adds.
func inFolder(t *testing.T, name, script string, commands map[string]func(*testscript.TestScript, bool, []string), prepare func(dir string) error) {
	file := filepath.Join(t.TempDir(), name+".txtar")
	require.OK(t, os.WriteFile(file, []byte(script+"\n"), 0o666))
	testscript.Run(t, testscript.Params{
		Files: []string{file},
		Setup: func(env *testscript.Env) error {
			if err := surroundings(env); err != nil {
				return err
			}
			for _, from := range []string{"../../docs/files", "../../docs/examples", "../../examples"} {
				to := filepath.Join(env.WorkDir, strings.TrimPrefix(strings.TrimPrefix(from, "../../"), "docs/files"))
				if err := os.CopyFS(to, os.DirFS(from)); err != nil {
					return err
				}
			}
			return prepare(env.WorkDir)
		},
		Cmds: commands,
	})
}
