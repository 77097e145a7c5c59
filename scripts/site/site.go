// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/text/theme"
)

var (
	//go:embed page.tmpl
	pageTemplate string
	//go:embed site.css
	siteRules string
	//go:embed search.js
	searchScript string

	parsed = template.Must(template.New("page").Parse(pageTemplate))
)

// repository is where files are that the site doesn't hold: code, mostly.
const repository = "https://github.com/gapwise/gapwise/blob/main/"

// room is a part of the navigation: the pages below a folder.
type room struct{ Title, folder string }

// rooms are what readers come for, in this order. Single commands are in the list of
// commands.
var rooms = []room{{"Tutorials", "docs/tutorial/"}, {"How to", "docs/how-to/"}, {"Problems", "docs/problems/"},
	{"Reference", "docs/reference/"}, {"Results", "docs/results/"}, {"Explanation", "docs/explanation/"}, {"Examples", "examples/"}, {"Project", ""}}

// site is what is being written.
type site struct {
	root, to string
	play     bool
	pages    []*page          // by path
	byFile   map[string]*page // by file of the checkout
	assets   map[string]bool  // files of the checkout to copy
	wrong    []error          // links that lead nowhere
}

// build writes the site of the checkout at root to a folder and returns the number of
// its pages. A link that leads nowhere is an error.
func build(root, to string) (int, error) {
	s := &site{root: root, to: to, byFile: map[string]*page{}, assets: map[string]bool{}}
	if _, err := os.Stat(filepath.Join(root, "web/dist/index.html")); err == nil {
		s.play = true
	}
	if err := s.read(); err != nil {
		return 0, err
	}
	for _, p := range s.pages {
		s.relink(p)
	}
	if err := errors.Join(s.wrong...); err != nil {
		return 0, err
	}
	if err := os.RemoveAll(to); err != nil {
		return 0, err
	}
	if err := s.write(); err != nil {
		return 0, err
	}
	return len(s.pages), nil
}

// read reads the Markdown files: those of the root, of docs and of the examples.
func (s *site) read() error {
	files, err := filepath.Glob(filepath.Join(s.root, "*.md"))
	if err != nil {
		return err
	}
	for _, folder := range []string{"docs", "examples"} {
		err := filepath.WalkDir(filepath.Join(s.root, folder), func(file string, d fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(file) == ".md" {
				files = append(files, file)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(s.root, file)
		if err != nil {
			return err
		}
		p := newPage(filepath.ToSlash(name), text)
		s.pages = append(s.pages, p)
		s.byFile[p.file] = p
	}
	s.order()
	return nil
}

// order sorts the pages as the list of all documents has them, the others after them.
func (s *site) order() {
	listed := map[string]int{}
	if all := s.byFile[contents]; all != nil {
		all.walk(func(n ast.Node) {
			if l, ok := n.(*ast.Link); ok {
				file := path.Join(path.Dir(contents), string(l.Destination))
				if _, ok := listed[file]; !ok {
					listed[file] = len(listed) - 1e6 // below that of the others, 0
				}
			}
		})
	}
	slices.SortFunc(s.pages, func(a, b *page) int {
		return cmp.Or(cmp.Compare(listed[a.file], listed[b.file]), strings.Compare(a.file, b.file))
	})
}

// view is what the template shows of a page.
type view struct {
	*page
	Up      string // to the root of the site: "", "../" and so on
	Body    template.HTML
	Rooms   []viewRoom
	Play    bool
	Search  bool // the page of results of the search
	Version string
}

// viewRoom is a part of the navigation as a page sees it.
type viewRoom struct {
	Title string
	Here  bool
	Pages []viewLink
}

type viewLink struct {
	Title, URL string
	Here       bool
}

// navigation returns the rooms with the pages that a page sees in them.
func (s *site) navigation(from *page) (all []viewRoom) {
	for k, r := range rooms {
		v := viewRoom{Title: r.Title}
		for _, p := range s.pages {
			if p.room() != k || p.file == "README.md" || p.file == contents {
				continue
			}
			command := strings.HasPrefix(p.file, commands) && p.file != commands+"README.md"
			if command && !strings.HasPrefix(from.file, commands) {
				continue
			}
			v.Pages = append(v.Pages, viewLink{p.Title, relative(from.url, p.url), p == from})
		}
		switch from.file {
		case "README.md", contents:
			v.Here = k == 0 // where one begins
		case "": // the search
		default:
			v.Here = from.room() == k
		}
		all = append(all, v)
	}
	return all
}

// The folder of single commands, and the list of all documents.
const (
	commands = "docs/reference/commands/"
	contents = "docs/README.md"
)

// write writes pages, style, search and what pages link.
func (s *site) write() error {
	index := newIndex()
	for _, p := range s.pages {
		body, err := p.html()
		if err != nil {
			return fmt.Errorf("%s: %w", p.file, err)
		}
		index.add(p)
		if err := s.writePage(view{page: p, Body: body}); err != nil {
			return err
		}
	}
	found := &page{url: "search.html", Title: "Search"}
	if err := s.writePage(view{page: found, Search: true}); err != nil {
		return err
	}
	data, err := index.script()
	if err != nil {
		return err
	}
	scripts := map[string]string{"theme.css": theme.CSS(), "site.css": siteRules, "search.js": searchScript, "search-index.js": data}
	for name, text := range scripts {
		if err := s.put(name, []byte(text)); err != nil {
			return err
		}
	}
	for file := range s.assets {
		data, err := os.ReadFile(filepath.Join(s.root, file))
		if err != nil {
			return err
		}
		if err := s.put(target(file), data); err != nil {
			return err
		}
	}
	if s.play {
		return os.CopyFS(filepath.Join(s.to, "play"), os.DirFS(filepath.Join(s.root, "web/dist")))
	}
	return nil
}

func (s *site) writePage(v view) error {
	v.Up, v.Play, v.Version = strings.Repeat("../", strings.Count(v.url, "/")), s.play, gapwise.Version
	v.Rooms = s.navigation(v.page)
	var b bytes.Buffer
	if err := parsed.Execute(&b, v); err != nil {
		return fmt.Errorf("%s: %w", v.url, err)
	}
	return s.put(v.url, b.Bytes())
}

func (s *site) put(name string, data []byte) error {
	file := filepath.Join(s.to, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// target returns where a file of the checkout stands on the site: docs is its root.
func target(file string) string { return strings.TrimPrefix(file, "docs/") }

// relative returns the way from a page to another file of the site.
func relative(from, to string) string {
	up := strings.Split(path.Dir(from), "/")
	if up[0] == "." {
		up = nil
	}
	down := strings.Split(to, "/")
	for len(up) > 0 && len(down) > 1 && up[0] == down[0] {
		up, down = up[1:], down[1:]
	}
	return strings.Repeat("../", len(up)) + strings.Join(down, "/")
}
