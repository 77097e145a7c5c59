// SPDX-License-Identifier: MIT

package model

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// The decoder of three passes that decode.go has replaced: the keys of kind and
// version, a walk over the tokens that looks at keys alone, json.Unmarshal. It defines the accepted input, the values
// that come out, and the words in which the rest is refused.

func oracleInstance(data []byte) (Instance, error) {
	kind, err := oracleKind(data, "instance")
	if err != nil {
		return nil, err
	}
	in := kind.New()
	if err := oracleStrict(data, in, envelope{}); err != nil {
		return nil, err
	}
	err = in.Validate()
	var element *ElementError
	if errors.As(err, &element) && element.List != "" {
		element.Line = lineOfElement(data, element.List, element.Index)
	}
	return in, err
}

func oracleSolution(data []byte) (Solution, error) {
	kind, err := oracleKind(data, "solution")
	if err != nil {
		return nil, err
	}
	s := kind.format().Solution()
	return s, oracleStrict(data, s, envelope{})
}

func oracleKind(data []byte, what string) (Kind, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return "", fmt.Errorf("%w %s: the file is empty", ErrInvalid, what)
	}
	if err := checkJSONText(data); err != nil {
		return "", err
	}
	var head struct {
		Kind    *Kind `json:"kind"`
		Version *int  `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return "", JSONError(data, err)
	}
	switch {
	case head.Kind == nil:
		return "", fmt.Errorf("%w %s: the key \"kind\" is missing, give one of %q", ErrInvalid, what, Kinds())
	case head.Kind.New() == nil:
		return "", fmt.Errorf("%w %s: kind %q is unknown, give one of %q", ErrInvalid, what, *head.Kind, Kinds())
	case head.Version == nil:
		return "", fmt.Errorf("%w %s: the key \"version\" is missing, give %d", ErrInvalid, what, formatVersion)
	case *head.Version != formatVersion:
		return "", fmt.Errorf("%w %s: version %d is not known, this program reads version %d", ErrInvalid, what, *head.Version, formatVersion)
	}
	return *head.Kind, nil
}

// oracleResult returns the result as it is stored.
func oracleResult(data []byte) (f resultFile, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return f, fmt.Errorf("%w result: the file is empty", ErrInvalid)
	}
	if !json.Valid(data) {
		var x any
		return f, JSONError(data, json.Unmarshal(data, &x))
	}
	if err := checkJSONText(data); err != nil {
		return f, err
	}
	v := reflect.New(resultType(resultKind(data)))
	err = oracleStrict(data, v.Interface())
	copyFields(reflect.ValueOf(&f).Elem(), v.Elem())
	return f, err
}

// oracleStrict allows and requires the fields of extra (empty structs, for their tags) at the top level in addition to
// the target's own.
func oracleStrict(data []byte, target any, extra ...any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	c := keyChecker{data: data, dec: dec}
	top := fieldsOf(reflect.TypeOf(target).Elem())
	for _, e := range extra {
		for k, f := range fieldsOf(reflect.TypeOf(e)) {
			top[k] = f
		}
	}
	if err := c.object(top, ""); err != nil {
		return err
	}
	if dec.More() {
		return fmt.Errorf("%w JSON: line %d: something follows the object, give one object alone", ErrInvalid, lineOf(data, dec.InputOffset()))
	}
	if err := json.Unmarshal(data, target); err != nil {
		return JSONError(data, err)
	}
	if d, ok := target.(*DAG); ok {
		var nulls struct {
			Tasks []struct {
				CostS []*float64 `json:"cost_s"`
			} `json:"tasks"`
		}
		if err := json.Unmarshal(data, &nulls); err != nil {
			return err
		}
		for t, x := range nulls.Tasks {
			for m, c := range x.CostS {
				if c == nil {
					d.Tasks[t].CostS[m] = math.Inf(1)
				}
			}
		}
	}
	return nil
}

type field struct {
	typ      reflect.Type
	required bool
}

// fieldsOf maps a struct's JSON keys to its fields.
func fieldsOf(t reflect.Type) map[string]field {
	fields := map[string]field{}
	for i := range t.NumField() {
		name, opts, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "" {
			fields[name] = field{t.Field(i).Type, !strings.Contains(opts, "omitempty")}
		}
	}
	return fields
}

// keyChecker walks the tokens along with the types, looking at keys only.
type keyChecker struct {
	data []byte
	dec  *json.Decoder
}

func (c *keyChecker) fail(format string, args ...any) error {
	return fmt.Errorf("%w JSON: line %d: %s", ErrInvalid, lineOf(c.data, c.dec.InputOffset()), fmt.Sprintf(format, args...))
}

// object expects one object with the given keys.
func (c *keyChecker) object(fields map[string]field, path string) error {
	tok, err := c.dec.Token()
	if err != nil {
		return JSONError(c.data, err)
	}
	if tok != json.Delim('{') {
		return c.fail("%s must be an object", cmp.Or(path, "the file"))
	}
	seen := map[string]bool{}
	for c.dec.More() {
		tok, err := c.dec.Token()
		if err != nil {
			return JSONError(c.data, err)
		}
		key := tok.(string)
		f, ok := fields[key]
		switch {
		case !ok:
			known := make([]string, 0, len(fields))
			for k := range fields {
				known = append(known, k)
			}
			slices.Sort(known)
			return c.fail("unknown key %q; known here: %s", join(path, key), strings.Join(known, ", "))
		case seen[key]:
			return c.fail("the key %q is there twice", join(path, key))
		}
		seen[key] = true
		if err := c.value(f.typ, join(path, key)); err != nil {
			return err
		}
	}
	if _, err := c.dec.Token(); err != nil {
		return JSONError(c.data, err)
	}
	missing := []string{}
	for k, f := range fields {
		if f.required && !seen[k] {
			missing = append(missing, k)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return c.fail("the key %q is missing", join(path, missing[0]))
	}
	return nil
}

// value walks one value; if it isn't shaped like t, json.Unmarshal reports it later, so it is only skipped here.
func (c *keyChecker) value(t reflect.Type, path string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[json.RawMessage](), reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
	case t.Kind() == reflect.Struct:
		return c.object(fieldsOf(t), path)
	case t.Kind() == reflect.Slice && elemIsStruct(t):
		tok, err := c.dec.Token()
		if err != nil {
			return JSONError(c.data, err)
		}
		if tok != json.Delim('[') {
			return c.fail("%q must be a list", path)
		}
		fields := fieldsOf(t.Elem())
		for i := 0; c.dec.More(); i++ {
			if err := c.object(fields, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		_, err = c.dec.Token()
		return err
	}
	var skip json.RawMessage
	if err := c.dec.Decode(&skip); err != nil {
		return JSONError(c.data, err)
	}
	// encoding/json takes null for any type and leaves the zero value.
	mayBeNull := t == reflect.TypeFor[json.RawMessage]() || t == reflect.TypeFor[number]()
	if strings.HasSuffix(path, "].cost_s") && string(skip) != "null" { // its elements may be null
		return nil
	}
	if string(skip) == "null" && !mayBeNull {
		return c.fail("%q is null, must be a value", path)
	}
	if text := string(skip); t == reflect.TypeFor[number]() && text != "null" && json.Unmarshal(skip, new(float64)) != nil {
		return c.fail("%s: a number is wanted, %s isn't one", path, short(text))
	}
	if text, ok := reflect.New(t).Interface().(encoding.TextUnmarshaler); ok {
		var s string
		if skip[0] != '"' {
			return c.fail("%q must be a string", path)
		}
		if err := json.Unmarshal(skip, &s); err != nil {
			return JSONError(c.data, err)
		}
		if err := text.UnmarshalText([]byte(s)); err != nil {
			return c.fail("%q: %v", path, err)
		}
	} else if t.Kind() == reflect.Slice && !mayBeNull {
		if at := nullIn(skip, t, path); at != "" {
			return c.fail("%q is null, must be a value", at)
		}
	}
	return nil
}

// nullIn is the path of the first null in a list, or in a list in it; empty
// without one.
func nullIn(list json.RawMessage, t reflect.Type, path string) string {
	if !bytes.Contains(list, []byte("null")) {
		return ""
	}
	var elements []json.RawMessage
	if json.Unmarshal(list, &elements) != nil {
		return ""
	}
	for i, e := range elements {
		at := fmt.Sprintf("%s[%d]", path, i)
		if string(e) == "null" {
			return at
		}
		if t.Elem().Kind() == reflect.Slice {
			if at := nullIn(e, t.Elem(), at); at != "" {
				return at
			}
		}
	}
	return ""
}

func elemIsStruct(t reflect.Type) bool { return t.Elem().Kind() == reflect.Struct }
