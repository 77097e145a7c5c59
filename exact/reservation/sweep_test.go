package reservation

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	resbounds "github.com/gapwise/gapwise/bounds/reservation"
	"github.com/gapwise/gapwise/internal/units"
	"github.com/gapwise/gapwise/model"
)

// randomSweepJobs are some jobs of like size, whose windows may all touch.
func randomSweepJobs(rng *rand.Rand, n int, pes int64) []sweepJob {
	jobs := make([]sweepJob, n)
	longest, slack, span, heavy := 1+rng.Int64N(8), 1+rng.Int64N(8), 1+rng.Int64N(int64(2*n)), rng.IntN(2)
	for i := range jobs {
		j := sweepJob{ready: rng.Int64N(span), length: 1 + rng.Int64N(longest), pes: 1 + rng.Int64N(pes), weight: 1, id: int32(i)}
		j.latest = j.ready + rng.Int64N(slack)
		if heavy == 1 {
			j.weight = float64(j.pes * j.length)
		}
		jobs[i] = j
	}
	slices.SortFunc(jobs, func(a, b sweepJob) int {
		if d := a.ready - b.ready; d != 0 {
			return int(d)
		}
		if d := a.latest - b.latest; d != 0 {
			return int(d)
		}
		return int(a.id - b.id)
	})
	return jobs
}

// bruteSweep is the best weight of plans by trying all starts of all jobs.
func bruteSweep(jobs []sweepJob, pes int64) float64 {
	used := make([]int64, 64)
	var walk func(i int) float64
	walk = func(i int) float64 {
		if i == len(jobs) {
			return 0
		}
		best := walk(i + 1)
		j := &jobs[i]
	next:
		for s := j.ready; s <= j.latest; s++ {
			for t := s; t < s+j.length; t++ {
				if used[t]+j.pes > pes {
					continue next
				}
			}
			for t := s; t < s+j.length; t++ {
				used[t] += j.pes
			}
			best = max(best, j.weight+walk(i+1))
			for t := s; t < s+j.length; t++ {
				used[t] -= j.pes
			}
		}
		return best
	}
	return walk(0)
}

// randomPrices are no good, but give bounds.
func randomPrices(rng *rand.Rand, pes int64, jobs []sweepJob) *prices {
	grid := priceGrid(jobs, 8+rng.IntN(20))
	rate := make([]float64, len(grid)-1)
	for c := range rate {
		rate[c] = max(0, rng.Float64()-0.3) / float64(pes)
	}
	p := newPrices(pes, jobs, grid, cornersOf(jobs, grid), rate)
	if rng.IntN(3) == 0 {
		return p
	}
	free, from := make([]int64, len(rate)), make([]int64, len(jobs))
	for c := range free {
		free[c] = pes
	}
	for i := range from {
		from[i] = jobs[i].ready
	}
	r := newRentals(p, free, from)
	r.descend(context.Background(), 0, 0, rng.IntN(30))
	return r.prices(context.Background())
}

// The sweep alone finds the optimum, whatever the prices, the direction, the states that it compares
// with and the memory that it has.
func TestSweepAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 20))
	n := 20_000
	if testing.Short() {
		n = 2000
	}
	nodes := int64(0)
	for range n {
		pes := 1 + rng.Int64N(9)
		jobs := randomSweepJobs(rng, 1+rng.IntN(7), pes)
		want := bruteSweep(jobs, pes)
		for _, target := range []float64{1, want, want + 1} {
			var p []*prices
			if rng.IntN(3) > 0 {
				p = append(p, randomPrices(rng, pes, jobs))
				if b := p[0].bound(); b < want*(1-1e-9) {
					t.Fatalf("a bound of %v, the optimum is %v: %d PEs, %+v", b, want, pes, jobs)
				}
				narrowed, ok := narrow(context.Background(), p[0], target, 1e-9, 5)
				if !ok {
					if target <= want {
						t.Fatalf("no plan of %v by narrowing, the optimum is %v: %d PEs, %+v", target, want, pes, jobs)
					}
					continue
				}
				p[0] = narrowed
				if rng.IntN(2) == 0 {
					p[0] = p[0].mirror()
				}
				if b := p[0].bound(); target <= want && b < want*(1-1e-9) {
					t.Fatalf("a bound of %v after narrowing, the optimum is %v: %d PEs, %+v", b, want, pes, jobs)
				}
			}
			left := jobs
			if len(p) > 0 {
				left = p[0].jobs
			}
			s := newSweep(context.Background(), pes, left, p...)
			s.target, s.slack, s.best = target, 1e-9, 0
			if rng.IntN(2) == 0 {
				s.most, s.mostTrace = rng.IntN(4), rng.IntN(9)
			}
			s.scan = []int{0, 3, 4000}[rng.IntN(3)]
			if rng.IntN(2) == 0 && s.reprice {
				s.due = 0
			}
			if !s.run() {
				t.Fatal("not all searched")
			}
			nodes += s.nodes
			if target <= want && s.best != want || s.best > want {
				t.Fatalf("%v, want %v (target %v): %d PEs, %+v", s.best, want, target, pes, jobs)
			}
			value, used := 0.0, make(map[int64]int64)
			for at := s.bestAt; at >= 0; at = s.trace[at].before {
				x := s.trace[at]
				j := &s.jobs[x.job]
				if value += j.weight; x.start < j.ready || x.start > j.latest {
					t.Fatalf("a start out of its window: %+v at %d", j, x.start)
				}
				for tick := x.start; tick < x.start+j.length; tick++ {
					if used[tick] += j.pes; used[tick] > pes {
						t.Fatalf("%d PEs in use at %d: %d PEs, %+v", used[tick], tick, pes, jobs)
					}
				}
			}
			if value != s.best {
				t.Fatalf("the trace is worth %v, want %v", value, s.best)
			}
		}
	}
	if nodes < int64(n) {
		t.Errorf("%d states in all: too easy", nodes)
	}
}

// With each rule off alone the same optimum comes out as with all
// on, at sizes beyond brute force, with equal jobs and windows that just fit.
func TestSweepRules(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 22))
	n := 300
	if testing.Short() {
		n = 60
	}
	more := map[sweepRule]int64{}
	for range n {
		pes := 1 + rng.Int64N(8)
		jobs := randomSweepJobs(rng, 8+rng.IntN(5), pes)
		if rng.IntN(2) == 0 { // equal ones
			for i := range jobs {
				jobs[i].pes, jobs[i].length = min(pes, 1+jobs[i].pes%2), 1+jobs[i].length%3
				if jobs[i].weight != 1 {
					jobs[i].weight = float64(jobs[i].pes * jobs[i].length)
				}
			}
		}
		p := randomPrices(rng, pes, jobs)
		search := func(off sweepRule) float64 {
			s := newSweep(context.Background(), pes, jobs, p)
			s.target, s.slack, s.off, s.due = 1, 1e-9, off, 20
			if !s.run() {
				t.Fatal("not all searched")
			}
			more[off] += s.nodes
			return s.best
		}
		want := search(0)
		for off := sweepRule(1); off < sweepNarrowRule; off <<= 1 {
			if got := search(off); got != want {
				t.Fatalf("%v without rule %b, %v with all: %d PEs, %+v", got, off, want, pes, jobs)
			}
		}
	}
	for _, off := range []sweepRule{sweepGapRule, sweepTwinsRule, sweepDominanceRule, sweepPricesRule} {
		if more[off] <= more[0] {
			t.Errorf("without rule %b %d states, with all %d: the test doesn't need it", off, more[off], more[0])
		}
	}
}

// Where a gap limit ends the search, the bound is no less than the optimum: the steps of the value looked for are
// whole grains, or a value between two of them would be denied. It begins with what few states find.
func TestSweepGapLimit(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 26))
	open := 0
	for range 600 {
		pes := 1 + rng.Int64N(8)
		jobs := randomSweepJobs(rng, 8+rng.IntN(4), pes)
		search := func(limit int64) float64 {
			s := newSweep(context.Background(), pes, jobs)
			s.target, s.limit = 1, limit
			s.run()
			return s.best
		}
		want := search(0)
		x := &reservationSearch{ctx: context.Background(), in: &model.Reservation{}, units: sweepUnits{pes: pes, weight: 1, grain: 1},
			set: model.Settings{Gap: 0.05 + 0.5*rng.Float64()}, starts: make([]int64, len(jobs)), other: math.Inf(1), total: worth(jobs)}
		p := &sweepPart{jobs: jobs, total: worth(jobs), upper: worth(jobs), value: search(1 + rng.Int64N(20))}
		grid := priceGrid(jobs, 20)
		p.prices = newPrices(pes, jobs, grid, cornersOf(jobs, grid), make([]float64, len(grid)-1))
		x.parts = []*sweepPart{p}
		for !p.closed() && !x.enough() {
			x.attempt(p, 0, rng.IntN(2) == 0)
		}
		if p.value > want || p.upper < want || model.Gap(p.value, p.upper) > x.set.Gap {
			t.Fatalf("gap limit %v: %v, bound %v, the optimum is %v: %d PEs, %+v", x.set.Gap, p.value, p.upper, want, pes, jobs)
		}
		if p.upper > p.value {
			open++
		}
	}
	if open < 100 {
		t.Errorf("only %d end by the gap limit", open)
	}
}

// A weight that is lost beside what a plan has already is rounded up to one that isn't: of two jobs of 2^60 and one of
// weight 1 between them the search dropped the second, in favour of the small one, and the small one, since it added nothing.
func TestSweepLostWeight(t *testing.T) {
	const long = 1 << 50
	requests := []model.Request{
		{ID: "a", ReadyS: 0, DurationS: long, DeadlineS: long, PEs: 1000},
		{ID: "small", ReadyS: long - 1, DurationS: 1, DeadlineS: long + 3, PEs: 1},
		{ID: "b", ReadyS: long + 2, DurationS: long, DeadlineS: 2*long + 3, PEs: 1000},
	}
	in := &model.Reservation{PEs: 1000, Goal: model.GoalPESeconds, Requests: requests}
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	results, err := Sweeps(in, model.Settings{}, []int{0, ^0}, 0)
	if err != nil {
		t.Fatal(err)
	}
	jobs, unit := sweepJobs(resbounds.NewTicks(in))
	s := newSweep(context.Background(), unit.pes, jobs)
	s.target, s.grain = 1, 0
	if !s.run() || s.best != worth(jobs) {
		t.Errorf("%v of %v", s.best, worth(jobs))
	}
	for _, r := range results {
		if r.Value < 2000*long || r.Value > r.Upper {
			t.Errorf("%v, bound %v", r.Value, r.Upper)
		}
	}
}

// Weights of whole numbers of PE-ticks are whole units, without a quotient of rounded seconds.
func TestSweepUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 27))
	for range 2000 {
		in := &model.Reservation{PEs: 8, Goal: model.GoalPESeconds}
		decimals := rng.IntN(8)
		scale := math.Pow10(decimals)
		var ticks []int64
		for k := range 3 {
			n := 1 + rng.Int64N(1<<46)
			pes := 1 + rng.IntN(8)
			ticks = append(ticks, n*int64(pes))
			in.Requests = append(in.Requests, model.Request{ID: string(rune('a' + k)), DurationS: float64(n) / scale, DeadlineS: float64(n+5) / scale, PEs: pes})
		}
		jobs, unit := sweepJobs(resbounds.NewTicks(in))
		whole := units.GCD(units.GCD(ticks[0], ticks[1]), ticks[2])
		for i := range jobs {
			if unit.grain == 1 && jobs[i].weight != float64(ticks[jobs[i].id]/whole) {
				t.Fatalf("weight %v, want %v/%d: %+v", jobs[i].weight, ticks[jobs[i].id], whole, in.Requests)
			}
		}
	}
}

// What the owner of the PEs earns from all of them adds up to what he earns
// from its parts, and from fewer PEs never more.
func TestPricesEarn(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 21))
	for range 300 {
		pes := 1 + rng.Int64N(9)
		p := randomPrices(rng, pes, randomSweepJobs(rng, 8, pes))
		first, last := p.grid[0], p.grid[len(p.grid)-1]
		mid := first + rng.Int64N(last-first+1)
		whole := p.earns(pes, first, last)
		if parts := p.earns(pes, first, mid) + p.earns(pes, mid, last); parts < whole-1e-9 || parts > whole+1e-9 {
			t.Fatalf("%v in parts, %v in all", parts, whole)
		}
		if m := p.mirror(); m.bound() < p.bound()-1e-9 || m.bound() > p.bound()+1e-9 {
			t.Fatalf("bound %v backwards, %v forwards", m.bound(), p.bound())
		}
		for f := range pes {
			if p.earns(f, first, last) > p.earns(f+1, first, last)+1e-12 {
				t.Fatalf("%d PEs earn more than %d", f, f+1)
			}
		}
	}
}

func BenchmarkSweep(b *testing.B) {
	for _, n := range []int{20, 40, 80} {
		rng := rand.New(rand.NewPCG(3, uint64(n)))
		jobs := randomSweepJobs(rng, n, 8)
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			for range b.N {
				s := newSweep(context.Background(), 8, jobs, randomPrices(rng, 8, jobs))
				s.run()
			}
		})
	}
}
