// SPDX-License-Identifier: MIT

package milp

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"github.com/gapwise/gapwise/internal/core/objective"
)

// WriteLP writes the model in the LP format of CPLEX, as GLPK, CBC, HiGHS and SCIP read
// it. Rows with two bounds are written twice (name_lo, name_up), since not every reader
// takes ranges. A comment relates obj to the instance's objective, see objective.Scale. The objective's constant
// becomes the cost of one more column, fixed to
// 1. Names are made plain. The output depends on nothing but the model.
func (m *Model) WriteLP(w io.Writer) error {
	if err := m.Validate(); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	vars, rows := m.names()
	terms := func(ts []Term) {
		if len(ts) == 0 && len(vars) > 0 {
			ts = []Term{{0, 0}}
		}
		for k, t := range ts {
			if k > 0 && k%6 == 0 {
				fmt.Fprint(out, "\n  ")
			}
			sign := "+"
			if t.Coef < 0 || math.Signbit(t.Coef) {
				sign = "-"
			}
			fmt.Fprintf(out, " %s %s %s", sign, num(math.Abs(t.Coef)), vars[t.Var])
		}
	}
	if m.Scale != nil {
		fmt.Fprintf(out, "\\ %s%s\n", objective.OfInstance, m.Scale.Formula(1))
	}
	if m.Maximise {
		fmt.Fprint(out, "Maximize\n")
	} else {
		fmt.Fprint(out, "Minimize\n")
	}
	fmt.Fprint(out, " obj:")
	var costs []Term
	for j, v := range m.Vars {
		if v.Cost != 0 {
			costs = append(costs, Term{j, v.Cost})
		}
	}
	terms(costs)
	if m.Offset != 0 {
		sign := "+"
		if m.Offset < 0 {
			sign = "-"
		}
		fmt.Fprintf(out, " %s %s %s", sign, num(math.Abs(m.Offset)), constant)
	}
	fmt.Fprint(out, "\nSubject To\n")
	row := func(name string, ts []Term, op string, rhs float64) {
		fmt.Fprintf(out, " %s:", name)
		terms(ts)
		fmt.Fprintf(out, " %s %s\n", op, num(rhs))
	}
	for i, r := range m.Rows {
		lo, hi := !math.IsInf(r.Lower, -1), !math.IsInf(r.Upper, 1)
		switch {
		case lo && hi && r.Lower == r.Upper:
			row(rows[i], r.Terms, "=", r.Lower)
		case lo && hi:
			row(rows[i]+"_lo", r.Terms, ">=", r.Lower)
			row(rows[i]+"_up", r.Terms, "<=", r.Upper)
		case lo:
			row(rows[i], r.Terms, ">=", r.Lower)
		case hi:
			row(rows[i], r.Terms, "<=", r.Upper)
		}
	}
	fmt.Fprint(out, "Bounds\n")
	for j, v := range m.Vars {
		lo, hi := !math.IsInf(v.Lower, -1), !math.IsInf(v.Upper, 1)
		switch {
		case !lo && !hi:
			fmt.Fprintf(out, " %s free\n", vars[j])
		case lo && hi && v.Lower == v.Upper:
			fmt.Fprintf(out, " %s = %s\n", vars[j], num(v.Lower))
		case lo && hi:
			fmt.Fprintf(out, " %s <= %s <= %s\n", num(v.Lower), vars[j], num(v.Upper))
		case lo:
			fmt.Fprintf(out, " %s >= %s\n", vars[j], num(v.Lower))
		default:
			fmt.Fprintf(out, " -inf <= %s <= %s\n", vars[j], num(v.Upper))
		}
	}
	if m.Offset != 0 {
		fmt.Fprintf(out, " %s = 1\n", constant)
	}
	first := true
	for j, v := range m.Vars {
		if v.Integer {
			if first {
				fmt.Fprint(out, "General\n")
				first = false
			}
			fmt.Fprintf(out, " %s\n", vars[j])
		}
	}
	fmt.Fprint(out, "End\n")
	return out.Flush()
}
