// SPDX-License-Identifier: MIT

package external

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model/milp"
)

// knapsack is: maximise 2.5 + 3x + 2y + z/2 subject to 2x + 3y + z ≤ 7.5, x + y ≥
// 1, x and y whole from 0 to 2, z from 0 to 0.25. Its optimum is 2.5 + 6 + 2 + 1/8 at
// x = 2, y = 1, z = 1/4.
func knapsack() *milp.Model {
	m := &milp.Model{Name: "knapsack", Maximise: true, Offset: 2.5}
	x := m.AddVar(milp.Var{Name: "x", Upper: 2, Cost: 3, Integer: true})
	y := m.AddVar(milp.Var{Name: "y[1]", Upper: 2, Cost: 2, Integer: true})
	z := m.AddVar(milp.Var{Name: "z", Upper: 0.25, Cost: 0.5})
	m.AddRow("weight", math.Inf(-1), 7.5, milp.Term{Var: x, Coef: 2}, milp.Term{Var: y, Coef: 3}, milp.Term{Var: z, Coef: 1})
	m.AddRow("some", 1, milp.Inf, milp.Term{Var: x, Coef: 1}, milp.Term{Var: y, Coef: 1})
	return m
}

const optimum = 10.625

func TestPrograms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, tool, install string }{
		{"glpsol", "glpsol", "glpk-utils"}, {"cbc", "cbc", "coinor-cbc"},
		{"mps:cbc {in} -seconds {time_limit} -solve -solution {out}.cbc", "cbc", "coinor-cbc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Tool(t, c.tool, c.install)
			if strings.HasPrefix(c.name, Prefix) {
				// CBC's file as one of names and values.
				c.name = Prefix + `sh -c 'cbc {in} -solve -solution {out}.cbc >&2; { echo optimal; tail -n +2 {out}.cbc | while read -r i n v d; do echo $n $v; done; } > {out}'`
			}
			b := require.Value(Backend(c.name))(t)
			r := require.Value(b.Solve(t.Context(), knapsack(), milp.Options{TimeLimit: time.Minute}))(t)
			if r.Status != milp.Optimal || math.Abs(r.Objective-optimum) > 1e-9 || math.Abs(r.Bound-optimum) > 1e-5 || r.Bound < optimum-1e-9 || r.CPU <= 0 {
				t.Errorf("%+v", r)
			}
			require.Same(t, "result", []float64{2, 1, 0.25}, r.X)
			relaxed, err := b.Solve(t.Context(), knapsack(), milp.Options{Relax: true})
			if err != nil || relaxed.Status != milp.Optimal || math.Abs(relaxed.Objective-(2.5+6+2*3.5/3)) > 1e-6 {
				t.Errorf("relaxed: %+v %v", relaxed, err)
			}
			none := knapsack()
			none.AddRow("much", 5, milp.Inf, milp.Term{Var: 0, Coef: 1}, milp.Term{Var: 1, Coef: 1})
			if strings.HasPrefix(c.name, Prefix) {
				return // the script always prints optimal
			}
			if r, err := b.Solve(t.Context(), none, milp.Options{}); err != nil || r.Status != milp.Infeasible || r.Feasible || !math.IsNaN(r.Bound) {
				t.Errorf("infeasible: %+v %v", r, err)
			}
			if v := Version(c.name); !strings.HasPrefix(v, b.Title+" ") || strings.Contains(v, "unknown") {
				t.Errorf("version %q", v)
			}
		})
	}
}

// file reads a recorded file.
func file(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	require.OK(t, err)
	return string(text)
}

// The files and logs that programs leave behind. The files of GLPK and CBC are their own, for knapsack and for a larger
// model cut to its first lines, and cut where they were half written. The files of SCIP and Gurobi follow the
// documented formats (see scip and gurobi), no such program being at hand.
func TestParse(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	columns := knapsack().Columns() // x, y_1_, z and the constant
	best := []float64{2, 1, 0.25, 1}
	for name, c := range map[string]struct {
		program *program
		want    outcome
		err     string
	}{
		"glpsol-optimal":     {glpsol, outcome{milp.Optimal, best, -optimum, 3}, ""},
		"glpsol-linear":      {glpsol, outcome{milp.Optimal, []float64{2, 7.0 / 6, 0, 1}, -10.8333333333333, 0}, ""},
		"glpsol-stopped":     {glpsol, outcome{milp.TimeLimit, []float64{1, 0, 0, 1}, -12.376209750, 710}, ""},
		"glpsol-infeasible":  {glpsol, outcome{milp.Infeasible, nil, nan, 0}, ""},
		"glpsol-nothing":     {glpsol, outcome{milp.TimeLimit, nil, -12.376209750, 5}, ""},
		"glpsol-other":       {glpsol, outcome{}, "3 columns, the model 4"},
		"glpsol-cut":         {glpsol, outcome{}, "3 columns, the model 4"},
		"glpsol-none":        {glpsol, outcome{}, "no solution"},
		"cbc-optimal":        {cbc, outcome{milp.Optimal, best, -optimum, 0}, ""},
		"cbc-stopped":        {cbc, outcome{milp.TimeLimit, []float64{1, 0, 0, 1}, -12.376210, 670}, ""},
		"cbc-interrupted":    {cbc, outcome{milp.NodeLimit, []float64{1, 0, 0, 1}, nan, 0}, ""},
		"cbc-nothing":        {cbc, outcome{milp.TimeLimit, nil, nan, 0}, ""},
		"cbc-infeasible":     {cbc, outcome{milp.Infeasible, nil, nan, 0}, ""},
		"cbc-gap":            {cbc, outcome{milp.NodeLimit, best, -10.7, 3}, ""},
		"cbc-other":          {cbc, outcome{}, "no column"},
		"scip-optimal":       {scip, outcome{milp.Optimal, best, -optimum, 1}, ""},
		"scip-stopped":       {scip, outcome{milp.TimeLimit, []float64{1, 0, 0, 1}, -12.3, 1234}, ""},
		"scip-nothing":       {scip, outcome{milp.TimeLimit, nil, nan, 0}, ""},
		"scip-infeasible":    {scip, outcome{milp.Infeasible, nil, nan, 0}, ""},
		"scip-cut":           {scip, outcome{milp.TimeLimit, nil, nan, 0}, ""},
		"scip-other":         {scip, outcome{}, `no column "w"`},
		"gurobi-optimal":     {gurobi, outcome{milp.Optimal, best, -optimum, 1}, ""},
		"gurobi-linear":      {gurobi, outcome{milp.Optimal, []float64{2, 1.1666666666666665, 0, 1}, -10.833333333, 0}, ""},
		"gurobi-stopped":     {gurobi, outcome{milp.TimeLimit, []float64{1, 0, 0, 1}, -12.3, 5678}, ""},
		"gurobi-nothing":     {gurobi, outcome{milp.TimeLimit, nil, -12.3, 12}, ""},
		"gurobi-infeasible":  {gurobi, outcome{milp.Infeasible, nil, nan, 0}, ""},
		"gurobi-none":        {gurobi, outcome{}, "no solution"},
		"mps-miplib":         {mps(t), outcome{milp.NodeLimit, best, nan, 0}, ""},
		"mps-gurobi":         {mps(t), outcome{milp.NodeLimit, best, nan, 0}, ""},
		"mps-highs":          {mps(t), outcome{milp.Optimal, best, nan, 0}, ""},
		"mps-highs-none":     {mps(t), outcome{milp.Infeasible, nil, nan, 0}, ""},
		"mps-bound":          {mps(t), outcome{milp.NodeLimit, best, -11, 0}, ""},
		"mps-zero":           {mps(t), outcome{milp.Optimal, []float64{0, 0, 0, 0}, nan, 0}, ""},
		"mps-infeasible":     {mps(t), outcome{milp.Infeasible, nil, nan, 0}, ""},
		"mps-unknown":        {mps(t), outcome{milp.NodeLimit, nil, nan, 0}, ""},
		"mps-other":          {mps(t), outcome{}, `the line "w 1"`},
		"mps-nan":            {mps(t), outcome{}, `"nan" is no number`},
		"mps-there-is-no-it": {mps(t), outcome{}, "no solution"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := c.program.parse(&call{columns: columns}, file(t, name+".sol"), file(t, name+".log"))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%+v, %v, want an error with %q", got, err, c.err)
				}
				return
			}
			require.OK(t, err)
			// A bound is a little below the printed one, never above.
			if got.bound > c.want.bound || got.bound < c.want.bound-1e-5 {
				t.Errorf("bound %v, want a little less than %v", got.bound, c.want.bound)
			}
			got.bound, c.want.bound = 0, 0
			require.Same(t, "result", c.want, got, cmp.AllowUnexported(outcome{}), cmpopts.EquateNaNs(),
				cmpopts.EquateApprox(0, 1e-7))
		})
	}
}

func mps(t testing.TB) *program {
	return require.Value(ofCommand("solve {in} {out}"))(t)
}

// SCIP and Gurobi are played by scripts that check how they are called and answer
// with recorded files.
func TestFakes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for sh")
	}
	data := require.Value(filepath.Abs("testdata"))(t)
	folder := t.TempDir()
	script := func(name, body string) {
		require.OK(t, os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+body), 0o755))
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, c := range []struct{ name, script string }{
		{"scip", `
case "$*" in --version) echo "SCIP version 9.0.0 [precision: 8 byte]"; exit;; esac
case "$*" in *"-c set numerics feastol 1e-08 "*"-c set limits time "*"-c read m.mps -c optimize -c write solution m.sol -c quit") ;; *) echo "called with $*"; exit 1;; esac
grep -q '^NAME .* FREE' m.mps || exit 2
cp '` + data + `/scip-optimal.sol' m.sol; cat '` + data + `/scip-optimal.log'
`},
		{"gurobi_cl", `
case "$*" in --version) echo "Gurobi Optimizer version 11.0.0 build v11.0.0rc2 (linux64)"; exit;; esac
case "$*" in *"IntFeasTol=1e-08 "*"TimeLimit="*"MIPGap=0 Threads=2 ResultFile=m.sol m.mps") ;; *) echo "called with $*"; exit 1;; esac
cp '` + data + `/gurobi-optimal.sol' m.sol; cat '` + data + `/gurobi-optimal.log'
`},
	} {
		script(c.name, c.script)
		b := require.Value(Backend(c.name))(t)
		r, err := b.Solve(t.Context(), knapsack(), milp.Options{Tolerance: 1e-8, TimeLimit: time.Minute, Threads: 2})
		if err != nil || r.Status != milp.Optimal || r.Objective != optimum || math.Abs(r.Bound-optimum) > 1e-6 || r.Tolerance != 1e-8 {
			t.Errorf("%s: %+v %v", c.name, r, err)
		}
		require.Same(t, "version", map[string]string{"scip": "SCIP 9.0.0", "gurobi_cl": "Gurobi 11.0.0"}[c.name],
			Version(c.name))
	}
}

// A failure of a program is reported with its last line.
func TestFailures(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for sh")
	}
	solve := func(ctx context.Context, script string, o milp.Options) (milp.Result, error) {
		return require.Value(Backend(Prefix+"sh -c '"+script+"' {in} {out}"))(t).Solve(ctx, knapsack(), o)
	}
	if r, err := solve(t.Context(), `echo no licence >&2; exit 3`, milp.Options{}); err == nil || !strings.Contains(err.Error(), "exit code 3; it said: no licence") {
		t.Errorf("%+v %v", r, err)
	}
	if r, err := solve(t.Context(), `exit 3`, milp.Options{}); err == nil || !strings.Contains(err.Error(), "exit code 3; it said: nothing") {
		t.Errorf("%+v %v", r, err)
	}
	if r, err := solve(t.Context(), `echo hello world > $1`, milp.Options{}); err == nil || !strings.Contains(err.Error(), "hello world") {
		t.Errorf("%+v %v", r, err)
	}
	// Output from before it was stopped counts, a part that is cut off doesn't.
	ctx, cancel := context.WithCancel(t.Context())
	written := `echo "x 1" > $1; echo "y_1_ 1" >> $1; `
	r, err := solve(ctx, written+`echo ready; exec sleep 60`, milp.Options{Log: func(string) { cancel() }})
	if err != nil || r.Status != milp.Interrupted || !r.Feasible || r.Objective != 7.5 {
		t.Errorf("%+v %v", r, err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	r, err = solve(ctx, `echo "x 1" > $1; echo y_ >> $1; echo ready; exec sleep 60`, milp.Options{Log: func(string) { cancel() }})
	if err != nil || r.Status != milp.Interrupted || r.Feasible {
		t.Errorf("cut off: %+v %v", r, err)
	}
	// Nothing is run for a context that has ended, a wrong model or none.
	if r, err := solve(ctx, `exit 1`, milp.Options{}); err != nil || r.Status != milp.Interrupted {
		t.Errorf("%+v %v", r, err)
	}
	for _, c := range []struct {
		m    *milp.Model
		want milp.Status
	}{
		{&milp.Model{Offset: 3, Rows: []milp.Row{{Lower: -1, Upper: 1}}}, milp.Optimal},
		{&milp.Model{Rows: []milp.Row{{Lower: 1, Upper: 1}}}, milp.Infeasible},
	} {
		r, err := mps(t).solve(t.Context(), c.m, milp.Options{})
		if err != nil || r.Status != c.want {
			t.Errorf("%+v %v, want %v", r, err, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"cplex", "", "mps:", "mps:a {in}", "mps:a '{in} {out}"} {
		if _, err := Backend(name); err == nil {
			t.Errorf("%q is a solver", name)
		}
	}
	require.Refused(t, "error", require.Err(Backend("mps:there-is-no-such-program {in} {out}")), ErrMissing, "")
}
