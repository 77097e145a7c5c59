package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"github.com/xrash/smetrics"
)

// usageError is a command line that can't be understood.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// onUsageError puts the flag parser's messages in our words: what is wrong,
// and what to give instead.
func onUsageError(c *cli.Context, err error, _ bool) error {
	prefix := ""
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != c.App.Name {
		prefix = c.Command.Name + ": "
	}
	// The program's own flags stand before the command, not after it.
	flags := c.App.Flags
	if prefix != "" {
		flags = append([]cli.Flag{cli.HelpFlag}, c.Command.Flags...)
	}
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		name = strings.TrimLeft(name, "-")
		if name == "v" || name == "version" {
			return usagef("%sunknown flag %s; gapwise --version prints the version", prefix, dashed(name))
		}
		return usagef("%sunknown flag %s%s", prefix, dashed(name), didYouMean(name, cli.SuggestFlag(flags, name, true)))
	}
	if rest, ok := strings.CutPrefix(strings.Replace(text, "invalid boolean value", "invalid value", 1), "invalid value "); ok {
		rest = strings.Replace(rest, " for -", " for flag -", 1)
		value, name, found := strings.Cut(rest, " for flag -")
		name, why, _ := strings.Cut(name, ": ")
		if found {
			return usagef("%s%s is %s, must be %s", prefix, dashed(name), value, wanted(flags, name, why))
		}
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		return usagef("%s%s needs a value", prefix, dashed(strings.TrimLeft(name, "-")))
	}
	return usagef("%s%w", prefix, errors.New(text))
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// wanted says which values a flag takes.
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

// didYouMean suggests what the library takes for nearest, if it is near.
func didYouMean(name, nearest string) string {
	bare := strings.TrimLeft(nearest, "-")
	if len(bare) < 2 || smetrics.WagnerFischer(name, bare, 1, 1, 1) > 2 {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", nearest)
}

// flagsFirst moves a command's flags before its files, since the flag parser
// stops at the first word that isn't a flag.
func flagsFirst(app *cli.App, args []string) []string {
	if len(args) < 3 || strings.HasPrefix(args[1], "-") {
		return args
	}
	cmd := app.Command(args[1])
	if cmd == nil {
		return args
	}
	takesValue := map[string]bool{}
	for _, f := range cmd.Flags {
		_, isBool := f.(*cli.BoolFlag)
		for _, n := range f.Names() {
			takesValue[n] = !isBool
		}
	}
	flags, files := []string{args[0], args[1]}, []string{}
	for rest := args[2:]; len(rest) > 0; rest = rest[1:] {
		a := rest[0]
		if a == "--" {
			files = append(files, rest[1:]...)
			break
		}
		if len(a) < 2 || a[0] != '-' {
			files = append(files, a)
			continue
		}
		flags = append(flags, a)
		if name := strings.TrimLeft(a, "-"); takesValue[name] {
			if len(rest) == 1 {
				return flags // the parser says that the value is missing
			}
			rest = rest[1:]
			flags = append(flags, rest[0])
		}
	}
	return append(append(flags, "--"), files...)
}

// files are the command's arguments, at least one and at most most (0: any number).
func files(c *cli.Context, most int) ([]string, error) {
	all := c.Args().Slice()
	if len(all) == 0 {
		return nil, usagef("%s: give a file, or - for standard input; see gapwise %s --help", c.Command.Name, c.Command.Name)
	}
	if most > 0 && len(all) > most {
		return nil, usagef("%s: %d files are too many, give %d at most", c.Command.Name, len(all), most)
	}
	return all, nil
}

func unknownCommand(app *cli.App, name string) error {
	cli.SuggestDidYouMeanTemplate = "%s"
	return usagef("unknown command %q%s; see gapwise help", name, didYouMean(name, cli.SuggestCommand(app.Commands, name)))
}

func (p *program) help() *cli.Command {
	return &cli.Command{
		Name:      "help",
		Usage:     "say what the command or one of its commands does",
		ArgsUsage: "[COMMAND]",
		Action: func(c *cli.Context) error {
			name := c.Args().First()
			switch {
			case name == "":
				return cli.ShowAppHelp(c)
			case c.App.Command(name) == nil:
				return unknownCommand(c.App, name)
			}
			return cli.ShowCommandHelp(c, name)
		},
	}
}
