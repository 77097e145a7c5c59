// SPDX-License-Identifier: MIT

// Package replace writes files wholly or not at all: to a temporary file in the same folder, which is then renamed.
package replace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
)

// File writes a regular file. A new one has the mode that the umask leaves of 0644, another keeps its own. The content
// is on the disk before it takes the file's place.
func File(path string, data []byte) error {
	return Stream(path, func(w io.Writer) error { _, err := w.Write(data); return err })
}

// Folder makes a folder, and those above it. The error is one of Unwritten.
func Folder(path string) error { return Unwritten(path, os.MkdirAll(path, 0o755)) }

// Unwritten returns the error of a path that can't be written, in words; nil without one. No input is bad then, so that it
// doesn't wrap model.ErrInvalid.
func Unwritten(path string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("can't write %s: %w; make the folder first, or give another one", path, err)
	}
	return fmt.Errorf("can't write %s: %w", path, err)
}

// Stream is File for content written a part at a time. If write returns an error, so does it, and the file stays as it
// was.
func Stream(path string, write func(io.Writer) error) (err error) {
	name := fmt.Sprintf("%s.%x", path, rand.Uint64()) // os.CreateTemp makes a file that its owner alone can read
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(name)
		}
	}()
	if old, err := os.Stat(path); err == nil {
		_ = f.Chmod(old.Mode()) // Windows has no such modes
	}
	err = write(f)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(name, path)
}
