package swf

import (
	"bytes"
	"math"
	"strconv"
)

// Decimal is a number as a log writes it: Units / 10^Places, so 489.00 is
// {48900, 2}. Nothing is rounded, and == holds between numbers written alike.
type Decimal struct {
	Units  int64
	Places uint8 // up to 18
}

const maxPlaces = 18

// Known tells whether it is anything else than -1.
func (d Decimal) Known() bool { return d.Units >= 0 }

// Float64 is the nearest float64.
func (d Decimal) Float64() float64 {
	if u := d.Units; -1<<53 <= u && u <= 1<<53 {
		return float64(u) / math.Pow10(int(d.Places)) // both exact: rounded once
	}
	x, _ := strconv.ParseFloat(d.String(), 64)
	return x
}

// String is how a log writes it, all places included.
func (d Decimal) String() string { return string(d.append(nil)) }

func (d Decimal) append(b []byte) []byte {
	start := len(b)
	u := uint64(d.Units)
	if d.Units < 0 {
		b = append(b, '-')
		start++
		u = -u
	}
	b = strconv.AppendUint(b, u, 10)
	p := int(d.Places)
	if p == 0 {
		return b
	}
	for len(b)-start <= p { // a digit before the point
		b = append(b, 0)
		copy(b[start+1:], b[start:])
		b[start] = '0'
	}
	b = append(b, 0)
	point := len(b) - 1 - p
	copy(b[point+1:], b[point:])
	b[point] = '.'
	return b
}

// whole is the value if it is a whole number.
func (d Decimal) whole() (int64, bool) {
	for ; d.Places > 0; d.Places-- {
		if d.Units%10 != 0 {
			return 0, false
		}
		d.Units /= 10
	}
	return d.Units, true
}

// allowed tells whether it is from 0, or -1.
func (d Decimal) allowed() bool {
	if d.Units >= 0 {
		return d.Places <= maxPlaces
	}
	w, ok := d.whole()
	return ok && w == Unknown && d.Places <= maxPlaces
}

// The reasons why a text isn't a Decimal.
const (
	notANumber = "must be a number from 0, or -1 for unknown"
	notExact   = "has more digits than can be kept (18)"
	notWhole   = "must be a whole number from 0, or -1 for unknown: its fraction would be lost"
)

// parseDecimal reads digits with at most one point, a sign and an exponent. A
// number that can't be kept exactly is refused, with the reason.
func parseDecimal(text []byte) (d Decimal, reason string) {
	mantissa, exponent := text, 0
	if k := bytes.IndexAny(text, "eE"); k >= 0 {
		// An exponent beyond three digits fits no number but 0.
		e, err := strconv.ParseInt(string(text[k+1:]), 10, 16)
		if err != nil || e < -999 || e > 999 {
			return d, notANumber
		}
		mantissa, exponent = text[:k], int(e)
	}
	negative := len(mantissa) > 0 && mantissa[0] == '-'
	if negative || len(mantissa) > 0 && mantissa[0] == '+' {
		mantissa = mantissa[1:]
	}
	units, places, reason := parseDigits(mantissa)
	if reason == notExact && bytes.IndexByte(mantissa, '.') >= 0 {
		units, places, reason = parseDigits(bytes.TrimRight(mantissa, "0"))
	}
	if reason != "" {
		return d, reason
	}
	for places -= exponent; places < 0; places++ {
		if units > math.MaxInt64/10 {
			return d, notExact
		}
		units *= 10
	}
	for ; places > maxPlaces; places-- {
		if units%10 != 0 {
			return d, notExact
		}
		units /= 10
	}
	if negative {
		units = -units
	}
	d = Decimal{Units: units, Places: uint8(places)}
	if !d.allowed() {
		return Decimal{}, notANumber
	}
	return d, ""
}

// parseDigits reads digits with at most one point.
func parseDigits(text []byte) (units int64, places int, reason string) {
	digits, point := 0, false
	for _, c := range text {
		if c == '.' && !point {
			point = true
			continue
		}
		c -= '0'
		switch {
		case c > 9:
			return 0, 0, notANumber
		case reason != "":
			continue // there may still be what is no digit
		case units > (math.MaxInt64-int64(c))/10:
			reason = notExact
			continue
		}
		units = 10*units + int64(c)
		digits++
		if point {
			places++
		}
	}
	if digits == 0 {
		reason = notANumber
	}
	return units, places, reason
}
