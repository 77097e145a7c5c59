// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// onPaperPlatform puts d on the paper's platform (Figure 5): P1 and P3 share a
// link to P2.
func onPaperPlatform(d *model.DAG, transfer model.TransferModel) *model.DAG {
	d.TransferModel = transfer
	d.Network.Links = []model.Link{{ID: "b"}}
	d.Network.Routes = []model.Route{{From: "P1", To: "P2", Links: []string{"b"}}, {From: "P3", To: "P2", Links: []string{"b"}}}
	return d
}

func sixTasks(transfer model.TransferModel) *model.DAG {
	return onPaperPlatform(testkit.SixTasks(), transfer)
}

func tenTasks(transfer model.TransferModel) *model.DAG {
	return onPaperPlatform(testkit.TenTasks(), transfer)
}

// twoPools makes transfers into P2 and out of it share links of their own.
func twoPools(d *model.DAG) *model.DAG {
	d.Network.Links = []model.Link{{ID: "in"}, {ID: "out"}}
	d.Network.Routes = nil
	for _, p := range []string{"P1", "P3"} {
		d.Network.Routes = append(d.Network.Routes, model.Route{From: p, To: "P2", Links: []string{"in"}, OneWay: true},
			model.Route{From: "P2", To: p, Links: []string{"out"}, OneWay: true})
	}
	return d
}

func makespan(t *testing.T, d *model.DAG, solve detailed) (float64, *model.Schedule, []model.Round) {
	t.Helper()
	s, trace, err := solve(context.Background(), d, model.Settings{Seed: 1})
	require.OK(t, err)
	o := require.Value(d.Objective(s))(t)
	return o.Value, s, trace
}

func TestSixTasks(t *testing.T) {
	t.Parallel()
	_, s, _ := makespan(t, sixTasks(model.TransferIdeal), solvers["heft"])
	var where []string
	for _, x := range s.Tasks {
		where = append(where, x.Machine)
	}
	if got, want := strings.Join(where, " "), "P1 P3 P1 P3 P2 P2"; got != want {
		t.Errorf("machines %s, want %s", got, want)
	}
	for transfer, want := range map[model.TransferModel]float64{
		model.TransferIdeal: 25, model.TransferFair: 32, model.TransferTCP: 413. / 12} {
		got, _, trace := makespan(t, sixTasks(transfer), solvers["heft"])
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: makespan %v, want %v", transfer, got, want)
		}
		if transfer != model.TransferIdeal && (len(trace) != 1 || trace[0].Planned != 25 || trace[0].Realistic != got) {
			t.Errorf("%s: trace %+v", transfer, trace)
		}
	}
	// All contending transfers go into P2: a further link out of it changes nothing.
	if got, _, _ := makespan(t, twoPools(sixTasks(model.TransferFair)), solvers["heft"]); got != 32 {
		t.Errorf("two pools: %v, want 32", got)
	}
}

func TestTenTasks(t *testing.T) {
	t.Parallel()
	if got, _, _ := makespan(t, tenTasks(model.TransferIdeal), solvers["heft"]); got != 80 {
		t.Errorf("HEFT %v, want 80", got)
	}
	if got, _, _ := makespan(t, tenTasks(model.TransferIdeal), solvers["cpop"]); got != 86 {
		t.Errorf("CPOP %v, want 86", got)
	}
}

// onOneLink is two tasks, one after the other, each quick on one machine only.
func onOneLink(transfer model.TransferModel) *model.DAG {
	d := testkit.DAG([][]float64{{3, 9}, {9, 3}}, [][3]float64{{1, 2, 5.5}})
	d.TransferModel = transfer
	d.Network.Links = []model.Link{{ID: "b"}}
	d.Network.Routes = []model.Route{{From: "P1", To: "P2", Links: []string{"b"}}}
	return d
}

// A plan's own length of an edge (Eq. 6, under tcp-all Eq. 11) decides: 5.5 across the link end at 11.5, 5.5/0.75 at
// 13.33, and 12 on one machine.
func TestPlannedLengths(t *testing.T) {
	t.Parallel()
	for transfer, want := range map[model.TransferModel][2]float64{ // planned and realised
		model.TransferIdeal: {11.5, 11.5}, model.TransferFair: {11.5, 11.5}, model.TransferTCP: {11.5, 3 + 5.5/0.75 + 3}, model.TransferTCPAll: {12, 12}} {
		for _, name := range []string{"heft", "peft", "lookahead", "dls"} {
			d := onOneLink(transfer)
			got, _, trace := makespan(t, d, solvers[name])
			if len(trace) == 0 {
				trace = []model.Round{{Planned: got}}
			}
			if math.Abs(trace[0].Planned-want[0]) > 1e-9 || math.Abs(got-want[1]) > 1e-9 {
				t.Errorf("%s, %s: planned %v, realised %v, want %v", name, transfer, trace[0].Planned, got, want)
			}
		}
	}
	for _, c := range []struct {
		d                *model.DAG
		planned, realise float64
	}{{sixTasks(model.TransferTCPAll), 83. / 3, 104. / 3}, {tenTasks(model.TransferTCPAll), 102, 1006. / 7}, {twoPools(tenTasks(model.TransferTCPAll)), 102, 3149. / 28}} {
		got, _, trace := makespan(t, c.d, solvers["heft"])
		if math.Abs(trace[0].Planned-c.planned) > 1e-9 || math.Abs(got-c.realise) > 1e-9 {
			t.Errorf("%s: planned %v, realised %v, want %v and %v", c.d.Name, trace[0].Planned, got, c.planned, c.realise)
		}
	}
}

// A list scheduler plans with the lengths without contention, whatever a replay
// adds to them.
func TestPlansIgnoreContention(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(13, 11))
	for range 300 {
		d := random(rng, 9)
		d.TransferModel = model.TransferModels[1+rng.IntN(3)]
		free := d.WithoutContention()
		for _, name := range []string{"heft", "cpop", "peft", "dls", "lookahead"} {
			_, s, trace := makespan(t, d, solvers[name])
			planned, ideal, _ := makespan(t, free, solvers[name])
			p := require.Value(dagplay.PlanOf(d, view.OfDAG(d), s))(t)
			q := require.Value(dagplay.PlanOf(free, view.OfDAG(free), ideal))(t)
			if !slices.Equal(p.Machine, q.Machine) || math.Abs(planned-trace[0].Planned) > 1e-9*planned {
				t.Fatalf("%s plans %v, %v without contention\n%+v", name, trace[0].Planned, planned, d)
			}
		}
	}
}

// The paper prints 34.38 for the six tasks under TCP. It is 275/8, the result if the last transfer, 2-5, left alone
// keeps the share that two had together, 6/7 of the link, and not the 3/4 that Eq. 10 gives one (413/12).
func TestPrintedTCP(t *testing.T) {
	t.Parallel()
	g := view.OfDAG(sixTasks(model.TransferTCP))
	p := require.Value(heft(context.Background(), g, nil))(t)
	r := dagplay.NewReplay(g)
	if got := r.Run(p, nil); math.Abs(got-413./12) > 1e-9 {
		t.Errorf("makespan %v, want 413/12", got)
	}
	const e25, e35 = 3, 4
	left := (r.Arrived[e25] - r.Arrived[e35]) * model.TCPShare(1)
	if got := r.Arrived[e35] + left/model.TCPShare(2) + 3 + 8; math.Abs(got-275./8) > 1e-9 {
		t.Errorf("the printed reading gives %v, want 275/8", got)
	}
}

func TestNetworkAwareTenTasks(t *testing.T) {
	t.Parallel()
	d := twoPools(tenTasks(model.TransferFair))
	got, _, trace := makespan(t, d, networkAware)
	var seen []float64
	for _, x := range trace {
		seen = append(seen, math.Round(x.Realistic*1e9)/1e9)
	}
	require.Same(t, "makespans seen", []float64{102, 111, 91, 104}, seen)
	if math.Abs(got-91) > 1e-9 {
		t.Errorf("best %v, want 91", got)
	}
	two, trace, err := networkAware(context.Background(), d, model.Settings{Parameters: &model.DAGParameters{Rounds: 2}})
	if err != nil || len(trace) != 2 {
		t.Fatalf("%d rounds, want 2: %v", len(trace), err)
	}
	if o, err := d.Objective(two); err != nil || math.Abs(o.Value-102) > 1e-9 {
		t.Errorf("two rounds give %v, want 102: %v", o.Value, err)
	}
}
