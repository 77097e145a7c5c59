// SPDX-License-Identifier: MIT

package runs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// On i1 random is better, on i2 neither has a value with every seed, but on none but i1 has any one. So one instance
// counts: the ranks 1 and 2, a chi-square of 1, and a distance of 1.96.
func TestRanksByHand(t *testing.T) {
	want := [][]string{{"random", "1.000", "1", "0.317", "1.960", "greedy"}, {"greedy", "2.000", "1", "0.317", "1.960", "random"}}
	got := require.Value(Ranks(sample(), CompareOptions{}))(t)
	require.Same(t, "rows", want, got.Rows)
	require.Same(t, "group", GroupOf(model.Offline), got.Groups[0])
	for name, o := range map[string]CompareOptions{
		"no such value": {Value: "speed"}, "one of each class": {Algorithms: []string{"exact", "greedy"}}, "a base": {Base: "greedy"},
	} {
		require.Refused(t, name, require.Err(Ranks(sample(), o)), model.ErrInvalid, "")
	}
}

// Ranks of a block are those of its values' order: half of those that tie, and all that are better, are before each. An
// increasing change of the values leaves them.
func TestRankedIsTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		block, moved := make([]float64, 1+rng.IntN(7)), make([]float64, 0, 7)
		for i := range block {
			if block[i] = float64(rng.IntN(4)) - 1; rng.IntN(5) == 0 {
				block[i] = math.NaN()
			}
			moved = append(moved, math.Exp(block[i]))
		}
		for _, sense := range []model.Sense{model.Minimise, model.Maximise} {
			got := ranked(sense, block)
			require.Same(t, fmt.Sprint(block), got, ranked(sense, moved))
			for i, x := range block {
				want := 1.0
				for k, y := range block {
					switch {
					case k == i:
					case math.IsNaN(x) && math.IsNaN(y), x == y:
						want += 0.5
					case math.IsNaN(x), sense.Better(y, x):
						want++
					}
				}
				if got[i] != want {
					t.Fatalf("%v, %v: %v has rank %v, want %v", block, sense, x, got[i], want)
				}
			}
		}
	}
}

// Cliques are the largest sets of which no two are told apart, by all pairs.
func TestCliques(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 7))
	for range 2000 {
		r := Ranking{Distance: 0.3 + 2*rng.Float64()}
		n := 2 + rng.IntN(8)
		for range n {
			r.Ranks = append(r.Ranks, 1+float64(rng.IntN(4*n))/4)
		}
		slices.Sort(r.Ranks)
		alike := func(first, last int) bool {
			for i := first; i <= last; i++ {
				for k := first; k <= last; k++ {
					if first < 0 || last >= n || math.Abs(r.Ranks[i]-r.Ranks[k]) >= r.Distance {
						return false
					}
				}
			}
			return true
		}
		var want [][2]int
		for first := range n {
			for last := first + 1; last < n; last++ {
				if alike(first, last) && (first == 0 || !alike(first-1, last)) && (last == n-1 || !alike(first, last+1)) {
					want = append(want, [2]int{first, last})
				}
			}
		}
		require.Same(t, fmt.Sprint(r), want, r.Cliques())
	}
}

// A better algorithm has the least mean rank, and enough instances tell it apart.
func TestRanksTellApart(t *testing.T) {
	var records []Record
	for k := range 40 {
		for a, name := range []string{"heft", "cpop", "peft"} {
			y := float64(100 + k%7 + []int{0, 9, 9}[a])
			if name == "peft" && k%2 == 0 {
				y++
			}
			records = append(records, Record{Plan: "p", Instance: strconv.Itoa(k), Hash: "sha256:" + strconv.Itoa(k), Kind: model.KindDAG, Algorithm: name, Seed: 1,
				Status: model.StatusFeasible, Objective: &y, Second: &y, Verified: true, Version: "v", Sealed: true})
		}
	}
	got := require.Value(Ranks(records, CompareOptions{}))(t)
	if got.Rows[0][0] != "heft" || got.Rows[0][3] != "<0.001" || got.Rows[0][5] != "-" || got.Rows[1][5] != "peft" {
		t.Errorf("%v", got.Rows)
	}
}
