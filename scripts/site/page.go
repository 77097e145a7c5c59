// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"fmt"
	"html/template"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// markdown reads GitHub's Markdown. Raw HTML, which is comments of programs that write
// parts of pages, is left out.
var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// page is a document.
type page struct {
	file   string // of the checkout
	url    string // on the site
	Title  string
	source []byte
	tree   ast.Node
	// Sections are the headings of the second level.
	Sections []heading
	ids      []string // of all headings
}

// heading is a heading that can be linked.
type heading struct{ ID, Text string }

// newPage reads a page.
func newPage(file string, source []byte) *page {
	p := &page{file: file, url: urlOf(file), source: source, Title: file}
	names := parser.NewContext(parser.WithIDs(&ids{seen: map[string]bool{}}))
	p.tree = markdown.Parser().Parse(text.NewReader(source), parser.WithContext(names))
	titled := false
	p.walk(func(n ast.Node) {
		h, ok := n.(*ast.Heading)
		if !ok {
			return
		}
		words := p.words(h)
		id, _ := h.AttributeString("id")
		p.ids = append(p.ids, string(id.([]byte)))
		switch {
		case h.Level == 1 && !titled:
			p.Title, titled = words, true
		case h.Level == 2:
			p.Sections = append(p.Sections, heading{string(id.([]byte)), words})
		}
	})
	return p
}

// urlOf returns where the page of a file stands on the site.
func urlOf(file string) string {
	switch file {
	case "README.md":
		return "index.html"
	case contents:
		return "contents.html"
	}
	dir, name := path.Split(target(file))
	if name == "README.md" {
		return dir + "index.html"
	}
	return dir + strings.ToLower(strings.TrimSuffix(name, ".md")) + ".html"
}

// room returns the number of the page's room.
func (p *page) room() int {
	return slices.IndexFunc(rooms, func(r room) bool { return strings.HasPrefix(p.file, r.folder) })
}

// walk calls f with each node of the page.
func (p *page) walk(f func(ast.Node)) {
	_ = ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // f fails nowhere
		if entering {
			f(n)
		}
		return ast.WalkContinue, nil
	})
}

// words returns the text in a node.
func (p *page) words(n ast.Node) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch x := n.(type) {
		case *ast.Text:
			b.Write(x.Segment.Value(p.source))
			if x.SoftLineBreak() || x.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(x.Value)
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// relink turns the links between files of the checkout into those of the site.
func (s *site) relink(p *page) {
	p.walk(func(n ast.Node) {
		var to *[]byte
		switch x := n.(type) {
		case *ast.Link:
			to = &x.Destination
		case *ast.Image:
			to = &x.Destination
		default:
			return
		}
		found, err := s.resolve(p, string(*to))
		if err != nil {
			s.wrong = append(s.wrong, fmt.Errorf("%s: %w", p.file, err))
			return
		}
		*to = []byte(found)
	})
}

// resolve returns what a link of a page is on the site.
func (s *site) resolve(p *page, link string) (string, error) {
	u, err := url.Parse(link)
	if err != nil {
		return "", err
	}
	if u.Scheme != "" {
		return link, nil
	}
	file, at := p.file, p
	if u.Path != "" {
		file = path.Join(path.Dir(p.file), u.Path)
		if at = s.byFile[file]; at == nil {
			at = s.byFile[file+"/README.md"]
		}
	}
	switch info, err := os.Stat(filepath.Join(s.root, file)); {
	case err != nil || strings.HasPrefix(file, ".."):
		return "", fmt.Errorf("links %s, which isn't there", link)
	case at != nil && u.Fragment != "" && !slices.Contains(at.ids, u.Fragment):
		return "", fmt.Errorf("links %s, which has no such heading", link)
	case at == p && u.Path == "":
		return "#" + u.Fragment, nil
	case at != nil:
		if u.Fragment != "" {
			return relative(p.url, at.url) + "#" + u.Fragment, nil
		}
		return relative(p.url, at.url), nil
	case !info.IsDir() && (strings.HasPrefix(file, "docs/") || strings.HasPrefix(file, "examples/")):
		s.assets[file] = true
		return relative(p.url, target(file)), nil
	}
	return repository + file, nil
}

// html renders the page.
func (p *page) html() (template.HTML, error) {
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, p.source, p.tree); err != nil {
		return "", err
	}
	// In text a bracket is escaped: these are elements.
	const omitted = "<!-- raw HTML omitted -->"
	elements := strings.NewReplacer("<table>", `<div class="scroll" tabindex="0"><table>`, "</table>", "</table></div>",
		"<pre>", `<pre tabindex="0">`, "<img ", `<img loading="lazy" `, omitted+"\n", "", omitted, "")
	return template.HTML(elements.Replace(b.String())), nil
}

// ids names headings as GitHub does: small letters, spaces as hyphens, without marks.
type ids struct{ seen map[string]bool }

// Generate returns the name of a heading; it is parser.IDs'.
func (g *ids) Generate(value []byte, _ ast.NodeKind) []byte {
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, linkText.ReplaceAllString(strings.TrimSpace(string(value)), "$1"))
	unique := name
	for k := 1; g.seen[unique]; k++ {
		unique = fmt.Sprintf("%s-%d", name, k)
	}
	g.seen[unique] = true
	return []byte(unique)
}

// Put notes a name that is taken; it is parser.IDs'.
func (g *ids) Put(value []byte) { g.seen[string(value)] = true }

var linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
