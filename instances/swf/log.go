package swf

import "io"

// Log is a whole log.
type Log struct {
	Header Header
	Jobs   []Job
	Lines  []int // of each job, from 1; see Line
}

// Line returns the line of a job, 0 if the log wasn't read from a text.
func (l *Log) Line(job int) int {
	if job >= len(l.Lines) {
		return 0
	}
	return l.Lines[job]
}

// ReadAll reads a whole log; see Reader for what it accepts and for the errors.
func ReadAll(r io.Reader) (*Log, error) {
	in := NewReader(r)
	l := &Log{}
	for {
		j, err := in.Next()
		switch {
		case err == io.EOF:
			l.Header = in.header
			return l, nil
		case err != nil:
			return nil, err
		}
		l.Jobs, l.Lines = append(l.Jobs, j), append(l.Lines, in.line)
	}
}
