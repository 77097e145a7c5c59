// SPDX-License-Identifier: MIT

package tvc

import (
	"math"
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
	"github.com/gapwise/gapwise/verify"
)

// improve is never worse than adaba, bid-price and its start, reports each better solution, and may be stopped at any
// moment.
func TestImprove(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(26, 1))
	better, rounds := 0, require.Rounds(100)
	for range rounds {
		in := testkit.RandomTVC(rng, 2+2*rng.IntN(2), 2+rng.IntN(60), false)
		var best model.Objective
		known := false
		least := func(s *model.Embeddings, err error) *model.Embeddings {
			if err != nil {
				t.Fatal(err)
			}
			o, err := in.Objective(s)
			if err != nil {
				t.Fatal(err)
			}
			if !known || o.Better(best) {
				best, known = o, true
			}
			return s
		}
		least(AdaBa(t.Context(), in, model.Settings{}))
		least(BidPrice(t.Context(), in, model.Settings{}))
		set := model.Settings{Seed: rng.Uint64()}
		if rng.IntN(2) == 0 {
			set.Start = least(Oktopus(t.Context(), in, model.Settings{}))
		}
		told := []model.Progress{}
		set.Progress = func(p model.Progress) { told = append(told, p) }
		ctx := &testkit.StopAfter{Context: t.Context(), Looks: rng.IntN(1000)}
		looks := ctx.Looks
		s, err := improve(run.New(ctx, "test", in, set), in)
		if err != nil {
			t.Fatal(err)
		}
		if report, err := verify.Verify(t.Context(), in, s, verify.Options{}); err != nil || report.Err() != nil {
			t.Fatal(err, report.Err())
		}
		o, err := in.Objective(s)
		if err != nil || looks > 4*len(in.Requests)+20 && best.Better(o) {
			t.Fatalf("%+v, there was %+v, error %v\n%+v", o, best, err, in)
		}
		if o.Better(best) {
			better++
		}
		for i, p := range told {
			if i > 0 && p.Incumbent < told[i-1].Incumbent {
				t.Fatalf("told %v after %v", p.Incumbent, told[i-1].Incumbent)
			}
		}
		if last := told[len(told)-1]; last.Incumbent != o.Value {
			t.Fatalf("told %v, returned %v", last.Incumbent, o.Value)
		}
	}
	if better < rounds/5 {
		t.Errorf("better than what it starts from in %d of %d", better, rounds)
	}
}

// In queue mode improve is never worse than srpt and repack with four embedders, and may be stopped at any moment.
func TestImproveQueue(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(26, 5))
	better, waiting := 0, 0
	for range require.Rounds(150) {
		in := testkit.RandomTVC(rng, 2+2*rng.IntN(2), 1+rng.IntN(40), true)
		best := math.Inf(1)
		least := func(s *model.Embeddings, err error) *model.Embeddings {
			if err != nil {
				t.Fatal(err)
			}
			o, err := in.Objective(s)
			if err != nil {
				t.Fatal(err)
			}
			best = min(best, o.Value)
			return s
		}
		for _, e := range []string{"adaba", "best-fit-local", "program-servers", "program-reserved"} {
			for _, name := range []string{"srpt", "repack"} {
				least(solve(t.Context(), in, model.Settings{Parameters: &model.TVCParameters{Embedder: e}}, name))
			}
		}
		set := model.Settings{Seed: rng.Uint64()}
		lists := best
		told := math.Inf(1)
		set.Progress = func(p model.Progress) {
			if p.Incumbent > told {
				t.Errorf("told %v after %v", p.Incumbent, told)
			}
			told = p.Incumbent
		}
		ctx := &testkit.StopAfter{Context: t.Context(), Looks: []int{rng.IntN(300), 20_000}[rng.IntN(2)]}
		looks := ctx.Looks
		s, err := improve(run.New(ctx, "test", in, set), in)
		if err != nil {
			t.Fatal(err)
		}
		if report, err := verify.Verify(t.Context(), in, s, verify.Options{}); err != nil || report.Err() != nil {
			t.Fatal(err, report.Err())
		}
		o, err := in.Objective(s)
		if err != nil || looks > 300 && o.Value > best {
			t.Fatalf("%v, there was %v, error %v\n%+v", o.Value, best, err, in)
		}
		if looks > 300 && o.Others[0] > 0 {
			waiting++
			if o.Value < lists {
				better++
			}
		}
	}
	if better < waiting/4 {
		t.Errorf("better than what it starts from in %d of %d", better, waiting)
	}
}

// improve often reaches the optimum of plain enumeration, and never more.
func TestImproveAgainstEnumeration(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(26, 2))
	reached, rounds := 0, require.Rounds(150)
	for range rounds {
		in := testkit.RandomTVC(rng, 2, 1+rng.IntN(6), false)
		want, _ := plain.Optimum(in)
		s, err := improve(run.New(t.Context(), "test", in, model.Settings{Seed: rng.Uint64()}), in)
		if err != nil {
			t.Fatal(err)
		}
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
