package swf

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// maxLine bounds a line's length in bytes.
const maxLine = 1 << 16

// Reader reads a log one job at a time, in constant memory.
//
// Blanks and tabs around fields, CR before the end of a line, empty lines, comments
// anywhere and a missing end of the last line are fine; so is any way to write a
// number that is kept exactly (12.0 for 12). Everything else is an *Error with
// its line, after which nothing more is read.
type Reader struct {
	source   *bufio.Reader // nil until the first line is asked for
	raw      io.Reader
	zipped   bool
	line     int
	comments []string
	header   Header
	headed   bool
	job      Job
	ahead    bool // job and err are read and not yet given out
	err      error
}

// NewReader reads from r, which may be gzipped: that is told by its content.
func NewReader(r io.Reader) *Reader { return &Reader{raw: r} }

// Header reads up to the first job and gives the fields of the comments before
// it. The error, if there is one, is what Next gives too; io.EOF is none.
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

// Next is the next job; io.EOF tells that there is none. Errors about the content,
// a broken gzip file among them, wrap model.ErrInvalid.
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

// All are the jobs. An error ends it, with a zero job.
func (r *Reader) All() iter.Seq2[Job, error] {
	return func(yield func(Job, error) bool) {
		for {
			j, err := r.Next()
			if err == io.EOF || !yield(j, err) || err != nil {
				return
			}
		}
	}
}

// Comments are the comment lines between the job that Next gave last and the
// one before; after io.EOF, those at the end. They are as they were, without
// the end of the line, and valid until the next call of Next.
func (r *Reader) Comments() []string { return r.comments }

// Line is the number of the line that was read last, from 1.
func (r *Reader) Line() int { return r.line }

// advance reads the next job into r.job, the comments before it, and the header
// the first time.
func (r *Reader) advance() {
	if r.err != nil {
		if r.err == io.EOF {
			r.comments = r.comments[:0]
		}
		return
	}
	r.comments = r.comments[:0]
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
			r.comments = append(r.comments, string(line))
			continue
		}
		if field, reason := r.job.parse(line); reason != "" {
			r.err = &Error{r.line, field, reason}
		}
		break
	}
	if !r.headed {
		r.headed = true
		r.header = ParseHeader(r.comments)
	}
}

// next is the next line without its end.
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

// maxLog is the size, in bytes and unzipped, of the longest log that is read:
// 1 GiB. A pipe need not end.
var maxLog int64 = 1 << 30

var errTooLong = errors.New("the log is too long")

// limited is a reader that fails after so many bytes, where io.LimitReader ends.
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

// open looks whether the source is gzipped, and skips a byte order mark.
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
