// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gapwise/gapwise/internal/run/panics"
)

// patience is how long a solver is waited for after the first signal, and, with a tenth of
// it, after its time limit: the command is to be gone within a second.
const patience = 300 * time.Millisecond

// leave is how long a command has after the first signal to end by itself: those that
// have something to write that would be lost have some time.
func (p *program) leave(command string) time.Duration {
	switch command {
	case "solve", "audit", "bench", "report", "kubernetes":
		return 16 * p.patience
	case "serve", "session", "drain": // it ends by itself, after its grace, or with its nodes open
		return math.MaxInt64
	}
	return p.patience
}

// untilLeft runs a command line and returns its exit code. After the first signal it waits no longer than leave: steps
// that read, judge or draw end there.
func (p *program) untilLeft(ctx context.Context, args []string) int {
	args = p.byNewName(args)
	name := ""
	if len(args) > 1 {
		name = args[1]
	}
	if name == "bench" && len(args) > 2 {
		if slices.ContainsFunc(p.benchCommands(), func(x command) bool { return x.name == args[2] }) {
			name = args[2]
		}
	}
	if name == "kubernetes" && slices.Contains(args[2:], "drain") {
		name = "drain"
	}
	code := 0
	returned, err := panics.Within(ctx, func() time.Duration { return p.leave(name) }, func() error { code = p.run(ctx, args); return nil })
	panics.Pass(err)
	if returned {
		return code
	}
	fmt.Fprintln(p.err, "gapwise: stopped")
	if name == "bench" {
		return exitStopped
	}
	return exitUnsolved
}
