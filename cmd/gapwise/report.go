// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/report"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/run/process"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func (p *program) report() *cli.Command {
	return &cli.Command{
		ArgsUsage: "RESULTS... [INSTANCE...] | INSTANCE | LOG",

		DisableSliceFlagSeparator: true, // a change holds commas
		Description: "Writes one HTML file that loads nothing from elsewhere\n" +
			"(docs/how-to/report.md).\n\n" +
			"For RESULTS of gapwise bench or gapwise solve -o, the page has a summary,\n" +
			"gap tables, curves against each parameter with the bound, performance\n" +
			"profiles, the gap over time, growth, and each instance with its runs. If the\n" +
			"INSTANCES are given next to results of gapwise solve -o, their solutions are\n" +
			"judged and drawn; so are those that gapwise bench --solutions has kept.\n\n" +
			"An INSTANCE is solved by all heuristics and auto. For a LOG in the Standard\n" +
			"Workload Format, all policies are compared, with utilisation, queue and\n" +
			"declined work over time. By default the problem is batch on one tier, which\n" +
			"is the log itself. With another --kind or --tiers, the page says what was\n" +
			"drawn at random. The flags marked SWF are those of gapwise convert.\n\n" +
			"With --what-if, the page of a LOG or a batch INSTANCE has a column for each\n" +
			"change next to today's, which is --policy on the machine as it is. A summary\n" +
			"is printed (docs/how-to/what-if.md). A change is a list of\n" +
			words.Wrap(report.ChangeHelp+".", 76, 0),
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` that ends in .html", DefaultText: "kth.html for kth.swf.gz"},
			&cli.StringFlag{Name: "title", Usage: "title of the page", DefaultText: "plan, instance or log"},
			&cli.IntFlag{Name: "pictures", Value: report.DefaultPictures, Usage: "largest number of pictures of solutions"},
			&cli.DurationFlag{Name: "time-limit", Value: report.DefaultTimeLimit, Usage: "time limit of each algorithm that the page runs"},
			&cli.StringSliceFlag{Name: "what-if", Usage: "batch on one tier: a `CHANGE` to compare with today; may be repeated"},
			&cli.StringFlag{Name: "policy", Usage: "what-if: today's policy", DefaultText: "the replay that fits the log, else " + report.DefaultPolicy},
			&cli.Float64Flag{Name: "node-cost", Usage: "what-if: price of a processor, or of a node, per hour"},
			&cli.Int64Flag{Name: "effort", Value: report.DefaultEffort, Usage: "what-if: effort of the search for the best possible schedule"},
			&cli.StringFlag{Name: "plan", Usage: "`FILE` of the plan, to draw the solutions that its runs kept"},
			instancesFlag(),
		}, logFlags(), readingFlags(), parameterFlags(ofLogs)),
		Action: func(ctx context.Context, c *cli.Command) error {
			paths, err := files(c, 0)
			if err != nil {
				return err
			}
			output := c.String("output")
			if output == "" {
				if output, err = pageOf(paths[0]); err != nil {
					return err
				}
			}
			switch name := strings.ToLower(output); {
			case !strings.HasSuffix(name, ".html") && !strings.HasSuffix(name, ".htm") && !isStdout(output):
				return usagef("report: give the page with -o FILE.html")
			case c.Duration("time-limit") <= 0:
				return usagef("report: --time-limit is %v, must be positive", c.Duration("time-limit"))
			case c.Int("pictures") < 0:
				return usagef("report: --pictures is %d, must be at least 0", c.Int("pictures"))
			}
			if err := checkOutput(output, paths); err != nil {
				return err
			}
			changes, err := changes(c)
			if err != nil {
				return err
			}
			o := report.Options{Title: c.String("title"), Pictures: c.Int("pictures")}
			s := report.Solving{TimeLimit: c.Duration("time-limit"), Seed: c.Uint64("seed"), Said: func(line string) { fmt.Fprintln(p.progress(), words.Wrap(line, 78, 2)) }}
			var only *instances.File
			if len(paths) == 1 {
				beFrugal(paths[0])
				if only, err = instances.Open(paths[0]); err != nil {
					return err
				}
				if only.IsLog() {
					return p.reportLog(ctx, c, only, paths[0], output, s, o)
				}
			}
			for _, f := range swfFlags() {
				if c.IsSet(f) && f != "seed" {
					return usagef("report: --%s goes with an SWF log, %s isn't one", f, instances.Label(paths[0]))
				}
			}
			runs, given, err := p.reported(ctx, c, paths, only)
			if err != nil {
				return err
			}
			for _, in := range given {
				o.Tell(in)
				if o.Goal, err = goalOf(c, in); err != nil {
					return err
				}
			}
			var write func(io.Writer) error
			switch {
			case len(runs) > 0 && len(changes) > 0:
				return usagef("report: --what-if goes with a log or an instance, not with results")
			case len(runs) > 0:
				write = func(w io.Writer) error { return report.Results(ctx, w, runs, o) }
			case len(given) == 1 && len(changes) > 0:
				write = p.whatIf(ctx, c, output, given[0], nil, changes, s, o)
			case len(given) == 1:
				write = func(w io.Writer) error { return report.Instance(ctx, w, given[0], nil, s, o) }
			default:
				return usagef("report: give one instance, or results; there are %d instances", len(given))
			}
			return p.writePage(ctx, output, write)
		},
	}
}

// writePage writes the page and prints its place.
func (p *program) writePage(ctx context.Context, output string, write func(io.Writer) error) error {
	if err := p.writeFile(output, write); err != nil {
		return err
	}
	p.pageIn(output)
	return cutShort(ctx)
}

// pageIn prints the place of a page.
func (p *program) pageIn(output string) {
	if !isStdout(output) {
		fmt.Fprintf(p.progress(), "page in %s\n", output)
	}
}

func (p *program) reportLog(ctx context.Context, c *cli.Command, f *instances.File, path, output string, s report.Solving, o report.Options) error {
	in, ran, unran, err := p.withRan(c, f, path)
	if err != nil {
		return err
	}
	if o.Goal, err = goalOf(c, in); err != nil {
		return err
	}
	about := &report.Log{Name: in.ID(), Command: convertCommand(c, path, report.FileOf(in.ID())), Ran: ran, Unran: unran}
	changes, err := changes(c)
	if err != nil {
		return err
	}
	if len(changes) > 0 {
		return p.writePage(ctx, output, p.whatIf(ctx, c, output, in, about, changes, s, o))
	}
	return p.writePage(ctx, output, func(w io.Writer) error { return report.Instance(ctx, w, in, about, s, o) })
}

// goalOf returns the goal that orders the policies of a batch instance.
func goalOf(c *cli.Command, in model.Instance) (string, error) {
	goal := c.String("goal")
	if in.Kind() != model.KindBatch {
		return "", nil
	}
	if goal != "" && !slices.Contains(report.Goals(), goal) {
		return "", usagef("report: --goal is %q, of batch give one of %q", goal, report.Goals())
	}
	return goal, nil
}

// withRan is fromLog, and returns how the log's own scheduler ran the jobs or why that isn't known; neither if what is
// made of the log isn't its own machine.
func (p *program) withRan(c *cli.Command, f *instances.File, path string) (in model.Instance, ran *model.Execution, unran string, err error) {
	own := c.String("kind") == string(model.KindBatch) && !c.Bool("pending") && !c.IsSet("load") && slices.Contains([]string{"", "1"}, c.String("tiers"))
	if own {
		if in, ran, err = p.fromLog(c, f, path, true); err == nil {
			return in, ran, "", nil
		}
		unran = strings.TrimPrefix(strings.TrimPrefix(err.Error(), instances.Label(path)+": "), model.ErrInvalid.Error()+": ")
	}
	in, _, err = p.fromLog(c, f, path, false)
	return in, nil, unran, err
}

// changes reads the flags --what-if.
func changes(c *cli.Command) (all []report.Change, err error) {
	for _, text := range c.StringSlice("what-if") {
		change, err := report.ParseChange(text)
		if err != nil {
			return nil, err
		}
		all = append(all, change)
	}
	for _, f := range []string{"policy", "effort", "node-cost"} {
		if c.IsSet(f) && len(all) == 0 {
			return nil, usagef("report: --%s goes with --what-if", f)
		}
	}
	if x := c.Float64("node-cost"); !(x >= 0 && x < 1e9) {
		return nil, usagef("report: --node-cost is %g, must be a price", x)
	}
	if c.Int64("effort") < 1 {
		return nil, usagef("report: --effort is %d, must be at least 1", c.Int64("effort"))
	}
	return all, nil
}

// whatIf returns the function that writes the page of what-ifs, and prints their summary.
func (p *program) whatIf(ctx context.Context, c *cli.Command, output string, in model.Instance, about *report.Log, changes []report.Change, s report.Solving, o report.Options) func(io.Writer) error {
	return func(w io.Writer) error {
		batch, ok := in.(*model.Batch)
		if !ok {
			return fmt.Errorf("report: %w: --what-if is of batch, this is an instance of %s", model.ErrUnsupported, in.Kind())
		}
		text := p.out
		if isStdout(output) {
			text = p.err
		}
		s.Effort, s.NodeCost = c.Int64("effort"), c.Float64("node-cost")
		return report.WhatIf(ctx, w, text, batch, c.String("policy"), changes, about, s, o)
	}
}

// pageOf returns the file of a page that no flag names: kth.html for logs/kth.swf.gz,
// in the working folder. A file that is there already and isn't such a page is kept.
func pageOf(path string) (string, error) {
	name := baseName(path)
	if path == "-" || name == "" {
		return "", usagef("report: give the page with -o FILE.html")
	}
	name += ".html"
	if old, err := os.ReadFile(name); err == nil && !bytes.Contains(old[:min(len(old), 4096)], []byte(`content="gapwise `)) {
		return "", fmt.Errorf("%w: %s is there and is no page of gapwise; give another with -o FILE.html", model.ErrInvalid, name)
	}
	return name, nil
}

// baseName returns a file's name without its folder and its extensions (.gz and the one before).
func baseName(path string) string {
	name := filepath.Base(path)
	if e := filepath.Ext(name); strings.EqualFold(e, ".gz") {
		name = strings.TrimSuffix(name, e)
	}
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// convertCommand returns the command line that makes the instance of the log in a file.
func convertCommand(c *cli.Command, path, file string) string {
	args := []string{"gapwise", "convert"}
	for _, f := range append(swfFlags(), "platform") {
		if c.IsSet(f) {
			args = append(args, "--"+f, fmt.Sprint(c.Value(f)))
		}
	}
	return process.Quote(append(args, path, "-o", file)...)
}

// reported reads runs, results with their solutions, and instances. A single file may be open already: standard input is
// read once.
func (p *program) reported(ctx context.Context, c *cli.Command, paths []string, open *instances.File) (found []report.Run, given []model.Instance, err error) {
	var records []runs.Record
	var results []report.Run
	for _, path := range paths {
		f := open
		if f == nil {
			beFrugal(path)
			if f, err = instances.Open(path); err != nil {
				return nil, nil, err
			}
		}
		data := f.Text()
		switch {
		case isRecord(data):
			some, _, err := runs.DecodeRecords(bytes.NewReader(data), instances.Label(path))
			if err != nil {
				return nil, nil, err
			}
			records = append(records, some...)
		case isResult(data):
			for _, part := range splitJSON(data) {
				r, err := model.DecodeResult(part.data)
				if err != nil {
					return nil, nil, fmt.Errorf("%s: line %d: %w", instances.Label(path), part.line, err)
				}
				rec, err := runs.Stated(r, instances.Label(path), part.line)
				if err != nil {
					return nil, nil, err
				}
				results = append(results, report.Run{Record: rec, Solution: r.Solution})
			}
		default:
			in, err := ofFile(c, path, f, readingOptions(c))
			if err != nil {
				return nil, nil, err
			}
			p.account(in)
			given = append(given, in)
		}
	}
	if len(records) > 0 {
		if records, err = p.ofInstances(c, records); err != nil {
			return nil, nil, err
		}
	}
	for i := range records {
		found = append(found, report.Run{Record: records[i]})
	}
	found = append(found, results...)
	if len(found) > 0 {
		err = attach(ctx, c, found, given)
	}
	return found, given, err
}

// attach finds the instance of each run among those given and has the judge look at
// its solution.
func attach(ctx context.Context, c *cli.Command, runs []report.Run, given []model.Instance) error {
	byHash := map[string]model.Instance{}
	for _, in := range given {
		hash, err := model.Hash(in)
		if err != nil {
			return err
		}
		byHash[hash] = in
	}
	keep(c, runs, byHash)
	used := map[string]bool{}
	for i := range runs {
		r := &runs[i]
		in, ok := byHash[r.Hash]
		if !ok {
			continue
		}
		used[r.Hash] = true
		if r.Instance = in; r.Solution == nil {
			continue
		}
		judged, err := verify.Verify(ctx, in, r.Solution, verify.Options{Hash: r.Hash})
		if err == nil {
			err = judged.Err()
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", r.File, r.Line, err)
		}
		o, err := in.Objective(r.Solution)
		if err != nil {
			return err
		}
		if r.Objective == nil || model.Gap(o.Value, *r.Objective) > 1e-9 {
			return fmt.Errorf("%s:%d: %w result: the solution's objective is %v, and another is stated", r.File, r.Line, model.ErrInvalid, o.Value)
		}
		r.Judged = true
	}
	for _, in := range given {
		if hash, err := model.Hash(in); err != nil || !used[hash] {
			return fmt.Errorf("report: %w: there is no result of the instance %q among those given", model.ErrInvalid, in.ID())
		}
	}
	return nil
}

// isResult reports whether the first value of a file is a result of gapwise solve.
func isResult(data []byte) bool {
	parts := splitJSON(data)
	if len(parts) == 0 {
		return false
	}
	f, err := decodeSolution(parts[0].data)
	return err == nil && f.result != nil
}
