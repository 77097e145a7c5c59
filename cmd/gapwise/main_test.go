// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	vcexact "github.com/gapwise/gapwise/exact/vcsched"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// The scripts run the command itself, and variants of it with a solver that the command must not trust or has to stop.
func TestMain(m *testing.M) {
	with := func(s model.Solver) func() {
		return func() { os.Exit(start(&program{out: os.Stdout, err: os.Stderr, solver: s})) }
	}
	testscript.Main(m, map[string]func(){
		"gapwise":             main,
		"kubectl-gapwise":     main,
		"gapwise-faulty":      with(faulty{}),
		"gapwise-broken":      with(broken{}),
		"gapwise-interrupted": with(interrupted{}),
		"gapwise-stubborn":    with(stubborn{}),
		"gapwise-deaf": func() {
			os.Exit(start(&program{out: os.Stdout, err: os.Stderr, solver: deafSolver{}, patience: 200 * time.Millisecond}))
		},
		"gapwise-panicking": with(panicking{}),
		"gapwise-bench-panicking": func() {
			os.Exit(start(&program{out: os.Stdout, err: panicAt{os.Stderr, " runs, "}}))
		},
		"gapwise-bench-interrupted": func() {
			os.Exit(start(&program{out: os.Stdout, err: &interruptAt{os.Stderr, " runs, "}}))
		},
	})
}

// faulty puts everything on the first host and calls it a solution.
type faulty struct{}

func (faulty) Name() string { return "faulty" }

func (faulty) Solve(_ context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult("faulty", set.Seed)
	v := in.(*model.VCSched)
	return r, r.SetSolution(in, v.NewPlacement(make([]int32, v.Tasks()), 1))
}

// broken fails.
type broken struct{}

func (broken) Name() string { return "broken" }

func (broken) Solve(_ context.Context, _ model.Instance, set model.Settings) (model.Result, error) {
	return model.NewResult("broken", set.Seed), errors.New("broken: out of order")
}

// panicking has a mistake that ends a program.
type panicking struct{}

func (panicking) Name() string { return "panicking" }

func (panicking) Solve(_ context.Context, _ model.Instance, set model.Settings) (model.Result, error) {
	return model.NewResult(strings.Split("", ",")[set.Seed], set.Seed), nil
}

// panicAt panics when a text is written, in whatever goroutine that is.
type panicAt struct {
	io.Writer
	text string
}

func (w panicAt) Write(b []byte) (int, error) {
	if strings.Contains(string(b), w.text) {
		panic("at a line")
	}
	return w.Writer.Write(b)
}

// interrupted is the search, with Ctrl-C pressed at the first placement.
type interrupted struct{}

func (interrupted) Name() string { return "search" }

func (interrupted) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	set.Progress = func(p model.Progress) {
		if p.Incumbent > 0 && ctx.Err() == nil {
			interrupt()
			<-ctx.Done()
		}
	}
	return vcexact.Search.Solve(ctx, in, set)
}

// stubborn doesn't stop at the first Ctrl-C, and is sent more of them.
type stubborn struct{}

func (stubborn) Name() string { return "stubborn" }

func (stubborn) Solve(ctx context.Context, _ model.Instance, set model.Settings) (model.Result, error) {
	for range 1000 {
		interrupt()
		time.Sleep(10 * time.Millisecond)
	}
	return model.NewResult("stubborn", set.Seed), nil
}

// deafSolver doesn't stop at all.
type deafSolver struct{}

func (deafSolver) Name() string { return "deaf" }

func (deafSolver) Solve(context.Context, model.Instance, model.Settings) (model.Result, error) {
	interrupt()
	select {}
}

// interruptAt presses Ctrl-C when a text is written.
type interruptAt struct {
	io.Writer
	text string
}

func (w *interruptAt) Write(b []byte) (int, error) {
	if strings.Contains(string(b), w.text) {
		interrupt()
		time.Sleep(100 * time.Millisecond) // the runs take far longer
	}
	return w.Writer.Write(b)
}

func interrupt() {
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		panic(err)
	}
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/script",
		Setup: surroundings,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  exits,
			"mask":   mask,
			"within": within,
			"oneline": func(ts *testscript.TestScript, _ bool, args []string) {
				if text := ts.ReadFile(args[0]); strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "gapwise: ") {
					ts.Fatalf("%s must be one line that begins with \"gapwise: \", is %q", args[0], text)
				}
			},
		},
		Condition: func(name string) (bool, error) {
			return name == "root" && os.Geteuid() == 0 || name == "devices" && devices(t.TempDir()) || name == "highs" && highs.Available(), nil
		},
	})
}

// surroundings is the environment of every script: no home, but the user's cache, in which HiGHS lies.
func surroundings(env *testscript.Env) error {
	env.Setenv("GORACE", "atexit_sleep_ms=0") // a second for each command otherwise
	cache, err := os.UserCacheDir()
	if err == nil {
		env.Setenv("XDG_CACHE_HOME", cache)
	}
	return err
}

// devices reports whether device files can be made and used in a folder.
func devices(folder string) bool {
	null := filepath.Join(folder, "null")
	if err := syscall.Mknod(null, syscall.S_IFCHR|0o666, 1<<8|3); err != nil {
		return false
	}
	f, err := os.OpenFile(null, os.O_WRONLY, 0)
	if err == nil {
		f.Close()
	}
	return err == nil
}

// exits CODE[,CODE...] COMMAND...: runs the command and wants one of the codes.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if !slices.Contains(strings.Split(args[0], ","), strconv.Itoa(code)) {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

var (
	elapsed = regexp.MustCompile(`"(elapsed|cpu)_s":[-+.e0-9]+`)
	track   = regexp.MustCompile(`"trajectory":\[.*?\]\],`)
	seal    = regexp.MustCompile(`"seal":"[0-9a-f]+"`) // it covers the time
)

// mask FILE...: elapsed times become 0, seals empty, trajectories absent.
func mask(ts *testscript.TestScript, _ bool, args []string) {
	for _, f := range args {
		text := elapsed.ReplaceAllString(ts.ReadFile(f), `"elapsed_s":0`)
		text = track.ReplaceAllString(text, "")
		text = seal.ReplaceAllString(text, `"seal":""`)
		ts.Check(os.WriteFile(ts.MkAbs(f), []byte(text), 0o644))
	}
}

// within COLUMNS FILE: no line is longer, none ends in a space.
func within(ts *testscript.TestScript, _ bool, args []string) {
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		if line = strings.TrimSuffix(line, "\n"); len([]rune(line)) > most {
			ts.Fatalf("%s: %d columns: %q", args[1], len([]rune(line)), line)
		}
	}
}

func TestWorst(t *testing.T) {
	// From the mildest to the worst.
	order := []int{exitOK, exitStopped, exitInfeasible, exitUnsolved, exitBadInput, exitUsage, exitInternal, exitDefect}
	for i, a := range order {
		for j, b := range order {
			require.Same(t, fmt.Sprintf("worst(%d, %d)", a, b), order[max(i, j)], worst(a, b))
		}
	}
}

// News that come too soon after a line are shown a little later, even if the solver reports nothing more.
func TestSolverLogHolds(t *testing.T) {
	var b strings.Builder
	log := &solverLog{w: &b}
	log.progress(model.Progress{Incumbent: math.NaN(), Bound: 1, Elapsed: time.Millisecond})
	log.progress(model.Progress{Incumbent: 0.9, Bound: 1, Elapsed: 2 * time.Millisecond})
	log.tick(time.Second)
	log.tick(2 * time.Second)
	want := "         Nodes       BestBound        BestSol       Gap      Time\n" +
		"             0               1              -         -      0.0s\n" +
		"             0               1            0.9  11.1111%      0.0s\n"
	if b.String() != want {
		t.Errorf("log is\n%swant\n%s", b.String(), want)
	}
}

// Costs in whole ten-thousandths are shown as the money that they are.
func TestSolverLogOfCosts(t *testing.T) {
	var b strings.Builder
	log := &solverLog{w: &b, nodes: "Explored", per: 10_000}
	log.progress(model.Progress{Incumbent: 14_000, Bound: 8_000, Nodes: 3, Elapsed: time.Second})
	want := "      Explored       BestBound        BestSol       Gap      Time\n" +
		"             3             0.8            1.4  42.8571%      1.0s\n"
	if b.String() != want {
		t.Errorf("log is\n%swant\n%s", b.String(), want)
	}
}

func TestSolverLog(t *testing.T) {
	var b strings.Builder
	log := &solverLog{w: &b}
	log.progress(model.Progress{Incumbent: 0.8, Bound: 1, Nodes: 1, Elapsed: time.Second})
	log.progress(model.Progress{Incumbent: 0.8, Bound: 1, Nodes: 2, Elapsed: 2 * time.Second})            // no news
	log.progress(model.Progress{Incumbent: 0.9, Bound: 0.9, Nodes: 12, Elapsed: 2500 * time.Millisecond}) // news
	log.progress(model.Progress{Incumbent: 0.9, Bound: 0.9, Nodes: 99, Elapsed: 10 * time.Second})        // a sign of life
	want := "         Nodes       BestBound        BestSol       Gap      Time\n" +
		"             1               1            0.8  25.0000%      1.0s\n" +
		"            12             0.9            0.9   0.0000%      2.5s\n" +
		"            99             0.9            0.9   0.0000%     10.0s\n"
	if b.String() != want {
		t.Errorf("log is\n%swant\n%s", b.String(), want)
	}
}
