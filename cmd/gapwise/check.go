// SPDX-License-Identifier: MIT

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/ask"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/run/replace"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func (p *program) check() *cli.Command {
	return &cli.Command{
		ArgsUsage: "INSTANCE PROOF",
		Description: "PROOF is the file that gapwise solve --proof writes, gzipped or not. Each\n" +
			"inference is checked in whole numbers against the constraint that it names,\n" +
			"which is built from the instance. The checker shares no code with the solver\n" +
			"(docs/reference/proofs.md). If the proof holds, the claim is printed and the\n" +
			"exit code is 0. Otherwise the first line that doesn't follow is named and\n" +
			"the exit code is 7.",
		Flags: append([]cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print the judgement as one JSON object"}}, readingFlags()...),
		Action: func(ctx context.Context, c *cli.Command) error {
			paths := c.Args().Slice()
			if len(paths) != 2 {
				return usagef("check: give an instance and a proof, there %s", arguments(len(paths)))
			}
			in, err := p.load(c, paths[0])
			if err != nil {
				return err
			}
			if err := in.Validate(); err != nil {
				return fmt.Errorf("%s: %w", instances.Label(paths[0]), err)
			}
			hash, err := model.Hash(in)
			if err != nil {
				return err
			}
			f := os.Stdin
			if paths[1] != "-" {
				if f, err = os.Open(paths[1]); err != nil {
					return fmt.Errorf("%w: can't read %s: %w", model.ErrInvalid, paths[1], bare(err))
				}
				defer f.Close()
				if info, err := f.Stat(); err == nil && info.IsDir() {
					return fmt.Errorf("%w: %s is a folder, give a proof", model.ErrInvalid, paths[1])
				}
			}
			defer p.afterAWhile("checking ...")()
			proved, err := verify.Proof(ctx, in, hash, f)
			if err != nil && strings.Contains(err.Error(), "line 1, ") {
				if data, e := instances.ReadFile(paths[1]); e == nil {
					if what := heldBy(data); what != "" && !bytes.HasPrefix(data, []byte("gapwise-proof")) {
						err = fmt.Errorf("%w proof: %s", model.ErrInvalid, what)
					}
				}
			}
			if c.Bool("json") && (err == nil || errors.Is(err, verify.ErrProof)) {
				if written := writeLines(p.out, ask.Checked(proved, err)); written != nil || err == nil {
					return written
				}
				return codeError(exitDefect)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", instances.Label(paths[1]), err)
			}
			fmt.Fprintf(p.out, "proved: %s\n%d steps and %d nogoods, each follows from the instance and what is before it\n",
				proved.Claim, proved.Steps, proved.Nogoods)
			return nil
		},
	}
}

// bare returns an error without its path.
func bare(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// proofFile is a file that a proof is streamed to.
type proofFile struct {
	*os.File
	io.Writer
	flush func() error
}

// createProof opens a file for a proof, which is packed if it ends in .gz; nil
// without a path.
func createProof(path string) (*proofFile, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, replace.Unwritten(path, err)
	}
	b := bufio.NewWriterSize(f, 1<<16)
	out := &proofFile{File: f, Writer: b, flush: b.Flush}
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewWriterLevel(b, gzip.BestSpeed)
		if err != nil {
			return nil, err
		}
		out.Writer, out.flush = z, func() error { return errors.Join(z.Close(), b.Flush()) }
	}
	return out, nil
}

// Write writes a part of the proof.
func (f *proofFile) Write(data []byte) (int, error) { return f.Writer.Write(data) }

// close ends the file, or removes it after an error.
func (f *proofFile) close(err error) error {
	if f == nil {
		return err
	}
	if e := f.flush(); err == nil && e != nil {
		err = replace.Unwritten(f.Name(), e)
	}
	if e := f.Close(); err == nil {
		err = replace.Unwritten(f.Name(), e)
	}
	if err != nil {
		if info, e := os.Lstat(f.Name()); e == nil && info.Mode().IsRegular() {
			os.Remove(f.Name())
		}
	}
	return err
}

// name adds the file's digest to evidence that names a proof.
func (f *proofFile) name(e *model.Evidence) {
	if f == nil || e == nil || e.Type != evidence.Proof {
		return
	}
	if info, err := os.Lstat(f.Name()); err != nil || !info.Mode().IsRegular() {
		return // a pipe has been read by now
	}
	if file, err := os.Open(f.Name()); err == nil {
		defer file.Close()
		sum := sha256.New()
		if _, err := io.Copy(sum, file); err == nil {
			e.SHA256 = hex.EncodeToString(sum.Sum(nil))
		}
	}
}

// size returns the number of bytes written, 0 if it isn't known.
func (f *proofFile) size() int64 {
	info, err := os.Stat(f.Name())
	if err != nil {
		return 0
	}
	return info.Size()
}
