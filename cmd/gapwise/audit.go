package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/audit"
	"github.com/gapwise/gapwise/model"
)

// audit is hidden: it is for those who work on gapwise.
func (p *program) audit() *cli.Command {
	return &cli.Command{
		Name:      "audit",
		Usage:     "hold engines, heuristics, bounds and the judge against each other",
		Hidden:    true,
		ArgsUsage: " ",
		Description: "Draws instances of every kind from many families and compares what is\n" +
			"claimed of them: by engines, plain engines, heuristics, bounds, the judge,\n" +
			"and of renamed, scaled, reversed and joined instances. What disagrees is\n" +
			"shrunk and written to a folder. Exit code 7 if anything does.",
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "time", Value: time.Minute, Usage: "how long to draw instances"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "of the instances; another one finds others"},
			&cli.IntFlag{Name: "workers", Value: 1, Usage: "instances looked at side by side"},
			&cli.StringFlag{Name: "kind", Usage: "vcsched, dag or reservation; by default all"},
			&cli.IntFlag{Name: "most", Value: 10, Usage: "end after so many disagreements"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "audit-found", Usage: "`FOLDER` for what disagrees"},
			&cli.StringFlag{Name: "trust", Usage: "write the counts as Markdown to `FILE`"},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.NArg() > 0 {
				return usagef("audit: it takes no files")
			}
			if c.Duration("time") <= 0 || c.Int("workers") < 1 || c.Int("most") < 1 {
				return usagef("audit: --time, --workers and --most must be above 0")
			}
			o := audit.Options{Time: c.Duration("time"), Seed: c.Uint64("seed"), Workers: c.Int("workers"), Most: c.Int("most"), Folder: c.String("output")}
			if k := model.Kind(c.String("kind")); k != "" {
				if !slices.Contains(model.Kinds(), k) {
					return usagef("audit: --kind is %q, give one of %q", k, model.Kinds())
				}
				o.Kinds = []model.Kind{k}
			}
			bar := isTerminal(p.err)
			if bar {
				o.Progress = func(t *audit.Tally, elapsed time.Duration) {
					all, engines, instances := t.Comparisons()
					fmt.Fprintf(p.err, "\r%s  %d instances, %d comparisons, %d of two engines ", elapsed.Round(time.Second), instances, all, engines)
				}
			}
			o.Found = func(d audit.Disagreement, file string) {
				if bar {
					fmt.Fprintln(p.err)
				}
				fmt.Fprintf(p.err, "gapwise: %s: %s: %s\n", file, d.Check, d.Reason)
			}
			r, err := audit.Run(ctx, o)
			if bar {
				fmt.Fprintln(p.err)
			}
			if err != nil {
				return err
			}
			if err := r.Write(p.out, gapwise.Version); err != nil {
				return err
			}
			if path := c.String("trust"); path != "" {
				if err := p.writeFile(path, func(w io.Writer) error { return r.Trust(w, gapwise.Version) }); err != nil {
					return err
				}
			}
			if len(r.Disagreements) > 0 {
				return codeError(exitDefect)
			}
			return nil
		},
	}
}
