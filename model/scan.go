// SPDX-License-Identifier: MIT

package model

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// space skips white space and returns the byte after it, 0 at the end.
func (d *decoder) space() byte {
	for ; d.at < len(d.data); d.at++ {
		if c := d.data[d.at]; c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return c
		}
	}
	return 0
}

// more reads the text after a member or an element. It reports true for a comma, false for the end.
func (d *decoder) more(end byte) (bool, error) {
	c := d.space()
	d.at++
	if c != ',' && c != end {
		return false, errNotJSON
	}
	return c == ',', nil
}

// key reads a key, not the colon after it.
func (d *decoder) key() ([]byte, error) {
	if d.space() != '"' {
		return nil, errNotJSON
	}
	return d.text()
}

// colon reads the colon between a key and its value.
func (d *decoder) colon() error {
	if d.space() != ':' {
		return errNotJSON
	}
	d.at++
	return nil
}

// text reads a string. It may return a part of the decoder's data.
func (d *decoder) text() ([]byte, error) {
	begin := d.at
	d.at++
	escaped, ascii := false, true
	for ; d.at < len(d.data); d.at++ {
		switch c := d.data[d.at]; {
		case c == '"':
			text := d.data[begin+1 : d.at]
			d.at++
			if !escaped && (ascii || utf8.Valid(text)) {
				return text, nil
			}
			var s string
			if json.Unmarshal(d.data[begin:d.at], &s) != nil {
				return nil, errNotJSON
			}
			return []byte(s), nil
		case c == '\\':
			escaped = true
			d.at++
		case c < ' ':
			return nil, errNotJSON
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return nil, errNotJSON
}

// numeral is a JSON number. A short one is (-1)^minus mantissa 10^-places.
type numeral struct {
	text     []byte
	minus    bool
	whole    bool // an integer, without point and exponent
	short    bool // at most 19 digits, no exponent
	mantissa uint64
	places   int
}

// numeral reads a number.
func (d *decoder) numeral() (n numeral, err error) {
	at, data := d.at, d.data
	digits := func() int {
		begin := at
		for ; at < len(data) && data[at] >= '0' && data[at] <= '9'; at++ {
			n.mantissa = 10*n.mantissa + uint64(data[at]-'0')
		}
		return at - begin
	}
	is := func(a, b byte) bool { return at < len(data) && (data[at] == a || data[at] == b) }
	if n.minus = is('-', '-'); n.minus {
		at++
	}
	zero := is('0', '0')
	count := digits()
	if count == 0 || zero && count > 1 {
		return n, errNotJSON
	}
	n.whole, n.short = true, true
	if is('.', '.') {
		at++
		if n.places = digits(); n.places == 0 {
			return n, errNotJSON
		}
		n.whole = false
	}
	n.short = count+n.places <= 19
	if is('e', 'E') {
		n.whole, n.short = false, false
		if at++; is('+', '-') {
			at++
		}
		if digits() == 0 {
			return n, errNotJSON
		}
	}
	n.text, d.at = data[d.at:at], at
	return n, nil
}

// powers holds the powers of ten up to 10^19, all exact in a float64.
var powers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// float returns the float64 nearest to the number, false if it is out of range.
// The quotient of an exact mantissa and an exact power of ten is that float64,
// for IEEE division rounds correctly.
func (n *numeral) float() (float64, bool) {
	if !n.short || n.mantissa > 1<<53 {
		x, err := strconv.ParseFloat(string(n.text), 64)
		return x, err == nil
	}
	x := float64(n.mantissa) / powers[n.places]
	if n.minus {
		x = -x
	}
	return x, true
}

// skip reads a value of any type and returns its text.
func (d *decoder) skip() ([]byte, error) {
	d.space()
	begin := d.at
	err := d.skipAt(0)
	return d.data[begin:min(d.at, len(d.data))], err
}

func (d *decoder) skipAt(depth int) (err error) {
	const deepest = 10_000 // as in encoding/json
	c := d.space()
	switch {
	case c == '"':
		_, err = d.text()
	case c == '-', c >= '0' && c <= '9':
		_, err = d.numeral()
	case c == '{' || c == '[':
		if depth == deepest {
			return errNotJSON
		}
		end := c + 2 // in ASCII
		d.at++
		more := true
		if d.space() == end {
			d.at++
			more = false
		}
		for more && err == nil {
			if c == '{' {
				if _, err = d.key(); err == nil {
					err = d.colon()
				}
			}
			if err == nil {
				err = d.skipAt(depth + 1)
			}
			if err == nil {
				more, err = d.more(end)
			}
		}
	default:
		if !d.literal("true") && !d.literal("false") && !d.literal("null") {
			return errNotJSON
		}
	}
	return err
}

// literal reads a word and reports true if it comes next.
func (d *decoder) literal(word string) bool {
	if len(d.data)-d.at < len(word) || string(d.data[d.at:d.at+len(word)]) != word {
		return false
	}
	d.at += len(word)
	return true
}

// isNumeral reports whether a number comes next.
func (d *decoder) isNumeral() bool {
	c := d.space()
	return c == '-' || c >= '0' && c <= '9'
}
