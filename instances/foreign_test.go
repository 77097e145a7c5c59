// SPDX-License-Identifier: MIT

package instances

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func TestDaggen(t *testing.T) {
	all, err := loadDaggen(require.Data(t, "dags", "daggen-1296.jsonl.gz"))
	if err != nil || len(all) != 1296 {
		t.Fatalf("%d graphs, %v", len(all), err)
	}
	for name, text := range map[string]string{"backwards": `{"id":"x","n":2,"edges":[[1,0,5]]}`, "outside": `{"id":"x","n":2,"edges":[[0,2,5]]}`, "no JSON": `{`} {
		require.Refused(t, name, require.Err(readDaggen([]byte("\n"+text))), model.ErrInvalid, "line 2")
	}
}

// The graphs that are drawn are those that daggen wrote.
func TestDaggenDrawn(t *testing.T) {
	read := require.Value(loadDaggen(require.Data(t, "dags", "daggen-1296.jsonl.gz")))(t)
	drawn := require.Value(loadDaggen(drawnDaggen))(t)
	for k := range read {
		read[k].ID = ""
	}
	if len(read) != len(drawn) {
		t.Fatalf("%d graphs were read, %d are drawn", len(read), len(drawn))
	}
	for k := range read {
		if !reflect.DeepEqual(read[k], drawn[k]) {
			t.Fatalf("graph %d: -read +drawn: %s", k, cmp.Diff(read[k], drawn[k]))
		}
	}
}

// The generator's graphs have the shape that the recipe asks for.
func TestDAGSpec(t *testing.T) {
	for _, s := range []DAGSpec{
		{Tasks: 50, Fat: 0.8, Density: 0.8, Regular: 0.2, Jump: 4, MaxCost: 30, MaxData: 10, Machines: 3, Platform: "paper", Seed: 1},
		{Tasks: 20, Fat: 0.1, Density: 0.2, Regular: 0.8, Jump: 1, MaxCost: 5, Machines: 2, Platform: "uniform", Seed: 2},
		{Tasks: 0, Fat: 0.5, Jump: 1, MaxCost: 5, Machines: 1, Platform: "bus"},
	} {
		d := require.Value(s.Generate())(t)
		if len(d.Tasks) != s.Tasks || d.Name != s.name() {
			t.Errorf("%d tasks, want %d", len(d.Tasks), s.Tasks)
		}
		if s.Fat == 0.1 && len(d.Edges) != s.Tasks-1 {
			t.Errorf("a chain of %d tasks has %d edges", s.Tasks, len(d.Edges))
		}
		again, _ := s.Generate()
		require.Same(t, "again", d, again)
		fair := s
		fair.Transfer = model.TransferFair
		other, _ := fair.Generate()
		require.Same(t, "another transfer model draws other tasks", d.Tasks, other.Tasks)
		cored := s
		cored.Cores = 4
		roomy := require.Value(cored.Generate())(t)
		for i := range roomy.Tasks {
			if n := roomy.Tasks[i].Needs; len(n) != 1 || n[0] < 1 || n[0] > 4 {
				t.Errorf("a task takes %v of 4 cores", n)
			}
			roomy.Tasks[i].Needs = nil
		}
		for m := range roomy.Machines {
			require.Same(t, "cores", []int64{4}, roomy.Machines[m].Capacity)
			roomy.Machines[m].Capacity = nil
		}
		require.Same(t, "resources", []string{"cores"}, roomy.Resources)
		if roomy.Resources, roomy.Name = nil, d.Name; cored.name() == s.name() {
			t.Errorf("%s is the name with cores and without", d.Name)
		}
		require.Same(t, "with cores, but for these", d, roomy)
	}
	for want, s := range map[string]DAGSpec{
		"fat":      {Tasks: 3, Jump: 1, MaxCost: 1, Machines: 1, Platform: "bus"},
		"jump":     {Tasks: 3, Fat: 1, MaxCost: 1, Machines: 1, Platform: "bus"},
		"machines": {Tasks: 3, Fat: 1, Jump: 1, MaxCost: 1, Platform: "bus"},
		"cores":    {Tasks: 3, Fat: 1, Jump: 1, MaxCost: 1, Machines: 1, Cores: -1, Platform: "bus"},
		"platform": {Tasks: 3, Fat: 1, Jump: 1, MaxCost: 1, Machines: 1, Platform: "moon"},
	} {
		require.Refused(t, want, require.Err(s.Generate()), model.ErrInvalid, want)
	}
}

func FuzzReadDaggen(f *testing.F) {
	f.Add([]byte(`{"id":"x","n":3,"edges":[[0,1,5],[0,2,7]]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := readDaggen(text); err != nil {
			wantError(t, err, "")
		}
	})
}
