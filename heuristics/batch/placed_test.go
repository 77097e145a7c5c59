// SPDX-License-Identifier: MIT

package batch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	batchheur "github.com/gapwise/gapwise/heuristics/batch"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// placing are the heuristics that place jobs on nodes.
var placing = []string{"fcfs", "sjf", "conservative", "easy", "easy-sjbf", "easy-saf", "list", "spt"}

// searching are those that search for schedules on them.
var searching = []string{"rollout", "improve"}

// solved returns the execution of a heuristic, which the judge accepts.
func solved(t *testing.T, name string, in *model.Batch) *model.Execution {
	t.Helper()
	require.OK(t, in.Validate())
	for _, a := range batchheur.Algorithms() {
		if a.Name == name {
			r := require.Value(a.Solver.Solve(t.Context(), in, model.Settings{Seed: 1}))(t)
			require.Feasible(verify.Verify(t.Context(), in, r.Solution, verify.Options{}))(t, name)
			return r.Solution.(*model.Execution)
		}
	}
	t.Fatal(name)
	return nil
}

// begins returns when each job starts, in microseconds.
func begins(t *testing.T, in *model.Batch, e *model.Execution) []int64 {
	t.Helper()
	all := make([]int64, len(in.Jobs))
	for i, k := range require.Value(in.Index(e))(t) {
		all[k] = int64(math.Round(e.Runs[i].Segments[0].StartS * 1e6))
	}
	return all
}

// text is an instance as a file.
func text(in *model.Batch) string {
	data, err := json.Marshal(in)
	return fmt.Sprint(string(data), err)
}

// Nodes of one unit that each process has alone are processors: all jobs start when they do there. So do they on
// processors in groups, with a second resource that nobody is short of, and with partitions that are the whole machine.
func TestNodesLikeProcessors(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 2))
	for round := range 80 {
		in := small(rng)
		if round%8 == 0 {
			in = deep(rng)
		}
		in.Tiers = 1
		n := *in
		n.Resources = []string{"cpu", "memory"}
		first := max(1, in.Processors/2)
		n.Nodes = []model.NodeGroup{{ID: "a", Count: first, Capacity: []int64{1, 1000}, Partitions: []string{"p"}}}
		if first < in.Processors {
			n.Nodes = append(n.Nodes, model.NodeGroup{ID: "b", Count: in.Processors - first, Capacity: []int64{1, 1000}, Partitions: []string{"q", "p"}})
		}
		n.Jobs = slices.Clone(in.Jobs)
		for k := range n.Jobs {
			n.Jobs[k].CPU = nil
			n.Jobs[k].Needs = &model.NodeNeeds{Each: []int64{1, int64(k) % 3}, Spread: k%2 == 0, Exclusive: k%5 == 0, Partitions: [][]string{nil, {"p"}}[k%2]}
		}
		for _, name := range placing {
			want, got := begins(t, in, solved(t, name, in)), begins(t, &n, solved(t, name, &n))
			if !slices.Equal(want, got) {
				t.Fatalf("%s: jobs start at %v on nodes, at %v on processors: %s", name, got, want, text(in))
			}
		}
	}
}

// The judge accepts all placements on nodes; of FCFS no job starts before one that came before it; and of EASY no job
// behind it delays the first that can't start, if all jobs run for their estimates.
func TestOnNodes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 3))
	waits, jumps := 0, 0
	for round := range 300 {
		in := testkit.RandomNodes(rng, 2+rng.IntN(12))
		names := placing
		if round%20 == 0 {
			names = append(searching, placing...)
		}
		for _, name := range names {
			at := begins(t, in, solved(t, name, in))
			for k := range at {
				if at[k] > int64(in.Jobs[k].SubmitS*1e6) {
					waits++
				}
			}
			if name == "fcfs" && !slices.IsSorted(at) {
				t.Errorf("a job starts before one that came before it: %v", at)
			}
			if name == "easy" && !slices.IsSorted(at) {
				jumps++
			}
		}
		// Without the jobs behind the first one that waits, it starts no earlier.
		exact := *in
		exact.Jobs = slices.Clone(in.Jobs)
		for k := range exact.Jobs {
			exact.Jobs[k].EstimateS = 0
		}
		at := begins(t, &exact, solved(t, "easy", &exact))
		for k := range at {
			if at[k] > int64(exact.Jobs[k].SubmitS*1e6) {
				alone := exact
				alone.Jobs = exact.Jobs[:k+1]
				if without := begins(t, &alone, solved(t, "easy", &alone)); at[k] > without[k] {
					t.Errorf("job %d starts at %d, at %d without the jobs behind it: %s", k, at[k], without[k], text(&exact))
				}
				break
			}
		}
	}
	if waits < 2000 || jumps < 50 {
		t.Errorf("%d jobs wait, EASY lets jobs jump in %d instances", waits, jumps)
	}
}

// The searches are never worse than the list schedules, improve than rollout and the solution that it starts from; often
// they are better. The same seed gives the same solution.
func TestSearchesOnNodes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 24))
	better := map[string]int{}
	solve := func(name string, in *model.Batch, set model.Settings) float64 {
		for _, a := range batchheur.Algorithms() {
			if a.Name == name {
				r := require.Value(a.Solver.Solve(t.Context(), in, set))(t)
				require.Feasible(verify.Verify(t.Context(), in, r.Solution, verify.Options{}))(t, name)
				if set.Start != nil {
					again := require.Value(a.Solver.Solve(t.Context(), in, set))(t)
					if !reflect.DeepEqual(r.Solution, again.Solution) {
						t.Fatalf("%s: another solution: %s", name, text(in))
					}
				}
				return require.Value(in.Objective(r.Solution))(t).Value
			}
		}
		t.Fatal(name)
		return 0
	}
	for range 12 {
		in := testkit.RandomNodes(rng, 10+rng.IntN(30))
		list, rolled := solve("list", in, model.Settings{}), solve("rollout", in, model.Settings{Seed: 3})
		improved := solve("improve", in, model.Settings{Seed: 3})
		start := require.Value(batchheur.Conservative(t.Context(), in, model.Settings{}))(t)
		first := require.Value(in.Objective(start))(t).Value
		from := solve("improve", in, model.Settings{Seed: 3, Start: start})
		if rolled > list || improved > rolled || from > first || from > rolled {
			t.Fatalf("list %v, rollout %v, improve %v; from conservative, %v, %v: %s", list, rolled, improved, first, from, text(in))
		}
		if rolled < list {
			better["rollout"]++
		}
		if improved < rolled {
			better["improve"]++
		}
	}
	if better["rollout"] < 2 || better["improve"] < 6 {
		t.Errorf("better on %v of 12", better)
	}
}

// Algorithms that count processors refuse nodes in a line.
func TestNodesRefused(t *testing.T) {
	t.Parallel()
	in := testkit.RandomNodes(rand.New(rand.NewPCG(50, 4)), 4)
	for _, a := range batchheur.Algorithms() {
		if slices.Contains(placing, a.Name) || slices.Contains(searching, a.Name) {
			continue
		}
		_, err := a.Solver.Solve(t.Context(), in, model.Settings{Seed: 1})
		require.Refused(t, fmt.Sprint(a.Name), err, model.ErrUnsupported, "")
	}
}

// When it is stopped, the jobs that are left run in their order, and at last one after the other.
func TestOnNodesStopped(t *testing.T) {
	t.Parallel()
	in := testkit.RandomNodes(rand.New(rand.NewPCG(50, 7)), 2500)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := require.Value(batchheur.EASY(ctx, in, model.Settings{}))(t)
	require.Feasible(verify.Verify(t.Context(), in, e, verify.Options{}))(t, "stopped")
	at := begins(t, in, e)
	if !slices.IsSorted(at) {
		t.Error("a job starts before one that came before it")
	}
	for k := 2001; k < len(at); k++ {
		if at[k] < at[k-1]+int64(in.Work(k-1)*1e6) {
			t.Errorf("job %d starts before the one before it has ended", k)
		}
	}
}
