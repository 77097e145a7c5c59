// SPDX-License-Identifier: MIT

package swf

import (
	"io"
	"slices"
)

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

// mostPart bounds the jobs that are collected in one piece of memory: appending to a
// single slice would copy a long log many times.
const mostPart = 1 << 15

// ReadAll reads a whole log; see Reader for what it accepts and for the errors.
func ReadAll(r io.Reader) (*Log, error) {
	in := NewReader(r)
	l := &Log{}
	var parts [][]Job // read before part
	var part []Job
	for {
		j, err := in.Next()
		switch {
		case err == io.EOF:
			l.Header, l.Jobs = in.header, slices.Concat(append(parts, part)...)
			return l, nil
		case err != nil:
			return nil, err
		}
		if len(part) == cap(part) {
			parts, part = append(parts, part), make([]Job, 0, min(2*cap(part)+64, mostPart))
		}
		part, l.Lines = append(part, j), append(l.Lines, in.line)
	}
}
