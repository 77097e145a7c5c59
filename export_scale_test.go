// SPDX-License-Identifier: MIT

package gapwise

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/objective"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// affine is the formula of most files.
var affine = regexp.MustCompile(`^(\S+) \* obj(?: ([+-]) (\S+))?$`)

// ofInstance converts a solver's figure to the instance's objective, by the comment of a file.
func ofInstance(t *testing.T, file string, obj float64) float64 {
	t.Helper()
	for _, line := range lines(t, file) {
		_, formula, ok := strings.Cut(line, objective.OfInstance)
		if !ok {
			continue
		}
		if formula == "1 / max(1, obj)" {
			return 1 / max(1, obj)
		}
		m := affine.FindStringSubmatch(formula)
		if m == nil {
			t.Fatalf("%s: the formula %q", file, formula)
		}
		x := number(t, m[1]) * obj
		if m[2] != "" {
			x += number(t, m[2]+m[3])
		}
		return x
	}
	t.Fatalf("%s doesn't say what the instance's objective is", file)
	return 0
}

// Another solver's optimum of an exported file is, by the file's comment, the optimum that exact proves: of every
// example in every formulation, and of goals and units that no example has.
func TestExportedObjective(t *testing.T) {
	require.HiGHS(t)
	var all []model.Instance
	for _, pattern := range []string{"docs/examples/*.json", "examples/*/*.json"} {
		paths := require.Value(filepath.Glob(pattern))(t)
		for _, path := range paths {
			if in, err := instances.Load(path); err == nil { // others are solutions and platforms
				all = append(all, in)
			}
		}
	}
	add := func(in model.Instance, err error) {
		t.Helper()
		require.OK(t, err)
		all = append(all, in)
	}
	add(&model.Batch{Name: "alone", Processors: 1, Tiers: 1, Jobs: []model.BatchJob{{ID: "a", RuntimeS: 60, Processes: 1}}}, nil)
	add(&model.Batch{Name: "odd", Processors: 4, Tiers: 1, Jobs: []model.BatchJob{{ID: "a", RuntimeS: 3669.1257, Processes: 3, Weight: 2},
		{ID: "b", SubmitS: 1.003, RuntimeS: 5001.77, Processes: 2}, {ID: "c", SubmitS: 7, RuntimeS: 61.3331, Processes: 2, Weight: 3}}}, nil)
	add(instances.VCSchedSpec{Hosts: 2, Jobs: 4, Slack: 0.4, MeanCPU: 0.5, CoVCPU: 0.5, CoVMemory: 0.5, MaxTasks: 1, Seed: 7}.Generate())
	for _, in := range all {
		if in, ok := in.(*model.TVC); ok && !in.Queue {
			for _, goal := range model.TVCGoals {
				few := *in
				few.Name, few.Goal, few.Requests = string(goal), goal, in.Requests[:3]
				add(&few, nil)
			}
		}
	}
	for _, goal := range []model.Goal{model.GoalAccepted, model.GoalPESeconds, model.GoalAll} {
		deadline := 5.0
		if goal == model.GoalAll {
			deadline = 20
		}
		add(&model.Reservation{Name: "r-" + string(goal), PEs: 4, Goal: goal, Requests: []model.Request{
			{ID: "a", DurationS: 4, DeadlineS: deadline, PEs: 2}, {ID: "b", DurationS: 2, DeadlineS: deadline, PEs: 3},
			{ID: "c", ReadyS: 2, DurationS: 2, DeadlineS: deadline, PEs: 2}, {ID: "free", ReadyS: 40, DurationS: 2, DeadlineS: 60, PEs: 1}}}, nil)
	}
	solvers := map[string]func(*testing.T, string) float64{"glpsol": byGLPK, "cbc": byCBC}
	for program, debian := range map[string]string{"glpsol": "glpk-utils", "cbc": "coinor-cbc"} {
		t.Run(program, func(t *testing.T) {
			require.Tool(t, program, debian)
			kinds, units := map[model.Kind]int{}, 0
			for _, in := range all {
				var want model.Result
				for _, name := range Formulations(in.Kind()) {
					f, err := Formulation(context.Background(), in, name)
					if errors.Is(err, model.ErrUnsupported) {
						continue
					}
					require.OK(t, err, name, "of", in.ID())
					if len(f.Vars) > 140 {
						continue // GLPK takes a minute for some
					}
					if want.Algorithm == "" {
						want, err = Solve(context.Background(), in, Options{Algorithm: "exact", Settings: model.Settings{Effort: 10_000_000}})
						if err != nil || want.Status != model.StatusOptimal {
							t.Fatalf("%s: %s %v", in.ID(), want.Status, err)
						}
					}
					kinds[in.Kind()]++
					for format, write := range map[string]func(io.Writer) error{"mps": f.WriteMPS, "lp": f.WriteLP} {
						file := filepath.Join(t.TempDir(), "m."+format)
						out := require.Value(os.Create(file))(t)
						require.OK(t, errors.Join(write(out), out.Close()))
						said := solvers[program](t, file)
						got := ofInstance(t, file, said)
						if !(math.Abs(got-want.Objective) <= 1e-5*math.Abs(want.Objective)) {
							t.Errorf("%s, %s as %s: %s says %v, so the instance's is %v; the optimum is %v", in.ID(), name, format, program, said, got, want.Objective)
						}
						if math.Abs(said-got) > 1e-3 {
							units++
						}
					}
				}
			}
			if len(kinds) != len(model.Kinds()) || units < 10 {
				t.Errorf("%v, %d of them in another unit", kinds, units)
			}
		})
	}
}
