package benchmarks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gapwise/gapwise/internal/nearest"
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

// bad reports what is wrong with the value.
func (v field) bad(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if v.at != "" && !strings.HasPrefix(text, ":") {
		text = " " + text
	}
	return fmt.Errorf("line %d: %s%s", v.node.Line, v.at, text)
}

// resolved is the value that an alias stands for.
func (v field) resolved() *yaml.Node {
	if v.node.Kind == yaml.AliasNode {
		return v.node.Alias
	}
	return v.node
}

func (v field) isMapping() bool { return v.resolved().Kind == yaml.MappingNode }
func (v field) isList() bool    { return v.resolved().Kind == yaml.SequenceNode }

// fields returns the values of a mapping, by key. what says what it may be instead.
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
	return fmt.Errorf("line %d: there is no key %q of %s; %sgive one of %s", v.node.Line, key, of, hint, strings.Join(known, ", "))
}

// list returns the values of a list.
func (v field) list(example string) ([]field, error) {
	if !v.isList() {
		return nil, v.bad("must be a list, like %s", example)
	}
	var all []field
	for k, n := range v.resolved().Content {
		all = append(all, field{n, fmt.Sprintf("%s[%d]", v.at, k)})
	}
	return all, nil
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

// texts returns a single value, or those of a list.
func (v field) texts() ([]string, error) {
	values := []field{v}
	if v.isList() {
		values, _ = v.list("")
	}
	var all []string
	for _, x := range values {
		if !v.isList() && (x.isMapping() || x.resolved().ShortTag() == "!!null") {
			return nil, v.bad("must be a value or a list of values, it is %s", shape(x.resolved()))
		}
		text, err := x.text()
		if err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, nil
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

// number returns a number.
func (v field) number() (float64, error) {
	text, err := v.text()
	if err != nil {
		return 0, err
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, v.bad("is %q, must be a number", text)
	}
	return x, nil
}

// whole returns a whole number from least.
func (v field) whole(least int) (int, error) {
	text, err := v.text()
	if err != nil {
		return 0, err
	}
	x, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return 0, v.bad("is %q, must be a whole number", text)
	case x < least:
		return 0, v.bad("is %d, must be at least %d", x, least)
	}
	return x, nil
}

// seed returns a whole number from 0.
func (v field) seed() (uint64, error) {
	text, err := v.text()
	if err != nil {
		return 0, err
	}
	x, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, v.bad("is %q, must be a whole number from 0", text)
	}
	return x, nil
}

// duration returns a time.
func (v field) duration() (time.Duration, error) {
	text, err := v.text()
	if err != nil {
		return 0, err
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, v.bad("is %q, must be a time like 10s, 500ms or 5m", text)
	case d < 0:
		return 0, v.bad("is %v, can't be negative", d)
	}
	return d, nil
}

// keys returns the keys of a mapping in order, so that the first mistake reported is
// the first of the text.
func keys(fields map[string]field) []string {
	var all []string
	for k := range fields {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b string) int {
		x, y := fields[a].node, fields[b].node
		if x.Line != y.Line {
			return x.Line - y.Line
		}
		if x.Column != y.Column {
			return x.Column - y.Column
		}
		return strings.Compare(a, b)
	})
	return all
}
