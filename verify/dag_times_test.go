// SPDX-License-Identifier: MIT

package verify_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// two machines, a link between them, and tasks of the given lengths.
func chainDAG(edges []model.DAGEdge, costs ...float64) *model.DAG {
	d := &model.DAG{Machines: []model.Machine{{ID: "A"}, {ID: "B"}}, Edges: edges,
		Network: model.Network{Bandwidth: 1, Links: []model.Link{{ID: "l"}}, Routes: []model.Route{{From: "A", To: "B", Links: []string{"l"}}}}}
	for t, c := range costs {
		d.Tasks = append(d.Tasks, model.DAGTask{ID: fmt.Sprint(t), CostS: []float64{c, c}})
	}
	return d
}

// The tolerance depends on the events that meet and on their times, not on others.
func TestToleranceOfTimes(t *testing.T) {
	edge := func(from, to string, data float64) model.DAGEdge {
		return model.DAGEdge{From: from, To: to, Data: data}
	}
	send := func(from, to string, at float64) []model.TransferStart {
		return []model.TransferStart{{From: from, To: to, StartS: at}}
	}
	up := func(x float64, ulps int) float64 {
		for ; ulps > 0; ulps-- {
			x = math.Nextafter(x, math.Inf(1))
		}
		for ; ulps < 0; ulps++ {
			x = math.Nextafter(x, math.Inf(-1))
		}
		return x
	}
	type tasks = []model.TaskStart
	for name, c := range map[string]struct {
		d         *model.DAG
		tasks     tasks
		transfers []model.TransferStart
		want      []string
	}{
		// One task of 1e12 s made room for 1000 s everywhere.
		"1 s of overlap beside a task of 1e12 s": {chainDAG(nil, 1e12, 2, 2), tasks{{ID: "0", Machine: "A", StartS: 0}, {ID: "1", Machine: "B", StartS: 0}, {ID: "2", Machine: "B", StartS: 1}}, nil, []string{"machine_overlap 1"}},
		"short before a long one":                {chainDAG(nil, 2, 1e12), tasks{{ID: "0", Machine: "A", StartS: 0}, {ID: "1", Machine: "A", StartS: 1}}, nil, []string{"machine_overlap 1"}},
		"short amidst a long one":                {chainDAG(nil, 1e-3, 1e12), tasks{{ID: "0", Machine: "A", StartS: 10}, {ID: "1", Machine: "A", StartS: 0}}, nil, []string{"machine_overlap 10.001"}},
		"two amidst a long one": {chainDAG(nil, 10, 1, 1), tasks{{ID: "0", Machine: "A"}, {ID: "1", Machine: "A", StartS: 1}, {ID: "2", Machine: "A", StartS: 5}}, nil,
			[]string{"machine_overlap 2", "machine_overlap 5"}},
		"of the shorter, less than its 1e-9th": {chainDAG(nil, 1, 100), tasks{{ID: "0", Machine: "A", StartS: 0}, {ID: "1", Machine: "A", StartS: 1 - 0.9e-9}}, nil, nil},
		"of the shorter, more than its 1e-9th": {chainDAG(nil, 1, 100), tasks{{ID: "0", Machine: "A", StartS: 0}, {ID: "1", Machine: "A", StartS: 1 - 1.1e-9}}, nil, []string{"machine_overlap 1.1e-09"}},
		"length 0 amidst a task":               {chainDAG(nil, 0, 2), tasks{{ID: "0", Machine: "A", StartS: 1}, {ID: "1", Machine: "A", StartS: 0}}, nil, []string{"machine_overlap 1"}},
		"length 0 at a border":                 {chainDAG(nil, 0, 2, 2), tasks{{ID: "0", Machine: "A", StartS: 2}, {ID: "1", Machine: "A", StartS: 0}, {ID: "2", Machine: "A", StartS: 2}}, nil, nil},
		"length 0, within rounding":            {chainDAG(nil, 0, 0.1), tasks{{ID: "0", Machine: "A", StartS: up(0.1, -4)}, {ID: "1", Machine: "A", StartS: 0}}, nil, nil},
		"length 0, beyond rounding":            {chainDAG(nil, 0, 0.1), tasks{{ID: "0", Machine: "A", StartS: up(0.1, -6)}, {ID: "1", Machine: "A", StartS: 0}}, nil, []string{"machine_overlap 8.32667e-17"}},
		// Below 1 floats are half as far apart as above: it is the later time that counts.
		"length 0, just within rounding": {chainDAG(nil, 0, 1), tasks{{ID: "0", Machine: "A", StartS: up(1, -8)}, {ID: "1", Machine: "A", StartS: 0}}, nil, nil},
		// 2^40 + 0.1 is no float64: the next task starts where it can be written.
		"rounding of late times": {chainDAG(nil, 0.1, 0.1), tasks{{ID: "0", Machine: "A", StartS: 1 << 40}, {ID: "1", Machine: "A", StartS: 1<<40 + 0.1}}, nil, nil},
		"a start before 0":       {chainDAG(nil, 1e-3, 1e12), tasks{{ID: "0", Machine: "A", StartS: -1e-6}, {ID: "1", Machine: "B", StartS: 0}}, nil, []string{"invalid_start 1e-06"}},
		"data late for a short task, by a long way": {chainDAG([]model.DAGEdge{edge("0", "1", 1e9)}, 1, 1),
			tasks{{ID: "0", Machine: "A", StartS: 0}, {ID: "1", Machine: "B", StartS: 1e9}}, send("0", "1", 1), []string{"task_precedence 1"}},
		"data late for a long task, by a short way": {chainDAG([]model.DAGEdge{edge("0", "1", 1)}, 1, 1e12),
			tasks{{ID: "0", Machine: "A", StartS: 0}, {ID: "1", Machine: "B", StartS: 2 - 1e-6}}, send("0", "1", 1), []string{"task_precedence 1e-06"}},
		"late on the machine itself": {chainDAG([]model.DAGEdge{edge("0", "1", 1)}, 1e12, 1),
			tasks{{ID: "0", Machine: "A", StartS: 0}, {ID: "1", Machine: "A", StartS: 1e12 - 1}}, nil, []string{"machine_overlap 1", "task_precedence 1"}},
		"sent before a long task ends": {chainDAG([]model.DAGEdge{edge("0", "1", 1)}, 1e9, 1),
			tasks{{ID: "0", Machine: "A", StartS: 0}, {ID: "1", Machine: "B", StartS: 1e9 + 1}}, send("0", "1", 1e9-0.5), []string{"transfer_precedence 0.5"}},
		"sent before a short task ends, by a long way": {chainDAG([]model.DAGEdge{edge("0", "1", 1e9)}, 1, 1),
			tasks{{ID: "0", Machine: "A", StartS: 0}, {ID: "1", Machine: "B", StartS: 1e9 + 1}}, send("0", "1", 0.5), []string{"transfer_precedence 0.5"}},
		"by more than the largest number": {chainDAG([]model.DAGEdge{edge("0", "1", 1)}, 1, 1),
			tasks{{ID: "0", Machine: "A", StartS: 1e308}, {ID: "1", Machine: "A", StartS: -1e308}}, nil, []string{"invalid_start 1e+308", "task_precedence 1.79769e+308"}},
	} {
		for _, tr := range []model.TransferModel{model.TransferIdeal, model.TransferFair} {
			t.Run(name+", "+string(tr), func(t *testing.T) {
				d := *c.d
				d.TransferModel = tr
				r := judge(t, &d, &model.Schedule{Tasks: c.tasks, Transfers: c.transfers}, verify.Options{})
				require.Same(t, "violations", c.want, constraints(r))
			})
		}
	}
	// The arrival of a transfer that shares links may be off by twice as much.
	for tr, want := range map[model.TransferModel][]string{
		model.TransferIdeal: {"task_precedence 3.55271e-15"},
		model.TransferFair:  nil,
	} {
		d := chainDAG([]model.DAGEdge{edge("0", "1", 1)}, 1, 0)
		d.TransferModel = tr
		s := &model.Schedule{Tasks: tasks{{ID: "0", Machine: "A"}, {ID: "1", Machine: "B", StartS: up(2, -16)}}, Transfers: send("0", "1", 1)}
		require.Same(t, "roundings of transfers, "+string(tr), want, constraints(judge(t, d, s, verify.Options{})))
	}
}

// star is many transfers that start together on a star, each between machines of its own choice.
func star(transfers, machines int) (*model.DAG, *model.Schedule) {
	rng := rand.New(rand.NewPCG(1, 42))
	d := &model.DAG{TransferModel: model.TransferFair, Network: model.Network{Bandwidth: 1}}
	for m := range machines {
		id := fmt.Sprint(m)
		d.Machines = append(d.Machines, model.Machine{ID: id})
		d.Network.Links = append(d.Network.Links, model.Link{ID: id, Capacity: 1 + rng.Float64()})
		for n := range m {
			d.Network.Routes = append(d.Network.Routes, model.Route{From: fmt.Sprint(n), To: id, Links: []string{fmt.Sprint(n), id}})
		}
	}
	s := &model.Schedule{Tasks: []model.TaskStart{}, Transfers: []model.TransferStart{}}
	for e := range transfers {
		from := rng.IntN(machines)
		to := (from + 1 + rng.IntN(machines-1)) % machines
		for k, m := range []int{from, to} {
			id := fmt.Sprint(e, k)
			d.Tasks = append(d.Tasks, model.DAGTask{ID: id, CostS: make([]float64, machines)})
			s.Tasks = append(s.Tasks, model.TaskStart{ID: id, Machine: fmt.Sprint(m), StartS: 1e9 * float64(k)})
		}
		d.Edges = append(d.Edges, model.DAGEdge{From: fmt.Sprint(e, 0), To: fmt.Sprint(e, 1), Data: 1 + 50*rng.Float64()})
		s.Transfers = append(s.Transfers, model.TransferStart{From: fmt.Sprint(e, 0), To: fmt.Sprint(e, 1), StartS: rng.Float64() * float64(transfers)})
	}
	return d, s
}

// The arrivals and the judge of a result end with the context's error.
func TestJudgeStops(t *testing.T) {
	t.Parallel()
	d, s := star(300, 8)
	require.Refused(t, "arrivals",
		require.Err(verify.Arrivals(&testkit.StopAfter{Context: t.Context(), Looks: 100}, d, s)), context.Canceled, "")
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	require.Refused(t, "result", require.Err(verify.Result(ctx, d, model.Result{Solution: s}, verify.Options{})),
		context.DeadlineExceeded, "")
}

func BenchmarkVerifyStar(b *testing.B) {
	for _, n := range []int{1000, 10_000, 40_000} {
		b.Run(fmt.Sprintf("transfers=%d", n), func(b *testing.B) {
			d, s := star(n, 64)
			for b.Loop() {
				require.Feasible(verify.Verify(b.Context(), d, s, verify.Options{}))(b)
			}
		})
	}
}
