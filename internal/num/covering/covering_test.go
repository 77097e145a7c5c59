// SPDX-License-Identifier: MIT

package covering

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// drawn is a program with all that it was given.
type drawn struct {
	*Program
	demand  []float64
	columns [][]Entry // [column]
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
		sum += x
		for _, e := range d.columns[column] {
			covered[e.Row] += e.Coef * x
		}
	})
	worth := 0.0
	for k, want := range d.demand {
		if covered[k] < want-1e-6 {
			t.Fatalf("row %d: %v of %v", k, covered[k], want)
		}
		price := d.Duals()[k]
		if worth += price * want; price < -1e-9 || want == 0 && price > 1e-9 {
			t.Fatalf("row %d of demand %v: price %v", k, want, price)
		}
	}
	for j, column := range d.columns {
		cost := 1.0
		for _, e := range column {
			cost -= e.Coef * d.Duals()[e.Row]
		}
		if cost < -1e-8 {
			t.Fatalf("column %d: reduced cost %v", j, cost)
		}
	}
	if math.Abs(sum-optimum) > 1e-6*(1+sum) || math.Abs(worth-optimum) > 2e-6*(1+sum) {
		t.Fatalf("optimum %v, values %v, prices %v", optimum, sum, worth)
	}
}

func (d *drawn) draw(rng *rand.Rand, columns int) {
	for range columns {
		var c []Entry
		for k := range d.demand {
			if rng.IntN(len(d.demand)) < 3 {
				c = append(c, Entry{int32(k), float64(1 + rng.IntN(3))})
			}
		}
		d.columns = append(d.columns, c)
		d.Add(c)
	}
}

func newDrawn(rng *rand.Rand, rows int) *drawn {
	d := &drawn{demand: make([]float64, rows)}
	for k := range d.demand {
		d.demand[k] = float64(rng.IntN(5))
		d.columns = append(d.columns, []Entry{{int32(k), 1}})
	}
	d.Program = New(d.demand)
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
		c := &drawn{d.Clone(), append([]float64(nil), d.demand...), append([][]Entry(nil), d.columns...)}
		for range 3 {
			for i := range c.demand {
				c.demand[i] = max(0, c.demand[i]-float64(rng.IntN(2)))
			}
			c.Demand(c.demand)
			c.check(t)
			var left [][]Entry
			for _, j := range c.Drop(func(int) bool { return rng.IntN(2) == 0 }) {
				left = append(left, c.columns[j])
			}
			c.columns = left
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
