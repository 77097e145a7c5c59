// SPDX-License-Identifier: MIT

package model

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// A codec decodes and encodes the JSON of one type.
type codec struct {
	decode func(*decoder, reflect.Value) error
	encode func(*encoder, reflect.Value) error
}

// plan lists the keys of a struct's JSON object in the order of the file.
type plan struct{ fields []planField }

type planField struct {
	name     string
	quoted   string // name as JSON, with the colon
	index    int    // of the struct's field; -1 for a key of the envelope
	required bool   // no omitempty
	list     bool   // nil is written as [] (tag nil:"[]")
	codec
}

// plans caches the plans by planKey.
var plans sync.Map

type planKey struct {
	typ reflect.Type
	own bool // the envelope's keys come first
}

// planOf returns the plan of a struct type, made once. With own the keys of the
// envelope come first.
func planOf(t reflect.Type, own bool) *plan {
	if p, ok := plans.Load(planKey{t, own}); ok {
		return p.(*plan)
	}
	p := new(plan)
	if own {
		for _, f := range planOf(reflect.TypeFor[envelope](), false).fields {
			f.index = -1
			p.fields = append(p.fields, f)
		}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			continue
		}
		c := codecOf(f.Type)
		if f.Tag.Get("null") != "" {
			c = codec{func(d *decoder, v reflect.Value) error { return d.floats64(v, true) }, encodeCosts}
		}
		p.fields = append(p.fields, planField{name: name, quoted: `"` + name + `":`, index: i,
			required: !strings.Contains(options, "omitempty"), list: f.Tag.Get("nil") == "[]", codec: c})
	}
	if len(p.fields) > 64 {
		panic(fmt.Sprintf("model: %v has more than 64 keys", t)) // see decoder.object
	}
	plans.Store(planKey{t, own}, p)
	return p
}

// codecOf returns the codec of a type. It uses encoding/json for types with
// their own JSON methods and for kinds that no format has.
func codecOf(t reflect.Type) codec {
	c := codec{decodeOther, encodeOther}
	implements := func(i reflect.Type) bool { return t.Implements(i) || reflect.PointerTo(t).Implements(i) }
	switch {
	case t.Kind() == reflect.Pointer:
		return pointerCodec(t)
	case t == reflect.TypeFor[number]():
		c.decode = decodeNumber
	case t == reflect.TypeFor[json.RawMessage]():
		c.decode = decodeRaw
	case t == reflect.TypeFor[ProcessorList]():
		c = codec{decodeText, encodeProcessors}
	case implements(reflect.TypeFor[json.Marshaler]()), implements(reflect.TypeFor[json.Unmarshaler]()):
	case implements(reflect.TypeFor[encoding.TextUnmarshaler]()) && implements(reflect.TypeFor[encoding.TextMarshaler]()):
		c = codec{decodeText, encodeText}
	default:
		switch t.Kind() {
		case reflect.String:
			c = codec{decodeString, encodeString}
		case reflect.Bool:
			c = codec{decodeBool, encodeBool}
		case reflect.Float64:
			c = codec{decodeFloat, encodeFloat}
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			c = codec{decodeInt, encodeInt}
		case reflect.Uint, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			c = codec{decodeUint, encodeUint}
		case reflect.Struct:
			p := planOf(t, false)
			c.decode = func(d *decoder, v reflect.Value) error { return d.object(p, v) }
			c.encode = func(e *encoder, v reflect.Value) error { return e.object(p, v) }
		case reflect.Map:
			if t == reflect.TypeFor[map[string]float64]() {
				c.decode = decodeSizes
			}
		case reflect.Slice:
			if t.Elem().Kind() != reflect.Uint8 { // bytes are base64
				c = listCodec(t)
			}
		}
	}
	return c
}

func pointerCodec(t reflect.Type) codec {
	c := codecOf(t.Elem())
	p := codec{
		decode: func(d *decoder, v reflect.Value) error {
			v.Set(reflect.New(t.Elem()))
			return c.decode(d, v.Elem())
		},
		encode: func(e *encoder, v reflect.Value) error {
			if v.IsNil() {
				e.text = append(e.text, "null"...)
				return nil
			}
			return c.encode(e, v.Elem())
		},
	}
	if t == reflect.TypeFor[*JobLog]() || t == reflect.TypeFor[*NodeNeeds]() {
		p.decode = decodeShared
	}
	return p
}

// decodeShared reads a pointer to a struct. Equal texts share one: of 122,060 jobs of LANL's log there are 7,677 logs.
func decodeShared(d *decoder, v reflect.Value) error {
	begin := d.at
	text, err := d.skip()
	if err != nil {
		return err
	}
	key := sharedText{v.Type().Elem(), string(text)}
	x, ok := d.shared[key]
	if !ok {
		end := d.at
		x, d.at = reflect.New(key.of), begin
		if err := d.object(planOf(key.of, false), x.Elem()); err != nil {
			return err
		}
		d.at = end
		if d.shared == nil {
			d.shared = map[sharedText]reflect.Value{}
		}
		d.shared[key] = x
	}
	v.Set(x)
	return nil
}

// sharedText is the text of a struct.
type sharedText struct {
	of   reflect.Type
	text string
}

func listCodec(t reflect.Type) codec {
	c, objects := codecOf(t.Elem()), t.Elem().Kind() == reflect.Struct
	list := codec{
		decode: func(d *decoder, v reflect.Value) error { return d.list(c, objects, v) },
		encode: func(e *encoder, v reflect.Value) error { return e.list(c, v) },
	}
	if t == reflect.TypeFor[[]float64]() {
		list.decode = func(d *decoder, v reflect.Value) error { return d.floats64(v, false) }
	}
	return list
}
