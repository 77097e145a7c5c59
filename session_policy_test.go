// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// drawCourse draws jobs that arrive one after the other and at times together, and leave
// again: at most times about as many as an instance of the test kit holds.
func drawCourse(rng *rand.Rand, jobs, hosts int, vectors, budget bool) (*model.VCSched, []online.VCSchedStay) {
	in := testkit.VCSched(rng, jobs, hosts, false)
	if vectors {
		in = testkit.Vectors(rng, in)
	}
	in.MigrationBudget = nil
	if budget {
		b := 0.2 + rng.Float64()
		in.MigrationBudget = &b
	}
	stays := make([]online.VCSchedStay, len(in.Jobs))
	at := 0.0
	for i := range in.Jobs {
		in.Jobs[i].CurrentHosts = nil
		stays[i] = online.VCSchedStay{ArrivalS: at, DepartureS: at + float64(1+rng.IntN(4*hosts))}
		at += float64(rng.IntN(3))
	}
	return in, stays
}

// A session as a policy makes the moves of a session that is stepped by hand, and has its
// yields, with a migration budget and without.
func TestSessionPolicy(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(27, 13))
	steps, migrations, rejected := 0, map[bool]int{}, 0
	for round := range require.Rounds(30) {
		budget := round%3 == 2
		in, stays := drawCourse(rng, 30, 2+rng.IntN(3), rng.IntN(3) == 0, budget)
		o := gapwise.Options{Algorithm: "mcb8", Settings: model.Settings{Seed: 1, TimeLimit: time.Minute}}
		if budget {
			o.Algorithm, o.Gap = "search", 0.05
		}
		policy, byHand := gapwise.Session{Options: o}, gapwise.Session{Options: o}
		run := require.Value(online.VCSched(t.Context(), in, stays, policy.Policy(t.Context())))(t)
		there, placed, refused := []int{}, map[string][]int{}, []string{}
		for _, step := range run.Steps {
			there = slices.DeleteFunc(there, func(i int) bool { return stays[i].DepartureS == step.AtS })
			old := len(there)
			for i := range in.Jobs {
				if stays[i].ArrivalS == step.AtS {
					there = append(there, i)
				}
			}
			yield, moves := 1.0, 0
			for len(there) > 0 {
				now := *in
				now.Jobs = nil
				for _, i := range there {
					now.Jobs = append(now.Jobs, in.Jobs[i])
				}
				_, r := require.Pair(byHand.Step(t.Context(), &now))(t)
				if r.Solution == nil {
					last := len(there) - 1
					if last < old {
						t.Fatalf("at %v s: %v without an arrival", step.AtS, r.Status)
					}
					refused = append(refused, in.Jobs[there[last]].ID)
					there = there[:last]
					continue
				}
				yield = r.Objective
				for _, j := range r.Solution.(*model.Placement).Jobs {
					for task, h := range placed[j.ID] {
						if j.Hosts[task] != h {
							moves++
						}
					}
					placed[j.ID] = j.Hosts
				}
				break
			}
			if step.Jobs != len(there) || step.Migrations != moves || math.Abs(step.Yield-yield) > 1e-9 {
				t.Fatalf("round %d: %+v, by hand %d jobs, %d moves, yield %v", round, step, len(there), moves, yield)
			}
			steps++
			migrations[budget] += moves
		}
		slices.Sort(refused)
		slices.Sort(run.Rejected)
		if !slices.Equal(run.Rejected, refused) {
			t.Errorf("round %d: %v are rejected, by hand %v", round, run.Rejected, refused)
		}
		rejected += len(refused)
	}
	t.Log(steps, "steps,", migrations, "moves,", rejected, "rejected")
	if steps < 80 || migrations[false] == 0 || !testing.Short() && migrations[true] == 0 || rejected == 0 {
		t.Errorf("%d steps, %v moves, %d rejected", steps, migrations, rejected)
	}
}
