package plain_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/audit/plain"
	"github.com/gapwise/gapwise/internal/testkit"
	"github.com/gapwise/gapwise/model"
)

// drawDAG draws n tasks on m machines from one of several families: whole
// figures, many zeros, ties, tenths, thirds, equal tasks and machines, start-up
// times, path capacities, links and works.
func drawDAG(rng *rand.Rand, n, m int) *model.DAG {
	d := &model.DAG{Name: "drawn", Network: model.Network{Bandwidth: 1 + float64(rng.IntN(2))}}
	figure := []func() float64{
		func() float64 { return float64(1 + rng.IntN(60)) },
		func() float64 { return float64(rng.IntN(5)) },
		func() float64 { return float64(rng.IntN(3) / 2) },
		func() float64 { return float64(rng.IntN(30)) / 10 },
		func() float64 { return float64(rng.IntN(9)) / 3 },
		func() float64 { return math.Ldexp(rng.Float64(), rng.IntN(30)) },
	}[rng.IntN(6)]
	for k := range m {
		x := model.Machine{ID: fmt.Sprint("m", k), Speed: 1 + float64(rng.IntN(2))}
		if rng.IntN(3) == 0 {
			x.StartupS = figure()
		}
		d.Machines = append(d.Machines, x)
	}
	same, equal, work, data := rng.IntN(3) == 0, rng.IntN(3) == 0, rng.IntN(5) == 0, rng.IntN(4) > 0
	density := []float64{0, 0.1, 0.3, 0.6}[rng.IntN(4)]
	for t := range n {
		x := model.DAGTask{ID: fmt.Sprint("t", t)}
		w := figure()
		for range m {
			if c := figure(); !work && same {
				x.CostS = append(x.CostS, w)
			} else if !work {
				x.CostS = append(x.CostS, c)
			}
		}
		if work {
			x.Work = &w
		}
		d.Tasks = append(d.Tasks, x)
		if equal && t > 0 && rng.IntN(3) > 0 { // a twin, or nearly one
			d.Tasks[t].CostS, d.Tasks[t].Work = d.Tasks[t-1].CostS, d.Tasks[t-1].Work
			for _, e := range d.Edges {
				if e.To == d.Tasks[t-1].ID {
					if e.To = x.ID; rng.IntN(4) == 0 {
						e.Data = figure()
					}
					d.Edges = append(d.Edges, e)
				}
			}
			continue
		}
		drawn := false
		for f := range t {
			if !equal || rng.IntN(3) == 0 { // else as the task before f, which may be a twin
				drawn = rng.Float64() < density
			}
			if e := (model.DAGEdge{From: fmt.Sprint("t", f), To: x.ID}); drawn {
				if data && equal && rng.IntN(4) > 0 {
					e.Data = 2
				} else if data {
					e.Data = figure()
				}
				d.Edges = append(d.Edges, e)
			}
		}
	}
	if rng.IntN(4) == 0 {
		for range m {
			row := make([]float64, m)
			for k := range row {
				row[k] = float64(1 + rng.IntN(3))
			}
			d.Network.PathCapacity = append(d.Network.PathCapacity, row)
		}
	}
	if m > 1 && rng.IntN(4) == 0 {
		d.Network.Links = []model.Link{{ID: "a", Capacity: 0.5}, {ID: "b"}}
		d.Network.Routes = []model.Route{{From: "m0", To: "m1", Links: []string{"b", "a"}, OneWay: rng.IntN(2) == 0}}
	}
	if len(d.Network.Routes) == 0 && rng.IntN(4) == 0 {
		d.TransferModel = model.TransferModels[rng.IntN(len(model.TransferModels))]
	}
	// Neither the file's order of the tasks nor that of the edges is the graph's.
	rng.Shuffle(n, func(a, b int) { d.Tasks[a], d.Tasks[b] = d.Tasks[b], d.Tasks[a] })
	rng.Shuffle(len(d.Edges), func(a, b int) { d.Edges[a], d.Edges[b] = d.Edges[b], d.Edges[a] })
	return d
}

// The engine finds what a brute force finds, and calls it the best.
func TestDAGAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	for range 4000 {
		n := rng.IntN(6)
		d := drawDAG(rng, n, 1+rng.IntN([]int{4, 4, 4, 4, 3, 2}[n]))
		want, complete := testkit.BruteDAG(d, 1<<22)
		if !complete {
			t.Fatal("too large for a brute force")
		}
		agree(t, d, want)
	}
}

// The rules about what the instance doesn't tell apart change no optimum, at
// sizes where they meet each other.
func TestDAGWithoutSymmetries(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 7))
	for range 3000 {
		d := drawDAG(rng, 5+rng.IntN(4), 2+rng.IntN(2))
		want := solved(t, d, math.NaN()).Value
		got, whole := plain.DAGWithoutSymmetries(d, enough)
		if !whole || math.Abs(got-want) > 2e-9*want {
			t.Fatalf("%v with the rules, %v without (whole %v)\n%+v", want, got, whole, d)
		}
	}
}

// Instances on which the search of version 0.3.0 called too much optimal: its
// value can be beaten, and the right one can't.
func TestDAGFound(t *testing.T) {
	for file, value := range map[string][2]float64{
		"dag-m472": {684, 674}, "dag-m1324": {290, 287}, "dag-falsely-optimal-19": {96, 94},
		"dag-search-wrong-optimum-13-for-12": {13, 12}, "dag-search-wrong-optimum-19-for-15": {19, 15},
		"dag-search-wrong-optimum-2-for-1": {2, 1}, "dag-search-wrong-optimum-floats": {18.143, 17.88150617070685},
	} {
		in, err := instances.Load(filepath.Join("..", "..", "..", "exact", "dag", "testdata", "found", file+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if a := solved(t, in, value[0]); a.Value != value[1] {
			t.Errorf("%s: found %v, want %v", file, a.Value, value[1])
		}
		if a := solved(t, in, value[1]); a.Solution != nil {
			t.Errorf("%s: found %v, want nothing", file, a.Value)
		}
	}
}

func BenchmarkDAG(b *testing.B) {
	for _, machines := range []int{2, 3, 4} {
		for _, tasks := range []int{10, 12, 14, 16, 18} {
			b.Run(fmt.Sprintf("machines=%d/tasks=%d", machines, tasks), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(9, 2))
				grow(b, func() model.Instance { return drawDAG(rng, tasks, machines) })
			})
		}
	}
}
