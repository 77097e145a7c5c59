// SPDX-License-Identifier: MIT

package model

import (
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// decodeStrict reads an object into the struct that target points to, in one
// pass. It does the same as json.Unmarshal and refuses more: unknown keys, keys in another case, repeated keys, missing
// keys (those without omitempty), null, and anything after the object. If own is set the object also has the keys of
// envelope.
//
// Among several errors it reports the first of these kinds: text that isn't JSON, a wrong key or null, a value of the
// wrong type.
//
// This decoder, codec.go and encode.go stay beside encoding/json/v2 (github.com/go-json-experiment/json) for their speed.
// Of 100,000 batch jobs (2026-11-29, CPU time) this decoder reads a file in 93 ms. The package takes 169 ms, and still
// knows neither missing keys nor null: with a second pass for them it takes 284 ms. Writing takes 59 ms here and 114 ms
// there. A factor of 1.5 would be the limit for replacing them. Small values and other people's files are read with
// encoding/json, and a service's requests, which may not repeat a key, with the package.
func decodeStrict(data []byte, target any, own bool) error {
	d := decoder{data: data}
	v := reflect.ValueOf(target).Elem()
	err := d.object(planOf(v.Type(), own), v)
	if d.space(); err == nil && d.at < len(data) {
		err = errNotJSON
	}
	if err == nil && d.wrong == nil {
		return nil
	}
	if syntax := syntaxError(data); syntax != nil {
		return syntax
	}
	if err != nil {
		return err
	}
	return typeError(data, d.wrong)
}

// errNotJSON reports text that isn't JSON; syntaxError states where.
var errNotJSON = fmt.Errorf("%w JSON", ErrInvalid)

// syntaxError returns the error of encoding/json for data that aren't JSON, with
// its line; nil for JSON.
func syntaxError(data []byte) error {
	var syntax *json.SyntaxError
	if err := json.Unmarshal(data, new(struct{})); errors.As(err, &syntax) {
		return JSONError(data, err)
	}
	return nil
}

// decoder reads JSON text from an offset on.
type decoder struct {
	data  []byte
	at    int
	wrong *json.UnmarshalTypeError // the first value of a wrong type

	floats []float64                    // scratch
	texts  []string                     // short texts read last, by their hash: ids are there again and again
	shared map[sharedText]reflect.Value // pointers to structs that were read before
}

// fail returns an error that names the line of the current offset.
func (d *decoder) fail(format string, args ...any) error {
	return fmt.Errorf("%w JSON: line %d: %s", ErrInvalid, lineOf(d.data, int64(d.at)), fmt.Sprintf(format, args...))
}

// path returns the path of the value or the key that begins at an offset.
func (d *decoder) path(offset int) string {
	path, _ := pathAt(d.data, int64(offset))
	return path
}

// mismatch skips a value that isn't of type t. It returns an error for null. It keeps the first of other values, as
// wrong keys are reported before them.
func (d *decoder) mismatch(t reflect.Type) error {
	start := d.at
	text, err := d.skip()
	switch {
	case err != nil:
		return err
	case string(text) == "null":
		return d.fail("%q is null, must be a value", d.path(start))
	case d.wrong == nil:
		d.wrong = &json.UnmarshalTypeError{Type: t, Offset: int64(start) + 1}
	}
	return nil
}

// object reads an object with the keys of a plan into the struct v.
func (d *decoder) object(p *plan, v reflect.Value) error {
	if d.space() != '{' {
		return d.fail("%s must be an object", cmp.Or(d.path(d.at), "the file"))
	}
	begin := d.at
	d.at++
	seen, next := uint64(0), 0 // bit k: field k was there; the field expected next
	more := true
	if d.space() == '}' {
		d.at++
		more = false
	}
	for more {
		d.space()
		begins := d.at
		key, err := d.key()
		if err != nil {
			return err
		}
		k := p.find(key, next)
		switch {
		case k < 0:
			return d.fail("unknown key %q; known here: %s", d.path(begins), p.names())
		case seen&(1<<k) != 0:
			return d.fail("the key %q is there twice", d.path(begins))
		}
		seen, next = seen|1<<k, k+1
		if err := d.colon(); err != nil {
			return err
		}
		f := &p.fields[k]
		if f.index < 0 {
			_, err = d.skip() // peekKind has read it
		} else {
			err = f.decode(d, v.Field(f.index))
		}
		if err != nil {
			return err
		}
		if more, err = d.more('}'); err != nil {
			return err
		}
	}
	missing := ""
	for k := range p.fields {
		if f := &p.fields[k]; f.required && seen&(1<<k) == 0 && (missing == "" || f.name < missing) {
			missing = f.name
		}
	}
	if missing != "" {
		return d.fail("the key %q is missing", join(d.path(begin), missing))
	}
	return nil
}

// find returns the index of the field with the given key, -1 if there is none.
// It tries the field next first.
func (p *plan) find(key []byte, next int) int {
	if next < len(p.fields) && string(key) == p.fields[next].name {
		return next
	}
	for k := range p.fields {
		if string(key) == p.fields[k].name {
			return k
		}
	}
	return -1
}

// names returns the keys in alphabetical order, separated by commas.
func (p *plan) names() string {
	var all []string
	for k := range p.fields {
		all = append(all, p.fields[k].name)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// list reads a list into the slice v; objects means that its elements are objects.
func (d *decoder) list(c codec, objects bool, v reflect.Value) error {
	if d.space() != '[' {
		if objects {
			return d.fail("%q must be a list", d.path(d.at))
		}
		return d.mismatch(v.Type())
	}
	d.at++
	if d.space() == ']' {
		d.at++
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		return nil
	}
	first := d.at
	for n := 0; ; n++ {
		if n == v.Cap() {
			more := reflect.MakeSlice(v.Type(), n, n+d.room(n, first))
			reflect.Copy(more, v)
			v.Set(more)
		}
		v.SetLen(n + 1)
		if err := c.decode(d, v.Index(n)); err != nil {
			return err
		}
		if more, err := d.more(']'); err != nil || !more {
			clip(v)
			return err
		}
	}
}

// clip takes from a long slice the room beyond an eighth of its length: a list that isn't the
// last of its file may have as much again.
func clip(v reflect.Value) {
	if n := v.Len(); n >= 1024 && v.Cap() > n+n/8 {
		exact := reflect.MakeSlice(v.Type(), n, n)
		reflect.Copy(exact, v)
		v.Set(exact)
	}
}

// room returns for how many more values to make room in a list that begins at an offset and now holds n values. It is
// 15 times as many, or fewer if the rest of the text has no room for so many. So a long list, which mostly is the last
// in its file, has little room left.
func (d *decoder) room(n, first int) int {
	if n < 64 {
		return max(1, n)
	}
	rest := float64(n) * float64(len(d.data)-d.at) / float64(d.at-first)
	return max(n/16, min(15*n, int(rest*1.01)))
}

func decodeString(d *decoder, v reflect.Value) error {
	if d.space() != '"' {
		return d.mismatch(v.Type())
	}
	text, err := d.text()
	v.SetString(d.kept(text))
	return err
}

// kept returns a text as a string; if it can, the string of an equal text read before.
func (d *decoder) kept(text []byte) string {
	const slots, longest, small = 1 << 14, 24, 1 << 16
	if len(text) > longest || len(d.data) < small {
		return string(text)
	}
	if d.texts == nil {
		d.texts = make([]string, slots)
	}
	hash := uint32(2166136261) // FNV-1a
	for _, c := range text {
		hash = (hash ^ uint32(c)) * 16777619
	}
	slot := &d.texts[(hash^hash>>15)%slots]
	if *slot != string(text) {
		*slot = string(text)
	}
	return *slot
}

func decodeBool(d *decoder, v reflect.Value) error {
	d.space()
	switch {
	case d.literal("true"):
		v.SetBool(true)
	case !d.literal("false"):
		return d.mismatch(v.Type())
	}
	return nil
}

// number reads a number, if one comes next, and skips anything else. The type is the type of the place that takes it.
func (d *decoder) number(t reflect.Type) (n numeral, ok bool, err error) {
	if !d.isNumeral() {
		return n, false, d.mismatch(t)
	}
	n, err = d.numeral()
	return n, err == nil, err
}

// unfit goes back to a number that a type can't hold, and skips it.
func (d *decoder) unfit(n *numeral, t reflect.Type) error {
	d.at -= len(n.text)
	return d.mismatch(t)
}

// float reads a float64 for the place of a type.
func (d *decoder) float(t reflect.Type) (x float64, err error) {
	n, ok, err := d.number(t)
	if !ok {
		return 0, err
	}
	if x, ok = n.float(); !ok {
		return x, d.unfit(&n, t)
	}
	return x, nil
}

func decodeFloat(d *decoder, v reflect.Value) error {
	x, err := d.float(v.Type())
	v.SetFloat(x)
	return err
}

// floats64 is decoder.list for []float64, which holds most of a large file. With null, that stands for +Inf.
func (d *decoder) floats64(v reflect.Value, null bool) error {
	if d.space() != '[' {
		return d.mismatch(v.Type())
	}
	d.at++
	all, element := d.floats[:0], v.Type().Elem()
	if d.space() == ']' {
		d.at++
	} else {
		for more := true; more; {
			x, err := math.Inf(1), error(nil)
			if d.space(); !null || !d.literal("null") {
				x, err = d.float(element)
			}
			if err != nil {
				return err
			}
			all = append(all, x)
			if more, err = d.more(']'); err != nil {
				return err
			}
		}
	}
	d.floats = all
	*v.Addr().Interface().(*[]float64) = append(make([]float64, 0, len(all)), all...)
	return nil
}

// decodeSizes reads an object of numbers by any names, each there once.
func decodeSizes(d *decoder, v reflect.Value) error {
	if d.space() != '{' {
		return d.mismatch(v.Type())
	}
	d.at++
	all, more := map[string]float64{}, true
	if more = d.space() != '}'; !more {
		d.at++
	}
	for more {
		d.space()
		begins := d.at
		name, err := d.key()
		if err != nil {
			return err
		}
		text := string(name)
		if _, twice := all[text]; twice {
			return d.fail("the key %q is there twice", d.path(begins))
		}
		if err := d.colon(); err != nil {
			return err
		}
		if all[text], err = d.float(v.Type().Elem()); err != nil {
			return err
		}
		if more, err = d.more('}'); err != nil {
			return err
		}
	}
	v.Set(reflect.ValueOf(all))
	return nil
}

func decodeInt(d *decoder, v reflect.Value) error {
	n, ok, err := d.number(v.Type())
	if !ok {
		return err
	}
	x, err := strconv.ParseInt(string(n.text), 10, v.Type().Bits())
	if v.SetInt(x); err != nil {
		return d.unfit(&n, v.Type())
	}
	return nil
}

func decodeUint(d *decoder, v reflect.Value) error {
	n, ok, err := d.number(v.Type())
	if !ok {
		return err
	}
	x, err := strconv.ParseUint(string(n.text), 10, v.Type().Bits())
	if v.SetUint(x); err != nil {
		return d.unfit(&n, v.Type())
	}
	return nil
}

func decodeText(d *decoder, v reflect.Value) error {
	if d.space() != '"' {
		begin := d.at
		if err := d.mismatch(v.Type()); err != nil {
			return err
		}
		return d.fail("%q must be a string", d.path(begin))
	}
	begin := d.at
	text, err := d.text()
	if err != nil {
		return err
	}
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(text); err != nil {
		return d.fail("%q: %v", d.path(begin), err)
	}
	return nil
}

func decodeNumber(d *decoder, v reflect.Value) error {
	d.space()
	begin := d.at
	text, err := d.skip()
	if err != nil {
		return err
	}
	if string(text) == "null" {
		v.SetFloat(math.NaN())
		return nil
	}
	x := 0.0
	if json.Unmarshal(text, &x) != nil {
		return d.fail("%s: a number is wanted, %s isn't one", d.path(begin), short(string(text)))
	}
	v.SetFloat(x)
	return nil
}

// decodeRaw leaves a text, which may be nearly all there is, where it was read.
func decodeRaw(d *decoder, v reflect.Value) error {
	text, err := d.skip()
	v.SetBytes(slices.Clip(text))
	return err
}

func decodeOther(d *decoder, v reflect.Value) error {
	d.space()
	begin := d.at
	text, err := d.skip()
	switch {
	case err != nil:
		return err
	case string(text) == "null":
		return d.fail("%q is null, must be a value", d.path(begin))
	}
	if err := json.Unmarshal(text, v.Addr().Interface()); err != nil {
		return d.fail("%q: %v", d.path(begin), err)
	}
	return nil
}

// peek reads kind and version, and nothing after both. ok is false if they can't
// be read.
func (d *decoder) peek() (e envelope, ok bool) {
	c := d.space()
	d.at++
	for have := 0; c == '{' || c == ','; {
		key, err := d.key()
		if err == nil {
			err = d.colon()
		}
		if err != nil {
			return e, false
		}
		switch string(key) {
		case "kind":
			err = decodeString(d, reflect.ValueOf(&e.Kind).Elem())
			have |= 1
		case "version":
			err = decodeInt(d, reflect.ValueOf(&e.Version).Elem())
			have |= 2
		default:
			_, err = d.skip()
		}
		if err != nil || have == 3 {
			return e, err == nil && d.wrong == nil
		}
		c = d.space()
		d.at++
	}
	return e, false
}

// join returns the path of a key below a path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
