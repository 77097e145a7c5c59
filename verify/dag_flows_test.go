// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// judgeOf reads a schedule that is complete.
func judgeOf(ctx context.Context, d *model.DAG, s *model.Schedule) *dagJudge {
	r := Report{}
	j := newDAGJudge(ctx, d, Tolerance)
	if !j.place(s, &r) || !j.send(s, &r) {
		panic(r.String())
	}
	return j
}

// drawContended is transfers of many figures among few machines: on a star, a
// bus or a random network, equal ones among them or of wild ratios.
func drawContended(rng *rand.Rand, transfers int) (*model.DAG, *model.Schedule) {
	figure := []func() float64{
		func() float64 { return 1 },
		func() float64 { return float64(1 + rng.IntN(3)) },
		func() float64 { return float64(1+rng.IntN(20)) / 10 },
		func() float64 { return 0.5 + rng.Float64() },
		func() float64 { return float64(float32(1+rng.IntN(9)) / 3) },
		func() float64 { return math.Exp2(float64(rng.IntN(60) - 30)) },
		func() float64 { return math.Pow(10, 12*rng.Float64()-6) },
	}
	rate, data, time := figure[rng.IntN(len(figure))], figure[rng.IntN(len(figure))], figure[rng.IntN(len(figure))]
	machines := 2 + rng.IntN(5)
	d := &model.DAG{TransferModel: model.TransferModels[1+rng.IntN(3)], Network: model.Network{Bandwidth: rate()}}
	for m := range machines {
		d.Machines = append(d.Machines, model.Machine{ID: fmt.Sprint(m)})
		if rng.IntN(3) == 0 {
			d.Machines[m].StartupS = time()
		}
	}
	links := 1 + rng.IntN(machines)
	for l := range links {
		d.Network.Links = append(d.Network.Links, model.Link{ID: fmt.Sprint(l), Capacity: rate()})
	}
	for a := range machines {
		for b := range a {
			r := model.Route{From: fmt.Sprint(a), To: fmt.Sprint(b), Links: []string{fmt.Sprint(a % links)}}
			if b%links != a%links && rng.IntN(4) > 0 {
				r.Links = append(r.Links, fmt.Sprint(b%links))
			}
			d.Network.Routes = append(d.Network.Routes, r)
		}
	}
	var machine []int32
	var sent, zero []float64
	for e := range transfers {
		a := rng.IntN(machines)
		b := (a + 1 + rng.IntN(machines-1)) % machines
		for k, m := range []int{a, b} {
			d.Tasks = append(d.Tasks, model.DAGTask{ID: fmt.Sprint(e, k), CostS: make([]float64, machines)})
			machine, zero = append(machine, int32(m)), append(zero, 0)
		}
		d.Edges = append(d.Edges, model.DAGEdge{From: fmt.Sprint(e, 0), To: fmt.Sprint(e, 1), Data: data()})
		at := time() * float64(rng.IntN(4))
		sent = append(sent, at)
	}
	return d, d.Schedule(machine, zero, sent)
}

// The judge's two replays agree on the arrivals to 25 digits. They share the
// code that reads the network, and no other.
func TestFlowsAgreeWithReplay(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 41))
	shared, worst := 0, 0.
	check := func(d *model.DAG, s *model.Schedule) {
		j := judgeOf(t.Context(), d, s)
		p := newPaths(d)
		arrived, replayed := j.arrivals(p)
		if replayed != nil {
			return
		}
		want := j.replay()
		for e := range want {
			at := j.arrival(p, e, arrived)
			got := at.rat()
			if want[e] == nil || want[e].Sign() == 0 && got.Sign() == 0 {
				continue
			}
			off := new(big.Rat).Sub(got, want[e])
			if !j.shares[e] {
				if math.Abs(floor(off)) > at.err {
					t.Fatalf("edge %d arrives at %v, want %v, off by more than %v\n%+v\n%+v", e, floor(got), floor(want[e]), at.err, d, s)
				}
				continue
			}
			shared++
			by := math.Abs(floor(off.Quo(off, want[e])))
			worst = max(worst, by)
			if by > 1e-25 {
				t.Fatalf("edge %d arrives at %v, want %v, off by %v\n%+v\n%+v", e, floor(got), floor(want[e]), by, d, s)
			}
		}
	}
	draws := require.Rounds(1000)
	for range draws {
		d := DrawDAG(rng, 8, 4)
		check(d, drawTransfers(rng, d))
	}
	for range require.Rounds(400) {
		check(drawContended(rng, 1+rng.IntN(25)))
	}
	if shared < 4*draws {
		t.Errorf("only %d transfers shared links", shared)
	}
	t.Logf("%d transfers, the worst is off by %.2g of its time", shared, worst)
}
