// SPDX-License-Identifier: MIT

package verify_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// large is an instance of about n items with a solution that the judge accepts, or nearly, and its evidence of every
// form.
func large(kind model.Kind, n int) (model.Instance, model.Solution, []model.Evidence) {
	rng := rand.New(rand.NewPCG(5, 5))
	var ids []string
	weights := make([]float64, n)
	times, prices := make([]int64, n), make([]float64, n)
	for k := range n {
		ids = append(ids, fmt.Sprint("x", k))
		weights[k], times[k], prices[k] = 1, int64(k), 1e-9
	}
	halves := &model.DualFunction{Name: "halves"}
	switch kind {
	case model.KindVCSched:
		in, p := &model.VCSched{Name: "large", Hosts: n / 10}, &model.Placement{}
		for k, id := range ids {
			in.Jobs = append(in.Jobs, model.VCSchedJob{ID: id, Tasks: 1, CPU: 0.05, Memory: 0.05 * rng.Float64()})
			p.Jobs = append(p.Jobs, model.JobPlacement{ID: id, Hosts: []int{k / 10}, CPU: []float64{0.05}})
		}
		return in, p, []model.Evidence{{Type: evidence.Sum, Resource: "memory", Scale: 1000}, {Type: evidence.Crowd, Count: 1, Scale: 1000},
			{Type: evidence.Clique, Elements: ids[:2000], Weights: weights[:2000], Scale: 1000},
			{Type: evidence.Filling, Resource: "cpu", Load: 1000, Function: halves, Scale: 1000},
			{Type: evidence.Patterns, Elements: ids, Weights: weights, Load: 500, Scale: 1e13}}
	case model.KindConsolidation:
		in, a := &model.Consolidation{Name: "large", Resources: []string{"cpu"}, Goal: model.GoalCost}, &model.Assignment{}
		for k := range n / 10 {
			in.Hosts = append(in.Hosts, model.ConsolidationHost{ID: fmt.Sprint("h", k), Capacity: []int64{10}, Price: 1, Labels: map[string]string{"zone": fmt.Sprint(k % 3)}})
		}
		for k, id := range ids {
			host := []string{fmt.Sprint("h", k/10)}
			in.Jobs = append(in.Jobs, model.ConsolidationJob{ID: id, Tasks: 1, Needs: []int64{1}, CurrentHosts: host})
			a.Jobs = append(a.Jobs, model.JobAssignment{ID: id, Hosts: host})
		}
		in.Rules = []model.PlacementRule{{ID: "apart", Type: model.RuleApart, Jobs: ids}, {ID: "zones", Type: model.RuleSpread, Domain: "zone", Jobs: ids, MaxSkew: 10}}
		return in, a, []model.Evidence{{Type: evidence.Cover, Resource: "cpu"}, {Type: evidence.Apart, Elements: []string{"apart"}}, {Type: evidence.Emptied}}
	case model.KindDAG:
		in, s := &model.DAG{Name: "large", TransferModel: model.TransferFair}, &model.Schedule{}
		in.Network.Bandwidth, in.Network.Links = 1, []model.Link{{ID: "l", Capacity: 1000}}
		const machines = 8
		for a := range machines {
			in.Machines = append(in.Machines, model.Machine{ID: fmt.Sprint("m", a), StartupS: float64(a)})
			for b := range a {
				in.Network.Routes = append(in.Network.Routes, model.Route{From: fmt.Sprint("m", a), To: fmt.Sprint("m", b), Links: []string{"l"}})
			}
		}
		for t, id := range ids {
			cost := make([]float64, machines)
			for m := range cost {
				cost[m] = 1
			}
			in.Tasks = append(in.Tasks, model.DAGTask{ID: id, CostS: cost})
			s.Tasks = append(s.Tasks, model.TaskStart{ID: id, Machine: fmt.Sprint("m", t%machines), StartS: float64(t / machines * 20)})
			for k := 1; k <= 3 && k <= t; k++ {
				in.Edges = append(in.Edges, model.DAGEdge{From: ids[t-k], To: id, Data: 0.001})
				s.Transfers = append(s.Transfers, model.TransferStart{From: ids[t-k], To: id, StartS: float64((t-k)/machines*20) + 1})
			}
		}
		return in, s, []model.Evidence{{Type: evidence.Path, Elements: ids}, {Type: evidence.Load, Weights: weights[:machines]},
			{Type: evidence.Interval, Window: []float64{0, 100}}}
	case model.KindReservation:
		in, b := &model.Reservation{Name: "large", PEs: 1 << 17}, &model.Bookings{Online: true}
		for k, id := range ids {
			x := float64(k)
			in.Requests = append(in.Requests, model.Request{ID: id, ArrivalS: x, ReadyS: x, DurationS: float64(10_000+rng.IntN(1000)) / 1000, DeadlineS: x + 20, PEs: 1 + rng.IntN(1000)})
			b.Bookings = append(b.Bookings, model.Booking{ID: id, StartS: x, PEs: model.PEList{{First: k % 100 * 1000, Last: k%100*1000 + in.Requests[k].PEs - 1}}})
		}
		windows := []model.EvidenceWindow{{From: 0, To: 1000}, {From: 1000, To: 2000, Function: halves}}
		return in, b, []model.Evidence{{Type: evidence.Areas}, {Type: evidence.Windows, Windows: windows},
			{Type: evidence.Prices, Parts: []model.Evidence{{Type: evidence.Prices, Elements: ids, Times: times[:10], Prices: prices[:9]}}}}
	case model.KindTVC:
		in, e := &model.TVC{Name: "large", FatTree: model.FatTree{K: 16, Slots: 8, LinkMbps: 1000}}, &model.Embeddings{}
		for k, id := range ids {
			at, server := float64(k/100), k%100*2
			in.Requests = append(in.Requests, model.TVCRequest{ID: id, VMs: 16, BandwidthMbps: 10, ArrivalS: at, DurationS: 1})
			e.Runs = append(e.Runs, model.Run[model.Embedding]{ID: id, Segments: []model.Segment[model.Embedding]{{StartS: at, EndS: at + 1,
				Place: model.Embedding{Switch: model.Switch{Layer: model.LayerEdge, Group: server / 64, Index: server / 8 % 8}, Servers: []model.ServerVMs{{Server: server, VMs: 8}, {Server: server + 1, VMs: 8}}}}}})
		}
		priced := func(name string) model.Evidence {
			return model.Evidence{Type: evidence.Prices, Resource: name, Times: times[:10], Prices: prices[:10]}
		}
		return in, e, []model.Evidence{{Type: evidence.Sum}, {Type: evidence.Prices, Parts: []model.Evidence{
			{Type: evidence.Prices, Elements: ids, Parts: []model.Evidence{priced("slots"), priced("links")}}}}}
	}
	in, e := &model.Batch{Name: "large", Processors: 1000, Tiers: 1}, &model.Execution{}
	for k, id := range ids {
		in.Jobs = append(in.Jobs, model.BatchJob{ID: id, RuntimeS: 1, Processes: 10})
		var list model.ProcessorList
		for p := range 10 {
			list = append(list, int32(k%100*10+p))
		}
		e.Runs = append(e.Runs, model.Run[model.BatchPlace]{ID: id, Segments: []model.Segment[model.BatchPlace]{{StartS: float64(k / 100), EndS: float64(k/100) + 1, Place: model.BatchPlace{Processors: list}}}})
	}
	return in, e, []model.Evidence{{Type: evidence.Sum}, {Type: evidence.Prices, Times: times[:20], Prices: prices[:19]}}
}

// The judge asks its context at least once for each 1024 items of every pass over them, and more often where an item
// takes long. When the context has ended, the judge stops no later than at the end of its current loops, and returns
// the context's error alone.
func TestJudgeIsInterruptible(t *testing.T) {
	t.Parallel()
	const n = 2500
	parts := 11
	if testing.Short() {
		parts = 3
	}
	stops := func(t *testing.T, parts, least int, judge func(context.Context) (verify.Report, error)) {
		t.Helper()
		whole := &testkit.StopAfter{Context: context.Background(), Looks: math.MaxInt}
		require.OK(t, require.Err(judge(whole)))
		asked := math.MaxInt - whole.Looks
		if asked < least {
			t.Errorf("it asks its context %d times, must be %d at least", asked, least)
		}
		var limits []int
		for limit := 0; limit < asked; limit += 1 + asked/parts {
			limits = append(limits, limit)
		}
		for limit := max(1, asked-parts/2); limit < asked; limit++ {
			limits = append(limits, limit)
		}
		for _, limit := range limits {
			c := &testkit.StopAfter{Context: context.Background(), Looks: limit}
			if r, err := judge(c); !errors.Is(err, context.Canceled) || len(r.Violations) > 0 || r.Checked != nil {
				t.Fatalf("asked %d of %d times, it returns %v, %v", limit, asked, r, err)
			}
			if -c.Looks > 12 {
				t.Fatalf("it goes on and asks %d times after its context has ended (of %d)", -c.Looks, asked)
			}
		}
	}
	contended, sent := star(300, 8)
	small, sentSmall := star(60, 5)
	reservation, bookings := drawLarge(1, 500, true, true)
	queue, embeddings := bigLog(500, true)
	tiers, execution := bigExecution(2000, 2)
	for name, c := range map[string]struct {
		in    model.Instance
		s     model.Solution
		o     verify.Options
		least int
	}{
		"contention":              {contended, sent, verify.Options{}, 600},
		"contention in fractions": {small, sentSmall, zeroTolerance, 130},
		"scattered bookings":      {reservation, bookings, verify.Options{}, 800},
		"a queue of clusters":     {queue, embeddings, verify.Options{}, 1500},
		"jobs on two tiers":       {tiers, execution, verify.Options{}, 5 * 2000 / 1024},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Feasible(verify.Verify(t.Context(), c.in, c.s, c.o))(t)
			stops(t, 20, c.least, func(ctx context.Context) (verify.Report, error) {
				return verify.Verify(ctx, c.in, c.s, c.o)
			})
		})
	}
	passes := map[model.Kind]int{model.KindVCSched: 3, model.KindDAG: 8, model.KindReservation: 6, model.KindTVC: 4, model.KindBatch: 5, model.KindConsolidation: 4}
	for _, kind := range model.Kinds() {
		in, s, all := large(kind, n)
		require.OK(t, in.Validate())
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			stops(t, parts, passes[kind]*n/1024, func(ctx context.Context) (verify.Report, error) {
				return verify.Verify(ctx, in, s, verify.Options{Valid: true})
			})
		})
		t.Run(string(kind)+"/result", func(t *testing.T) {
			t.Parallel()
			r := model.NewResult("x", 0)
			require.OK(t, r.SetSolution(in, s))
			bound, _ := require.Value(verify.Evidence(t.Context(), in, &all[0]))(t).Bound.Float64()
			if r.Bound, r.Evidence = bound, &all[0]; model.SenseOf(in) == model.Minimise {
				r.Bound = math.Nextafter(bound, 0)
			} else {
				r.Bound = math.Nextafter(bound, math.Inf(1))
			}
			r.Kind, r.Gap = in.Kind(), model.Gap(r.Objective, r.Bound)
			stops(t, parts, passes[kind]*n/1024, func(ctx context.Context) (verify.Report, error) {
				report, err := verify.Result(ctx, in, r, verify.Options{Valid: true})
				for _, v := range report.Violations {
					if v.Constraint == verify.WrongEvidence {
						t.Fatal(v)
					}
				}
				return verify.Report{}, err // a report on the solution alone may stand
			})
		})
		for _, e := range all {
			t.Run(fmt.Sprintf("%s/%s", kind, e.Type), func(t *testing.T) {
				t.Parallel()
				stops(t, parts, n/1024, func(ctx context.Context) (r verify.Report, err error) {
					_, err = verify.Evidence(ctx, in, &e)
					return r, err
				})
			})
		}
	}
}

// Functions without a context, Validate and Hash, aren't waited for.
func TestJudgeWaitsForNoValidate(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	in := &slow{began: make(chan bool), end: make(chan bool)}
	go func() {
		<-in.began
		cancel()
	}()
	require.Refused(t, "error", require.Err(verify.Verify(ctx, in, &model.Placement{}, verify.Options{})),
		context.Canceled, "")
	close(in.end)
}

// slow is an instance with a Validate that lasts until end is closed.
type slow struct {
	model.VCSched
	began, end chan bool
}

func (s *slow) Validate() error {
	close(s.began)
	<-s.end
	return nil
}
