// SPDX-License-Identifier: MIT

package milp

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/internal/core/objective"
)

func num(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// keywords lists the words of the LP format that can't be names.
var keywords = []string{"minimize", "maximize", "minimise", "maximise", "minimum", "maximum", "min", "max", "subject", "such", "st", "s.t.", "to", "that",
	"bounds", "bound", "free", "inf", "infinity", "general", "generals", "gen", "integer", "integers", "int", "binary", "binaries", "bin",
	"semi", "semis", "sos", "sos1", "sos2", "end"}

// plain returns a name that every reader takes: of letters, digits, _ and dots, not
// beginning with a digit, a dot or an e that reads as a number, and no keyword.
func plain(s string) string {
	var b strings.Builder
	if slices.Contains(keywords, strings.ToLower(s)) {
		b.WriteByte('_')
	}
	for i, c := range s {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_':
			if i == 0 && (c == 'e' || c == 'E') && len(s) > 1 && s[1] >= '0' && s[1] <= '9' {
				b.WriteByte('_')
			}
			b.WriteRune(c)
		case c >= '0' && c <= '9' || c == '.':
			if i == 0 {
				b.WriteByte('_')
			}
			b.WriteRune(c)
		default:
			b.WriteByte('_')
		}
	}
	return b.String()
}

// constant is a column that is fixed to 1 and carries the objective's constant,
// which readers take with either sign from where the formats have it, or not at all.
const constant = "constant"

// names returns plain and distinct names of the variables and rows, as WriteMPS and
// WriteLP write them.
func (m *Model) names() (vars, rows []string) {
	distinct := func(n int, name func(int) string) []string {
		taken := map[string]bool{"obj": true, constant: true}
		out := make([]string, n)
		for i := range out {
			s := plain(name(i))
			for base, k := s, 2; taken[s]; k++ {
				s = fmt.Sprintf("%s_%d", base, k)
			}
			taken[s], out[i] = true, s
		}
		return out
	}
	return distinct(len(m.Vars), m.varName), distinct(len(m.Rows), m.rowName)
}

// WriteMPS writes the model in free MPS as GLPK, CBC, HiGHS and SCIP read it. It uses RANGES for rows with two bounds,
// markers around integer variables, and an objective to minimise, since GLPK knows no OBJSENSE. The objective of a
// model that maximises is negated, and a comment states it: a solver's optimum then has the other sign. Another relates
// obj to the instance's objective, see objective.Scale. The objective's constant becomes the cost of one more column,
// fixed to 1. Names are made plain. The output depends on nothing but the model.
func (m *Model) WriteMPS(w io.Writer) error {
	if err := m.Validate(); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	vars, rows := m.names()
	sign := 1.0
	if m.Maximise {
		sign = -1
		fmt.Fprint(out, "* The model maximises, and readers of MPS minimise: obj is its objective, negated.\n")
	}
	if m.Scale != nil {
		fmt.Fprintf(out, "* %s%s\n", objective.OfInstance, m.Scale.Formula(sign))
	}
	fmt.Fprintf(out, "NAME %s FREE\n", plain("m"+m.Name)) // or CBC may take it for fixed MPS
	fmt.Fprint(out, "ROWS\n N obj\n")
	kind := make([]string, len(m.Rows))
	for i, r := range m.Rows {
		switch lo, hi := !math.IsInf(r.Lower, -1), !math.IsInf(r.Upper, 1); {
		case lo && hi && r.Lower == r.Upper:
			kind[i] = "E"
		case hi:
			kind[i] = "L"
		case lo:
			kind[i] = "G"
		default:
			kind[i] = "N"
		}
		fmt.Fprintf(out, " %s %s\n", kind[i], rows[i])
	}
	columns := make([][]Term, len(m.Vars)) // Var is the row here
	for i, r := range m.Rows {
		for _, t := range r.Terms {
			columns[t.Var] = append(columns[t.Var], Term{i, t.Coef})
		}
	}
	fmt.Fprint(out, "COLUMNS\n")
	integer, markers := false, 0
	mark := func(to bool) {
		if to != integer {
			fmt.Fprintf(out, "    MARKER%d 'MARKER' '%s'\n", markers, map[bool]string{true: "INTORG", false: "INTEND"}[to])
			integer, markers = to, markers+1
		}
	}
	for j, v := range m.Vars {
		mark(v.Integer)
		// A variable without any entry would not be declared.
		if v.Cost != 0 || len(columns[j]) == 0 {
			fmt.Fprintf(out, "    %s obj %s\n", vars[j], num(sign*v.Cost+0))
		}
		for _, t := range columns[j] {
			fmt.Fprintf(out, "    %s %s %s\n", vars[j], rows[t.Var], num(t.Coef))
		}
	}
	mark(false)
	if m.Offset != 0 {
		fmt.Fprintf(out, "    %s obj %s\n", constant, num(sign*m.Offset))
	}
	fmt.Fprint(out, "RHS\n")
	for i, r := range m.Rows {
		rhs := map[string]float64{"E": r.Upper, "L": r.Upper, "G": r.Lower, "N": 0}[kind[i]]
		if rhs != 0 {
			fmt.Fprintf(out, "    RHS %s %s\n", rows[i], num(rhs))
		}
	}
	fmt.Fprint(out, "RANGES\n")
	for i, r := range m.Rows {
		if kind[i] == "L" && !math.IsInf(r.Lower, -1) {
			fmt.Fprintf(out, "    RNG %s %s\n", rows[i], num(r.Upper-r.Lower))
		}
	}
	fmt.Fprint(out, "BOUNDS\n")
	for j, v := range m.Vars {
		lo, hi := !math.IsInf(v.Lower, -1), !math.IsInf(v.Upper, 1)
		switch {
		case !lo && !hi:
			fmt.Fprintf(out, " FR BND %s\n", vars[j])
		case lo && hi && v.Lower == v.Upper:
			fmt.Fprintf(out, " FX BND %s %s\n", vars[j], num(v.Lower))
		default:
			if !lo {
				fmt.Fprintf(out, " MI BND %s\n", vars[j])
			} else if v.Lower != 0 || v.Integer || v.Upper < 0 {
				fmt.Fprintf(out, " LO BND %s %s\n", vars[j], num(v.Lower))
			}
			if hi {
				fmt.Fprintf(out, " UP BND %s %s\n", vars[j], num(v.Upper))
			} else if v.Integer {
				fmt.Fprintf(out, " PL BND %s\n", vars[j])
			}
		}
	}
	if m.Offset != 0 {
		fmt.Fprintf(out, " FX BND %s 1\n", constant)
	}
	fmt.Fprint(out, "ENDATA\n")
	return out.Flush()
}

// Columns returns the index, in the file that WriteMPS writes, of each column by its
// name: the variables in their order and, if there is an offset, one more.
func (m *Model) Columns() map[string]int {
	vars, _ := m.names()
	if m.Offset != 0 {
		vars = append(vars, constant)
	}
	columns := make(map[string]int, len(vars))
	for j, name := range vars {
		columns[name] = j
	}
	return columns
}
