package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

func (p *program) solve() *cli.Command {
	return &cli.Command{
		Name:      "solve",
		Usage:     "solve instances: solution, bound and gap, verified",
		ArgsUsage: "FILE...",
		Description: "auto is the exact search for 10s at most: the best found, and a bound.\n" +
			"exact is the search, HiGHS or both (--engine) without a limit of its own;\n" +
			"all is every algorithm.\n" +
			"With several files the exit code is the worst: 7, 1, 3, 6, 4, 5, then 0.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "algorithm", Aliases: []string{"a"}, Value: "auto", Usage: "exact, all, or a name", DefaultText: "auto"},
			&cli.StringFlag{Name: "engine", Usage: "of exact: search, highs or both"},
			&cli.StringFlag{Name: "formulation", Usage: "of highs, see gapwise export --help"},
			transfersFlag, platformFlag, goalFlag,
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "of all random draws"},
			&cli.IntFlag{Name: "threads", Value: 1, Usage: "number of workers"},
			&cli.DurationFlag{Name: "time-limit", Usage: "like 500ms or 5m", DefaultText: "none, 10s for auto"},
			&cli.Float64Flag{Name: "gap", Value: model.DefaultGap, Usage: "gap that counts as optimal"},
			&cli.IntFlag{Name: "rounds", Usage: "of network-aware", DefaultText: "50"},
			&cli.StringFlag{Name: "start", Usage: "start from the solution in `FILE`"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the results, solutions and all, to `FILE`"},
			&cli.BoolFlag{Name: "json", Usage: "print one result object per line", DisableDefaultText: true},
		},
		Action: func(c *cli.Context) error {
			paths, err := files(c, 0)
			if err != nil {
				return err
			}
			o, err := p.solveOptions(c)
			if err != nil {
				return err
			}
			if err := known(c, o, paths[0]); err != nil {
				return err
			}
			return p.solveAll(c, paths, o)
		},
	}
}

// known reports options that fit no problem before anything is read, in the
// words of the first file's problem if that can be had.
func known(c *cli.Context, o gapwise.Options, path string) error {
	if o.Algorithm == "all" {
		return nil
	}
	var err error
	for _, kind := range model.Kinds() {
		if err = o.Check(kind); err == nil {
			return nil
		}
	}
	if in, e := load(c, path); e == nil {
		return o.Check(in.Kind())
	}
	return err
}

func (p *program) solveOptions(c *cli.Context) (gapwise.Options, error) {
	o := gapwise.Options{Algorithm: c.String("algorithm"), Engine: c.String("engine"), Formulation: c.String("formulation"), Solver: p.solver,
		Settings: model.Settings{Seed: c.Uint64("seed"), Threads: c.Int("threads"), TimeLimit: c.Duration("time-limit"), Gap: c.Float64("gap"), Rounds: c.Int("rounds")}}
	switch {
	case o.Threads < 1:
		return o, usagef("solve: --threads is %d, must be at least 1", o.Threads)
	case o.TimeLimit < 0:
		return o, usagef("solve: --time-limit is %v, must not be negative", o.TimeLimit)
	case c.IsSet("rounds") && o.Rounds < 1:
		return o, usagef("solve: --rounds is %d, must be at least 1", o.Rounds)
	case !(o.Gap > 0 && o.Gap < 1):
		return o, usagef("solve: --gap is %v, must be above 0 and below 1", o.Gap)
	}
	if f := c.String("start"); f != "" {
		data, err := instances.ReadFile(f)
		if err != nil {
			return o, err
		}
		if _, o.Start, err = decodeSolution(f, data); err != nil {
			return o, err
		}
	}
	return o, nil
}

func (p *program) solveAll(c *cli.Context, paths []string, o gapwise.Options) error {
	// Everything is read and the output looked at before anything is
	// solved: a slip costs no time.
	if err := checkOutput(c.String("output"), paths); err != nil {
		return err
	}
	var all []model.Instance
	for _, path := range paths {
		in, err := load(c, path)
		if err != nil {
			return err
		}
		if o.Algorithm != "all" {
			if err := o.Check(in.Kind()); err != nil {
				return fmt.Errorf("%s: %w", instances.Label(path), err)
			}
		}
		all = append(all, in)
	}
	quiet := c.Bool("json")
	if !quiet {
		fmt.Fprintf(p.out, "gapwise %s, seed %d\n", gapwise.Version, o.Seed)
	}
	code := exitOK
	var results []model.Result
	for _, in := range all {
		options := []gapwise.Options{o}
		if o.Algorithm == "all" {
			options = nil
			for _, a := range gapwise.Algorithms(in.Kind()) {
				one := o
				one.Algorithm = a.Name
				options = append(options, one)
			}
		}
		mine := benchmarks.Table{Header: []string{"algorithm", "status", "objective", "bound", "gap", "time"}}
		ofInstance := -1
		for _, one := range options {
			if !quiet && isTerminal(p.err) {
				one.Progress = (&solverLog{w: p.err}).progress
			}
			r, err := gapwise.Solve(c.Context, in, one)
			if o.Algorithm == "all" && errors.Is(err, model.ErrUnsupported) {
				continue // another formulation's instance
			}
			if err != nil {
				return err
			}
			results = append(results, r)
			if quiet {
				line, err := jsonLine(r)
				if err != nil {
					return err
				}
				if _, err := p.out.Write(line); err != nil {
					return err
				}
			}
			mine.Rows = append(mine.Rows, []string{r.Algorithm, string(r.Status), figure(r.Objective), figure(r.Bound), percent(r.Gap), duration(r.Elapsed)})
			switch now := codeOf(r, c.Context.Err() != nil); {
			case ofInstance < 0 || now == exitOK:
				ofInstance = now
			case o.Algorithm != "all" || ofInstance != exitOK:
				ofInstance = worst(ofInstance, now)
			}
			if c.Context.Err() != nil {
				break // Ctrl-C: the other algorithms have nothing to say
			}
		}
		code = worst(code, ofInstance)
		if !quiet {
			name := in.ID()
			if name == "" {
				name = "(no name)"
			}
			first, _ := in.Kind().Objectives()
			fmt.Fprintf(p.out, "\n%s %s, %s the %s%s\n", in.Kind(), name, in.Sense(), first, details(in))
			if err := mine.Render(p.out, "text"); err != nil {
				return err
			}
			p.summary(in, results[len(results)-len(mine.Rows):])
		}
	}
	if f := c.String("output"); f != "" {
		err := p.writeFile(f, func(w io.Writer) error {
			for _, r := range results {
				line, err := jsonLine(r)
				if err == nil {
					_, err = w.Write(line)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if code != exitOK {
		return codeError(code)
	}
	return nil
}

// summary closes an instance's table in words.
func (p *program) summary(in model.Instance, results []model.Result) {
	best, verified, solutions, infeasible := -1, 0, 0, ""
	var conflict []string
	for i, r := range results {
		if r.Status == model.StatusInfeasible {
			infeasible = r.Reason
			if r.Conflict != nil {
				conflict = r.Conflict
			}
		}
		if r.Solution == nil {
			continue
		}
		if !r.Unverified {
			verified++
		}
		solutions++
		if best < 0 || in.Sense().Better(r.Objective, results[best].Objective) {
			best = i
		}
	}
	switch {
	case best >= 0:
		r := results[best]
		first, second := in.Kind().Objectives()
		fmt.Fprintf(p.out, "best: %s %s, %s %s\n", first, figure(r.Objective), second, figure(r.SecondObjective))
		for _, x := range r.Trace {
			if x.Realistic != r.Objective || x.Planned <= 0 {
				continue
			}
			if x.Realistic <= x.Planned*(1+1e-9) {
				fmt.Fprintln(p.out, "contention costs this plan nothing")
			} else {
				fmt.Fprintf(p.out, "without contention the same plan takes %s: transfers that share links make it %.1f%% longer\n",
					figure(x.Planned), 100*(x.Realistic/x.Planned-1))
			}
			break
		}
		fmt.Fprintf(p.out, "verified: %d of %d solutions\n", verified, solutions)
		if verified < solutions {
			fmt.Fprintln(p.out, "not verified: interrupted while the judge was at work; gapwise verify judges what -o wrote")
		}
		if r.Reason != "" {
			fmt.Fprintln(p.out, r.Reason)
		}
	case infeasible != "":
		fmt.Fprintln(p.out, "infeasible:", infeasible)
		if n := len(conflict); n > 0 {
			const most = 10
			names := strings.Join(conflict[:min(n, most)], ", ")
			if n > most {
				names += fmt.Sprintf(" and %d more", n-most)
			}
			fmt.Fprintf(p.out, "%d conflict by themselves; without any one of them the others can be kept: %s\n", n, names)
		}
	default:
		for _, r := range results {
			if r.Reason != "" {
				fmt.Fprintf(p.out, "%s: %s\n", r.Algorithm, r.Reason)
			}
		}
	}
}

// codeOf is the exit code of one result.
func codeOf(r model.Result, interrupted bool) int {
	switch r.Status {
	case model.StatusOptimal:
		return exitOK
	case model.StatusInfeasible:
		return exitInfeasible
	case model.StatusUnknown:
		return exitUnsolved
	}
	if interrupted || r.Unverified || r.Reason != "" {
		return exitStopped
	}
	return exitOK // a heuristic that ran to its end
}

func jsonLine(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	return append(data, '\n'), err
}
