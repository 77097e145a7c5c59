// SPDX-License-Identifier: MIT

package verify_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// rescaled multiplies an instance's times and data by a factor that no float64 may hold exactly.
func rescaled(d *model.DAG, by float64) {
	for t := range d.Tasks {
		for m := range d.Tasks[t].CostS {
			d.Tasks[t].CostS[m] *= by
		}
		if w := d.Tasks[t].Work; w != nil {
			x := *w * by
			d.Tasks[t].Work = &x
		}
	}
	for e := range d.Edges {
		d.Edges[e].Data *= by
	}
	for m := range d.Machines {
		d.Machines[m].StartupS *= by
	}
}

// nudged returns x a little or a lot earlier or later, or something that is no time of this instance.
func nudged(rng *rand.Rand, x float64) float64 {
	switch k := rng.IntN(14); k {
	case 0:
		odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -x, -1e308, math.MaxFloat64, 1e101, 5e-324, -5e-324, math.Copysign(0, -1)}
		return odd[rng.IntN(len(odd))]
	case 1, 2, 3, 4, 5:
		to := math.Inf(1 - 2*rng.IntN(2))
		for range 1 + rng.IntN(9) {
			x = math.Nextafter(x, to)
		}
		return x
	case 6, 7, 8:
		return x * (1 + []float64{1e-9, 1.001e-9, 0.999e-9, 1e-10, 1e-8, 1e-12}[rng.IntN(6)]*float64(1-2*rng.IntN(2)))
	default:
		return x * (0.8 + 0.4*rng.Float64())
	}
}

// spoil changes one thing of a schedule.
func spoil(rng *rand.Rand, d *model.DAG, s *model.Schedule) {
	if len(s.Tasks) == 0 {
		return
	}
	t := &s.Tasks[rng.IntN(len(s.Tasks))]
	send := func() *model.TransferStart {
		if len(s.Transfers) == 0 {
			return new(model.TransferStart)
		}
		return &s.Transfers[rng.IntN(len(s.Transfers))]
	}
	switch rng.IntN(24) {
	case 0:
		t.Machine = d.Machines[rng.IntN(len(d.Machines))].ID
	case 1:
		t.Machine = "nowhere"
	case 2:
		t.ID = s.Tasks[rng.IntN(len(s.Tasks))].ID
	case 3:
		t.ID = "nothing"
	case 4:
		s.Tasks = s.Tasks[:len(s.Tasks)-1]
	case 5:
		s.Transfers = s.Transfers[:max(0, len(s.Transfers)-1)]
	case 6:
		send().To = "nothing"
	case 7:
		*send() = *send()
	case 8:
		if len(d.Edges) > 0 {
			e := d.Edges[rng.IntN(len(d.Edges))]
			s.Transfers = append(s.Transfers, model.TransferStart{From: e.From, To: e.To, StartS: t.StartS})
		}
	case 9:
		rng.Shuffle(len(s.Tasks), func(a, b int) { s.Tasks[a], s.Tasks[b] = s.Tasks[b], s.Tasks[a] })
	case 10:
		rng.Shuffle(len(s.Transfers), func(a, b int) { s.Transfers[a], s.Transfers[b] = s.Transfers[b], s.Transfers[a] })
	case 11:
		s.TransferModel = model.TransferModels[rng.IntN(4)]
	case 12, 13, 14, 15, 16, 17:
		x := send()
		x.StartS = nudged(rng, x.StartS)
	default:
		t.StartS = nudged(rng, t.StartS)
	}
}

// The judge's report equals the report of the judge in fractions, to the last digit and word. The plans are right,
// nearly right and wrong, with figures small and large, binary and decimal.
func TestFloatsJudgeAsFractions(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 51))
	broken, held, near := 0, 0, 0
	draws := require.Rounds(4000)
	for k := range draws {
		d := verify.DrawDAG(rng, 8, 4)
		if k%3 == 0 {
			rescaled(d, []float64{0.1, 1. / 3, 1e-20, 1e20, 3e-9}[k/3%5])
		}
		require.OK(t, d.Validate())
		s := run(t, []dagSolver{dagheur.HEFT, dagheur.SinnenSousa, dagheur.CPOP}[k%3], d)
		for range rng.IntN(4) {
			spoil(rng, d, s)
		}
		tolerance := []float64{verify.Tolerance, verify.Tolerance, 0, 1e-15, 1e-3}[rng.IntN(5)]
		got, want := judge(t, d, s, verify.Options{Tolerance: &tolerance}), verify.RationalReport(d, s, tolerance)
		if diff := cmp.Diff(fmt.Sprintf("%#v", want), fmt.Sprintf("%#v", got)); diff != "" {
			t.Fatalf("draw %d, tolerance %v (-want,+got):\n%s\n%+v\n%+v", k, tolerance, diff, d, s)
		}
		if want.Feasible() {
			held++
		} else {
			broken++
		}
		for _, v := range want.Violations {
			if v.Amount > 0 && v.Amount < 1e-7*want.Objective {
				near++
			}
		}
	}
	if held < draws/5 || broken < draws/5 || near < draws/100 {
		t.Errorf("%d of %d hold, %d are broken, %d of them by a little", held, draws, broken, near)
	}
	t.Logf("%d of %d hold, %d are broken, %d times by a little", held, draws, broken, near)
}

// layered draws a task graph in levels of about the square root of its tasks, three edges into
// each, on machines that all share a star of links.
func layered(tasks, machines int, transfers model.TransferModel) *model.DAG {
	rng := rand.New(rand.NewPCG(1, 52))
	d := &model.DAG{TransferModel: transfers, Network: model.Network{Bandwidth: 1}}
	for m := range machines {
		id := fmt.Sprint("P", m)
		d.Machines = append(d.Machines, model.Machine{ID: id})
		d.Network.Links = append(d.Network.Links, model.Link{ID: id, Capacity: 4})
		for n := range m {
			other := fmt.Sprint("P", n)
			d.Network.Routes = append(d.Network.Routes, model.Route{From: other, To: id, Links: []string{other, id}})
		}
	}
	width := int(math.Sqrt(float64(tasks)))
	for t := range tasks {
		cost := make([]float64, machines)
		for m := range cost {
			cost[m] = float64(1+rng.IntN(500)) / 10
		}
		d.Tasks = append(d.Tasks, model.DAGTask{ID: fmt.Sprint(t), CostS: cost})
		for _, k := range rng.Perm(min(width, 8))[:3] {
			if p := t - width + k - 4; t >= width && p >= 0 {
				d.Edges = append(d.Edges, model.DAGEdge{From: fmt.Sprint(p), To: fmt.Sprint(t), Data: float64(1+rng.IntN(50)) / 10})
			}
		}
	}
	return d
}

// The judge by itself: decimals, so that few times are whole.
func BenchmarkVerifyDAG(b *testing.B) {
	for _, transfers := range model.TransferModels {
		for _, n := range []int{10_000, 100_000} {
			d := layered(n, 16, transfers)
			s := require.Value(dagheur.HEFT(b.Context(), d, model.Settings{}))(b)
			b.Run(fmt.Sprintf("%s/tasks=%d", transfers, n), func(b *testing.B) {
				for b.Loop() {
					require.Feasible(verify.Verify(b.Context(), d, s, verify.Options{Valid: true}))(b)
				}
			})
		}
	}
}
