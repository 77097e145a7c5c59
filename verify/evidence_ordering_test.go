// SPDX-License-Identifier: MIT

package verify

import (
	"cmp"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// orderingDraw is a graph of whole seconds with a schedule of it, as early as its machines and order allow or
// delayed here and there.
type orderingDraw struct {
	in      *model.DAG
	machine []int
	start   []int64
	turn    []int // place in an order that holds on all machines and along edges
	end     int64
}

func drawOrdering(rng *rand.Rand) orderingDraw {
	n, m := 1+rng.IntN(6), 1+rng.IntN(3)
	d := &model.DAG{Name: "drawn", Network: model.Network{Bandwidth: 1}}
	for a := range m {
		d.Machines = append(d.Machines, model.Machine{ID: string(rune('A' + a)), StartupS: float64(rng.IntN(2) * rng.IntN(3))})
	}
	for t := range n {
		x := model.DAGTask{ID: string(rune('a' + t))}
		for range m {
			x.CostS = append(x.CostS, float64(2*rng.IntN(5)))
		}
		d.Tasks = append(d.Tasks, x)
		for i := range t {
			if rng.IntN(3) == 0 {
				d.Edges = append(d.Edges, model.DAGEdge{From: d.Tasks[i].ID, To: x.ID, Data: float64(2 * rng.IntN(4))})
			}
		}
	}
	x := orderingDraw{in: d, machine: make([]int, n), start: make([]int64, n), turn: make([]int, n)}
	free := make([]int64, m)
	for t := range n {
		a := rng.IntN(m)
		x.machine[t] = a
		s := free[a]
		for _, e := range d.Edges {
			if i := int(e.From[0] - 'a'); e.To == d.Tasks[t].ID {
				ready := x.start[i] + int64(d.Cost(i, x.machine[i]))
				if x.machine[i] != a {
					ready += int64(d.Machines[x.machine[i]].StartupS + e.Data)
				}
				s = max(s, ready)
			}
		}
		s += int64(rng.IntN(2) * rng.IntN(3))
		x.start[t], free[a] = s, s+int64(d.Cost(t, a))
		x.end = max(x.end, free[a])
	}
	order := make([]int, n)
	for t := range order {
		order[t] = t
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(x.start[i], x.start[j]), cmp.Compare(x.start[i]+int64(d.Cost(i, x.machine[i])), x.start[j]+int64(d.Cost(j, x.machine[j]))), cmp.Compare(i, j))
	})
	for k, t := range order {
		x.turn[t] = k
	}
	return x
}

// rows returns the judge's rows for schedules that end by the horizon, without multipliers.
func (x *orderingDraw) rows(t *testing.T, horizon float64) *dagRows {
	t.Helper()
	var ids []string
	for k := range x.in.Tasks {
		ids = append(ids, x.in.Tasks[k].ID)
	}
	h := require.Value(newDAGHeads(t.Context(), x.in, ids))(t)
	o := &dagRows{dagHeads: h, n: len(ids)}
	if some, err := o.windows(t.Context(), horizon); err != nil || !some {
		t.Fatalf("no schedule by %v (%v), but there is one by %d: %+v", horizon, err, x.end, x.in)
	}
	o.variables()
	o.weight.see(0.25)
	return o
}

// value returns C + Σ λ (a row's demand less what it has) at the values that the schedule gives, a product.
func (x *orderingDraw) value(t *testing.T, o *dagRows) *big.Int {
	t.Helper()
	time := func(s int64) *big.Int { return new(big.Int).Lsh(big.NewInt(s), uint(o.unit.shift)) }
	sum := new(big.Int).Set(o.demand)
	c := new(big.Int).Lsh(big.NewInt(1), uint(o.weight.shift))
	sum.Add(sum, c.Mul(c.Add(c, o.c), time(x.end)))
	add := func(factor *big.Int) {
		if factor != nil {
			sum.Add(sum, factor)
		}
	}
	n, m := o.n, o.m
	for k := range n {
		if s := time(x.start[k]); o.off[k][x.machine[k]] || s.Cmp(o.low[k]) < 0 || s.Cmp(o.high[k]) > 0 {
			t.Fatalf("task %d can't start at %d: %+v", k, x.start[k], x)
		}
		sum.Add(sum, new(big.Int).Mul(o.s[k], time(x.start[k])))
		add(o.x[k*m+x.machine[k]])
		for j := range n {
			if a := x.machine[k]; j != k && a == x.machine[j] && x.turn[k] < x.turn[j] && o.free(k, j) {
				if !o.hasY(k, j, a) {
					t.Fatalf("%d can't be before %d on %d: %+v", k, j, a, x)
				}
				add(o.y[(k*n+j)*m+a])
			}
		}
	}
	for e := range o.from {
		if a, b := x.machine[o.from[e]], x.machine[o.to[e]]; o.timed[e] {
			if !o.hasZ(e, a, b) {
				t.Fatalf("edge %d can't be from %d to %d: %+v", e, a, b, x)
			}
			add(o.z[(e*m+a)*m+b])
		}
	}
	return sum
}

// Each row holds of drawn schedules, and no multipliers prove more than their makespan.
func TestOrderingRows(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(31, 11))
	held, tight := map[string]int{}, 0
	for range require.Rounds(800) {
		x := drawOrdering(rng)
		if x.end == 0 {
			continue
		}
		horizon := float64(x.end) * []float64{1, 1, 1.25, 3}[rng.IntN(4)]
		numbers := len(x.in.Tasks) * len(x.in.Tasks) * max(len(x.in.Machines), len(x.in.Edges))
		o, makespan := x.rows(t, horizon), new(big.Int)
		for _, kind := range evidence.OrderingRows {
			for k := range numbers {
				o.variables()
				if o.row(kind, int64(k), big.NewInt(1)) != nil {
					continue
				}
				held[kind]++
				makespan.Lsh(big.NewInt(x.end), uint(o.unit.shift+o.weight.shift))
				over := x.value(t, o).Cmp(makespan)
				if equation := kind == evidence.FromRow || kind == evidence.ToRow; over > 0 || equation && over < 0 {
					t.Fatalf("row %s %d doesn't hold of %+v", kind, k, x)
				} else if !equation && over == 0 {
					held[kind+", tight"]++
				}
			}
		}
		// Few multipliers often leave a variable of a factor on its own.
		for range 20 {
			o.variables()
			if n, m := o.n, o.m; n > 1 && rng.IntN(2) == 0 { // of two tasks that may be on one machine
				i := rng.IntN(n - 1)
				j := i + 1 + rng.IntN(n-1-i)
				_ = o.row(evidence.BothRow, int64((i*n+j)*m+rng.IntN(m)), big.NewInt(1+rng.Int64N(256)))
				if rng.IntN(2) == 0 {
					i, j = j, i
				}
				_ = o.row(evidence.WaitRow, int64(i*n+j), big.NewInt(rng.Int64N(4)))
			}
			for range rng.IntN(5) {
				kind := evidence.OrderingRows[rng.IntN(len(evidence.OrderingRows))]
				lambda := big.NewInt(rng.Int64N(8))
				if (kind == evidence.FromRow || kind == evidence.ToRow) && rng.IntN(2) == 0 {
					lambda.Neg(lambda)
				}
				_ = o.row(kind, rng.Int64N(int64(numbers)), lambda)
			}
			sum := o.up(x.value(t, o))
			switch least := o.least(); least.Cmp(sum) {
			case 1:
				t.Fatalf("the least is %v, but %v is taken by %+v: %+v", least, sum, x, o)
			case 0:
				tight++
			}
		}
	}
	for _, kind := range evidence.OrderingRows {
		if held[kind] == 0 || kind != evidence.FromRow && kind != evidence.ToRow && held[kind+", tight"] == 0 {
			t.Errorf("rows %s: %v", kind, held)
		}
	}
	if tight == 0 {
		t.Error("no bound is the value of a schedule")
	}
}
