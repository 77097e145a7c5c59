// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	oracle "github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

func TestGreedyByHand(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		hosts   int
		jobs    []model.VCSchedJob
		solve   algorithm
		want    []int32
		wantErr string
	}{
		"gr: the least load, the first of equals": {
			hosts: 3, solve: GR,
			jobs: []model.VCSchedJob{testkit.VCJob("a", 1, 0.5, 0), testkit.VCJob("b", 1, 0.25, 0), testkit.VCJob("c", 1, 0.5, 0), testkit.VCJob("d", 1, 0.125, 0), testkit.VCJob("e", 1, 0.25, 0)},
			want: []int32{0, 1, 2, 1, 1},
		},
		"gr: the next host when the least loaded has no memory": {
			hosts: 2, solve: GR,
			jobs: []model.VCSchedJob{testkit.VCJob("a", 1, 0.5, 0.25), testkit.VCJob("b", 1, 0.25, 0.75), testkit.VCJob("c", 1, 0.125, 0.5)},
			want: []int32{0, 1, 0},
		},
		"gr: fails where it spread the memory": {
			hosts: 2, solve: GR,
			jobs:    []model.VCSchedJob{testkit.VCJob("a", 1, 0.5, 0.25), testkit.VCJob("b", 1, 0.5, 0.5), testkit.VCJob("c", 1, 0.5, 1)},
			wantErr: "no host has the memory for task 2",
		},
		"sg: the largest memory first": {
			hosts: 2, solve: SG,
			jobs: []model.VCSchedJob{testkit.VCJob("a", 1, 0.5, 0.25), testkit.VCJob("b", 1, 0.5, 0.5), testkit.VCJob("c", 1, 0.5, 1)},
			want: []int32{1, 1, 0},
		},
		"sg: equals in the instance's order": {
			hosts: 2, solve: SG,
			jobs: []model.VCSchedJob{testkit.VCJob("a", 1, 0.125, 0.5), testkit.VCJob("b", 1, 0.25, 0.5), testkit.VCJob("c", 1, 0.5, 0.5)},
			want: []int32{0, 1, 0},
		},
		"gb: takes b back to make room for d": {
			hosts: 2, solve: GB,
			jobs: []model.VCSchedJob{testkit.VCJob("a", 1, 0.5, 0.25), testkit.VCJob("b", 1, 0.5, 0.25), testkit.VCJob("c", 1, 0.25, 0.25), testkit.VCJob("d", 1, 0.5, 1)},
			want: []int32{0, 0, 0, 1},
		},
		"gb: the tasks of a job are placed one by one": {
			hosts: 2, solve: GB,
			jobs: []model.VCSchedJob{testkit.VCJob("a", 3, 0.25, 0.25), testkit.VCJob("b", 1, 0.5, 1)},
			want: []int32{0, 0, 0, 1},
		},
		"gb: tries everything": {
			hosts: 2, solve: GB,
			jobs:    []model.VCSchedJob{testkit.VCJob("a", 1, 0.5, 0.75), testkit.VCJob("b", 1, 0.5, 0.75), testkit.VCJob("c", 1, 0.5, 0.75)},
			wantErr: "every placement was tried",
		},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			in := &model.VCSched{Hosts: c.hosts, Jobs: c.jobs}
			p, err := c.solve(context.Background(), in, model.Settings{})
			if c.wantErr != "" {
				require.Refused(t, "the error", err, model.ErrNoSolution, c.wantErr)
				return
			}
			require.OK(t, err)
			judge(t, in, p)
			if diff := cmp.Diff(c.want, p.TaskHosts()); diff != "" {
				t.Errorf("hosts (-want,+got)\n%s", diff)
			}
		})
	}
}

// Every task of GR goes to a host of least load that has the memory.
func TestGreedyRule(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for range require.Rounds(2000) {
		u := view.OfVCSched(testkit.GridVCSched(rng, 6, 20))
		for name, order := range map[string][]int32{"gr": instanceOrder(u), "sg": memoryOrder(u)} {
			hosts, err := greedy(context.Background(), u, order)
			if err != nil {
				continue
			}
			load, mem := make([]int64, u.Hosts), make([]int64, u.Hosts)
			for k, i := range order {
				if k > 0 && name == "sg" && u.Memory[i] > u.Memory[order[k-1]] {
					t.Fatalf("sg: task %d of memory %d after %d", i, u.Memory[i], u.Memory[order[k-1]])
				}
				for h := range load {
					if mem[h]+u.Memory[i] <= u.Classes[0].Cap[0] && load[h] < load[hosts[i]] {
						t.Fatalf("%s: task %d on host %d of load %d, host %d has %d", name, i, hosts[i], load[hosts[i]], h, load[h])
					}
				}
				load[hosts[i]] += u.CPU[i]
				mem[hosts[i]] += u.Memory[i]
			}
		}
	}
}

// Backtracking is GR (or SG) where that succeeds, and otherwise finds a
// placement if and only if there is one.
func TestBacktrackingIsComplete(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 1))
	same, saved, infeasible := 0, 0, 0
	for range 3000 { // a tenth of them, as short tests draw, is one-sided
		in := testkit.GridVCSched(rng, 3, 4)
		u := view.OfVCSched(in)
		if len(u.CPU) > 7 {
			continue
		}
		_, fits := oracle.Optimum(in)
		for name, order := range map[string][]int32{"gb": instanceOrder(u), "sgb": memoryOrder(u)} {
			want, err := greedy(context.Background(), u, order)
			got, err2 := backtrack(context.Background(), u, order, placementAttempts)
			switch {
			case (err2 == nil) != fits:
				t.Fatalf("%s: %v, but a placement exists: %v\n%+v", name, err2, fits, u)
			case err == nil:
				same++
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s isn't the greedy one (-want,+got)\n%s", name, diff)
				}
			case fits:
				saved++
			default:
				infeasible++
			}
		}
	}
	if same < 500 || saved < 20 || infeasible < 100 {
		t.Errorf("%d as greedy, %d saved, %d infeasible: the draw is one-sided", same, saved, infeasible)
	}
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	// The path is a0 b1 c0 c1 b0 c1 c0 d1 by hand, eight placements.
	u := view.OfVCSched((&model.VCSched{Hosts: 2, Jobs: []model.VCSchedJob{
		testkit.VCJob("a", 1, 0.5, 0.25), testkit.VCJob("b", 1, 0.5, 0.25), testkit.VCJob("c", 1, 0.25, 0.25), testkit.VCJob("d", 1, 0.5, 1)}}))
	if _, err := backtrack(context.Background(), u, instanceOrder(u), 8); err != nil {
		t.Errorf("8 attempts: %v", err)
	}
	require.Refused(t, "7 attempts", require.Err(backtrack(context.Background(), u, instanceOrder(u), 7)),
		model.ErrNoSolution, "")
	// 28 of the 29 tasks fit, in some 40 million ways.
	in := &model.VCSched{Hosts: 2, Jobs: []model.VCSchedJob{testkit.VCJob("a", 29, 0.5, 0.07)}}
	require.Refused(t, "SGB", require.Err(SGB(context.Background(), in, model.Settings{})), model.ErrNoSolution,
		"500000 placements were tried")
}
