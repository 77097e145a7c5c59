// SPDX-License-Identifier: MIT

package batch_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	batchheur "github.com/gapwise/gapwise/heuristics/batch"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// placed are the heuristics that know more than one placement.
var placed = []string{"fcfs", "sjf", "easy", "easy-sjbf", "easy-saf"}

// On neighbouring processors: the judge accepts each execution, the
// head isn't kept waiting by backfilled jobs, and jobs of one process run as on any.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(27, 2))
	others := 0
	for round := range 120 {
		in := small(rng)
		if round%10 == 0 {
			in = deep(rng)
		}
		in.Tiers = 1
		narrow := *in
		narrow.Jobs = slices.Clone(in.Jobs)
		for k := range narrow.Jobs {
			narrow.Jobs[k].Processes = 1
		}
		for _, order := range []model.BatchOrder{model.BatchOrderBatch, model.BatchOrderEvent, model.BatchOrderPyss} {
			for _, name := range placed {
				run := func(in *model.Batch, p model.BatchPlacement) []int64 {
					e := require.Value(oneTier[name](t.Context(), in, model.Settings{Parameters: &model.BatchParameters{Order: order, Placement: p}}))(t)
					require.Feasible(verify.Verify(t.Context(), in, e, verify.Options{}))(t, name, order, p)
					for _, x := range e.Runs {
						list := x.Segments[0].Place.Processors
						if p == model.BatchContiguous && int(list[len(list)-1]-list[0]) != len(list)-1 {
							t.Fatalf("%s: job %s runs on %v", name, x.ID, list)
						}
					}
					return starts(t, in, e)
				}
				near, any := run(in, model.BatchContiguous), run(in, model.BatchLowest)
				if !slices.Equal(near, any) {
					others++
				}
				if name == "fcfs" && !slices.IsSorted(near) {
					t.Errorf("a job starts before one that came before it: %v", near)
				}
				if near, any = run(&narrow, model.BatchContiguous), run(&narrow, model.BatchLowest); !slices.Equal(near, any) {
					t.Errorf("%s %s: jobs of one process start at %v, on neighbours at %v", name, order, any, near)
				}
			}
		}
	}
	if others < 50 {
		t.Errorf("the placement matters %d times only", others)
	}
}

// An unsupported placement gives an error of one line.
func TestPlacementUnsupported(t *testing.T) {
	t.Parallel()
	one := small(rand.New(rand.NewPCG(1, 1)))
	one.Tiers = 1
	two := *one
	two.Tiers = 2
	for name, in := range map[string]*model.Batch{"conservative": one, "spt": one, "list": one, "improve": one, "measy": &two, "peasy": &two} {
		for _, a := range batchheur.Algorithms() {
			if a.Name != name {
				continue
			}
			_, err := a.Solver.Solve(t.Context(), in, model.Settings{Parameters: &model.BatchParameters{Placement: model.BatchContiguous}})
			require.Refused(t, name, err, model.ErrUnsupported, "")
		}
	}
	if _, err := batchheur.EASY(t.Context(), one, model.Settings{Parameters: &model.BatchParameters{Placement: "near"}}); !errors.Is(err, model.ErrUnsupported) {
		t.Error(err)
	}
}
