// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

func TestDraw(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	p := []float64{0, 0.1, 0, 0.3, 0}
	const n = 40_000
	var times [5]int
	for range n {
		times[draw(rng, p, 0.4)]++
	}
	// Five standard deviations of a binomial distribution; the seed is fixed.
	far := 5 * math.Sqrt(n*0.25*0.75)
	if times[0]+times[2]+times[4] > 0 || math.Abs(float64(times[1])-n/4) > far {
		t.Errorf("drawn %v times, want 1 and 3 only, 3 three times as often", times)
	}
	// A sum that rounding left too large must not lead past the end.
	for range 1000 {
		if h := draw(rng, p, 0.8); h != 1 && h != 3 {
			t.Fatalf("drew %d, of probability 0", h)
		}
	}
}

// RRND uses only hosts with a positive e in the relaxation, RRNZ any. Thanks to the ε it succeeds at least where RRND
// does most of the time, and on some instances where RRND fails for every seed.
func TestRounding(t *testing.T) {
	require.HiGHS(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 1))
	rrnd, rrnz, outside := 0, 0, 0
	for range max(50, require.Rounds(150)) { // in fewer no task is outside
		in := testkit.GridVCSched(rng, 4, 10)
		f := require.Value(vcbounds.Build(in, "parallel"))(t)
		r := require.Value(highs.Solve(context.Background(), &f.Model, milp.Options{Relax: true}))(t)
		for seed := range uint64(3) {
			p, err := RRND(context.Background(), in, model.Settings{Seed: seed})
			if err == nil {
				rrnd++
				for k, h := range p.TaskHosts() {
					if r.X[f.E[k]+int(h)] < 1e-9 {
						t.Fatalf("task %d is on host %d, where the relaxation has %v", k, h, r.X[f.E[k]+int(h)])
					}
				}
			}
			q, err := RRNZ(context.Background(), in, model.Settings{Seed: seed})
			if err == nil {
				rrnz++
				for k, h := range q.TaskHosts() {
					if r.X[f.E[k]+int(h)] < 1e-9 {
						outside++
					}
				}
			}
		}
	}
	if rrnd == 0 || rrnz < rrnd || outside == 0 {
		t.Errorf("rrnd solved %d, rrnz %d with %d tasks on hosts that the relaxation doesn't use", rrnd, rrnz, outside)
	}
}

func TestRoundingSeeds(t *testing.T) {
	require.HiGHS(t)
	t.Parallel()
	in := drawn(t, spec(8, 30, 1))
	first := require.Value(RRNZ(context.Background(), in, model.Settings{Seed: 1}))(t)
	for seed := uint64(2); seed < 12; seed++ {
		if p, err := RRNZ(context.Background(), in, model.Settings{Seed: seed}); err == nil && !slices.Equal(p.TaskHosts(), first.TaskHosts()) {
			return
		}
	}
	t.Error("ten other seeds gave the same placement")
}

func TestRoundingErrors(t *testing.T) {
	require.HiGHS(t)
	t.Parallel()
	tests := map[string]struct {
		in       *model.VCSched
		want     error
		wantText string
	}{
		"more memory than there is": {
			in:   &model.VCSched{Hosts: 1, Jobs: []model.VCSchedJob{testkit.VCJob("a", 3, 1, 0.5)}},
			want: model.ErrNoSolution, wantText: "infeasible",
		},
		"more memory than many equal hosts have": {
			in:   &model.VCSched{Hosts: 1000, Jobs: []model.VCSchedJob{testkit.VCJob("a", 2001, 1, 0.5)}},
			want: model.ErrNoSolution, wantText: "infeasible",
		},
		"a relaxation that would not fit in memory": {
			in: &model.VCSched{Hosts: 10_000, Jobs: []model.VCSchedJob{testkit.VCJob("a", 100_000, 0.5, 0.05)},
				HostSizes: []model.HostSize{{Count: 1, CPU: 2, Memory: 1}, {Count: 9999, CPU: 1, Memory: 1}}},
			want: model.ErrUnsupported, wantText: "2000000001 variables",
		},
	}
	for name, c := range tests {
		for _, solve := range []algorithm{RRND, RRNZ} {
			p, err := solve(context.Background(), c.in, model.Settings{})
			if p != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.wantText) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v, want %v in one line with %q", name, err, c.want, c.wantText)
			}
		}
	}
}

// The solution for equal hosts is one of the linear relaxation, and has its value.
func TestEvenly(t *testing.T) {
	require.HiGHS(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(17, 1))
	solved, infeasible := 0, 0
	for range max(200, require.Rounds(600)) {
		in := testkit.GridVCSched(rng, 6, 14)
		u := view.OfVCSched(in)
		if !plain(u) {
			t.Fatal("the hosts aren't equal ones with memory alone")
		}
		f := require.Value(vcbounds.Build(in, "parallel"))(t)
		r := require.Value(highs.Solve(context.Background(), &f.Model, milp.Options{Relax: true}))(t)
		shares, err := evenly(context.Background(), u)
		if (err != nil) != (r.Status == milp.Infeasible) {
			t.Fatalf("%v, HiGHS has %v", err, r.Status)
		}
		if err != nil {
			infeasible++
			continue
		}
		solved++
		load, memory, parts := make([]float64, in.Hosts), make([]float64, in.Hosts), 0
		for i, of := range shares {
			sum := 0.0
			for _, x := range of {
				load[x.host] += x.part * float64(u.CPU[i]) / float64(u.Scale)
				memory[x.host] += x.part * float64(u.Memory[i])
				sum += x.part
			}
			if parts += len(of); math.Abs(sum-1) > 1e-9 {
				t.Fatalf("the parts of task %d sum to %v", i, sum)
			}
		}
		if yield := min(1, 1/slices.Max(load)); math.Abs(yield-r.Objective) > 1e-6 {
			t.Fatalf("the yield is %v, by HiGHS %v", yield, r.Objective)
		}
		if most := slices.Max(memory) / float64(u.Classes[0].Cap[0]); most > 1+1e-6 {
			t.Fatalf("a host has %v of its memory", most)
		}
		if parts > len(shares)+2*in.Hosts {
			t.Fatalf("%d tasks have %d parts on %d hosts", len(shares), parts, in.Hosts)
		}
	}
	if solved < 50 || infeasible < 5 {
		t.Errorf("%d solved, %d infeasible", solved, infeasible)
	}
}

// A relaxation that is too large for HiGHS is rounded on equal hosts, without it, to a yield not far from the bound.
func TestRoundingLarge(t *testing.T) {
	t.Parallel()
	in := drawn(t, spec(100, 1000, 1))
	p := require.Value(RRNZ(context.Background(), in, model.Settings{Seed: 1}))(t)
	if got, bound := in.Yield(p.TaskHosts()), vcbounds.ClosedForm(in).Value; got < 0.5*bound {
		t.Errorf("the yield is %v, the bound %v", got, bound)
	}
}
