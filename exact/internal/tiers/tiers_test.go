// SPDX-License-Identifier: MIT

package tiers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// rates calls told with the rates of all ways of having some jobs on processors, by trying each. Jobs that have
// known processors are there.
func rates(s *Search, set uint32, known [][]int32, told func(y []float64, back []bool)) {
	on := make([][]int, s.n)
	back := make([]bool, s.n)
	var tiers [2][8]int // by processor: the job + 1
	var place func(k int)
	place = func(k int) {
		if k == s.n {
			y := make([]float64, s.n)
			for j := range s.n {
				if set>>j&1 == 0 {
					continue
				}
				x := &s.t.Jobs[j]
				least := x.Foreground
				if back[j] {
					least = x.Efficiency
					for i, q := range on[j] {
						above := int64(0)
						if f := tiers[0][q] - 1; f >= 0 {
							above = s.t.Jobs[f].CPU(slices.Index(on[f], q))
						}
						least = min(least, x.BackgroundRate(x.CPU(i), view.FullRate-above))
					}
				}
				y[j] = float64(least) / view.FullRate
			}
			told(y, back)
			return
		}
		if set>>k&1 == 0 {
			place(k + 1)
			return
		}
		var take func()
		take = func() {
			if len(on[k]) == s.t.Jobs[k].Processes {
				place(k + 1)
				return
			}
			tier := 0
			if back[k] {
				tier = 1
			}
			for q := range s.t.Processors {
				if known != nil && known[k] != nil && int(known[k][len(on[k])]) != q {
					continue
				}
				if tiers[tier][q] == 0 {
					tiers[tier][q] = k + 1
					on[k] = append(on[k], q)
					take()
					on[k] = on[k][:len(on[k])-1]
					tiers[tier][q] = 0
				}
			}
		}
		for _, b := range []bool{false, true} {
			back[k] = b
			take()
		}
	}
	place(0)
}

// Mixes are exactly the rates that jobs can have together wherever they are.
func TestMixes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(39, 1))
	for round := range require.Rounds(1500) {
		in := testkit.RandomBatch(rng, 2, 3, 1+rng.IntN(4))
		if len(in.Jobs) == 0 {
			continue
		}
		s := New(t.Context(), in, 1e6)
		set := rng.Uint32N(1<<s.n-1) + 1
		var plain [][]float64
		rates(s, set, nil, func(y []float64, _ []bool) { plain = add(plain, y) })
		got := slices.Clone(s.mixes(set))
		slices.SortFunc(plain, slices.Compare)
		slices.SortFunc(got, slices.Compare)
		if !slices.EqualFunc(plain, got, slices.Equal) {
			t.Fatalf("%d: %b has %v, tried %v: %+v", round, set, got, plain, in)
		}
		h := s.demands(set)
		for _, y := range plain {
			sum := 0.0
			for k := range h {
				sum += h[k] * y[k] / s.best[k]
			}
			if sum > 1 {
				t.Fatalf("%d: %v together demand %v of one machine: %+v", round, y, sum, in)
			}
		}
	}
}

// A job is barred by another one if, whatever processors both have, it can't start in the background.
func TestBar(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(39, 4))
	barred, free := 0, 0
	for round := range require.Rounds(2000) {
		in := testkit.RandomBatch(rng, 2, 1+rng.IntN(4), 2)
		if len(in.Jobs) < 2 {
			continue
		}
		s := New(t.Context(), in, 1e6)
		for k := range 2 {
			j, front := &s.t.Jobs[1-k], &s.t.Jobs[k]
			starts := false
			var place func(q, a, b int)
			place = func(q, a, b int) { // k's next process is a, j has b more
				if q == s.t.Processors {
					starts = starts || a == front.Processes && b == 0
					return
				}
				place(q+1, a, b)
				if b > 0 {
					place(q+1, a, b-1)
				}
				if a < front.Processes {
					place(q+1, a+1, b)
					if b > 0 && front.CPU(a) < s.t.Threshold {
						place(q+1, a+1, b-1)
					}
				}
			}
			place(0, 0, j.Processes)
			starts = starts || front.Processes+j.Processes <= s.t.Processors // k is in the background as well
			if got := s.barred[k]>>(1-k)&1 == 1; got == starts {
				t.Fatalf("%d: %d bars %d: %v, it starts somewhere: %v: %+v", round, k, 1-k, got, starts, in)
			} else if got {
				barred++
			} else {
				free++
			}
		}
	}
	if t.Logf("%d barred, %d not", barred, free); barred == 0 || free == 0 {
		t.Errorf("%d barred, %d not", barred, free)
	}
}

// A job in the background under a job that bars it may stay there, also while the barring job is on its way. A job that
// isn't there can't enter it, and a job that leaves it can't come back.
func TestUnder(t *testing.T) {
	t.Parallel()
	s := New(t.Context(), &model.Batch{Name: "two", Processors: 4, Tiers: 2, MigrationS: 20, Jobs: []model.BatchJob{
		{ID: "1", RuntimeS: 100, Processes: 2, CPU: []float64{1}, BgEfficiency: 0.6},
		{ID: "2", RuntimeS: 100, Processes: 3, CPU: []float64{0.8}, BgEfficiency: 0.6},
	}}, 1e3)
	start := s.child(s.root(), true)
	s.put(start, 1, place{on: []int32{0, 1, 2}})
	lift := func(n *node, k int32) *node {
		for _, c := range s.lifts(n, nil) {
			if c.phase[k] == lifted {
				return c
			}
		}
		t.Fatalf("job %d doesn't leave %v", k, n.on)
		return nil
	}
	for _, behind := range []bool{false, true} { // job 2 is behind job 1
		n := s.child(start, true)
		x := place{on: []int32{3, 0}, back: !behind}
		if behind {
			x.turns = []int32{1}
		}
		s.put(n, 0, x)
		away := lift(n, 0)
		parked := s.parks(away, &away.lifts[0], nil)
		want := uint32(2)
		if behind {
			want = 0
		}
		for i, n := range []*node{n, away, parked[0]} {
			require.Same(t, fmt.Sprintf("job 2 behind job 1: %v, state %d: is never there", behind, i), want,
				s.under(n, 0))
		}
		require.Same(t, fmt.Sprintf("job 2 behind job 1: %v, and leaves: is never there", behind), uint32(2),
			s.under(lift(n, 1), 0))
	}
}

// Between points of a plan no possible rates exceed all rates of mixesAt, if jobs are at their last processors and some
// are never behind others. They are fewer than with the jobs anywhere, for either reason.
func TestMixesOfLastPlaces(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(39, 3))
	fewer, tight, barred := 0, 0, 0
	for round := range require.Rounds(3000) {
		in := testkit.RandomBatch(rng, 2, 1+rng.IntN(4), 1+rng.IntN(4))
		if len(in.Jobs) == 0 {
			continue
		}
		s := New(t.Context(), in, 1e6)
		n := s.root()
		set := rng.Uint32N(1<<s.n-1) + 1
		known := make([][]int32, s.n)
		for k := range s.n {
			if set>>k&1 == 0 {
				continue
			}
			n.phase[k] = runs
			if rng.IntN(3) > 0 {
				for _, q := range rng.Perm(s.t.Processors)[:s.t.Jobs[k].Processes] {
					known[k] = append(known[k], int32(q))
				}
				n.on[k] = known[k]
				n.last |= 1 << k
			}
		}
		x := s.stand(n)
		idle := set & rng.Uint32()
		if rng.IntN(2) == 0 {
			idle = 0
		}
		var plain [][]float64
		if rng.IntN(2) == 0 {
			clear(x.never)
		}
		for range rng.IntN(2) {
			x.never[rng.IntN(s.n)] |= rng.Uint32() & set
		}
		rates(s, set, known, func(y []float64, back []bool) {
			for f, never := range x.never {
				for k := range s.n {
					if set>>f&1 == 1 && !back[f] && never&set>>k&1 == 1 && back[k] {
						return
					}
				}
			}
			for k := range y {
				if idle>>k&1 == 1 {
					y[k] = 0
				}
			}
			plain = add(plain, y)
		})
		got := s.mixesAt(&x, idle)
		for _, y := range plain {
			if !slices.ContainsFunc(got, func(z []float64) bool { return below(y, z) }) {
				t.Fatalf("%d: %v of %b at %v, idle %b, is in none of %v: %+v", round, y, set, known, idle, got, in)
			}
		}
		never := slices.ContainsFunc(x.never, func(jobs uint32) bool { return jobs != 0 })
		if idle == 0 && never != (len(x.pairs) > 0) { // only one reason
			less := slices.ContainsFunc(s.mixes(set), func(y []float64) bool {
				return !slices.ContainsFunc(got, func(z []float64) bool { return below(y, z) })
			})
			switch {
			case less && never:
				barred++
			case less:
				fewer++
			}
			if !never && len(plain) == len(got) {
				tight++
			}
		}
	}
	if t.Logf("fewer rates in %d rounds, as many as tried in %d, fewer by who is barred in %d", fewer, tight, barred); fewer == 0 || tight == 0 || barred == 0 {
		t.Errorf("fewer rates in %d rounds, as many as tried in %d, fewer by who is barred in %d", fewer, tight, barred)
	}
}

// If there are too many uses or ways to distinguish, rates are no less.
func TestMixesOfMany(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(39, 2))
	for round := range require.Rounds(100) {
		in := testkit.RandomBatch(rng, 2, 60, 5)
		for k := range in.Jobs {
			j := &in.Jobs[k]
			j.Processes = min(in.Processors, 10+rng.IntN(30))
			j.CPU = make([]float64, j.Processes)
			for i := range j.CPU {
				j.CPU[i] = float64(1+rng.IntN(10_000)) / 1e4
			}
		}
		s := New(t.Context(), in, 1e6)
		all := s.mixes(3)
		for range 20 {
			y := make([]float64, s.n)
			f := rng.IntN(2)
			b := 1 - f
			order := rng.Perm(in.Processors)
			least := s.t.Jobs[b].Efficiency
			y[f] = float64(s.t.Jobs[f].Foreground) / view.FullRate
			for i := range in.Jobs[b].Processes {
				above := int64(0)
				if at := order[i]; at < in.Jobs[f].Processes {
					above = s.t.Jobs[f].CPU(at)
				}
				least = min(least, s.t.Jobs[b].BackgroundRate(s.t.Jobs[b].CPU(i), view.FullRate-above))
			}
			y[b] = float64(least) / view.FullRate
			if !slices.ContainsFunc(all, func(x []float64) bool { return below(y, x) }) {
				t.Fatalf("%d: %v is in none of %v", round, y, all)
			}
		}
	}
}

// A plan has each job's start before its end, and no more jobs together than processors hold.
func TestPlans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ processors, jobs, wide, plans int }{
		{1, 1, 1, 1},
		{1, 2, 1, 6},  // both hold processors together, one in front of the other
		{3, 2, 2, 6},  // likewise
		{3, 3, 2, 54}, // not all three
	} {
		in := testkit.RandomBatch(rand.New(rand.NewPCG(1, 1)), 2, 3, c.jobs)
		in.Processors = c.processors
		for k := range in.Jobs {
			in.Jobs[k].Processes, in.Jobs[k].RuntimeS, in.Jobs[k].CPU = c.wide, float64(1+k), nil
		}
		s := New(t.Context(), in, 1e6)
		count := 0
		var walk func(n *node)
		walk = func(n *node) {
			if s.planned(n) {
				count++
				return
			}
			for _, x := range s.plans(n) {
				walk(x)
			}
		}
		walk(s.root())
		require.Same(t, fmt.Sprintf("%+v: plans", c), c.plans, count)
	}
}

// The schedules played from complete beginnings with migrations, reached at random, are as good as their programs say.
func TestPlayed(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(39, 4))
	ended, same := 0, 0
	for k := range max(200, require.Rounds(200)) { // few show anything
		spec := instances.NewBatchSpec()
		spec.Jobs, spec.Processors, spec.Tiers, spec.Load, spec.Index, spec.Seed = 3+k%2, 2+k%3, 2, 2, k, 9
		s := New(t.Context(), require.Value(spec.Generate())(t), 1e6)
		for range 60 {
			n := s.root()
			for n != nil && !s.complete(n) {
				all := s.children(n)
				rng.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
				n = nil
				for _, c := range all {
					count := [parks + 1]int{}
					for _, e := range c.events {
						count[e.what]++
					}
					if count[parks] > 0 || count[moves] > 3 {
						continue
					}
					if s.program(c); c.bound < s.upper && c.value != nil {
						n = c
						break
					}
				}
			}
			if n == nil || !slices.ContainsFunc(n.events, func(e event) bool { return e.what == arrives }) {
				continue
			}
			e := s.play(n)
			if e == nil {
				continue
			}
			ended++
			sum := 0.0
			for j := range e.Runs {
				last := e.Runs[j].Segments[len(e.Runs[j].Segments)-1]
				sum += s.weight[j] * (last.EndS*1e6 - float64(s.t.Jobs[j].Submit)) / s.unit
			}
			if sum < n.bound*(1+1e-6) {
				same++
			}
		}
	}
	if t.Logf("%d of %d are played as well", same, ended); same < ended*17/20 {
		t.Errorf("%d of %d are played as well", same, ended)
	}
}

// No bound is above the optimum with few open beginnings, though the only known schedule is 2 % longer.
func TestHalve(t *testing.T) {
	t.Parallel()
	full, below, n := 0, 0, max(120, require.Rounds(120)) // fewer drop nothing that matters
	for k := range n {
		spec := instances.NewBatchSpec()
		spec.Jobs, spec.Processors, spec.Tiers, spec.Load, spec.Index, spec.Seed = 3+k%2, 2+k%3, 2, 2, k, 5
		in := require.Value(spec.Generate())(t)
		search := func(most int, mean float64, found func(e *model.Execution) float64) (float64, *Search) {
			s := New(t.Context(), in, mean)
			s.most, s.Told = most, func(float64) {}
			s.Found = func(e *model.Execution) (float64, error) { return found(e), nil }
			return require.Value(s.Run())(t), s
		}
		best := 0.0
		for j := range in.Jobs {
			best += in.Jobs[j].SubmitS + 1e4
		}
		if _, s := search(3000, best, func(e *model.Execution) float64 {
			best = min(best, require.Value(in.Objective(e))(t).Value)
			return best
		}); s.Full {
			continue
		}
		longer := 1.02 * best
		bound, s := search(2+k%12, longer, func(*model.Execution) float64 { return longer })
		if bound > best*(1+1e-9) {
			t.Errorf("%d: the bound is %v of %d, a schedule has %v: %+v", k, bound, s.most, best, in)
		}
		if s.Full {
			full++
			if bound < best*(1-1e-6) {
				below++
			}
		}
	}
	if t.Logf("of %d, %d stopped, %d of them below the optimum", n, full, below); below == 0 {
		t.Error("nothing was dropped that mattered")
	}
}
