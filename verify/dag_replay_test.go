// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// ExactArrivals is the judge's replay of a schedule, for the tests outside the
// package, too: when each edge's transfer arrives, nil for those without one.
func ExactArrivals(d *model.DAG, s *model.Schedule) []*big.Rat {
	r := Report{}
	j := newDAGJudge(context.Background(), d, 0)
	if !j.place(s, &r) || !j.send(s, &r) {
		panic(r.String())
	}
	return j.replay()
}

// drawTransfers puts the tasks anywhere and starts the transfers at any time:
// a replay doesn't care whether the tasks could run so.
func drawTransfers(rng *rand.Rand, d *model.DAG) *model.Schedule {
	machine, zero, sent := make([]int32, len(d.Tasks)), make([]float64, len(d.Tasks)), make([]float64, len(d.Edges))
	for t := range machine {
		machine[t] = int32(rng.IntN(len(d.Machines)))
	}
	for e := range sent {
		sent[e] = float64(rng.IntN(24)) / 4
	}
	return d.Schedule(machine, zero, sent)
}

func text(x []*big.Rat) []string {
	s := make([]string, len(x))
	for k := range x {
		if x[k] != nil {
			s[k] = x[k].RatString()
		}
	}
	return s
}

// The judge's replay and the textbook's give the same fractions.
func TestReplayIsExact(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 21))
	several, draws := 0, require.Rounds(1500)
	for range draws {
		d := DrawDAG(rng, 8, 4)
		s := drawTransfers(rng, d)
		want, got := slowReplay(t, d, s, func(x *big.Rat) *big.Rat { return x }), ExactArrivals(d, s)
		if diff := cmp.Diff(text(want), text(got)); diff != "" {
			t.Fatalf("%s: %s\n%+v\n%+v", d.TransferModel, diff, d, s)
		}
		if len(s.Transfers) > 3 && d.TransferModel != model.TransferIdeal {
			several++
		}
	}
	if several < draws*2/15 {
		t.Errorf("only %d replays with more than three transfers", several)
	}
}

// No link carries more data within any time than it can: the data sent from begin to end within the window are at most
// its capacity times the window.
func TestReplayConservesCapacity(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 22))
	tight, draws := 0, require.Rounds(1000)
	for range draws {
		d := DrawDAG(rng, 8, 4)
		s := drawTransfers(rng, d)
		arrived := ExactArrivals(d, s)
		flows, capacity := flowsOf(d, s)
		for l := range capacity {
			for _, from := range flows {
				for _, to := range flows {
					end, data, n := arrived[to.edge], new(big.Rat), 0
					for _, f := range flows {
						for _, k := range f.links {
							if k == l && f.begin.Cmp(from.begin) >= 0 && arrived[f.edge].Cmp(end) <= 0 {
								data.Add(data, f.left)
								n++
							}
						}
					}
					if n == 0 {
						continue
					}
					// More at a time use more of it under TCP.
					most := usable(d.Transfers(), capacity[l], len(flows))
					most.Mul(most, new(big.Rat).Sub(end, from.begin))
					switch data.Cmp(most) {
					case 0:
						if n > 1 {
							tight++
						}
					case 1:
						t.Fatalf("link %d carries %v where %v is the most\n%+v\n%+v", l, data, most, d, s)
					}
				}
			}
		}
	}
	if tight < draws/20 && !testing.Short() {
		t.Errorf("only %d full links", tight)
	}
}

// Rates are feasible and max-min fair: each transfer has its own limit, or a full link on which none is faster, for a
// weight of 1
// (Bertsekas, Gallager, section 6.5.2).
func TestShareIsMaxMinFair(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 23))
	limited, linked, draws := 0, 0, require.Rounds(3000)
	for range draws {
		d := &model.DAG{TransferModel: model.TransferModels[1+rng.IntN(3)]}
		drawNetwork(rng, d, 2+rng.IntN(5))
		p := newPaths(d)
		for _, c := range p.classes {
			for range rng.IntN(4) {
				c.due = append(c.due, due{new(big.Rat), 0})
			}
		}
		p.share()
		load, count, fastest := make([]*big.Rat, len(p.capacity)), make([]int, len(p.capacity)), make([]*big.Rat, len(p.capacity))
		for l := range load {
			load[l], fastest[l] = new(big.Rat), new(big.Rat)
		}
		for _, c := range p.classes {
			if len(c.due) == 0 {
				continue
			}
			unit := new(big.Rat).Quo(c.rate, ratOf(c.weight))
			if c.rate.Sign() <= 0 || unit.Cmp(c.limit) > 0 {
				t.Fatalf("rate %v for a weight of %d, the limit is %v for each", c.rate, c.weight, c.limit)
			}
			for _, l := range c.links {
				load[l].Add(load[l], new(big.Rat).Mul(c.rate, ratInt(len(c.due))))
				count[l] += len(c.due)
				if unit.Cmp(fastest[l]) > 0 {
					fastest[l] = unit
				}
			}
		}
		full := make([]bool, len(load))
		for l := range load {
			capacity, _ := p.capacity[l].Float64()
			most := usable(d.TransferModel, capacity, count[l])
			if count[l] > 0 && load[l].Cmp(most) > 0 {
				t.Fatalf("%d transfers have %v of link %d, which has %v", count[l], load[l], l, most)
			}
			full[l] = count[l] > 0 && load[l].Cmp(most) == 0
		}
		for _, c := range p.classes {
			if len(c.due) == 0 {
				continue
			}
			unit := new(big.Rat).Quo(c.rate, ratOf(c.weight))
			fair := unit.Cmp(c.limit) == 0
			if fair {
				limited++
			}
			for _, l := range c.links {
				if full[l] && unit.Cmp(fastest[l]) == 0 {
					fair = true
					linked++
				}
			}
			if !fair {
				t.Fatalf("a transfer has %v and could have more\n%+v", c.rate, d)
			}
		}
	}
	if limited < draws/6 || linked < draws/6 {
		t.Errorf("%d rates by the transfer's own limit, %d by a link", limited, linked)
	}
}

// Figures that grow are rounded by next to nothing, in any unit, and the
// replay ends.
func TestReplayRounds(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ unit, second float64 }{{1, 1}, {1e-25, 1}, {1e25, 1}, {1, 1e-25}} {
		unit, second := x.unit, x.second
		for _, tr := range []model.TransferModel{model.TransferFair, model.TransferTCP} {
			rng := rand.New(rand.NewPCG(1, 24))
			d := &model.DAG{TransferModel: tr, Network: model.Network{Bandwidth: unit * (1 + rng.Float64())}}
			const machines, edges = 6, 140
			for m := range machines {
				d.Machines = append(d.Machines, model.Machine{ID: fmt.Sprint(m)})
				d.Network.Links = append(d.Network.Links, model.Link{ID: fmt.Sprint(m), Capacity: unit * (1 + rng.Float64())})
			}
			for a := range machines {
				for b := range a {
					d.Network.Routes = append(d.Network.Routes, model.Route{From: fmt.Sprint(a), To: fmt.Sprint(b), Links: []string{fmt.Sprint(a), fmt.Sprint(b)}})
				}
			}
			var machine []int32
			var sent, zero []float64
			for e := range edges {
				a := rng.IntN(machines)
				b := (a + 1 + rng.IntN(machines-1)) % machines
				for k, m := range []int{a, b} {
					d.Tasks = append(d.Tasks, model.DAGTask{ID: fmt.Sprint(e, k), CostS: make([]float64, machines)})
					machine, zero = append(machine, int32(m)), append(zero, 0)
				}
				d.Edges = append(d.Edges, model.DAGEdge{From: fmt.Sprint(e, 0), To: fmt.Sprint(e, 1), Data: unit * second * rng.Float64()})
				sent = append(sent, edges/7.5*second*rng.Float64())
			}
			require.OK(t, d.Validate())
			s := d.Schedule(machine, zero, sent)
			rounded := ExactArrivals(d, s)
			flows, _ := flowsOf(d, s)
			last, cut := new(big.Rat), 0
			for _, f := range flows {
				at := rounded[f.edge]
				if f.left.Sign() > 0 && at.Cmp(f.begin) <= 0 {
					t.Fatalf("edge %d arrives at %v, before it begins", f.edge, at)
				}
				if at.Cmp(last) > 0 {
					last = at
				}
				// Only rounded values have a long power of two below.
				if n := at.Denom().BitLen(); n > keptBits*3/4 && at.Denom().TrailingZeroBits() == uint(n-1) {
					cut++
				}
			}
			if cut == 0 {
				t.Errorf("%s in units of %v and %v s: nothing was rounded, so nothing is tested", tr, unit, second)
			}
			end, _ := last.Float64()
			for e, x := range slowReplay(t, d, s, func(x *big.Rat) *big.Rat {
				f, _ := x.Float64()
				return exact(f)
			}) {
				got, _ := rounded[e].Float64()
				if want, _ := x.Float64(); math.Abs(got-want) > 1e-9*end {
					t.Errorf("%s in units of %v and %v s: edge %d arrives at %v, want %v", tr, unit, second, e, got, want)
				}
			}
		}
	}
}
