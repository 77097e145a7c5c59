// SPDX-License-Identifier: MIT

package covering

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// drawn is a program with all that it was given.
type drawn struct {
	*Program
	demand  []float64
	limit   []bool    // [row]
	columns [][]Entry // [column]
	cost    []float64 // [column]
	scale   float64   // above the worth of the demands that limit columns
}

// check compares the optimum with a solution and with prices: both say the same if and only if it is the optimum.
func (d *drawn) check(t *testing.T) {
	t.Helper()
	optimum, solved := d.Solve(context.Background())
	if !solved {
		t.Fatal("not solved")
	}
	covered, sum := make([]float64, len(d.demand)), 0.0
	d.Values(func(column int, x float64) {
		sum += d.cost[column] * x
		for _, e := range d.columns[column] {
			covered[e.Row] += e.Coef * x
		}
	})
	worth := 0.0
	for k, want := range d.demand {
		if covered[k] < want-1e-6*max(1, -want) {
			t.Fatalf("row %d: %v of %v", k, covered[k], want)
		}
		price := d.Duals()[k]
		if worth += price * want; price < -1e-9 || want == 0 && !d.limit[k] && price > 1e-9 {
			t.Fatalf("row %d of demand %v: price %v", k, want, price)
		}
	}
	for j, column := range d.columns {
		cost := d.cost[j]
		for _, e := range column {
			cost -= e.Coef * d.Duals()[e.Row]
		}
		if cost < -1e-8 {
			t.Fatalf("column %d: reduced cost %v", j, cost)
		}
	}
	if scale := 1 + sum + d.scale; math.Abs(sum-optimum) > 1e-6*scale || math.Abs(worth-optimum) > 2e-6*scale {
		t.Fatalf("optimum %v, values %v, prices %v", optimum, sum, worth)
	}
}

func (d *drawn) draw(rng *rand.Rand, columns int) {
	for range columns {
		var c []Entry
		for k := range d.demand {
			switch {
			case rng.IntN(len(d.demand)) >= 3:
			case d.limit[k]:
				c = append(c, Entry{int32(k), -1})
			default:
				c = append(c, Entry{int32(k), float64(1 + rng.IntN(3))})
			}
		}
		d.columns, d.cost = append(d.columns, c), append(d.cost, float64(rng.IntN(2)))
		d.Add(c, d.cost[len(d.cost)-1])
	}
}

func newDrawn(rng *rand.Rand, rows int) *drawn {
	d := &drawn{demand: make([]float64, rows), limit: make([]bool, rows)}
	for k := range d.demand {
		d.demand[k] = float64(rng.IntN(5))
		if d.limit[k] = rng.IntN(4) == 0; d.limit[k] {
			d.demand[k] -= 5
			d.scale -= 20 * d.demand[k]
		}
		d.columns, d.cost = append(d.columns, []Entry{{int32(k), 1}}), append(d.cost, float64(1+rng.IntN(20)))
	}
	d.Program = New(d.demand, d.cost)
	return d
}

// Values and prices of the same sum prove each optimum: of new columns, of other demands, without dropped columns, and
// of a clone, which changes nothing here.
func TestOptima(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range 400 {
		d := newDrawn(rng, 1+rng.IntN(12))
		if k%20 == 0 { // more pivots than between two refreshes
			d = newDrawn(rng, 60)
		}
		for range 4 {
			d.draw(rng, rng.IntN(3*len(d.demand)))
			d.check(t)
		}
		c := &drawn{d.Clone(), slices.Clone(d.demand), d.limit, slices.Clone(d.columns), slices.Clone(d.cost), d.scale}
		for range 3 {
			for i := range c.demand {
				c.demand[i] -= float64(rng.IntN(2))
				if c.limit[i] {
					c.demand[i] = min(0, c.demand[i]+2*float64(rng.IntN(2)))
				}
				if !c.limit[i] {
					c.demand[i] = max(0, c.demand[i])
				}
			}
			c.Demand(c.demand)
			c.check(t)
			var left [][]Entry
			var costs []float64
			for _, j := range c.Drop(func(int) bool { return rng.IntN(2) == 0 }) {
				left, costs = append(left, c.columns[j]), append(costs, c.cost[j])
			}
			c.columns, c.cost = left, costs
			c.check(t)
			c.draw(rng, rng.IntN(5))
			c.check(t)
		}
		d.check(t)
	}
}

func TestStops(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	d := newDrawn(rng, 200)
	d.draw(rng, 2000)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, solved := d.Solve(ctx); solved {
		t.Error("solved after the end of the context")
	}
	d.check(t)
}
