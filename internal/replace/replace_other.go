//go:build !unix

package replace

import (
	"bytes"

	"github.com/natefinch/atomic"
)

// File writes a regular file. (The library renameio, which does so elsewhere, doesn't
// take Windows.)
func File(path string, data []byte) error { return atomic.WriteFile(path, bytes.NewReader(data)) }
