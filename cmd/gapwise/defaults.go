// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v3"
)

// defaultVariables are the environment variables with defaults of flags of all commands that have them.
var defaultVariables = map[string]string{"time-limit": "GAPWISE_TIME_LIMIT", "effort": "GAPWISE_EFFORT", "threads": "GAPWISE_THREADS", "seed": "GAPWISE_SEED"}

// runVariable is set for programs that gapwise runs. A gapwise among them has its limits from its command line alone: the
// variables around it are meant for the outer one, and GAPWISE_SEED is the seed that it is told.
const runVariable = "GAPWISE_RUN"

// takeDefaults gives the flags of a command and of its commands the defaults of the environment. A value that can't be
// read is a usage error once the command runs.
func takeDefaults(c *cli.Command) {
	if os.Getenv(runVariable) != "" {
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
			own := *f
			own.Value, err = time.ParseDuration(text)
			own.DefaultText, c.Flags[k] = "", &own
		case *cli.Int64Flag:
			own := *f
			own.Value, err = strconv.ParseInt(text, 10, 64)
			own.DefaultText, c.Flags[k] = "", &own
		case *cli.IntFlag:
			own := *f
			own.Value, err = strconv.Atoi(text)
			own.DefaultText, c.Flags[k] = "", &own
		case *cli.Uint64Flag:
			own := *f
			own.Value, err = strconv.ParseUint(text, 10, 64)
			own.DefaultText, c.Flags[k] = "", &own
		}
		if err != nil {
			c.Before = func(ctx context.Context, _ *cli.Command) (context.Context, error) {
				return ctx, usagef("the environment variable %s is %q, give a value that --%s takes", variable, text, f.Names()[0])
			}
		}
	}
}
