package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
)

// writeFile writes the whole file or nothing: to a temporary file beside it,
// then by renaming. "" and "-" are standard output.
func (p *program) writeFile(path string, write func(io.Writer) error) error {
	if path == "" || path == "-" {
		return write(p.out)
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("%w: can't write %s: %w", model.ErrInvalid, path, err)
	}
	_, err = f.Write(b.Bytes())
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("%w: can't write %s: %w", model.ErrInvalid, path, err)
	}
	return nil
}

// checkOutput finds out early what writeFile would find out late, and that the
// output isn't one of the inputs.
func checkOutput(path string, inputs []string) error {
	if path == "" || path == "-" {
		return nil
	}
	folder, err := os.Stat(filepath.Dir(path))
	if err == nil && !folder.IsDir() {
		err = fmt.Errorf("%s is no folder", filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("%w: can't write %s: %w", model.ErrInvalid, path, err)
	}
	file, err := os.Stat(path)
	if err != nil {
		return nil // it is to be made
	}
	if file.IsDir() {
		return fmt.Errorf("%w: can't write %s: it is a folder, give a file", model.ErrInvalid, path)
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
	hash, hashErr := model.Hash(d.Instance)
	data, jsonErr := jsonLine(d.Instance)
	if errors.Join(hashErr, jsonErr) != nil {
		return
	}
	name := "gapwise-defect-" + hash[len("sha256:"):len("sha256:")+8] + ".json"
	if p.writeFile(name, func(w io.Writer) error { _, err := w.Write(data); return err }) == nil {
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
