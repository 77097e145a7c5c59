package instances

import "strings"

// dotID is an id or a keyword of a DOT file as it is written, and its line.
type dotID struct {
	text string
	line int
}

// dotIDs lists the ids of a DOT file in order, but those in attribute lists and
// the ports of nodes. The library's parser has checked the file before; it
// keeps no positions, hence this second look. O(length).
func dotIDs(text string) []dotID {
	var ids []dotID
	line, inList, isPort := 1, false, false
	for i := 0; i < len(text); {
		end := dotToken(text, i)
		token := text[i:end]
		switch c := token[0]; {
		case c == '[':
			inList = true
		case c == ']':
			inList = false
		case c == ':':
			isPort = true
		case isDOTComment(token) || strings.IndexByte("{};,=- \t\r\n", c) >= 0 && !isDOTNumber(token):
		default: // an id
			if !inList && !isPort {
				ids = append(ids, dotID{token, line})
			}
			isPort = false
		}
		line += strings.Count(token, "\n")
		i = end
	}
	return ids
}

// dotToken is the end of the token that begins at i; what is no token is one
// byte long.
func dotToken(text string, i int) int {
	rest := text[i:]
	until := func(mark string) int {
		if k := strings.Index(rest[1:], mark); k >= 0 {
			return i + 1 + k + len(mark)
		}
		return len(text)
	}
	switch c := rest[0]; {
	case c == '#' || strings.HasPrefix(rest, "//"):
		return until("\n")
	case strings.HasPrefix(rest, "/*"):
		if k := strings.Index(rest[2:], "*/"); k >= 0 {
			return i + 2 + k + 2
		}
		return len(text)
	case c == '"':
		for k := 1; k < len(rest); k++ {
			switch rest[k] {
			case '\\':
				k++
			case '"':
				return i + k + 1
			}
		}
		return len(text)
	case c == '<':
		for k, depth := 0, 0; k < len(rest); k++ {
			switch rest[k] {
			case '<':
				depth++
			case '>':
				if depth--; depth == 0 {
					return i + k + 1
				}
			}
		}
		return len(text)
	case isDOTLetter(c):
		k := 1
		for k < len(rest) && (isDOTLetter(rest[k]) || isDigit(rest[k])) {
			k++
		}
		return i + k
	case isDOTNumber(rest):
		k, dot := 1, c == '.'
		for k < len(rest) && (isDigit(rest[k]) || rest[k] == '.' && !dot) {
			dot = dot || rest[k] == '.'
			k++
		}
		return i + k
	case strings.HasPrefix(rest, "->") || strings.HasPrefix(rest, "--"):
		return i + 2
	}
	return i + 1
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isDOTLetter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func isDOTComment(s string) bool {
	return s[0] == '#' || strings.HasPrefix(s, "//") || strings.HasPrefix(s, "/*")
}

// isDOTNumber tells whether s begins with a numeral.
func isDOTNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	s = strings.TrimPrefix(s, ".")
	return len(s) > 0 && isDigit(s[0])
}
