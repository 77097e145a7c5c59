// SPDX-License-Identifier: MIT

package dag

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// Two free tasks and one that needs the first, on two machines, row by row.
func TestDAGFormulationRows(t *testing.T) {
	t.Parallel()
	d := testkit.DAG([][]float64{{2, 4}, {3, 3}, {2, 6}}, [][3]float64{{1, 3, 1}})
	f := require.Value(Build(d, 7))(t)
	require.OK(t, f.Validate())
	var got []string
	for _, v := range f.Vars {
		kind := "real"
		if v.Integer {
			kind = "integer"
		}
		got = append(got, fmt.Sprintf("%s %s in [%g, %g]", kind, v.Name, v.Lower, v.Upper))
	}
	for _, r := range f.Rows {
		var terms []string
		for _, term := range r.Terms {
			terms = append(terms, fmt.Sprintf("%+g %s", term.Coef, f.Vars[term.Var].Name))
		}
		slices.Sort(terms)
		got = append(got, fmt.Sprintf("%s: %g ≤ %s ≤ %g", r.Name, r.Lower, strings.Join(terms, " "), r.Upper))
	}
	// Task 3 takes 6 on P2 and has to wait 2 or more for task 1: not by 7. So
	// it is on P1, the transfer from P2 ends at 5, and task 2 before task 3
	// and after task 1 just fits.
	want := []string{
		"integer C in [4, 7]",
		"integer x_1_1 in [0, 1]", "integer x_1_2 in [0, 1]",
		"integer x_2_1 in [0, 1]", "integer x_2_2 in [0, 1]",
		"integer x_3_1 in [0, 1]",
		"real s_1 in [0, 3]", "real s_2 in [0, 4]", "real s_3 in [2, 5]",
		"real z_1_3_1_1 in [0, 1]", "real z_1_3_2_1 in [0, 1]",
		"integer y_1_2_1 in [0, 1]", "integer y_2_1_1 in [0, 1]", "integer y_1_2_2 in [0, 1]",
		"integer y_2_3_1 in [0, 1]", "integer y_3_2_1 in [0, 1]",
		"once_1: 1 ≤ +1 x_1_1 +1 x_1_2 ≤ 1",
		"tail_1: 0 ≤ +1 C -1 s_1 -4 x_1_1 -7 x_1_2 ≤ +Inf",
		"once_2: 1 ≤ +1 x_2_1 +1 x_2_2 ≤ 1",
		"tail_2: 0 ≤ +1 C -1 s_2 -3 x_2_1 -3 x_2_2 ≤ +Inf",
		"once_3: 1 ≤ +1 x_3_1 ≤ 1",
		"tail_3: 0 ≤ +1 C -1 s_3 -2 x_3_1 ≤ +Inf",
		"from_1_3_1: 0 ≤ +1 z_1_3_1_1 -1 x_1_1 ≤ 0",
		"to_1_3_1: 0 ≤ +1 z_1_3_1_1 +1 z_1_3_2_1 -1 x_3_1 ≤ 0",
		"from_1_3_2: 0 ≤ +1 z_1_3_2_1 -1 x_1_2 ≤ 0",
		"edge_1_3: 0 ≤ +1 s_3 -1 s_1 -1 z_1_3_2_1 -2 x_1_1 -4 x_1_2 ≤ +Inf",
		"both_1_2_1: -1 ≤ +1 y_1_2_1 +1 y_2_1_1 -1 x_1_1 -1 x_2_1 ≤ +Inf",
		"both_1_2_2: -1 ≤ +1 y_1_2_2 -1 x_1_2 -1 x_2_2 ≤ +Inf",
		"wait_1_2: -3 ≤ +1 s_2 -1 s_1 -5 y_1_2_1 -7 y_1_2_2 ≤ +Inf",
		"wait_2_1: -4 ≤ +1 s_1 -1 s_2 -7 y_2_1_1 ≤ +Inf",
		"both_2_3_1: -1 ≤ +1 y_2_3_1 +1 y_3_2_1 -1 x_2_1 -1 x_3_1 ≤ +Inf",
		"wait_2_3: -2 ≤ +1 s_3 -1 s_2 -5 y_2_3_1 ≤ +Inf",
		"wait_3_2: -5 ≤ +1 s_2 -1 s_3 -7 y_3_2_1 ≤ +Inf",
		"load_1: 0 ≤ +1 C -2 x_1_1 -2 x_3_1 -3 x_2_1 ≤ +Inf",
		"load_2: 0 ≤ +1 C -3 x_2_2 -4 x_1_2 ≤ +Inf",
		"before_1: 0 ≤ +1 s_1 -3 y_2_1_1 ≤ +Inf",
		"after_1: 0 ≤ +1 C -1 s_1 -2 x_1_1 -2 z_1_3_1_1 -3 y_1_2_1 -3 y_1_2_2 -4 x_1_2 ≤ +Inf",
		"before_2: 0 ≤ +1 s_2 -2 y_1_2_1 -2 y_3_2_1 -4 y_1_2_2 ≤ +Inf",
		"after_2: 0 ≤ +1 C -1 s_2 -2 y_2_1_1 -2 y_2_3_1 -3 x_2_1 -3 x_2_2 ≤ +Inf",
		"before_3: 0 ≤ +1 s_3 -2 z_1_3_1_1 -3 y_2_3_1 ≤ +Inf",
		"after_3: 0 ≤ +1 C -1 s_3 -2 x_3_1 -3 y_3_2_1 ≤ +Inf",
	}
	require.Same(t, "result", want, got)
	if f.Value(1) != 1 || !f.Whole || f.Maximise {
		t.Errorf("unit %v, whole %v, maximise %v", f.Value(1), f.Whole, f.Maximise)
	}
}

// The model written as MPS and read back by HiGHS has the example's optimum.
func TestDAGFormulationMPS(t *testing.T) {
	require.HiGHS(t)
	t.Parallel()
	f := require.Value(Build(testkit.SixTasks(), 25))(t)
	var out bytes.Buffer
	require.OK(t, f.WriteMPS(&out))
	file := filepath.Join(t.TempDir(), "six.mps")
	require.OK(t, os.WriteFile(file, out.Bytes(), 0o600))
	r, err := highs.SolveFile(context.Background(), file, milp.Options{})
	if err != nil || r.Status != milp.Optimal || math.Abs(r.Objective-23) > 1e-6 {
		t.Fatalf("%v %v, objective %v, want 23", r.Status, err, r.Objective)
	}
	s := require.Value(f.Decode(r.X))(t)
	if o, err := testkit.SixTasks().Objective(s); err != nil || o.Value != 23 {
		t.Errorf("makespan %v %v, want 23", o.Value, err)
	}
}

func TestDAGRelaxation(t *testing.T) {
	require.HiGHS(t)
	t.Parallel()
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	fair := testkit.SixTasks()
	fair.TransferModel = model.TransferFair
	tests := map[string]struct {
		ctx      context.Context
		d        *model.DAG
		horizon  float64
		min, max float64
	}{
		"six tasks, HEFT's horizon":      {context.Background(), testkit.SixTasks(), 25, 18, 23},
		"six tasks, the best horizon":    {context.Background(), testkit.SixTasks(), 23, 18, 23},
		"an earlier horizon is a bound":  {context.Background(), testkit.SixTasks(), 15, 15, 15},
		"no horizon":                     {context.Background(), testkit.SixTasks(), math.Inf(1), 15, 23},
		"contention only delays":         {context.Background(), fair, 25, 18, 23},
		"stopped: heads and tails":       {stopped, testkit.SixTasks(), 25, 16, 22},
		"one task":                       {context.Background(), testkit.DAG([][]float64{{4, 2}}, nil), 9, 2, 2},
		"load of equal machines":         {context.Background(), testkit.DAG([][]float64{{3, 3}, {3, 3}, {3, 3}, {3, 3}}, nil), 12, 6, 6},
		"load of equal machines, rounds": {context.Background(), testkit.DAG([][]float64{{3, 3}, {3, 3}, {3, 3}}, nil), 9, 6, 6},
		"no tasks":                       {context.Background(), &model.DAG{Machines: make([]model.Machine, 2)}, 5, 0, 0},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			got, _, err := Relaxation(c.ctx, c.d, c.horizon)
			if err != nil || got < c.min || got > c.max {
				t.Errorf("%v %v, want from %v to %v", got, err, c.min, c.max)
			}
		})
	}
}

func TestDAGFormulationErrors(t *testing.T) {
	t.Parallel()
	fair := testkit.SixTasks()
	fair.TransferModel = model.TransferFair
	tests := map[string]struct {
		d       *model.DAG
		horizon float64
		kind    error
		want    string
	}{
		"contention":       {fair, 25, model.ErrUnsupported, "no contention"},
		"too large":        {&model.DAG{Machines: make([]model.Machine, 10), Tasks: make([]model.DAGTask, 1000)}, 25, model.ErrUnsupported, "50000000 terms"},
		"horizon NaN":      {testkit.SixTasks(), math.NaN(), model.ErrInvalid, "horizon NaN"},
		"negative horizon": {testkit.SixTasks(), -1, model.ErrInvalid, "horizon -1"},
		"too early":        {testkit.SixTasks(), 12, model.ErrInfeasible, "ends by 12"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Build(c.d, c.horizon)
			require.Refused(t, name, err, c.kind, c.want)
		})
	}
	f := require.Value(Build(testkit.SixTasks(), 25))(t)
	require.Refused(t, "a short point", require.Err(f.Decode(make([]float64, 3))), model.ErrInvalid, "")
	if x := f.Encode(testkit.SixTasks().Schedule([]int32{0, 0, 0, 0, 0, 0}, []float64{0, 3, 7, 10, 15, 25}, make([]float64, 7))); x != nil {
		t.Errorf("a schedule after the horizon has the point %v", x)
	}
}
