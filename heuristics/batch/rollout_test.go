// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
)

// unlimited returns a roller that looks as often as it needs to.
func unlimited(v *view.Batch, lengths []int64) *roller {
	r := newRoller(v, lengths, 1)
	r.most = math.MaxInt64
	return r
}

// One rule alone makes the list schedule of a plain program, also where copies go on from
// somewhere, and under a rule that leaves room narrow jobs do.
func TestRollRules(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(30, 1))
	kept := 0
	for range require.Rounds(1000) {
		in := testkit.RandomBatch(rng, 1+rng.IntN(2), 8, 1+rng.IntN(14))
		v := view.OfBatch(in)
		lengths, _, err := processors.Lengths(v)
		require.OK(t, err)
		rule := rollRules[rng.IntN(len(rollRules))]
		r := unlimited(v, lengths)
		r.set(rule)
		for part := range 4 {
			if part > 0 {
				s := new(roller)
				r.copyTo(s)
				s.starts, s.least = r.starts, 0
				s.set(rule)
				r = s
			}
			end := v.Jobs[0].Submit + rng.Int64N(100e6)*int64(part)
			if part == 3 {
				end = math.MaxInt64
			}
			r.until(context.Background(), end)
		}
		if rule.room == 0 {
			if want := plainList(v, lengths, rule.listRule); !slices.Equal(r.starts, want) {
				t.Fatalf("rule %+v: %v, want %v\n%+v", rule, r.starts, want, in)
			}
		} else if room := v.Processors / rule.room; room > 0 {
			for i, at := range r.starts {
				narrow := 0
				for k, start := range r.starts {
					if w := v.Jobs[k].Processes; w < room && start <= at && at < start+lengths[k] {
						narrow += w
					}
				}
				if narrow > v.Processors-room {
					t.Fatalf("rule %+v: at the start of job %d narrow jobs hold %d of %d processors\n%+v", rule, i, narrow, v.Processors, in)
				}
				kept++
			}
		}
		if want := responses(v, r.starts, lengths); math.Abs(r.cost-(want-responses(v, submits(v), lengths))) > 1e-9*want {
			t.Fatalf("a cost of %v, the responses are %v", r.cost, want)
		}
	}
	if kept == 0 {
		t.Error("no rule left room")
	}
}

func submits(v *view.Batch) (all []int64) {
	for k := range v.Jobs {
		all = append(all, v.Jobs[k].Submit)
	}
	return all
}
