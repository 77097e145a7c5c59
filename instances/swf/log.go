package swf

import (
	"io"
)

// Log is a whole log.
type Log struct {
	Comments []Comment // in order
	Jobs     []Job
}

// Comment is a comment line.
type Comment struct {
	Before int    // the index of the job that it stands before; the number of jobs at the end
	Text   string // with its ;
}

// Header are the fields of the comments before the first job.
func (l *Log) Header() Header {
	var lines []string
	for _, c := range l.Comments {
		if c.Before == 0 {
			lines = append(lines, c.Text)
		}
	}
	return ParseHeader(lines)
}

// ReadAll reads a whole log; see Reader for what it takes and for the errors.
func ReadAll(r io.Reader) (*Log, error) {
	l := &Log{}
	in := NewReader(r)
	for {
		j, err := in.Next()
		if err != nil && err != io.EOF {
			return nil, err
		}
		for _, c := range in.Comments() {
			l.Comments = append(l.Comments, Comment{len(l.Jobs), c})
		}
		if err == io.EOF {
			return l, nil
		}
		l.Jobs = append(l.Jobs, j)
	}
}

// Encode writes the log so that ReadAll gives the same again. Comments must be in the
// order of the jobs that they stand before.
func (l *Log) Encode(w io.Writer) error {
	out := NewWriter(w)
	c := 0
	comments := func(before int) error {
		for ; c < len(l.Comments) && (l.Comments[c].Before <= before || before == len(l.Jobs)); c++ {
			if err := out.Comment(l.Comments[c].Text); err != nil {
				return err
			}
		}
		return nil
	}
	for k := range l.Jobs {
		if err := comments(k); err != nil {
			return err
		}
		if err := out.Write(&l.Jobs[k]); err != nil {
			return err
		}
	}
	if err := comments(len(l.Jobs)); err != nil {
		return err
	}
	return out.Flush()
}
