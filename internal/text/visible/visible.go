// SPDX-License-Identifier: MIT

// Package visible shows the control characters of text that comes from files: a name in an
// instance or in results must not move a terminal's cursor, colour its text or turn it round.
package visible

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hidden reports whether a terminal does something else with a character than to show it.
func hidden(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// Text returns the text with \u001b, say, for each control character and \x9b for each byte that
// isn't UTF-8. In JSON the first means the same as the character. Those in keep stay.
func Text(s, keep string) string {
	clean := func(r rune) bool { return r != utf8.RuneError && (!hidden(r) || strings.ContainsRune(keep, r)) }
	if strings.IndexFunc(s, func(r rune) bool { return !clean(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case clean(r) || r == utf8.RuneError:
			b.WriteString(s[:n])
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		s = s[n:]
	}
	return b.String()
}

// Writer writes lines of text visibly: all but ends of lines and tabs. What is written at once
// must be whole characters.
type Writer struct{ io.Writer }

func (w Writer) Write(data []byte) (int, error) {
	if _, err := io.WriteString(w.Writer, Text(string(data), "\n\t")); err != nil {
		return 0, err
	}
	return len(data), nil
}

// Raw returns the writer below w if that is a Writer, else w: for data that aren't text, and
// for text that controls a terminal.
func Raw(w io.Writer) io.Writer {
	if v, ok := w.(Writer); ok {
		return v.Writer
	}
	return w
}
