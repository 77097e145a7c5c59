// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/internal/app/serve"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/web"
)

func (p *program) serve() *cli.Command {
	return &cli.Command{
		ArgsUsage: " ",
		Description: "POST /v1/solve takes {\"instance\": ..., \"options\": {...}} and answers with\n" +
			"the output of gapwise solve --json. docs/how-to/service.md shows it with\n" +
			"curl, and GET /v1/openapi.json describes the interface: it also judges,\n" +
			"draws, converts, and plans for Kubernetes. The path / is the playground, in\n" +
			"builds that include it (gapwise web).\n\n" +
			"If other machines can reach the address, the service requires a token, from\n" +
			"GAPWISE_TOKEN or --token-file. There is no TLS. Requests can't name\n" +
			"programs, files or plans.\n\n" +
			"TERM and Ctrl-C end the service: running requests have --grace to end, and\n" +
			"then answer with their best solution so far.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:8380", Usage: "`ADDRESS` and port; port 0 takes a free one"},
			&cli.StringFlag{Name: "token-file", Usage: "`FILE` with the token that requests must carry"},
			&cli.IntFlag{Name: "body", Value: 32, Usage: "largest body, in MiB; " +
				"a host, processor, slot, process or task counts as at least 64 bytes; an answer may be four times as large"},
			&cli.IntFlag{Name: "memory", Value: 2048, Usage: "soft limit of the memory without HiGHS's, in MiB; a sixteenth is for bodies"},
			&cli.DurationFlag{Name: "time-limit", Value: time.Minute, Usage: "longest time of one solve"},
			&cli.IntFlag{Name: "at-once", Usage: "solves that run at once", DefaultText: "number of cores"},
			&cli.IntFlag{Name: "waiting", Value: 1000, Usage: "requests that may wait for a solve; others are told to come again"},
			&cli.IntFlag{Name: "threads", Value: 1, Usage: "largest number of worker threads of one solve"},
			&cli.DurationFlag{Name: "keep", Value: 10 * time.Minute, Usage: "time for which the results of jobs can be fetched"},
			&cli.DurationFlag{Name: "grace", Value: 10 * time.Second, Usage: "time for running requests when the service ends"},
			&cli.BoolFlag{Name: "openapi", Usage: "print the description of the interface, and exit"},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.NArg() > 0 {
				return usagef("serve: it takes no files")
			}
			if c.Bool("openapi") {
				text, err := serve.Describe()
				if err == nil {
					_, err = p.out.Write(text)
				}
				return err
			}
			set, err := serviceConfig(c)
			if err != nil {
				return err
			}
			l, err := listen(c)
			if err != nil {
				return err
			}
			fmt.Fprintf(p.progress(), "gapwise listens on http://%s\n", l.Addr())
			if err := serve.New(set).Serve(ctx, l); err != nil {
				return err
			}
			fmt.Fprintln(p.progress(), "gapwise has ended its work")
			return nil
		},
	}
}

// listen takes the address of --listen. The error is one of usage.
func listen(c *cli.Command) (net.Listener, error) {
	address := c.String("listen")
	l, err := net.Listen("tcp", address)
	if err == nil {
		return l, nil
	}
	var at *net.OpError
	if errors.As(err, &at) {
		err = at.Err
	}
	return nil, usagef("%s: --listen is %s: %w; give another port of this machine, or 127.0.0.1:0 for a free one", c.Name, address, err)
}

// serviceConfig returns the settings of the flags, and of the token's file or variable.
func serviceConfig(c *cli.Command) (serve.Config, error) {
	set := serve.Config{Token: os.Getenv("GAPWISE_TOKEN"), Body: int64(c.Int("body")) << 20, Memory: int64(c.Int("memory")) << 20,
		TimeLimit: c.Duration("time-limit"), AtOnce: c.Int("at-once"), Waiting: c.Int("waiting"), Threads: c.Int("threads"),
		Jobs: 1000, Keep: c.Duration("keep"), Grace: c.Duration("grace"), Page: web.Handler()}
	made := newMaker()
	set.Generate, set.Convert, set.Draw, set.Plan = made.generate, made.convert, made.draw, made.plan(set.TimeLimit, set.Threads)
	if !c.IsSet("at-once") {
		set.AtOnce = runtime.NumCPU()
	}
	if path := c.String("token-file"); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return set, fmt.Errorf("%w: can't read %s: %w", model.ErrInvalid, path, bare(err))
		}
		if set.Token = strings.TrimSpace(string(text)); set.Token == "" {
			return set, fmt.Errorf("%w: %s holds no token", model.ErrInvalid, path)
		}
	}
	if err := set.Check(); err != nil {
		return set, usagef("serve: %w", err)
	}
	if set.Token == "" && !serve.Loopback(c.String("listen")) {
		return set, usagef("serve: other machines reach %s: give a token in GAPWISE_TOKEN or by --token-file, or listen on 127.0.0.1", c.String("listen"))
	}
	return set, nil
}
