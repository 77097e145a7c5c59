// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// plainList is a list schedule made in the most direct way: at each end or arrival all
// jobs that wait are sorted and looked at.
func plainList(t *view.Batch, lengths []int64, r listRule) []int64 {
	n := len(t.Jobs)
	starts, begun := make([]int64, n), make([]bool, n)
	for now := int64(-1); slices.Contains(begun, false); {
		next := int64(math.MaxInt64)
		for k := range n {
			if at := t.Jobs[k].Submit; at > now {
				next = min(next, at)
			}
			if end := starts[k] + lengths[k]; begun[k] && end > now {
				next = min(next, end)
			}
		}
		now = next
		free := func(at int64) int { // of the jobs that have begun
			free := t.Processors
			for k := range n {
				if begun[k] && starts[k]+lengths[k] > at {
					free -= t.Jobs[k].Processes
				}
			}
			return free
		}
		var queue []int
		for k := range n {
			if !begun[k] && t.Jobs[k].Submit <= now {
				queue = append(queue, k)
			}
		}
		slices.SortStableFunc(queue, func(a, b int) int { return cmp.Compare(r.key(&t.Jobs[a], lengths[a]), r.key(&t.Jobs[b], lengths[b])) })
		shadow, extra, head := int64(math.MaxInt64), t.Processors, true
		for _, k := range queue {
			w := t.Jobs[k].Processes
			switch {
			case w <= free(now) && (now+lengths[k] <= shadow || w <= extra):
				begun[k], starts[k] = true, now
				if now+lengths[k] > shadow {
					extra -= w
				}
			case head:
				head = false
				if float64(now-t.Jobs[k].Submit) < r.patience*float64(lengths[k]) {
					continue
				}
				shadow = math.MaxInt64
				for i := range n {
					if end := starts[i] + lengths[i]; begun[i] && end > now && free(end) >= w {
						shadow = min(shadow, end)
					}
				}
				extra = free(shadow) - w
			}
		}
	}
	return starts
}

// List schedules equal a plain program's, and bestList's is the best of them.
func TestList(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(26, 1))
	won, reserved := map[int]int{}, 0
	for round := range require.Rounds(1000) {
		in := testkit.RandomBatch(rng, 1+round%2, 8, 1+rng.IntN(14))
		v := view.OfBatch(in)
		lengths, _, err := processors.Lengths(v)
		require.OK(t, err)
		best, without, of := math.Inf(1), math.Inf(1), 0
		for i, r := range listRules {
			want := plainList(v, lengths, r)
			if got := simulate(t, v, "", func(m *machine) scheduler { return newList(m, v, lengths, r) }).Starts; !slices.Equal(got, want) {
				t.Fatalf("rule %+v: %v, want %v\n%+v", r, got, want, in)
			}
			sum := responses(v, want, lengths)
			if sum < best {
				best, of = sum, i
			}
			if math.IsInf(r.patience, 1) {
				without = min(without, sum)
			}
		}
		won[of]++
		if best < without {
			reserved++
		}
		e := require.Value(bestList(run.New(t.Context(), "test", in, model.Settings{}), in))(t)
		o := require.Value(in.Objective(e))(t)
		weights := 0.0
		for k := range v.Jobs {
			weights += float64(v.Jobs[k].Weight)
		}
		if want := best / 1e6 / weights; math.Abs(o.Value-want) > want*1e-9 {
			t.Fatalf("a mean of %v, the best list has %v", o.Value, want)
		}
	}
	if len(won) < 3 || reserved == 0 {
		t.Errorf("the best rules are %v; reservations were better %d times", won, reserved)
	}
}
