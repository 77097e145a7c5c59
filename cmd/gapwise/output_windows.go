package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/natefinch/atomic"
)

// copyOf fails: files have no numbers.
func copyOf(_ int, name string) (*os.File, error) {
	return nil, fmt.Errorf("there is no %s on Windows, give - for standard output", name)
}

// replace writes a regular file wholly or not at all. (The library renameio, which
// does so elsewhere, doesn't take Windows.)
func replace(path string, data []byte) error { return atomic.WriteFile(path, bytes.NewReader(data)) }
