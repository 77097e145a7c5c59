// SPDX-License-Identifier: MIT

package lcg

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/test/require"
)

// A cycle of three orders is refuted without walking to the end of time: at once, if the
// activities are short, and after at most mostRounds rounds of their bounds.
func TestCycle(t *testing.T) {
	t.Parallel()
	for _, length := range []int64{1, 300, 400, 100_000} {
		const horizon = 1_000_000
		m := &cp.Model{}
		m.Objective = m.Int(0, horizon)
		x := m.Bool()
		m.Decisions = append(m.Decisions, x)
		c := &cp.NoOverlap{Before: [][]cp.Lit{{{}, cp.True, x.AtMost(0)}, {cp.False, {}, cp.True}, {x.Is(), cp.False, {}}}}
		for range 3 {
			s := cp.Start{If: cp.True, At: m.Int(0, horizon)}
			m.Integers = append(m.Integers, s.At)
			c.Starts, c.Lengths = append(c.Starts, s), append(c.Lengths, length)
		}
		m.Add(c)
		k := New(m)
		require.Same(t, fmt.Sprintf("length %d", length), Refuted, k.Search(t.Context(), 100, x.Is()))
		if most := 10 * mostRounds; len(k.events) > most {
			t.Errorf("length %d: %d events, want at most %d", length, len(k.events), most)
		}
	}
}

// The optimum is the same whether the last rule of pairs is on, as in a wide horizon, or off, as in a narrow one.
func TestWideHorizon(t *testing.T) {
	t.Parallel()
	for seed := range 400 {
		r := rand.New(rand.NewPCG(uint64(seed), 8))
		x := jobShop{jobs: [][][2]int64{{{0, 1}, {1, 2}}}} // both machines are there
		for range 1 + r.IntN(3) {
			var job [][2]int64
			for range 1 + r.IntN(3) {
				job = append(job, [2]int64{int64(r.IntN(2)), int64(r.IntN(4))})
			}
			x.jobs = append(x.jobs, job)
		}
		narrow := New(x.model(x.horizon())).Minimise(t.Context(), nil, 0, nil)
		wide := New(x.model(100_000)).Minimise(t.Context(), nil, 0, nil)
		if !narrow.Optimal || !wide.Optimal || narrow.Best != wide.Best {
			t.Errorf("seed %d: %+v, in a wide horizon %+v", seed, narrow, wide)
		}
	}
}
