package dag

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/modeltest"
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
	return onPaperPlatform(modeltest.SixTasks(), transfer)
}

func tenTasks(transfer model.TransferModel) *model.DAG {
	return onPaperPlatform(modeltest.TenTasks(), transfer)
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

func makespan(t *testing.T, d *model.DAG, solve Solver) (float64, *model.Schedule, []model.Round) {
	t.Helper()
	s, trace, err := solve(context.Background(), d, model.Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	o, err := d.Objective(s)
	if err != nil {
		t.Fatal(err)
	}
	return o.Value, s, trace
}

func TestSixTasks(t *testing.T) {
	t.Parallel()
	_, s, _ := makespan(t, sixTasks(model.TransferIdeal), HEFT)
	var where []string
	for _, x := range s.Tasks {
		where = append(where, x.Machine)
	}
	if got, want := strings.Join(where, " "), "P1 P3 P1 P3 P2 P2"; got != want {
		t.Errorf("machines %s, want %s", got, want)
	}
	for transfer, want := range map[model.TransferModel]float64{
		model.TransferIdeal: 25, model.TransferFair: 32, model.TransferTCP: 413. / 12} {
		got, _, trace := makespan(t, sixTasks(transfer), HEFT)
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: makespan %v, want %v", transfer, got, want)
		}
		if transfer != model.TransferIdeal && (len(trace) != 1 || trace[0].Planned != 25 || trace[0].Realistic != got) {
			t.Errorf("%s: trace %+v", transfer, trace)
		}
	}
}

func TestTenTasks(t *testing.T) {
	t.Parallel()
	if got, _, _ := makespan(t, tenTasks(model.TransferIdeal), HEFT); got != 80 {
		t.Errorf("HEFT %v, want 80", got)
	}
	if got, _, _ := makespan(t, tenTasks(model.TransferIdeal), CPOP); got != 86 {
		t.Errorf("CPOP %v, want 86", got)
	}
}

// The paper prints 34.38 for the six tasks under TCP. It is 275/8, what comes
// out if the last transfer, 2-5, left alone keeps what two had together, 6/7 of the
// link, and not the 3/4 that Eq. 10 gives one (413/12).
func TestPrintedTCP(t *testing.T) {
	t.Parallel()
	g := sixTasks(model.TransferTCP).Graph()
	p, err := heft(context.Background(), g)
	if err != nil {
		t.Fatal(err)
	}
	r := NewReplay(g)
	if got := r.Run(p, nil); math.Abs(got-413./12) > 1e-9 {
		t.Errorf("makespan %v, want 413/12", got)
	}
	const e25, e35 = 3, 4
	left := (r.Arrived[e25] - r.Arrived[e35]) * tcpShare(1)
	if got := r.Arrived[e35] + left/tcpShare(2) + 3 + 8; math.Abs(got-275./8) > 1e-9 {
		t.Errorf("the printed reading gives %v, want 275/8", got)
	}
}

func TestNetworkAwareTenTasks(t *testing.T) {
	t.Parallel()
	d := twoPools(tenTasks(model.TransferFair))
	got, _, trace := makespan(t, d, NetworkAware)
	var seen []float64
	for _, x := range trace {
		seen = append(seen, math.Round(x.Realistic*1e9)/1e9)
	}
	if diff := cmp.Diff([]float64{102, 111, 91, 104}, seen); diff != "" {
		t.Error(diff)
	}
	if math.Abs(got-91) > 1e-9 {
		t.Errorf("best %v, want 91", got)
	}
	two, trace, err := NetworkAware(context.Background(), d, model.Settings{Parameters: &model.DAGParameters{Rounds: 2}})
	if err != nil || len(trace) != 2 {
		t.Fatalf("%d rounds, want 2: %v", len(trace), err)
	}
	if o, err := d.Objective(two); err != nil || math.Abs(o.Value-102) > 1e-9 {
		t.Errorf("two rounds give %v, want 102: %v", o.Value, err)
	}
}
