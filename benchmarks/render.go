package benchmarks

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"

	"github.com/gapwise/gapwise/model"
)

// Formats lists the formats of Render.
var Formats = []string{"text", "markdown", "csv", "latex"}

// Render writes the table in one of Formats; LaTeX takes a caption, too. Columns of figures are aligned to
// the right, the others to the left.
func (t Table) Render(w io.Writer, format string) error {
	switch format {
	case "text", "markdown":
		var text bytes.Buffer
		out := tablewriter.NewWriter(&text)
		out.SetHeader(t.Header)
		out.SetAutoFormatHeaders(false)
		out.SetAutoWrapText(false)
		align := make([]int, len(t.Header))
		for k := range align {
			align[k] = tablewriter.ALIGN_RIGHT
			if !t.numeric(k) {
				align[k] = tablewriter.ALIGN_LEFT
			}
		}
		out.SetColumnAlignment(align)
		out.SetHeaderAlignment(tablewriter.ALIGN_LEFT)
		if format == "markdown" {
			out.SetBorders(tablewriter.Border{Left: true, Right: true})
			out.SetCenterSeparator("|")
		} else {
			out.SetBorder(false)
			out.SetColumnSeparator("")
			out.SetCenterSeparator("")
			out.SetRowSeparator("-")
			out.SetHeaderLine(false)
			out.SetTablePadding("  ")
			out.SetNoWhiteSpace(true)
		}
		out.AppendBulk(t.Rows)
		out.Render()
		for line := range bytes.Lines(text.Bytes()) {
			if _, err := fmt.Fprintf(w, "%s\n", bytes.TrimRight(line, " \n")); err != nil {
				return err
			}
		}
		return nil
	case "csv":
		out := csv.NewWriter(w)
		if err := out.WriteAll(append([][]string{t.Header}, t.Rows...)); err != nil {
			return err
		}
		return out.Error()
	case "latex":
		return t.LaTeX(w, "", "")
	}
	return fmt.Errorf("%w table: format %q, give one of %s", model.ErrInvalid, format, strings.Join(Formats, ", "))
}

// LaTeX writes the table for the package booktabs. With a caption or a label it is a
// floating table, else a tabular alone. The caption is LaTeX already.
func (t Table) LaTeX(w io.Writer, caption, label string) error {
	spec := ""
	for k := range t.Header {
		spec += map[bool]string{true: "r", false: "l"}[t.numeric(k)]
	}
	out := bufio.NewWriter(w)
	float := caption != "" || label != ""
	if float {
		fmt.Fprint(out, "\\begin{table}\n\\centering\n")
	}
	if caption != "" {
		fmt.Fprintf(out, "\\caption{%s}\n", caption)
	}
	if label != "" {
		fmt.Fprintf(out, "\\label{%s}\n", label)
	}
	fmt.Fprintf(out, "\\begin{tabular}{%s}\n\\toprule\n%s \\\\\n\\midrule\n", spec, latexRow(t.Header))
	for _, r := range t.Rows {
		fmt.Fprintf(out, "%s \\\\\n", latexRow(r))
	}
	fmt.Fprint(out, "\\bottomrule\n\\end{tabular}\n")
	if float {
		fmt.Fprint(out, "\\end{table}\n")
	}
	return out.Flush()
}

// numeric reports whether all cells of a column are figures.
func (t Table) numeric(column int) bool {
	for _, r := range t.Rows {
		if c := r[column]; c != "-" && (c == "" || (c[0] < '0' || c[0] > '9') && c[0] != '-') {
			return false
		}
	}
	return true
}

var latexEscapes = strings.NewReplacer(`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`,
	"{", `\{`, "}", `\}`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `\textless{}`, ">", `\textgreater{}`,
	"±", `$\pm$`, "µ", `$\mu$`)

func latexRow(cells []string) string {
	escaped := make([]string, len(cells))
	for i, c := range cells {
		escaped[i] = latexEscapes.Replace(c)
	}
	return strings.Join(escaped, " & ")
}
