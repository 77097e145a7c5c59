// SPDX-License-Identifier: MIT

package placement

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

func TestRaiseAverageByHand(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		hosts int
		jobs  []model.VCSchedJob
		at    []int32
		want  [][]float64 // shares
	}{
		// Host 0 has load 1.6: yield 5/8, all CPU used. Host 1: 5/16 + 7/16
		// are used, a needs 3/16 more, b gets the last 1/16.
		"the smallest need first": {
			hosts: 2, at: []int32{1, 1, 0, 0},
			jobs: []model.VCSchedJob{testkit.VCJob("b", 1, 0.7, 0), testkit.VCJob("a", 1, 0.5, 0), testkit.VCJob("c", 1, 0.8, 0), testkit.VCJob("d", 1, 0.8, 0)},
			want: [][]float64{{0.5}, {0.5}, {0.5}, {0.5}},
		},
		"everyone gets all": {
			hosts: 1, at: []int32{0, 0},
			jobs: []model.VCSchedJob{testkit.VCJob("a", 1, 0.25, 0), testkit.VCJob("b", 1, 0.75, 0)},
			want: [][]float64{{0.25}, {0.75}},
		},
		"nothing to give": {
			hosts: 1, at: []int32{0, 0},
			jobs: []model.VCSchedJob{testkit.VCJob("a", 1, 1, 0), testkit.VCJob("b", 1, 0.25, 0)},
			want: [][]float64{{0.8}, {0.2}},
		},
		// Host 0 has load 1.5, so yield 2/3 and no CPU left: the task of a on
		// host 1 gets no more than its sister, though its need is the smallest.
		"a parallel job is held by its fullest host": {
			hosts: 2, at: []int32{0, 1, 0, 1},
			jobs: []model.VCSchedJob{testkit.VCJob("a", 2, 0.5, 0), testkit.VCJob("b", 1, 1, 0), testkit.VCJob("c", 1, 0.6, 0)},
			want: [][]float64{{1. / 3, 1. / 3}, {2. / 3}, {0.6}},
		},
		// Host 2 has load 2, so yield 1/2, and 3/8 are left on hosts 0 and 1. Lifting a to 1 takes 1/8 of each, for 1/2
		// of yield; b and c, which would make 1/4 of the same, then get the rest.
		"a parallel job takes from each host": {
			hosts: 3, at: []int32{0, 1, 0, 1, 2, 2},
			jobs: []model.VCSchedJob{testkit.VCJob("a", 2, 0.25, 0), testkit.VCJob("b", 1, 1, 0), testkit.VCJob("c", 1, 1, 0), testkit.VCJob("d", 2, 1, 0)},
			want: [][]float64{{0.25, 0.25}, {0.75}, {0.75}, {0.5, 0.5}},
		},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			in := &model.VCSched{Hosts: c.hosts, Jobs: c.jobs}
			p := require.Value(RaiseAverage(context.Background(), in, in.NewPlacement(c.at, in.Yield(c.at))))(t)
			judge(t, in, p)
			var got [][]float64
			for i := range p.Jobs {
				got = append(got, p.Jobs[i].CPU)
			}
			require.Same(t, "shares", c.want, got, cmpopts.EquateApprox(0, 1e-6))
		})
	}
}

// averageByLP is the paper's linear program (section 3.5, for parallel jobs
// with section 5.1's rows): a share for each task, equal within a job.
func averageByLP(t *rapid.T, in *model.VCSched, hosts []int32, lowest float64) float64 {
	m := &milp.Model{Maximise: true}
	cpu := make([][]milp.Term, in.Hosts)
	k := 0
	for i := range in.Jobs {
		j := &in.Jobs[i]
		for n := range j.Tasks {
			x := m.AddVar(milp.Var{Lower: lowest * j.CPU, Upper: j.CPU, Cost: 1 / (j.CPU * float64(j.Tasks*len(in.Jobs)))})
			if n > 0 {
				m.AddRow("", 0, 0, milp.Term{Var: x, Coef: 1}, milp.Term{Var: x - 1, Coef: -1})
			}
			cpu[hosts[k]] = append(cpu[hosts[k]], milp.Term{Var: x, Coef: 1})
			k++
		}
	}
	for h := range cpu {
		m.AddRow(fmt.Sprint("host", h), math.Inf(-1), 1, cpu[h]...)
	}
	r, err := highs.Solve(context.Background(), m, milp.Options{})
	if err != nil || r.Status != milp.Optimal {
		t.Fatalf("%v %v", r.Status, err)
	}
	return r.Objective
}

// The second phase reaches the optimum of the linear program, for sequential jobs by only the greedy rule. It gives no
// job less than the minimum yield, and takes no more from a host than its CPU.
func TestRaiseAverageIsOptimal(t *testing.T) {
	require.HiGHS(t)
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := testkit.GridVCSched(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "instance"), 1)), 5, 12)
		if rapid.Bool().Draw(t, "sequential") {
			for i := range in.Jobs {
				in.Jobs[i].Tasks = 1
			}
		}
		for i := range in.Jobs {
			in.Jobs[i].Memory = 0
		}
		hosts := make([]int32, in.Tasks())
		for k := range hosts {
			hosts[k] = int32(rapid.IntRange(0, in.Hosts-1).Draw(t, "host"))
		}
		lowest := in.Yield(hosts)
		p := require.Value(RaiseAverage(context.Background(), in, in.NewPlacement(hosts, lowest)))(t)
		judge(t, in, p)
		if diff := cmp.Diff(hosts, p.TaskHosts()); diff != "" {
			t.Fatalf("hosts moved (-want,+got)\n%s", diff)
		}
		o, err := in.Objective(p)
		if err != nil || o.Value < lowest*(1-1e-15) {
			t.Fatalf("minimum yield %v after %v, %v", o.Value, lowest, err)
		}
		if want := averageByLP(t, in, hosts, lowest); math.Abs(o.Second-want) > 1e-6 {
			t.Fatalf("average yield %.12g, the linear program has %.12g", o.Second, want)
		}
		load := make([]float64, in.Hosts)
		for i := range p.Jobs {
			for k, h := range p.Jobs[i].Hosts {
				if p.Jobs[i].CPU[k] > in.Jobs[i].CPU {
					t.Fatalf("job %d gets %v of %v", i, p.Jobs[i].CPU[k], in.Jobs[i].CPU)
				}
				load[h] += p.Jobs[i].CPU[k]
			}
		}
		for h := range load {
			if load[h] > 1+1e-12 {
				t.Fatalf("host %d gives %.17g", h, load[h])
			}
		}
	})
}

// The two ways of the second phase agree if both apply; instances are large enough for the noise of the linear program
// to show.
func TestRaiseAverageBothWays(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for range 5 {
		in := require.Value(instances.VCSchedSpec{Hosts: 16, Jobs: 120, Slack: 0.3, CoVCPU: 0.75, CoVMemory: 0.75, MaxTasks: 1, Seed: 1}.Generate())(t)
		hosts := make([]int32, len(in.Jobs))
		for k := range hosts {
			hosts[k] = int32(rng.IntN(in.Hosts))
		}
		lowest := in.Yield(hosts)
		byLP := require.Value(raiseByLP(context.Background(), in, hosts, lowest))(t)
		a := require.Value(in.Objective(RaiseGreedily(in, hosts, lowest)))(t)
		b, err := in.Objective(byLP)
		if err != nil || math.Abs(a.Second-b.Second) > 1e-6 || math.Abs(a.Value-b.Value) > 1e-12 {
			t.Errorf("greedy %+v, linear program %+v (%v)", a, b, err)
		}
	}
}

// The excess by a solver's tolerance is taken back to the last bit, and no more.
func TestRepair(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 1))
	for range require.Rounds(2000) {
		in := testkit.GridVCSched(rng, 4, 10)
		hosts := make([]int32, in.Tasks())
		for k := range hosts {
			hosts[k] = int32(rng.IntN(in.Hosts))
		}
		lowest := in.Yield(hosts)
		clean := require.Value(raiseByLP(context.Background(), in, hosts, lowest))(t)
		const noise = 1e-6
		yields := make([]float64, len(in.Jobs))
		for i := range yields {
			yields[i] = clean.Jobs[i].CPU[0]/in.Jobs[i].CPU + noise*(2*rng.Float64()-1)
		}
		p := repair(in, hosts, lowest, jobLoads(in, hosts), yields)
		load := make([]float64, in.Hosts)
		for i := range p.Jobs {
			for k, h := range p.Jobs[i].Hosts {
				x, most := p.Jobs[i].CPU[k], in.Jobs[i].CPU
				if x > most || x < lowest*most*(1-1e-15) || x != p.Jobs[i].CPU[0] {
					t.Fatalf("job %d gets the shares %v of %v, the lowest yield is %v", i, p.Jobs[i].CPU, most, lowest)
				}
				load[h] += x
			}
		}
		for h := range load {
			if load[h] > 1+1e-12 {
				t.Fatalf("host %d gives %.17g", h, load[h])
			}
		}
		a := require.Value(in.Objective(clean))(t)
		b, err := in.Objective(p)
		if err != nil || b.Second < a.Second-200*noise {
			t.Fatalf("the average fell from %v to %v (%v)", a.Second, b.Second, err)
		}
	}
}

// A small linear program gets the time that it needs even if the context has ended.
func TestRaiseAverageAfterContext(t *testing.T) {
	t.Parallel()
	in := &model.VCSched{Hosts: 2, Jobs: []model.VCSchedJob{testkit.VCJob("a", 2, 0.5, 0), testkit.VCJob("b", 1, 1, 0), testkit.VCJob("c", 1, 0.6, 0)}}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	hosts := []int32{0, 1, 0, 1}
	p := require.Value(RaiseAverage(ctx, in, in.NewPlacement(hosts, in.Yield(hosts))))(t)
	// The minimum is kept; on a slow machine the average may stay there, too.
	r := judge(t, in, p)
	if math.Abs(r.Objective-2./3) > 1e-12 || r.Second < 2./3-1e-12 || r.Second > 7./9+1e-9 {
		t.Errorf("yields %v and %v, want 2/3 and from 2/3 to 7/9", r.Objective, r.Second)
	}
}

// judge fails the test unless the placement passes the judge, and returns its report.
func judge(t require.T, in *model.VCSched, p *model.Placement) verify.Report {
	r := require.Feasible(verify.Verify(context.Background(), in, p, verify.Options{}))(t, in)
	return r
}
