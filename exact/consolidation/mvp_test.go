// SPDX-License-Identifier: MIT

package consolidation_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/exact/consolidation"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// packing is the text of a tiny MVP file, and the things in it: bins with capacities, cost and number, and items one by
// one.
type packing struct {
	text         string
	bins         [][]int
	cost, number []int
	items        [][]int
}

// drawPacking draws one to three types in one or two dimensions, and up to six items. Some types cost nothing, or have
// no bins or no limit.
func drawPacking(rng *rand.Rand) packing {
	var p packing
	var b bytes.Buffer
	sizes := func(d, least, most int) (all []int) {
		for range d {
			all = append(all, least+rng.IntN(most-least+1))
		}
		return all
	}
	list := func(all []int) string { return strings.Trim(fmt.Sprint(all), "[]") }
	d, types := 1+rng.IntN(2), 1+rng.IntN(3)
	fmt.Fprintln(&b, d, types)
	for t := range types {
		p.bins = append(p.bins, sizes(d, 3, 10))
		p.cost, p.number = append(p.cost, max(0, rng.IntN(12)-1)), append(p.number, rng.IntN(4)-1)
		fmt.Fprintln(&b, list(p.bins[t]), p.cost[t], p.number[t])
	}
	lines := 1 + rng.IntN(3)
	fmt.Fprintln(&b, lines)
	for range lines {
		count, size := rng.IntN(3), sizes(d, 0, 7)
		size[rng.IntN(d)]++
		fmt.Fprintln(&b, 1, count, "\n", list(size))
		for range count {
			p.items = append(p.items, size)
		}
	}
	p.text = b.String()
	return p
}

// cheapest returns the least cost of bins that hold all items, by trying all placements. It is -1 if there are too few
// bins, and false is returned if an item is larger than each bin.
func (p packing) cheapest() (best int, fit bool) {
	best, fit = -1, true
	var open [][]int // what is left in each
	left := slices.Clone(p.number)
	place := func(size []int, bin []int, sign int) bool {
		ok := true
		for k, x := range size {
			bin[k] -= sign * x
			ok = ok && bin[k] >= 0
		}
		return ok
	}
	for _, size := range p.items {
		some := false
		for t := range p.bins {
			some = some || p.number[t] != 0 && place(size, slices.Clone(p.bins[t]), 1)
		}
		fit = fit && some
	}
	var put func(i, cost int)
	put = func(i, cost int) {
		if i == len(p.items) {
			if best < 0 || cost < best {
				best = cost
			}
			return
		}
		for _, b := range open {
			if place(p.items[i], b, 1) {
				put(i+1, cost)
			}
			place(p.items[i], b, -1)
		}
		for t := range p.bins {
			b := slices.Clone(p.bins[t])
			if left[t] == 0 || !place(p.items[i], b, 1) {
				continue
			}
			left[t]-- // -1 never gets to 0
			open = append(open, b)
			put(i+1, cost+p.cost[t])
			open = open[:len(open)-1]
			left[t]++
		}
	}
	put(0, 0)
	return best, fit
}

// The optimum of tiny MVP files is the least cost of all placements, and a file without one is refused or infeasible.
func TestMVPOptima(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var optimal, infeasible, large, empty int
	for k := range 800 {
		p := drawPacking(rng)
		best, fit := p.cheapest()
		f := require.Value(instances.OpenData("tiny.mvp", []byte(p.text)))(t)
		in, err := f.Instance(instances.Options{})
		switch {
		case len(p.items) == 0:
			empty++
			require.Refused(t, p.text, err, model.ErrInvalid, "no items")
			continue
		case !fit:
			large++
			require.Refused(t, p.text, err, model.ErrInvalid, "is larger than each type of bins")
			continue
		case err != nil:
			t.Fatalf("%d: %v\n%s", k, err, p.text)
		}
		r := require.Value(consolidation.Kernel.Solve(t.Context(), in, model.Settings{Seed: 1}))(t)
		require.Feasible(verify.Result(t.Context(), in, r, verify.Options{}))(t, p.text)
		if best < 0 {
			infeasible++
			require.Same(t, p.text, model.StatusInfeasible, r.Status)
			continue
		}
		optimal++
		if r.Status != model.StatusOptimal || r.Objective != float64(best) {
			t.Errorf("%d: %s, cost %g, the least is %d\n%s", k, r.Status, r.Objective, best, p.text)
		}
	}
	if min(optimal-300, infeasible-20, large-20, empty-20) < 0 {
		t.Errorf("only %d optima, %d infeasible, %d with an item too large, %d empty", optimal, infeasible, large, empty)
	}
}
