// SPDX-License-Identifier: MIT

package milp_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/gapwise/gapwise/internal/core/objective"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model/milp"
)

func example() *milp.Model {
	m := &milp.Model{Name: "an example", Maximise: true, Offset: 2, Scale: &objective.Scale{Factor: 0.5, Constant: 1}}
	x := m.AddVar(milp.Var{Name: "x 1", Upper: 4, Cost: 3, Integer: true})
	y := m.AddVar(milp.Var{Name: "e1", Lower: math.Inf(-1), Upper: milp.Inf, Cost: -1})
	z := m.AddVar(milp.Var{Lower: -2, Upper: 7})
	m.AddRow("row", 1, 5, milp.Term{Var: x, Coef: 1}, milp.Term{Var: y, Coef: -2.5})
	m.AddRow("", math.Inf(-1), 6, milp.Term{Var: z, Coef: 1}, milp.Term{Var: x, Coef: 2})
	m.AddRow("equal", 3, 3, milp.Term{Var: y, Coef: 1})
	return m
}

const wantMPS = `* The model maximises, and readers of MPS minimise: obj is its objective, negated.
* the instance's objective = -0.5 * obj + 1
NAME man_example FREE
ROWS
 N obj
 L row
 L r1
 E equal
COLUMNS
    MARKER0 'MARKER' 'INTORG'
    x_1 obj -3
    x_1 row 1
    x_1 r1 2
    MARKER1 'MARKER' 'INTEND'
    _e1 obj 1
    _e1 row -2.5
    _e1 equal 1
    x2 r1 1
    constant obj -2
RHS
    RHS row 5
    RHS r1 6
    RHS equal 3
RANGES
    RNG row 4
BOUNDS
 LO BND x_1 0
 UP BND x_1 4
 FR BND _e1
 LO BND x2 -2
 UP BND x2 7
 FX BND constant 1
ENDATA
`

const wantLP = `\ the instance's objective = 0.5 * obj + 1
Maximize
 obj: + 3 x_1 - 1 _e1 + 2 constant
Subject To
 row_lo: + 1 x_1 - 2.5 _e1 >= 1
 row_up: + 1 x_1 - 2.5 _e1 <= 5
 r1: + 1 x2 + 2 x_1 <= 6
 equal: + 1 _e1 = 3
Bounds
 0 <= x_1 <= 4
 _e1 free
 -2 <= x2 <= 7
 constant = 1
General
 x_1
End
`

// The files are read back by HiGHS in the tests of package highs.
func TestWriters(t *testing.T) {
	var mps, lp bytes.Buffer
	require.OK(t, errors.Join(example().WriteMPS(&mps), example().WriteLP(&lp)))
	require.Same(t, "MPS", wantMPS, mps.String())
	require.Same(t, "LP", wantLP, lp.String())
}

func TestValidate(t *testing.T) {
	for name, change := range map[string]string{
		"offset":         "Offset=NaN",
		"cost":           "Vars.0.Cost=+Inf",
		"bounds crossed": "Vars.0.Lower=5",
		"bound NaN":      "Vars.0.Upper=NaN",
		"lower +Inf":     "Vars.1.Lower=+Inf",
		"name twice":     "Vars.1.Name=x 1",
		"row name twice": "Rows.2.Name=row",
		"row bounds":     "Rows.0.Upper=0",
		"no such var":    "Rows.0.Terms.0.Var=3",
		"var twice":      "Rows.0.Terms.0.Var=1",
		"coefficient":    "Rows.0.Terms.0.Coef=NaN",
	} {
		m := example()
		require.Set(t, m, change)
		require.Refused(t, name, m.Validate(), milp.ErrInvalid, "")
		if err := m.WriteMPS(&bytes.Buffer{}); err == nil {
			t.Errorf("%s: written as MPS", name)
		}
	}
	if err := example().Validate(); err != nil {
		t.Error(err)
	}
}

func TestObjectiveAndViolation(t *testing.T) {
	m := example()
	for _, c := range []struct {
		x               []float64
		objective, viol float64
	}{
		{[]float64{4, 3, 0}, 11, 4.5}, // row: 4 - 7.5 = -3.5, at least 1
		{[]float64{1.25, 3, 0}, 2.75, 7.25},
		{[]float64{4, 1, -3}, 13, 2},
	} {
		require.Same(t, fmt.Sprintf("objective at %v", c.x), c.objective, m.Objective(c.x))
		if got := m.Violation(c.x); math.Abs(got-c.viol) > 1e-12 {
			t.Errorf("violation at %v is %v, want %v", c.x, got, c.viol)
		}
	}
}
