// SPDX-License-Identifier: MIT

package runs

import (
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// threeClasses are runs of policies, heuristics and yardsticks on two queues of 4 and two of 8 jobs.
func threeClasses() []Record {
	var all []Record
	add := func(algorithm string, responses ...float64) { // 0: no solution
		for k, x := range responses {
			name := []string{"i1", "i2", "j1", "j2"}[k]
			r := Record{Plan: "p", Instance: name, Hash: name, Kind: model.KindBatch, Params: map[string]float64{"jobs": float64(4 + 4*(k/2))},
				Algorithm: algorithm, Status: model.StatusUnknown, Seed: 1, Sealed: true}
			if x > 0 {
				r.Objective, r.Verified, r.Status = &x, true, model.StatusFeasible
			}
			all = append(all, r)
		}
	}
	add("exact", 1, 1, 2, 2)
	add("search", 1, 1, 2, 3)
	add("spt", 2, 4, 6, 6)
	add("list", 2, 0, 5, 5) // at 4 jobs a better mean, of the easy one
	add("rollout", 4, 2, 7, 7)
	add("fcfs", 1, 1, 1, 1)
	return all
}

// The best of a class is marked, all of a tie; another class's best doesn't count, nor does a mean that lacks an instance
// which others solved, and one algorithm alone has no rank.
func TestWide(t *testing.T) {
	render := func(format string, o TableOptions) string {
		o.Wide = true
		var b strings.Builder
		require.OK(t, require.Value(tabulate(threeClasses(), o))(t).Render(&b, format))
		return b.String()
	}
	by := TableOptions{By: []string{"jobs"}, Columns: []string{"objective"}}
	require.Same(t, "text", "jobs  fcfs  list  rollout  spt  exact  search\n"+
		"   4     1    2        3*   3*     1*      1*\n"+
		"   8     1    5*       7    6      2*    2.5\n"+
		"online policies: fcfs\noffline heuristics: list, rollout, spt\nyardsticks: exact, search\n"+
		"response (s); marked: the best of its class, among those that solved all that\n  any of the class did\n", render("text", by))
	require.Same(t, "csv", "jobs,fcfs,list,rollout,spt,exact,search\n4,1,2,3,3,1,1\n8,1,5,7,6,2,2.5\n", render("csv", by))
	require.Says(t, "Markdown", render("markdown", by), "| **5** |", "|\n\n*online policies: fcfs*\n")
	require.Says(t, "LaTeX", render("latex", by), `\begin{tabular}{rrrrrrr}`,
		` & \multicolumn{1}{c}{\emph{online policies}} & \multicolumn{3}{c}{\emph{offline heuristics}} & \multicolumn{2}{c}{\emph{yardsticks}} \\`,
		`\cmidrule(lr){2-2}\cmidrule(lr){3-5}\cmidrule(lr){6-7}`, `8 & 1 & \textbf{5} & 7 & 6 & \textbf{2} & 2.5 \\`)

	for column, want := range map[string]string{
		"verified":   "4,3,4,4,4,4\n", // of all runs, most is best
		"runs":       "4,4,4,4,4,4\n", // no rank
		"gap mean %": "-,-,-,-,-,-\n", // nothing is known
	} {
		require.Says(t, column, render("csv", TableOptions{Columns: []string{column}}), "fcfs,list,rollout,spt,exact,search\n"+want)
	}
	require.Says(t, "counts", render("latex", TableOptions{Columns: []string{"verified"}}), `4 & 3 & \textbf{4} & \textbf{4} & \textbf{4} & \textbf{4}`)
	for _, column := range []string{"runs", "gap mean %", "objective ±"} {
		if text := render("text", TableOptions{Columns: []string{column}}); strings.Contains(text, "*") || strings.Contains(text, "marked") {
			t.Errorf("%s ranks nothing:\n%s", column, text)
		}
	}
	_, err := Tabulate(threeClasses(), TableOptions{Wide: true, Columns: []string{"runs", "best"}})
	require.Refused(t, "two columns", err, model.ErrInvalid, "one column")
}

// A label alone gets a caption: a reference to it would name the section.
func TestLaTeXCaption(t *testing.T) {
	table := require.Value(tabulate(threeClasses(), TableOptions{By: []string{"jobs"}, Columns: []string{"gap mean %", "best"}}))(t)
	for want, given := range map[string][2]string{
		"\\caption{Mean gap in \\% and best of 6 algorithms on 4 instances of batch (p), by jobs}\n\\label{tab:x}\n": {"", "tab:x"},
		"\\caption{$n$ runs}\n\\label{tab:x}\n":            {"$n$ runs", "tab:x"},
		"\\caption{$n$ runs}\n\\begin{tabular}":            {"$n$ runs", ""},
		"% needs \\usepackage{booktabs}\n\\begin{tabular}": {"", ""},
	} {
		var b strings.Builder
		require.OK(t, table.LaTeX(&b, given[0], given[1]))
		require.Says(t, "LaTeX", b.String(), want)
	}
}
