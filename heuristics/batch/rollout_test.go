// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
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
		if err != nil {
			t.Fatal(err)
		}
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

// rollout is never worse than the best list and often better, the same each time, and the judge
// accepts what it returns, wherever it is stopped.
func TestRollout(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(30, 2))
	better, rounds := 0, require.Rounds(60)
	for round := range rounds {
		in := testkit.RandomBatch(rng, 1+round%2, 8, 2+rng.IntN(300))
		value := func(e *model.Execution, err error) float64 {
			if err != nil {
				t.Fatal(err)
			}
			o, err := in.Objective(e)
			if err != nil {
				t.Fatal(err)
			}
			return o.Value
		}
		list := value(bestList(run.New(t.Context(), "test", in, model.Settings{}), in))
		e, err := rollout(run.New(t.Context(), "test", in, model.Settings{Seed: 3}), in)
		x := value(e, err)
		if again, err := rollout(run.New(t.Context(), "test", in, model.Settings{Seed: 3}), in); err != nil || !reflect.DeepEqual(again, e) {
			t.Fatalf("another schedule with the same seed, error %v", err)
		}
		if x > list {
			t.Fatalf("%v, the best list has %v\n%+v", x, list, in)
		}
		if x < list {
			better++
		}
		stopped, err := rollout(run.New(&testkit.StopAfter{Context: t.Context(), Looks: rng.IntN(30)}, "test", in, model.Settings{}), in)
		value(stopped, err)
		for _, s := range []*model.Execution{e, stopped} {
			if report, err := verify.Verify(t.Context(), in, s, verify.Options{}); err != nil || report.Err() != nil {
				t.Fatalf("%v, %v\n%+v", err, report, in)
			}
		}
	}
	if better < rounds/4 {
		t.Errorf("better than the lists %d times of %d only", better, rounds)
	}
}
