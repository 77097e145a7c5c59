// SPDX-License-Identifier: MIT

package vcsched

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// Instances too large to be built are refused before anything is built.
func TestFormulationSize(t *testing.T) {
	t.Parallel()
	budget := 0.5
	distinct := func(n, hosts int) *model.VCSched {
		in := &model.VCSched{Hosts: hosts}
		for k := range n {
			in.Jobs = append(in.Jobs, model.VCSchedJob{ID: fmt.Sprint(k), Tasks: 1, CPU: float64(k+1) / float64(n)})
		}
		return in
	}
	moving := distinct(10_000, 1_000)
	moving.MigrationBudget = &budget
	tests := map[string]struct {
		in   *model.VCSched
		name string
		want string // empty: it is built
	}{
		"paper":                 {distinct(10_000, 1_000), "paper", "20000001 variables"},
		"parallel":              {distinct(10_000, 1_000), "parallel", "20000001 variables"},
		"migration":             {moving, "migration", "20000001 variables"},
		"compact":               {distinct(10_000, 1_000), "compact", "10000001 variables"},
		"compact with a budget": {moving, "compact", "10000001 variables"},
		"compact by its rows":   {distinct(1_000, 999), "compact", "499500000 terms"},
		"compact of few types": {&model.VCSched{Hosts: 1000, Jobs: []model.VCSchedJob{
			{ID: "a", Tasks: 100_000, CPU: 0.5, Memory: 0.001}}}, "compact", ""},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			f, err := Build(c.in, c.name)
			if c.want == "" {
				if err != nil || len(f.Vars) != c.in.Hosts+1 {
					t.Fatalf("%v, want %d variables", err, c.in.Hosts+1)
				}
				return
			}
			require.Refused(t, name, err, model.ErrUnsupported, c.want)
		})
	}
}

// The paper's model of two jobs on two hosts, row by row.
func TestPaperFormulationRows(t *testing.T) {
	t.Parallel()
	in := &model.VCSched{Hosts: 2, Jobs: []model.VCSchedJob{
		{ID: "a", Tasks: 1, CPU: 0.5, Memory: 0.25}, {ID: "b", Tasks: 1, CPU: 0.75, Memory: 0.5}}}
	f := require.Value(Build(in, "paper"))(t)
	require.OK(t, f.Validate())
	var got []string
	for _, r := range f.Rows {
		var terms []string
		for _, term := range r.Terms {
			terms = append(terms, fmt.Sprintf("%+g %s", term.Coef, f.Vars[term.Var].Name))
		}
		slices.Sort(terms)
		got = append(got, fmt.Sprintf("%s: %g ≤ %s ≤ %g", r.Name, r.Lower, strings.Join(terms, " "), r.Upper))
	}
	slices.Sort(got)
	want := []string{
		"eq10_1: -Inf ≤ +1 Y -2 x_1_1 -2 x_1_2 ≤ 0",
		"eq10_2: -Inf ≤ +1 Y -1.3333333333333333 x_2_1 -1.3333333333333333 x_2_2 ≤ 0",
		"eq5_1: 1 ≤ +1 e_1_1 +1 e_1_2 ≤ 1",
		"eq5_2: 1 ≤ +1 e_2_1 +1 e_2_2 ≤ 1",
		"eq6_1_1: -Inf ≤ +1 x_1_1 -1 e_1_1 ≤ 0",
		"eq6_1_2: -Inf ≤ +1 x_1_2 -1 e_1_2 ≤ 0",
		"eq6_2_1: -Inf ≤ +1 x_2_1 -1 e_2_1 ≤ 0",
		"eq6_2_2: -Inf ≤ +1 x_2_2 -1 e_2_2 ≤ 0",
		"eq7_1: -Inf ≤ +1 x_1_1 +1 x_1_2 ≤ 0.5",
		"eq7_2: -Inf ≤ +1 x_2_1 +1 x_2_2 ≤ 0.75",
		"eq8_1: -Inf ≤ +1 x_1_1 +1 x_2_1 ≤ 1",
		"eq8_2: -Inf ≤ +1 x_1_2 +1 x_2_2 ≤ 1",
		"eq9_1: -Inf ≤ +0.25 e_1_1 +0.5 e_2_1 ≤ 1",
		"eq9_2: -Inf ≤ +0.25 e_1_2 +0.5 e_2_2 ≤ 1",
	}
	require.Same(t, "rows", want, got)
	for j, v := range f.Vars {
		if isE := strings.HasPrefix(v.Name, "e_"); v.Integer != isE || v.Lower != 0 || v.Upper != 1 || (v.Cost != 0) != (v.Name == "Y") {
			t.Errorf("variable %d: %+v", j, v)
		}
	}
	if !f.Maximise {
		t.Error("the yield must be maximised")
	}
}
