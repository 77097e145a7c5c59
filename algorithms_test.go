package gapwise_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range everyAlgorithm() {
		if a.Name == "" || a.Name != strings.ToLower(a.Name) || seen[a.Name] {
			t.Errorf("the name %q is empty, not lower case or taken", a.Name)
		}
		seen[a.Name] = true
		if a.Kind == "" || a.Paper == "" || a.Complexity == "" || a.Summary == "" || a.Solver == nil || a.Exact {
			t.Errorf("%s lacks something: %+v", a.Name, a)
		}
		if a.Solver.Name() != a.Name {
			t.Errorf("%s has a solver called %s", a.Name, a.Solver.Name())
		}
	}
	for _, name := range []string{"rrnd", "rrnz", "gr", "sg", "gb", "sgb", "mcb1", "mcb2", "mcb3", "mcb4", "mcb5", "mcb6", "mcb7", "mcb8",
		"heft", "cpop", "peft", "lookahead", "dls", "sinnen-sousa", "network-aware", "improve",
		"ff", "pe-b", "du-b", "pedu-b", "pe-w", "du-w", "pedu-w"} {
		if !seen[name] {
			t.Errorf("the paper's %s is missing", name)
		}
	}
}

// Whether an algorithm says that it draws random numbers is true: the others
// give the same placement for any seed.
func TestCatalogueSeeds(t *testing.T) {
	in := &model.VCSched{Hosts: 3}
	for k := range 12 {
		in.Jobs = append(in.Jobs, model.VCSchedJob{ID: fmt.Sprint(k), Tasks: 1, CPU: 0.3 + 0.05*float64(k), Memory: 0.02 * float64(k)})
	}
	graph := instances.DAGSpec{Tasks: 12, Fat: 0.6, Density: 0.5, Regular: 0.5, Jump: 2, MaxCost: 30, MaxData: 30, Machines: 3, Platform: "paper", Transfer: model.TransferFair, Seed: 1}
	d, err := graph.Generate()
	if err != nil {
		t.Fatal(err)
	}
	r, err := instances.ReservationSpec{Requests: 60, UMed: 9, ArrivalFactor: 20, ARTime: 1, Deadline: 1, Seed: 1}.Generate()
	if err != nil {
		t.Fatal(err)
	}
	of := map[model.Kind]model.Instance{model.KindVCSched: in, model.KindDAG: d, model.KindReservation: r}
	for _, a := range everyAlgorithm() {
		in := of[a.Kind]
		first, err := a.Solver.Solve(context.Background(), in, model.Settings{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for seed := uint64(1); seed < 6; seed++ {
			again, err := a.Solver.Solve(context.Background(), in, model.Settings{Seed: seed, Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(first.Solution, again.Solution); diff != "" && (!a.Seeded || seed == 1) {
				t.Errorf("%s with seed %d (-first,+second)\n%s", a.Name, seed, diff)
			}
		}
	}
}

type otherInstance struct{ model.Instance }

func (otherInstance) Kind() model.Kind { return "other" }

func TestAdapt(t *testing.T) {
	in := &model.VCSched{Hosts: 1, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 1, CPU: 0.5}}}
	type solve = func(context.Context, *model.VCSched, model.Settings) (*model.Placement, error)
	answer := func(p *model.Placement, err error) solve {
		return func(context.Context, *model.VCSched, model.Settings) (*model.Placement, error) { return p, err }
	}
	tests := map[string]struct {
		solve      solve
		in         model.Instance
		wantErr    error
		wantStatus model.Status
		wantReason string
	}{
		"solved":          {answer(in.NewPlacement([]int32{0}, 1), nil), in, nil, model.StatusFeasible, ""},
		"no solution":     {answer(nil, fmt.Errorf("%w: full", model.ErrNoSolution)), in, nil, model.StatusUnknown, "no solution found: full"},
		"failed":          {answer(nil, model.ErrUnsupported), in, model.ErrUnsupported, model.StatusUnknown, ""},
		"another problem": {answer(nil, nil), otherInstance{}, model.ErrUnsupported, model.StatusUnknown, ""},
		"wrong shape":     {answer(&model.Placement{}, nil), in, model.ErrInvalid, model.StatusUnknown, ""},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := model.Adapt("mine", c.solve).Solve(context.Background(), c.in, model.Settings{Seed: 3})
			if !errors.Is(err, c.wantErr) || err != nil && !strings.HasPrefix(err.Error(), "mine: ") {
				t.Fatalf("error %v, want %v", err, c.wantErr)
			}
			if r.Status != c.wantStatus || r.Reason != c.wantReason || r.Algorithm != "mine" || r.Seed != 3 {
				t.Errorf("%+v, want status %s and reason %q", r, c.wantStatus, c.wantReason)
			}
		})
	}
}

// everyAlgorithm lists the heuristics of every problem.
func everyAlgorithm() (all []model.Algorithm) {
	for _, p := range gapwise.Problems() {
		for _, a := range p.Algorithms {
			if !a.Exact {
				all = append(all, a)
			}
		}
	}
	return all
}
