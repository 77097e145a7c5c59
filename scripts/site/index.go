// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// index says in which sections of the pages a word stands.
type index struct {
	// Parts are the sections: page's title, heading (none before the first), link.
	Parts [][3]string `json:"parts"`
	// Words holds the numbers of the sections with a word, each less the one before it.
	Words map[string][]int `json:"words"`
	in    map[string][]int // the same, as they are
}

func newIndex() *index { return &index{Words: map[string][]int{}, in: map[string][]int{}} }

// add enters a page. Its sections begin at headings of the second and third level.
func (x *index) add(p *page) {
	x.part(p.Title, "", p.url)
	for n := p.tree.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level > 1 && h.Level < 4 {
			id, _ := h.AttributeString("id")
			x.part(p.Title, p.words(h), p.url+"#"+string(id.([]byte)))
		}
		x.enter(p.words(n))
		if n.Type() == ast.TypeBlock {
			_ = ast.Walk(n, func(b ast.Node, entering bool) (ast.WalkStatus, error) {
				if code := b.Kind() == ast.KindFencedCodeBlock || b.Kind() == ast.KindCodeBlock; code && entering {
					x.enter(string(b.Lines().Value(p.source)))
				}
				return ast.WalkContinue, nil
			})
		}
	}
}

// part begins a section.
func (x *index) part(title, heading, link string) {
	x.Parts = append(x.Parts, [3]string{title, heading, link})
	x.enter(title + " " + heading)
}

// enter enters the words of a text in the last section. A word is letters, digits and
// hyphens between them; one with hyphens counts in parts, too. Numbers don't count.
func (x *index) enter(words string) {
	part := len(x.Parts) - 1
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' }
	for _, word := range strings.FieldsFunc(strings.ToLower(words), between) {
		word = strings.Trim(word, "-_")
		for _, w := range append(strings.FieldsFunc(word, func(r rune) bool { return r == '-' || r == '_' }), word) {
			if len(w) < 2 || len(w) > 30 || !strings.ContainsFunc(w, unicode.IsLetter) {
				continue
			}
			if all := x.in[w]; len(all) == 0 || all[len(all)-1] != part {
				x.in[w] = append(all, part)
			}
		}
	}
}

// script returns the index as a script that search.js takes: it can be loaded from a
// file, which data can't.
func (x *index) script() (string, error) {
	for _, w := range slices.Sorted(maps.Keys(x.in)) {
		last := 0
		for _, k := range x.in[w] {
			x.Words[w] = append(x.Words[w], k-last)
			last = k
		}
	}
	data, err := json.Marshal(x)
	return "window.gapwiseIndex = " + string(data) + ";\n", err
}
