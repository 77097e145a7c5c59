// SPDX-License-Identifier: MIT

package runs

import (
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// Decimal points align in LaTeX by parts that aren't seen; figures with a unit or an exponent stay as they are.
func TestLaTeXAlignsPoints(t *testing.T) {
	t.Parallel()
	table := Table{Header: []string{"name", "x", "p"}, Best: [][]bool{{false, false, false}, {false, true, false}, {false, false, false}, {false, false, false}, {false, false, false}},
		Rows: [][]string{{"[a]", "-0.25", "<0.001"}, {"b", "12", "0.04"}, {"c", "-", "-"}, {"d", "-7.5e-05", "1"}, {"e", "2.5 s", "0.1"}}}
	var b strings.Builder
	require.OK(t, table.LaTeX(&b, "", ""))
	require.Says(t, "the table", b.String(), `{lrr}`, "\n{[}a] & $-$0.25 & \\textless{}0.001 \\\\\n", `b & \textbf{12\phantom{.00}} & 0.04\phantom{0} \\`, `c & - & - \\`,
		`d & $-$7.5e-05 & 1\phantom{.000} \\`, `e & 2.5 s & 0.1\phantom{00} \\`)
}

// Names from files stay text in every format: no control character gets through, no cell is
// a formula, a tag, a link, or two cells; a negative number stays a number.
func TestRenderHostileNames(t *testing.T) {
	t.Parallel()
	table := Table{Header: []string{"al\x1b[31mg", "value"}, Rows: [][]string{
		{"=cmd|'/c calc'!A1", "-1.5"}, {"+1+1", "2"}, {"-2+3", "-"}, {"@SUM(A1)", "-3e-07"}, {"a|b <script>x</script> < 3", "4"}, {"two\nlines\r\t\u009b2J\u202e", "5"}, {"![x](http://example.org/a)", "6"},
	}}
	for format, want := range map[string][]string{
		"text":     {`al\u001b[31mg`, "=cmd|'/c calc'!A1", `two\u000alines\u000d\u0009\u009b2J\u202e`},
		"markdown": {`al\u001b[31mg`, `=cmd\|'/c calc'!A1`, `a\|b &lt;script>x&lt;/script> < 3`, `two\u000alines`, `![x]\(http://example.org/a)`},
		"csv":      {`al\u001b[31mg,value`, "'=cmd|'/c calc'!A1,-1.5\n", "'+1+1,2\n", "'-2+3,-\n", "'@SUM(A1),-3e-07\n", `two\u000alines\u000d\u0009\u009b2J\u202e,5`},
		"latex":    {`al\textbackslash{}u001b{[}31mg`, `& $-$1.5 \\`, `& 2\phantom{.0} \\`, `& $-$3e-07`, `two\textbackslash{}u000alines`},
	} {
		var b strings.Builder
		require.OK(t, table.Render(&b, format))
		text := b.String()
		require.Says(t, "the text", text, want...)
		if strings.ContainsAny(text, "\x1b\r\t\u009b\u202e") {
			t.Errorf("%s: control characters get through: %q", format, text)
		}
	}
	require.Same(t, "the table after rendering", "two\nlines\r\t\u009b2J\u202e", table.Rows[5][0])
}
