package swf

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// Header are the fields of the comments at the beginning of a log, in order. Some
// may be there several times (Note, Queue).
type Header []HeaderField

// HeaderField is "; Key: Value". A value that goes on in the next comments, which
// then begin with more than one blank, has a line for each.
type HeaderField struct{ Key, Value string }

// ParseHeader reads comment lines. Those that aren't fields are left out.
func ParseHeader(comments []string) Header {
	var h Header
	open := false // the last line was part of a field
	for _, c := range comments {
		text := strings.TrimLeft(strings.TrimSpace(c), ";")
		value := strings.TrimSpace(text)
		more := strings.HasPrefix(text, "  ") || strings.HasPrefix(text, "\t")
		switch key, rest, ok := strings.Cut(value, ":"); {
		case value == "":
			open = false
		case more && open:
			h[len(h)-1].Value += "\n" + value
		case ok && isKey(key) && !strings.HasPrefix(rest, "//"):
			h = append(h, HeaderField{key, strings.TrimSpace(rest)})
			open = true
		default:
			open = false
		}
	}
	return h
}

func isKey(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; (c < 'a' || c > 'z') && (i == 0 || s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return s != ""
}

// Get is the first value of a key, in whatever case.
func (h Header) Get(key string) (string, bool) {
	for _, f := range h {
		if strings.EqualFold(f.Key, key) {
			return f.Value, true
		}
	}
	return "", false
}

// All are the values of a key that may be there several times.
func (h Header) All(key string) []string {
	var all []string
	for _, f := range h {
		if strings.EqualFold(f.Key, key) {
			all = append(all, f.Value)
		}
	}
	return all
}

// Int is the first value of a key as a whole number; false if there is no such
// key. The error, of a value that isn't one, wraps model.ErrInvalid.
func (h Header) Int(key string) (int64, bool, error) {
	value, ok := h.Get(key)
	if !ok {
		return 0, false, nil
	}
	x, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0, true, fmt.Errorf("%w SWF: the header's %s is %s, must be a whole number", model.ErrInvalid, key, quote([]byte(value)))
	}
	return x, true, nil
}

// Procs is the machine's size by the header: MaxProcs or, without it,
// MaxNodes; 0 if it tells neither.
func (h Header) Procs() (int64, error) {
	for _, key := range []string{"MaxProcs", "MaxNodes"} {
		x, ok, err := h.Int(key)
		switch {
		case err != nil:
			return 0, err
		case ok && x > 0: // -1: unknown
			return x, nil
		}
	}
	return 0, nil
}
