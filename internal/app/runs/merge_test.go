// SPDX-License-Identifier: MIT

package runs

import (
	"errors"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// A run that is there twice counts once, with the same table.
func TestMergeCountsOnce(t *testing.T) {
	once := require.Value(tabulate(sample(), TableOptions{Columns: []string{"runs", "verified", "objective", "gap mean %"}}))(t)
	again := sample()
	for i := range again {
		again[i].ElapsedS, again[i].Nodes = 7, 7 // another day
	}
	twice := require.Value(tabulate(append(sample(), again...), TableOptions{Columns: []string{"runs", "verified", "objective", "gap mean %"}}))(t)
	require.Same(t, "table of them twice", once, twice)
}

func TestMergeContradictions(t *testing.T) {
	at := func(records []Record, file string) []Record {
		for i := range records {
			records[i].File, records[i].Line = file, i+1
		}
		return records
	}
	for name, c := range map[string]struct {
		change string // of exact's run on i1: optimal, 0.8
		want   string // empty: no contradiction
	}{
		"nothing":         {"", ""},
		"time and nodes":  {"ElapsedS=9; Nodes=9", ""},
		"objective":       {"Objective=0.7", "a.jsonl:1 and b.jsonl:1 contradict each other: both are exact on i1 with seed 1, one is optimal, objective 0.8, second objective 0.9, bound 0.8, the other optimal, objective 0.7,"},
		"second":          {"Second=0.85", "second objective 0.85"},
		"bound":           {"Bound=0.81", "bound 0.81"},
		"status":          {"Status=feasible", "the other feasible"},
		"options":         {"Options=time_limit=1s", `one with the options "", the other with "time_limit=1s"`},
		"another seed":    {"Seed=2", ""},
		"bound beaten":    {"Algorithm=other; Bound=0.75", "b.jsonl:1 and a.jsonl:1 contradict each other: on i1, other proves the bound 0.75, exact has 0.8"},
		"bound met":       {"Algorithm=other; Bound=0.7999999992", ""},
		"infeasible":      {"Algorithm=other; Status=infeasible; Objective=nil; Bound=nil", "other proves i1 infeasible, exact has a solution"},
		"stated bound":    {"Algorithm=other; Bound=0.75; Sealed=false", ""},
		"stated solution": {"Algorithm=other; Objective=0.9; Bound=nil; Sealed=false", "exact proves the bound 0.8, other has 0.9"},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := at(sample(), "a.jsonl"), at(sample()[:1], "b.jsonl")
			require.Set(t, &b[0], c.change)
			_, _, err := Merge(append(a, b...))
			if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// The first of two copies of a run under a time limit is kept, but not its lie.
func TestMergeTimed(t *testing.T) {
	num := func(x float64) *float64 { return &x }
	a, b := sample()[0], sample()[0]
	for _, r := range []*Record{&a, &b} {
		r.Options, r.Status, r.Bound = "time_limit=1s", model.StatusFeasible, num(0.9)
	}
	a.File, a.Line, b.File, b.Line = "a.jsonl", 1, "b.jsonl", 7
	b.Objective = num(0.85)
	all, notes, err := Merge([]Record{a, b})
	if err != nil || len(all) != 1 || *all[0].Objective != 0.8 || len(notes) != 1 || !strings.HasPrefix(notes[0], "a.jsonl:1 and b.jsonl:7 are one run under a time limit, with two results: one is feasible, objective 0.8") {
		t.Errorf("%v, notes %q, error %v", all, notes, err)
	}
	b.Bound = num(0.75) // of a maximum
	if _, _, err := Merge([]Record{a, b}); !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), "proves the bound 0.75") {
		t.Errorf("a bound that is beaten: error %v", err)
	}
}
