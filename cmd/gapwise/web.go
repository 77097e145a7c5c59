// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/internal/app/serve"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/web"
)

func (p *program) web() *cli.Command {
	return &cli.Command{
		ArgsUsage: " ",
		Description: "Serves a page that contains the solver, as WebAssembly. Files that you open\n" +
			"in it stay on your machine, and only this machine can reach the page.\n" +
			"Released programs include the page; make web builds it (web/dist), also for\n" +
			"any static host.",
		Flags: []cli.Flag{&cli.StringFlag{Name: "listen", Value: "127.0.0.1:8381", Usage: "`ADDRESS` and port of this machine; port 0 takes a free one"}},
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.NArg() > 0 {
				return usagef("web: it takes no files")
			}
			page := web.Handler()
			if page == nil {
				return fmt.Errorf("%w: this build has no playground: make web makes bin/gapwise with it, and web/dist for any static host", model.ErrUnsupported)
			}
			if !serve.Loopback(c.String("listen")) {
				return usagef("web: --listen is %s, give an address of this machine such as 127.0.0.1:8381; for others, serve web/dist by a web server", c.String("listen"))
			}
			l, err := listen(c)
			if err != nil {
				return err
			}
			fmt.Fprintf(p.progress(), "the playground is at http://%s\n", l.Addr())
			s := &http.Server{Handler: page, ReadHeaderTimeout: 5 * time.Second}
			defer context.AfterFunc(ctx, func() { _ = s.Close() })() // it ends anyway
			if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		},
	}
}
