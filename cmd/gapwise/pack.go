// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/runs"
	"github.com/gapwise/gapwise/internal/words"
	"github.com/gapwise/gapwise/model"
)

func (p *program) pack() *cli.Command {
	return &cli.Command{
		ArgsUsage: "FILE...",
		Description: "Of a VBP file the least number of bins; of a vcsched instance that of hosts\n" +
			"on which every job gets all that it needs, CPU too. How many hosts it has\n" +
			"doesn't matter. \"optimal\": the bound is a proof that there is no placement on\n" +
			"fewer. The placement is judged. -o writes it as a result of the instance with\n" +
			"that many hosts: gapwise verify items.vbp --platform hosts=N result.json.\n" +
			"Exit codes are those of solve: 5 where the bound isn't met.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "engine", Usage: "engine that decides whether so many hosts are enough: search, highs, kernel or a solver of MPS files", DefaultText: "search"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of the random generator"},
			&cli.IntFlag{Name: "threads", Value: 1, Usage: "number of worker threads"},
			&cli.DurationFlag{Name: "time-limit", Value: gapwise.AutoTimeLimit, Usage: "longest time per file; 0: no limit", DefaultText: "10s; with --effort none"},
			&cli.Int64Flag{Name: "effort", Usage: "limit of the work counted per file, in about microseconds of a core: the same result on every machine", DefaultText: "none"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` for the results with their placements"},
			&cli.BoolFlag{Name: "json", Usage: "print one object per line"},
		}, readingFlags()...),
		Action: func(ctx context.Context, c *cli.Command) error {
			paths, err := files(c, 0)
			if err != nil {
				return err
			}
			// exact has no time limit of its own.
			o := gapwise.Options{Algorithm: "exact", Engine: c.String("engine"),
				Settings: model.Settings{Seed: c.Uint64("seed"), Threads: c.Int("threads"), TimeLimit: c.Duration("time-limit"), Effort: c.Int64("effort")}}
			if c.IsSet("effort") && !c.IsSet("time-limit") {
				o.TimeLimit = 0
			}
			if err := checkSettings(c, o.Settings); err != nil {
				return err
			}
			if c.Bool("json") && isStdout(c.String("output")) {
				return usagef("pack: standard output takes --json or -o -")
			}
			if err := o.Check(model.KindVCSched); err != nil {
				return err
			}
			if err := checkOutput(c.String("output"), paths); err != nil {
				return err
			}
			return p.packAll(ctx, c, paths, o)
		},
	}
}

// packed is a line of pack --json.
type packed struct {
	Instance string       `json:"instance"`
	Hosts    int          `json:"hosts"`
	Bound    int          `json:"bound"`
	Gap      float64      `json:"gap"`
	Status   model.Status `json:"status"`
	Proof    string       `json:"proof"`
	Reason   string       `json:"reason,omitempty"`
	Nodes    int64        `json:"nodes"`
	Elapsed  float64      `json:"elapsed_s"`
}

func (p *program) packAll(ctx context.Context, c *cli.Command, paths []string, o gapwise.Options) error {
	var all []*model.VCSched
	for _, path := range paths {
		var in model.Instance
		err := unlessStopped(ctx, func() (err error) { in, err = p.load(c, path); return err })
		if err != nil {
			return err
		}
		v, ok := in.(*model.VCSched)
		if !ok {
			return fmt.Errorf("%s: %w: pack takes vcsched instances and VBP files, not %s", instances.Label(path), model.ErrUnsupported, in.Kind())
		}
		all = append(all, v)
	}
	t := runs.Table{Header: []string{"instance", "status", "hosts", "bound", "gap", "time"}}
	var results []model.Result
	var notes []string
	code := exitOK
	for k, v := range all {
		o.Patience = p.patience
		h, err := gapwise.LeastHosts(ctx, v, o)
		if err != nil {
			return fmt.Errorf("%s: %w", instances.Label(paths[k]), err)
		}
		line := packed{v.Name, h.Hosts, h.Bound, h.Gap(), model.StatusOptimal, h.Proof, h.Reason, h.Nodes, h.Elapsed.Seconds()}
		if h.Bound < h.Hosts || h.Result.Unverified {
			line.Status = model.StatusFeasible
			code = worst(code, exitStopped)
		}
		results = append(results, h.Result)
		if c.Bool("json") {
			if err := writeLines(p.out, line); err != nil {
				return err
			}
		}
		t.Rows = append(t.Rows, []string{v.Name, string(line.Status), fmt.Sprint(h.Hosts), fmt.Sprint(h.Bound), percent(h.Gap()), duration(h.Elapsed.Round(time.Microsecond))})
		note := fmt.Sprintf("%s: at least %d by %s", v.Name, h.Bound, h.Proof)
		if h.Reason != "" {
			note += "; " + h.Reason
		}
		notes = append(notes, note)
		if ctx.Err() != nil {
			break
		}
	}
	if !c.Bool("json") {
		w := p.out
		if isStdout(c.String("output")) {
			w = p.err
		}
		if err := t.Render(w, "text"); err != nil {
			return err
		}
		for _, n := range notes {
			fmt.Fprintln(w, words.Wrap(n, 78, 2))
		}
	}
	if f := c.String("output"); f != "" {
		if err := p.writeFile(f, func(w io.Writer) error { return writeLines(w, results...) }); err != nil {
			return err
		}
	}
	if code != exitOK {
		return codeError(code)
	}
	return nil
}
