// SPDX-License-Identifier: MIT

package instances

import (
	"bytes"
	"text/scanner"
)

// dotID is an ID or a keyword of a DOT file as it is written, and its line.
type dotID struct {
	text string
	line int
}

// dotIDs lists the IDs of a DOT file in order, without the IDs in attribute lists and the ports of nodes. It takes a
// file that the library's parser accepts; its tree has no positions, hence this second scan. O(length).
func dotIDs(data []byte) []dotID {
	var s scanner.Scanner
	s.Init(bytes.NewReader(data))
	s.Error = func(*scanner.Scanner, string) {}
	s.Mode = scanner.ScanIdents | scanner.ScanComments | scanner.SkipComments
	s.IsIdentRune = func(c rune, i int) bool { // of names and numerals; the minus of -> is skipped below
		return c == '_' || c == '.' || c == '-' && i == 0 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
	}
	var ids []dotID
	inList, isPort := false, false
	for c := s.Scan(); c != scanner.EOF; c = s.Scan() {
		start := s.Position
		switch c {
		case '[', ']':
			inList = c == '['
			continue
		case ':':
			isPort = true
			continue
		case '#': // a comment
			for c := s.Peek(); c != '\n' && c != scanner.EOF; c = s.Peek() {
				s.Next()
			}
			continue
		case '"':
			for c := s.Next(); c != '"' && c != scanner.EOF; c = s.Next() {
				if c == '\\' {
					s.Next()
				}
			}
		case '<': // HTML
			for depth := 1; depth > 0 && s.Peek() != scanner.EOF; {
				switch s.Next() {
				case '<':
					depth++
				case '>':
					depth--
				}
			}
		case scanner.Ident:
			if s.TokenText() == "-" {
				continue
			}
		default:
			continue
		}
		if !inList && !isPort {
			ids = append(ids, dotID{string(data[start.Offset:s.Pos().Offset]), start.Line})
		}
		isPort = false
	}
	return ids
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
