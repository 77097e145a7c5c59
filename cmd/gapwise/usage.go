// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/internal/text/nearest"
)

// usageError reports a command line that can't be understood.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// onUsageError rewrites the flag parser's messages: the error, and the fix.
func onUsageError(_ context.Context, c *cli.Command, err error, sub bool) error {
	prefix := ""
	if sub {
		prefix = c.Name + ": "
	}
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		if name == "v" || name == "version" {
			return usagef("%sunknown flag %s; gapwise --version prints the version", prefix, dashed(name))
		}
		return usagef("%sunknown flag %s%s", prefix, dashed(name), didYouMean(name, "--", flagNames(c)))
	}
	if rest, ok := strings.CutPrefix(text, "invalid value "); ok {
		if value, rest, ok := strings.Cut(rest, " for flag -"); ok {
			name, why, _ := strings.Cut(rest, ": ")
			if strings.Contains(why, "duplicate") {
				return usagef("%s%s is given twice, and takes one value here", prefix, dashed(name))
			}
			return usagef("%s%s is %s, must be %s", prefix, dashed(name), value, wanted(c.Flags, name, why))
		}
	}
	if flag, ok := strings.CutPrefix(text, "flag needs an argument: "); ok {
		return usagef("%s%s needs a value", prefix, flag)
	}
	return usagef("%s%w", prefix, err)
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// wanted describes the values that a flag takes.
func wanted(flags []cli.Flag, name, why string) string {
	for _, f := range flags {
		if !slices.Contains(f.Names(), name) {
			continue
		}
		switch f.(type) {
		case *cli.DurationFlag:
			return "a time like 10s, 500ms or 5m"
		case *cli.IntFlag:
			return "a whole number"
		case *cli.Uint64Flag:
			return "a whole number from 0"
		case *cli.Float64Flag:
			return "a number"
		case *cli.BoolFlag:
			return "true or false"
		}
	}
	return "another (" + why + ")"
}

// didYouMean suggests the known name that is nearest to a misspelt one, after a
// prefix.
func didYouMean(name, prefix string, known []string) string {
	if near := nearest.Of(name, known); near != "" {
		return fmt.Sprintf("; did you mean %s%s?", prefix, near)
	}
	return ""
}

func flagNames(c *cli.Command) (all []string) {
	for _, f := range c.Flags {
		all = append(all, f.Names()...)
	}
	return all
}

// files returns the command's arguments, at least one and at most most (0: any
// number).
func files(c *cli.Command, most int) ([]string, error) {
	all := c.Args().Slice()
	if len(all) == 0 {
		return nil, usagef("%s: give a file, or - for standard input; see %s --help%s", c.Name, c.FullName(), swallowed(c))
	}
	if most > 0 && len(all) > most {
		return nil, usagef("%s: %d files are too many, give %d at most", c.Name, len(all), most)
	}
	return all, nil
}

// swallowed names a flag with a value that is a readable file, probably meant as the command's argument.
func swallowed(c *cli.Command) string {
	for _, name := range []string{"trace", "proof"} {
		value := c.String(name)
		if info, err := os.Stat(value); err == nil && info.Mode().IsRegular() {
			return fmt.Sprintf("; --%s took %s", name, value)
		}
	}
	return ""
}

func unknownCommand(app *cli.Command, name string) error {
	if now := renamed[name]; now != nil && app == app.Root() {
		return usagef("gapwise %s is called gapwise %s now; see gapwise help", name, strings.Join(now, " "))
	}
	var known []string
	for _, c := range app.Commands {
		known = append(known, c.Names()...)
	}
	return usagef("unknown command %q%s; see gapwise help", name, didYouMean(name, "", known))
}

func (p *program) help() *cli.Command {
	return &cli.Command{
		ArgsUsage: "[COMMAND]...",
		Action: func(ctx context.Context, c *cli.Command) error {
			of, name := (*cli.Command)(nil), "" // of a command, none yet: the one of this name
			about := c.Root()
			for _, name = range c.Args().Slice() {
				if of, about = about, about.Command(name); about == nil {
					return unknownCommand(of, name)
				}
			}
			if of == nil {
				return cli.ShowRootCommandHelp(about)
			}
			return cli.ShowCommandHelp(ctx, of, name)
		},
	}
}
