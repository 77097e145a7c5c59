package swf

import (
	"fmt"
	"strconv"
)

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// parse reads a job's line, without allocation unless it fails. The reason is
// empty if it is well; field counts from 1 and is 0 if it is about the line.
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

// scan is parse; what it says of the number of fields is no text for a user.
func (j *Job) scan(line []byte) (field int, reason string) {
	var v [fieldCount]Decimal
	n, i := len(line), 0
	for f := range v {
		for i < n && blank(line[i]) {
			i++
		}
		if i == n {
			return 0, "too few"
		}
		start := i
		negative := line[i] == '-'
		if negative {
			i++
		}
		digits := i
		units := int64(0)
		for i < n && i-digits < 18 {
			c := line[i] - '0'
			if c > 9 {
				break
			}
			units = 10*units + int64(c)
			i++
		}
		if i > digits && (i == n || blank(line[i])) && (!negative || units == 1) {
			if negative {
				units = Unknown
			}
			v[f].Units = units
			continue
		}
		for i < n && !blank(line[i]) {
			i++
		}
		text := line[start:i]
		if v[f], reason = parseDecimal(text); reason == "" && !fields[f].decimal {
			whole, ok := v[f].whole()
			if v[f] = (Decimal{Units: whole}); !ok {
				reason = notWhole
			}
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
	*j = Job{
		v[0].Units, v[1].Units, v[2].Units, v[3].Units, v[4].Units, v[5], v[6],
		v[7].Units, v[8].Units, v[9], v[10].Units, v[11].Units, v[12].Units,
		v[13].Units, v[14].Units, v[15].Units, v[16].Units, v[17].Units,
	}
	return 0, ""
}

// quote is text for a message: on one line, and not long.
func quote(text []byte) string {
	const most = 40
	if len(text) > most {
		return strconv.Quote(string(text[:most])) + "..."
	}
	return strconv.Quote(string(text))
}
