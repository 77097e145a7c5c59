// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"io"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
)

// transcriptFile takes what --transcript asks for; nil: nothing.
type transcriptFile struct {
	path string
	kept bytes.Buffer
}

// newTranscript reports what doesn't go with --transcript, and has the options write there.
func newTranscript(c *cli.Command, paths []string, o *gapwise.Options) (*transcriptFile, error) {
	f := &transcriptFile{path: c.String("transcript")}
	switch {
	case f.path == "":
		return nil, nil
	case len(paths) > 1 || several(c) || isStdout(f.path):
		return nil, usagef("solve: --transcript takes one file to solve, one algorithm, and a file to write")
	}
	o.Transcript = &f.kept
	return f, checkOutput(f.path, paths)
}

// close writes the file.
func (f *transcriptFile) close(p *program) error {
	if f == nil {
		return nil
	}
	return p.writeFile(f.path, func(w io.Writer) error {
		_, err := f.kept.WriteTo(w)
		return err
	})
}
