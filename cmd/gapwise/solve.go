// SPDX-License-Identifier: MIT

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/ask"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/core/params"
	"github.com/gapwise/gapwise/internal/run/limits"
	"github.com/gapwise/gapwise/model"
)

func (p *program) solve() *cli.Command {
	return &cli.Command{
		ArgsUsage: "FILE...",

		DisableSliceFlagSeparator: true, // a command may hold commas
		Description: "auto lets heuristics and engines take turns, for at most 10 s. exact runs\n" +
			"the search, HiGHS or the learning kernel (--engine) without a limit, or\n" +
			"several, which must agree: --engine search,kernel. all runs every algorithm.\n\n" +
			"-a 'cmd:python3 mine.py {in} {out}' runs a heuristic of your own. The\n" +
			"engines glpsol, cbc, scip, gurobi_cl and mps:COMMAND are programs that read\n" +
			"MPS files (docs/how-to/bring-your-own.md). -a 'online:python3 mine.py' runs\n" +
			"an online policy for batch, reservation or tvc; -a\n" +
			"batsim:tcp://127.0.0.1:28000 runs one that was written for Batsim\n" +
			"(docs/how-to/bring-your-own-policy.md).\n\n" +
			"--least-hosts is vector bin packing: it finds the least number of hosts,\n" +
			"whatever number the instance has. \"optimal\" then means that the proved bound\n" +
			"is met. -o writes the placement as a result of the instance with that many\n" +
			"hosts: gapwise verify items.vbp --platform hosts=N result.json.\n\n" +
			"A run that finds a solution within its limits ends with exit code 0, proved\n" +
			"or not. It ends with 5 if --require-proof or --proof asks for a proof, or\n" +
			"after Ctrl-C. With several files the exit code is the first of these that\n" +
			"applies: verification failed (7), internal error (1), bad input (3), stopped\n" +
			"without a solution (6), infeasible (4), no proof though one is asked for\n" +
			"(5), ok (0).",
		Flags: append([]cli.Flag{
			&cli.StringSliceFlag{Name: "algorithm", Aliases: []string{"a"}, Usage: "auto, exact, all, a `LIST` of names, LABEL=cmd:COMMAND or, for policies, LABEL=online:COMMAND, perhaps without LABEL=; may be repeated", DefaultText: "auto"},
			&cli.StringFlag{Name: "engine", Usage: "engines of exact: search, highs, kernel, glpsol, cbc, scip, gurobi_cl, lanl or mps:COMMAND; several are separated by commas; both: the default and highs"},
			&cli.StringFlag{Name: "formulation", Usage: "formulation of highs and of solvers of MPS files (gapwise export --help)"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of the random generator"},
			&cli.IntFlag{Name: "threads", Value: 1, Usage: "number of worker threads"},
			&cli.DurationFlag{Name: "time-limit", Usage: "time limit, like 5m", DefaultText: "none; auto, and --least-hosts without --effort: 10s"},
			&cli.Int64Flag{Name: "effort", Usage: "limit of the counted work, in about microseconds of a core: the same result on every machine", DefaultText: "none"},
			&cli.Float64Flag{Name: "gap", Value: model.DefaultGap, Usage: "gap that counts as optimal"},
			&cli.BoolFlag{Name: "least-hosts", Usage: "find the least number of equal hosts for vcsched instances and VBP files, on which each job gets all its CPU"},
			&cli.StringFlag{Name: "start", Usage: "start from the solution in `FILE`"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` for the results with their solutions"},
			&cli.StringFlag{Name: "proof", Usage: "`FILE` for a proof of the bound (gapwise check), which is then required; .gz: gzip"},
			requireProofFlag(),
			&cli.BoolFlag{Name: "json", Usage: "print one result object per line"},
			&cli.BoolFlag{Name: "verbose", Usage: "print the solver's progress, as on a terminal"},
			&cli.BoolFlag{Name: "progress", Usage: "report progress on standard error as JSON lines, at most ten a second"},
			&cli.StringFlag{Name: "trace", Usage: "`FILE` for each step of heft, easy, mcb8 or adaba; - is standard error, .jsonl gives JSON lines"},
			&cli.DurationFlag{Name: "answer-limit", Usage: "time limit of each answer of a policy in another program", DefaultText: "1m"},
			&cli.StringFlag{Name: "csv", Usage: "`FILE` for a table of the decisions: a row a job, a task or a request"},
			&cli.StringFlag{Name: "batsim", Usage: "batch: `PREFIX` of Batsim's tables, PREFIX_jobs.csv and PREFIX_schedule.csv"},
		}, append(readingFlags(), algorithmFlags()...)...),
		Action: func(ctx context.Context, c *cli.Command) error {
			paths, err := files(c, 0)
			if err != nil {
				return err
			}
			o, err := p.solveOptions(c)
			if err != nil {
				return err
			}
			if c.Bool("least-hosts") {
				return p.leastHosts(ctx, c, paths, o)
			}
			if err := known(c, o, paths[0]); err != nil {
				return err
			}
			return p.solveAll(ctx, c, paths, o)
		},
	}
}

// known reports options that fit no problem before anything is read, in the words of the first file's problem if
// possible.
func known(c *cli.Command, o gapwise.Options, path string) error {
next:
	for _, one := range each(c, o) {
		var err error
		if one.Algorithm == "all" {
			continue
		}
		for _, kind := range model.Kinds() {
			if err = one.Check(kind); err == nil {
				continue next
			}
		}
		if in, e := read(c, path); e == nil {
			return one.Check(in.Kind())
		}
		return err
	}
	return nil
}

// several reports whether more than one algorithm is asked for.
func several(c *cli.Command) bool {
	names := algorithmNames(c)
	return len(names) > 1 || slices.Contains(names, "all")
}

// algorithmNames returns the algorithms of all flags --algorithm, each a list.
func algorithmNames(c *cli.Command) []string {
	return benchmarks.SplitAlgorithms(c.StringSlice("algorithm"))
}

// each returns the options for each requested algorithm, "all" included: one set if one algorithm or none is requested.
func each(c *cli.Command, o gapwise.Options) []gapwise.Options {
	names := algorithmNames(c)
	if len(names) == 0 {
		names = []string{"auto"}
	}
	all := make([]gapwise.Options, len(names))
	for k, name := range names {
		all[k] = o
		all[k].Algorithm = name
	}
	return all
}

// algorithmFlags makes a flag of each setting that the algorithms of one
// problem alone know.
func algorithmFlags() []cli.Flag {
	var all []cli.Flag
	for _, p := range gapwise.Problems() {
		if p.Parameters != nil {
			for _, x := range params.Of(p.Parameters()) {
				numberFlags.Store(x.Flag(), !x.Text)
				all = append(all, &cli.StringFlag{Name: x.Flag(), Usage: x.Usage, Category: string(p.Kind), DefaultText: x.Shown})
			}
		}
	}
	return all
}

// parametersOf returns the settings of algorithmFlags for a problem, nil
// without any.
func parametersOf(c *cli.Command, p *gapwise.Problem) (model.Parameters, error) {
	values := map[string]string{}
	if p.Parameters != nil {
		for _, x := range params.Of(p.Parameters()) {
			if c.IsSet(x.Flag()) {
				values[x.Key] = c.String(x.Flag())
				if err := x.Set(p.Parameters(), values[x.Key]); err != nil {
					return nil, usagef("%s: --%s %w", c.Name, x.Flag(), err)
				}
			}
		}
	}
	set, err := p.ParseParameters(values)
	if err != nil {
		return nil, usagef("%s: --%w", c.Name, err)
	}
	return set, nil
}

// checkSettings reports settings out of their ranges.
func checkSettings(c *cli.Command, s model.Settings) error {
	flag := func(setting string) string { return strings.ReplaceAll(setting, "_", "-") }
	if setting, why := limits.Wrong(s, func(setting string) bool { return c.IsSet(flag(setting)) }); setting != "" {
		return usagef("%s: --%s %s", c.Name, flag(setting), why)
	}
	return nil
}

func (p *program) solveOptions(c *cli.Command) (gapwise.Options, error) {
	o := gapwise.Options{Engine: c.String("engine"), Formulation: c.String("formulation"), Solver: p.solver,
		Settings: model.Settings{Seed: c.Uint64("seed"), Threads: c.Int("threads"), TimeLimit: c.Duration("time-limit"), Effort: c.Int64("effort"), Gap: c.Float64("gap"), AnswerLimit: c.Duration("answer-limit")}}
	names := algorithmNames(c)
	for k, name := range names {
		if slices.Contains(names[:k], name) {
			return o, usagef("solve: the algorithm %s is named twice", name)
		}
	}
	if err := checkSettings(c, o.Settings); err != nil {
		return o, err
	}
	for _, problem := range gapwise.Problems() {
		if _, err := parametersOf(c, problem); err != nil {
			return o, err
		}
	}
	return o, nil
}

func (p *program) solveAll(ctx context.Context, c *cli.Command, paths []string, o gapwise.Options) error {
	// Everything is read and the output looked at before anything is
	// solved: a slip costs no time.
	steps, err := p.checkSolve(c, paths, &o)
	if err != nil {
		return err
	}
	all, err := p.toSolve(ctx, c, paths, o)
	if err != nil {
		return err
	}
	// Standard output takes one thing: the results as JSON, by --json or by -o -, the table by --csv -, or else the
	// text for people.
	quiet, human := c.Bool("json"), p.out
	if isStdout(c.String("output")) || isStdout(c.String("csv")) {
		human = p.err
	}
	if quiet {
		human = nil
	} else {
		fmt.Fprintf(human, "gapwise %s, seed %d\n", gapwise.Version, o.Seed)
	}
	code := exitOK
	var results []model.Result
	for _, x := range all {
		mine, refused, err := p.solveOne(ctx, c, x, o, human)
		if err != nil {
			return err
		}
		if refused {
			code = worst(code, exitDefect)
		}
		if len(mine) == 0 {
			continue // each was refused
		}
		code = worst(code, codeOfAll(mine, ctx.Err() != nil, requiresProof(c)))
		results = append(results, mine...)
		if quiet {
			p.account(x.in)
			err = writeLines(p.out, mine...)
		} else {
			err = summary(ctx, human, x.in, mine)
		}
		if err != nil {
			return err
		}
	}
	if err := steps.close(p); err != nil {
		return err
	}
	if f := c.String("output"); f != "" && !(quiet && isStdout(f)) {
		if err := p.writeFile(f, func(w io.Writer) error { return writeLines(w, results...) }); err != nil {
			return err
		}
	}
	if f := c.String("csv"); f != "" {
		if results[0].Solution == nil {
			fmt.Fprintf(p.err, "%s isn't written: there is no solution\n", f)
		} else if err := p.writeTable(f, runs.DecisionTable, all[0].in, results[0].Solution); err != nil {
			return err
		}
	}
	if err := p.writeBatsim(c.String("batsim"), all[0].in, results); err != nil {
		return err
	}
	if code != exitOK {
		return codeError(code)
	}
	return nil
}

// checkSolve reports flags that don't go together, and completes the options by their outputs.
func (p *program) checkSolve(c *cli.Command, paths []string, o *gapwise.Options) (*traceFile, error) {
	if err := checkOutput(c.String("output"), paths); err != nil {
		return nil, err
	}
	if err := checkCSV(c, paths); err != nil {
		return nil, err
	}
	if f := c.String("proof"); f != "" {
		switch {
		case len(paths) > 1 || isStdout(f):
			return nil, usagef("solve: --proof takes one file to solve, and a file to write")
		case several(c):
			return nil, usagef("solve: --proof takes one algorithm: only the engine kernel writes proofs")
		}
		if err := checkOutput(f, paths); err != nil {
			return nil, err
		}
		o.Proof = &model.ProofWriter{} // for the options' check; solveOne opens it
	}
	if c.Bool("progress") && (c.Bool("verbose") || c.String("trace") == "-") {
		return nil, usagef("solve: --progress, --verbose and --trace - all write to standard error: give one of them")
	}
	steps := p.newTrace(c)
	if steps == nil {
		return nil, nil
	}
	if several(c) {
		return nil, usagef("solve: --trace takes one algorithm")
	}
	if steps.path != "-" {
		if err := checkOutput(steps.path, paths); err != nil {
			return nil, err
		}
	}
	o.Trace = steps.step
	return steps, nil
}

// toSolve is an instance with its file.
type toSolve struct {
	in    model.Instance
	path  string
	start model.Solution // nil: none
}

// toSolve reads the instances and checks that the options go with each.
func (p *program) toSolve(ctx context.Context, c *cli.Command, paths []string, o gapwise.Options) (all []toSolve, err error) {
	for _, path := range paths {
		x := toSolve{path: path}
		if err := unlessStopped(ctx, func() (err error) { x.in, err = read(c, path); return err }); err != nil {
			return nil, err
		}
		for _, one := range each(c, o) {
			if one.Algorithm == "all" {
				continue
			}
			if err := one.Check(x.in.Kind()); err != nil {
				return nil, fmt.Errorf("%s: %w", instances.Label(path), err)
			}
		}
		if f := c.String("start"); f != "" {
			if x.start, err = readStart(ctx, x.in, f); err != nil {
				return nil, err
			}
		}
		if _, ok := x.in.(*model.Batch); !ok && c.String("batsim") != "" {
			return nil, fmt.Errorf("%s: %w: Batsim's tables are of batch, leave --batsim out", instances.Label(path), model.ErrUnsupported)
		}
		all = append(all, x)
	}
	return all, nil
}

// readStart reads the best solution of a file, which may leave out parts that follow from the rest, or place only some
// of the instance.
func readStart(ctx context.Context, in model.Instance, path string) (model.Solution, error) {
	data, err := instances.ReadFile(path)
	if err != nil {
		return nil, err
	}
	found, err := solutionsIn(ctx, in, path, data)
	if err != nil {
		if keys := keysOf(data); keys != nil && !keys["status"] { // a result is read as one, or not at all
			if s, unread := ask.StartOf(ctx, in, data); unread == nil {
				return s, nil
			}
		}
		return nil, err
	}
	one, err := pick(path, found, "", "")
	return one.solution, err
}

// solveOne solves an instance by all requested algorithms, and reports to people unless human is nil. It reports
// whether a solution was refused.
func (p *program) solveOne(ctx context.Context, c *cli.Command, x toSolve, o gapwise.Options, human io.Writer) (mine []model.Result, refused bool, err error) {
	named := func(err error) error { return fmt.Errorf("%s: %w", instances.Label(x.path), err) }
	problem, err := gapwise.ProblemOf(x.in.Kind())
	if err != nil {
		return nil, false, err
	}
	if o.Parameters, err = parametersOf(c, problem); err != nil {
		return nil, false, err
	}
	if x.start != nil {
		start, changes, err := gapwise.CompleteStart(ctx, x.in, x.start)
		if err != nil {
			return nil, false, named(err)
		}
		if o.Start = start; changes != (model.Completion{}) {
			fmt.Fprintf(p.err, "start: %v\n", changes)
		}
	}
	names := algorithmNames(c)
	options := slices.DeleteFunc(each(c, o), func(one gapwise.Options) bool { return one.Algorithm == "all" })
	everything := slices.Contains(names, "all")
	if everything {
		for _, a := range slices.Backward(gapwise.Algorithms(x.in.Kind())) {
			if one := o; !slices.Contains(names, a.Name) {
				one.Algorithm = a.Name
				options = slices.Insert(options, 0, one)
			}
		}
	}
	one := gapwise.NewCase(x.in)
	for _, way := range options {
		proof, err := createProof(c.String("proof"))
		if err != nil {
			return nil, refused, err
		}
		quieten := func() {}
		switch {
		case c.Bool("progress"):
			watched := ask.Watch(x.in)
			way.Progress = watched.Hear
			quieten = watched.Tell(100*time.Millisecond, func(now ask.Progress) {
				_ = writeLines(p.err, map[string]ask.Progress{"progress": now}) // a lost line is no error
			})
		case c.Bool("verbose") || human != nil && isTerminal(p.progress()):
			log := &solverLog{w: p.err}
			way.Progress, quieten = log.progress, log.beat(time.Now())
			way.Judging = func() { fmt.Fprintln(p.err, "verifying ...") }
		}
		if proof != nil {
			way.Proof = &model.ProofWriter{Writer: proof}
		}
		way.Patience = p.patience
		result, declined, err := one.Try(ctx, way)
		quieten()
		unfinished := proof.close(errors.Join(err, declined))
		proof.name(result.Evidence)
		if unfinished == nil && proof != nil && human != nil {
			fmt.Fprintf(human, "proof in %s, %d bytes: gapwise check replays it\n", proof.Name(), proof.size())
		}
		var wrong *gapwise.RefusedError
		switch {
		case everything && !slices.Contains(names, way.Algorithm) && errors.Is(declined, model.ErrUnsupported): // another formulation's instance
		case errors.As(declined, &wrong) && len(options) > 1: // the others have nothing to do with it
			fmt.Fprintf(p.err, "gapwise: %s: %v\n", instances.Label(x.path), declined)
			refused = true
		case unfinished != nil:
			return nil, refused, named(unfinished)
		default:
			mine = append(mine, result)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if len(mine) == 0 {
		return nil, refused, nil
	}
	return mine, refused, gapwise.Join(x.in, mine, o.GapLimit())
}

// codeOfAll returns the exit code of an instance's results: the instance is
// solved if one algorithm solves it.
func codeOfAll(results []model.Result, interrupted, proof bool) int {
	code := -1
	for _, r := range results {
		switch now := codeOf(r, interrupted, proof); {
		case code < 0 || now == exitOK:
			code = now
		case code != exitOK:
			code = worst(code, now)
		}
	}
	return max(code, exitOK)
}

// requireProofFlag makes a solution without a proof a failure.
func requireProofFlag() cli.Flag {
	return &cli.BoolFlag{Name: "require-proof", Usage: "end with exit code 5 unless the result is proved optimal"}
}

// requiresProof reports whether the flags ask for a proof.
func requiresProof(c *cli.Command) bool { return c.Bool("require-proof") || c.String("proof") != "" }

// codeOf returns the exit code of one result. A solution is one, whatever is left open, unless a proof is asked for.
func codeOf(r model.Result, interrupted, proof bool) int {
	switch r.Status {
	case model.StatusOptimal:
		return exitOK
	case model.StatusInfeasible:
		return exitInfeasible
	case model.StatusUnknown:
		return exitUnsolved
	}
	if interrupted || r.Unverified || proof {
		return exitStopped
	}
	return exitOK
}

// writeLines writes values as JSON, one a line.
func writeLines[T any](w io.Writer, all ...T) error {
	b := bufio.NewWriterSize(w, 1<<16) // a short line is written at once
	for _, x := range all {
		if err := model.WriteJSON(b, x); err != nil {
			return err
		}
		_ = b.WriteByte('\n')
		if err := b.Flush(); err != nil {
			return err
		}
	}
	return nil
}
