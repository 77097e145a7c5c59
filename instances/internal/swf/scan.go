// SPDX-License-Identifier: MIT

package swf

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// parse reads a job's line, without allocation for numbers in plain digits. The
// reason is empty if the line is valid; field counts from 1, 0 means the line.
func (j *Job) parse(line []byte) (field int, reason string) {
	field, reason = j.scan(line)
	if reason == "" {
		return 0, ""
	}
	// A field left out moves the others: that comes first.
	switch n := countFields(line); {
	case n < fieldCount:
		return 0, fmt.Sprintf("it has %d of the %d fields, the first that is missing is the %s", n, fieldCount, fields[n].name)
	case n > fieldCount:
		return 0, fmt.Sprintf("it has %d fields, must have %d", n, fieldCount)
	}
	return field, reason
}

func countFields(line []byte) int {
	n := 0
	for i := range line {
		if !blank(line[i]) && (i == 0 || blank(line[i-1])) {
			n++
		}
	}
	return n
}

// The reasons why a text isn't the number of a field.
const (
	notANumber = "must be a number from 0, or -1 for unknown"
	notExact   = "has more digits than can be kept (18)"
	notWhole   = "must be a whole number from 0, or -1 for unknown: its fraction would be lost"
)

// scan does the work of parse; its reasons about the number of fields are no
// text for a user.
func (j *Job) scan(line []byte) (field int, reason string) {
	var v [fieldCount]int64 // of the whole fields
	var x [fieldCount]float64
	n, i := len(line), 0
	for f := range v {
		for i < n && blank(line[i]) {
			i++
		}
		if i == n {
			return 0, "too few"
		}
		start := i
		for i < n && !blank(line[i]) {
			i++
		}
		text := line[start:i]
		if fields[f].decimal {
			x[f], reason = decimal(text)
		} else {
			v[f], reason = whole(text)
		}
		if reason != "" {
			return f + 1, fmt.Sprintf("field %d, the %s, is %s, %s", f+1, fields[f].name, quote(text), reason)
		}
	}
	for i < n && blank(line[i]) {
		i++
	}
	if i < n {
		return 0, "too many"
	}
	*j = Job{v[0], x[1], x[2], x[3], v[4], x[5], x[6], v[7], x[8], x[9], v[10], v[11], v[12], v[13], v[14], v[15], v[16], x[17]}
	return 0, ""
}

// digits returns the number that text spells with its digits alone, and how many of them follow the decimal point. It
// is false for other texts and above 18 digits.
func digits(text []byte) (units int64, places int, ok bool) {
	point := len(text)
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
			units = 10*units + int64(c-'0')
		case c == '.' && point == len(text):
			point = i
		default:
			return 0, 0, false
		}
	}
	places = max(0, len(text)-point-1)
	n := point + places
	return units, places, n > 0 && n <= 18
}

// decimal reads a number from 0 or Unknown: the float64 nearest to the text.
func decimal(text []byte) (x float64, reason string) {
	if string(text) == "-1" {
		return Unknown, ""
	}
	// Two exact float64s have a correctly rounded quotient.
	if units, places, ok := digits(text); ok && units <= 1<<53 {
		return float64(units) / math.Pow10(places), ""
	}
	for _, c := range text { // ParseFloat also knows Inf, NaN, 0x1p-2 and 1_000
		if (c < '0' || c > '9') && !strings.ContainsRune("+-.eE", rune(c)) {
			return 0, notANumber
		}
	}
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil || x < 0 && x != Unknown {
		return 0, notANumber
	}
	return x, ""
}

// whole reads a whole number from 0 or Unknown, which may be written as a
// decimal number (12.0, 1e3).
func whole(text []byte) (n int64, reason string) {
	if string(text) == "-1" {
		return Unknown, ""
	}
	if units, places, ok := digits(text); ok && places == 0 {
		return units, ""
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil && n >= Unknown {
		return n, ""
	}
	x, reason := decimal(text)
	switch {
	case reason != "":
		return 0, reason
	case x >= 1<<53:
		return 0, notExact
	case x != math.Trunc(x):
		return 0, notWhole
	}
	return int64(x), ""
}

// quote returns text for a message: on one line, and not long.
func quote(text []byte) string {
	const most = 40
	if len(text) > most {
		return strconv.Quote(string(text[:most])) + "..."
	}
	return strconv.Quote(string(text))
}
