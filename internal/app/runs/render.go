// SPDX-License-Identifier: MIT

package runs

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/gapwise/gapwise/internal/text/visible"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Formats lists the formats of Render.
var Formats = []string{"text", "markdown", "csv", "latex"}

// Render writes the table in one of Formats; LaTeX takes a caption, too. Columns of figures are aligned to
// the right, the others to the left. Cells hold names from files: their control characters are shown, and text that
// Markdown or a spreadsheet would interpret is escaped.
func (t Table) Render(w io.Writer, format string) error {
	switch format {
	case "text":
		t = t.each(harmless)
		t.mark(func(cell string, best bool) string { return cell + map[bool]string{true: "*", false: " "}[best] })
		return t.plain(w, false)
	case "markdown":
		t = t.each(markdownCell)
		t.mark(bold("**", "**"))
		return t.plain(w, true)
	case "csv":
		t = t.each(csvCell).marked()
		return csv.NewWriter(w).WriteAll(append([][]string{t.Header}, t.Rows...))
	case "latex":
		return t.LaTeX(w, "", "")
	}
	return fmt.Errorf("%w table: format %q, give one of %s", model.ErrInvalid, format, strings.Join(Formats, ", "))
}

// begins reports whether a row is the first of its group.
func (t Table) begins(row int) bool {
	return t.Groups != nil && (row == 0 || t.Groups[row] != t.Groups[row-1])
}

// plain writes the table as text or as Markdown.
func (t Table) plain(w io.Writer, markdown bool) error {
	var lines bytes.Buffer
	if err := t.lines(&lines, markdown); err != nil {
		return err
	}
	k := -1 // the row
	if markdown {
		k = -2
	}
	var text strings.Builder
	for line := range bytes.Lines(lines.Bytes()) {
		if k >= 0 && k < len(t.Rows) && t.begins(k) {
			group := t.Groups[k]
			if markdown {
				name, _, _ := strings.Cut(group, ":")
				group = "| *" + name + "* |" + strings.Repeat(" |", len(t.Header)-1)
			}
			text.WriteString(group + "\n")
		}
		k++
		fmt.Fprintf(&text, "%s\n", bytes.TrimRight(line, " \n"))
	}
	for _, note := range t.Notes {
		if markdown {
			text.WriteByte('\n') // a line right below would be one more row
			note = "*" + markdownCell(note) + "*"
		}
		fmt.Fprintln(&text, words.Wrap(note, 78, 2))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// lines writes header and rows, a line each, as columns of text or of Markdown.
func (t Table) lines(w io.Writer, markdown bool) error {
	align := make([]tw.Align, len(t.Header))
	for k := range align {
		align[k] = tw.AlignLeft
		if t.numeric(k) {
			align[k] = tw.AlignRight
		}
	}
	o := []tablewriter.Option{tablewriter.WithHeaderAutoFormat(tw.Off), tablewriter.WithHeaderAutoWrap(tw.WrapNone), tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithTrimSpace(tw.Off), tablewriter.WithTrimLine(tw.Off),
		tablewriter.WithHeaderAlignment(tw.AlignLeft), tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: align})}
	r := tw.Rendition{Borders: tw.BorderNone, Settings: tw.Settings{Separators: tw.SeparatorsNone, Lines: tw.LinesNone}}
	if markdown {
		r.Borders.Left, r.Borders.Right, r.Symbols = tw.On, tw.On, tw.NewSymbols(tw.StyleMarkdown)
		r.Settings.Separators.BetweenColumns, r.Settings.Lines.ShowHeaderLine = tw.On, tw.On
	} else {
		o = append(o, tablewriter.WithPadding(tw.Padding{Right: "  ", Overwrite: true}))
	}
	o = append(o, tablewriter.WithRendition(r))
	out := tablewriter.NewTable(w, o...)
	out.Header(t.Header)
	return errors.Join(out.Bulk(t.Rows), out.Render())
}

// LaTeX writes the table for the package booktabs; it needs no other, and decimal points align. It is a floating table if
// it has a caption or a label, else a tabular alone. The caption is LaTeX already. A label alone gets the table's subject as its caption: without one, LaTeX
// refers to the section.
func (t Table) LaTeX(w io.Writer, caption, label string) error {
	t = t.each(harmless)
	if caption == "" && label != "" {
		caption = latexEscapes.Replace(harmless(t.Subject))
		if slices.ContainsFunc(t.Best, func(row []bool) bool { return slices.Contains(row, true) }) {
			caption += "; bold: the best of its class"
		}
	}
	spec, plain := "", t
	for k := range t.Header {
		spec += map[bool]string{true: "r", false: "l"}[t.numeric(k)]
	}
	out := bufio.NewWriter(w)
	float := caption != "" || label != ""
	fmt.Fprint(out, "% needs \\usepackage{booktabs}\n")
	if float {
		fmt.Fprintf(out, "\\begin{table}\n\\centering\n\\caption{%s}\n", caption)
	}
	if label != "" {
		fmt.Fprintf(out, "\\label{%s}\n", label)
	}
	t = t.each(latexEscapes.Replace)
	for k := range t.Header {
		if plain.numeric(k) {
			plain.alignPoints(k, t.Rows)
		}
	}
	t.mark(bold(`\textbf{`, "}"))
	fmt.Fprintf(out, "\\begin{tabular}{%s}\n\\toprule\n%s%s \\\\\n\\midrule\n", spec, t.latexOver(), strings.Join(t.Header, " & "))
	for k, r := range t.Rows {
		if t.begins(k) {
			if k > 0 {
				fmt.Fprint(out, "\\midrule\n")
			}
			name, _, _ := strings.Cut(t.Groups[k], ":")
			fmt.Fprintf(out, "\\multicolumn{%d}{l}{\\emph{%s}} \\\\\n", len(t.Header), latexEscapes.Replace(name))
		}
		fmt.Fprintf(out, "%s \\\\\n", strings.Join(r, " & "))
	}
	fmt.Fprint(out, "\\bottomrule\n\\end{tabular}\n")
	for _, note := range t.Notes {
		fmt.Fprintf(out, "%% %s\n", note)
	}
	if float {
		fmt.Fprint(out, "\\end{table}\n")
	}
	return out.Flush()
}

// alignPoints changes rows of LaTeX that were made of the table's rows. It sets a minus before the negative figures of a
// column. Figures without an exponent or a unit end with an invisible part, as wide as the decimals that they lack:
// zeros would claim digits.
func (t Table) alignPoints(column int, rows [][]string) {
	decimals := func(cell string) int { // the point included
		if at := strings.IndexByte(cell, '.'); at >= 0 {
			return len(cell) - at
		}
		return 0
	}
	most := 0
	figures := each(t.Rows, func(r []string) bool { return r[column] != "-" && strings.Trim(r[column], "<-0123456789.,") == "" })
	for k, r := range t.Rows {
		if figures[k] {
			most = max(most, decimals(r[column]))
		}
	}
	for k, r := range t.Rows {
		cell := &rows[k][column]
		if size, negative := strings.CutPrefix(*cell, "-"); negative && size != "" {
			*cell = "$-$" + size
		}
		if has := decimals(r[column]); figures[k] && has < most {
			*cell += `\phantom{` + ("." + strings.Repeat("0", most-1))[has:] + "}"
		}
	}
}

// latexOver returns the line of headings over the columns, with a rule below each; nothing without such headings.
func (t Table) latexOver() string {
	var cells []string
	rules := ""
	for k := 0; k < len(t.Over); {
		n := 1
		for k+n < len(t.Over) && t.Over[k+n] == t.Over[k] {
			n++
		}
		if t.Over[k] == "" {
			cells = append(cells, slices.Repeat([]string{""}, n)...)
		} else {
			cells = append(cells, fmt.Sprintf("\\multicolumn{%d}{c}{\\emph{%s}}", n, latexEscapes.Replace(t.Over[k])))
			rules += fmt.Sprintf("\\cmidrule(lr){%d-%d}", k+1, k+n)
		}
		k += n
	}
	if rules == "" {
		return ""
	}
	return strings.Join(cells, " & ") + " \\\\\n" + rules + "\n"
}

// mark replaces the cells of columns with a best figure by a function of them. The rows are to be the table's own.
func (t Table) mark(f func(cell string, best bool) string) {
	for k, best := range t.Best {
		for c := range best {
			if slices.ContainsFunc(t.Best, func(row []bool) bool { return row[c] }) {
				t.Rows[k][c] = f(t.Rows[k][c], best[c])
			}
		}
	}
}

// bold encloses the best cells.
func bold(left, right string) func(string, bool) string {
	return func(cell string, best bool) string {
		if best {
			return left + cell + right
		}
		return cell
	}
}

// each returns the table with a function applied to each cell.
func (t Table) each(f func(string) string) Table {
	rows := make([][]string, len(t.Rows))
	for k, r := range t.Rows {
		rows[k] = each(r, f)
	}
	t.Header, t.Rows = each(t.Header, f), rows
	return t
}

func each[T, U any](cells []T, f func(T) U) []U {
	some := make([]U, len(cells))
	for k, c := range cells {
		some[k] = f(c)
	}
	return some
}

// harmless shows control characters, ends of lines among them.
func harmless(cell string) string { return visible.Text(cell, "") }

// markdownCell keeps a cell one cell, and tags, links and pictures text.
func markdownCell(cell string) string {
	return markdownTag().ReplaceAllString(strings.NewReplacer("|", `\|`, "](", `]\(`).Replace(harmless(cell)), "&lt;$1")
}

var markdownTag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("<([A-Za-z/!?])") })

// csvCell puts an apostrophe before text that a spreadsheet would compute, but for numbers.
func csvCell(cell string) string {
	cell = harmless(cell)
	if _, err := strconv.ParseFloat(cell, 64); err != nil && cell != "-" && cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

// marked returns the table with a last column that holds the class of each row's algorithm or,
// of other groups, their names.
func (t Table) marked() Table {
	if t.Groups == nil {
		return t
	}
	out := Table{Header: append(slices.Clone(t.Header), "class"), Notes: t.Notes}
	for k, r := range t.Rows {
		name, _, _ := strings.Cut(t.Groups[k], ":")
		for _, c := range model.Classes() {
			if t.Groups[k] == GroupOf(c) {
				name = string(c)
			}
		}
		out.Rows = append(out.Rows, append(slices.Clone(r), name))
	}
	return out
}

// numeric reports whether all cells of a column are figures.
func (t Table) numeric(column int) bool {
	for _, r := range t.Rows {
		if c := strings.TrimRight(strings.TrimLeft(r[column], "*<"), " "); c != "-" && (c == "" || (c[0] < '0' || c[0] > '9') && c[0] != '-') {
			return false
		}
	}
	return true
}

var latexEscapes = strings.NewReplacer(`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`,
	"[", "{[}", "{", `\{`, "}", `\}`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `\textless{}`, ">", `\textgreater{}`,
	"±", `$\pm$`, "µ", `$\mu$`)
