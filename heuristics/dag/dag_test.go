package dag

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/model"
)

// instance makes a DAG from costs and edges "from to data" of tasks numbered
// from 1, on the paper's platform (Figure 5).
func instance(costs [][]float64, edges [][3]float64, transfer model.TransferModel) *model.DAG {
	name := func(k float64) string { return string(rune('0' + int(k)/10))[:1] + string(rune('0'+int(k)%10)) }
	d := &model.DAG{TransferModel: transfer, Machines: []model.Machine{{ID: "P1"}, {ID: "P2"}, {ID: "P3"}},
		Network: model.Network{Bandwidth: 1, Links: []model.Link{{ID: "b"}}, Routes: []model.Route{
			{From: "P1", To: "P2", Links: []string{"b"}}, {From: "P3", To: "P2", Links: []string{"b"}}}}}
	for t, c := range costs {
		d.Tasks = append(d.Tasks, model.DAGTask{ID: name(float64(t + 1)), CostS: c})
	}
	for _, e := range edges {
		d.Edges = append(d.Edges, model.DAGEdge{From: name(e[0]), To: name(e[1]), Data: e[2]})
	}
	return d
}

// sixTasks is the motivating example of the paper's section 5.3.
func sixTasks(transfer model.TransferModel) *model.DAG {
	return instance([][]float64{{3, 5, 7}, {4, 8, 3}, {3, 4, 11}, {5, 8, 2}, {10, 3, 5}, {5, 8, 8}},
		[][3]float64{{1, 2, 3}, {1, 3, 4}, {2, 4, 2}, {2, 5, 5}, {3, 5, 7}, {4, 6, 3}, {5, 6, 6}}, transfer)
}

// tenTasks is the example of Topcuoglu et al. 2002 (the paper's Table 2 and
// Figure 10).
func tenTasks(transfer model.TransferModel) *model.DAG {
	return instance([][]float64{{14, 16, 9}, {13, 19, 18}, {11, 13, 19}, {13, 8, 17}, {12, 13, 10}, {13, 16, 9}, {7, 15, 11}, {5, 11, 14}, {18, 12, 20}, {21, 7, 16}},
		[][3]float64{{1, 2, 18}, {1, 3, 12}, {1, 4, 9}, {1, 5, 11}, {1, 6, 14}, {2, 8, 19}, {2, 9, 16}, {3, 7, 23}, {4, 8, 27}, {4, 9, 23}, {5, 9, 13}, {6, 8, 15}, {7, 10, 17}, {8, 10, 11}, {9, 10, 13}}, transfer)
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
