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

// readYAML reads the one document of a text, YAML or JSON.
func readYAML(data []byte) (field, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return field{}, errors.New("the file is empty")
	case err != nil:
		return field{}, inWords(err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return field{}, errors.New("there is more after the plan, give one document")
	}
	return field{doc.Content[0], ""}, nil
}

// inWords returns an error of the YAML reader on one line.
func inWords(err error) error {
	text := strings.TrimPrefix(strings.Join(strings.Fields(err.Error()), " "), "yaml: ")
	return errors.New(strings.TrimPrefix(text, "unmarshal errors: "))
}

// bad reports a mistake in the value.
func (v field) bad(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if v.at != "" && !strings.HasPrefix(text, ":") {
		text = " " + text
	}
	return fmt.Errorf("line %d: %s%s", v.node.Line, v.at, text)
}

// wrong adds the place to an error about the value.
func (v field) wrong(err error) error {
	if err == nil {
		return nil
	}
	return v.bad(": %v", err)
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
func (v field) fields(what string) (map[string]field, error) {
	n := v.resolved()
	if n.Kind != yaml.MappingNode {
		return nil, v.bad("must be %s", what)
	}
	for k := 0; k < len(n.Content); k += 2 {
		if n.Content[k].Kind != yaml.ScalarNode {
			return nil, field{n.Content[k], v.at}.bad("has a key that is no word")
		}
	}
	var all map[string]yaml.Node
	if err := n.Decode(&all); err != nil { // a key that is there twice, merges of what can't be merged
		return nil, inWords(err)
	}
	found := map[string]field{}
	for key, node := range all {
		at := key
		if v.at != "" {
			at = v.at + "." + key
		}
		found[key] = field{&node, at}
	}
	return found, nil
}

// unknown reports a key that isn't one of those known.
func (v field) unknown(key, of string, known []string) error {
	hint := ""
	if near := nearest.Of(key, known); near != "" {
		hint = fmt.Sprintf("did you mean %s? ", near)
	}
	return fmt.Errorf("line %d: there is no key %q of %s; %sgive one of %s", v.node.Line, key, of, hint,
		strings.Join(known, ", "))
}

// each calls read for each value of a list.
func (v field) each(example string, read func(field) error) error {
	if !v.isList() {
		return v.bad("must be a list, like %s", example)
	}
	for k, n := range v.resolved().Content {
		if err := read(field{n, fmt.Sprintf("%s[%d]", v.at, k)}); err != nil {
			return err
		}
	}
	return nil
}

// text returns a single value as it is written; numbers that YAML spells in its own
// way (.nan, .inf) as Go spells them.
func (v field) text() (string, error) {
	n := v.resolved()
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return "", v.bad("must be a single value, it is %s", shape(n))
	}
	if n.ShortTag() == "!!float" {
		var x float64
		if n.Decode(&x) != nil {
			return "", v.bad("is %q, must be a number", n.Value)
		}
		return fmt.Sprint(x), nil
	}
	return n.Value, nil
}

// several returns a single value, or the values of a list.
func several[T any](v field, one func(field) (T, error)) (all []T, err error) {
	add := func(x field) error {
		y, err := one(x)
		all = append(all, y)
		return err
	}
	switch {
	case v.isList():
		err = v.each("", add)
	case v.isMapping() || v.resolved().ShortTag() == "!!null":
		err = v.bad("must be a value or a list of values, it is %s", shape(v.resolved()))
	default:
		err = add(v)
	}
	return all, err
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
func parsed[T any](v field, parse func(string) (T, error), kind string) (x T, err error) {
	text, err := v.text()
	if err != nil {
		return x, err
	}
	if x, err = parse(text); err != nil {
		return x, v.bad("is %q, must be %s", text, kind)
	}
	return x, nil
}

// number returns a number.
func (v field) number() (float64, error) {
	return parsed(v, func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }, "a number")
}

// into reads the value that a pointer points to, or calls a function that reads it.
func (v field) into(to any) (err error) {
	switch to := to.(type) {
	case func(field) error:
		return to(v)
	case *string:
		*to, err = v.text()
	case *float64:
		*to, err = v.number()
	case *uint64:
		*to, err = parsed(v, func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) },
			"a whole number from 0")
	case *int:
		if *to, err = parsed(v, strconv.Atoi, "a whole number"); *to < 0 {
			err = v.bad("is %d, must be at least 0", *to)
		}
	case *int64:
		if *to, err = parsed(v, func(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) },
			"a whole number"); err == nil && *to < 1 {
			err = v.bad("is %d, must be at least 1", *to)
		}
	case *time.Duration:
		if *to, err = parsed(v, time.ParseDuration, "a time like 10s, 500ms or 5m"); *to < 0 {
			err = v.bad("is %v, can't be negative", *to)
		}
	default:
		panic(fmt.Sprintf("no plan has a %T", to))
	}
	return err
}

// key is a key of a mapping, with a pointer to its value or a function that reads it (see into).
type key struct {
	name string
	to   any
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

// read reads a mapping in the order of its text, so that the first mistake reported is the first of the text. The
// argument like names the expected value in errors. An error about an unknown key calls the mapping of, and lists the
// keys, and more.
func (v field) read(like, of string, keys []key, more ...string) error {
	fields, err := v.fields(like)
	if err != nil {
		return err
	}
	for _, name := range inOrder(fields) {
		x := fields[name]
		k := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
		if k < 0 {
			return x.unknown(name, of, append(keyNames(keys), more...))
		}
		if err := x.into(keys[k].to); err != nil {
			return err
		}
	}
	return nil
}

// inOrder returns the keys of a mapping in the order of the text.
func inOrder(fields map[string]field) []string {
	return slices.SortedFunc(maps.Keys(fields), func(a, b string) int {
		x, y := fields[a].node, fields[b].node
		return cmp.Or(x.Line-y.Line, x.Column-y.Column, strings.Compare(a, b))
	})
}
