// SPDX-License-Identifier: MIT

package exact_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// family draws instances of one problem: tiny ones, that the plain engine solves, and middle ones, beyond it.
type family struct {
	name         string
	kind         model.Kind
	rounds       int                                 // of tiny ones, see require.Rounds
	tiny, middle func(rng *rand.Rand) model.Instance // nil: none of that size
}

var families = []family{
	{"any", model.KindBatch, 600,
		func(rng *rand.Rand) model.Instance { return testkit.RandomBatch(rng, 1, 6, rng.IntN(6)) },
		func(rng *rand.Rand) model.Instance { return testkit.RandomBatch(rng, 1, 8, 4+rng.IntN(5)) }},
	{"busy", model.KindBatch, 600,
		func(rng *rand.Rand) model.Instance { return busy(rng, 1+rng.IntN(6), 9) },
		func(rng *rand.Rand) model.Instance { return busy(rng, 6+rng.IntN(4), 50) }},
	{"weighted", model.KindBatch, 600,
		func(rng *rand.Rand) model.Instance { return weighted(rng, busy(rng, 1+rng.IntN(6), 4)) },
		func(rng *rand.Rand) model.Instance { return weighted(rng, busy(rng, 9, 9)) }},
	{"at the limits", model.KindBatch, 300,
		limits,
		nil},
	{"two tiers", model.KindBatch, 0,
		nil,
		func(rng *rand.Rand) model.Instance { return testkit.RandomBatch(rng, 2, 3, 1+rng.IntN(3)) }},
	{"nodes", model.KindBatch, 0,
		nil,
		func(rng *rand.Rand) model.Instance { return testkit.RandomNodes(rng, 3+rng.IntN(6)) }},

	{"any", model.KindConsolidation, 3000,
		func(rng *rand.Rand) model.Instance { return testkit.Consolidation(rng, 2+rng.IntN(4), 1+rng.IntN(3)) },
		func(rng *rand.Rand) model.Instance { return testkit.Consolidation(rng, 8+rng.IntN(4), 2+rng.IntN(3)) }},
	{"loose spreads", model.KindConsolidation, 3000,
		func(rng *rand.Rand) model.Instance {
			return testkit.Loosen(rng, testkit.Consolidation(rng, 2+rng.IntN(4), 1+rng.IntN(3)))
		},
		func(rng *rand.Rand) model.Instance {
			return testkit.Loosen(rng, testkit.Consolidation(rng, 8+rng.IntN(4), 2+rng.IntN(3)))
		}},

	{"mended", model.KindConsolidation, 3000,
		func(rng *rand.Rand) model.Instance { return testkit.Mended(rng, 2+rng.IntN(4), 1+rng.IntN(3)) },
		func(rng *rand.Rand) model.Instance { return testkit.Mended(rng, 8+rng.IntN(4), 2+rng.IntN(3)) }},
	{"short", model.KindConsolidation, 3000,
		func(rng *rand.Rand) model.Instance { return testkit.Short(rng, 2+rng.IntN(4), 1+rng.IntN(3)) },
		func(rng *rand.Rand) model.Instance { return testkit.Short(rng, 8+rng.IntN(4), 2+rng.IntN(3)) }},

	{"any", model.KindDAG, 800,
		func(rng *rand.Rand) model.Instance { return testkit.RandomDAG(rng, 1+rng.IntN(7), 1+rng.IntN(4)) },
		func(rng *rand.Rand) model.Instance { return testkit.RandomDAG(rng, 8+rng.IntN(10), 2+rng.IntN(3)) }},
	{"alike", model.KindDAG, 400,
		func(rng *rand.Rand) model.Instance {
			return alike(rng, testkit.RandomDAG(rng, 2+rng.IntN(6), 1+rng.IntN(4)))
		},
		func(rng *rand.Rand) model.Instance {
			return alike(rng, testkit.RandomDAG(rng, 12+rng.IntN(8), 2+rng.IntN(3)))
		}},
	{"multiples", model.KindDAG, 400,
		func(rng *rand.Rand) model.Instance {
			return multiples(rng, testkit.RandomDAG(rng, 2+rng.IntN(6), 1+rng.IntN(4)))
		},
		func(rng *rand.Rand) model.Instance {
			return multiples(rng, testkit.RandomDAG(rng, 8+rng.IntN(6), 2+rng.IntN(3)))
		}},
	{"figures of any size", model.KindDAG, 400,
		powers,
		nil},
	{"machines that can't run some", model.KindDAG, 800,
		func(rng *rand.Rand) model.Instance {
			return testkit.Restrict(rng, testkit.RandomDAG(rng, 1+rng.IntN(7), 1+rng.IntN(4)))
		},
		func(rng *rand.Rand) model.Instance {
			return testkit.Restrict(rng, testkit.RandomDAG(rng, 8+rng.IntN(10), 2+rng.IntN(3)))
		}},
	{"routes with a latency", model.KindDAG, 800,
		func(rng *rand.Rand) model.Instance {
			return testkit.Late(rng, testkit.RandomDAG(rng, 1+rng.IntN(7), 1+rng.IntN(4)))
		},
		func(rng *rand.Rand) model.Instance {
			return testkit.Late(rng, testkit.RandomDAG(rng, 8+rng.IntN(10), 2+rng.IntN(3)))
		}},
	{"contended, routes with a latency", model.KindDAG, 0,
		nil,
		func(rng *rand.Rand) model.Instance { return testkit.Late(rng, testkit.ContendedDAG(rng, 7, 3)) }},
	{"contended", model.KindDAG, 0,
		nil,
		func(rng *rand.Rand) model.Instance { return testkit.ContendedDAG(rng, 7, 3) }},
	{"contended, machines that can't run some", model.KindDAG, 0,
		nil,
		func(rng *rand.Rand) model.Instance { return testkit.Restrict(rng, testkit.ContendedDAG(rng, 7, 3)) }},

	{"any", model.KindReservation, 800,
		func(rng *rand.Rand) model.Instance { return testkit.RandomReservation(rng, 1+rng.IntN(7)) },
		func(rng *rand.Rand) model.Instance { return testkit.RandomReservation(rng, 10+rng.IntN(4)) }},
	{"equal", model.KindReservation, 400,
		func(rng *rand.Rand) model.Instance { return equalRequests(rng, 2+rng.IntN(7)) },
		func(rng *rand.Rand) model.Instance { return load(rng, 12+rng.IntN(6)) }},
	{"just fit", model.KindReservation, 400,
		func(rng *rand.Rand) model.Instance { return justFit(rng, 2+rng.IntN(7)) },
		func(rng *rand.Rand) model.Instance { return arbitrary(rng, 8+rng.IntN(8)) }},
	{"sums beyond 2^53", model.KindReservation, 400,
		func(rng *rand.Rand) model.Instance { return longReservation(rng, 2+rng.IntN(7)) },
		nil},

	{"two pods", model.KindTVC, 600,
		func(rng *rand.Rand) model.Instance { return testkit.RandomTVC(rng, 2, 1+rng.IntN(6), false) },
		func(rng *rand.Rand) model.Instance { return testkit.RandomTVC(rng, 4, 2+rng.IntN(5), false) }},
	{"as in the paper", model.KindTVC, 0,
		nil,
		func(rng *rand.Rand) model.Instance { return paperTVC(rng, 5+rng.IntN(6)) }},
	{"queue", model.KindTVC, 0,
		nil,
		func(rng *rand.Rand) model.Instance { return shortQueue(rng, 2+rng.IntN(5)) }},

	{"any", model.KindVCSched, 1500,
		func(rng *rand.Rand) model.Instance { return testkit.RandomVCSched(rng, false) },
		nil},
	{"budget", model.KindVCSched, 1500,
		func(rng *rand.Rand) model.Instance { return testkit.RandomVCSched(rng, true) },
		nil},
	{"vectors", model.KindVCSched, 1500,
		func(rng *rand.Rand) model.Instance { return testkit.RandomVectors(rng, rng.IntN(2) == 0) },
		func(rng *rand.Rand) model.Instance {
			return testkit.Vectors(rng, testkit.VCSched(rng, 12+rng.IntN(6), 2+rng.IntN(4), rng.IntN(3) == 0))
		}},
	{"thirds", model.KindVCSched, 0,
		nil,
		thirds},
	{"ugly", model.KindVCSched, 500,
		func(rng *rand.Rand) model.Instance { return ugly(rng, 3+rng.IntN(7), 1+rng.IntN(4), rng.IntN(2) == 0) },
		func(rng *rand.Rand) model.Instance { return ugly(rng, 10+rng.IntN(8), 2+rng.IntN(3), rng.IntN(4) == 0) }},
}

// busy draws n jobs that all wait: lengths from 1 to longest and any widths, half of the jobs submitted at once.
func busy(rng *rand.Rand, n, longest int) *model.Batch {
	in := &model.Batch{Name: "busy", Processors: 2 + rng.IntN(9), Tiers: 1}
	for k := range n {
		j := model.BatchJob{ID: fmt.Sprint(k), RuntimeS: float64(1 + rng.IntN(longest)),
			Processes: 1 + rng.IntN(in.Processors)}
		if k > n/2 {
			j.SubmitS = in.Jobs[k-1].SubmitS + float64(rng.IntN(longest))
		}
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

// weighted gives the jobs few weights, so that equally long and wide jobs have equal ones and others.
func weighted(rng *rand.Rand, in *model.Batch) *model.Batch {
	for k := range in.Jobs {
		in.Jobs[k].Weight = []int{1, 1, 2, 3, 10}[rng.IntN(5)]
	}
	return in
}

// limits draws jobs at the limits of instances: late and distant submissions, lengths of a microsecond beside the
// longest, jobs as wide as the machine, ties, killed jobs.
func limits(rng *rand.Rand) model.Instance {
	submits, runtimes := []float64{0, 0, 1e-6, 1, 1e9 - 1, 1e9}, []float64{1e-6, 1, 9.999999, 10, 1e5, 1e8}
	in := &model.Batch{Name: "limits", Processors: []int{1, 2, 7, 1000}[rng.IntN(4)], Tiers: 1,
		KillAtEstimate: rng.IntN(2) == 0}
	last := 0
	for k := range 1 + rng.IntN(5) {
		last = min(len(submits)-1, last+rng.IntN(3))
		in.Jobs = append(in.Jobs, model.BatchJob{ID: fmt.Sprint(k), SubmitS: submits[last],
			RuntimeS:  runtimes[rng.IntN(len(runtimes))],
			EstimateS: []float64{0, 1e-6, 5, 1e9}[rng.IntN(4)],
			Processes: []int{1, in.Processors, (in.Processors + 1) / 2,
				min(in.Processors, in.Processors/2+1)}[rng.IntN(4)]})
	}
	return in
}

// alike makes the machines identical, and data take no time.
func alike(rng *rand.Rand, d *model.DAG) *model.DAG {
	for a := range d.Machines {
		d.Machines[a].StartupS, d.Machines[a].Speed = 0, 0
	}
	for i := range d.Tasks {
		d.Tasks[i].Work = nil
		d.Tasks[i].CostS = slices.Repeat([]float64{float64(max(0, rng.IntN(12)-2))}, len(d.Machines))
	}
	for i := range d.Edges {
		d.Edges[i].Data = 0
	}
	return d
}

// multiples makes a machine's costs multiples of a number of its own.
func multiples(rng *rand.Rand, d *model.DAG) *model.DAG {
	for a := range d.Machines {
		times := float64(1 + rng.IntN(4))
		for _, t := range d.Tasks {
			if t.CostS != nil {
				t.CostS[a] = times * math.Ceil(min(t.CostS[a], 100))
			}
		}
	}
	return d
}

// powers draws a task graph with figures of any size that Validate takes, side by side.
func powers(rng *rand.Rand) model.Instance {
	size := rng.IntN(3)
	figure := func() float64 {
		if rng.IntN(6) == 0 {
			return 0
		}
		return math.Pow(10, []float64{float64(rng.IntN(59) - 29), float64(rng.IntN(5) - 29),
			float64(25 + rng.IntN(5))}[size])
	}
	costs, edges, m := make([][]float64, 1+rng.IntN(5)), [][3]float64{}, 1+rng.IntN(3)
	for t := range costs {
		for range m {
			costs[t] = append(costs[t], figure())
		}
		for s := range t {
			if rng.IntN(3) == 0 {
				edges = append(edges, [3]float64{float64(s + 1), float64(t + 1), figure()})
			}
		}
	}
	d := testkit.DAG(costs, edges)
	if x := figure(); x > 0 {
		d.Network.Bandwidth = x
	}
	return d
}

// equalRequests draws requests of one arrival that are equal to others in all but their names.
func equalRequests(rng *rand.Rand, n int) *model.Reservation {
	in := testkit.RandomReservation(rng, n)
	for k := range in.Requests {
		if q := in.Requests[rng.IntN(k+1)]; rng.IntN(2) == 0 {
			q.ID = in.Requests[k].ID
			in.Requests[k] = q
		}
	}
	for k := range in.Requests {
		in.Requests[k].ArrivalS = 0
	}
	return in
}

// justFit gives half of the requests windows that just fit.
func justFit(rng *rand.Rand, n int) *model.Reservation {
	in := testkit.RandomReservation(rng, n)
	for k := range in.Requests {
		if q := &in.Requests[k]; rng.IntN(2) == 0 {
			q.DeadlineS = q.ReadyS + q.DurationS
		}
	}
	return in
}

// longReservation draws times from 1 s to 3e15 s side by side, so that sums of weights are beyond 2^53.
func longReservation(rng *rand.Rand, n int) *model.Reservation {
	in := &model.Reservation{PEs: 1 + rng.IntN(8), Goal: model.GoalPESeconds}
	figure := func(most int) float64 { return float64(rng.IntN(most))*1e14 + float64(rng.IntN(4)) }
	for k := range n {
		q := model.Request{ID: "r" + strconv.Itoa(k), PEs: 1 + rng.IntN(in.PEs), ReadyS: figure(12),
			DurationS: 1 + figure(4)}
		if rng.IntN(2) == 0 {
			q.DurationS = 1 + math.Mod(q.DurationS, 1e14)
		}
		q.DeadlineS = q.ReadyS + q.DurationS + figure(3)
		in.Requests = append(in.Requests, q)
	}
	return in
}

// load draws n requests, each for a power of two of 64 PEs; some are too many.
func load(rng *rand.Rand, n int) *model.Reservation {
	in := &model.Reservation{Name: "load", PEs: 64, Goal: model.Goals[rng.IntN(len(model.Goals))]}
	ready := 0.0
	for k := range n {
		d := []float64{1, 5, 15, 30, 60, 180}[rng.IntN(6)]
		in.Requests = append(in.Requests, model.Request{ID: fmt.Sprint("r", k), ArrivalS: ready, ReadyS: ready,
			DurationS: d,
			DeadlineS: ready + d + math.Floor(2*d*rng.Float64()), PEs: 1 << rng.IntN(7)})
		ready += float64(rng.IntN(7))
	}
	return in
}

// arbitrary draws n requests of arbitrary sizes and durations, four times as much work as there is room.
func arbitrary(rng *rand.Rand, n int) *model.Reservation {
	in := &model.Reservation{Name: "arbitrary", Goal: model.Goals[rng.IntN(len(model.Goals))], PEs: 100}
	for k := range n {
		d := float64(1 + rng.IntN(100))
		ready := math.Floor(rng.Float64() * 4 * float64(n))
		in.Requests = append(in.Requests, model.Request{ID: fmt.Sprint(k + 1), ReadyS: ready, DurationS: d,
			DeadlineS: ready + d + math.Floor(2*d*rng.Float64()), PEs: 1 + rng.IntN(60)})
	}
	return in
}

// paperTVC draws an instance of the paper's kind on k = 4, two slots a server.
func paperTVC(rng *rand.Rand, requests int) *model.TVC {
	s := instances.NewTVCSpec()
	s.K, s.Slots, s.Requests, s.Seed = 4, 2, requests, rng.Uint64()
	s.Load, s.Size, s.Bandwidth = []float64{1, 2, 4}[rng.IntN(3)], []float64{2, 4, 8}[rng.IntN(3)],
		[]float64{150, 250, 500}[rng.IntN(3)]
	s.Fabric, s.Hose, s.Goal = model.Fabrics[rng.IntN(2)], model.Hoses[rng.IntN(2)], model.TVCGoals[rng.IntN(2)]
	in, err := s.Generate()
	if err != nil {
		panic(err)
	}
	return in
}

// shortQueue draws a queue of n requests with times of a few whole seconds, some of them alike; migrations cost
// something in some.
func shortQueue(rng *rand.Rand, n int) *model.TVC {
	in := testkit.RandomTVC(rng, []int{2, 2, 4}[rng.IntN(3)], n, true)
	in.MigrationS = float64(max(0, rng.IntN(5)-2)) / 2
	at, room := 0, in.FatTree.Servers()*in.FatTree.Slots
	for k := range in.Requests {
		q := &in.Requests[k]
		q.ArrivalS, q.DurationS = float64(at), float64(1+rng.IntN(4))
		if at += rng.IntN(3); rng.IntN(2) == 0 {
			q.VMs = min(room, max(q.VMs, room/2)) // so that they meet
		}
		if before := in.Requests[max(0, k-1)]; rng.IntN(4) == 0 {
			q.VMs, q.BandwidthMbps = before.VMs, before.BandwidthMbps
		}
	}
	return in
}

// thirds draws tasks of which no three fill a host: loads are multiples of 0.3, and bounds are whole hosts.
func thirds(rng *rand.Rand) model.Instance {
	in := &model.VCSched{Name: "thirds", Hosts: 9}
	for i := range 25 {
		in.Jobs = append(in.Jobs, testkit.VCJob(fmt.Sprint(i), 1, 0.3, max(0, rng.Float64()*0.9-0.1)))
	}
	return in
}

// uglyNeeds draw the need of one resource of n tasks on some hosts: equal items, exact fits and roundings meet.
var uglyNeeds = []func(rng *rand.Rand, n, hosts int) []float64{
	func(rng *rand.Rand, n, hosts int) []float64 {
		return needs(n, func() float64 { return min(1, 1.6*rng.Float64()*float64(hosts)/float64(n)) })
	},
	func(_ *rand.Rand, n, _ int) []float64 { return make([]float64, n) },
	func(rng *rand.Rand, n, _ int) []float64 {
		kinds := needs(1+rng.IntN(3), func() float64 { return float64(rng.IntN(12)) / 20 })
		return needs(n, func() float64 { return kinds[rng.IntN(len(kinds))] })
	},
	func(rng *rand.Rand, n, _ int) []float64 {
		return needs(n, func() float64 { return float64(rng.IntN(11)) / 10 })
	},
	func(rng *rand.Rand, n, _ int) []float64 {
		d := []int{3, 6, 7, 10}[rng.IntN(4)]
		return needs(n, func() float64 { return float64(float32(rng.IntN((d+3)/2)) / float32(d)) })
	},
	func(rng *rand.Rand, n, _ int) []float64 {
		return needs(n, func() float64 {
			return 1/float64(2+rng.IntN(3)) + []float64{0, 1e-3, -1e-3, 1e-6, 1e-7, -1e-7, 1e-9, 5e-10, -1e-9, 1e-10,
				1e-12}[rng.IntN(11)]
		})
	},
	func(rng *rand.Rand, n, hosts int) []float64 { return parts(rng, n, hosts, 1) },
	func(rng *rand.Rand, n, hosts int) []float64 { return parts(rng, n, hosts, 1+view.FitTolerance) },
	func(rng *rand.Rand, n, _ int) []float64 {
		return needs(n, func() float64 { return math.Pow(10, -12*rng.Float64()) })
	},
}

func needs(n int, draw func() float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = draw()
	}
	return all
}

// parts cuts one piece of the given size for each host into n needs, the last one of each to the last bits, more or
// less.
func parts(rng *rand.Rand, n, hosts int, size float64) []float64 {
	var all []float64
	for h := range hosts {
		k := n/hosts + (hosts-1+n%hosts-h)/hosts
		if h == hosts-1 {
			k = n - len(all)
		}
		left := size
		for i := range k {
			x := left
			if i < k-1 {
				x = left * (0.2 + 0.6*rng.Float64()) * 2 / float64(k-i)
			} else if rng.IntN(4) == 0 {
				x *= 1 + float64(rng.IntN(9)-4)*0x1p-52
			}
			left -= x
			all = append(all, min(1, max(1e-12, x)))
		}
	}
	rng.Shuffle(n, func(a, b int) { all[a], all[b] = all[b], all[a] })
	return all
}

// ugly draws n tasks with needs of one kind, of some in parallel jobs. With a budget most run as a scheduler leaves
// them, and the memory that may move is just enough for some of them, or a little less.
func ugly(rng *rand.Rand, n, hosts int, budget bool) *model.VCSched {
	kind, parallel := rng.IntN(len(uglyNeeds)), rng.IntN(2) == 0
	in := &model.VCSched{Name: fmt.Sprint("ugly", kind), Hosts: hosts}
	cpu, memory := uglyNeeds[kind](rng, n, hosts), uglyNeeds[kind](rng, n, hosts)
	place, may := make([]float64, hosts), 0.0
	for k := 0; k < n; {
		j := model.VCSchedJob{ID: fmt.Sprint("j", len(in.Jobs)), Tasks: 1, CPU: max(0.05, cpu[k]), Memory: memory[k]}
		if parallel && rng.IntN(3) == 0 {
			j.Tasks = min(n-k, 2+rng.IntN(3))
		}
		if k += j.Tasks; budget && rng.IntN(4) > 0 {
			for range j.Tasks {
				h := rng.IntN(hosts)
				if place[h]+j.Memory > 1 && rng.IntN(8) > 0 {
					h = slices.Index(place, slices.Min(place))
				}
				place[h] += j.Memory
				j.CurrentHosts = append(j.CurrentHosts, h)
			}
		}
		if rng.IntN(3) == 0 {
			may += j.Memory
		}
		in.Jobs = append(in.Jobs, j)
	}
	if budget {
		may = max(0, may+[]float64{0, 0, 0, -1e-10, -1e-9, -2e-9, 1e-3, -1e-3}[rng.IntN(8)]) * float64(min(1,
			rng.IntN(6)))
		in.MigrationBudget = &may
	}
	return in
}
