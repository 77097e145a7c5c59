// SPDX-License-Identifier: MIT

package model

import (
	"fmt"
	"math"
	"reflect"
	"slices"
)

// object describes a JSON object of an instance or a solution. It is the one source of the values that Validate allows
// key by key, and of the published JSON Schema with its words. Types, and which keys may be missing, follow from the struct.
type object struct {
	about string
	keys  []key
	rules string // members of the schema that relate keys; Validate checks them in Go
}

// key describes a key of an object, or an element of its list.
type key struct {
	name, about string
	least, most float64  // of a number; without most it is any number
	unit        string   // of a number, in messages
	zero        bool     // 0 is allowed, too
	null        bool     // of a number: +Inf is allowed, too, which files write as null
	whole       multiple // of which a number is one
	texts       []string // the values of a text; the empty one is allowed, too, and is as good as a missing key
	filled      bool     // a text isn't empty
	few, many   int      // how many elements a list has; many 0: any number
	distinct    bool     // the elements of a list differ
	each        *key     // of a list that holds no objects
	of          *object  // of an object or a list of objects
	published   string   // the file of the schema of an object that others refer to
	rules       string   // members of the schema that Validate checks in Go
}

// Limits of numbers. A number that isn't finite is beyond all of them.
const (
	positive = math.SmallestNonzeroFloat64 // as the least: above 0
	below1   = 1 - 0x1p-53                 // as the most
	noLimit  = 1 << 63                     // as the most of whole numbers: all of them are below
)

// multiple describes the numbers k/parts with a whole k. Instances hold such numbers where arithmetic must be exact.
type multiple struct {
	parts float64 // 0: all numbers
	rule  string  // follows "must"
}

var (
	micros = multiple{1e6, "be a whole number of microseconds; round it"}
	bits   = multiple{1e6, "be a whole number of bits per second; round it"} // of Mbps
	shares = multiple{1e4, "have at most four decimals"}
	even   = multiple{0.5, "be an even number"}
)

// holds reports whether a number is allowed.
func (k *key) holds(x float64) bool {
	return x >= k.least && x <= k.most && (k.whole.parts == 0 || math.RoundToEven(x*k.whole.parts)/k.whole.parts == x) || x == 0 && k.zero ||
		k.null && math.IsInf(x, 1)
}

// hold reports whether all numbers of a key's list are allowed.
func hold[N int | int64 | float64](k *key, all []N) bool {
	for _, x := range all {
		if !k.each.holds(float64(x)) || x > N(k.each.most) { // a large int64 has no float64 of its own
			return false
		}
	}
	return true
}

// says reports whether a text is allowed.
func (k *key) says(s string) bool {
	return s == "" && !k.filled || s != "" && (k.texts == nil || slices.Contains(k.texts, s))
}

// key returns the description of a key.
func (o *object) key(name string) *key {
	return &o.keys[slices.IndexFunc(o.keys, func(k key) bool { return k.name == name })]
}

// wrong describes the first value that isn't allowed in the object that the struct at x holds, "" if there is none. It
// doesn't look at lists of objects.
func (o *object) wrong(x any) string {
	v := reflect.ValueOf(x).Elem()
	p := planOf(v.Type(), false)
	for i := range o.keys {
		k := &o.keys[i]
		if why := k.wrong(k.name, v.Field(p.fields[p.find([]byte(k.name), i)].index)); why != "" {
			return why
		}
	}
	return ""
}

// wrong describes the error in a value with a name, "" if there is none.
func (k *key) wrong(name string, v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return k.wrong(name, v.Elem())
		}
	case reflect.Struct:
		if why := k.of.wrong(v.Addr().Interface()); why != "" {
			return name + "." + why
		}
	case reflect.Float64:
		if x := v.Float(); k.most > 0 && !k.holds(x) {
			return k.misfit(name, x, x)
		}
	case reflect.Int, reflect.Int64:
		// A large one has no float64 of its own.
		if x := v.Int(); k.most > 0 && !(k.holds(float64(x)) && (k.most == noLimit || x <= int64(k.most))) {
			return k.misfit(name, float64(x), x)
		}
	case reflect.String:
		switch s := v.String(); {
		case k.says(s):
		case s == "" && k.texts == nil:
			return name + " is missing or empty"
		default:
			return fmt.Sprintf("%s is %q, must be one of %q", name, s, k.texts)
		}
	case reflect.Slice:
		switch n := v.Len(); {
		case n == 0 && k.few > 0:
			return fmt.Sprintf("%s is empty, must hold at least one", name)
		case n < k.few || k.many > 0 && n > k.many:
			return fmt.Sprintf("%s has %d entries, must have from %d to %d", name, n, k.few, k.many)
		}
		for i := 0; !k.each.free() && i < v.Len(); i++ {
			if k.each.wrong("", v.Index(i)) != "" { // names of all elements would take longer
				return k.each.wrong(fmt.Sprintf("%s[%d]", name, i), v.Index(i))
			}
		}
	}
	return ""
}

// free reports whether an element may have any value.
func (k *key) free() bool {
	return k == nil || k.most == 0 && !k.filled && k.texts == nil && k.each.free()
}

// misfit describes a number that isn't allowed.
func (k *key) misfit(name string, x float64, shown any) string {
	least, most := any(k.least), any(k.most)
	if _, count := shown.(int64); count {
		least, most = int64(k.least), int64(k.most)
	}
	rule := fmt.Sprintf("from %v to %v", least, most)
	switch {
	case x >= k.least && x <= k.most && k.whole.parts > 0:
		return fmt.Sprintf("%s is %v, must %s", name, shown, k.whole.rule)
	case k.least == positive:
		rule = fmt.Sprintf("above 0 and at most %v", most)
	case k.most == below1:
		rule = fmt.Sprintf("from %v to below 1", least)
	case k.most == noLimit || k.most == math.MaxFloat64:
		rule = fmt.Sprintf("at least %v", least)
	case k.zero:
		rule = "0 or " + rule
	}
	if k.unit != "" {
		rule += " " + k.unit
	}
	return fmt.Sprintf("%s is %v, must be %s", name, shown, rule)
}

// Keys of several objects.
var (
	idKey        = key{name: "id", filled: true, about: "distinct within its list"}
	startTimeKey = key{name: "start_time", about: "When second 0 is, of an instance made from a log.",
		rules: `"format": "date-time", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"`}
)

// numbersRule is the schema of a list of processors as text.
const numbersRule = `"pattern": "^(0*[0-9]{1,7}(-0*[0-9]{1,7})?(,0*[0-9]{1,7}(-0*[0-9]{1,7})?)*)?$"`

// textsOf returns the names of values.
func textsOf[S ~string](all []S) (texts []string) {
	for _, s := range all {
		texts = append(texts, string(s))
	}
	return texts
}
