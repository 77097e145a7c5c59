// SPDX-License-Identifier: MIT

package report

import (
	"bytes"
	"fmt"

	"github.com/gapwise/gapwise"
)

// markup writes the elements of a page. It replaces html/template, which makes a program keep every exported method of
// every type that it has: a fifth of the size of this one.
type markup struct{ bytes.Buffer }

// putf writes a format with plain texts: they are escaped, for an element or an attribute in double quotation marks.
func (m *markup) putf(format string, texts ...string) {
	escaped := make([]any, len(texts))
	for k, t := range texts {
		escaped[k] = escape(t)
	}
	fmt.Fprintf(m, format, escaped...)
}

// putIf writes a format with one text unless that is empty.
func (m *markup) putIf(format, text string) {
	if text != "" {
		m.putf(format, text)
	}
}

// when returns a text that isn't to be escaped under a condition, and otherwise nothing.
func (m *markup) when(condition bool, text string) {
	if condition {
		m.WriteString(text)
	}
}

// page writes a page; style, script and the charts are ours and are written as they are.
func (m *markup) page(p *page) {
	m.putf(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="gapwise %s">
<link rel="icon" href="data:,">
<title>%s</title>
`, policy(), gapwise.Version, p.Title)
	m.WriteString("<style>" + pageStyle() + "</style>\n")
	m.putf(`</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
<header>
<div class="bar">
<span class="brand" aria-hidden="true"><i></i><i></i><i></i></span>
<div><h1>%s</h1><p class="subtitle">%s</p></div>
<button type="button" id="theme" class="control" aria-label="Switch between light and dark" title="Switch between light and dark"><span aria-hidden="true">◐</span></button>
</div>
<nav class="control" aria-label="Sections"><a href="#summary">Summary</a>`, p.Title, p.Subtitle)
	for _, s := range p.Sections {
		m.putf(`<a href="#%s">%s</a>`, s.ID, s.Title)
	}
	m.WriteString(`</nav>
</header>
<main id="main">
<section id="summary">
<h2>Summary</h2>
<dl class="cards">`)
	for _, c := range p.Cards {
		m.putf("<div><dt>%s</dt><dd>%s</dd></div>", c.Label, c.Value)
	}
	m.WriteString("</dl>\n<div class=\"lead\">")
	m.paragraphs(p.Lead)
	m.WriteString("</div>\n</section>\n")
	for k := range p.Sections {
		m.section(&p.Sections[k])
	}
	if len(p.Left) > 0 {
		m.WriteString("<section id=\"left\">\n<h2>What was read</h2>\n<ul>")
		for _, l := range p.Left {
			m.putf("<li>%s</li>", l)
		}
		m.WriteString("</ul>\n</section>")
	}
	m.putf(`
</main>
<footer><p>Written by gapwise %s. This page loads nothing from anywhere. “Optimal”, “infeasible” and “bound” are proofs where gapwise made them; what a file only states is called so.</p></footer>
<p id="said" role="status" aria-live="polite"></p>
`, gapwise.Version)
	m.WriteString("<script>" + pageScript + "</script>\n</body>\n</html>\n")
}

func (m *markup) paragraphs(texts []string) {
	for _, t := range texts {
		m.putf("<p>%s</p>", t)
	}
}

func (m *markup) section(s *section) {
	m.putf(`<section id="%s"`, s.ID)
	m.when(s.half, ` class="half"`)
	m.when(s.duo && !s.half, ` class="duo"`)
	m.putf(">\n<h2>%s</h2>\n", s.Title)
	if s.half && len(s.Text) > 0 {
		m.WriteString(`<details class="how"><summary>How this is computed</summary>`)
		m.paragraphs(s.Text)
		m.WriteString("</details>")
	} else {
		for _, t := range s.Text {
			m.putf(`<p class="how">%s</p>`, t)
		}
	}
	m.WriteString("\n")
	for k := range s.Blocks {
		m.block(&s.Blocks[k])
	}
	m.WriteString("\n</section>\n")
}

func (m *markup) block(b *block) {
	m.putIf("<h3>%s</h3>", b.Heading)
	m.putIf("<p>%s</p>", b.Words)
	if b.Command != "" {
		m.command(b.Command)
	}
	if t := b.Table; t != nil {
		if b.Folded {
			m.putf("<details><summary>%s</summary>", t.Caption)
		}
		m.table(t)
		m.when(b.Folded, "</details>")
	}
	if b.Figures != nil {
		m.figures(b.Figures)
	}
	if b.Items != nil {
		m.items(b.Items)
	}
	if b.Picture != nil {
		m.picture(b.Picture)
	}
	if b.Bars != nil {
		m.bars(b.Bars)
	}
}

func (m *markup) command(line string) {
	m.putf(`<div class="command"><code>%s</code><button type="button" class="control copy">Copy</button></div>`, line)
}

func (m *markup) picture(p *picture) {
	m.putf(`<figure class="picture"><div class="paper" tabindex="0" role="group" aria-label="Picture"><img src="%s" alt="%s"></div><figcaption>%s</figcaption></figure>`,
		p.URL, p.Alt, p.Caption)
}

// choices writes a list of values for each choice; of a table's rows all can be chosen, too.
func (m *markup) choices(all []choice, rows bool) {
	for _, c := range all {
		m.putf(`<label>%s <select data-index="%s">`, c.Name, fmt.Sprint(c.Index))
		m.when(rows && !c.One, `<option value="">all</option>`)
		for _, v := range c.Values {
			m.putf("<option>%s</option>", v)
		}
		m.WriteString("</select></label>")
	}
}

// filters writes the choices of a table next to a filter by text.
func (m *markup) filters(all []choice) {
	m.WriteString(`<div class="filters control"><label>Filter <input type="search" placeholder="text" autocomplete="off"></label>`)
	m.choices(all, true)
	m.WriteString("<output></output></div>")
}

// values writes attributes: data-v0, data-v1 and so on for the prefix v.
func (m *markup) values(prefix string, all []string) {
	for k, v := range all {
		m.putf(` data-%s%s="%s"`, prefix, fmt.Sprint(k), v)
	}
}

func (m *markup) table(t *table) {
	m.WriteString(`<div class="sheet`)
	m.when(t.Plain, " plain")
	m.when(len(t.Rows) > 20, " long")
	m.WriteString("\">\n")
	if !t.Plain {
		m.filters(t.Choices)
	}
	m.putf(`
<div class="scroll" tabindex="0" role="region" aria-label="%s"><table>
<caption>%s</caption>
<thead><tr>`, t.Caption, t.Caption)
	class := func(number bool) string {
		if number {
			return ` class="number"`
		}
		return ""
	}
	for _, c := range t.Columns {
		m.heading(class(c.Number), c.Help, c.Name)
	}
	m.WriteString("</tr></thead>\n<tbody>\n")
	for _, r := range t.Rows {
		m.WriteString("<tr")
		m.values("v", r.Values)
		m.WriteString(">")
		for k, c := range r.Cells {
			if k == 0 {
				m.putf(`<th scope="row">%s</th>`, c.Text)
				continue
			}
			m.cell(class(t.Columns[k].Number), c.Sort, c.Text)
		}
		m.WriteString("</tr>\n")
	}
	m.WriteString("</tbody></table></div>\n")
	m.putIf(`<p class="note">%s</p>`, t.Note)
	m.WriteString("\n</div>")
}

// heading writes the head of a column, by which the page sorts; class is its attribute, or nothing.
func (m *markup) heading(class, help, name string) {
	m.WriteString(`<th scope="col"` + class)
	m.putIf(` title="%s"`, help)
	m.putf(`><button type="button">%s</button></th>`, name)
}

// cell writes a cell below it, sorted by its text unless sort is set.
func (m *markup) cell(class, sort, text string) {
	m.WriteString("<td" + class)
	m.putIf(` data-sort="%s"`, sort)
	m.putf(">%s</td>", text)
}

func (m *markup) figures(f *figures) {
	m.WriteString("<div class=\"figures\">\n")
	if len(f.Choices) > 0 {
		m.WriteString(`<div class="filters control">`)
		m.choices(f.Choices, false)
		m.WriteString("</div>")
	}
	m.WriteString("\n<div class=\"charts\">")
	for _, c := range f.Charts {
		m.WriteString("<figure")
		m.when(c.Wide, ` class="wide"`)
		m.values("k", c.Keys)
		m.WriteString(">\n<div class=\"plot\"")
		m.when(c.Wide, ` tabindex="0" role="group" aria-label="Chart"`)
		m.WriteString(">" + c.SVG + "</div>\n<ul class=\"legend\">")
		for _, l := range c.Legend {
			m.putf(`<li><button type="button" aria-pressed="%s" data-curve="%s" title="Show or hide this curve"><i class="key %s"></i>%s</button></li>`,
				fmt.Sprint(!l.Hidden), fmt.Sprint(l.Curve), l.Class, l.Name)
		}
		m.putf("</ul>\n<figcaption>%s</figcaption>\n</figure>", c.Caption)
	}
	m.WriteString("</div>\n</div>")
}

func (m *markup) items(t *items) {
	m.WriteString("<div class=\"sheet items\">\n")
	m.filters(t.Choices)
	m.WriteString(`
<div class="scroll" tabindex="0" role="region" aria-label="Instances"><table>
<caption>Instances</caption>
<thead><tr><th scope="col"><button type="button">instance</button></th>`)
	class := func(c itemColumn) string {
		all := ""
		if c.Number {
			all = "number"
		}
		if c.Minor {
			all += " minor"
		}
		return ` class="` + all + `"`
	}
	for _, c := range t.Columns {
		m.heading(class(c), c.Help, c.Name)
	}
	m.WriteString("</tr></thead>\n")
	for _, i := range t.All {
		m.WriteString("<tbody")
		m.values("v", i.Values)
		m.putf(`>
<tr><th scope="row"><button type="button" class="open" aria-expanded="false">%s</button></th>`, i.Name)
		for k, c := range i.Cells {
			m.cell(class(t.Columns[k]), c.Sort, c.Text)
		}
		m.putf("</tr>\n<tr class=\"inside\" hidden><td colspan=\"%s\">", fmt.Sprint(len(i.Cells)+1))
		m.paragraphs(i.Words)
		if i.Picture != nil {
			m.picture(i.Picture)
		}
		if i.Runs != nil {
			m.table(i.Runs)
		}
		for _, c := range i.Commands {
			m.command(c)
		}
		m.WriteString("</td></tr>\n</tbody>\n")
	}
	m.WriteString("</table></div>\n</div>")
}
