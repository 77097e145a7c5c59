// SPDX-License-Identifier: MIT

//go:build !unix

package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
)

// copyOf fails: files have no numbers.
func copyOf(_ int, name string) (*os.File, error) {
	return nil, fmt.Errorf("there is no %s on %s, give - for standard output", name, runtime.GOOS)
}

// hungUp returns a context with its end: a lost terminal comes as TERM, or not at all.
func hungUp(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}
