// SPDX-License-Identifier: MIT

//go:build unix

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// copyOf returns another file for the open file of a number.
func copyOf(n int, name string) (*os.File, error) {
	n, err := syscall.Dup(n)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(n), name), nil
}

// hungUp returns a context that also ends with a lost terminal, unless nohup keeps that away, and with a pipe that nobody
// reads. As long as it isn't stopped by its function, neither ends the program.
func hungUp(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := []os.Signal{syscall.SIGPIPE}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	inner, cancel := context.WithCancel(ctx)
	c := make(chan os.Signal, 1)
	signal.Notify(c, signals...) // for good: writing goes on to fail
	go func() {
		select {
		case <-c:
			cancel()
		case <-inner.Done():
		}
	}()
	return inner, cancel
}
