// SPDX-License-Identifier: MIT

package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// made returns a sealed run that minimises a makespan.
func made(instance, algorithm string, seed uint64, objective, bound, seconds float64, params map[string]float64) Run {
	r := runs.Record{Plan: "p", Instance: instance, Hash: "sha256:" + instance, Kind: model.KindDAG, Params: params, Algorithm: algorithm, Seed: seed,
		Status: model.StatusFeasible, ElapsedS: seconds, Sealed: true, Verified: true, Version: "1"}
	if !math.IsNaN(objective) {
		r.Objective = &objective
	} else {
		r.Status, r.Verified = model.StatusUnknown, false
	}
	if !math.IsNaN(bound) {
		r.Bound = &bound
	}
	return Run{Record: r}
}

func onePart(t *testing.T, runs []Run) *part {
	t.Helper()
	all, _, err := parts(runs)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d parts, error %v", len(all), err)
	}
	return all[0]
}

// Three problems, worked out by hand: a needs 1, 2, 8 s, b 2, 2 s and never.
func TestProfile(t *testing.T) {
	nan := math.NaN()
	p := onePart(t, []Run{made("x", "a", 1, 10, 5, 1, nil), made("x", "b", 1, 10, 5, 2, nil), made("y", "a", 1, 10, 5, 2, nil), made("y", "b", 1, 10, 5, 2, nil),
		made("z", "a", 1, 10, 5, 8, nil), made("z", "b", 1, nan, 5, 1, nil), made("only a", "a", 1, 1, 1, 1, nil)})
	ratios, n := runs.Ratios(p.algorithms, p.measured(p.algorithms, func(r *run) float64 { return r.TimeTo(0, r.best()) }))
	if d := cmp.Diff([][]float64{{1, 1, 1}, {1, 2, math.Inf(1)}}, ratios); d != "" || n != 3 {
		t.Errorf("n = %d (-want +got)\n%s", n, d)
	}
	// Within 10 % an earlier, worse solution counts.
	r := &run{Run: &Run{}, on: &instance{Known: &runs.Known{Best: 100, Sense: model.Minimise}}}
	r.Trajectory = []runs.Moment{{S: 1, Objective: math.NaN(), Bound: 5}, {S: 2, Objective: 109}, {S: 3, Objective: 100}}
	require.Same(t, "times", [2]float64{2, 3}, [2]float64{r.TimeTo(0.1, 100), r.TimeTo(0, 100)})
}

// The share of each algorithm grows with τ, at τ = 1 somebody is best on each problem,
// and scaling all times changes nothing.
func TestProfileProperties(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		names := []string{"a", "b", "c"}
		measures, scaled := map[problem]map[string]float64{}, map[problem]map[string]float64{}
		for k := range 1 + rng.IntN(20) {
			of, times := map[string]float64{}, map[string]float64{}
			for _, a := range names {
				if x := rng.ExpFloat64(); rng.IntN(5) > 0 {
					of[a], times[a] = x, 4*x
				} else {
					of[a], times[a] = math.Inf(1), math.Inf(1)
				}
			}
			q := problem{&instance{}, uint64(k)}
			measures[q], scaled[q] = of, times
		}
		ratios, n := runs.Ratios(names, measures)
		best := 0
		for _, all := range ratios {
			if len(all) != n || !slices.IsSorted(all) || n > 0 && all[0] < 1 {
				t.Fatalf("%d problems: %v", n, all)
			}
			for _, x := range all {
				if x == 1 {
					best++
				}
			}
		}
		if best < n {
			t.Fatalf("%d problems, %d times the best", n, best)
		}
		if again, _ := runs.Ratios(names, scaled); !cmp.Equal(ratios, again) {
			t.Fatal("the unit of time matters")
		}
	}
}

func TestQuality(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		sense           model.Sense
		objective, best float64
		want            float64
	}{
		{model.Minimise, 12, 10, 1.2}, {model.Minimise, 10, 10, 1}, {model.Maximise, 8, 10, 1.25}, {model.Minimise, 0, 0, 1}, {model.Minimise, 1, 0, inf},
		{model.Maximise, 0, 1, inf}, {model.Minimise, -5, -10, 2}, {model.Minimise, 1, -1, inf}, {model.Minimise, math.NaN(), 1, inf},
	} {
		r := &run{Run: &Run{}, on: &instance{Known: &runs.Known{Best: c.best, Sense: c.sense}}}
		if r.Objective = &c.objective; math.IsNaN(c.objective) {
			r.Objective = nil
		}
		require.Same(t, fmt.Sprintf("%v of %v, best %v", c.sense, c.objective, c.best), c.want, r.quality(c.best))
	}
}

func TestFitPower(t *testing.T) {
	var sizes, times []float64
	for _, x := range []float64{10, 20, 40, 80} {
		sizes, times = append(sizes, x), append(times, 3e-4*math.Pow(x, 2.5))
	}
	f, ok := fitPower(sizes, times)
	if !ok || math.Abs(f.exponent-2.5) > 1e-9 || math.Abs(f.r2-1) > 1e-9 || f.n != 4 || math.Abs(math.Exp(f.intercept)-3e-4) > 1e-9 {
		t.Errorf("%+v, %v", f, ok)
	}
	if _, ok := fitPower([]float64{1, 1, 2, 2}, []float64{1, 2, 3, 4}); ok {
		t.Error("two sizes are enough")
	}
	if f, ok := fitPower([]float64{1, 2, 4}, []float64{5, 5, 5}); !ok || f.exponent != 0 || math.IsNaN(f.r2) {
		t.Errorf("the same times: %+v, %v", f, ok)
	}
}

// Classes divide the instances: each is in one, by ascending value.
func TestClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, values := range []int{1, 3, 16, 17, 200} {
		p := &part{}
		for range 300 {
			p.instances = append(p.instances, &instance{params: map[string]float64{"n": float64(rng.IntN(values))}})
		}
		seen, last := map[*instance]bool{}, math.Inf(-1)
		all := p.classes("n")
		for _, c := range all {
			if c.x <= last || len(c.in) == 0 {
				t.Fatalf("%d values: class %v after %v, of %d", values, c.x, last, len(c.in))
			}
			last = c.x
			for i := range c.in {
				if seen[i] {
					t.Fatal("an instance is in two classes")
				}
				seen[i] = true
			}
		}
		if len(seen) != 300 || len(all) > mostClasses {
			t.Errorf("%d values: %d instances in %d classes", values, len(seen), len(all))
		}
	}
}

// No mean objective of a chart is better than the mean bound next to it, although the algorithms fail on different
// instances.
func TestNoCurvePassesTheBound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 12))
	for range 100 {
		var runs []Run
		for k := range 20 {
			bound := 10 * rng.ExpFloat64()
			params := map[string]float64{"tasks": float64(k % 3)}
			for _, a := range []string{"a", "b", "c"} {
				objective := bound * (1 + rng.Float64())
				if rng.IntN(3) == 0 {
					objective = math.NaN()
				}
				runs = append(runs, made(fmt.Sprint("i", k), a, 1, objective, bound, 1, params))
			}
		}
		p := onePart(t, runs)
		shown, _ := p.comparable()
		c := p.objectives(shown, p.classes("tasks"), axis{})
		bound := c.curves[len(c.curves)-1]
		for _, v := range c.curves[:len(c.curves)-1] {
			for k, q := range v.points {
				if q.y < bound.points[k].y {
					t.Fatalf("%s at %v: %v, the bound is %v", v.name, q.x, q.y, bound.points[k].y)
				}
			}
		}
	}
}

// A bound that a file only states counts where there is no other, never against a
// solution, and is called so.
func TestStatedBounds(t *testing.T) {
	stated := func(objective, bound float64) Run {
		r := made("x", "mine", 1, objective, bound, 1, nil)
		r.Sealed, r.Status = false, model.StatusOptimal
		return r
	}
	for name, c := range map[string]struct {
		runs []Run
		want string
	}{
		"alone":            {[]Run{stated(10, 10)}, "stated optimal"},
		"beaten":           {[]Run{stated(10, 12)}, "open"},
		"beside a proof":   {[]Run{stated(10, 10), made("x", "search", 1, 10, 8, 1, nil)}, "open"},
		"a proof besides":  {[]Run{stated(10, 9), made("x", "search", 1, 10, 10, 1, nil)}, "optimal"},
		"neither":          {[]Run{made("x", "search", 1, math.NaN(), 3, 1, nil)}, "unknown"},
		"beaten by others": {[]Run{stated(10, 10), made("x", "heft", 1, 9, math.NaN(), 1, nil)}, "open"},
	} {
		require.Same(t, name, c.want, onePart(t, c.runs).instances[0].status())
	}
}

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		r    runs.Record
		want string
	}{
		{runs.Record{Plan: "mine", Instance: "H2-J6", Algorithm: "gr"}, "gapwise bench mine.yaml --instances '^H2-J6$' -o again.jsonl"},
		{runs.Record{Plan: "vcsched-large", Instance: "a.b", Algorithm: "gr"}, "gapwise bench vcsched-large --instances '^a\\.b$' -o again.jsonl"},
		{runs.Record{Plan: "p", Instance: "dir/x.json.gz", Algorithm: "exact 2", Options: "algorithm=search time_limit=10s", Seed: 3, Variants: map[string]string{"goal": "all"}},
			"gapwise solve --algorithm search --time-limit 10s --goal all --seed 3 dir/x.json.gz"},
		{runs.Record{Instance: "it's; rm -rf", Algorithm: "$(id)", Seed: 1}, `gapwise solve --algorithm '$(id)' --seed 1 "it's; rm -rf.json"`},
		{runs.Record{Plan: "-x", Instance: "a"}, "gapwise bench ./-x.yaml --instances '^a$' -o again.jsonl"},
		{runs.Record{Instance: "a\x1b]0;t\a", Algorithm: "heft", Options: "x;id=1", Variants: map[string]string{"`id`": "2"}},
			"gapwise solve --algorithm heft '--x;id' 1 '--`id`' 2 --seed 0 $'a\\x1b]0;t\\a.json'"},
		{runs.Record{Instance: "--help", Algorithm: "heft", Seed: 1}, "gapwise solve --algorithm heft --seed 1 ./--help.json"},
	} {
		require.Same(t, "result", c.want, Command(&c.r))
	}
}
