// SPDX-License-Identifier: MIT

package gapwise

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// exported are the formulations of a handful of small instances of every
// problem, and models with everything that the formats have.
func exported(t *testing.T) map[string]*milp.Model {
	t.Helper()
	all := map[string]*milp.Model{}
	add := func(in model.Instance, err error) {
		require.OK(t, err)
		for _, name := range Formulations(in.Kind()) {
			m, err := Formulation(context.Background(), in, name)
			require.OK(t, err, name, "of", in.ID())
			all[fmt.Sprint(in.Kind(), " ", in.ID(), " ", name)] = &m.Model
		}
	}
	for k := range 2 {
		add(instances.VCSchedSpec{Hosts: 2, Jobs: 4, Slack: 0.4, MeanCPU: 0.5, CoVCPU: 0.5, CoVMemory: 0.5, MaxTasks: 1, Index: k, Seed: 7}.Generate())
		add(instances.DAGSpec{Tasks: 4, Fat: 0.5, Density: 0.5, Regular: 0.5, Jump: 1, MaxCost: 9, MaxData: 9, Machines: 2, Platform: "uniform", Index: k, Seed: 7}.Generate())
	}
	for _, goal := range []model.Goal{model.GoalAccepted, model.GoalPESeconds} {
		add(&model.Reservation{Name: "r-" + string(goal), PEs: 4, Goal: goal, Requests: []model.Request{
			{ID: "a", DurationS: 3, DeadlineS: 4, PEs: 2}, {ID: "b", DurationS: 2, DeadlineS: 4, PEs: 3},
			{ID: "c", ReadyS: 1, DurationS: 2, DeadlineS: 5, PEs: 2}, {ID: "d", ReadyS: 2, DurationS: 1, DeadlineS: 4, PEs: 1}}}, nil)
	}
	for _, maximise := range []bool{true, false} {
		m := &milp.Model{Name: "formats", Maximise: maximise, Offset: 2.5}
		x := m.AddVar(milp.Var{Name: "e1", Upper: 4, Cost: 3, Integer: true})
		y := m.AddVar(milp.Var{Name: "free", Lower: math.Inf(-1), Upper: milp.Inf, Cost: -1})
		z := m.AddVar(milp.Var{Name: "constant", Lower: -2, Upper: 7, Cost: 1e-3})
		w := m.AddVar(milp.Var{Name: "minus", Lower: math.Inf(-1), Upper: -1, Cost: 0.5})
		b := m.AddVar(milp.Var{Name: "b[1,2]", Upper: 1, Cost: -0.25, Integer: true})
		m.AddVar(milp.Var{Name: "nowhere", Lower: 1, Upper: 1})
		m.AddRow("range", 1, 5, milp.Term{Var: x, Coef: 1}, milp.Term{Var: y, Coef: -2.5})
		m.AddRow("under", math.Inf(-1), 6.5, milp.Term{Var: z, Coef: 1}, milp.Term{Var: x, Coef: 2})
		m.AddRow("over", -9, milp.Inf, milp.Term{Var: w, Coef: 1}, milp.Term{Var: b, Coef: -1}, milp.Term{Var: y, Coef: 1e-7})
		m.AddRow("unbounded", math.Inf(-1), milp.Inf, milp.Term{Var: w, Coef: 1})
		m.AddRow("equal", 3, 3, milp.Term{Var: y, Coef: 1}, milp.Term{Var: b, Coef: 2})
		all[fmt.Sprint("formats ", maximise)] = m
	}
	return all
}

// The exported file has the same optimum for GLPK, CBC and HiGHS, in both formats; as MPS, which minimises always, of a
// model that maximises the negated one.
func TestExportIsReadByAll(t *testing.T) {
	require.HiGHS(t)
	readers := map[string]func(t *testing.T, file string) float64{
		"glpsol": byGLPK, "cbc": byCBC, "highs": byHiGHS,
	}
	for program, package_ := range map[string]string{"glpsol": "glpk-utils", "cbc": "coinor-cbc", "highs": ""} {
		t.Run(program, func(t *testing.T) {
			if package_ != "" {
				require.Tool(t, program, package_)
			}
			models := exported(t)
			if len(models) < 12 {
				t.Fatalf("%d models say little", len(models))
			}
			for name, m := range models {
				want, err := highs.Solve(context.Background(), m, milp.Options{})
				if err != nil || !want.Feasible {
					t.Fatalf("%s: HiGHS: %v, %v", name, want.Status, err)
				}
				for format, write := range map[string]func(io.Writer) error{"mps": m.WriteMPS, "lp": m.WriteLP} {
					file := filepath.Join(t.TempDir(), "m."+format)
					f := require.Value(os.Create(file))(t)
					require.OK(t, write(f))
					require.OK(t, f.Close())
					sign := 1.0
					if format == "mps" && m.Maximise {
						sign = -1
					}
					if got := sign * readers[program](t, file); !(math.Abs(got-want.Objective) <= 1e-6*max(1, math.Abs(got))) {
						t.Errorf("%s as %s: optimum %v, want %v", name, format, got, want.Objective)
					}
				}
			}
		})
	}
}

func byHiGHS(t *testing.T, file string) float64 {
	r, err := highs.SolveFile(context.Background(), file, milp.Options{})
	if err != nil || !r.Feasible {
		t.Fatalf("%s: %v %v", file, r.Status, err)
	}
	return r.Objective
}

// byGLPK reads the solution line of glpsol: "s mip ROWS COLUMNS o OBJECTIVE" or,
// of a linear program, "s bas ROWS COLUMNS f f OBJECTIVE".
func byGLPK(t *testing.T, file string) float64 {
	format := map[string]string{".mps": "--freemps", ".lp": "--lp"}[filepath.Ext(file)]
	execute(t, "glpsol", format, file, "--write", file+".sol")
	for _, line := range lines(t, file+".sol") {
		f := strings.Fields(line)
		if len(f) == 6 && f[0] == "s" && f[1] == "mip" && f[4] == "o" || len(f) == 7 && f[0] == "s" && f[4] == "f" && f[5] == "f" {
			return number(t, f[len(f)-1])
		}
	}
	t.Fatalf("%s: glpsol proves no optimum: %v", file, lines(t, file+".sol"))
	return 0
}

// byCBC reads "Optimal - objective value OBJECTIVE".
func byCBC(t *testing.T, file string) float64 {
	execute(t, "cbc", file, "solve", "solution", file+".sol")
	first := lines(t, file+".sol")[0]
	value, ok := strings.CutPrefix(first, "Optimal - objective value ")
	if !ok {
		t.Fatalf("%s: cbc says %q", file, first)
	}
	return number(t, value)
}

func lines(t *testing.T, file string) []string {
	t.Helper()
	return strings.Split(string(require.Value(os.ReadFile(file))(t)), "\n")
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	return require.Value(strconv.ParseFloat(strings.TrimSpace(text), 64))(t)
}

func execute(t *testing.T, program string, args ...string) {
	t.Helper()
	text := require.Run(t, exec.Command(program, args...))
	if _, err := os.Stat(args[len(args)-1]); err != nil {
		t.Fatalf("%s %v: %v\n%s", program, args, err, text)
	}
}

// ShortTurns makes the turns of auto's workers short until the returned function is called.
func ShortTurns() (restore func()) {
	was := turnsOfAuto
	turnsOfAuto = turnLengths{first: 300, most: 3000, heuristic: 1000}
	return func() { turnsOfAuto = was }
}
