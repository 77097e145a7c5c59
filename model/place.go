// SPDX-License-Identifier: MIT

package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"unicode/utf8"
)

// CheckText reports the first byte that isn't UTF-8, as an error that wraps
// ErrInvalid and names its line. Two names that differ in such bytes alone would
// be one and the same in every file that is written.
func CheckText(data []byte) error {
	if at := badUTF8(data); at >= 0 {
		return fmt.Errorf("%w text: line %d: the byte 0x%02x isn't UTF-8; convert the file to UTF-8", ErrInvalid, lineOf(data, int64(at)), data[at])
	}
	return nil
}

// badUTF8 is the offset of the first byte that isn't UTF-8, -1 without one.
func badUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for at := 0; at < len(data); {
		r, n := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return -1
}

// loneSurrogate is the offset of the first \u escape of half a character, which
// encoding/json would replace; -1 without one.
func loneSurrogate(data []byte) int {
	if !bytes.Contains(data, []byte(`\u`)) {
		return -1
	}
	half := func(at int) (first, second bool) {
		if at+6 > len(data) || data[at] != '\\' || data[at+1] != 'u' {
			return false, false
		}
		x, err := strconv.ParseUint(string(data[at+2:at+6]), 16, 16)
		return err == nil && x >= 0xd800 && x < 0xdc00, err == nil && x >= 0xdc00 && x < 0xe000
	}
	for at := 0; at < len(data); at++ {
		if data[at] != '\\' {
			continue
		}
		first, second := half(at)
		_, closes := half(at + 6)
		switch {
		case first && closes:
			at += 11
		case first || second:
			return at
		default:
			at++ // the escaped character, which may be a backslash
		}
	}
	return -1
}

// checkJSONText reports text in JSON that isn't UTF-8, with its key.
func checkJSONText(data []byte) error {
	at := badUTF8(data)
	what := ""
	switch {
	case at >= 0:
		what = fmt.Sprintf("the byte 0x%02x isn't UTF-8", data[at])
	default:
		if at = loneSurrogate(data); at < 0 {
			return nil
		}
		what = fmt.Sprintf("the escape %s is half a character", data[at:at+6])
	}
	path, _ := pathAt(data, int64(at))
	if path != "" {
		path += ": "
	}
	return fmt.Errorf("%w JSON: line %d: %s%s", ErrInvalid, lineOf(data, int64(at)), path, what)
}

// typeError names the place of a value of another type than is wanted.
func typeError(data []byte, err *json.UnmarshalTypeError) error {
	path, token := pathAt(data, err.Offset-1)
	if path == "" {
		path = "the file"
	}
	want, is := wanted(err.Type), "is null"
	switch t := token.(type) {
	case string:
		is = fmt.Sprintf("%s is a string", short(strconv.Quote(t)))
	case json.Number:
		is = fmt.Sprintf("%s is a number", short(t.String()))
		switch k := err.Type.Kind(); {
		case k == reflect.Float64:
			is = fmt.Sprintf("%s is too large", short(t.String()))
		case k >= reflect.Int && k <= reflect.Uint64:
			is = fmt.Sprintf("%s isn't one, or too large", short(t.String()))
		}
	case bool:
		is = fmt.Sprintf("%v isn't one", t)
	case json.Delim:
		is = "there is a list"
		if t == '{' {
			is = "there is an object"
		}
	}
	return fmt.Errorf("%w JSON: line %d: %s: %s is wanted, %s", ErrInvalid, lineOf(data, err.Offset-1), path, want, is)
}

// wanted describes in words the JSON that a type takes.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number from 0"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "another value"
}

// short cuts text that is too long for a message.
func short(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}

// pathAt is the path ("jobs[3].cpu") and the token of the JSON value, or of the key, that the byte at an offset belongs
// to, if the JSON can be read so far.
func pathAt(data []byte, offset int64) (string, json.Token) {
	type level struct {
		list    bool
		index   int
		key     string
		wantKey bool
	}
	var stack []*level
	path := func() string {
		text := ""
		for _, l := range stack {
			if l.list {
				text += fmt.Sprintf("[%d]", l.index)
			} else {
				text = join(text, l.key)
			}
		}
		return text
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err != nil {
			return path(), nil
		}
		var top *level
		if len(stack) > 0 {
			top = stack[len(stack)-1]
		}
		ended := token == json.Delim('}') || token == json.Delim(']')
		switch {
		case ended:
			stack = stack[:len(stack)-1]
			if len(stack) > 0 {
				stack[len(stack)-1].wantKey = true
			}
			continue
		case top != nil && !top.list && top.wantKey:
			top.key, _ = token.(string)
			top.wantKey = false
			if dec.InputOffset() > offset {
				return path(), token
			}
			continue
		case top != nil && top.list:
			top.index++
		case top != nil:
			top.wantKey = true
		}
		if dec.InputOffset() > offset {
			return path(), token
		}
		if token == json.Delim('{') || token == json.Delim('[') {
			if top != nil {
				top.wantKey = false
			}
			stack = append(stack, &level{list: token == json.Delim('['), index: -1, wantKey: true})
		}
	}
}
