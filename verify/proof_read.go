// SPDX-License-Identifier: MIT

package verify

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gapwise/gapwise/model"
)

// proofLimits bound a proof's demands on the checker.
type proofLimits struct{ lines, memory int64 }

// replay is Proof with limits.
func replay(ctx context.Context, in model.Instance, hash string, r io.Reader, most proofLimits) (Proved, error) {
	text := bufio.NewReaderSize(r, 1<<16)
	if magic, _ := text.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(text)
		if err != nil {
			return Proved{}, fmt.Errorf("%w: %w", ErrProof, err)
		}
		text = bufio.NewReaderSize(z, 1<<16)
	}
	c := &proofChecker{limits: most, vars: map[int64]proofVar{}, rules: map[int64]proofCon{}, nogoods: map[int64]proofNogood{}, open: -1}
	c.ctx = ctx
	lines := bufio.NewScanner(text)
	lines.Buffer(make([]byte, 1<<16), maxProofLine+3)
	for lines.Scan() {
		c.line++
		err := c.readLine(in, hash, lines.Bytes())
		if c.spend(20+len(lines.Bytes())) || ctx.Err() != nil && err != nil {
			return Proved{}, fmt.Errorf("stopped at line %d of the proof: %w", c.line, ctx.Err())
		}
		if err != nil && lines.Err() == nil {
			what := lines.Text()
			if len(what) > 100 {
				what = what[:100] + "..."
			}
			return Proved{}, fmt.Errorf("%w: line %d, %q: %v", ErrProof, c.line, what, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return Proved{}, fmt.Errorf("%w: line %d: %w", ErrProof, c.line+1, errLongProofLine)
	case err != nil:
		return Proved{}, fmt.Errorf("%w: after line %d: %w", ErrProof, c.line, err)
	case !c.claimed:
		return Proved{}, fmt.Errorf("%w: it ends at line %d without a claim, as if it were cut off", ErrProof, c.line)
	}
	return c.proved, nil
}

var errLongProofLine = fmt.Errorf("it is longer than %d bytes, the most that a line may have", maxProofLine)

// readLine reads a line, and keeps to the limits.
func (c *proofChecker) readLine(in model.Instance, hash string, text []byte) error {
	if c.line > c.limits.lines {
		return fmt.Errorf("the proof has more than %d lines, the most that are taken", c.limits.lines)
	}
	if len(text) > maxProofLine {
		return errLongProofLine
	}
	if c.words = split(text, c.words[:0]); len(c.words) == 0 {
		return errors.New("is empty")
	}
	var err error
	if c.line <= 4 {
		err = c.header(in, hash, asStrings(c.words))
	} else {
		err = c.next(c.words)
	}
	if used := c.memory + int64(len(c.trail))*costOfChange; err == nil && used > c.limits.memory {
		err = fmt.Errorf("the %d variables, %d constraints and %d nogoods up to here take %d bytes, the most is %d",
			len(c.vars), len(c.rules), len(c.nogoods), used, c.limits.memory)
	}
	return err
}
