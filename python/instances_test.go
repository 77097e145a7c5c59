// SPDX-License-Identifier: MIT

// Package python holds the Python package's dataclasses against the published schemas.
package python

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/gapwise/gapwise/model"
)

var update = flag.Bool("update", false, "write gapwise/instances.py anew")

// schema is what is read of a JSON Schema; Properties in their order.
type schema struct {
	Type        string
	Description string
	Ref         string `json:"$ref"`
	Const       jsontext.Value
	Enum        []string
	AnyOf       []*schema
	Items       *schema
	Required    []string
	Properties  jsontext.Value
	Others      jsontext.Value     `json:"additionalProperties"`
	Defs        map[string]*schema `json:"$defs"`
}

// property is a key of an object, with its schema.
type property struct {
	key string
	of  schema
}

func (s schema) properties(t *testing.T) (all []property) {
	d := jsontext.NewDecoder(strings.NewReader(string(s.Properties)))
	if _, err := d.ReadToken(); err != nil {
		t.Fatal(err)
	}
	for d.PeekKind() == '"' {
		key, err := d.ReadToken()
		p := property{key: key.String()}
		if err == nil {
			err = json.UnmarshalDecode(d, &p.of, json.MatchCaseInsensitiveNames(true))
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// writer writes the classes of one schema, parts before what holds them.
type writer struct {
	t      *testing.T
	prefix string
	defs   map[string]*schema
	text   *strings.Builder
}

// prefixes are the names of classes by kind.
var prefixes = map[model.Kind]string{model.KindVCSched: "VCSched", model.KindDAG: "DAG", model.KindReservation: "Reservation", model.KindTVC: "TVC", model.KindConsolidation: "Consolidation", model.KindBatch: "Batch"}

// title is the name of a key's class: jobs are of the class Job, host_sizes HostSize.
func title(key string) (name string) {
	for word := range strings.SplitSeq(key, "_") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// annotation returns the type of a value, having written the classes that it takes; part
// is that of the records in it.
func (w writer) annotation(key string, s schema) (kind, part string) {
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		s = *w.defs[name]
	}
	if s.Ref == "account.json" { // of one shape for all kinds, and only shown
		return "Dict[str, Any]", ""
	}
	switch s.Type {
	case "string":
		return "str", ""
	case "integer":
		return "int", ""
	case "number":
		return "float", ""
	case "boolean":
		return "bool", ""
	case "array":
		one := *s.Items
		if one.Type == "object" {
			one.Description = "One of the " + strings.ReplaceAll(key, "_", " ") + "."
		}
		kind, part = w.annotation(strings.TrimSuffix(key, "s"), one)
		return "List[" + kind + "]", part
	case "object":
		if strings.Contains(string(s.Others), "number") {
			return "Dict[str, float]", ""
		}
		if strings.Contains(string(s.Others), "integer") {
			return "Dict[str, List[int]]", ""
		}
		if len(s.Properties) == 0 { // any keys
			return "Dict[str, str]", ""
		}
		part = w.prefix + title(key)
		if s.Description == "" {
			s.Description = "The " + strings.ReplaceAll(key, "_", " ") + "."
		}
		w.class(part, s)
		return part, part
	}
	if s.Enum != nil {
		return "str", ""
	}
	if len(s.AnyOf) == 2 && s.AnyOf[0].Type == "null" {
		kind, part = w.annotation(key, *s.AnyOf[1])
		return "Optional[" + kind + "]", part
	}
	w.t.Fatalf("%s: no type for %+v", key, s)
	return "", ""
}

// wrapped breaks a text into lines of a comment or a docstring.
func wrapped(text, before string) string {
	lines, line := "", before
	for word := range strings.FieldsSeq(text) {
		if len(line)+len(word) >= 100 && line != before {
			lines, line = lines+strings.TrimRight(line, " ")+"\n", before
		}
		line += word + " "
	}
	return lines + strings.TrimRight(line, " ") + "\n"
}

// class writes the class of an object.
func (w writer) class(name string, s schema) {
	var head, parts, fields, optional string
	for _, p := range s.properties(w.t) {
		if p.of.Const != nil {
			head += fmt.Sprintf("%q: %s, ", p.key, p.of.Const)
			continue
		}
		kind, part := w.annotation(p.key, p.of)
		if part != "" {
			parts += fmt.Sprintf("%q: %s, ", p.key, part)
		}
		text := ""
		if about := p.of.Description; about != "" {
			text = wrapped(about, "    #: ")
		}
		field := p.key
		if field == "from" { // a word of the language
			field += "_"
		}
		if slices.Contains(s.Required, p.key) {
			fields += text + fmt.Sprintf("    %s: %s\n", field, kind)
		} else {
			optional += text + fmt.Sprintf("    %s: Optional[%s] = None\n", field, kind)
		}
	}
	about := strings.ToUpper(s.Description[:1]) + s.Description[1:]
	if !strings.HasSuffix(about, ".") {
		about += "."
	}
	about = strings.TrimSuffix(wrapped(`"""`+about, "    "), "\n")
	if strings.Contains(about, "\n") {
		about += "\n    "
	}
	fmt.Fprintf(w.text, "\n\n@dataclass\nclass %s(Record):\n%s\"\"\"\n\n", name, about)
	for _, x := range [][2]string{{"_head", head}, {"_parts", parts}} {
		if x[1] != "" {
			fmt.Fprintf(w.text, "    %s = {%s}\n", x[0], strings.TrimSuffix(x[1], ", "))
		}
	}
	w.text.WriteString(fields + optional)
}

// The dataclasses are those of the schemas; -update writes them.
func TestInstances(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString(`"""The instances as dataclasses: written from docs/reference/schema by go test ./python -update."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Type

from .record import Record
`)
	var kinds string
	for _, kind := range model.Kinds() {
		data, err := os.ReadFile("../docs/reference/schema/" + string(kind) + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var s schema
		if err := json.Unmarshal(data, &s, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
		writer{t, prefixes[kind], s.Defs, &text}.class(prefixes[kind], s)
		kinds += fmt.Sprintf("%q: %s, ", kind, prefixes[kind])
	}
	text.WriteString("\n\n__all__ = [\n")
	var classes []string
	for _, m := range regexp.MustCompile(`(?m)^class (\w+)`).FindAllStringSubmatch(text.String(), -1) {
		classes = append(classes, m[1])
	}
	slices.Sort(classes)
	for _, c := range classes {
		fmt.Fprintf(&text, "    %q,\n", c)
	}
	fmt.Fprintf(&text, "]\n\n#: The class of each kind.\nKINDS: Dict[str, Type[Record]] = {%s}\n", strings.TrimSuffix(kinds, ", "))
	const file = "gapwise/instances.py"
	if *update {
		if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(file); err != nil || string(kept) != text.String() {
		t.Errorf("python/%s isn't what the schemas say (error %v): go test ./python -update writes it", file, err)
	}
}
