// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/internal/run/cpu"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// workload draws jobs of the Feitelson model for 320 processors of one tier or two,
// with Tsafrir's estimates. Beyond 200,000 jobs it repeats them one after the other:
// the runtimes of a million sum to more than an instance may.
func workload(t testing.TB, tiers, jobs int, load float64) *view.Batch {
	spec := instances.NewBatchSpec()
	spec.Jobs, spec.Tiers, spec.Load, spec.Seed = min(jobs, 200_000), tiers, load, 1
	b := require.Value(spec.Generate())(t)
	ticks := view.OfBatch(b)
	span := ticks.Jobs[len(ticks.Jobs)-1].Submit
	for k := 0; len(ticks.Jobs) < jobs; k++ {
		j := ticks.Jobs[k]
		j.Submit += span
		ticks.Jobs = append(ticks.Jobs, j)
	}
	return ticks
}

// kth reads the log of KTH.
func kth(t testing.TB) *view.Batch {
	log := require.Value(instances.LoadLog(require.Data(t, "swf", "KTH-SP2-1996-2.1-cln.swf.gz"), instances.LogOptions{}))(t)
	spec := instances.NewBatchSpec()
	spec.Tiers, spec.Jobs = 1, 0
	b, _, err := instances.FromSWF(&spec, "kth", log, instances.SWFJobs{})
	require.OK(t, err)
	return view.OfBatch(b.(*model.Batch))
}

// simulate returns when each job starts, without names of processors.
func simulate(b testing.TB, t *view.Batch, order model.BatchOrder, by func(*machine) scheduler) *processors.Course {
	c := require.Value(online.BatchCourse(context.Background(), t, newPolicy(by, len(t.Jobs)), online.BatchOptions{Order: order}))(b)
	return c
}

// benched are the schedulers that are measured: first on one tier, then on two.
var benched = []struct {
	name   string
	tiers  int
	by     func(*machine) scheduler
	policy twoTierPolicy
}{
	{"fcfs", 1, newFCFS, twoTierPolicy{}}, {"sjf", 1, newSJF, twoTierPolicy{}}, {"easy", 1, newEASY, twoTierPolicy{}}, {"easy-sjbf", 1, newEASYSJBF, twoTierPolicy{}}, {"easy-saf", 1, newEASYSAF, twoTierPolicy{}},
	{"conservative", 1, newConservative, twoTierPolicy{}},
	{"keasy", 2, nil, twoTierPolicy{rule: killed}}, {"reasy", 2, nil, twoTierPolicy{rule: pinned}}, {"measy", 2, nil, twoTierPolicy{rule: migrated}},
	{"peasy", 2, nil, twoTierPolicy{lifted, true}},
}

// benchmark measures simulations alone, without an execution, by the schedulers with
// the given number of tiers, of the given names or of all.
func benchmark(b *testing.B, tiers int, t func() *view.Batch, names ...string) {
	for _, x := range benched {
		if x.tiers != tiers || len(names) > 0 && !slices.Contains(names, x.name) {
			continue
		}
		b.Run(x.name, func(b *testing.B) {
			t := t()
			b.ReportAllocs()
			b.ResetTimer()
			start := cpu.Time()
			for range b.N {
				if x.tiers == 1 {
					simulate(b, t, model.BatchOrderBatch, x.by)
					continue
				}
				s, err := newTwoTierScheduler(x.policy, model.Settings{})
				if err == nil {
					err = online.TwoTierCourse(context.Background(), t, s)
				}
				require.OK(b, err)
			}
			b.ReportMetric((cpu.Time()-start).Seconds()/float64(b.N), "cpu-sec/op")
		})
	}
}

// BenchmarkGrowth measures all schedulers at load 0.8.
func BenchmarkGrowth(b *testing.B) {
	for _, jobs := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			for _, tiers := range []int{1, 2} {
				benchmark(b, tiers, sync.OnceValue(func() *view.Batch { return workload(b, tiers, jobs, 0.8) }))
			}
		})
	}
}

// BenchmarkLoad measures 200,000 jobs.
func BenchmarkLoad(b *testing.B) {
	for _, load := range []float64{0.5, 0.6, 0.7, 0.8, 0.9, 0.95} {
		b.Run(fmt.Sprintf("load=%v", load), func(b *testing.B) {
			for _, tiers := range []int{1, 2} {
				benchmark(b, tiers, sync.OnceValue(func() *view.Batch { return workload(b, tiers, 200_000, load) }), "easy", "conservative", "measy")
			}
		})
	}
}

// BenchmarkKTH measures the log of KTH.
func BenchmarkKTH(b *testing.B) {
	benchmark(b, 1, sync.OnceValue(func() *view.Batch { return kth(b) }))
}

// onThousandNodes has the jobs ask for nodes of 1,000: some for GPUs, some for whole nodes, some for parts of them.
func onThousandNodes(t *view.Batch) *view.Batch {
	n := *t
	n.Nodes = &view.BatchNodes{Resources: []string{"cpu", "memory", "gpu"}, Capacity: [][]int64{{32, 128, 0}, {32, 512, 0}, {32, 256, 4}}, First: []int32{0, 700, 900, 1000}}
	for g := range n.Nodes.Capacity {
		for range n.Nodes.First[g+1] - n.Nodes.First[g] {
			n.Nodes.Group = append(n.Nodes.Group, int32(g))
		}
	}
	main, gpu := [][]int{{0, 1}}, [][]int{{2}}
	needs := []*view.NodeNeeds{{Each: []int64{4, 16, 1}, Alternatives: gpu}, {Each: []int64{32, 100, 0}, Spread: true, Alternatives: main}, {Each: []int64{32, 100, 0}, Spread: true, Alternatives: main},
		{Each: []int64{8, 16, 0}, Alternatives: main}, {Each: []int64{16, 64, 0}, Alternatives: main}}
	n.Processors, n.Jobs = 1000, slices.Clone(t.Jobs)
	for k := range n.Jobs {
		j := &n.Jobs[k]
		j.Needs = needs[k%len(needs)]
		j.Processes *= 3 // of 320 processors
		if k%len(needs) == 0 {
			j.Processes = max(1, j.Processes/10)
		}
		j.Processes = min(j.Processes, 850)
	}
	return &n
}

// BenchmarkNodes measures EASY on 1,000 nodes beside EASY on processors, at load 0.8 and with a queue that grows, and
// conservative backfilling.
func BenchmarkNodes(b *testing.B) {
	for _, x := range []struct {
		name string
		by   func(*machine) scheduler
		jobs int
		load float64
	}{{"easy", newEASY, 10_000, 0.8}, {"easy", newEASY, 30_000, 0.8}, {"easy", newEASY, 100_000, 0.8}, {"easy", newEASY, 10_000, 1.2}, {"easy", newEASY, 30_000, 1.2},
		{"conservative", newConservative, 3000, 0.8}, {"conservative", newConservative, 10_000, 0.8}} {
		t := workload(b, 1, x.jobs, x.load)
		for _, t := range []*view.Batch{t, onThousandNodes(t)} {
			on := "processors"
			if t.Nodes != nil {
				on = "nodes"
			}
			b.Run(fmt.Sprintf("%s/load=%v/jobs=%d/%s", x.name, x.load, x.jobs, on), func(b *testing.B) {
				b.ReportAllocs()
				start := cpu.Time()
				for b.Loop() {
					p := newPolicy(x.by, x.jobs)
					if t.Nodes != nil {
						p.nodes = t
					}
					require.OK(b, require.Err(online.BatchCourse(context.Background(), t, p, online.BatchOptions{})))
				}
				b.ReportMetric((cpu.Time()-start).Seconds()/float64(b.N), "cpu-sec/op")
			})
		}
	}
}
