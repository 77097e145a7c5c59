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
	"strconv"
	"strings"
)

// decodeStrict is json.Unmarshal in one pass that also refuses what
// encoding/json lets pass: unknown keys, keys in another case, repeated keys,
// missing keys (those without omitempty), null and anything after the value.
// Own files have the envelope's keys besides the target's at the top level.
//
// Once encoding/json/v2 is no experiment any more it can take the place of
// this file, codec.go and encode.go: it refuses repeated keys and other cases
// by default and unknown keys by RejectUnknownMembers. Missing keys and null
// will need a check of their own.
//
// Errors are reported in this order: what isn't JSON, a wrong key or null, a
// value of another type.
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

// errNotJSON marks text that isn't JSON; syntaxError tells more.
var errNotJSON = fmt.Errorf("%w JSON", ErrInvalid)

// syntaxError says where data aren't JSON, in the words of encoding/json; nil
// if they are.
func syntaxError(data []byte) error {
	var syntax *json.SyntaxError
	if err := json.Unmarshal(data, new(struct{})); errors.As(err, &syntax) {
		return jsonError(data, err)
	}
	return nil
}

// decoder reads JSON text from a place on.
type decoder struct {
	data  []byte
	at    int
	wrong *json.UnmarshalTypeError // the first value of another type than is wanted
}

// fail returns an error on the line that has been reached.
func (d *decoder) fail(format string, args ...any) error {
	return fmt.Errorf("%w JSON: line %d: %s", ErrInvalid, lineOf(d.data, int64(d.at)), fmt.Sprintf(format, args...))
}

// path returns the path of the value or the key that begins at a place.
func (d *decoder) path(place int) string {
	path, _ := pathAt(d.data, int64(place))
	return path
}

// mismatch skips a value that isn't one of type t. Null is an error at once; of
// other values the first is kept, for wrong keys are reported before them.
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

// object reads an object of the keys of a plan.
func (d *decoder) object(p *plan, v reflect.Value) error {
	if d.space() != '{' {
		return d.fail("%s must be an object", cmp.Or(d.path(d.at), "the file"))
	}
	begin := d.at
	d.at++
	seen, next := uint64(0), 0 // bits of the fields, the one that is likely to follow
	more := true
	if d.space() == '}' {
		d.at++
		more = false
	}
	for more {
		d.space()
		place := d.at
		key, err := d.key()
		if err != nil {
			return err
		}
		k := p.find(key, next)
		switch {
		case k < 0:
			return d.fail("unknown key %q; known here: %s", d.path(place), p.names())
		case seen&(1<<k) != 0:
			return d.fail("the key %q is there twice", d.path(place))
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

// find returns the number of the field with the given key, -1 without one. It
// looks at the field next first.
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

// names lists the keys in alphabetical order.
func (p *plan) names() string {
	var all []string
	for k := range p.fields {
		all = append(all, p.fields[k].name)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// list reads a list.
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
	for n := 0; ; n++ {
		if n == v.Cap() {
			v.Grow(max(1, n))
		}
		v.SetLen(n + 1)
		if err := c.decode(d, v.Index(n)); err != nil {
			return err
		}
		if more, err := d.more(']'); err != nil || !more {
			return err
		}
	}
}

func decodeString(d *decoder, v reflect.Value) error {
	if d.space() != '"' {
		return d.mismatch(v.Type())
	}
	text, err := d.text()
	v.SetString(string(text))
	return err
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

// decodeNumeral reads a number; take tells whether it is one of the type.
func decodeNumeral(d *decoder, v reflect.Value, take func(*numeral) bool) error {
	if !d.isNumeral() {
		return d.mismatch(v.Type())
	}
	begin := d.at
	n, err := d.numeral()
	if err != nil {
		return err
	}
	if !take(&n) {
		d.at = begin
		return d.mismatch(v.Type())
	}
	return nil
}

func decodeFloat(d *decoder, v reflect.Value) error {
	return decodeNumeral(d, v, func(n *numeral) bool {
		x, ok := n.float()
		v.SetFloat(x)
		return ok
	})
}

func decodeInt(d *decoder, v reflect.Value) error {
	return decodeNumeral(d, v, func(n *numeral) bool {
		x, err := strconv.ParseInt(string(n.text), 10, v.Type().Bits())
		v.SetInt(x)
		return err == nil
	})
}

func decodeUint(d *decoder, v reflect.Value) error {
	return decodeNumeral(d, v, func(n *numeral) bool {
		x, err := strconv.ParseUint(string(n.text), 10, v.Type().Bits())
		v.SetUint(x)
		return err == nil
	})
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

func decodeRaw(d *decoder, v reflect.Value) error {
	text, err := d.skip()
	v.SetBytes(bytes.Clone(text))
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

// peek returns kind and version of an own file, false if they can't be read.
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

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
