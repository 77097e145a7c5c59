package verify

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/model"
)

// ExactArrivals is the judge's replay of a schedule, for the tests outside the
// package, too: when each edge's transfer arrives, nil for those without one.
func ExactArrivals(d *model.DAG, s *model.Schedule) []*big.Rat {
	r := Report{}
	j := &dagJudge{in: d, task: map[string]int{}, on: make([]int, len(d.Tasks)),
		start: make([]*big.Rat, len(d.Tasks)), finish: make([]*big.Rat, len(d.Tasks)), sent: make([]*big.Rat, len(d.Edges))}
	for t := range d.Tasks {
		j.task[d.Tasks[t].ID] = t
	}
	if !j.place(s, &r) || !j.send(s, &r) {
		panic(r.String())
	}
	return j.replay(j.sent, func(e int) (from, to int) { return j.task[d.Edges[e].From], j.task[d.Edges[e].To] })
}

// Every network that a test draws has figures of few bits, so that exact
// replays stay short, zeros among the amounts, and ties.
func drawNetwork(rng *rand.Rand, d *model.DAG, machines int) {
	rate := func() float64 { return []float64{0.5, 1, 1, 2, 3, 8}[rng.IntN(6)] }
	d.Network.Bandwidth = rate()
	for m := range machines {
		x := model.Machine{ID: fmt.Sprint("m", m)}
		if rng.IntN(3) == 0 {
			x.StartupS = float64(rng.IntN(5)) / 2
		}
		d.Machines = append(d.Machines, x)
	}
	if rng.IntN(3) == 0 {
		for a := range machines {
			d.Network.PathCapacity = append(d.Network.PathCapacity, make([]float64, machines))
			for b := range machines {
				if a != b {
					d.Network.PathCapacity[a][b] = rate()
				}
			}
		}
	}
	links := 1 + rng.IntN(4)
	for l := range links {
		x := model.Link{ID: fmt.Sprint("l", l)}
		if rng.IntN(2) == 0 {
			x.Capacity = rate()
		}
		d.Network.Links = append(d.Network.Links, x)
	}
	for a := range machines {
		for b := a + 1; b < machines; b++ {
			oneWay := rng.IntN(3) == 0
			for way := range 2 {
				if rng.IntN(6) == 0 || way == 1 && !oneWay {
					continue
				}
				x := model.Route{From: d.Machines[a].ID, To: d.Machines[b].ID, Links: []string{}, OneWay: oneWay}
				if way == 1 || !oneWay && rng.IntN(2) == 0 {
					x.From, x.To = x.To, x.From
				}
				for _, l := range rng.Perm(links)[:min(links, 1+rng.IntN(3))] {
					x.Links = append(x.Links, d.Network.Links[l].ID)
				}
				d.Network.Routes = append(d.Network.Routes, x)
			}
		}
	}
}

// DrawDAG is a random instance of at most the given numbers of tasks and
// machines, valid by construction.
func DrawDAG(rng *rand.Rand, tasks, machines int) *model.DAG {
	d := &model.DAG{Name: "drawn", TransferModel: model.TransferModels[rng.IntN(4)], Tasks: []model.DAGTask{}, Edges: []model.DAGEdge{}}
	n, m := rng.IntN(tasks+1), 1+rng.IntN(machines)
	drawNetwork(rng, d, m)
	work := rng.IntN(4) == 0
	if work {
		for k := range d.Machines {
			d.Machines[k].Speed = []float64{1, 2, 3}[rng.IntN(3)]
		}
	}
	dense := rng.Float64()
	for t := range n {
		x := model.DAGTask{ID: fmt.Sprint("t", t)}
		if work && rng.IntN(2) == 0 {
			w := float64(rng.IntN(12))
			x.Work = &w
		} else {
			for range m {
				x.CostS = append(x.CostS, float64(rng.IntN(12))/[]float64{1, 1, 7}[rng.IntN(3)])
			}
		}
		d.Tasks = append(d.Tasks, x)
		for f := range t {
			if rng.Float64() < dense {
				d.Edges = append(d.Edges, model.DAGEdge{From: fmt.Sprint("t", f), To: x.ID, Data: float64(rng.IntN(10)) / []float64{1, 1, 3}[rng.IntN(3)]})
			}
		}
	}
	// The order of the file is not the order of the graph.
	rng.Shuffle(n, func(a, b int) { d.Tasks[a], d.Tasks[b] = d.Tasks[b], d.Tasks[a] })
	rng.Shuffle(len(d.Edges), func(a, b int) { d.Edges[a], d.Edges[b] = d.Edges[b], d.Edges[a] })
	return d
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

// slowFlow is a transfer of slowReplay.
type slowFlow struct {
	edge         int
	links        []int
	limit, begin *big.Rat
	left, rate   *big.Rat // rate: nil until it has one
	end          *big.Rat // if the rate lasts
}

func ratInt(n int) *big.Rat { return new(big.Rat).SetInt64(int64(n)) }

// usable is what n transfers get of a link of the given capacity together.
func usable(tr model.TransferModel, capacity float64, n int) *big.Rat {
	c := exact(capacity)
	if tr == model.TransferTCP || tr == model.TransferTCPAll {
		one := big.NewRat(1, int64(1+3*n))
		c.Mul(c, one.Sub(big.NewRat(1, 1), one))
	}
	return c
}

// flowsOf is the transfers of a schedule and the links' capacities.
func flowsOf(d *model.DAG, s *model.Schedule) ([]*slowFlow, []float64) {
	g := d.Graph()
	machine, err := d.MachineOf(s)
	if err != nil {
		panic(err)
	}
	sent := map[[2]string]float64{}
	for _, x := range s.Transfers {
		sent[[2]string{x.From, x.To}] = x.StartS
	}
	var flows []*slowFlow
	for e, x := range d.Edges {
		m, n := machine[g.From[e]], machine[g.To[e]]
		if m == n {
			continue
		}
		f := &slowFlow{edge: e, limit: exact(g.Rate[int(m)*g.Machines+int(n)]), left: exact(x.Data)}
		f.begin = new(big.Rat).Add(exact(sent[[2]string{x.From, x.To}]), exact(g.Startup[m]))
		if g.Transfer == model.TransferTCPAll {
			f.limit.Mul(f.limit, big.NewRat(3, 4))
		}
		if g.Transfer != model.TransferIdeal {
			for _, l := range g.Route(m, n) {
				f.links = append(f.links, int(l))
			}
		}
		flows = append(flows, f)
	}
	return flows, g.Links
}

// fill gives the flows their max-min fair rates in the way of a textbook: all
// rates grow together until a link is full or a flow has its limit.
func fill(tr model.TransferModel, flows []*slowFlow, capacity []float64) {
	full := make([]*big.Rat, len(capacity))
	for l := range capacity {
		n := 0
		for _, f := range flows {
			for _, k := range f.links {
				if k == l {
					n++
				}
			}
		}
		full[l] = usable(tr, capacity[l], n)
	}
	for _, f := range flows {
		f.rate = nil
	}
	for open := len(flows); open > 0; {
		// The level at which the next flow stops growing.
		var level *big.Rat
		stops := make([]*big.Rat, len(flows))
		for i, f := range flows {
			if f.rate != nil {
				continue
			}
			stops[i] = f.limit
			for _, l := range f.links {
				rest, n := new(big.Rat).Set(full[l]), 0
				for _, o := range flows {
					for _, k := range o.links {
						if k != l {
							continue
						}
						if o.rate == nil {
							n++
						} else {
							rest.Sub(rest, o.rate)
						}
					}
				}
				if rest.Quo(rest, ratInt(n)); rest.Cmp(stops[i]) < 0 {
					stops[i] = rest
				}
			}
			if level == nil || stops[i].Cmp(level) < 0 {
				level = stops[i]
			}
		}
		for i, f := range flows {
			if stops[i] != nil && stops[i].Cmp(level) == 0 {
				f.rate = level
				open--
			}
		}
	}
}

// slowReplay is the judge's replay done again without classes, heaps and
// clocks of service, rounded at each event by round. It reports a moment at
// which the rates exceed a link.
func slowReplay(t *testing.T, d *model.DAG, s *model.Schedule, round func(*big.Rat) *big.Rat) []*big.Rat {
	t.Helper()
	waiting, capacity := flowsOf(d, s)
	arrived := make([]*big.Rat, len(d.Edges))
	now := new(big.Rat)
	var under []*slowFlow
	for {
		var later []*slowFlow
		for _, f := range waiting {
			switch {
			case f.left.Sign() == 0:
				arrived[f.edge] = f.begin
			case f.begin.Cmp(now) <= 0: // starts are floats, rounding keeps them
				under = append(under, f)
			default:
				later = append(later, f)
			}
		}
		if waiting = later; len(waiting)+len(under) == 0 {
			return arrived
		}
		fill(d.Transfers(), under, capacity)
		var next *big.Rat
		for _, f := range waiting {
			if next == nil || f.begin.Cmp(next) < 0 {
				next = f.begin
			}
		}
		load := make([]*big.Rat, len(capacity))
		for l := range load {
			load[l] = new(big.Rat)
		}
		for _, f := range under {
			f.end = new(big.Rat).Quo(f.left, f.rate)
			if f.end.Add(f.end, now); next == nil || f.end.Cmp(next) < 0 {
				next = f.end
			}
			for _, l := range f.links {
				load[l].Add(load[l], f.rate)
			}
		}
		for l := range load {
			if load[l].Cmp(exact(capacity[l])) > 0 {
				t.Fatalf("at %v, link %d carries %v of %v", now, l, load[l], capacity[l])
			}
		}
		step := new(big.Rat).Sub(next, now)
		now = round(next)
		var still []*slowFlow
		for _, f := range under {
			if f.end.Cmp(next) == 0 {
				arrived[f.edge] = now
				continue
			}
			f.left = round(f.left.Sub(f.left, new(big.Rat).Mul(f.rate, step)))
			still = append(still, f)
		}
		under = still
	}
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
	rng := rand.New(rand.NewPCG(1, 21))
	several := 0
	for range 3000 {
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
	if several < 400 {
		t.Errorf("only %d replays with more than three transfers", several)
	}
}

// No link carries more data within any time than it can: what is sent from
// begin to end within the window is at most its capacity times the window.
func TestReplayConservesCapacity(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 22))
	tight := 0
	for range 1000 {
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
	if tight < 100 {
		t.Errorf("only %d full links", tight)
	}
}

// Rates are feasible and max-min fair: each transfer has its own limit, or a
// full link on which nobody is faster (Bertsekas, Gallager, section 6.5.2).
func TestShareIsMaxMinFair(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 23))
	limited, linked := 0, 0
	for range 3000 {
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
			if c.rate.Sign() <= 0 || c.rate.Cmp(c.limit) > 0 {
				t.Fatalf("rate %v, the limit is %v", c.rate, c.limit)
			}
			for _, l := range c.links {
				load[l].Add(load[l], new(big.Rat).Mul(c.rate, ratInt(len(c.due))))
				count[l] += len(c.due)
				if c.rate.Cmp(fastest[l]) > 0 {
					fastest[l] = c.rate
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
			fair := c.rate.Cmp(c.limit) == 0
			if fair {
				limited++
			}
			for _, l := range c.links {
				if full[l] && c.rate.Cmp(fastest[l]) == 0 {
					fair = true
					linked++
				}
			}
			if !fair {
				t.Fatalf("a transfer has %v and could have more\n%+v", c.rate, d)
			}
		}
	}
	if limited < 500 || linked < 500 {
		t.Errorf("%d rates by the transfer's own limit, %d by a link", limited, linked)
	}
}

// Figures that grow are rounded by next to nothing, in any unit, and the
// replay ends.
func TestReplayRounds(t *testing.T) {
	for _, unit := range []float64{1, 1e-25, 1e25} {
		for _, tr := range model.TransferModels[1:] {
			rng := rand.New(rand.NewPCG(1, 24))
			d := &model.DAG{TransferModel: tr, Network: model.Network{Bandwidth: unit * (1 + rng.Float64())}}
			const machines, edges = 6, 150
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
				d.Edges = append(d.Edges, model.DAGEdge{From: fmt.Sprint(e, 0), To: fmt.Sprint(e, 1), Data: unit * rng.Float64()})
				sent = append(sent, 20*rng.Float64())
			}
			if err := d.Validate(); err != nil {
				t.Fatal(err)
			}
			s := d.Schedule(machine, zero, sent)
			rounded := ExactArrivals(d, s)
			flows, _ := flowsOf(d, s)
			last, bits := new(big.Rat), 0
			for _, f := range flows {
				at := rounded[f.edge]
				if f.left.Sign() > 0 && at.Cmp(f.begin) <= 0 {
					t.Fatalf("edge %d arrives at %v, before it begins", f.edge, at)
				}
				if bits = max(bits, at.Denom().BitLen()); at.Cmp(last) > 0 {
					last = at
				}
			}
			if bits < keptBits || bits > 2*maxBits {
				t.Errorf("the longest arrival has %d bits, so nothing is tested here", bits)
			}
			end, _ := last.Float64()
			for e, x := range slowReplay(t, d, s, func(x *big.Rat) *big.Rat {
				f, _ := x.Float64()
				return exact(f)
			}) {
				got, _ := rounded[e].Float64()
				if want, _ := x.Float64(); math.Abs(got-want) > 1e-9*end {
					t.Errorf("%s in %v: edge %d arrives at %v, want %v", tr, unit, e, got, want)
				}
			}
		}
	}
}
