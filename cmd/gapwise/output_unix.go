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

// hungUp returns a context that also ends with a lost terminal, unless nohup keeps that away. Neither that nor a pipe that
// nobody reads ends the program: writing to it fails. (A kubectl that ends without reading is such a pipe, too.)
func hungUp(ctx context.Context) (context.Context, context.CancelFunc) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // for good: writing goes on to fail
	inner, cancel := context.WithCancel(ctx)
	c := make(chan os.Signal, 1)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(c, syscall.SIGHUP)
	}
	go func() {
		select {
		case <-c:
			cancel()
		case <-inner.Done():
		}
	}()
	return inner, cancel
}
