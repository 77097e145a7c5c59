// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// traceFile takes the steps of --trace: as text or, if its name ends in .jsonl, as one
// JSON object a line.
type traceFile struct {
	path  string
	lines bool
	w     io.Writer
	kept  bytes.Buffer // the contents of a file
}

// newTrace returns where --trace writes, nil without it.
func (p *program) newTrace(c *cli.Command) *traceFile {
	f := &traceFile{path: c.String("trace")}
	f.lines = strings.HasSuffix(f.path, ".jsonl")
	switch f.path {
	case "":
		return nil
	case "-":
		f.w = p.err
	default:
		f.w = &f.kept
	}
	return f
}

// step writes a step. Steps that can't be written are lost: a trace is for reading along.
func (f *traceFile) step(s model.Step) {
	if f.lines {
		_ = writeLines(f.w, s)
		return
	}
	fmt.Fprintf(f.w, "%s\n", words.Wrap(s.Words, 78, 4))
}

// close writes the file.
func (f *traceFile) close(p *program) error {
	if f == nil || f.path == "-" {
		return nil
	}
	return p.writeFile(f.path, func(w io.Writer) error {
		_, err := f.kept.WriteTo(w)
		return err
	})
}
