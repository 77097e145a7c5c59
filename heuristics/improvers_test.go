// SPDX-License-Identifier: MIT

// Package heuristics_test holds all improvers to what each promises.
package heuristics_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	batchheur "github.com/gapwise/gapwise/heuristics/batch"
	consheur "github.com/gapwise/gapwise/heuristics/consolidation"
	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	resheur "github.com/gapwise/gapwise/heuristics/reservation"
	tvcheur "github.com/gapwise/gapwise/heuristics/tvc"
	vcheur "github.com/gapwise/gapwise/heuristics/vcsched"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// improver is an algorithm that improves solutions, and a family of instances.
type improver struct {
	of     []model.Algorithm
	name   string
	rivals []string           // it is never worse than these, from which it may start
	starts []string           // others from which it may start
	asked  []model.Parameters // of the rivals, in turn; none: the defaults
	draw   func(rng *rand.Rand) model.Instance
	rounds int
	effort int64   // after which it is no worse than its rivals
	better float64 // share of the instances on which it is better than all of them
	tells  bool    // each better solution, the last one, too; and none is worse by the second objective
}

var improvers = map[string]improver{
	"batch improve": {batchheur.Algorithms(), "improve", []string{"list", "peasy"}, nil, nil,
		func(rng *rand.Rand) model.Instance {
			return testkit.RandomBatch(rng, 1+rng.IntN(2), 8, 2+rng.IntN(40))
		}, 60, 20_000, 0.2, true},
	"batch rollout": {batchheur.Algorithms(), "rollout", []string{"list"}, nil, nil,
		func(rng *rand.Rand) model.Instance {
			return testkit.RandomBatch(rng, 1+rng.IntN(2), 8, 2+rng.IntN(300))
		}, 60, 10_000_000, 0.25, false},
	"tvc improve": {tvcheur.Algorithms(), "improve", []string{"adaba", "bid-price"}, nil, nil,
		func(rng *rand.Rand) model.Instance {
			return testkit.RandomTVC(rng, 2+2*rng.IntN(2), 2+rng.IntN(60), false)
		}, 40, 30_000, 0.2, true},
	"tvc improve with a queue": {tvcheur.Algorithms(), "improve", []string{"srpt", "repack"}, nil, []model.Parameters{
		&model.TVCParameters{Embedder: "adaba"}, &model.TVCParameters{Embedder: "best-fit-local"},
		&model.TVCParameters{Embedder: "program-servers"}, &model.TVCParameters{Embedder: "program-reserved"}},
		func(rng *rand.Rand) model.Instance {
			return testkit.RandomTVC(rng, 2+2*rng.IntN(2), 1+rng.IntN(40), true)
		}, 40, 60_000, 0.1, true},
	"reservation clairvoyant": {resheur.Algorithms(), "clairvoyant", nil, []string{"selective", "clairvoyant"}, nil,
		func(rng *rand.Rand) model.Instance {
			return testkit.RandomReservation(rng, 20+rng.IntN(60))
		}, 40, 100_000, 0, false},
	"reservation lns": {resheur.Algorithms(), "lns", nil, []string{"selective", "clairvoyant"}, nil,
		func(rng *rand.Rand) model.Instance {
			return testkit.RandomReservation(rng, 20+rng.IntN(60))
		}, 40, 30_000, 0, false},
	"consolidation lns": {consheur.Algorithms(), "lns", []string{"drain", "stay"}, nil, nil,
		func(rng *rand.Rand) model.Instance {
			return testkit.Consolidation(rng, 3+rng.IntN(20), 2+rng.IntN(6))
		}, 40, 30_000, 0.05, true},
	"dag improve": {dagheur.Algorithms(), "improve", []string{"one-machine", "heft", "peft", "sinnen-sousa", "network-aware"}, nil, nil,
		func(rng *rand.Rand) model.Instance {
			return testkit.ContendedDAG(rng, 20, 4)
		}, 40, 30_000, 0.2, false},
	"dag lns": {dagheur.Algorithms(), "lns", []string{"one-machine", "heft", "peft"}, nil, nil,
		func(rng *rand.Rand) model.Instance {
			return testkit.RandomDAG(rng, 2+rng.IntN(30), 1+rng.IntN(4))
		}, 40, 30_000, 0.1, false},
	"vcsched anneal": {vcheur.Algorithms(), "anneal", []string{"gr", "sg", "mcb8"}, nil, nil,
		func(rng *rand.Rand) model.Instance {
			return testkit.RandomVCSched(rng, false)
		}, 40, 30_000, 0, false},
}

// An improver may be stopped at any moment, with a solution that the judge accepts and that is no worse than its start.
// After some effort it is no worse than its rivals, and often better. It reports no worse solutions than earlier ones,
// each with its objective, and the same seed gives the same.
func TestImprovers(t *testing.T) {
	for name, x := range improvers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(26, 6))
			better, rounds := 0, require.Rounds(x.rounds)
			for range rounds {
				if x.holds(t, rng, x.draw(rng)) {
					better++
				}
			}
			if t.Logf("better on %d of %d", better, rounds); better < int(x.better*float64(rounds)) {
				t.Errorf("better than all rivals on %d of %d only", better, rounds)
			}
		})
	}
}

// holds tests the improver on an instance, and reports whether it is better than its rivals.
func (i *improver) holds(t *testing.T, rng *rand.Rand, in model.Instance) bool {
	worse := func(a, b *model.Result) bool {
		x, y := a.Value(in.Metrics()), b.Value(in.Metrics())
		return b.Solution != nil && (a.Solution == nil ||
			y.Better(x) && (i.tells || math.Abs(x.Value-y.Value) > 1e-9*math.Abs(x.Value)))
	}
	solve := func(name string, effort int64, looks int, set model.Settings) (r model.Result) {
		a := i.of[slices.IndexFunc(i.of, func(a model.Algorithm) bool { return a.Name == name })]
		err := meter.Within(t.Context(), effort, func(ctx context.Context) (err error) {
			if looks >= 0 {
				ctx = &testkit.StopAfter{Context: ctx, Looks: looks}
			}
			r, err = a.Solver.Solve(ctx, in, set)
			return err
		})
		if err != nil && !errors.Is(err, model.ErrUnsupported) {
			t.Fatal(name, err)
		}
		if r.Solution != nil {
			report := require.Value(verify.Verify(t.Context(), in, r.Solution, verify.Options{}))(t)
			if report.Err() != nil {
				t.Fatalf("%s: %v\n%+v", name, report.Err(), in)
			}
		}
		return r
	}
	var best, start model.Result
	for k, name := range slices.Concat(i.rivals, i.starts) {
		for _, p := range append(slices.Clone(i.asked), nil)[:max(1, len(i.asked))] {
			r := solve(name, 1e12, -1, model.Settings{Parameters: p})
			if k < len(i.rivals) && worse(&best, &r) {
				best = r
			}
			if r.Solution != nil && rng.IntN(2) == 0 {
				start = r
			}
		}
	}
	set := model.Settings{Seed: rng.Uint64()}
	if start.Solution != nil {
		set.Start = start.Solution
	}
	short := solve(i.name, i.effort, rng.IntN(60), set)
	var told []model.Progress
	set.Progress = func(p model.Progress) { told = append(told, p) }
	r := solve(i.name, i.effort, -1, set)
	if worse(&short, &start) {
		t.Fatalf("stopped with %v, it starts from %v\n%+v", short.Objective, start.Objective, in)
	}
	if worse(&r, &best) || worse(&r, &start) {
		t.Fatalf("%v %v, a rival has %v %v\n%+v",
			r.Objective, r.SecondObjective, best.Objective, best.SecondObjective, in)
	}
	for k, p := range told {
		if p.Solution != nil {
			value := require.Value(in.Objective(p.Solution))(t).Value
			near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(a) }
			before := told[max(0, k-1)].Incumbent
			if !near(value, p.Incumbent) || model.SenseOf(in).Better(before, value) && !near(value, before) {
				t.Fatalf("tells %v, after %v", p, before)
			}
		}
	}
	if i.tells && r.Solution != nil && (len(told) == 0 || told[len(told)-1].Incumbent != r.Objective) {
		t.Fatalf("tells %+v, returns %v", told, r.Objective)
	}
	set.Progress, set.Threads = nil, 4
	if again := solve(i.name, i.effort, -1, set); !reflect.DeepEqual(again.Solution, r.Solution) {
		t.Fatalf("%v, and %v with the same seed\n%+v", r.Objective, again.Objective, in)
	}
	return best.Solution != nil && worse(&best, &r)
}
