// SPDX-License-Identifier: MIT

package batch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// smallTwoTiers draws two or three short jobs on up to three processors.
func smallTwoTiers(rng *rand.Rand) *model.Batch {
	pickOf := func(all ...float64) float64 { return all[rng.IntN(len(all))] }
	in := &model.Batch{Name: "small", Processors: 1 + rng.IntN(2), Tiers: 2, MigrationS: pickOf(1, 1, 2, 0), Threshold: pickOf(0, 0, 0.5, 2)}
	at := 0.0
	jobs := 2 + rng.IntN(2)
	if jobs == 2 {
		in.Processors += rng.IntN(2)
	}
	for k := range jobs {
		j := model.BatchJob{ID: fmt.Sprint(k), SubmitS: at, RuntimeS: float64(1 + rng.IntN(3)), Processes: 1 + rng.IntN(in.Processors),
			FgLoss: pickOf(0, 0, 0.25, 0.5), BgEfficiency: pickOf(1, 0.5, 0.8, 0), Weight: int(pickOf(1, 1, 3))}
		if rng.IntN(3) > 0 {
			j.CPU = []float64{pickOf(1, 0.5, 0.25, 0.96)}
		} else if rng.IntN(2) == 0 {
			for range j.Processes {
				j.CPU = append(j.CPU, pickOf(1, 0.5, 0.25))
			}
		}
		in.Jobs = append(in.Jobs, j)
		at += float64(rng.IntN(2))
	}
	return in
}

// plainTiers tries all schedules with jobs that start, migrate and change tiers at whole seconds, and returns the least
// weighted sum of responses, in seconds, if it is below a known one. It doesn't use groups, events or programs.
type plainTiers struct {
	t      *view.Batch
	places [][][]int32
	best   float64
	seen   map[string]float64
}

type plainJob struct {
	phase   uint8 // 0 waits, 1 runs, 2 has ended
	back    bool
	list    int
	moves   float64 // until then it does no work
	done    float64
	entered bool
}

func plainBest(in *model.Batch, known float64) float64 {
	p := &plainTiers{t: view.OfBatch(in), best: known, seen: map[string]float64{}}
	for k := range p.t.Jobs {
		var lists [][]int32
		var list []int32
		var add func()
		add = func() {
			if len(list) == p.t.Jobs[k].Processes {
				lists = append(lists, slices.Clone(list))
				return
			}
			for q := range int32(p.t.Processors) {
				ordered := len(list) > 0 && q < list[len(list)-1] && len(p.t.Jobs[k].Use) == 1
				if !slices.Contains(list, q) && !ordered {
					list = append(list, q)
					add()
					list = list[:len(list)-1]
				}
			}
		}
		add()
		p.places = append(p.places, lists)
	}
	p.step(0, make([]plainJob, len(p.t.Jobs)), 0)
	return p.best
}

// step chooses what happens at a whole second.
func (p *plainTiers) step(now int, jobs []plainJob, cost float64) {
	least := cost
	for k := range jobs {
		if jobs[k].phase < 2 {
			x := &p.t.Jobs[k]
			left := (float64(x.Length)/1e6 - jobs[k].done) * view.FullRate / float64(max(x.Foreground, x.Efficiency))
			least += float64(x.Weight) * (max(0, float64(now)-float64(x.Submit)/1e6) + left)
		}
	}
	key := fmt.Sprint(now, jobs)
	if before, ok := p.seen[key]; ok && before <= cost || least >= p.best-1e-9 || now > 14 {
		return
	}
	p.seen[key] = cost
	if !slices.ContainsFunc(jobs, func(j plainJob) bool { return j.phase < 2 }) {
		p.best = cost
		return
	}
	next := slices.Clone(jobs)
	var choose func(k int)
	choose = func(k int) {
		if k == len(jobs) {
			if p.legal(next) {
				p.run(now, next, cost)
			}
			return
		}
		j, x := &jobs[k], &p.t.Jobs[k]
		next[k] = *j
		next[k].entered = false
		if j.phase == 2 || x.Submit > int64(now)*1e6 {
			choose(k + 1)
			return
		}
		if j.phase == 0 {
			choose(k + 1)
		}
		for list := range p.places[k] {
			for _, back := range []bool{false, true} {
				y := plainJob{phase: 1, back: back, list: list, moves: j.moves, done: j.done}
				if j.phase == 1 && list != j.list {
					y.moves = float64(now) + float64(p.t.Migration)/1e6
				}
				y.entered = back && (j.phase == 0 || !j.back || list != j.list)
				next[k] = y
				choose(k + 1)
			}
		}
		next[k] = *j
	}
	choose(0)
}

// use returns the foreground's use of a processor by others; twice reports whether a tier has two processes.
func (p *plainTiers) use(jobs []plainJob, q int32) (use int64, twice bool) {
	count := [2]int{}
	for k := range jobs {
		if jobs[k].phase != 1 {
			continue
		}
		if i := slices.Index(p.places[k][jobs[k].list], q); i >= 0 {
			if jobs[k].back {
				count[1]++
			} else {
				count[0]++
				use = p.t.Jobs[k].CPU(i)
			}
		}
	}
	return use, count[0] > 1 || count[1] > 1
}

func (p *plainTiers) legal(jobs []plainJob) bool {
	for q := range int32(p.t.Processors) {
		use, twice := p.use(jobs, q)
		if twice {
			return false
		}
		for k := range jobs {
			if jobs[k].phase == 1 && jobs[k].entered && use >= p.t.Threshold && slices.Contains(p.places[k][jobs[k].list], q) {
				return false
			}
		}
	}
	return true
}

// run goes on for a second.
func (p *plainTiers) run(second int, jobs []plainJob, cost float64) {
	jobs = slices.Clone(jobs)
	now, end := float64(second), float64(second+1)
	for now < end-1e-12 {
		rate, first := make([]float64, len(jobs)), end
		for k := range jobs {
			j, x := &jobs[k], &p.t.Jobs[k]
			if j.phase != 1 {
				continue
			}
			if j.moves > now+1e-12 {
				first = min(first, j.moves)
				continue
			}
			least := x.Foreground
			if j.back {
				least = x.Efficiency
				for i, q := range p.places[k][j.list] {
					use, _ := p.use(jobs, q)
					least = min(least, x.BackgroundRate(x.CPU(i), view.FullRate-use))
				}
			}
			if rate[k] = float64(least) / view.FullRate; least > 0 {
				first = min(first, now+(float64(x.Length)/1e6-j.done)/rate[k])
			}
		}
		for k := range jobs {
			j, x := &jobs[k], &p.t.Jobs[k]
			if j.phase != 1 {
				continue
			}
			j.entered = false
			if j.done += rate[k] * (first - now); j.done >= float64(x.Length)/1e6-1e-9 {
				cost += float64(x.Weight) * (first - float64(x.Submit)/1e6)
				*j = plainJob{phase: 2}
			}
		}
		now = first
	}
	for k := range jobs {
		if jobs[k].phase == 1 && jobs[k].moves <= now {
			jobs[k].moves = 0
		}
		jobs[k].done = math.Round(jobs[k].done*1e9) / 1e9
	}
	p.step(second+1, jobs, cost)
}

// No schedule on a grid of whole seconds is below the bound that Search proves, and each value called optimal belongs
// to a schedule. The result is the same without each of its devices.
func TestTwoTiersAgainstPlain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(38, 1))
	optimal, same, n := 0, 0, require.Rounds(400)
	for k := range n {
		in := smallTwoTiers(rng)
		require.OK(t, in.Validate())
		weights := 0.0
		for j := range in.Jobs {
			weights += float64(in.Jobs[j].EffectiveWeight())
		}
		set := model.Settings{Seed: 1, TimeLimit: 400 * time.Millisecond}
		r := require.Value(Search.Solve(t.Context(), in, set))(t)
		plain := plainBest(in, r.Objective*weights*(1+1e-5)) / weights
		if r.Bound > plain*(1+1e-9)+4e-6 { // the grid knows no whole microseconds
			t.Errorf("%d: the bound is %v, a schedule has %v (%s): %+v", k, r.Bound, plain, r.Status, in)
		}
		if report, err := verify.Verify(t.Context(), in, r.Solution, verify.Options{}); err != nil || !report.Feasible() || math.Abs(report.Objective-r.Objective) > 1e-12*r.Objective {
			t.Fatalf("%d: %+v %v", k, report, err)
		}
		if r.Status == model.StatusOptimal {
			optimal++
			if plain < r.Objective*(1+1e-6) {
				same++
			}
			off := []deviceSet{devActive, devOrder, devBusy, devPaid, devLast, devBarred}[optimal%6]
			without := require.Value(Search.Off(off).Solve(t.Context(), in, set))(t)
			if without.Bound > r.Objective*(1+1e-9) || r.Bound > without.Objective*(1+1e-9) {
				t.Errorf("%d: %v to %v, without %b %v to %v: %+v", k, r.Bound, r.Objective, off, without.Bound, without.Objective, in)
			}
		} else {
			t.Logf("%d: %s, %v to %v of %d jobs on %d, migration %v: %s", k, r.Status, r.Bound, r.Objective, len(in.Jobs), in.Processors, in.MigrationS, r.Reason)
		}
	}
	t.Logf("%d of %d optimal, %d of them on the grid", optimal, n, same)
	if optimal < n*9/10 || same == 0 {
		t.Errorf("%d of %d are optimal, %d of them on the grid", optimal, n, same)
	}
}

// Without the rules that drop beginnings, and without the cost of migrations under way, ordinary instances give the
// same results, also if their jobs migrate at many lengths of migrations.
func TestTwoTiersWithout(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(38, 3))
	both := 0
	for k := range require.Rounds(120) {
		spec := instances.NewBatchSpec()
		spec.Jobs, spec.Processors, spec.Tiers, spec.Load, spec.Index, spec.Seed = 3+k%2, 2+k%3, 2, 2, k, 7
		spec.CPU = []string{"job", "process"}[k/2%2]
		in := require.Value(spec.Generate())(t)
		in.MigrationS = []float64{1, 5, 20, 60}[rng.IntN(4)]
		if rng.IntN(3) == 0 {
			in.Threshold = 0.6
		}
		set := model.Settings{Seed: 1, TimeLimit: 400 * time.Millisecond}
		r := require.Value(Search.Solve(t.Context(), in, set))(t)
		for _, off := range []deviceSet{devActive, devPaid, devLast, devBarred, devActive | devPaid | devLast | devBarred} {
			without := require.Value(Search.Off(off).Solve(t.Context(), in, set))(t)
			if without.Bound > r.Objective*(1+1e-9) || r.Bound > without.Objective*(1+1e-9) {
				t.Errorf("%d: %v to %v, without %b %v to %v: %+v", k, r.Bound, r.Objective, off, without.Bound, without.Objective, in)
			}
			if r.Status == model.StatusOptimal && without.Status == model.StatusOptimal && r.Nodes != without.Nodes {
				both++
			}
		}
	}
	if t.Logf("%d proved by both, in other ways", both); both == 0 {
		t.Error("all are alike")
	}
}

// Neither of two jobs can enter the background under the other one, so they run one after the other. Without that rule
// it seems possible, as a job on its way holds no places.
func TestTwoTiersEntry(t *testing.T) {
	t.Parallel()
	in := &model.Batch{Name: "entry", Processors: 4, Tiers: 2, MigrationS: 20, Jobs: []model.BatchJob{
		{ID: "1", RuntimeS: 6046, Processes: 2, CPU: []float64{0.9844, 0.9756}, FgLoss: 0.009, BgEfficiency: 0.6004},
		{ID: "2", SubmitS: 2027, RuntimeS: 27992, Processes: 3, CPU: []float64{0.8033, 0.8669, 0.777}, FgLoss: 0.0156, BgEfficiency: 0.5264},
	}}
	set, effort := model.Settings{Seed: 1}, int64(300_000)
	r := require.Value(Search.Solve(meter.Limit(t.Context(), effort), in, set))(t)
	without := require.Value(Search.Off(devBarred).Solve(meter.Limit(t.Context(), effort), in, set))(t)
	if r.Status != model.StatusOptimal || without.Status == model.StatusOptimal {
		t.Errorf("%s, %v to %v after %d; without %s, %v to %v after %d", r.Status, r.Bound, r.Objective, r.Nodes, without.Status, without.Bound, without.Objective, without.Nodes)
	}
}
