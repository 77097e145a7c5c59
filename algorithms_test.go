package gapwise_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
)

// The heuristics of the papers are there.
func TestPaperHeuristics(t *testing.T) {
	for kind, names := range map[model.Kind][]string{
		model.KindVCSched:     {"rrnd", "rrnz", "gr", "sg", "gb", "sgb", "mcb1", "mcb2", "mcb3", "mcb4", "mcb5", "mcb6", "mcb7", "mcb8"},
		model.KindDAG:         {"heft", "cpop", "peft", "lookahead", "dls", "sinnen-sousa", "network-aware", "improve", "lns"},
		model.KindReservation: {"ff", "pe-b", "du-b", "pedu-b", "pe-w", "du-w", "pedu-w"},
	} {
		for _, name := range names {
			if a, err := gapwise.Find(kind, name); err != nil || a.Exact {
				t.Errorf("%v, exact %v", err, a.Exact)
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
