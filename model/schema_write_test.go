// SPDX-License-Identifier: MIT

package model

import (
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

var update = flag.Bool("update", false, "write the schemas anew")

// The schemas of instances and solutions are what the descriptions of keys say.
func TestWrittenSchemas(t *testing.T) {
	for _, f := range formats {
		holdSchema(t, f.Kind, string(f.Kind), "instance", reflect.TypeOf(f.Instance()).Elem(), f.Keys)
		holdSchema(t, f.Kind, string(f.Kind)+"-solution", "solution", reflect.TypeOf(f.Solution()).Elem(), f.Decided)
	}
	holdSchema(t, "", "account", "account of a reading", reflect.TypeFor[Account](), accountKey.of)
}

func holdSchema(t *testing.T, kind Kind, file, sort string, of reflect.Type, o *object) {
	t.Helper()
	path := fmt.Sprintf("../docs/reference/schema/%s.json", file)
	head := fmt.Sprintf(`"$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "https://raw.githubusercontent.com/gapwise/gapwise/main/docs/reference/schema/%s.json",
  "title": "gapwise %s"`, file, strings.TrimSpace(string(kind)+" "+sort))
	text := objectSchema(of, o, head, o.about, "", string(kind)) + "\n"
	if *update {
		require.OK(t, os.WriteFile(path, []byte(text), 0o644))
	}
	if kept, err := os.ReadFile(path); err != nil || string(kept) != text {
		t.Errorf("%s isn't what model says (error %v); go test ./model -run TestWrittenSchemas -update writes it", path, err)
	}
}

// objectSchema returns the schema of a struct, which begins with head; kind is empty but for a whole instance.
func objectSchema(t reflect.Type, o *object, head, about, indent, kind string) string {
	var required, properties []string
	if kind != "" {
		required = []string{`"kind"`, `"version"`}
		properties = []string{fmt.Sprintf(`"kind": {"const": %q}`, kind), fmt.Sprintf(`"version": {"const": %d}`, formatVersion)}
	}
	described := 0
	for _, f := range planOf(t, false).fields {
		k := key{name: f.name}
		for _, known := range o.keys {
			if known.name == f.name {
				k = known
				described++
			}
		}
		if f.required {
			required = append(required, strconv.Quote(f.name))
		}
		properties = append(properties, fmt.Sprintf(`"%s": %s`, f.name, k.schema(t.Field(f.index).Type, indent+"    ")))
	}
	if described < len(o.keys) {
		panic(fmt.Sprintf("%v has no field for some of the %d keys", t, len(o.keys)))
	}
	list := ""
	if required != nil {
		list = fmt.Sprintf(`"required": [%s]`, strings.Join(required, ", "))
	}
	return "{\n  " + indent + joined(",\n  "+indent, head, `"type": "object"`, list, `"additionalProperties": false`, wordsOf(about), o.rules,
		"\"properties\": {\n    "+indent+strings.Join(properties, ",\n    "+indent)+"\n  "+indent+"}") + "\n" + indent + "}"
}

// schema returns the schema of a value of a key.
func (k *key) schema(t reflect.Type, indent string) string {
	one := func(members ...string) string {
		return "{" + joined(", ", append(append(members, k.rules), wordsOf(k.about))...) + "}"
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return one(`"type": "string"`)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return k.schema(t.Elem(), indent)
	case reflect.Struct:
		if k.published != "" {
			return one(fmt.Sprintf(`"$ref": %q`, k.published))
		}
		return objectSchema(t, k.of, "", k.about, indent, "")
	case reflect.Slice:
		length := joined(", ", bound("minItems", float64(k.few)), bound("maxItems", float64(k.many)))
		if k.distinct {
			length = joined(", ", length, `"uniqueItems": true`)
		}
		if k.of != nil {
			return "{\n  " + indent + joined(",\n  "+indent, `"type": "array"`, length, wordsOf(k.about),
				`"items": `+objectSchema(t.Elem(), k.of, "", "", indent+"  ", "")) + "\n" + indent + "}"
		}
		return one(`"type": "array"`, length, `"items": `+k.each.schema(t.Elem(), indent))
	case reflect.Map:
		return one(`"type": "object"`, `"additionalProperties": `+k.each.schema(t.Elem(), indent))
	case reflect.Bool:
		return one(`"type": "boolean"`)
	case reflect.Float64:
		if k.null {
			return one(`"anyOf": [{"type": "null"}, {"type": "number", ` + k.span() + `}]`)
		}
		return one(`"type": "number"`, k.span())
	case reflect.Int, reflect.Int64:
		return one(`"type": "integer"`, k.span())
	}
	texts := k.texts
	if !k.filled {
		texts = append([]string{""}, texts...)
	}
	switch list, _ := json.Marshal(texts); {
	case k.texts != nil:
		return one(`"enum": ` + strings.ReplaceAll(string(list), `","`, `", "`))
	case k.filled:
		return one(`"type": "string"`, `"minLength": 1`)
	}
	return one(`"type": "string"`)
}

// span returns the range of a number.
func (k *key) span() string {
	if k.most == 0 {
		return ""
	}
	least, most := fmt.Sprintf(`"minimum": %v`, exact(k.least)), fmt.Sprintf(`"maximum": %v`, exact(k.most))
	switch {
	case k.least == positive && k.whole.parts > 0:
		least = fmt.Sprintf(`"minimum": %v`, exact(1/k.whole.parts))
	case k.least == positive:
		least = `"exclusiveMinimum": 0`
	}
	switch {
	case k.most == noLimit || k.most == math.MaxFloat64:
		most = ""
	case k.most == below1:
		most = `"exclusiveMaximum": 1`
	}
	if k.whole == even {
		most = joined(", ", most, `"multipleOf": 2`)
	}
	if k.zero {
		least = fmt.Sprintf(`"anyOf": [{"const": 0}, {%s}]`, least)
	}
	return joined(", ", least, most)
}

// exact returns a number as schemas show it.
func exact(x float64) string {
	if text := strconv.FormatFloat(x, 'f', -1, 64); len(text) <= 8 || x == maxAmount {
		return text
	}
	return strings.Replace(strings.Replace(strconv.FormatFloat(x, 'e', -1, 64), "e+", "e", 1), "e0", "e", 1)
}

func bound(name string, n float64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%q: %s", name, exact(n))
}

func wordsOf(about string) string {
	if about == "" {
		return ""
	}
	return fmt.Sprintf(`"description": "%s"`, about)
}

// joined joins the texts that aren't empty.
func joined(between string, texts ...string) string {
	var all []string
	for _, s := range texts {
		if s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, between)
}
