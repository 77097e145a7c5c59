//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

// copyOf returns another file for the open file of a number.
func copyOf(n int, name string) (*os.File, error) {
	n, err := syscall.Dup(n)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(n), name), nil
}

// replace writes a regular file wholly or not at all.
func replace(path string, data []byte) error {
	return renameio.WriteFile(path, data, 0o644, renameio.WithTempDir(filepath.Dir(path)))
}
