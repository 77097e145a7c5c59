// SPDX-License-Identifier: MIT

package swf

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gapwise/gapwise/model"
)

// Header is the list of fields in the comments at the beginning of a log, in
// order. A key may be there several times (Note, Queue).
type Header []HeaderField

// HeaderField is a comment "; Key: Value". A value that continues in the next comments, which then begin with more than
// one blank, has a line for each. In a header with its keys so far in, as OAR's converter writes them, a key begins a
// field of its own.
type HeaderField struct{ Key, Value string }

// ParseHeader returns the fields of the comment lines, without other comments.
func ParseHeader(comments []string) Header {
	var h Header
	open, deep := false, false // the last line was part of a field, and the field began with more than one blank
	for _, c := range comments {
		text := strings.TrimLeft(strings.TrimSpace(c), ";")
		value := strings.TrimSpace(text)
		more := strings.HasPrefix(text, "  ") || strings.HasPrefix(text, "\t")
		key, rest, ok := strings.Cut(value, ":")
		ok = ok && isKey(key) && !strings.HasPrefix(rest, "//")
		switch {
		case value == "":
			open = false
		case more && open && !(deep && ok):
			h[len(h)-1].Value += "\n" + value
		case ok:
			h = append(h, HeaderField{key, strings.TrimSpace(rest)})
			open, deep = true, more
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

// Get returns the first value of a key, ignoring its case.
func (h Header) Get(key string) (string, bool) {
	for _, f := range h {
		if strings.EqualFold(f.Key, key) {
			return f.Value, true
		}
	}
	return "", false
}

// Int returns the first value of a key as a whole number; false without the
// key. The error about a value that isn't a whole number wraps
// model.ErrInvalid.
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

// Procs returns the machine's size: MaxProcs or, without it, MaxNodes; 0 if the
// header has neither.
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

// Time returns the moment of a log's second, by its UnixStartTime and in its TimeZone (seconds east of Greenwich), or
// else in UTC. It is the zero time if the header doesn't say.
func (h Header) Time(second float64) time.Time {
	const most = 1 << 40 // so that years have four digits, and sums don't overflow
	start, ok, err := h.Int("UnixStartTime")
	if !ok || err != nil || start <= 0 || start > most || !(second >= 0 && second <= most) {
		return time.Time{}
	}
	whole, part := math.Modf(second)
	at := time.Unix(start+int64(whole), int64(math.Round(part*1e9))).UTC()
	if zone, ok, err := h.Int("TimeZone"); ok && err == nil && zone%60 == 0 && zone > -86_400 && zone < 86_400 {
		at = at.In(time.FixedZone("", int(zone)))
	}
	if at.Year() > 9999 {
		return time.Time{}
	}
	return at
}
