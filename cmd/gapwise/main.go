// SPDX-License-Identifier: MIT

// Command gapwise schedules clusters and clouds: it solves, bounds, verifies,
// generates and benchmarks instances. See gapwise help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/urfave/cli/v3"
	"golang.org/x/term"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/run/panics"
	"github.com/gapwise/gapwise/internal/text/visible"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// Exit codes, as promised in the help.
const (
	exitOK         = 0
	exitInternal   = 1
	exitUsage      = 2
	exitBadInput   = 3
	exitInfeasible = 4
	exitStopped    = 5 // with a solution, by Ctrl-C or without the proof that --require-proof asks for
	exitUnsolved   = 6 // without a solution or a proof that there is none
	exitDefect     = 7 // verification failed
)

// worst returns the exit code of several files: the first of the order below
// that one of them has. A proof that there is no solution is less of a failure
// than not knowing, and a solution without a proof the least.
func worst(a, b int) int {
	for _, c := range []int{exitDefect, exitInternal, exitUsage, exitBadInput, exitUnsolved, exitInfeasible, exitStopped} {
		if a == c || b == c {
			return c
		}
	}
	return exitOK
}

// codeError ends the command with an exit code and no further message.
type codeError int

func (c codeError) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// program is the command with its streams and solver, which tests replace.
type program struct {
	out, err io.Writer
	solver   model.Solver // replaces the algorithm, in tests of refuted results
	patience time.Duration
	plugin   bool // of kubectl: its command is kubectl gapwise
	quiet    bool // without progress and hints
}

// progress returns the writer for progress and hints about the next step, which --quiet leaves out; errors, and what a
// reader must know of a result, go to p.err.
func (p *program) progress() io.Writer {
	if p.quiet {
		return io.Discard
	}
	return p.err
}

func main() { os.Exit(start(&program{out: os.Stdout, err: os.Stderr})) }

// start runs the process's command line.
func start(p *program) int {
	// The first Ctrl-C asks for the best so far; after it, the second one kills.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	if p.patience == 0 {
		p.patience = patience
	}
	args := os.Args
	if p.plugin = strings.TrimSuffix(filepath.Base(args[0]), ".exe") == "kubectl-gapwise"; p.plugin {
		args = slices.Concat(args[:1], []string{"kubernetes"}, args[1:])
	}
	return p.untilLeft(ctx, args)
}

// run executes one command line and returns the exit code. A panic that the library doesn't handle is an error of one
// line here; with GAPWISE_DEBUG the stack follows.
func (p *program) run(ctx context.Context, args []string) int {
	screen := *p // its output holds names from files
	out := &checked{Writer: p.out}
	screen.out, screen.err = visible.Writer{Writer: out}, visible.Writer{Writer: p.err}
	p = &screen
	err := panics.Call(func() error {
		if p.completeValue(args) {
			return nil
		}
		if len(args) > 1 && args[1] == "man" {
			return usagef("man: the manual page is a file now, man/gapwise.1 in a release and scripts/release/gapwise.1 in the checkout")
		}
		if p.plugin { // as if the command were the program
			return p.asPlugin(args).Run(ctx, args[1:])
		}
		return p.app(args).Run(ctx, args)
	})
	var code codeError
	if said := errors.As(err, &code); err == nil || said || out.err != nil && errors.Is(err, bare(out.err)) {
		if out.err == nil {
			return int(code)
		}
		fmt.Fprintf(p.err, "gapwise: can't write standard output: %v\n", bare(out.err))
		return worst(int(code), exitInternal)
	}
	n, line := p.failed(err)
	fmt.Fprintf(p.err, "gapwise: %s\n", line)
	var panicked *panics.Panic
	if errors.As(err, &panicked) && os.Getenv("GAPWISE_DEBUG") != "" {
		_, _ = p.err.Write(panicked.Stack)
	}
	return n
}

// checked keeps the first error of writing, which most printing code ignores.
type checked struct {
	io.Writer
	err error
	mu  sync.Mutex
}

func (w *checked) Write(data []byte) (int, error) {
	n, err := w.Writer.Write(data)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// failed returns the exit code of an error and its message, in one line. It keeps the instance of a defect.
func (p *program) failed(err error) (code int, line string) {
	var panicked *panics.Panic
	if errors.As(err, &panicked) {
		err = fmt.Errorf("internal error: %w; please report it with what GAPWISE_DEBUG=1 prints", err)
	}
	line = strings.Join(strings.Fields(err.Error()), " ")
	var usage usageError
	var defect *gapwise.DefectError
	switch {
	case panicked != nil:
		return exitInternal, line
	case errors.As(err, &usage), errors.Is(err, gapwise.ErrUnknownAlgorithm):
		return exitUsage, line
	case errors.As(err, &defect):
		p.saveDefect(defect)
		return exitDefect, line
	case errors.Is(err, model.ErrInfeasible), errors.Is(err, verify.ErrProof):
		return exitDefect, line
	case errors.Is(err, model.ErrInvalid), errors.Is(err, model.ErrUnsupported):
		return exitBadInput, line
	case errors.Is(err, context.Canceled):
		return exitUnsolved, line
	}
	return exitInternal, line
}

var plainFlag = cli.FlagStringer

// wrappedFlag returns a flag's line of the help, its names and its meaning in two columns, broken so that the longest
// names leave 80 columns for both.
func wrappedFlag(f cli.Flag) string {
	names, meaning, _ := strings.Cut(plainFlag(f), "\t")
	names, _, _ = strings.Cut(names, " [ ") // of flags that may be repeated
	if number, _ := numberFlags.Load(f.Names()[0]); number == true {
		names = strings.Replace(names, " string", " number", 1)
	}
	return names + "\t" + strings.ReplaceAll(words.Wrap(meaning, 46, 0), "\n", "\n\t")
}

// app returns the command line, in full for the commands that args name.
func (p *program) app(args []string) *cli.Command {
	cli.VersionPrinter = func(c *cli.Command) { fmt.Fprintln(c.Root().Writer, "gapwise", gapwise.Version) }
	cli.FlagStringer, cli.HelpPrinter = wrappedFlag, printHelp
	return &cli.Command{
		Name:      "gapwise",
		Usage:     "optimal and near-optimal schedules for clusters and clouds",
		UsageText: "gapwise COMMAND [options] [FILE...]    (- reads standard input)",
		Version:   gapwise.Version,
		Description: "gapwise finds a solution for an instance, proves a bound that no solution\n" +
			"can beat, and shows the gap between them. An independent judge verifies\n" +
			"every solution. A first step:\n\n" +
			"   gapwise generate -o web.json && gapwise solve web.json\n" +
			"   gapwise gantt web.json -o web.svg\n\n" +
			"gapwise COMMAND --help shows examples; gapwise algorithms lists the\n" +
			"algorithms. The documents are README.md and docs/ of the checkout.\n\n" +
			"Exit codes: 0 ok, 1 internal error, or a file that can't be written,\n" +
			"2 wrong usage, 3 bad input, 4 proved infeasible, 5 a solution without the\n" +
			"proof that --require-proof asks for, or after Ctrl-C, 6 stopped without a\n" +
			"solution, 7 verification failed.\n\n" +
			"GAPWISE_TIME_LIMIT, GAPWISE_EFFORT, GAPWISE_THREADS and GAPWISE_SEED in the\n" +
			"environment set the defaults of the flags with these names, and of --seeds.\n" +
			"A plan of gapwise bench has its own settings. --quiet before or after a\n" +
			"command leaves out progress and hints; errors are printed.",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "quiet", Usage: "print no progress and no hints, only results and errors", Destination: &p.quiet}},
		Writer: p.out, ErrWriter: p.err,
		HideHelpCommand: true,
		OnUsageError:    onUsageError,

		EnableShellCompletion:           true,
		ConfigureShellCompletionCommand: describeCompletion,
		ExitErrHandler:                  func(context.Context, *cli.Command, error) {},
		Commands:                        p.named(args),
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.NArg() > 0 {
				return unknownCommand(c, c.Args().First())
			}
			return cli.ShowRootCommandHelp(c)
		},
	}
}

// asPlugin returns the command line of kubectl gapwise: gapwise kubernetes by another name.
func (p *program) asPlugin(args []string) *cli.Command {
	app := p.app(args)
	c := app.Command("kubernetes")
	help := command{name: "help", usage: "show help for a command", build: p.help}.made()
	app.Name, app.UsageText = "kubectl gapwise", "kubectl gapwise COMMAND [options] [FILE|FOLDER]..."
	app.Usage, app.Description, app.Commands, app.EnableShellCompletion = c.Usage, c.Description, append(c.Commands, help), false
	return app
}

// isTerminal reports whether w is one.
func isTerminal(w io.Writer) bool {
	f := fileOf(w)
	return f != nil && term.IsTerminal(int(f.Fd()))
}

// fileOf returns the file that w writes to, nil if it is none.
func fileOf(w io.Writer) *os.File {
	w = visible.Raw(w)
	if c, ok := w.(*checked); ok {
		w = c.Writer
	}
	f, _ := w.(*os.File)
	return f
}
