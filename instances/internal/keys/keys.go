// SPDX-License-Identifier: MIT

// Package keys tells the keys of JSON texts that a reader doesn't know.
package keys

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// Ignored is the value of a key that a reader knows and that says nothing about the problem.
type Ignored struct{}

// UnmarshalJSON implements json.Unmarshaler.
func (*Ignored) UnmarshalJSON([]byte) error { return nil }

// Tell adds the keys of a JSON text that the type it is read into doesn't have, by their paths: a reader knows all
// keys of its format, and those that it doesn't know may change what the file means. The text is valid. O(length).
func Tell(data []byte, into any, a *model.Account) {
	w := keyWalk{dec: json.NewDecoder(bytes.NewReader(data))}
	w.value(reflect.TypeOf(into), "")
	if slices.Sort(w.unknown); len(w.unknown) > 0 {
		a.NotModelled.Say("keys of unknown meaning: %s", strings.Join(w.unknown, ", "))
	}
}

// keyWalk walks through a JSON text beside a type.
type keyWalk struct {
	dec     *json.Decoder
	unknown []string
}

// value walks through a value that is read into the type, nil for one that doesn't matter.
func (w *keyWalk) value(t reflect.Type, path string) {
	for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface) {
		if t.Kind() == reflect.Interface {
			t = nil
			break
		}
		t = t.Elem()
	}
	if t != nil && (t == reflect.TypeFor[Ignored]() || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())) {
		t = nil
	}
	token, err := w.dec.Token()
	open, isDelim := token.(json.Delim)
	if err != nil || !isDelim {
		return
	}
	for w.dec.More() {
		if open == '[' {
			w.value(elementOf(t), path)
			continue
		}
		token, err := w.dec.Token()
		key, ok := token.(string)
		if err != nil || !ok {
			return
		}
		at := strings.TrimPrefix(path+"."+key, ".")
		next, known := fieldOf(t, key)
		if t != nil && t.Kind() == reflect.Map { // its keys are names
			at = strings.TrimPrefix(path+".*", ".")
		}
		if !known && !slices.Contains(w.unknown, at) {
			w.unknown = append(w.unknown, at)
		}
		w.value(next, at)
	}
	_, _ = w.dec.Token() // the end of the object or list
}

// elementOf returns the type of a list's elements, nil for other types.
func elementOf(t reflect.Type) reflect.Type {
	if t != nil && t.Kind() == reflect.Slice {
		return t.Elem()
	}
	return nil
}

// fieldOf returns the type of the field of a struct that a key is read into, and whether the key is known. All keys of
// maps and of values that don't matter are.
func fieldOf(t reflect.Type, key string) (field reflect.Type, known bool) {
	switch {
	case t != nil && t.Kind() == reflect.Map:
		return t.Elem(), true
	case t == nil || t.Kind() != reflect.Struct:
		return nil, true
	}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && strings.EqualFold(name, key) {
			return f.Type, true
		}
	}
	return nil, false
}
