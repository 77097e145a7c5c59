// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/audit"
	"github.com/gapwise/gapwise/internal/text/visible"
	"github.com/gapwise/gapwise/model"
)

// audit returns a hidden command, for people who work on gapwise.
func (p *program) audit() *cli.Command {
	return &cli.Command{
		ArgsUsage: " ",
		Description: "Generates instances of every kind from many families, and compares the\n" +
			"claims of engines, plain engines, heuristics, bounds and the judge about\n" +
			"them, and about renamed, scaled, reversed and joined instances.\n" +
			"Disagreements are shrunk and written to a folder. The exit code is 7 if\n" +
			"there are any.",
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "time", Value: time.Minute, Usage: "time for drawing instances; with --instances 0: no limit"},
			&cli.Int64Flag{Name: "instances", Usage: "about so many of each kind, of which the same is compared on every machine", DefaultText: "none"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of the instances"},
			&cli.IntFlag{Name: "workers", Value: 1, Usage: "number of instances at the same time"},
			&cli.StringFlag{Name: "kind", Usage: fmt.Sprintf("one of %q; all by default", audit.Kinds())},
			&cli.StringFlag{Name: "variant", Usage: fmt.Sprintf("one of %q: only instances of its problem that have it", audit.Variants())},
			&cli.IntFlag{Name: "most", Value: 10, Usage: "disagreements after which it stops"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "audit-found", Usage: "`FOLDER` for disagreements"},
			&cli.StringFlag{Name: "counts", Usage: "write the counts as JSON to `FILE`"},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.NArg() > 0 {
				return usagef("audit: it takes no files")
			}
			if c.Int("workers") < 1 || c.Int("most") < 1 || c.IsSet("instances") && c.Int64("instances") < 1 {
				return usagef("audit: --instances, --workers and --most must be above 0")
			}
			if c.Duration("time") < 0 || c.Duration("time") == 0 && !c.IsSet("instances") {
				return usagef("audit: --time must be above 0, or 0 with --instances")
			}
			o := audit.Options{Time: c.Duration("time"), Instances: c.Int64("instances"), Seed: c.Uint64("seed"), Workers: c.Int("workers"), Most: c.Int("most"), Folder: c.String("output"), Variant: c.String("variant")}
			if k := model.Kind(c.String("kind")); k != "" {
				if !slices.Contains(audit.Kinds(), k) {
					return usagef("audit: --kind is %q, give one of %q", k, audit.Kinds())
				}
				o.Kinds = []model.Kind{k}
			}
			if o.Variant != "" && (o.Kinds != nil || !slices.Contains(audit.Variants(), o.Variant)) {
				return usagef("audit: --variant is one of %q, without --kind", audit.Variants())
			}
			bar := isTerminal(p.progress())
			if bar {
				o.Progress = func(t *audit.Tally, elapsed time.Duration) {
					all, engines, _, instances := t.Comparisons()
					fmt.Fprintf(visible.Raw(p.err), "\r%s  %d instances, %d comparisons, %d of two engines ", elapsed.Round(time.Second), instances, all, engines)
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
			if err := r.Write(p.out, gapwise.Built().String()); err != nil {
				return err
			}
			if path := c.String("counts"); path != "" {
				if err := p.writeFile(path, func(w io.Writer) error { return json.NewEncoder(w).Encode(r) }); err != nil {
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
