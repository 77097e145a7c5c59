// SPDX-License-Identifier: MIT

package require

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Set changes fields of the value that x points to, as in "Tiers=3; Runs.0.ID=z". What a pointer points to is made anew.
// The text nil sets the zero value, and [1:3] leaves elements 1 and 2 of a slice. A type with a text of its own reads it.
func Set(t T, x any, changes string) {
	t.Helper()
	for _, change := range strings.FieldsFunc(changes, func(r rune) bool { return r == ';' }) {
		place, text, _ := strings.Cut(strings.TrimSpace(change), "=")
		v := reflect.ValueOf(x)
		for _, name := range strings.Split(place, ".") {
			for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
				v = v.Elem()
			}
			if k, err := strconv.Atoi(name); err == nil {
				v = v.Index(k)
			} else {
				v = v.FieldByName(name)
			}
		}
		switch {
		case text == "nil":
			v.SetZero()
		case strings.HasPrefix(text, "["):
			v.Set(v.Slice(bounds(text, v.Len())))
		case v.Kind() == reflect.String:
			v.SetString(text)
		case v.Kind() == reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			OK(t, Err(fmt.Sscan(text, v.Interface())))
		default:
			if own, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
				OK(t, own.UnmarshalText([]byte(text)))
				continue
			}
			OK(t, Err(fmt.Sscan(text, v.Addr().Interface())))
		}
	}
}

// bounds reads a part of n elements, as [1:] or [:3].
func bounds(text string, n int) (int, int) {
	from, to, _ := strings.Cut(strings.Trim(text, "[]"), ":")
	first, _ := strconv.Atoi(from)
	if last, err := strconv.Atoi(to); err == nil {
		return first, last
	}
	return first, n
}
