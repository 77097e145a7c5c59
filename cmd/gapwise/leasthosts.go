// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// leastHostsFlags are the flags of solve that go with --least-hosts, other than the flags for reading files.
var leastHostsFlags = []string{"least-hosts", "require-proof", "engine", "formulation", "seed", "threads", "time-limit", "effort",
	"output", "json"}

// leastHosts looks for the least number of hosts of each file.
func (p *program) leastHosts(ctx context.Context, c *cli.Command, paths []string, o gapwise.Options) error {
	allowed := slices.Clone(leastHostsFlags)
	for _, f := range readingFlags() {
		allowed = append(allowed, f.Names()...)
	}
	for _, f := range c.Flags {
		if name := f.Names()[0]; c.IsSet(name) && !slices.Contains(allowed, name) {
			return usagef("solve: --least-hosts doesn't go with --%s", name)
		}
	}
	o.Algorithm = "exact" // which has no time limit of its own
	if c.Int64("effort") == 0 && !c.IsSet("time-limit") && c.Duration("time-limit") == 0 {
		o.TimeLimit = gapwise.AutoTimeLimit
	}
	if c.Bool("json") && isStdout(c.String("output")) {
		return usagef("solve: with --least-hosts standard output takes --json or -o -")
	}
	if err := o.Check(model.KindVCSched); err != nil {
		return err
	}
	if err := checkOutput(c.String("output"), paths); err != nil {
		return err
	}
	return p.packAll(ctx, c, paths, o)
}

// packed is a line of solve --least-hosts --json.
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
		if !ok && in.Kind() == model.KindConsolidation {
			return fmt.Errorf("%[1]s: %[2]w: --least-hosts is for equal hosts; gapwise solve %[1]s finds the cheapest of these",
				instances.Label(path), model.ErrUnsupported)
		}
		if !ok {
			return fmt.Errorf("%s: %w: --least-hosts takes vcsched instances and VBP files, not %s", instances.Label(path), model.ErrUnsupported, in.Kind())
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
		hosts, bound, gap := fmt.Sprint(h.Hosts), fmt.Sprint(h.Bound), percent(h.Gap())
		note := fmt.Sprintf("%s: at least %d by %s", v.Name, h.Bound, h.Proof)
		if h.Reason != "" {
			note += "; " + h.Reason
		}
		switch {
		case h.Result.Status == model.StatusInfeasible:
			line.Status, line.Gap, code = model.StatusInfeasible, 0, worst(code, exitInfeasible)
			hosts, bound, gap, note = "", "", "", fmt.Sprintf("%s: there is no placement: %s", v.Name, h.Reason)
		case h.Bound < h.Hosts || h.Result.Unverified:
			line.Status = model.StatusFeasible
			if ctx.Err() != nil || h.Result.Unverified || requiresProof(c) {
				code = worst(code, exitStopped)
			}
		}
		results = append(results, h.Result)
		if c.Bool("json") {
			if err := writeLines(p.out, line); err != nil {
				return err
			}
		}
		t.Rows = append(t.Rows, []string{v.Name, string(line.Status), hosts, bound, gap, duration(h.Elapsed.Round(time.Microsecond))})
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
