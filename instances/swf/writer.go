package swf

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// Writer writes a log, in the archive's columns.
type Writer struct {
	w    *bufio.Writer
	line []byte
}

// NewWriter writes to w, through a buffer: see Flush.
func NewWriter(w io.Writer) *Writer { return &Writer{w: bufio.NewWriterSize(w, maxLine)} }

// Comment writes a comment line as it is: it must begin with ; (after blanks at
// most), be one line without its end, and no longer than a Reader takes.
func (w *Writer) Comment(line string) error {
	if !strings.HasPrefix(strings.TrimLeft(line, " \t\r"), ";") || strings.ContainsRune(line, '\n') ||
		strings.HasSuffix(line, "\r") || len(line) >= maxLine {
		return fmt.Errorf("%w SWF comment: %s, must be one line of less than %d bytes that begins with ;", model.ErrInvalid, quote([]byte(line)), maxLine)
	}
	w.line = append(append(w.line[:0], line...), '\n')
	_, err := w.w.Write(w.line)
	return err
}

// Write writes a job. A value below 0 other than Unknown is an error that wraps
// model.ErrInvalid.
func (w *Writer) Write(j *Job) error {
	const blanks = "        "
	w.line = w.line[:0]
	var digits [32]byte
	for f, d := range j.decimals() {
		if !d.allowed() {
			return fmt.Errorf("%w SWF job %d: the %s is %v, %s", model.ErrInvalid, j.Number, fields[f].name, d, notANumber)
		}
		if f > 0 {
			w.line = append(w.line, ' ')
		}
		text := d.append(digits[:0])
		w.line = append(w.line, blanks[:max(0, fields[f].width-len(text))]...)
		w.line = append(w.line, text...)
	}
	w.line = append(w.line, '\n')
	_, err := w.w.Write(w.line)
	return err
}

// Flush writes what is in the buffer.
func (w *Writer) Flush() error { return w.w.Flush() }
