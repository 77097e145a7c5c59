// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

// command is a command's text in the program's help, and a function that makes the rest.
type command struct {
	name, usage string
	build       func() *cli.Command
	hidden      bool
}

// commands returns the commands in the order of the help.
func (p *program) commands() []command {
	return []command{
		{name: "generate", usage: "generate random instances", build: p.generate},
		{name: "solve", usage: "solve instances: solution, bound and gap, verified", build: p.solve},
		{name: "kubernetes", usage: "find fewer or cheaper nodes for the pods of a cluster", build: p.kubernetesPlans},
		{name: "verify", usage: "check a solution in exact arithmetic", build: p.verify},
		{name: "check", usage: "replay a proof of a bound", build: p.check},
		{name: "bound", usage: "compute bounds that no solution can beat, without search", build: p.bound},
		{name: "explain", usage: "say why no solution beats the bound, and what limits it", build: p.explain},
		{name: "bench", usage: "run experiments, and make tables, plots and tests of results", build: p.bench},
		{name: "export", usage: "write a formulation as MPS or LP, or a plan for SimGrid", build: p.export},
		{name: "convert", usage: "convert a foreign file or an instance to gapwise's format", build: p.convert},
		{name: "gantt", usage: "draw a solution", build: p.gantt},
		{name: "report", usage: "make an HTML page of results, an instance or a log", build: p.report},
		{name: "algorithms", usage: "list the algorithms, with their papers and complexity", build: p.algorithms},
		{name: "policy", usage: "start an online policy of your own, in any language", build: p.policy},
		{name: "session", usage: "solve an instance again after each change, line by line", build: p.session},
		{name: "serve", usage: "answer over HTTP: solve, verify, explain, draw, convert", build: p.serve},
		{name: "web", usage: "serve the playground: a page that solves in the browser", build: p.web},
		{name: "version", usage: "print the versions of gapwise and its parts", build: p.version},
		{name: "audit", usage: "compare engines, heuristics, bounds and the judge", build: p.audit, hidden: true},
		{name: "help", usage: "show help for a command", build: p.help},
	}
}

// benchCommands returns the commands that read the results of an experiment, in the order of the help.
func (p *program) benchCommands() []command {
	return []command{
		{name: "merge", usage: "merge the shards of an experiment", build: p.merge},
		{name: "table", usage: "make a table of results", build: p.table},
		{name: "compare", usage: "compare algorithms in pairs, with a significance test", build: p.compare},
		{name: "plot", usage: "draw curves of results, or the rounds of network-aware", build: p.plot},
		{name: "findings", usage: "check a paper's findings against results", build: p.findings},
	}
}

// made returns the command in full.
func (x command) made() *cli.Command {
	c := x.build()
	c.Name, c.Usage, c.Hidden = x.name, x.usage, x.hidden
	takeDefaults(c)
	return c
}

// renamed holds the names of commands before 0.11, with the words that are typed now. They answer for one version,
// and docs/reference/renamed.md lists them.
var renamed = map[string][]string{
	"pack": {"solve", "--least-hosts"}, "merge": {"bench", "merge"}, "table": {"bench", "table"},
	"compare": {"bench", "compare"}, "plot": {"bench", "plot"}, "findings": {"bench", "findings"},
}

// byNewName returns the command line with the new name of a command in the place of its old one, and prints a note. It
// prints nothing for the shell, which asks how the line goes on.
func (p *program) byNewName(args []string) []string {
	if len(args) < 2 || renamed[args[1]] == nil {
		return args
	}
	now := renamed[args[1]]
	if args[len(args)-1] != completionRequest {
		fmt.Fprintf(p.err, "gapwise: gapwise %s is called gapwise %s now; the old name goes with the next release\n",
			args[1], strings.Join(now, " "))
	}
	return slices.Concat(args[:1], now, args[2:])
}

// named returns the commands. Only commands among args have flags, description and action: making them for all is most
// of the cost of gapwise version. The help and the shell ask the others for a name and a line, but not once the first
// of args is a command other than help.
func (p *program) named(args []string) []*cli.Command {
	var all []*cli.Command
	for _, x := range p.commands() {
		if !slices.Contains(args, x.name) {
			x.build = func() *cli.Command { return &cli.Command{} }
		}
		c := x.made()
		if len(c.Commands) > 0 {
			for _, f := range c.Flags { // of a command with others below it: they don't take them
				reflect.ValueOf(f).Elem().FieldByName("Local").SetBool(true)
			}
		}
		for _, c := range append(c.Commands, c) {
			c.OnUsageError, c.HideHelpCommand = onUsageError, c.Action != nil
		}
		if len(args) > 1 && args[1] == x.name && x.name != "help" {
			return []*cli.Command{c}
		}
		all = append(all, c)
	}
	return all
}

// printHelp prints the library's help and a command's examples below it.
func printHelp(w io.Writer, template string, about any) {
	cli.DefaultPrintHelp(w, template, about)
	if name, ok := strings.CutPrefix(about.(*cli.Command).FullName(), "gapwise "); ok {
		_, _ = io.WriteString(w, exampleLines(name, "EXAMPLES:", "   "))
	}
}
