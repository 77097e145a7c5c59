// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/run/cpu"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// large draws an instance with n jobs, tasks or requests, of a problem and one of its
// variants; nil if there is no such variant.
var large = map[model.Kind][]func(rng *rand.Rand, n int) model.Instance{
	model.KindVCSched: {func(rng *rand.Rand, n int) model.Instance {
		in := &model.VCSched{Name: "large", Hosts: n * 64 / 100}
		for k := range n {
			in.Jobs = append(in.Jobs, model.VCSchedJob{ID: fmt.Sprint(k), Tasks: 1, CPU: rng.Float64(), Memory: 0.8 * rng.Float64()})
		}
		return in
	}},
	model.KindConsolidation: {func(rng *rand.Rand, n int) model.Instance {
		in := &model.Consolidation{Name: "large", Resources: []string{"cpu", "memory"}}
		hosts := max(1, n/10)
		for k := range hosts {
			in.Hosts = append(in.Hosts, model.ConsolidationHost{ID: fmt.Sprint("h", k), Capacity: []int64{8000, 32000}, Price: 1, Labels: map[string]string{"zone": fmt.Sprint(k % 3)}})
		}
		for k := range n { // five of each job, which were placed without a look at rules
			if k%5 == 0 {
				in.Jobs = append(in.Jobs, model.ConsolidationJob{ID: fmt.Sprint(k), Needs: []int64{int64(50 + rng.IntN(500)), int64(100 + rng.IntN(3000))}})
				if rng.IntN(10) == 0 && k < 10_000 {
					in.Rules = append(in.Rules, model.PlacementRule{ID: fmt.Sprint(k), Type: model.RuleSpread, Domain: "zone", Jobs: []string{fmt.Sprint(k)}, MaxSkew: 1})
				}
			}
			j := &in.Jobs[len(in.Jobs)-1]
			j.Tasks++
			j.CurrentHosts = append(j.CurrentHosts, fmt.Sprint("h", k/10%hosts))
		}
		return in
	}},
	model.KindReservation: {func(rng *rand.Rand, n int) model.Instance {
		in := &model.Reservation{Name: "large", PEs: 512}
		for k := range n {
			d, at := float64(1+rng.IntN(20_000)), float64(10*k)
			in.Requests = append(in.Requests, model.Request{ID: fmt.Sprint(k), ArrivalS: at, ReadyS: at, DurationS: d,
				DeadlineS: at + d + float64(rng.IntN(50_000)), PEs: 1 + rng.IntN(64)})
		}
		return in
	}},
	model.KindBatch: {largeBatch(1), largeBatch(2)},
	model.KindTVC:   {largeTVC(false), largeTVC(true)},
	model.KindDAG:   {largeDAG(model.TransferIdeal), largeDAG(model.TransferFair)},
}

func largeBatch(tiers int) func(*rand.Rand, int) model.Instance {
	return func(rng *rand.Rand, n int) model.Instance {
		in := &model.Batch{Name: "large", Processors: 512, Tiers: tiers}
		for k := range n {
			j := model.BatchJob{ID: fmt.Sprint(k), SubmitS: float64(20 * k), RuntimeS: float64(1 + rng.IntN(1500)), Processes: 1 + rng.IntN(16)}
			if tiers == 2 {
				j.FgLoss, j.BgEfficiency = 0.01, 0.5
				for range j.Processes {
					j.CPU = append(j.CPU, float64(1+rng.IntN(100))/100)
				}
			}
			in.Jobs = append(in.Jobs, j)
		}
		return in
	}
}

func largeTVC(queue bool) func(*rand.Rand, int) model.Instance {
	return func(rng *rand.Rand, n int) model.Instance {
		in := &model.TVC{Name: "large", Queue: queue, FatTree: model.FatTree{K: 16, Slots: 8, LinkMbps: 1000}}
		for k := range n {
			in.Requests = append(in.Requests, model.TVCRequest{ID: fmt.Sprint(k), ArrivalS: float64(k), VMs: 1 + rng.IntN(100),
				BandwidthMbps: float64(10 + rng.IntN(90)), DurationS: float64(10 + rng.IntN(1000))})
		}
		return in
	}
}

func largeDAG(transfers model.TransferModel) func(*rand.Rand, int) model.Instance {
	return func(rng *rand.Rand, n int) model.Instance {
		in := &model.DAG{Name: "large", TransferModel: transfers, Network: model.Network{Bandwidth: 1, Links: []model.Link{{ID: "b", Capacity: 1}}}}
		for m := range 4 {
			in.Machines = append(in.Machines, model.Machine{ID: fmt.Sprint("P", m)})
			if m > 0 {
				in.Network.Routes = append(in.Network.Routes, model.Route{From: "P0", To: fmt.Sprint("P", m), Links: []string{"b"}})
			}
		}
		for k := range n {
			task := model.DAGTask{ID: fmt.Sprint(k)}
			for range in.Machines {
				task.CostS = append(task.CostS, float64(1+rng.IntN(100)))
			}
			in.Tasks = append(in.Tasks, task)
			if k == 0 {
				continue
			}
			low := max(0, k-1000)
			from := low + rng.IntN(k-low)
			in.Edges = append(in.Edges, model.DAGEdge{From: fmt.Sprint(from), To: task.ID, Data: float64(1 + rng.IntN(50))})
			if from > low {
				in.Edges = append(in.Edges, model.DAGEdge{From: fmt.Sprint(low + rng.IntN(from-low)), To: task.ID, Data: 1})
			}
		}
		return in
	}
}

// The contract of model.Solver for time, on every problem. There is a solution within a tenth of the limit or a second.
// The result comes within the limit, a tenth of it and half a second, plus the judge's time; and within a second when
// the context is cancelled. It counts the CPU time of this process, so other work on the machine doesn't disturb it; it
// has half as much again for the garbage collector. No other test runs meanwhile. Beyond 10^5 a solver that doesn't
// return is left behind, as by the command.
func TestLimits(t *testing.T) {
	slack := func(d time.Duration) time.Duration { return d + d/2 + 200*time.Millisecond }
	for _, p := range gapwise.Problems() {
		if len(large[p.Kind]) == 0 {
			t.Errorf("%s: there is no large instance", p.Kind)
		}
		for variant, draw := range large[p.Kind] {
			sizes := []int{1000, 10_000}
			switch {
			case require.Night(): // all four sizes of each problem
				sizes = [][]int{{1000, 1_000_000}, {10_000, 100_000}}[variant%2]
			case !testing.Short():
				sizes = [][]int{{1000, 100_000}, {10_000}}[variant%2]
			}
			for _, n := range sizes {
				t.Run(fmt.Sprintf("%s/%d/%d", p.Kind, variant, n), func(t *testing.T) {
					limit := time.Second
					if n > 10_000 {
						limit *= 2
					}
					in := draw(rand.New(rand.NewPCG(uint64(n), 23)), n)
					c := gapwise.NewCase(in)
					require.OK(t, c.Validate())
					require.OK(t, require.Err(c.Hash()))
					solve := func(ctx context.Context, told func()) (r model.Result, first, spent time.Duration) {
						began := cpu.Time()
						o := gapwise.Options{Settings: model.Settings{Seed: 1, TimeLimit: limit}}
						if n > 100_000 {
							o.Patience = 300 * time.Millisecond
						}
						o.Progress = func(p model.Progress) {
							if p.Solution != nil && first == 0 {
								first = cpu.Time() - began
								told()
							}
						}
						r = require.Value(c.Solve(ctx, o))(t)
						return r, first, cpu.Time() - began
					}
					r, first, spent := solve(t.Context(), func() {})
					if most := slack(max(limit/10, time.Second, time.Duration(n)*3/2*time.Microsecond)); first == 0 || first > most {
						t.Errorf("the first solution came after %v of CPU time, the most is %v", first, most)
					}
					threads := time.Duration(1)
					if n > 100_000 { // the solver that is left behind goes on
						threads = 2
					}
					most, judged := threads*(limit+limit/10+time.Second/2), time.Duration(0)
					if spent > slack(most) { // is it the judge's?
						judged = judges(t, in, r)
					}
					if most = slack(most + judged); r.Solution == nil || r.Unverified || spent > most {
						t.Errorf("%v of CPU time with a limit of %v, the most is %v (%v for the judge): %s", spent, limit, most, judged, r.Reason)
					}
					// Cancelled after the first solution, in the middle of whatever comes next.
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					var at time.Duration
					r, _, _ = solve(ctx, func() { cancel(); at = cpu.Time() })
					if late, most := cpu.Time()-at, slack(threads*time.Second); r.Solution == nil || late > most {
						t.Errorf("%v of CPU time after the end of the context, the most is %v: %s", late, most, r.Reason)
					}
					t.Logf("first %.2f s, all %.2f s, judge %.2f s, cancelled %.2f s; gap %.3g", first.Seconds(), spent.Seconds(), judged.Seconds(), (cpu.Time() - at).Seconds(), r.Gap)
				})
			}
		}
	}
}

// judges returns how much CPU time the judge has in a solve: the evidence is recomputed
// when it is chosen, too.
func judges(t *testing.T, in model.Instance, r model.Result) time.Duration {
	t.Helper()
	began := cpu.Time()
	report, err := verify.Result(t.Context(), in, r, verify.Options{Valid: true})
	if err != nil || report.Err() != nil {
		t.Fatal(err, report.Err())
	}
	return 2 * (cpu.Time() - began)
}

// Each algorithm keeps the time limit at a size at which none of the slow ones ends.
func TestLimitsOfAlgorithms(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute")
	}
	const n, limit = 30_000, 300 * time.Millisecond
	for _, p := range gapwise.Problems() {
		for variant, draw := range large[p.Kind] {
			in := draw(rand.New(rand.NewPCG(n, 23)), n)
			c := gapwise.NewCase(in)
			require.OK(t, require.Err(c.Hash()))
			for _, a := range p.Algorithms {
				t.Run(fmt.Sprintf("%s/%d/%s", p.Kind, variant, a.Name), func(t *testing.T) {
					began := cpu.Time()
					r, err := a.Solver.Solve(t.Context(), in, model.Settings{Seed: 1, TimeLimit: limit})
					spent := cpu.Time() - began
					if errors.Is(err, model.ErrUnsupported) {
						t.Skip(err)
					}
					require.OK(t, err)
					// The time also covers steps of linear time and the garbage collector.
					if most := limit + limit/2 + 500*time.Millisecond; spent > most {
						t.Errorf("%v of CPU time with a limit of %v, the most is %v: %s %s", spent, limit, most, r.Status, r.Reason)
					}
				})
			}
		}
	}
}
