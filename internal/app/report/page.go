// SPDX-License-Identifier: MIT

// Package report writes results, instances and logs as one self-contained page:
// summary, tables, curves and pictures, without any request to a network.
package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/internal/text/words"
)

var (
	//go:embed page.css
	pageRules string
	//go:embed page.js
	pageScript string
)

// page is the content of a page. All texts are plain; markup escapes them.
type page struct {
	Title    string
	Subtitle string
	Lead     []string // in words
	Cards    []card
	Sections []section
	Left     []string // the parts left out, and why
}

// card is one figure of the summary.
type card struct{ Value, Label string }

// section is a part of the page.
type section struct {
	ID, Title string
	Text      []string
	Blocks    []block
	half      bool // it is next to another, in half of the page's width
	duo       bool // its chart and its table are side by side
}

// narrow reports whether half of the page's width is enough: for charts that aren't over time, and tables of few
// columns next to them.
func (s *section) narrow() bool {
	charts := false
	for _, b := range s.Blocks {
		switch {
		case b.Figures != nil && !slices.ContainsFunc(b.Figures.Charts, func(f figure) bool { return f.Wide }):
			charts = true
		case b.Table != nil && len(b.Table.Columns) <= 8:
		case b.Figures == nil && b.Table == nil && b.Items == nil && b.Picture == nil && b.Bars == nil: // words
		default:
			return false
		}
	}
	return charts
}

// pair puts narrow sections side by side, two at a time, with their tables folded; a single one has its chart next to
// its table.
func (p *page) pair() {
	var narrow []*section
	for k := range p.Sections {
		if s := &p.Sections[k]; s.narrow() {
			narrow = append(narrow, s)
		}
	}
	for _, s := range narrow[:len(narrow)/2*2] {
		s.half = true
		for k := range s.Blocks {
			s.Blocks[k].Folded = s.Blocks[k].Table != nil
		}
	}
	if s := len(narrow) - 1; len(narrow)%2 == 1 && len(narrow[s].Blocks) == 2 && narrow[s].Blocks[1].Table != nil {
		narrow[s].duo = true
	}
}

// block holds one of its fields.
type block struct {
	Heading string
	Table   *table
	Folded  bool // the table is opened by a click
	Figures *figures
	Items   *items
	Picture *picture
	Bars    *bars
	Words   string
	Command string
}

// table can be sorted by each column and filtered by text and by the columns that Choices names.
type table struct {
	Caption string
	Columns []column
	Choices []choice
	Rows    []row
	Note    string
	Plain   bool // it is small: no filters
}

// column heads a column; Help explains how its figures are computed.
type column struct {
	Name, Help string
	Number     bool
}

// choice is a filter: the values of one attribute of the rows.
type choice struct {
	Name   string
	Index  int // in row.Values
	Values []string
	One    bool // one value is always chosen, at first the first
}

type row struct {
	Cells  []cell
	Values []string // of the table's choices
}

// cell is a text and its sort key, if that is a number.
type cell struct {
	Text  string
	Sort  string
	value *float64 // the text is to be made by align
}

// figures is a set of charts; one is shown at a time, by up to two choices.
type figures struct {
	Choices []choice
	Charts  []figure
}

type figure struct {
	Keys    []string // values of the choices
	SVG     string
	Legend  []legend
	Caption string
	Wide    bool
}

type legend struct {
	Curve  int
	Class  string
	Name   string
	Hidden bool
}

// items is the table of instances.
type items struct {
	Choices []choice
	Columns []itemColumn // after the name
	All     []item
}

// itemColumn is a column of the table of instances; a phone has no room for a minor one.
type itemColumn struct {
	Name, Help    string
	Number, Minor bool
}

// item is an instance, a row that opens.
type item struct {
	Name     string
	Cells    []cell
	Values   []string // of the choices
	Words    []string
	Runs     *table
	Picture  *picture
	Commands []string
}

// picture is a drawing of a solution.
type picture struct {
	URL     string
	Alt     string
	Caption string
}

// newPicture returns a picture of an image file of a type, svg+xml or png. It is in an img element: nothing in it is a
// part of the page.
func newPicture(kind string, image []byte, alt, caption string) *picture {
	return &picture{"data:image/" + kind + ";base64," + base64.StdEncoding.EncodeToString(image), alt, caption}
}

// pageStyle is the page's style sheet: the design values, and the rules that use them.
var pageStyle = sync.OnceValue(func() string { return theme.CSS() + pageRules })

// hashOf returns the source expression of a Content Security Policy that allows an
// inline script or style of exactly this text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// policy forbids the page to load anything and to run any script but its own, even if a displayed name were taken for
// markup.
func policy() string {
	return fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; img-src data:; base-uri 'none'; form-action 'none'", hashOf(pageScript), hashOf(pageStyle()))
}

func (p *page) write(w io.Writer) error {
	p.Sections = slices.DeleteFunc(p.Sections, func(s section) bool { return len(s.Blocks) == 0 })
	p.pair()
	for _, s := range p.Sections {
		for _, b := range s.Blocks {
			if b.Table != nil {
				b.Table.align()
			}
			if b.Items != nil {
				for _, i := range b.Items.All {
					if i.Runs != nil {
						i.Runs.align()
					}
				}
			}
		}
	}
	var m markup
	m.page(p)
	_, err := w.Write(m.Bytes())
	return err
}

// figureOf makes a figure of a chart, with its legend.
func figureOf(c *chart, caption string, keys ...string) figure {
	f := figure{Keys: keys, SVG: c.svg(), Caption: caption, Wide: c.wide}
	for k, v := range c.curves {
		f.Legend = append(f.Legend, legend{k, v.class(), v.name, v.hidden})
	}
	return f
}

// add adds a chart, with a value of each choice.
func (f *figures) add(c *chart, caption string, values ...string) {
	for k, value := range values {
		if !slices.Contains(f.Choices[k].Values, value) {
			f.Choices[k].Values = append(f.Choices[k].Values, value)
		}
	}
	f.Charts = append(f.Charts, figureOf(c, caption, values...))
}

// number returns a cell that is sorted by a number.
func number(x float64, text string) cell { return cell{Text: text, Sort: fmt.Sprintf("%.9g", x)} }

// figureCell returns a cell with its text aligned to the others of its column.
func figureCell(x float64) cell { return cell{"", fmt.Sprintf("%.9g", x), &x} }

// align makes the texts of the cells that figureCell made.
func (t *table) align() {
	for k := range t.Columns {
		var all []float64
		for _, r := range t.Rows {
			if x := r.Cells[k].value; x != nil {
				all = append(all, *x)
			}
		}
		text := words.Aligned(all)
		for _, r := range t.Rows {
			if x := r.Cells[k].value; x != nil {
				r.Cells[k].Text = text(*x)
			}
		}
	}
}

func count(n int) cell { return number(float64(n), words.Short(float64(n), 0)) }

func text(s string) cell { return cell{Text: s} }
