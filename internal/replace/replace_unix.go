//go:build unix

package replace

import (
	"path/filepath"

	"github.com/google/renameio/v2"
)

// File writes a regular file.
func File(path string, data []byte) error {
	return renameio.WriteFile(path, data, 0o644, renameio.WithTempDir(filepath.Dir(path)))
}
