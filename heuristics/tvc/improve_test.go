// SPDX-License-Identifier: MIT

package tvc

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// improve often reaches the optimum of plain enumeration, and never more.
func TestImproveAgainstEnumeration(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(26, 2))
	reached, rounds := 0, require.Rounds(150)
	for range rounds {
		in := testkit.RandomTVC(rng, 2, 1+rng.IntN(6), false)
		want, _ := plain.Optimum(in)
		s := require.Value(improve(run.New(t.Context(), "test", in, model.Settings{Seed: rng.Uint64()}), in))(t)
		o, err := in.Objective(s)
		if err != nil || o.Value > want*(1+1e-12) {
			t.Fatalf("%v, the optimum is %v, error %v\n%+v", o.Value, want, err, in)
		}
		if o.Value >= want*(1-1e-12) {
			reached++
		}
	}
	if reached < rounds*19/20 {
		t.Errorf("%d of %d optima reached", reached, rounds)
	}
}

// The same seed gives the same solution, in pieces of work of any size.
func TestEjectionSeeds(t *testing.T) {
	t.Parallel()
	in := testkit.RandomTVC(rand.New(rand.NewPCG(26, 3)), 4, 200, false)
	run := func(seed uint64, work int64) *model.Embeddings {
		x := newEjection(view.OfTVC(in), seed)
		for x.work < 3_000_000 {
			x.improve(t.Context(), min(work, 3_000_000-x.work))
		}
		return x.solution(in)
	}
	one := run(1, 3_000_000)
	if !reflect.DeepEqual(one, run(1, 100_000)) {
		t.Error("the pieces of work matter")
	}
	if reflect.DeepEqual(one, run(2, 3_000_000)) {
		t.Error("seeds don't matter")
	}
}

// The room left at the fullest moment is the least that is left at any instant at which something starts, under every
// renaming. A place found there is a place of the data centre as it is.
func TestTimelineLeast(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(26, 4))
	for range require.Rounds(100) {
		in := testkit.RandomTVC(rng, 2+2*rng.IntN(3), 40, false)
		v := view.OfTVC(in)
		x := newEjection(v, rng.Uint64())
		for k := range v.Requests {
			if v.Requests[k].Fits && rng.IntN(3) > 0 {
				x.try(int32(k), x.rules[rng.IntN(len(x.rules))])
				x.shuffle(rng)
			}
		}
		for k, id := range x.piece {
			if id >= 0 && rng.IntN(3) == 0 {
				x.reject(int32(k))
			}
		}
		k := rng.IntN(len(v.Requests))
		from, to := v.Requests[k].Arrival, v.Requests[k].Arrival+v.Requests[k].Duration
		want := fattree.New(v)
		for _, at := range append([]int64{from}, arrivals(v)...) {
			if at < from || at >= to {
				continue
			}
			d := fattree.New(v)
			for _, id := range x.piece {
				if id < 0 {
					continue
				}
				if p := &x.pieces[id]; p.start <= at && p.end > at {
					d.Add(&p.place, v.Requests[p.request].VMs, v.Requests[p.request].Bandwidth)
				}
			}
			for i := range want.Free {
				want.Free[i] = min(want.Free[i], d.Free[i])
				want.Server[i] = min(want.Server[i], d.Server[i])
				want.Edge[i] = min(want.Edge[i], d.Edge[i])
				want.Aggregation[i] = min(want.Aggregation[i], d.Aggregation[i])
			}
		}
		want.Count()
		got := x.least(from, to)
		sums := got.Clone()
		if sums.Count(); !slices.Equal(sums.EdgeFree, got.EdgeFree) ||
			!slices.Equal(sums.PodFree, got.PodFree) || sums.AllFree != got.AllFree {
			t.Fatal("sums of free slots differ")
		}
		x.forget()
		x.rename.identity(v)
		got = x.least(from, to)
		if !slices.Equal(want.Free, got.Free) || !slices.Equal(want.Server, got.Server) ||
			!slices.Equal(want.Edge, got.Edge) || !slices.Equal(want.Aggregation, got.Aggregation) {
			t.Fatalf("%+v, want %+v", got, want)
		}
		x.shuffle(rng)
		if e, ok := x.embed(x.rules[rng.IntN(len(x.rules))], int32(k), from, to); ok &&
			!want.Room(&e, v.Requests[k].VMs, v.Requests[k].Bandwidth) {
			t.Fatalf("%+v has no room", e)
		}
	}
}

func arrivals(v *view.TVC) (at []int64) {
	for k := range v.Requests {
		at = append(at, v.Requests[k].Arrival)
	}
	return at
}
