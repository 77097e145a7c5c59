// SPDX-License-Identifier: MIT

package verify_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// micro returns a time in microseconds.
func micro(x float64) int64 { return int64(math.Round(x * 1e6)) }

// count returns the violations by constraint.
func count(r verify.Report) map[string]int {
	n := map[string]int{}
	for _, v := range r.Violations {
		n[v.Constraint]++
	}
	return n
}

// In loss mode the judge accepts each embedding that plain enumeration finds next to the existing ones, and no other.
// Placements that need not fit come from the enumeration with endless links.
func TestTVCEmbeddingsAgainstEnumeration(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 3))
	accepted, refused := 0, map[string]int{}
	draws := require.Rounds(400)
	for draw := range draws {
		k, n := 2, 6
		if draw%20 == 0 {
			k = 4
		}
		in := testkit.RandomTVC(rng, k, n, false)
		endless := *in
		endless.FatTree.LinkMbps, endless.FatTree.LayersMbps = 1e7, nil
		endless.Requests = slices.Clone(in.Requests)
		for i := range in.Requests {
			if k == 4 {
				in.Requests[i].VMs = min(in.Requests[i].VMs, 3)
			}
			endless.Requests[i] = in.Requests[i]
			endless.Requests[i].BandwidthMbps = 1e-6
		}
		s := &model.Embeddings{}
		there, ends := map[int]model.Embedding{}, map[int]int64{}
		for i := range in.Requests {
			q := &in.Requests[i]
			for k, end := range ends {
				if end <= micro(q.ArrivalS) {
					delete(there, k)
					delete(ends, k)
				}
			}
			end := micro(q.ArrivalS) + micro(q.DurationS)
			run := func(e model.Embedding) model.Run[place] {
				return model.Run[place]{ID: q.ID, Segments: []model.Segment[place]{{StartS: q.ArrivalS, EndS: float64(end) / 1e6, Place: e}}}
			}
			fitting := plain.Embeddings(in, i, there)
			all := plain.Embeddings(&endless, i, nil)
			for range 4 {
				if len(all) == 0 {
					break
				}
				e := all[rng.IntN(len(all))]
				r := judge(t, in, &model.Embeddings{Runs: append(slices.Clone(s.Runs), run(e))}, verify.Options{})
				want := slices.ContainsFunc(fitting, func(x model.Embedding) bool { return x.Switch == e.Switch && slices.Equal(x.Servers, e.Servers) })
				if r.Feasible() != want {
					t.Fatalf("%+v beside %+v is accepted: %v, want %v\n%+v\n%v", e, there, r.Feasible(), want, in, r)
				}
				for _, v := range r.Violations {
					if !slices.Contains([]string{"server_slots", "server_link", "edge_link", "aggregation_link"}, v.Constraint) {
						t.Fatalf("%v\n%+v\n%+v", v, in, e)
					}
					refused[v.Constraint]++
				}
			}
			if len(fitting) > 0 && rng.IntN(5) > 0 {
				e := fitting[rng.IntN(len(fitting))]
				s.Runs = append(s.Runs, run(e))
				there[i], ends[i] = e, end
				accepted++
			}
		}
	}
	if len(refused) != 4 || accepted < draws {
		t.Errorf("%d accepted, refused for %v", accepted, refused)
	}
}

// simulate runs a queue without a plan: requests start in any order, wherever
// plain enumeration finds room, are suspended at any time after their migration,
// and go on there or elsewhere. All that fit run to their end.
func simulate(rng *rand.Rand, in *model.TVC) *model.Embeddings {
	n := len(in.Requests)
	runs, left, longest := make([]model.Run[place], n), make([]int64, n), int64(1)
	idle := make([]int64, n) // the time that the last segment spends on its migration
	there := map[int]model.Embedding{}
	for k := range n {
		runs[k].ID = in.Requests[k].ID
		if plain.Fits(in, k) {
			left[k] = micro(in.Requests[k].DurationS)
			longest = max(longest, left[k])
		}
	}
	last := func(k int) *model.Segment[place] { return &runs[k].Segments[len(runs[k].Segments)-1] }
	end := func(k int) int64 { return micro(last(k).StartS) + idle[k] + left[k] }
	stop := func(k int, now int64) {
		last(k).EndS = float64(now) / 1e6
		left[k] = end(k) - now
		delete(there, k)
	}
	for now := int64(0); ; {
		for k := range n {
			if _, runs := there[k]; runs && (end(k) == now || rng.IntN(4) == 0 && now > micro(last(k).StartS)+idle[k]) {
				stop(k, now)
			}
		}
		next := int64(math.MaxInt64)
		for _, k := range rng.Perm(n) {
			arrival := micro(in.Requests[k].ArrivalS)
			if _, runs := there[k]; runs || left[k] == 0 {
				continue
			}
			if arrival > now {
				next = min(next, arrival)
				continue
			}
			if len(there) > 0 && rng.IntN(3) == 0 {
				continue
			}
			fitting := plain.Embeddings(in, k, there)
			if len(fitting) == 0 {
				continue
			}
			e := fitting[rng.IntN(len(fitting))]
			idle[k] = 0
			if len(runs[k].Segments) > 0 {
				before := last(k).Place
				back := slices.IndexFunc(fitting, func(x model.Embedding) bool { return slices.Equal(x.Servers, before.Servers) })
				if back >= 0 && rng.IntN(2) == 0 {
					e = fitting[back]
				}
				if !slices.Equal(e.Servers, before.Servers) {
					idle[k] = micro(in.MigrationS)
				}
			}
			runs[k].Segments = append(runs[k].Segments, model.Segment[place]{StartS: float64(now) / 1e6, Place: e})
			there[k] = e
		}
		for k := range there {
			next = min(next, end(k))
		}
		if next == math.MaxInt64 {
			break
		}
		if later := now + 1 + rng.Int64N(longest); len(there) > 0 {
			next = min(next, later)
		}
		now = next
	}
	s := &model.Embeddings{}
	for _, k := range rng.Perm(n) {
		if len(runs[k].Segments) > 0 {
			s.Runs = append(s.Runs, runs[k])
		}
	}
	return s
}

// In queue mode the judge accepts the events of a simulation, computes the figures that the model computes, and finds
// each planted mistake.
func TestTVCSimulatedQueues(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 4))
	planted, several, moved := map[string]int{}, 0, 0
	draws := require.Rounds(800)
	for draw := range draws {
		k := 2
		if draw%20 == 0 {
			k = 4
		}
		in := testkit.RandomTVC(rng, k, 1+rng.IntN(5), true)
		for i := range in.Requests {
			if k == 4 {
				in.Requests[i].VMs = min(in.Requests[i].VMs, 3)
			}
		}
		s := simulate(rng, in)
		r := judge(t, in, s, verify.Options{})
		if !r.Feasible() {
			t.Fatalf("%v\n%+v\n%+v", r, in, s)
		}
		o, err := in.Objective(s)
		if err != nil || math.Abs(o.Value-r.Objective) > 1e-12*o.Value || math.Abs(o.Second-r.Second) > 1e-12*o.Second {
			t.Fatalf("%v and %v, the model says %+v, %v", r.Objective, r.Second, o, err)
		}
		if len(s.Runs) == 0 {
			continue
		}
		migrations := 0
		for i := range s.Runs {
			segments := s.Runs[i].Segments
			several += len(segments) - 1
			for x := 1; x < len(segments); x++ {
				if !slices.Equal(segments[x].Place.Servers, segments[x-1].Place.Servers) {
					migrations++
				}
			}
		}
		moved += migrations
		require.Is(t, o.Others[3], float64(migrations), "migrations by the judge, beside the model's")
		// Each mistake is one change of a copy.
		run := &s.Runs[rng.IntN(len(s.Runs))]
		segments := run.Segments
		x := rng.IntN(len(segments))
		was := segments[x]
		ulp := float64(micro(was.EndS)+1) / 1e6
		for name, c := range map[string]struct {
			do   func() bool
			want string
		}{
			"a microsecond more": {func() bool { segments[x].EndS = ulp; return true }, "wrong_work"},
			"a microsecond less": {func() bool {
				segments[x].StartS = float64(micro(was.StartS)+1) / 1e6
				return micro(was.StartS)+1 < micro(was.EndS)
			}, "wrong_work"},
			"a segment less": {func() bool { // the last: another one may have been a migration
				run.Segments = segments[:len(segments)-1]
				return len(segments) > 1
			}, "wrong_work"},
			"a run less": {func() bool {
				run.ID = "x"
				return true
			}, "declined_request"},
			"a VM more": {func() bool {
				segments[x].Place.Servers = slices.Clone(was.Place.Servers)
				segments[x].Place.Servers[0].VMs++
				return true
			}, "vm_count"},
			"before the arrival": {func() bool {
				for i := range in.Requests {
					if q := &in.Requests[i]; q.ID == run.ID && q.ArrivalS > 0 {
						segments[0].StartS = float64(micro(q.ArrivalS)-1) / 1e6
						return true
					}
				}
				return false
			}, "early_start"},
			"two segments at once": {func() bool {
				if x > 0 {
					segments[x].StartS = float64(micro(segments[x-1].EndS)-1) / 1e6
				}
				return x > 0
			}, "segment_order"},
			"a free migration": {func() bool {
				if in.MigrationS == 0 || x == 0 || slices.Equal(was.Place.Servers, segments[x-1].Place.Servers) {
					return false
				}
				segments[x].EndS = float64(micro(was.EndS)-micro(in.MigrationS)) / 1e6
				return true
			}, "wrong_work"},
			"longer beside others": {func() bool { // found by the start where it should have ended
				for i := range s.Runs {
					if y := &s.Runs[i]; y.ID != run.ID {
						for _, z := range y.Segments {
							if z.StartS == was.EndS && slices.ContainsFunc(z.Place.Servers, func(v model.ServerVMs) bool {
								return v.VMs == in.FatTree.Slots && slices.ContainsFunc(was.Place.Servers, func(w model.ServerVMs) bool { return w.Server == v.Server })
							}) {
								segments[x].EndS = ulp
								return true
							}
						}
					}
				}
				return false
			}, "server_slots"},
		} {
			id, first := run.ID, segments[0]
			if c.do() {
				planted[name]++
				if got := judge(t, in, s, verify.Options{}); count(got)[c.want] == 0 {
					t.Fatalf("%s: %s isn't found\n%v\n%+v\n%+v", name, c.want, got, in, s)
				}
			}
			run.ID, run.Segments = id, segments
			segments[0] = first
			segments[x] = was
		}
	}
	if len(planted) != 9 || slices.Min(values(planted)) < 10 && !testing.Short() {
		t.Errorf("planted: %v", planted)
	}
	if several < draws/3 || moved < draws/8 {
		t.Errorf("%d suspensions, %d migrations", several, moved)
	}
}

func values(m map[string]int) (all []int) {
	for _, n := range m {
		all = append(all, n)
	}
	return all
}

// If a queue drops a request that fits, the judge reports each, at all sizes: on small data centres by enumeration, on
// large ones by the model.
func TestTVCFits(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 5))
	dropped := func(in *model.TVC, fits func(k int) bool) {
		t.Helper()
		want := 0
		for k := range in.Requests {
			if fits(k) {
				want++
			}
		}
		if got := count(judge(t, in, &model.Embeddings{}, verify.Options{}))["declined_request"]; got != want {
			t.Fatalf("%d fit, want %d\n%+v", got, want, in)
		}
	}
	for range require.Rounds(3000) {
		k, most := 2, 8
		if rng.IntN(10) == 0 {
			k, most = 4, 5
		}
		in := testkit.RandomTVC(rng, k, 3, true)
		if rng.IntN(2) == 0 {
			in.FatTree.LayersMbps = &model.LayerRates{ServerMbps: float64(1 + rng.IntN(most)), EdgeMbps: float64(1 + rng.IntN(most)), AggregationMbps: float64(1 + rng.IntN(most))}
			for i := range in.Requests {
				in.Requests[i].BandwidthMbps = 1
				in.Requests[i].VMs = 1 + rng.IntN(min(most, 4*k*in.FatTree.Slots/4))
			}
		}
		for i := range in.Requests {
			in.Requests[i].VMs = min(in.Requests[i].VMs, most, k*k*k/4*in.FatTree.Slots)
		}
		dropped(in, func(k int) bool { return plain.Fits(in, k) })
	}
	yes, no := 0, 0
	for range require.Rounds(20_000) {
		k := []int{2, 4, 6, 8, 48}[rng.IntN(5)]
		slots := 1 + rng.IntN(12)
		rate := func(most int) float64 { return float64(1 + rng.IntN(most)) }
		in := &model.TVC{Queue: true, FatTree: model.FatTree{K: k, Slots: slots, LinkMbps: 1000,
			LayersMbps: &model.LayerRates{ServerMbps: rate(slots), EdgeMbps: rate(k * slots / 2), AggregationMbps: rate(k * k * slots / 4)}}}
		in.Hose = model.Hoses[rng.IntN(2)]
		in.FatTree.Fabric = model.Fabrics[rng.IntN(2)]
		servers := k * k * k / 4
		// Around the sizes of a server, an edge switch, a pod, and all.
		size := []int{slots, 2 * slots, k * slots / 2, k * k * slots / 4, servers * slots}[rng.IntN(5)]
		q := model.TVCRequest{ID: "r", DurationS: 1, BandwidthMbps: []float64{1, 1, 0.5, 0.999999, 1.000001}[rng.IntN(5)],
			VMs: min(max(1, size-2+rng.IntN(5), rng.IntN(size+1)), servers*slots)}
		in.Requests = []model.TVCRequest{q}
		dropped(in, in.Fits())
		if in.Fits()(0) {
			yes++
		} else {
			no++
		}
	}
	if min(yes, no) < require.Rounds(20_000)/10 {
		t.Errorf("%d fit, %d don't", yes, no)
	}
}

// Late times are read as the microsecond that they are written for, where their
// product with 10^6 is no longer exact.
func TestTVCLateTimes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 10))
	rounded := 0
	for range 200 {
		in, s := fourPods(true)
		start := 1<<51 + rng.Int64N(1<<51) // from 71 years on
		end := start + 10e6
		s.Runs[0].Segments[0].StartS, s.Runs[0].Segments[0].EndS = float64(start)/1e6, float64(end)/1e6
		if micro(float64(start)/1e6) != start {
			rounded++
		}
		if n := count(judge(t, in, s, verify.Options{})); n["fractional_time"]+n["wrong_work"] > 0 {
			t.Fatalf("from %d to %d microseconds: %v", start, end, n)
		}
	}
	if rounded == 0 {
		t.Error("no product was rounded")
	}
}

// bigLog is a log of n requests on the data centre of the paper, each on one
// server or two of an edge switch, one after the other there, and a solution.
func bigLog(n int, queue bool) (*model.TVC, *model.Embeddings) {
	rng := rand.New(rand.NewPCG(11, 6))
	in := &model.TVC{Name: "log", FatTree: model.FatTree{K: 6, Slots: 8, LinkMbps: 1000}, Queue: queue}
	s := &model.Embeddings{}
	free := make([]int64, 18) // when the edge switch is
	now := int64(0)
	for i := range n {
		now += rng.Int64N(200e6)
		e := i % len(free)
		now = max(now, free[e])
		duration := 1e6 + rng.Int64N(5000e6)
		free[e] = now + duration
		id := fmt.Sprint("job", i)
		in.Requests = append(in.Requests, model.TVCRequest{ID: id, ArrivalS: float64(now) / 1e6, VMs: 12, BandwidthMbps: 200.123456, DurationS: float64(duration) / 1e6})
		s.Runs = append(s.Runs, model.Run[place]{ID: id, Segments: []model.Segment[place]{span(float64(now)/1e6, float64(free[e])/1e6, coreSwitch(0, 0), 3*e, 8, 3*e+1, 4)}})
	}
	return in, s
}

func BenchmarkVerifyTVC(b *testing.B) {
	for _, queue := range []bool{false, true} {
		b.Run(fmt.Sprintf("queue=%v", queue), func(b *testing.B) {
			in, s := bigLog(28_000, queue)
			for b.Loop() {
				require.Feasible(verify.Verify(b.Context(), in, s, verify.Options{}))(b)
			}
		})
	}
}
