// SPDX-License-Identifier: MIT

package benchmarks

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gapwise/gapwise/internal/text/nearest"
)

// field is a part of a plan's text. Its errors name the line and the keys that lead
// there.
type field struct {
	node *yaml.Node
	at   string // "algorithms[2].only"; empty: the whole plan
}

// mistake is a panic with what is wrong in a plan's text: decodePlan returns it as its error.
type mistake struct{ error }

// readYAML reads the one document of a text, YAML or JSON.
func readYAML(data []byte) field {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		panic(mistake{errors.New("the file is empty")})
	case err != nil:
		panic(mistake{inWords(err)})
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		panic(mistake{errors.New("there is more after the plan, give one document")})
	}
	return field{doc.Content[0], ""}
}

// inWords returns an error of the YAML reader on one line.
func inWords(err error) error {
	text := strings.TrimPrefix(strings.Join(strings.Fields(err.Error()), " "), "yaml: ")
	return errors.New(strings.TrimPrefix(text, "unmarshal errors: "))
}

// bad reports a mistake in the value.
func (v field) bad(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if v.at != "" && !strings.HasPrefix(text, ":") {
		text = " " + text
	}
	panic(mistake{fmt.Errorf("line %d: %s%s", v.node.Line, v.at, text)})
}

// check reports an error about the value.
func (v field) check(err error) {
	if err != nil {
		v.bad(": %v", err)
	}
}

// resolved returns the value that an alias refers to.
func (v field) resolved() *yaml.Node {
	if v.node.Kind == yaml.AliasNode {
		return v.node.Alias
	}
	return v.node
}

func (v field) isMapping() bool { return v.resolved().Kind == yaml.MappingNode }
func (v field) isList() bool    { return v.resolved().Kind == yaml.SequenceNode }

// fields returns the values of a mapping, by key. The argument what names the expected value in errors.
func (v field) fields(what string) map[string]field {
	n := v.resolved()
	if n.Kind != yaml.MappingNode {
		v.bad("must be %s", what)
	}
	for k := 0; k < len(n.Content); k += 2 {
		if n.Content[k].Kind != yaml.ScalarNode {
			field{n.Content[k], v.at}.bad("has a key that is no word")
		}
	}
	var all map[string]yaml.Node
	if err := n.Decode(&all); err != nil { // a key that is there twice, merges of what can't be merged
		panic(mistake{inWords(err)})
	}
	found := map[string]field{}
	for key, node := range all {
		found[key] = field{&node, strings.TrimPrefix(v.at+"."+key, ".")}
	}
	return found
}

// each calls read for each value of a list.
func (v field) each(example string, read func(field)) {
	if !v.isList() {
		v.bad("must be a list, like %s", example)
	}
	for k, n := range v.resolved().Content {
		read(field{n, fmt.Sprintf("%s[%d]", v.at, k)})
	}
}

// text returns a single value as it is written; numbers that YAML spells in its own
// way (.nan, .inf) as Go spells them.
func (v field) text() string {
	n := v.resolved()
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		v.bad("must be a single value, it is %s", shape(n))
	}
	if n.ShortTag() != "!!float" {
		return n.Value
	}
	var x float64
	if n.Decode(&x) != nil {
		v.bad("is %q, must be a number", n.Value)
	}
	return fmt.Sprint(x)
}

// several returns a single value, or the values of a list.
func several[T any](v field, one func(field) T) (all []T) {
	switch {
	case v.isList():
		v.each("", func(x field) { all = append(all, one(x)) })
	case v.isMapping() || v.resolved().ShortTag() == "!!null":
		v.bad("must be a value or a list of values, it is %s", shape(v.resolved()))
	default:
		all = []T{one(v)}
	}
	return all
}

func shape(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.ShortTag() == "!!null":
		return "empty"
	}
	return "a value"
}

// parsed reads a single value, which must be of a kind.
func parsed[T any](v field, parse func(string) (T, error), kind string) T {
	text := v.text()
	x, err := parse(text)
	if err != nil {
		v.bad("is %q, must be %s", text, kind)
	}
	return x
}

// number returns a number.
func (v field) number() float64 {
	return parsed(v, func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }, "a number")
}

// into reads the value that a pointer points to, or calls a function that reads it.
func (v field) into(to any) {
	switch to := to.(type) {
	case func(field):
		to(v)
	case *string:
		*to = v.text()
	case *float64:
		*to = v.number()
	case *uint64:
		*to = parsed(v, func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) }, "a whole number from 0")
	case *int:
		if *to = parsed(v, strconv.Atoi, "a whole number"); *to < 0 {
			v.bad("is %d, must be at least 0", *to)
		}
	case *int64:
		if *to = parsed(v, func(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) }, "a whole number"); *to < 1 {
			v.bad("is %d, must be at least 1", *to)
		}
	case *time.Duration:
		if *to = parsed(v, time.ParseDuration, "a time like 10s, 500ms or 5m"); *to < 0 {
			v.bad("is %v, can't be negative", *to)
		}
	default:
		panic(fmt.Sprintf("no plan has a %T", to))
	}
}

// key is a key of a mapping, with a pointer to its value or a function that reads it (see into).
type key struct {
	name string
	to   any
}

// read reads a mapping in the order of its text, so that the first mistake reported is the first of the text. The
// argument like names the expected value in errors. An error about an unknown key calls the mapping of, and lists the
// keys, and more.
func (v field) read(like, of string, keys []key, more ...string) {
	fields := v.fields(like)
	for _, name := range slices.SortedFunc(maps.Keys(fields), func(a, b string) int {
		x, y := fields[a].node, fields[b].node
		return cmp.Or(x.Line-y.Line, x.Column-y.Column, strings.Compare(a, b))
	}) {
		x := fields[name]
		k := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
		if k < 0 {
			known := append(keyNames(keys), more...)
			panic(mistake{fmt.Errorf("line %d: there is no key %q of %s; %sgive one of %s", x.node.Line, name, of,
				nearest.Hint("did you mean %s? ", name, known), strings.Join(known, ", "))})
		}
		x.into(keys[k].to)
	}
}

// keyNames returns the names of some keys.
func keyNames(keys []key) (all []string) {
	for _, k := range keys {
		if !slices.Contains(all, k.name) {
			all = append(all, k.name)
		}
	}
	return all
}
