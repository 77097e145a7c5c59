// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/kubernetes"
	"github.com/gapwise/gapwise/internal/runs"
	"github.com/gapwise/gapwise/internal/words"
	"github.com/gapwise/gapwise/model"
)

func (p *program) kubernetesPlans() *cli.Command {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "context", Usage: "`NAME` of kubectl's context of the cluster to ask, instead of files"},
		&cli.StringFlag{Name: "price", Value: "vcpu", Usage: "what a node costs: vcpu, nodes, or a `FILE` with the price of each instance type"},
		&cli.StringSliceFlag{Name: "keep", Usage: "`NODE` that stays; may be given several times"},
		&cli.StringSliceFlag{Name: "without", Usage: "`RULES` that don't count: " + strings.Join(kubernetes.RuleNames, ", ")},
	}
	solving := []cli.Flag{
		&cli.DurationFlag{Name: "time-limit", Value: 20 * time.Second, Usage: "longest time for cost and moves together; 0: no limit"},
		&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of the random generator"},
		&cli.IntFlag{Name: "threads", Value: 1, Usage: "number of worker threads"},
		&cli.BoolFlag{Name: "json", Usage: "print the plan as an object"},
	}
	return &cli.Command{
		Name:  "kubernetes",
		Usage: "fewer or cheaper nodes for the pods of a cluster",
		Description: "Reads what kubectl get -A -o json prints of nodes, pods,\n" +
			"poddisruptionbudgets, persistentvolumes, persistentvolumeclaims and\n" +
			"namespaces, from files (.json, .json.gz) or folders, or asks a cluster itself\n" +
			"(--context). The rules are kube-scheduler's: requests, selectors, taints,\n" +
			"required affinity, hard topology spread, host ports, volumes. Pods that can't\n" +
			"be evicted stay. Nothing is changed in the cluster.",
		Commands: []*cli.Command{
			{
				Name: "plan", Usage: "the least cost, the fewest moves to it, and an order that keeps the budgets", ArgsUsage: "[FILE|FOLDER]...",
				Description: "Exit codes are those of solve: 5 where something is left open.",
				Flags: slices.Concat(flags, solving, []cli.Flag{
					&cli.Int64Flag{Name: "budget", Value: -1, Usage: "most pods that may move", DefaultText: "any number"},
					&cli.BoolFlag{Name: "commands", Usage: "print kubectl commands that carry the plan out, for a shell"},
					&cli.BoolFlag{Name: "moves", Usage: "print each move"},
				}),
				Action: p.kubernetesPlan,
			},
			{
				Name: "explain", Usage: "why pods can't move, and what each rule costs", ArgsUsage: "[FILE|FOLDER]...",
				Flags: slices.Concat(flags, solving), Action: p.kubernetesExplain,
			},
			{
				Name: "drain", Usage: "carry a plan out: cordon, evict, wait, and plan again",
				Description: "Shows the plan, and with --execute carries it out on the cluster of --context.\n" +
					"What becomes empty is cordoned first. After each wave the cluster is planned\n" +
					"again from what the scheduler made of it; when a wave saves nothing, the next\n" +
					"is steered: all nodes but one are cordoned for a moment. Budgets are kept by\n" +
					"the eviction API. Ctrl-C opens the nodes again. Empty nodes stay cordoned.",
				Flags: slices.Concat(flags, solving, []cli.Flag{
					&cli.BoolFlag{Name: "execute", Usage: "do it; without it nothing is changed"},
					&cli.DurationFlag{Name: "patience", Value: 2 * time.Minute, Usage: "longest time for a wave's new pods to run"},
				}),
				Action: p.kubernetesDrain,
			},
			{
				Name: "convert", Usage: "write the cluster as an instance of consolidation", ArgsUsage: "[FILE|FOLDER]...",
				Flags: append(slices.Clone(flags), &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write instead of standard output"}),
				Action: func(ctx context.Context, c *cli.Command) error {
					in, err := p.cluster(ctx, c)
					if err != nil {
						return err
					}
					return p.writeFile(c.String("output"), func(w io.Writer) error { return writeLines(w, in.Consolidation) })
				},
			},
		},
	}
}

// cluster reads the cluster that the arguments name, and says on standard error what isn't modelled.
func (p *program) cluster(ctx context.Context, c *cli.Command) (*kubernetes.Instance, error) {
	found, err := p.clusterObjects(ctx, c)
	if err != nil {
		return nil, err
	}
	o, err := clusterOptions(c)
	if err != nil {
		return nil, err
	}
	in, err := kubernetes.Convert(found, o)
	if err != nil {
		return nil, err
	}
	p.notes(in.Notes)
	return in, nil
}

func clusterOptions(c *cli.Command) (o kubernetes.Options, err error) {
	o.Keep, o.Without = c.StringSlice("keep"), c.StringSlice("without")
	for _, rule := range o.Without {
		if !slices.Contains(kubernetes.RuleNames, rule) {
			return o, usagef("kubernetes: --without is %q, give some of %s", rule, strings.Join(kubernetes.RuleNames, ", "))
		}
	}
	switch price := c.String("price"); price {
	case "vcpu":
		o.Prices = kubernetes.PriceByVCPU
	case "nodes":
		o.Prices = kubernetes.PriceByNode
	default:
		text, err := os.ReadFile(price)
		if err != nil {
			return o, fmt.Errorf("--price is neither vcpu nor nodes nor a file: %w", err)
		}
		if o.Prices, err = kubernetes.ReadPrices(text); err != nil {
			return o, fmt.Errorf("%s: %w", price, err)
		}
	}
	return o, nil
}

// clusterObjects reads the files, or asks kubectl.
func (p *program) clusterObjects(ctx context.Context, c *cli.Command) (*kubernetes.Cluster, error) {
	texts := map[string][]byte{}
	paths := c.Args().Slice()
	if name := c.String("context"); name != "" {
		if len(paths) > 0 {
			return nil, usagef("kubernetes: give --context or files, not both")
		}
		return kubernetes.Kubectl{Args: []string{"--context", name}}.Read(ctx)
	}
	if len(paths) == 0 {
		return nil, usagef("kubernetes: give files or folders with what kubectl get %s -A -o json prints, or --context NAME", kubernetes.Objects)
	}
	for _, path := range paths {
		all := []string{path}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			all = nil
			for _, pattern := range []string{"*.json", "*.json.gz"} {
				some, err := filepath.Glob(filepath.Join(path, pattern))
				if err != nil {
					return nil, err
				}
				all = append(all, some...)
			}
			if len(all) == 0 {
				return nil, fmt.Errorf("%s: %w: a folder without .json or .json.gz files", path, model.ErrInvalid)
			}
		}
		for _, file := range all {
			text, err := instances.ReadFile(file)
			if err != nil {
				return nil, err
			}
			texts[instances.Label(file)] = text
		}
	}
	return kubernetes.Read(texts)
}

func solvingOptions(c *cli.Command) (o gapwise.Options, err error) {
	o.Settings = model.Settings{Seed: c.Uint64("seed"), Threads: c.Int("threads"), TimeLimit: c.Duration("time-limit")}
	return o, checkSettings(c, o.Settings)
}

func (p *program) kubernetesPlan(ctx context.Context, c *cli.Command) error {
	o, err := solvingOptions(c)
	if err != nil {
		return err
	}
	if c.Bool("json") && c.Bool("commands") {
		return usagef("kubernetes plan: give --json or --commands, not both")
	}
	in, err := p.cluster(ctx, c)
	if err != nil {
		return err
	}
	if b := c.Int64("budget"); c.IsSet("budget") {
		if b < 0 {
			return usagef("kubernetes plan: --budget is %d, must be at least 0", b)
		}
		in.MoveBudget = &b
	}
	plan, err := kubernetes.MakePlan(ctx, in, o)
	if errors.Is(err, model.ErrNoSolution) {
		fmt.Fprintln(p.err, err)
		return codeError(exitUnsolved)
	}
	if err != nil {
		return err
	}
	switch {
	case c.Bool("json"):
		text, err := json.MarshalIndent(plan, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintf(p.out, "%s\n", text)
	case c.Bool("commands"):
		fmt.Fprint(p.out, plan.Commands())
	default:
		fmt.Fprint(p.out, plan.Text(c.Bool("moves")))
	}
	if plan.CostStatus != string(model.StatusOptimal) || plan.MovesStatus != string(model.StatusOptimal) || len(plan.Stuck) > 0 {
		return codeError(exitStopped)
	}
	return nil
}

// kubernetesDrain carries plans out.
func (p *program) kubernetesDrain(ctx context.Context, c *cli.Command) error {
	if !c.Bool("execute") {
		return p.kubernetesPlan(ctx, c)
	}
	name := c.String("context")
	if name == "" {
		return usagef("kubernetes drain: --execute needs --context, a cluster; files can't be drained")
	}
	o, err := solvingOptions(c)
	if err != nil {
		return err
	}
	read, err := clusterOptions(c)
	if err != nil {
		return err
	}
	d, err := kubernetes.Drain(ctx, kubernetes.Kubectl{Args: []string{"--context", name}}, kubernetes.DrainOptions{Options: read, Solve: o, Patience: c.Duration("patience"), Poll: time.Second,
		Log: func(format string, args ...any) { fmt.Fprintf(p.err, format+"\n", args...) }})
	fmt.Fprintf(p.out, "%d nodes in use, %d before; %d pods evicted in %d waves, %d evictions refused\n", d.After.Nodes, d.Before.Nodes, d.Evicted, d.Waves, d.Refused)
	if err == nil && len(d.Empty) > 0 {
		fmt.Fprintln(p.out, words.Wrap("empty and cordoned: "+strings.Join(d.Empty, ", "), 78, 2))
	}
	return err
}

// kubernetesExplain solves the cluster as it is and without each rule.
func (p *program) kubernetesExplain(ctx context.Context, c *cli.Command) error {
	o, err := solvingOptions(c)
	if err != nil {
		return err
	}
	found, err := p.clusterObjects(ctx, c)
	if err != nil {
		return err
	}
	read, err := clusterOptions(c)
	if err != nil {
		return err
	}
	e, err := kubernetes.Explain(ctx, found, read, o)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return writeLines(p.out, e)
	}
	fmt.Fprintf(p.out, "in use now: cost %d %s\n\n", e.Now, e.PriceUnit)
	t := runs.Table{Header: []string{"without", "cost", "bound", "status", "saved by it"}}
	for _, r := range e.Rules {
		name, saved := r.Without, fmt.Sprint(e.Rules[0].Cost-r.Cost)
		if name == "" {
			name, saved = "nothing", ""
		}
		t.Rows = append(t.Rows, []string{name, fmt.Sprint(r.Cost), fmt.Sprint(r.Bound), r.Status, saved})
	}
	if err := t.Render(p.out, "text"); err != nil {
		return err
	}
	fmt.Fprint(p.out, kubernetes.PinsText(e.Pins))
	return nil
}
