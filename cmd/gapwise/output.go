// SPDX-License-Identifier: MIT

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/run/replace"
	"github.com/gapwise/gapwise/internal/text/visible"
	"github.com/gapwise/gapwise/model"
)

// writeFile writes the whole file or nothing if the path names a regular file or nothing yet. If it names a symbolic
// link, the target is written. Everything else (a device, a FIFO, a pipe of the shell's) is written to in place. "" and
// "-" are standard output.
func (p *program) writeFile(path string, write func(io.Writer) error) error {
	if path == "" || isStdout(path) {
		return write(visible.Raw(p.out)) // it may be no text
	}
	var failed error // write's own, not the file's
	err := put(path, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<16)
		mine := write(b)
		if err := b.Flush(); err != nil {
			return err
		}
		failed = mine
		return mine
	})
	if failed != nil {
		return failed
	}
	return replace.Unwritten(path, err)
}

// put has write write to where the path leads.
func put(path string, write func(io.Writer) error) error {
	if n, ok := descriptor(path); ok {
		f, err := copyOf(n, path) // closing the file itself is the shell's business
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return errFolder
	}
	if err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	} else if _, err := os.Lstat(path); err == nil { // a link to a file that isn't there yet
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	return replace.Stream(path, write)
}

// isStdout reports whether a path means standard output.
func isStdout(path string) bool {
	n, ok := descriptor(path)
	return path == "-" || ok && n == 1
}

// descriptor returns the number of the open file behind a path, as with the shell's >(command).
func descriptor(path string) (n int, ok bool) {
	switch path {
	case "/dev/stdin":
		return 0, true
	case "/dev/stdout":
		return 1, true
	case "/dev/stderr":
		return 2, true
	}
	for _, folder := range []string{"/dev/fd/", "/proc/self/fd/"} {
		if number, found := strings.CutPrefix(path, folder); found {
			n, err := strconv.Atoi(number)
			return n, err == nil && n >= 0
		}
	}
	return 0, false
}

var errFolder = errors.New("it is a folder, give a file")

// checkOutput finds the errors of writeFile early, and an output that is one of the inputs.
func checkOutput(path string, inputs []string) error {
	if path == "" || isStdout(path) {
		return nil
	}
	folder, err := os.Stat(filepath.Dir(path))
	if err == nil && !folder.IsDir() {
		err = fmt.Errorf("%s is no folder", filepath.Dir(path))
	}
	if err != nil {
		return replace.Unwritten(path, err)
	}
	file, err := os.Stat(path)
	if err != nil {
		return nil // it is to be made
	}
	if file.IsDir() {
		return replace.Unwritten(path, errFolder)
	}
	for _, in := range inputs {
		if info, err := os.Stat(in); err == nil && os.SameFile(info, file) {
			return fmt.Errorf("%w: %s is to be read, give another file to write", model.ErrInvalid, path)
		}
	}
	return nil
}

// saveDefect keeps the instance on which a claim was refuted.
func (p *program) saveDefect(d *gapwise.DefectError) {
	hash, err := model.Hash(d.Instance)
	if err != nil {
		return
	}
	name := "gapwise-defect-" + hash[len("sha256:"):len("sha256:")+8] + ".json"
	if p.writeFile(name, func(w io.Writer) error { return writeLines(w, d.Instance) }) == nil {
		fmt.Fprintf(p.err, "gapwise: the instance is saved as %s; please report it\n", name)
	}
}

// figure prints a number to nine digits, "-" if it isn't known.
func figure(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "-"
	}
	return fmt.Sprintf("%.9g", x)
}

func percent(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "-"
	}
	return fmt.Sprintf("%.4f%%", 100*x)
}

func duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}
