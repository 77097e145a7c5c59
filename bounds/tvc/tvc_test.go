// SPDX-License-Identifier: MIT

package tvc

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/tvcrelax"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

func fitting(t *view.TVC) (all []int) {
	for k := range t.Requests {
		if t.Requests[k].Fits {
			all = append(all, k)
		}
	}
	return all
}

// Instants are enough: requests active at a time are active at one of them, and requests active at one of them are so
// at its arrival.
func TestInstants(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	for range require.Rounds(300) {
		v := view.OfTVC(testkit.RandomTVC(rng, 2, 1+rng.IntN(10), false))
		all := make([]int, len(v.Requests))
		for k := range all {
			all[k] = k
		}
		spans, count := tvcrelax.Instants(v, all)
		at := make([][]int, count)
		for i, s := range spans {
			if s.From > s.To || s.From < 0 || s.To >= count {
				t.Fatalf("request %d has the instants %v of %d", i, s, count)
			}
			for x := s.From; x <= s.To; x++ {
				at[x] = append(at[x], i)
			}
		}
		var active [][]int // at each arrival
		for k := range v.Requests {
			now := v.Requests[k].Arrival
			var set []int
			for i := range v.Requests {
				if q := &v.Requests[i]; q.Arrival <= now && now < q.Arrival+q.Duration {
					set = append(set, i)
				}
			}
			active = append(active, set)
			if !slices.ContainsFunc(at, func(x []int) bool {
				return !slices.ContainsFunc(set, func(i int) bool { return !slices.Contains(x, i) })
			}) {
				t.Fatalf("%v are active at once, the instants have %v", set, at)
			}
		}
		for _, x := range at {
			if !slices.ContainsFunc(active, func(set []int) bool { return slices.Equal(set, x) }) {
				t.Fatalf("an instant has %v, at arrivals there are %v", x, active)
			}
		}
	}
}

// No two components run at the same time, and together they have every request
// that fits, once.
func TestComponents(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 2))
	for range require.Rounds(200) {
		v := view.OfTVC(testkit.RandomTVC(rng, 2, 1+rng.IntN(10), false))
		var all []int
		end := int64(-1)
		for _, part := range tvcrelax.Components(v) {
			for _, k := range part {
				if v.Requests[k].Arrival < end {
					t.Fatalf("request %d arrives before a component ends", k)
				}
			}
			for _, k := range part {
				end = max(end, v.Requests[k].Arrival+v.Requests[k].Duration)
			}
			all = append(all, part...)
		}
		if !slices.Equal(all, fitting(v)) {
			t.Fatalf("components have %v, %v fit", all, fitting(v))
		}
	}
}

// Parts are exactly the parts of some embedding into the empty data centre, with its loads, in the order of VMs.
func TestParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 3))
	for range require.Rounds(60) {
		in := testkit.RandomTVC(rng, 2, 1, false)
		v := view.OfTVC(in)
		tree, n := tvcrelax.NewTree(v), v.Requests[0].VMs
		want := make([]map[tvcrelax.Part]bool, tree.Root())
		for level := range want {
			want[level] = map[tvcrelax.Part]bool{}
		}
		for _, e := range plain.Embeddings(in, 0, nil) {
			for level := range want {
				parts := map[int]tvcrelax.Part{}
				for _, s := range e.Servers {
					p := parts[s.Server/tree.Servers(level)]
					p.VMs += int32(s.VMs)
					p.Load += int32(min(s.VMs, n-s.VMs))
					parts[s.Server/tree.Servers(level)] = p
				}
				for _, p := range parts {
					switch {
					case int(p.VMs) == n:
						p.Load = 0
					case !v.PerPath:
						p.Load = min(p.VMs, int32(n)-p.VMs)
					}
					want[level][p] = true
				}
			}
		}
		for level, got := range tree.Parts(n, v.Requests[0].Bandwidth, v.PerPath) {
			if !slices.IsSortedFunc(got, tvcrelax.Part.Compare) {
				t.Fatalf("parts %v aren't in order", got)
			}
			for p := range want[level] {
				if !slices.Contains(got, p) {
					t.Fatalf("level %d: part %v is missing in %v: %+v", level, p, got, in)
				}
			}
		}
	}
}

// The content of a server has no more of the servers' resource than there is, and exactly as much if the server is
// full: all of it, or half its slots and all of its link.
func TestShares(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 6))
	full := 0
	for range require.Rounds(20_000) {
		slots, rate := 2+rng.IntN(10), int64(20+rng.IntN(200))
		tree := &tvcrelax.Tree{Fan: []int{0, 1}, Slots: []int{slots, slots}, Rate: []int64{rate}, Lanes: []int{1}}
		shares := tvcrelax.Shares(slots)
		held := make([]int64, len(shares))
		for m, left := slots, rate; m > 0; {
			bandwidth := 1 + rng.Int64N(rate)
			p := tvcrelax.Part{VMs: int32(1 + rng.IntN(m))}
			p.Load = rng.Int32N(int32(min(left/bandwidth, int64(p.VMs))) + 1)
			for k, s := range shares {
				held[k] += tree.Shared(s, p, bandwidth)
			}
			m, left = m-int(p.VMs), left-int64(p.Load)*bandwidth
		}
		for k, s := range shares {
			if held[k] > rate*int64(s) {
				t.Fatalf("%d slots, rate %d, share %d: what a server holds has %d", slots, rate, s, held[k])
			}
			if held[k] == rate*int64(s) {
				full++
			}
		}
	}
	if full < require.Rounds(20_000)/10 {
		t.Errorf("only %d are full", full)
	}
}

// optimal returns the optimum of an instance and a solution of that value.
func optimal(in *model.TVC) (float64, *model.Embeddings) {
	a := plain.Best(in)
	return a.Value, a.Solution.(*model.Embeddings)
}

// At every instant the requests of an optimal solution hold at most the capacity of
// each resource.
func TestResources(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 4))
	for range require.Rounds(300) {
		in := testkit.RandomTVC(rng, 2, 1+rng.IntN(6), false)
		v := view.OfTVC(in)
		part := fitting(v)
		_, best := optimal(in)
		index := require.Value(in.Index(best))(t)
		spans, count := tvcrelax.Instants(v, part)
		for _, few := range []bool{true, false} {
			for k, r := range tvcrelax.NewTree(v).Resources(v, part, few) {
				for at := range count {
					sum := 0.0
					for i, request := range part {
						if slices.Contains(index, request) && spans[i].From <= at && at <= spans[i].To {
							sum += r.Demand[i]
						}
					}
					if sum > 1+1e-12 {
						t.Fatalf("resource %d of %v is exceeded by an optimal solution, %v: %+v", k, part, sum, in)
					}
				}
			}
		}
	}
}

// Whatever the multipliers are, their conclusions hold for the optimum, and for each set of accepted and rejected
// requests.
func TestMultipliers(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 5))
	for range require.Rounds(200) {
		in := testkit.RandomTVC(rng, 2, 1+rng.IntN(6), false)
		v := view.OfTVC(in)
		part := fitting(v)
		w := tvcrelax.NewWeights(in, v)
		_, best := optimal(in)
		index := require.Value(in.Index(best))(t)
		r := tvcrelax.NewRelaxation(v, part, w, rng.IntN(2) == 0)
		var rejected []int
		for i, k := range part {
			if !slices.Contains(index, k) {
				rejected = append(rejected, i)
			}
		}
		for _, i := range rejected {
			cover := []int{i}
			for j, k := range part {
				if slices.Contains(index, k) {
					cover = append(cover, j)
				}
			}
			addCover(r, cover) // holds for the optimum at hand
		}
		lambda, covers := make([][]float64, len(r.Resources)), make([]float64, len(r.Cuts))
		scale := float64(w.Total) * rng.Float64()
		for k := range lambda {
			lambda[k] = make([]float64, r.Instants)
			for at := range lambda[k] {
				lambda[k][at] = max(0, rng.Float64()-0.5) * scale
			}
		}
		for k := range covers {
			covers[k] = rng.Float64() * scale
		}
		solved := require.Value(r.Solve(context.Background(), nil))(t)
		all := []*tvcrelax.Multipliers{r.PricesAt(lambda, covers), r.Ascend(context.Background(), 20)}
		if solved != nil {
			all = append(all, solved)
		}
		for _, m := range all {
			value, fixed, open := 0.0, m.Base, m.Base
			for i, k := range part {
				open += max(0, m.Reduced[i])
				if slices.Contains(index, k) {
					value += float64(w.Of[k])
					fixed += m.Reduced[i]
				}
			}
			if fixed < value || open < value || open != m.Bound() {
				t.Fatalf("bounds %v and %v, the optimum is %v: %+v", fixed, open, value, in)
			}
		}
	}
}

// The linear program is no worse than the subgradient method, which comes near it.
func TestAscend(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 6))
	worst := 0.0
	for range require.Rounds(20) {
		in := testkit.RandomTVC(rng, 4, 40, false)
		v := view.OfTVC(in)
		r := tvcrelax.NewRelaxation(v, fitting(v), tvcrelax.NewWeights(in, v), false)
		lp := require.Value(r.Solve(context.Background(), nil))(t)
		if lp == nil {
			continue
		}
		long := r.Ascend(context.Background(), longSteps).Bound()
		if long < lp.Bound()*(1-1e-6) {
			t.Fatalf("the subgradient method says %v, the linear program %v", long, lp.Bound())
		}
		worst = max(worst, long/lp.Bound()-1)
	}
	if worst > 0.1 {
		t.Errorf("the subgradient method stays up to %.1f %% above the linear program", 100*worst)
	}
}

// A solution that exceeds a rate by one bit per second is excluded by rows that the
// optimum satisfies.
func TestExclude(t *testing.T) {
	in := &model.TVC{FatTree: model.FatTree{K: 2, Slots: 2, LinkMbps: 1000}, Requests: []model.TVCRequest{
		{ID: "a", VMs: 2, BandwidthMbps: 500.000001, DurationS: 1}, {ID: "b", VMs: 2, BandwidthMbps: 500, DurationS: 1}}}
	f := require.Value(Build(t.Context(), in, ""))(t)
	both := func(servers ...[]model.ServerVMs) *model.Embeddings {
		e := &model.Embeddings{}
		for k, s := range servers {
			e.Runs = append(e.Runs, model.Run[model.Embedding]{ID: in.Requests[k].ID, Segments: []model.Segment[model.Embedding]{
				{EndS: 1, Place: model.Embedding{Switch: model.Switch{Layer: model.LayerCore}, Servers: s}}}})
		}
		return e
	}
	bad := both([]model.ServerVMs{{Server: 0, VMs: 1}, {Server: 1, VMs: 1}}, []model.ServerVMs{{Server: 0, VMs: 1}, {Server: 1, VMs: 1}})
	good := both([]model.ServerVMs{{Server: 0, VMs: 2}}, []model.ServerVMs{{Server: 1, VMs: 2}})
	if f.Exclude(good) {
		t.Error("a solution is excluded")
	}
	if off := f.Violation(f.Encode(bad)); off > 1e-8 {
		t.Fatalf("the point is off by %v, so this test says nothing", off)
	}
	if !f.Exclude(bad) || f.Violation(f.Encode(bad)) < 0.5 {
		t.Error("a point that exceeds a rate isn't excluded")
	}
	if off := f.Violation(f.Encode(good)); off > 0 {
		t.Errorf("the rows exclude a solution: %v", off)
	}
}

func TestBuildRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 8))
	require.Refused(t, "queue mode", require.Err(Build(t.Context(), testkit.RandomTVC(rng, 2, 3, true), "")),
		model.ErrUnsupported, "")
	if _, err := Build(t.Context(), testkit.RandomTVC(rng, 2, 3, false), "magic"); err == nil {
		t.Error("an unknown formulation is no error")
	}
	large := &model.TVC{FatTree: model.FatTree{K: 48, Slots: 8, LinkMbps: 1000}}
	for k := range 200 {
		large.Requests = append(large.Requests, model.TVCRequest{ID: string(rune('a' + k)), VMs: 100, BandwidthMbps: 1, DurationS: 1})
	}
	require.Refused(t, "a large instance", require.Err(Build(t.Context(), large, "")), model.ErrUnsupported, "")
}

// Weights are the exact products in units, or rounded up if they are too large.
func TestWeights(t *testing.T) {
	in := &model.TVC{FatTree: model.FatTree{K: 2, Slots: 8, LinkMbps: 1000}, Goal: model.GoalRevenue, Requests: []model.TVCRequest{
		{ID: "a", VMs: 2, BandwidthMbps: 30, DurationS: 5}, {ID: "b", VMs: 3, BandwidthMbps: 10, DurationS: 10}, {ID: "never", VMs: 16, BandwidthMbps: 500, DurationS: 1}}}
	w := tvcrelax.NewWeights(in, view.OfTVC(in))
	if !slices.Equal(w.Of, []int64{1, 1, 0}) || w.Total != 2 || w.Rounded {
		t.Errorf("weights %+v, want 1, 1 and 0", w)
	}
	if v := w.Value(2); v < 600 || v > 600*(1+1e-12) {
		t.Errorf("value %v, want 600", v)
	}
	in.Requests[0].BandwidthMbps, in.Requests[0].DurationS = 999.999999, 999999.999999
	in.Requests[1].BandwidthMbps, in.Requests[1].DurationS = 0.000001, 0.000001
	w = tvcrelax.NewWeights(in, view.OfTVC(in))
	exact := in.Requests[0].Revenue() + in.Requests[1].Revenue()
	if v := w.Value(w.Total); !w.Rounded || w.Of[1] != 1 || v < exact || v > exact*(1+1e-12) {
		t.Errorf("weights %+v are worth %v, want a little more than %v", w, v, exact)
	}
}

// Cuts by patterns keep every optimal solution, and there are some.
func TestPatterns(t *testing.T) {
	require.HiGHS(t)
	rng := rand.New(rand.NewPCG(12, 9))
	cuts := 0
	for range require.Rounds(300) {
		in := testkit.RandomTVC(rng, 2, 3+rng.IntN(4), false)
		in.FatTree.Slots = 3 + rng.IntN(3)
		for k := range in.Requests { // clusters that hardly can be split
			q := &in.Requests[k]
			q.VMs, q.BandwidthMbps = 1+rng.IntN(in.FatTree.Slots), in.FatTree.LinkMbps*float64(1+rng.IntN(2))
		}
		v := view.OfTVC(in)
		part := fitting(v)
		want, best := optimal(in)
		index := require.Value(in.Index(best))(t)
		r := tvcrelax.NewRelaxation(v, part, tvcrelax.NewWeights(in, v), true)
		m := require.Value(r.Tighten(context.Background()))(t)
		cuts += len(r.Cuts)
		if r.Exceeded(func(i int) bool { return slices.Contains(index, part[i]) }) {
			t.Fatalf("the optimum exceeds a cut: %+v", in)
		}
		if w := tvcrelax.NewWeights(in, v); m != nil && w.Value(m.Floor()) < want*(1-1e-12) {
			t.Fatalf("bound %v, the optimum is %v: %+v", w.Value(m.Floor()), want, in)
		}
	}
	if cuts < require.Rounds(300)/20 {
		t.Errorf("only %d cuts", cuts)
	}
}

// Any excess over the slots or a cover at some instant is found, and only that. addCover adds a set of requests, by
// ascending position, that can't all be accepted.
func addCover(r *tvcrelax.Relaxation, cover []int) {
	coef := make([]float64, len(cover))
	for k := range coef {
		coef[k] = 1
	}
	r.Cuts = append(r.Cuts, tvcrelax.Cut{Members: cover, Coef: coef, Limit: float64(len(cover) - 1)})
}

func TestExceeded(t *testing.T) {
	in := &model.TVC{FatTree: model.FatTree{K: 2, Slots: 4, LinkMbps: 1000}}
	for k, at := range []float64{0, 1, 2} {
		in.Requests = append(in.Requests, model.TVCRequest{ID: string(rune('a' + k)), ArrivalS: at, DurationS: 2, VMs: 3, BandwidthMbps: 1})
	}
	v := view.OfTVC(in)
	r := tvcrelax.NewRelaxation(v, []int{0, 1, 2}, tvcrelax.NewWeights(in, v), true)
	all := func(int) bool { return true }
	if r.Exceeded(all) {
		t.Error("two requests of three VMs at a time exceed eight slots")
	}
	addCover(r, []int{0, 2})
	if !r.Exceeded(all) || r.Exceeded(func(i int) bool { return i < 2 }) {
		t.Error("a cover is exceeded where not all of it is accepted, or not where it is")
	}
	in.FatTree.Slots = 2
	v = view.OfTVC(in)
	r = tvcrelax.NewRelaxation(v, []int{0, 1, 2}, tvcrelax.NewWeights(in, v), true)
	if !r.Exceeded(all) || r.Exceeded(func(i int) bool { return i != 1 }) {
		t.Error("six VMs fit four slots, or three don't")
	}
}
