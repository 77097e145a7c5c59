// SPDX-License-Identifier: MIT

package verify_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// batchRun is a job in a plain simulation.
type batchRun struct {
	segments  []model.Segment[model.BatchPlace]
	work      *big.Rat // left, in microseconds
	works     int64    // it does none before, for it migrates
	runs      bool
	interrupt int // how often it has been killed or moved
}

func (x *batchRun) last() *model.Segment[model.BatchPlace] { return &x.segments[len(x.segments)-1] }

// batchRate is a job's rate by the definition, in fractions. fore is the use of the
// foreground by processor.
func batchRate(in *model.Batch, k int, place model.BatchPlace, fore map[int32]float64) *big.Rat {
	decimal := func(x float64) *big.Rat { // a share as it is printed
		r, _ := new(big.Rat).SetString(fmt.Sprint(x))
		return r
	}
	down := func(x *big.Rat) *big.Rat {
		n := new(big.Int).Mul(x.Num(), big.NewInt(10_000))
		return new(big.Rat).SetFrac(n.Quo(n, x.Denom()), big.NewInt(10_000))
	}
	j := &in.Jobs[k]
	slowest := big.NewRat(1, 1)
	for i, p := range place.Processors {
		rate := big.NewRat(1, 1)
		if place.Tier == model.TierBackground {
			idle := rate.Sub(rate, decimal(fore[p]))
			if rate = idle.Quo(idle, decimal(j.Use(i))); rate.Cmp(big.NewRat(1, 1)) > 0 {
				rate = big.NewRat(1, 1)
			}
			rate.Mul(rate, decimal(j.BgEfficiency))
		} else if in.Tiers == 2 {
			rate.Sub(rate, decimal(j.FgLoss))
		}
		if rate = down(rate); rate.Cmp(slowest) < 0 {
			slowest = rate
		}
	}
	return slowest
}

// simulateBatch runs jobs without a plan: in any tier, on any processors, killed,
// moved, promoted and demoted at any time, often several at an instant. Its order at an instant: ends, kills, starts in
// the foreground, starts in the background.
func simulateBatch(rng *rand.Rand, in *model.Batch) *model.Execution {
	n := len(in.Jobs)
	jobs, longest := make([]batchRun, n), int64(1)
	for k := range jobs {
		jobs[k].work = big.NewRat(micro(in.Work(k)), 1)
		longest = max(longest, micro(in.Work(k)))
	}
	threshold := in.EffectiveThreshold()
	// taken returns the use of a tier by jobs other than k, by processor.
	taken := func(k int, tier model.Tier) map[int32]float64 {
		all := map[int32]float64{}
		for x := range jobs {
			if x != k && jobs[x].runs && jobs[x].last().Place.Tier == tier {
				for i, p := range jobs[x].last().Place.Processors {
					all[p] = in.Jobs[x].Use(i)
				}
			}
		}
		return all
	}
	finish := func(k int, now int64) (int64, bool) {
		x := &jobs[k]
		rate := batchRate(in, k, x.last().Place, taken(k, model.TierForeground))
		if rate.Sign() == 0 {
			return 0, false
		}
		ticks := new(big.Rat).Quo(x.work, rate)
		whole, rest := new(big.Int).QuoRem(ticks.Num(), ticks.Denom(), new(big.Int))
		if rest.Sign() > 0 {
			whole.Add(whole, big.NewInt(1))
		}
		return max(now, x.works) + whole.Int64(), true
	}
	stop := func(x *batchRun, now int64, lost bool) {
		x.last().EndS, x.last().Lost, x.runs = float64(now)/1e6, lost, false
	}
	for now, events := int64(0), 0; ; events++ {
		hurry := events > 8*n
		for k := range jobs {
			if x := &jobs[k]; x.runs && x.work.Sign() <= 0 {
				stop(x, now, false)
			}
		}
		for k := range jobs {
			if x := &jobs[k]; x.runs && micro(x.last().StartS) < now && x.interrupt < 4 && (rng.IntN(8) == 0 || hurry && x.last().Place.Tier == model.TierBackground) {
				stop(x, now, true)
				x.work, x.works, x.interrupt = big.NewRat(micro(in.Work(k)), 1), 0, x.interrupt+1
			}
		}
		for _, tier := range []model.Tier{model.TierForeground, model.TierBackground} {
			if tier == model.TierBackground && (in.Tiers == 1 || hurry) {
				break
			}
			for _, k := range rng.Perm(n) {
				x := &jobs[k]
				if x.work.Sign() <= 0 || micro(in.Jobs[k].SubmitS) > now || x.runs && (micro(x.last().StartS) == now || x.interrupt >= 4 && !hurry || rng.IntN(4) > 0) {
					continue
				}
				if len(x.segments) > 0 && micro(x.last().StartS) == now || !hurry && rng.IntN(4) == 0 {
					continue
				}
				others, fore := taken(k, tier), taken(k, model.TierForeground)
				fits := func(p int32) bool {
					_, there := others[p]
					return !there && (tier == model.TierForeground || fore[p] < threshold)
				}
				var list model.ProcessorList
				for _, p := range rng.Perm(in.Processors) {
					if len(list) < in.Jobs[k].Processes && fits(int32(p)) {
						list = append(list, int32(p))
					}
				}
				if len(list) < in.Jobs[k].Processes {
					continue
				}
				if rng.IntN(2) == 0 {
					slices.Sort(list)
				}
				if x.runs {
					before := x.last().Place
					if rng.IntN(2) == 0 && !slices.ContainsFunc(before.Processors, func(p int32) bool { return !fits(p) }) {
						list = before.Processors
					}
					stop(x, now, false)
					x.interrupt++
					if !slices.Equal(list, before.Processors) {
						x.works = now + micro(in.MigrationS)
					}
				}
				x.segments = append(x.segments, model.Segment[model.BatchPlace]{StartS: float64(now) / 1e6, Place: model.BatchPlace{Tier: tier, Processors: list}})
				x.runs = true
			}
		}
		next, left := int64(math.MaxInt64), false
		for k := range jobs {
			x := &jobs[k]
			if left = left || x.work.Sign() > 0; x.runs {
				if at, ends := finish(k, now); ends {
					next = min(next, at)
				}
			} else if submit := micro(in.Jobs[k].SubmitS); submit > now {
				next = min(next, submit)
			}
		}
		if !left {
			break
		}
		if rng.IntN(2) == 0 || next == math.MaxInt64 {
			next = min(next, now+1+rng.Int64N(longest))
		}
		for k := range jobs {
			if x := &jobs[k]; x.runs && next > max(now, x.works) {
				rate := batchRate(in, k, x.last().Place, taken(k, model.TierForeground))
				x.work.Sub(x.work, rate.Mul(rate, big.NewRat(next-max(now, x.works), 1)))
			}
		}
		now = next
	}
	e := &model.Execution{}
	for _, k := range rng.Perm(n) {
		e.Runs = append(e.Runs, model.Run[model.BatchPlace]{ID: in.Jobs[k].ID, Segments: jobs[k].segments})
	}
	return e
}

// The judge accepts the events of a simulation, computes the figures that the model computes, and finds each planted
// mistake.
func TestBatchSimulated(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 40))
	planted, seen := map[string]int{}, map[string]int{}
	draws := require.Rounds(3000)
	for draw := range draws {
		in := testkit.RandomBatch(rng, 1+min(1, draw%3), 5, 1+rng.IntN(6))
		require.OK(t, in.Validate())
		e := simulateBatch(rng, in)
		r := judge(t, in, e, verify.Options{})
		if !r.Feasible() {
			t.Fatalf("%v\n%+v\n%+v", r, in, e)
		}
		o, err := in.Objective(e)
		if err != nil || math.Abs(o.Value-r.Objective) > 1e-12*o.Value || math.Abs(o.Second-r.Second) > 1e-12*o.Second {
			t.Fatalf("%v and %v, the model says %+v, %v", r.Objective, r.Second, o, err)
		}
		index, _ := in.Index(e)
		at := rng.IntN(len(e.Runs))
		run, job := &e.Runs[at], &in.Jobs[index[at]]
		segments := run.Segments
		x := rng.IntN(len(segments))
		was, end := segments[x], len(segments)-1
		for i, s := range segments {
			switch {
			case s.Lost:
				seen["kills"]++
			case i == end:
			case !slices.Equal(s.Place.Processors, segments[i+1].Place.Processors):
				seen["migrations"]++
			case s.Place.Tier != segments[i+1].Place.Tier:
				seen["changes of tier"]++
			}
			if s.Place.Tier == model.TierBackground {
				seen["background"]++
			}
		}
		later := func(s float64, by int64) float64 { return float64(micro(s)+by) / 1e6 }
		// beside returns a segment of another job that runs while segment x starts, on
		// a processor that x isn't on, and that processor.
		beside := func(ok func(s *model.Segment[model.BatchPlace], use float64) bool) (int32, bool) {
			for i := range e.Runs {
				for y := range e.Runs[i].Segments {
					s := &e.Runs[i].Segments[y]
					if i == at || s.StartS > was.StartS || s.EndS <= was.StartS {
						continue
					}
					for z, p := range s.Place.Processors {
						if !slices.Contains(was.Place.Processors, p) && ok(s, in.Jobs[index[i]].Use(z)) {
							return p, true
						}
					}
				}
			}
			return 0, false
		}
		// onto moves the first process of segment x to a processor.
		onto := func(p int32, ok bool) bool {
			if ok {
				segments[x].Place.Processors = slices.Clone(was.Place.Processors)
				segments[x].Place.Processors[0] = p
			}
			return ok
		}
		for name, c := range map[string]struct {
			do   func() bool // false: it doesn't apply here
			want string
		}{
			"a microsecond more": {func() bool { segments[end].EndS = later(segments[end].EndS, 1); return true }, "wrong_work"},
			"a microsecond less": {func() bool {
				segments[end].EndS = later(segments[end].EndS, -1)
				return segments[end].StartS < segments[end].EndS
			}, "wrong_work"},
			"killed in the end": {func() bool { segments[end].Lost = true; return true }, "wrong_work"},
			"a run less":        {func() bool { run.ID = "x"; return true }, "declined_request"},
			"before the submission": {func() bool {
				segments[0].StartS = later(job.SubmitS, -1)
				return job.SubmitS > 0
			}, "early_start"},
			"two segments at once": {func() bool {
				if x > 0 {
					segments[x].StartS = later(segments[x-1].EndS, -1)
				}
				return x > 0
			}, "segment_order"},
			"a pause": {func() bool {
				if x == 0 || segments[x-1].Lost {
					return false
				}
				segments[x].StartS = later(was.StartS, 1)
				return segments[x].StartS < was.EndS
			}, "suspended_job"},
			"a free migration": {func() bool {
				if in.MigrationS == 0 || end == 0 || segments[end-1].Lost || slices.Equal(segments[end].Place.Processors, segments[end-1].Place.Processors) {
					return false
				}
				segments[end].EndS = later(segments[end].EndS, -micro(in.MigrationS))
				return segments[end].StartS < segments[end].EndS
			}, "wrong_work"},
			"a processor more": {func() bool {
				segments[x].Place.Processors = append(slices.Clone(was.Place.Processors), 0)
				return true
			}, "process_count"},
			"a processor twice": {func() bool {
				return len(was.Place.Processors) > 1 && onto(was.Place.Processors[1], true)
			}, "repeated_processor"},
			"an unknown processor": {func() bool { return onto(int32(in.Processors), true) }, "unknown_processor"},
			"an unknown tier":      {func() bool { segments[x].Place.Tier = "middle"; return true }, "unknown_tier"},
			"a busy foreground": {func() bool {
				return was.Place.Tier == model.TierForeground && onto(beside(func(s *model.Segment[model.BatchPlace], _ float64) bool { return s.Place.Tier == model.TierForeground }))
			}, "foreground_overlap"},
			"a busy background": {func() bool {
				return was.Place.Tier == model.TierBackground && onto(beside(func(s *model.Segment[model.BatchPlace], _ float64) bool { return s.Place.Tier == model.TierBackground }))
			}, "background_overlap"},
			"above the threshold": {func() bool {
				return was.Place.Tier == model.TierBackground && onto(beside(func(s *model.Segment[model.BatchPlace], use float64) bool {
					return s.Place.Tier == model.TierForeground && use >= in.EffectiveThreshold()
				}))
			}, "busy_foreground"},
			"another loss": {func() bool { // it changes the end of a job in the foreground alone by more than a microsecond
				if in.Tiers == 1 || end > 0 || was.Place.Tier != model.TierForeground || micro(in.Work(index[at])) < 20_000 {
					return false
				}
				job.FgLoss += 0.001
				job.FgLoss = math.Round(job.FgLoss*1e4) / 1e4
				return job.FgLoss < 1
			}, "wrong_work"},
			"another efficiency": {func() bool { // of a job that is below none at the end
				job.BgEfficiency = math.Round((job.BgEfficiency+0.01)*1e4) / 1e4
				_, busy := beside(func(*model.Segment[model.BatchPlace], float64) bool { return true })
				return end == 0 && was.Place.Tier == model.TierBackground && !busy && len(in.Jobs) == 1 && job.BgEfficiency <= 1 && micro(in.Work(0)) > 1000
			}, "wrong_work"},
		} {
			id, first, last, loss, efficiency := run.ID, segments[0], segments[end], job.FgLoss, job.BgEfficiency
			if c.do() {
				planted[name]++
				if got := judge(t, in, e, verify.Options{}); count(got)[c.want] == 0 {
					t.Fatalf("%s: %s isn't found\n%v\n%+v\n%+v", name, c.want, got, in, e)
				}
			}
			run.ID, job.FgLoss, job.BgEfficiency = id, loss, efficiency
			segments[0], segments[end] = first, last
			segments[x] = was
		}
	}
	if len(planted) != 17 || slices.Min(values(planted)) < 10 && !testing.Short() {
		t.Errorf("planted: %v", planted)
	}
	if len(seen) != 4 || slices.Min(values(seen)) < draws/20 {
		t.Errorf("seen: %v", seen)
	}
	t.Logf("planted %v, seen %v", planted, seen)
}

// bigExecution is n jobs of 24 processes on 13 groups of as many processors, one after the other in each. On two tiers
// every second one is in the background of another: it does a quarter of its work per second and ends with that one.
func bigExecution(n, tiers int) (*model.Batch, *model.Execution) {
	rng := rand.New(rand.NewPCG(12, 48))
	const groups, width = 13, 24
	b := &model.Batch{Name: "big", Processors: groups * width, Tiers: tiers}
	e := &model.Execution{}
	free := make([]int64, groups) // when the group is
	for k := 0; k < n; {
		group := k / tiers % groups
		start, length := free[group], 4*(1+rng.Int64N(1e9))
		free[group] = start + length
		list := make(model.ProcessorList, width)
		for i := range list {
			list[i] = int32(group*width + i)
		}
		rng.Shuffle(width, func(i, j int) { list[i], list[j] = list[j], list[i] })
		job := func(work int64, tier model.Tier) {
			j := model.BatchJob{ID: fmt.Sprint("job", k), RuntimeS: float64(work) / 1e6, Processes: width, BgEfficiency: 0.5}
			for range width {
				j.CPU = append(j.CPU, 0.5)
			}
			if tier == model.TierBackground {
				j.CPU[rng.IntN(width)] = 1
			}
			b.Jobs = append(b.Jobs, j)
			e.Runs = append(e.Runs, model.Run[model.BatchPlace]{ID: j.ID, Segments: []model.Segment[model.BatchPlace]{on(float64(start)/1e6, float64(start+length)/1e6, tier, list...)}})
			k++
		}
		job(length, model.TierForeground)
		if tiers == 2 && k < n {
			job(length/4, model.TierBackground)
		}
	}
	return b, e
}

func BenchmarkVerifyBatch(b *testing.B) {
	for _, tiers := range []int{1, 2} {
		b.Run(fmt.Sprintf("tiers=%d", tiers), func(b *testing.B) {
			in, e := bigExecution(200_000, tiers)
			b.ReportAllocs()
			for b.Loop() {
				require.Feasible(verify.Verify(b.Context(), in, e, verify.Options{Valid: true}))(b)
			}
		})
	}
}
