// SPDX-License-Identifier: MIT

package model

import (
	"cmp"
	"encoding"
	"encoding/json"
	"io"
	"math"
	"reflect"
	"strconv"
)

// encoder writes the same bytes as json.Marshal: compact, with <, > and &
// escaped.
type encoder struct {
	text []byte
	to   io.Writer // if not nil, text is moved to it as it grows
	err  error     // its first
	full [][]byte  // else to here: a large buffer isn't copied until the end
}

// WriteJSON writes a value as json.Marshal does. Results, instances and solutions go to w a part at a time, so that the
// whole text is never in memory. An error of w before the end ends the writing.
func WriteJSON(w io.Writer, x any) error {
	e := encoder{to: w}
	var err error
	switch x := x.(type) {
	case Result:
		err = e.result(&x)
	case Instance:
		err = e.solution(x, x.Kind().New())
	case Solution:
		var own Solution
		if f := x.Kind().format(); f != nil {
			own = f.Solution()
		}
		err = e.solution(x, own)
	default:
		err = e.marshal(x)
	}
	if err == nil {
		e.flush()
	}
	return cmp.Or(e.err, err)
}

// marshalOwn returns a file in gapwise's format: kind and version, then the
// fields of the struct that x points to.
func marshalOwn(x interface{ Kind() Kind }) ([]byte, error) {
	var e encoder
	err := e.own(x)
	return e.all(), err
}

// all returns all text, with room for the end of a line.
func (e *encoder) all() []byte {
	if len(e.full) == 0 {
		return e.text
	}
	n := len(e.text)
	for _, text := range e.full {
		n += len(text)
	}
	all := make([]byte, 0, n+1)
	for _, text := range e.full {
		all = append(all, text...)
	}
	return append(all, e.text...)
}

func (e *encoder) own(x interface{ Kind() Kind }) error {
	v := reflect.ValueOf(x)
	if v.IsNil() {
		e.text = append(e.text, "null"...)
		return nil
	}
	return e.fields(planOf(v.Type().Elem(), true), reflect.ValueOf(&envelope{x.Kind(), formatVersion}).Elem(), v.Elem())
}

func (e *encoder) object(p *plan, v reflect.Value) error { return e.fields(p, reflect.Value{}, v) }

// fields writes an object with the fields of a plan: the envelope's fields from head, the others from v.
func (e *encoder) fields(p *plan, head, v reflect.Value) error {
	e.text = append(e.text, '{')
	first := true
	for k := range p.fields {
		f := &p.fields[k]
		var x reflect.Value
		if f.index < 0 {
			x = head.Field(k)
		} else {
			x = v.Field(f.index)
		}
		if !f.required && empty(x) {
			continue
		}
		if !first {
			e.text = append(e.text, ',')
		}
		first = false
		e.text = append(e.text, f.quoted...)
		if f.list && x.IsNil() {
			e.text = append(e.text, "[]"...)
		} else if err := f.encode(e, x); err != nil {
			return err
		}
	}
	e.text = append(e.text, '}')
	return nil
}

// empty reports whether omitempty omits a value.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

func (e *encoder) list(c codec, v reflect.Value) error {
	if v.IsNil() {
		e.text = append(e.text, "null"...)
		return nil
	}
	e.text = append(e.text, '[')
	for k := range v.Len() {
		if k > 0 {
			e.text = append(e.text, ',')
		}
		if err := c.encode(e, v.Index(k)); err != nil {
			return err
		}
		switch n := len(e.text); {
		case e.to != nil && n > 1<<15:
			if e.flush(); e.err != nil {
				return e.err
			}
		case e.to == nil && n > 1<<20:
			e.full, e.text = append(e.full, e.text), make([]byte, 0, 1<<20+1<<16)
		}
	}
	e.text = append(e.text, ']')
	return nil
}

func (e *encoder) flush() {
	if e.err == nil {
		_, e.err = e.to.Write(e.text)
	}
	e.text = e.text[:0]
}

func encodeString(e *encoder, v reflect.Value) error { return e.string(v.String()) }

func (e *encoder) string(s string) error {
	for k := range len(s) {
		if c := s[k]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return e.marshal(s)
		}
	}
	e.text = append(e.text, '"')
	e.text = append(e.text, s...)
	e.text = append(e.text, '"')
	return nil
}

func encodeBool(e *encoder, v reflect.Value) error {
	e.text = strconv.AppendBool(e.text, v.Bool())
	return nil
}

func encodeInt(e *encoder, v reflect.Value) error {
	e.text = strconv.AppendInt(e.text, v.Int(), 10)
	return nil
}

func encodeUint(e *encoder, v reflect.Value) error {
	e.text = strconv.AppendUint(e.text, v.Uint(), 10)
	return nil
}

func encodeFloat(e *encoder, v reflect.Value) error {
	x := v.Float()
	size := math.Abs(x)
	switch {
	case size < 1<<53 && x == math.Trunc(x) && (x != 0 || !math.Signbit(x)):
		e.text = strconv.AppendInt(e.text, int64(x), 10)
	case size >= 1e-6 && size < 1e9 && math.Round(size*1e6)/1e6 == size:
		e.micros(x < 0, uint64(math.Round(size*1e6)))
	case size >= 1e-6 && size < 1e21:
		e.text = strconv.AppendFloat(e.text, x, 'f', -1, 64)
	default: // -0, exponents, and numbers that aren't finite
		return e.marshal(x)
	}
	return nil
}

// micros writes a number of millionths, below 10^15, without zeros at its end. That is the
// shortest decimal of its float64: two decimals of at most 15 digits never have the same one.
func (e *encoder) micros(minus bool, millionths uint64) {
	if minus {
		e.text = append(e.text, '-')
	}
	e.text = append(strconv.AppendUint(e.text, millionths/1e6, 10), '.')
	begin := len(e.text)
	e.text = append(e.text, "000000"...)
	last := 0
	for k, rest := 5, millionths%1e6; k >= 0; k-- {
		digit := byte(rest % 10)
		rest /= 10
		if e.text[begin+k] = '0' + digit; digit > 0 && last == 0 {
			last = k + 1
		}
	}
	e.text = e.text[:begin+last]
}

// encodeProcessors is encodeText of a ProcessorList, which holds nothing to escape.
func encodeProcessors(e *encoder, v reflect.Value) error {
	e.text = append(v.Addr().Interface().(*ProcessorList).append(append(e.text, '"')), '"')
	return nil
}

func encodeText(e *encoder, v reflect.Value) error {
	text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
	if err != nil {
		return err
	}
	return e.string(string(text))
}

// encodeCosts writes +Inf as null.
func encodeCosts(e *encoder, v reflect.Value) error {
	return e.list(codec{encode: func(e *encoder, v reflect.Value) error {
		if math.IsInf(v.Float(), 1) {
			e.text = append(e.text, "null"...)
			return nil
		}
		return encodeFloat(e, v)
	}}, v)
}

func encodeOther(e *encoder, v reflect.Value) error { return e.marshal(v.Interface()) }

func (e *encoder) marshal(x any) error {
	text, err := json.Marshal(x)
	e.text = append(e.text, text...)
	return err
}
