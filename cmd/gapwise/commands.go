// SPDX-License-Identifier: MIT

package main

import (
	"io"
	"slices"

	"github.com/urfave/cli/v3"
)

// command is what the help of the program says of a command, and what makes the rest of it.
type command struct {
	name, usage string
	build       func() *cli.Command
	hidden      bool
}

// commands returns the commands in the order of the help.
func (p *program) commands() []command {
	return []command{
		{name: "generate", usage: "draw random instances", build: p.generate},
		{name: "solve", usage: "solve instances: solution, bound and gap, verified", build: p.solve},
		{name: "pack", usage: "least number of equal hosts: vector bin packing", build: p.pack},
		{name: "kubernetes", usage: "fewer or cheaper nodes for the pods of a cluster", build: p.kubernetesPlans},
		{name: "verify", usage: "judge a solution in exact arithmetic", build: p.verify},
		{name: "check", usage: "replay a proof of a bound", build: p.check},
		{name: "bound", usage: "bounds that no solution can beat, without search", build: p.bound},
		{name: "explain", usage: "say why no solution beats the bound, and what holds it up", build: p.explain},
		{name: "bench", usage: "run an experiment's plan, or algorithms on files; or go on", build: p.bench},
		{name: "merge", usage: "put the shards of an experiment together", build: p.merge},
		{name: "table", usage: "make a table of results", build: p.table},
		{name: "compare", usage: "test in pairs which algorithm is better", build: p.compare},
		{name: "export", usage: "write a formulation as MPS or LP", build: p.export},
		{name: "convert", usage: "write a foreign file or an instance in the own format", build: p.convert},
		{name: "gantt", usage: "draw a solution", build: p.gantt},
		{name: "plot", usage: "draw curves of a benchmark, or the rounds of network-aware", build: p.plot},
		{name: "report", usage: "one page of results, of an instance or of a log, as HTML", build: p.report},
		{name: "findings", usage: "check a paper's findings against results", build: p.findings},
		{name: "algorithms", usage: "list the algorithms, with their papers and complexity", build: p.algorithms},
		{name: "policy", usage: "begin an online policy of your own, in any language", build: p.policy},
		{name: "session", usage: "solve an instance again after each change, line by line", build: p.session},
		{name: "serve", usage: "answer over HTTP: solve, verify, bound, explain, check", build: p.serve},
		{name: "web", usage: "serve the playground: a page that solves in the browser", build: p.web},
		{name: "version", usage: "print what this gapwise was built from", build: p.version},
		{name: "audit", usage: "compare engines, heuristics, bounds and the judge", build: p.audit, hidden: true},
		{name: "man", usage: "print the manual page", build: p.man},
		{name: "help", usage: "say what the command or one of its commands does", build: p.help},
	}
}

// named returns the commands, with flags, description and action those that stand among args: making them for
// all is most of what gapwise version would cost. Of the others the help and the shell ask for a name and a line,
// and nobody asks once the first of args is a command other than help.
func (p *program) named(args []string) []*cli.Command {
	var all []*cli.Command
	for _, x := range p.commands() {
		c := &cli.Command{}
		if slices.Contains(args, x.name) {
			c = x.build()
		}
		c.Name, c.Usage, c.Hidden = x.name, x.usage, x.hidden
		c.OnUsageError, c.CustomHelpTemplate = onUsageError, cli.CommandHelpTemplate
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
	if c := about.(*cli.Command); len(c.Lineage()) == 2 {
		_, _ = io.WriteString(w, exampleLines(c.Name, "EXAMPLES:", "   "))
	}
}
