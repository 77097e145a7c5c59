// SPDX-License-Identifier: MIT

package swf

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// maxLine bounds a line's length in bytes.
const maxLine = 1 << 16

// Reader reads a log one job at a time, in constant memory.
//
// It accepts blanks and tabs around fields, CR before the end of a line, empty lines and comments anywhere. It also
// accepts a missing end of the last line, and whole numbers written as decimals (12.0 for 12). Everything else is an
// *Error with its line, after which nothing more is read.
type Reader struct {
	source *bufio.Reader // nil until the first line is asked for
	raw    io.Reader
	zipped bool
	line   int
	header Header
	headed bool // header is complete
	job    Job
	ahead  bool // job and err are read and not yet returned
	err    error
}

// NewReader returns a reader of r. The content shows whether it is gzipped.
func NewReader(r io.Reader) *Reader { return &Reader{raw: r} }

// Header reads up to the first job and returns the fields of the comments before it. The error, if there is one, is the
// one that Next returns, except for io.EOF.
func (r *Reader) Header() (Header, error) {
	if !r.headed {
		r.advance()
		r.ahead = true
	}
	if r.err == io.EOF {
		return r.header, nil
	}
	return r.header, r.err
}

// Next returns the next job, or io.EOF after the last. Errors about the
// content, a broken gzip file among them, wrap model.ErrInvalid.
func (r *Reader) Next() (Job, error) {
	if !r.ahead {
		r.advance()
	}
	r.ahead = false
	if r.err != nil {
		return Job{}, r.err
	}
	return r.job, nil
}

// advance reads the next job into r.job, and the header before the first job.
func (r *Reader) advance() {
	if r.err != nil {
		return
	}
	var comments []string // before the first job
	for {
		line, err := r.next()
		if err != nil {
			r.err = err
			break
		}
		first := 0
		for first < len(line) && blank(line[first]) {
			first++
		}
		if first == len(line) {
			continue
		}
		if line[first] == ';' {
			if !r.headed {
				comments = append(comments, string(line))
			}
			continue
		}
		if field, reason := r.job.parse(line); reason != "" {
			r.err = &Error{r.line, field, reason}
		}
		break
	}
	if !r.headed {
		r.headed = true
		r.header = ParseHeader(comments)
	}
}

// next returns the next line without its end.
func (r *Reader) next() ([]byte, error) {
	if r.source == nil {
		if err := r.open(); err != nil {
			return nil, err
		}
	}
	line, err := r.source.ReadSlice('\n')
	r.line++
	if err != nil && !(err == io.EOF && len(line) > 0) {
		return nil, r.readError(err)
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	for len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	return line, nil
}

// maxLog bounds the bytes of a log, unzipped: 1 GiB. A pipe need not end.
var maxLog int64 = 1 << 30

var errTooLong = errors.New("the log is too long")

// limited is a reader that fails after left bytes, where io.LimitReader ends.
type limited struct {
	io.Reader
	left int64
}

func (l *limited) Read(b []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLong
	}
	n, err := l.Reader.Read(b[:min(int64(len(b)), l.left)])
	l.left -= int64(n)
	return n, err
}

// open detects gzip and skips a byte order mark.
func (r *Reader) open() error {
	r.source = bufio.NewReaderSize(&limited{r.raw, maxLog}, maxLine)
	if magic, _ := r.source.Peek(2); slices.Equal(magic, []byte{0x1f, 0x8b}) {
		r.zipped = true
		z, err := gzip.NewReader(r.source)
		if err != nil {
			r.line = 1
			return r.readError(err)
		}
		r.source = bufio.NewReaderSize(&limited{z, maxLog}, maxLine)
	}
	if mark, _ := r.source.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = r.source.Discard(3) // it is there
	}
	return nil
}

func (r *Reader) readError(err error) error {
	switch {
	case err == io.EOF:
		r.line-- // there is no such line
		return io.EOF
	case errors.Is(err, errTooLong):
		return &Error{r.line, 0, fmt.Sprintf("the log is longer than %d bytes, the most that is read", maxLog)}
	case errors.Is(err, bufio.ErrBufferFull):
		return &Error{r.line, 0, fmt.Sprintf("it is longer than %d bytes", maxLine)}
	case r.zipped:
		return fmt.Errorf("%w SWF: line %d: the gzip file is broken: %w", model.ErrInvalid, r.line, err)
	}
	return fmt.Errorf("SWF: line %d: %w", r.line, err)
}
