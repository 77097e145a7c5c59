// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/app/report"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

func (p *program) kubernetesPlans() *cli.Command {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "context", Usage: "ask the cluster of kubectl's context `NAME`, instead of reading files"},
		&cli.BoolFlag{Name: "in-cluster", Usage: "ask the cluster in which gapwise runs as a pod, with its service account"},
		&cli.StringFlag{Name: "price", Value: "vcpu", Usage: "cost of a node: vcpu (its vCPUs), nodes (1), offers (the prices of --offers), or a `FILE` with the price of each instance type, and of spot nodes", DefaultText: "vcpu, with --offers their prices"},
		&cli.StringFlag{Name: "price-unit", Usage: "`UNIT` of prices without a unit, such as USD/h or EUR/month: plans then show the cost per month"},
		&cli.StringSliceFlag{Name: "use", Usage: "`FILE` with the pods' real use: kubectl top pods -A, the metrics API's list, or Prometheus's answer (as cpu=FILE, memory=FILE)"},
		&cli.StringFlag{Name: "by", Value: "requests", Usage: "size of a pod: its requests, or its use, to see what fitting requests would save"},
		&cli.FloatFlag{Name: "headroom", Usage: "with --by use: extra `SHARE` of its use that each pod gets"},
		&cli.StringFlag{Name: "floor", Usage: "`AMOUNTS` for containers without requests and limits, such as cpu=100m,memory=256Mi", DefaultText: "nothing"},
		&cli.StringSliceFlag{Name: "offers", Usage: "`FILE` of node types that can be bought: a table, Karpenter's instance types, or its NodePools; may be given several times"},
		&cli.StringSliceFlag{Name: "slack", Usage: "`ROOM` to keep free: a share of each node's CPU, memory and storage; or room for the loss of any one node (node), for the most pods of HorizontalPodAutoscalers (hpa), or for rollouts of Deployments (surge); may be given several times"},
		&cli.IntFlag{Name: "max-nodes", Usage: "largest number of nodes in use", DefaultText: "any number"},
		&cli.StringFlag{Name: "survive", Usage: "workloads that survive the loss of a `zone` or of a node today survive it in every plan: zone or node", DefaultText: "both, but neither in one zone of up to three nodes"},
		&cli.StringSliceFlag{Name: "hold", Usage: "`WISHES` of pods that every plan respects where they are respected today: " + strings.Join(kubernetes.Holds, ", ") + " (soft topology spread, preferred anti-affinity)"},
		&cli.BoolFlag{Name: "strict", Usage: "refuse a cluster with facts that the model can't express"},
		&cli.StringSliceFlag{Name: "keep", Usage: "`NODE` that must stay; may be given several times"},
		&cli.StringSliceFlag{Name: "schedulers", Usage: "`SCHEDULER` that decides like kube-scheduler; pods of others stay where they are"},
		&cli.StringSliceFlag{Name: "packs", Usage: "`SCHEDULER` that decides so, too, but fills nodes (MostAllocated): it needs no --schedulers; others are assumed to spread pods, as by default"},
		&cli.StringSliceFlag{Name: "without", Usage: "`RULES` to ignore: " + strings.Join(kubernetes.RuleNames, ", ")},
	}
	solving := []cli.Flag{
		&cli.DurationFlag{Name: "time-limit", Value: 20 * time.Second, Usage: "time limit for all questions together; 0: no limit"},
		&cli.Int64Flag{Name: "effort", Usage: "limit of each question's counted work, in about microseconds of a core: the same answers on every machine", DefaultText: "explain: 500000, else none"},
		&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of the random generator"},
		&cli.IntFlag{Name: "threads", Value: 1, Usage: "number of worker threads"},
		&cli.BoolFlag{Name: "json", Usage: "print the plan as a JSON object"},
		requireProofFlag(),
	}
	allow := &cli.StringSliceFlag{Name: "allow", Usage: "`HARM` to permit in commands and --execute: " +
		strings.Join(kubernetes.Harms, ", ") + ", or a workload as NAMESPACE/NAME"}
	return &cli.Command{
		Description: "Reads files (.json, .json.gz) or folders with what kubectl prints, or asks\n" +
			"a cluster itself (--context):\n\n" +
			"kubectl get -A -o json >cluster.json \\\n" +
			"  " + kubernetes.Kinds + "\n\n" +
			"Nodes and pods are needed; the other kinds make a plan more exact. Plans\n" +
			"follow kube-scheduler's rules: requests, selectors, taints, required\n" +
			"affinity, hard topology spread, host ports, volumes. Pods that can't be\n" +
			"evicted stay where they are. Only drain --execute changes anything in the\n" +
			"cluster.\n\n" +
			"A program with the name kubectl-gapwise runs as kubectl gapwise, for the\n" +
			"current context.",
		Action: func(ctx context.Context, c *cli.Command) error {
			name := c.Args().First()
			if name == "" {
				return cli.ShowSubcommandHelp(c)
			}
			var known []string
			for _, below := range c.Commands {
				known = append(known, below.Name)
			}
			return usagef("kubernetes: there is no command %q; give one of %s%s", name, strings.Join(known, ", "), didYouMean(name, "kubernetes ", known))
		},
		Commands: []*cli.Command{
			{
				Name: "plan", Usage: "find the least cost, fewest moves and their order", ArgsUsage: "[FILE|FOLDER]...",
				Description: "The exit codes are those of gapwise solve: 5 if --require-proof is given and\n" +
					"something is unproved. The order of the moves respects disruption budgets.\n" +
					"The line scheduler is where the cluster would end if kube-scheduler chose\n" +
					"the nodes by itself; cordoning is where it ends by the plan's steps, each of\n" +
					"which cordons the nodes that kube-scheduler would prefer.\n\n" +
					"No commands are printed for a plan that may harm running workloads: pods of\n" +
					"Jobs, pods without a second replica, two pods of a workload without a budget\n" +
					"in one step, or nodes that others have cordoned. --allow permits such harm.\n" +
					"The commands uncordon the nodes if they fail or are stopped.",
				Flags: slices.Concat(flags, solving, []cli.Flag{
					&cli.Int64Flag{Name: "budget", Value: -1, Usage: "largest number of pods that may move", DefaultText: "any number"},
					&cli.BoolFlag{Name: "commands", Usage: "print kubectl commands that carry out the plan, for a shell"},
					&cli.BoolFlag{Name: "mend", Usage: "plan the fewest moves after which no rule is broken and no node is too full, on today's nodes"},
					&cli.BoolFlag{Name: "moves", Usage: "print each move"},
					allow,
					&cli.StringFlag{Name: "metrics", Usage: "`FILE` for the plan's figures, for Prometheus's textfile collector"},
					&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write instead of standard output; its ending decides: .json, .html, .sh, else text"},
				}),
				Action: p.kubernetesPlan,
			},
			{
				Name: "explain", Usage: "say why pods can't move, and what rules cost", ArgsUsage: "[FILE|FOLDER]...",
				Flags: slices.Concat(flags, solving, []cli.Flag{
					&cli.StringFlag{Name: "pod", Usage: "say where the pod `NAMESPACE/NAME` could run today, and why not elsewhere"},
					&cli.StringFlag{Name: "node", Usage: "say why the node `NAME` stays in use, and which changes would free it"},
				}), Action: p.kubernetesExplain,
			},
			{
				Name: "bound", Usage: "find a cost that no plan can beat, without search", ArgsUsage: "[FILE|FOLDER]...",
				Flags: append(slices.Clone(flags), &cli.BoolFlag{Name: "json", Usage: "print the bound as a JSON object"}),
				Action: func(ctx context.Context, c *cli.Command) error {
					in, err := p.cluster(ctx, c)
					if err != nil {
						return p.idle(c, err)
					}
					b := in.Bound(ctx)
					if c.Bool("json") {
						return writeLines(p.out, b)
					}
					fmt.Fprint(p.out, b.Text())
					return nil
				},
			},
			{
				Name: "report", Usage: "make a page: plan, waves, and the costs of rules", ArgsUsage: "[FILE|FOLDER]...",
				Description: "Half of the time limit is for the plan, and half for the costs of rules.",
				Flags:       slices.Concat(flags, solving[:4], []cli.Flag{&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "cluster.html", Usage: "`FILE` that ends in .html"}}),
				Action:      p.kubernetesReport,
			},
			{
				Name: "drain", Usage: "carry out a plan: cordon, evict, wait, plan again",
				Description: "Shows the plan, and with --execute carries it out on the cluster of\n" +
					"--context. Nodes that become empty are cordoned first. For each step,\n" +
					"the nodes that kube-scheduler would prefer to the planned ones are\n" +
					"cordoned until the new pods are ready. If it chooses otherwise, gapwise\n" +
					"makes a new plan. The eviction API enforces the budgets.\n\n" +
					"Ctrl-C, TERM, a closed terminal and a closed pipe uncordon the nodes;\n" +
					"empty nodes stay cordoned. A cordoned node has the annotation\n" +
					kubernetes.Mark + ": the next drain takes it over, and --undo\n" +
					"uncordons it.\n\n" +
					"A drain stops at anything that may harm running workloads, as plan\n" +
					"--commands does, unless --allow permits it. A lease (" + kubernetes.LeaseName + ") lets one\n" +
					"drain run at a time. The lease of a killed drain is taken over once it\n" +
					"hasn't been renewed for 30 seconds.",
				Flags: slices.Concat(flags, solving, []cli.Flag{
					&cli.BoolFlag{Name: "execute", Usage: "carry out the plan; without it nothing is changed"},
					&cli.BoolFlag{Name: "mend", Usage: "carry out plan --mend instead: the fewest moves after which no rule is broken"},
					&cli.BoolFlag{Name: "undo", Usage: "uncordon all nodes that drains and scripts have cordoned, and exit"},
					allow,
					&cli.StringFlag{Name: "lease-namespace", Value: "kube-system", Usage: "`NAMESPACE` of the lease that lets one drain run at a time"},
					&cli.DurationFlag{Name: "patience", Value: 2 * time.Minute, Usage: "longest wait until new pods run once the old ones are gone, and until a budget allows an eviction"},
				}),
				Action: p.kubernetesDrain,
			},
			{
				Name: "convert", Usage: "write the cluster as a consolidation instance", ArgsUsage: "[FILE|FOLDER]...",
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

// cluster reads the cluster that the arguments name, and prints on standard error the parts that aren't modelled.
func (p *program) cluster(ctx context.Context, c *cli.Command) (*kubernetes.Instance, error) {
	found, o, err := p.clusterAndOptions(ctx, c)
	if err != nil {
		return nil, err
	}
	return p.instanceOf(c, found, o)
}

// idle answers in words for a cluster without pods that count, which isn't an error then. Other output has no form for it.
func (p *program) idle(c *cli.Command, err error) error {
	var idle *kubernetes.IdleError
	if !errors.As(err, &idle) || c.Bool("json") || c.Bool("commands") || c.String("output") != "" || c.String("metrics") != "" {
		return err
	}
	_, err = fmt.Fprintln(p.out, words.Wrap(idle.Text(), 78, 2))
	return err
}

// planless prints that there is no plan, and returns the exit code: proved, or not found in the limits. It returns other
// errors as they are.
func (p *program) planless(err error) error {
	code := exitUnsolved
	switch {
	case errors.Is(err, kubernetes.ErrNone):
		code = exitInfeasible
	case !errors.Is(err, model.ErrNoSolution):
		return err
	}
	fmt.Fprintln(p.err, err)
	return codeError(code)
}

// instanceOf makes the instance of a cluster and prints its account.
func (p *program) instanceOf(c *cli.Command, found *kubernetes.Cluster, o kubernetes.Options) (*kubernetes.Instance, error) {
	in, err := kubernetes.Convert(found, o)
	if err != nil {
		return nil, err
	}
	p.account(in.Consolidation)
	if c.Bool("strict") {
		err = in.Account.Strict()
	}
	return in, err
}

// clusterAndOptions reads the cluster that the arguments name, and how it is to be read.
func (p *program) clusterAndOptions(ctx context.Context, c *cli.Command) (*kubernetes.Cluster, kubernetes.Options, error) {
	found, err := p.clusterObjects(ctx, c)
	if err != nil {
		return nil, kubernetes.Options{}, err
	}
	o, err := clusterOptions(c, instances.ReadFile)
	return found, o, err
}

// clusterOptions returns how a cluster is to be read, by a command's flags and the files that they name.
func clusterOptions(c *cli.Command, readFile func(string) ([]byte, error)) (o kubernetes.Options, err error) {
	o.Keep, o.Packs, o.Without = c.StringSlice("keep"), c.StringSlice("packs"), c.StringSlice("without")
	o.Schedulers, o.Mend, o.SameStep = c.StringSlice("schedulers"), c.Bool("mend"), slices.Contains(c.StringSlice("allow"), "same-step")
	if o.Survive = c.String("survive"); o.Survive != "" && !slices.Contains(kubernetes.Survivals, o.Survive) {
		return o, usagef("kubernetes: --survive is %q, give %s (or --without survive)", o.Survive, strings.Join(kubernetes.Survivals, " or "))
	}
	o.Hold = c.StringSlice("hold")
	for _, x := range o.Hold {
		if !slices.Contains(kubernetes.Holds, x) {
			return o, usagef("kubernetes: --hold is %q, give %s", x, strings.Join(kubernetes.Holds, " or "))
		}
	}
	for _, rule := range o.Without {
		if !slices.Contains(kubernetes.RuleNames, rule) {
			return o, usagef("kubernetes: --without is %q, give some of %s", rule, strings.Join(kubernetes.RuleNames, ", "))
		}
	}
	if err := useOptions(c, &o, readFile); err != nil {
		return o, err
	}
	for _, x := range c.StringSlice("slack") {
		if slices.Contains(kubernetes.Rooms, x) {
			o.Room = append(o.Room, x)
			continue
		}
		if o.Slack, err = strconv.ParseFloat(x, 64); err != nil || !(o.Slack >= 0 && o.Slack < 1) {
			return o, usagef("kubernetes: --slack is %q, give a share from 0 to below 1, or some of %s", x, strings.Join(kubernetes.Rooms, ", "))
		}
	}
	o.MaxNodes = c.Int("max-nodes")
	if c.IsSet("max-nodes") && o.MaxNodes < 1 {
		return o, usagef("kubernetes: --max-nodes is %d, must be at least 1", o.MaxNodes)
	}
	byOffers := false
	if files := c.StringSlice("offers"); len(files) > 0 {
		texts := map[string][]byte{}
		for _, file := range files {
			if texts[file], err = readFile(file); err != nil {
				return o, err
			}
		}
		if o.Offers, err = kubernetes.ReadOffers(texts); err != nil {
			return o, err
		}
		o.Prices, byOffers = o.Offers.Prices()
	}
	unit := kubernetes.Rate{}
	if text := c.String("price-unit"); text != "" {
		if unit, err = kubernetes.ParseRate(text); err != nil {
			return o, usagef("kubernetes: --price-unit: %w", err)
		}
		o.Prices = o.Prices.In(unit, 10_000)
	}
	price := c.String("price")
	if unit != (kubernetes.Rate{}) && (price == "nodes" || price == "vcpu" && (!byOffers || c.IsSet("price"))) {
		return o, usagef("kubernetes: --price-unit goes with prices: give --price FILE, or --offers with prices")
	}
	switch price {
	case "offers":
		if !byOffers {
			return o, usagef("kubernetes: --price is offers, but --offers gives no file, or one without prices")
		}
	case "vcpu":
		if byOffers && !c.IsSet("price") {
			return o, nil
		}
		if o.Prices = kubernetes.PriceByVCPU; o.Offers != nil && !c.IsSet("price") {
			o.Prices = o.Offers.Unpriced()
		}
	case "nodes":
		o.Prices = kubernetes.PriceByNode
	default:
		text, err := readFile(price)
		if err != nil {
			return o, fmt.Errorf("--price is neither vcpu nor nodes nor a file: %w", err)
		}
		if o.Prices, err = kubernetes.ReadPrices(text, unit); err != nil {
			return o, fmt.Errorf("%s: %w", price, err)
		}
	}
	return o, nil
}

// useOptions reads how pods count.
func useOptions(c *cli.Command, o *kubernetes.Options, readFile func(string) ([]byte, error)) (err error) {
	if text := c.String("floor"); text != "" {
		if o.Floor, err = kubernetes.ParseFloor(text); err != nil {
			return usagef("kubernetes: --floor: %w", err)
		}
	}
	if files := c.StringSlice("use"); len(files) > 0 {
		texts := map[string][]byte{}
		for _, file := range files {
			path := strings.TrimPrefix(strings.TrimPrefix(file, "cpu="), "memory=")
			if texts[file], err = readFile(path); err != nil {
				return err
			}
		}
		if o.Use, err = kubernetes.ReadUse(texts); err != nil {
			return err
		}
	}
	o.Headroom = c.Float("headroom")
	switch by := c.String("by"); {
	case by != "requests" && by != "use":
		return usagef("kubernetes: --by is %q, give requests or use", by)
	case by == "requests" && c.IsSet("headroom"):
		return usagef("kubernetes: --headroom goes with --by use")
	case by == "requests":
		return nil
	case o.Use == nil:
		return usagef("kubernetes: --by use needs --use FILE, what pods use")
	case !(o.Headroom >= 0 && o.Headroom <= 10):
		return usagef("kubernetes: --headroom is %v, must be from 0 to 10", o.Headroom)
	case c.Name == "drain" || c.Bool("commands") || strings.HasSuffix(c.String("output"), ".sh"):
		return usagef("kubernetes: --by use has no commands and no drain: kube-scheduler places by requests, " +
			"so that no evictions lead to its plan; change the requests first")
	}
	o.ByUse = true
	return nil
}

// kubectl returns the access to the cluster that is to be asked, with its name; nil if files are to be read. As a plugin
// of kubectl it is the current context's without files, by its name: a drain stays there when another one becomes current.
func (p *program) kubectl(ctx context.Context, c *cli.Command) (*kubernetes.Kubectl, string, error) {
	name, files := c.String("context"), c.Args().Present()
	switch within := c.Bool("in-cluster"); {
	case within && name != "":
		return nil, "", usagef("kubernetes: give --context or --in-cluster, not both")
	case files && (within || name != ""):
		return nil, "", usagef("kubernetes: give --context or files, not both")
	case within && os.Getenv("KUBERNETES_SERVICE_HOST") == "":
		return nil, "", usagef("kubernetes: --in-cluster is for a pod, whose KUBERNETES_SERVICE_HOST isn't set here; give --context")
	case within: // kubectl takes the service account's if a configuration is empty
		return &kubernetes.Kubectl{Args: []string{"--kubeconfig", os.DevNull}}, "in-cluster", nil
	case p.plugin && name == "" && !files:
		var err error
		if name, err = kubernetes.CurrentContext(ctx); err != nil {
			return nil, "", fmt.Errorf("%w cluster: give --context: %w", model.ErrInvalid, err)
		}
		if err := c.Set("context", name); err != nil { // as if it were given, for metrics
			return nil, "", err
		}
		fmt.Fprintf(p.err, "context %s\n", name)
	case name == "":
		return nil, "", nil
	}
	return &kubernetes.Kubectl{Args: []string{"--context", name}}, "context " + name, nil
}

// clusterObjects reads the files, or asks kubectl.
func (p *program) clusterObjects(ctx context.Context, c *cli.Command) (*kubernetes.Cluster, error) {
	texts, plains := map[string][]byte{}, map[string]string{} // plains are read item by item
	paths := c.Args().Slice()
	if k, name, err := p.kubectl(ctx, c); err != nil {
		return nil, err
	} else if k != nil {
		cluster, err := k.Read(ctx)
		if err != nil && ctx.Err() == nil && !errors.Is(err, model.ErrInvalid) { // a wrong context, or no kubectl
			err = fmt.Errorf("%w cluster: %s: %w", model.ErrInvalid, name, err)
		}
		return cluster, err
	}
	if len(paths) == 0 {
		return nil, usagef("kubernetes: give files or folders with what kubectl get %s -A -o json prints, "+
			"--context NAME or --in-cluster", kubernetes.Kinds)
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
			name := instances.Label(file)
			if plain(file) {
				plains[name] = file
				continue
			}
			text, err := instances.ReadFile(file)
			if err != nil {
				return nil, err
			}
			texts[name] = text
		}
	}
	names := slices.Sorted(maps.Keys(texts))
	names = append(names, slices.Collect(maps.Keys(plains))...)
	slices.Sort(names)
	return kubernetes.ReadFrom(slices.Compact(names), func(name string) (io.ReadCloser, error) {
		if text, ok := texts[name]; ok {
			return io.NopCloser(bytes.NewReader(text)), nil
		}
		return os.Open(plains[name])
	})
}

// plain reports whether a file is a regular one with an object in UTF-8, which needs no unfolding and can be opened twice.
func plain(file string) bool {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	var first [2]byte
	_, err = io.ReadFull(f, first[:])
	return err == nil && first[0] == '{' && first[1] != 0
}

// telling has a command on a terminal print each question and the state of its search, until the returned function is
// called.
func (p *program) telling(read *kubernetes.Options, o *gapwise.Options) (quiet func()) {
	if !isTerminal(p.progress()) {
		return func() {}
	}
	log, stop := &solverLog{w: p.err}, func() {}
	read.Asks = func(question string, per float64) {
		stop()
		fmt.Fprintln(p.err, question, "...")
		log = &solverLog{w: p.err, nodes: "Explored", per: per} // the cluster has other nodes
		stop = log.beat(time.Now())
	}
	o.Progress = func(x model.Progress) { log.progress(x) }
	return func() {
		stop()
		stop = func() {}
	}
}

func solvingOptions(c *cli.Command) (o gapwise.Options, err error) {
	o.Settings = model.Settings{Seed: c.Uint64("seed"), Threads: c.Int("threads"), TimeLimit: c.Duration("time-limit"), Effort: c.Int64("effort")}
	return o, checkSettings(c, o.Settings)
}

func (p *program) kubernetesPlan(ctx context.Context, c *cli.Command) error {
	o, err := solvingOptions(c)
	if err != nil {
		return err
	}
	allow, err := allowed(c)
	if err != nil {
		return err
	}
	if c.Bool("json") && c.Bool("commands") {
		return usagef("kubernetes plan: give --json or --commands, not both")
	}
	if form := filepath.Ext(c.String("output")); slices.Contains([]string{".json", ".html", ".sh"}, form) {
		if c.Bool("json") && form != ".json" || c.Bool("commands") && form != ".sh" {
			return usagef("kubernetes plan: the ending of -o %s asks for another form than --json or --commands, give one of both", c.String("output"))
		}
	}
	found, read, err := p.clusterAndOptions(ctx, c)
	if err != nil {
		return err
	}
	quiet := p.telling(&read, &o)
	defer quiet()
	in, plan, err := p.planned(ctx, c, found, read, o)
	quiet()
	if err != nil {
		return p.planless(p.idle(c, err))
	}
	if metrics := c.String("metrics"); metrics != "" {
		text := plan.Metrics(c.String("context"), time.Now())
		if err := p.writeFile(metrics, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
			return err
		}
	}
	file, script := c.String("output"), ""
	commands := c.Bool("commands") || strings.HasSuffix(file, ".sh")
	if commands {
		if script, err = in.Commands(plan, allow); err != nil {
			return harmful(err)
		}
		if file != "" { // kept: it says of which cluster and day it is
			about := clusterPage(c)
			script = strings.Replace(script, "\n", fmt.Sprintf("\n# %s, %s, by gapwise %s: %d nodes, then %d.\n", strconv.Quote(about.Title), about.Date, gapwise.Version, plan.Now.Nodes, plan.Then.Nodes), 1)
		}
	}
	asJSON := c.Bool("json") || strings.HasSuffix(file, ".json")
	page := !asJSON && !commands && strings.HasSuffix(file, ".html")
	err = p.writeFile(file, func(w io.Writer) error {
		switch {
		case asJSON:
			text, err := json.MarshalIndent(plan, "", "  ")
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(w, "%s\n", text)
			return err
		case commands:
			_, err := io.WriteString(w, script)
			return err
		case page:
			return report.Cluster(w, plan, nil, clusterPage(c))
		}
		_, err := fmt.Fprint(w, plan.Text(c.Bool("moves")))
		return err
	})
	if err != nil {
		return err
	}
	switch {
	case page:
		p.pageIn(file)
	case !asJSON && !commands:
		fmt.Fprintln(p.err, nextStep(c, plan))
	case plan.Stopped:
		fmt.Fprintln(p.err, "stopped: not all questions were answered, so that a better plan may be found")
	}
	if ctx.Err() != nil || requiresProof(c) && (plan.CostStatus != string(model.StatusOptimal) || plan.MovesStatus != string(model.StatusOptimal) || len(plan.Stuck) > 0) {
		return codeError(exitStopped)
	}
	return nil
}

// planned makes the plan for a cluster.
func (p *program) planned(ctx context.Context, c *cli.Command, found *kubernetes.Cluster, read kubernetes.Options, o gapwise.Options) (*kubernetes.Instance, *kubernetes.Plan, error) {
	in, err := p.instanceOf(c, found, read)
	if err != nil {
		return nil, nil, err
	}
	if b := c.Int64("budget"); c.IsSet("budget") {
		if b < 0 {
			return nil, nil, usagef("kubernetes plan: --budget is %d, must be at least 0", b)
		}
		in.MoveBudget = &b
	}
	plan, err := kubernetes.MakePlan(ctx, in, o)
	return in, plan, err
}

// nextStep says which commands go on from a plan.
func nextStep(c *cli.Command, plan *kubernetes.Plan) string {
	text := "next: " + strings.TrimSuffix(c.FullName(), " "+c.Name) + " report (a page), explain"
	switch {
	case len(plan.Steps) == 0:
		return text
	case c.Name == "drain":
		return text + ", drain --execute"
	}
	return text + ", plan --commands, drain"
}

// allowed returns the harms and workloads that are allowed.
func allowed(c *cli.Command) ([]string, error) {
	all := c.StringSlice("allow")
	for _, x := range all {
		if !slices.Contains(kubernetes.Harms, x) && !strings.Contains(x, "/") {
			return nil, usagef("kubernetes: --allow is %q, give some of %s, or a workload as NAMESPACE/NAME", x,
				strings.Join(kubernetes.Harms, ", "))
		}
	}
	return all, nil
}

// harmful turns the error of a plan that isn't carried out into a matter of flags.
func harmful(err error) error {
	if errors.Is(err, kubernetes.ErrHarm) {
		return usagef("kubernetes: %w", err)
	}
	return err
}

// kubernetesReport writes the page of a plan.
func (p *program) kubernetesReport(ctx context.Context, c *cli.Command) error {
	o, err := solvingOptions(c)
	if err != nil {
		return err
	}
	file := c.String("output")
	if !strings.HasSuffix(file, ".html") && !isStdout(file) {
		return usagef("kubernetes report: give the page with -o FILE.html")
	}
	found, read, err := p.clusterAndOptions(ctx, c)
	if err != nil {
		return err
	}
	quiet := p.telling(&read, &o)
	defer quiet()
	in, err := p.instanceOf(c, found, read)
	if err != nil {
		return err
	}
	o.TimeLimit /= 2
	plan, err := kubernetes.MakePlan(ctx, in, o)
	if err != nil {
		return p.planless(err)
	}
	quiet()
	o.Progress = nil // the questions follow each other quickly
	costs, err := kubernetes.Explain(ctx, found, read, o)
	if err != nil {
		return p.planless(err)
	}
	return p.writePage(ctx, file, func(w io.Writer) error { return report.Cluster(w, plan, costs, clusterPage(c)) })
}

// clusterPage names the cluster of a page by its context, or by its files, and the date.
func clusterPage(c *cli.Command) report.Options {
	name := c.String("context")
	if paths := c.Args().Slice(); name == "" && len(paths) > 0 {
		name = filepath.Base(paths[0])
		if len(paths) > 1 {
			name += fmt.Sprintf(" and %d more", len(paths)-1)
		}
	}
	o := report.Options{Title: "A plan for a cluster", Date: time.Now().UTC().Format("2006-01-02 15:04 UTC")}
	if name != "" && name != "." && name != "-" {
		o.Title = "A plan for the cluster " + name
	}
	return o
}

// kubernetesDrain carries plans out, or opens what was cordoned for them.
func (p *program) kubernetesDrain(ctx context.Context, c *cli.Command) error {
	execute, undo := c.Bool("execute"), c.Bool("undo")
	if !execute && !undo {
		return p.kubernetesPlan(ctx, c)
	}
	if execute && undo {
		return usagef("kubernetes drain: give --execute or --undo, not both")
	}
	k, _, err := p.kubectl(ctx, c)
	if err != nil {
		return err
	}
	if k == nil {
		return usagef("kubernetes drain: --execute and --undo need --context, a cluster; files can't be drained")
	}
	k.By, k.Namespace = drainID(), c.String("lease-namespace")
	// Also a lost terminal, and a reader that is gone, end it as TERM does: its nodes are to be opened.
	ctx, stop := hungUp(ctx)
	log := func(format string, args ...any) {
		if _, err := fmt.Fprintf(p.err, format+"\n", args...); err != nil {
			stop()
		}
	}
	if undo {
		nodes, err := kubernetes.Undo(ctx, k, k.By, log)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(p.out, words.Wrap(strings.TrimSuffix(words.Plural(len(nodes), "node")+" opened: "+strings.Join(nodes, ", "), ": "), 78, 2))
		return err
	}
	o, err := solvingOptions(c)
	if err != nil {
		return err
	}
	read, err := clusterOptions(c, instances.ReadFile)
	if err != nil {
		return err
	}
	allow, err := allowed(c)
	if err != nil {
		return err
	}
	d, err := kubernetes.Drain(ctx, k, kubernetes.DrainOptions{Options: read, Solve: o, By: k.By, Allow: allow, Patience: c.Duration("patience"),
		Poll: time.Second, Log: log})
	if d == nil {
		return err
	}
	fmt.Fprintf(p.out, "%s in use, %d before; %s evicted in %s, %s refused\n", words.Plural(d.After.Nodes, "node"), d.Before.Nodes,
		words.Plural(d.Evicted, "pod"), words.Plural(d.Steps, "step"), words.Plural(d.Refused, "eviction"))
	if read.Mend {
		fmt.Fprintln(p.out, words.Wrap(d.Mended(), 78, 2))
	}
	for _, x := range []struct {
		what  string
		which []string
	}{{"empty and cordoned", d.Empty}, {"empty, not cordoned by a drain", d.Idle}, {"in use and cordoned", d.Closed},
		{"joined, left alone", d.Joined},
		{"opened by others, left alone", d.Opened}, {"not evicted again", d.Stayed}} {
		if len(x.which) > 0 {
			fmt.Fprintln(p.out, words.Wrap(x.what+": "+strings.Join(x.which, ", "), 78, 2))
		}
	}
	var idle *kubernetes.IdleError
	if errors.As(err, &idle) {
		return p.idle(c, err)
	}
	return harmful(err)
}

// drainID tells a drain from others: when and where it began.
func drainID() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("gapwise kubernetes drain, %s, %s, process %d", time.Now().UTC().Format(time.RFC3339), host, os.Getpid())
}

// kubernetesExplain solves the cluster as it is and without each rule.
func (p *program) kubernetesExplain(ctx context.Context, c *cli.Command) error {
	o, err := solvingOptions(c)
	if err != nil {
		return err
	}
	found, read, err := p.clusterAndOptions(ctx, c)
	if err != nil {
		return err
	}
	if pod, node := c.String("pod"), c.String("node"); pod+node != "" {
		return p.kubernetesWhy(ctx, c, found, read, o, pod, node)
	}
	defer p.telling(&read, &o)()
	o.Progress = nil // the questions follow each other quickly
	e, err := kubernetes.Explain(ctx, found, read, o)
	if err != nil {
		return p.idle(c, p.planless(err))
	}
	if c.Bool("json") {
		return cmp.Or(writeLines(p.out, e), cutShort(ctx))
	}
	fmt.Fprintf(p.out, "in use now: %s\n\n", kubernetes.Money(float64(e.Now), e.PriceUnit))
	without, with := []string{"without", "cost", "bound", "status", "saved by it"}, []string{"with", "cost", "bound", "status", "its price"}
	for k, t := range []runs.Table{{Header: without, Rows: e.Rows(e.Rules)}, {Header: with, Rows: e.GoalRows()}, {Header: without, Rows: e.Rows(e.Singles)}} {
		if len(t.Rows) == 0 {
			continue
		}
		if k > 0 {
			fmt.Fprintln(p.out)
		}
		if err := t.Render(p.out, "text"); err != nil {
			return err
		}
	}
	fmt.Fprint(p.out, e.Others())
	fmt.Fprint(p.out, kubernetes.PinsText(e.Pins))
	return cutShort(ctx)
}

// cutShort is the error of a command that has printed what it had at Ctrl-C.
func cutShort(ctx context.Context) error {
	if ctx.Err() != nil {
		return codeError(exitStopped)
	}
	return nil
}

// kubernetesWhy answers for a pod, or a node.
func (p *program) kubernetesWhy(ctx context.Context, c *cli.Command, found *kubernetes.Cluster, read kubernetes.Options, o gapwise.Options, pod, node string) error {
	if pod != "" && node != "" {
		return usagef("kubernetes explain: give --pod or --node, not both")
	}
	in, err := p.instanceOf(c, found, read)
	if err != nil {
		return p.idle(c, err)
	}
	var answer any
	text := ""
	if pod != "" {
		var a *kubernetes.PodAnswer
		if a, err = in.WhyPod(ctx, pod, o); err == nil {
			answer, text = a, a.Text(mostAnswers)
		}
	} else {
		var a *kubernetes.HeldNode
		if a, err = in.WhyNode(node); err == nil {
			answer, text = a, a.Text()
		}
	}
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return cmp.Or(writeLines(p.out, answer), cutShort(ctx))
	}
	_, err = fmt.Fprint(p.out, text)
	return cmp.Or(err, cutShort(ctx))
}

// mostAnswers is how many nodes are printed for a pod.
const mostAnswers = 20
