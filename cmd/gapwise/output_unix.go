// SPDX-License-Identifier: MIT

//go:build unix

package main

import (
	"os"
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
