// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/model"
)

// completionRequest ends the command lines that the shell wants completed.
const completionRequest = "--generate-shell-completion"

// describeCompletion changes the library's words about its command to ours.
func describeCompletion(c *cli.Command) {
	c.Hidden = false
	c.Usage = "print a script that completes command lines"
	c.UsageText = "gapwise completion bash | zsh | fish | pwsh"
	c.OnUsageError = onUsageError
	c.Action = func(_ context.Context, c *cli.Command) error {
		var shells []string
		for _, shell := range c.Commands {
			shells = append(shells, shell.Name)
		}
		if c.NArg() == 0 {
			return usagef("completion: name your shell: %s", strings.Join(shells, ", "))
		}
		return usagef("completion: %q is no shell that is known, give one of %s", c.Args().First(), strings.Join(shells, ", "))
	}
	for _, shell := range c.Commands {
		shell.Usage = "for " + shell.Name
		shell.OnUsageError = onUsageError
		if library := shell.Action; shell.Name == "bash" {
			shell.Action = func(ctx context.Context, c *cli.Command) error {
				if err := library(ctx, c); err != nil {
					return err
				}
				_, err := fmt.Fprint(c.Root().Writer, plainBash)
				return err
			}
		}
	}
}

// plainBash ends the library's script for bash, which needs the package
// bash-completion to split the line. Without it, as in small containers, bash splits the words itself.
const plainBash = `
eval "__gapwise_library_$(declare -f __gapwise_init_completion)"
__gapwise_init_completion() {
  if declare -F _comp_initialize >/dev/null || declare -F _get_comp_words_by_ref >/dev/null; then
    __gapwise_library___gapwise_init_completion "$@"
  fi
}
`

// completeValue prints the values that may follow the last word, if that is a flag
// with known values or a command with known arguments, and reports whether it is.
// The library knows the rest: flags and commands.
func (p *program) completeValue(args []string) bool {
	n := len(args) - 1
	if n < 2 || args[n] != completionRequest {
		return false
	}
	values := valuesOf(args[1], args[n-1], n == 2)
	for _, v := range values {
		fmt.Fprintln(p.out, v)
	}
	return len(values) > 0
}

// valuesOf returns the values that a flag of a command takes, or the command's
// arguments if last is the command itself; nil if any text will do.
func valuesOf(command, last string, first bool) []string {
	if first {
		switch command {
		case "algorithms":
			return kindNames()
		case "bench":
			names := benchmarks.Names()
			for _, x := range (&program{}).benchCommands() {
				names = append(names, x.name)
			}
			return names
		}
		return nil
	}
	flag, ok := strings.CutPrefix(last, "-")
	if !ok {
		return nil
	}
	switch flag = strings.TrimPrefix(flag, "-"); flag {
	case "a", "algorithm", "algorithms":
		names := []string{"auto", "exact", "all"}
		for _, kind := range model.Kinds() {
			for _, a := range gapwise.Algorithms(kind) {
				names = append(names, a.Name)
			}
		}
		return unique(names)
	case "engine":
		var names []string
		for _, p := range gapwise.Problems() {
			names = append(names, p.Engines()...)
		}
		return unique(append(append(names, gapwise.Externals()...), "both"))
	case "formulation":
		var names []string
		for _, kind := range model.Kinds() {
			names = append(names, gapwise.Formulations(kind)...)
		}
		return unique(names)
	case "kind":
		return kindNames()
	case "plan":
		return benchmarks.Names()
	case "format":
		if command == "bench" {
			return runs.Formats
		}
	}
	var values []string
	for _, p := range gapwise.Problems() {
		for _, v := range p.Variants {
			if v.Flag == flag {
				values = append(values, v.Values...)
			}
		}
	}
	return unique(values)
}

// kindNames returns the names of the problems.
func kindNames() []string {
	var names []string
	for _, kind := range model.Kinds() {
		names = append(names, string(kind))
	}
	return names
}

// unique sorts names and drops those that are there twice.
func unique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
