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
	"unicode/utf8"
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

// space skips white space and returns the byte after it, 0 at the end.
func (d *decoder) space() byte {
	for ; d.at < len(d.data); d.at++ {
		if c := d.data[d.at]; c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return c
		}
	}
	return 0
}

// more reads what follows a member or an element: a comma, or the end.
func (d *decoder) more(end byte) (bool, error) {
	c := d.space()
	d.at++
	if c != ',' && c != end {
		return false, errNotJSON
	}
	return c == ',', nil
}

// key reads a key and the colon after it.
func (d *decoder) key() ([]byte, error) {
	if d.space() != '"' {
		return nil, errNotJSON
	}
	key, err := d.text()
	return key, err
}

func (d *decoder) colon() error {
	if d.space() != ':' {
		return errNotJSON
	}
	d.at++
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

// text reads a string. The bytes belong to the decoder.
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

// numeral is a JSON number: (-1)^minus mantissa 10^-places if it is short.
type numeral struct {
	text     []byte
	minus    bool
	whole    bool // of digits alone
	short    bool // of 19 digits at most, without exponent
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

// powers are the powers of ten that a float64 holds exactly.
var powers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// float returns the float64 nearest to the number, false beyond all of them. A
// mantissa and a power of ten that are float64s have that one as their quotient.
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

// skip reads any value and returns its text.
func (d *decoder) skip() ([]byte, error) {
	d.space()
	begin := d.at
	err := d.skipAt(0)
	return d.data[begin:min(d.at, len(d.data))], err
}

func (d *decoder) skipAt(depth int) (err error) {
	const deepest = 10_000 // of encoding/json
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

// literal reads a word if it is there.
func (d *decoder) literal(word string) bool {
	if len(d.data)-d.at < len(word) || string(d.data[d.at:d.at+len(word)]) != word {
		return false
	}
	d.at += len(word)
	return true
}

// isNumeral reports whether a number begins here.
func (d *decoder) isNumeral() bool {
	c := d.space()
	return c == '-' || c >= '0' && c <= '9'
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
