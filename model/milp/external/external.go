// SPDX-License-Identifier: MIT

// Package external solves models by programs that read MPS files: GLPK, CBC, SCIP,
// Gurobi, and any other by a command line. It knows nothing but models, and needs
// no HiGHS.
//
// Each program's special parts are in its own file: its arguments, a table of its output (format), and which of its
// tolerances can be set.
package external

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gapwise/gapwise/internal/run/process"
	"github.com/gapwise/gapwise/model/milp"
)

// ErrMissing marks a solver without its program.
var ErrMissing = errors.New("the program isn't there")

// Prefix begins the name of a solver that is a command line: "mps:COMMAND".
const Prefix = "mps:"

// program is a solver.
type program struct {
	name, title string
	binary      string // on PATH
	install     string // how to get it
	// version are arguments to ask for the version, which found finds in the answer.
	version []string
	found   *regexp.Regexp
	// tolerance is the default tolerance of its integrality and rows; fixed means that it can't be set.
	tolerance float64
	fixed     bool
	// interrupt means that INT makes it write its solution.
	interrupt bool
	// whole means that its time limit is in whole seconds.
	whole bool
	// args returns the command line; file names are relative to folder, where it
	// runs.
	args func(c *call) []string
	// here means that it runs where gapwise does, with absolute file names.
	here bool
	// parse reads the program's output: its solution file, "" if there is none, and the end of its standard output.
	parse func(c *call, solution, log string) (outcome, error)
}

// call is one run of a program.
type call struct {
	folder, in, out string
	limit           float64 // seconds, 0: none
	milp.Options
	columns map[string]int // index of each column of the file, by name
}

// outcome is the program's report on the model in the file, which minimises.
type outcome struct {
	status milp.Status
	x      []float64 // by column of the file; nil: no point
	// bound is no larger than the program's proved bound, with all rounding of the output taken off; NaN without.
	bound float64
	nodes int64
}

// programs lists the solvers that have a name.
var programs = []*program{cbc, glpsol, gurobi, scip}

// Names lists the solvers that have a name.
func Names() []string {
	var all []string
	for _, p := range programs {
		all = append(all, p.name)
	}
	return all
}

// Known reports whether a name is one of Names or begins with Prefix.
func Known(name string) bool {
	return strings.HasPrefix(name, Prefix) || slices.Contains(Names(), name)
}

// find returns the program of a known name.
func find(name string) (*program, error) {
	if command, ok := strings.CutPrefix(name, Prefix); ok {
		return ofCommand(command)
	}
	for _, p := range programs {
		if p.name == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("there is no solver %q, give one of %s or %sCOMMAND", name, strings.Join(Names(), ", "), Prefix)
}

// Backend returns the solver of a name. The error wraps ErrMissing if its program
// isn't on PATH.
func Backend(name string) (milp.Backend, error) {
	p, err := find(name)
	if err != nil {
		return milp.Backend{}, err
	}
	if _, err := exec.LookPath(p.binary); err != nil {
		return milp.Backend{}, fmt.Errorf("%w: %s needs %s on PATH%s", ErrMissing, p.name, p.binary, p.install)
	}
	return milp.Backend{Name: p.name, Title: p.title, Solve: p.solve}, nil
}

// versions caches Version by name.
var versions sync.Map

// Version returns the name and version of a solver, as "GLPK 5.0"; "" if it has none.
func Version(name string) string {
	p, err := find(name)
	if err != nil || p.found == nil {
		return ""
	}
	once, _ := versions.LoadOrStore(name, sync.OnceValue(func() string {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		out := &process.Tail{Size: 1 << 16}
		_, err := process.Run(ctx, process.Options{Args: append([]string{p.binary}, p.version...), Stdout: out, Stdin: strings.NewReader("")})
		if m := p.found.FindStringSubmatch(out.String()); err == nil && m != nil {
			return p.title + " " + m[1]
		}
		return p.title + " of an unknown version"
	}))
	return once.(func() string)()
}

// logSize bounds the kept part of a program's standard output, in bytes.
const logSize = 1 << 18

// solve implements milp.Backend.
func (p *program) solve(ctx context.Context, m *milp.Model, o milp.Options) (milp.Result, error) {
	tolerance := p.tolerance
	if !p.fixed && o.Tolerance > 0 {
		tolerance = o.Tolerance
	}
	r := milp.NoResult(tolerance)
	if err := m.Validate(); err != nil {
		return r, err
	}
	if o.TimeLimit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.TimeLimit)
		defer cancel()
	}
	if ctx.Err() != nil {
		r.Status = stopped(ctx)
		return r, nil
	}
	if len(m.Vars) == 0 {
		return withoutVariables(m, r), nil
	}
	began := time.Now()
	if o.Relax {
		m = relaxed(m)
	}
	folder, err := os.MkdirTemp("", "gapwise-"+p.binaryName())
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(folder)
	c := &call{folder: folder, in: "m.mps", out: "m.sol", Options: o, columns: m.Columns()}
	if p.here {
		c.in, c.out = filepath.Join(folder, c.in), filepath.Join(folder, c.out)
	}
	if err := writeMPS(m, filepath.Join(folder, "m.mps")); err != nil {
		return r, err
	}
	wait, grace := process.Late(0)
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		wait, grace = process.Late(left)
		if c.limit = max(0.01, left.Seconds()); p.whole { // late by 0.4 s at most, if it is above 1 s
			whole := max(1, math.Ceil(c.limit-0.4))
			wait += max(0, time.Duration((whole-c.limit)*float64(time.Second)))
			c.limit = whole
		}
	}
	run := process.Options{Args: p.args(c), Stdin: strings.NewReader(""), Interrupt: p.interrupt, Patience: wait, Grace: grace}
	if !p.here {
		run.Dir = folder
	}
	log := &process.Tail{Size: logSize}
	if o.Log != nil {
		log.Next = lineWriter(o.Log)
	}
	run.Stdout = log
	ended, err := process.Run(ctx, run)
	r.Elapsed, r.CPU = time.Since(began), ended.CPU
	if err != nil {
		return r, fmt.Errorf("%s: %w", p.name, err)
	}
	solution, err := os.ReadFile(filepath.Join(folder, "m.sol"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	got, err := p.parse(c, string(solution), log.String())
	switch {
	case ended.Stopped && (err != nil || got.status == milp.Unknown):
		got = outcome{bound: math.NaN(), status: stopped(ctx)} // it left nothing, or half of it
	case err != nil:
		said := process.LastLines(ended.Stderr, 2, 300)
		if said == "" {
			said = process.LastLines(log.String(), 2, 300)
		}
		return r, fmt.Errorf("%s: %w (exit code %d; it said: %s)", p.name, err, ended.Code, cmp.Or(said, "nothing"))
	case ended.Stopped:
		got.status = sooner(got.status, stopped(ctx))
	}
	p.decode(m, got, &r)
	return r, nil
}

// stopped returns why a context has ended.
func stopped(ctx context.Context) milp.Status {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return milp.TimeLimit
	}
	return milp.Interrupted
}

// sooner returns the status of a program that was asked to end: its proofs remain, but not another reason for which it
// stopped.
func sooner(said, asked milp.Status) milp.Status {
	switch said {
	case milp.Optimal, milp.Infeasible, milp.Unbounded, milp.InfeasibleOrUnbounded:
		return said
	}
	return asked
}

// decode turns an outcome into a result in the model's own sense. Integers are
// rounded, and the objective is computed from the point.
func (p *program) decode(m *milp.Model, got outcome, r *milp.Result) {
	r.Status, r.Nodes = got.status, got.nodes
	if got.x != nil {
		r.X = got.x[:len(m.Vars)]
		for j := range m.Vars {
			if x := math.Round(r.X[j]); m.Vars[j].Integer && math.Abs(x-r.X[j]) <= max(r.Tolerance, 1e-6) {
				r.X[j] = x + 0 // no minus zero
			}
		}
		r.Feasible, r.Objective = true, m.Objective(r.X)
	}
	if r.Status == milp.Infeasible {
		return
	}
	r.Bound = got.bound
	if m.Maximise {
		r.Bound = -r.Bound
	}
	if r.Status == milp.Optimal && r.Feasible && math.IsNaN(r.Bound) {
		r.Bound = r.Objective // the meaning of "optimal"
	}
	if math.IsInf(r.Bound, 0) || math.Abs(r.Bound) >= 1e20 {
		r.Bound = math.NaN()
	}
	if r.Feasible {
		r.Gap = math.Abs(r.Objective-r.Bound) / math.Abs(r.Objective)
	}
}

// withoutVariables solves a model with only constant rows, which programs treat differently.
func withoutVariables(m *milp.Model, r milp.Result) milp.Result {
	r.Status = milp.Optimal
	for i := range m.Rows {
		if m.Rows[i].Lower > 0 || m.Rows[i].Upper < 0 {
			r.Status = milp.Infeasible
			return r
		}
	}
	r.X, r.Feasible, r.Objective, r.Bound, r.Gap = []float64{}, true, m.Offset, m.Offset, 0
	return r
}

// relaxed returns a copy of the model without integrality.
func relaxed(m *milp.Model) *milp.Model {
	loose := *m
	loose.Vars = slices.Clone(m.Vars)
	for j := range loose.Vars {
		loose.Vars[j].Integer = false
	}
	return &loose
}

func writeMPS(m *milp.Model, file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(m.WriteMPS(f), f.Close())
}

// binaryName returns the program's file name, for the name of a folder.
func (p *program) binaryName() string { return filepath.Base(p.binary) }

// lineWriter calls a function with each line that is written.
type lineWriter func(line string)

func (w lineWriter) Write(p []byte) (int, error) {
	for _, line := range strings.Split(strings.TrimRight(string(p), "\n"), "\n") {
		w(line)
	}
	return len(p), nil
}
