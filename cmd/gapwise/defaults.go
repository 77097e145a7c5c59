// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/internal/run/process"
)

// defaultVariables are the environment variables with defaults of flags of all commands that have them.
var defaultVariables = map[string]string{"time-limit": "GAPWISE_TIME_LIMIT", "effort": "GAPWISE_EFFORT", "threads": "GAPWISE_THREADS", "seed": "GAPWISE_SEED",
	"seeds": "GAPWISE_SEED"}

// takeDefaults gives the flags of a command and of its commands the defaults of the environment. A value that can't be
// read is a usage error once the command runs. A gapwise that another one runs has its limits from its command line alone:
// the variables are meant for the outer one, and GAPWISE_SEED is the seed that a heuristic is told.
func takeDefaults(c *cli.Command) {
	if os.Getenv(process.Variable) != "" {
		return
	}
	for _, x := range c.Commands {
		takeDefaults(x)
	}
	c.Flags = slices.Clone(c.Flags)
	for k, f := range c.Flags {
		variable := defaultVariables[f.Names()[0]]
		text := os.Getenv(variable)
		if variable == "" || text == "" {
			continue
		}
		var err error
		switch f := f.(type) {
		case *cli.DurationFlag:
			c.Flags[k], err = preset(f, text, time.ParseDuration)
		case *cli.Int64Flag:
			c.Flags[k], err = preset(f, text, func(x string) (int64, error) { return strconv.ParseInt(x, 10, 64) })
		case *cli.IntFlag:
			c.Flags[k], err = preset(f, text, strconv.Atoi)
		case *cli.StringFlag: // a list of seeds
			c.Flags[k], err = preset(f, text, func(x string) (string, error) { _, err := strconv.ParseUint(x, 10, 64); return x, err })
		case *cli.Uint64Flag:
			c.Flags[k], err = preset(f, text, func(x string) (uint64, error) { return strconv.ParseUint(x, 10, 64) })
		}
		if err != nil {
			c.Before = func(ctx context.Context, _ *cli.Command) (context.Context, error) {
				return ctx, usagef("the environment variable %s is %q, give a value that --%s takes", variable, text, f.Names()[0])
			}
		}
	}
}

// preset returns a flag with another default.
func preset[T, C any, V cli.ValueCreator[T, C]](f *cli.FlagBase[T, C, V], text string, parse func(string) (T, error)) (cli.Flag, error) {
	own := *f
	value, err := parse(text)
	own.Value, own.DefaultText = value, ""
	return &own, err
}
