// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// How many have their turn at once changes nothing that is proved, and with as many threads
// all is the same again: the solution, the bound, the nodes.
func TestAutoThreads(t *testing.T) {
	eachProblem(t, func(t *testing.T, p *gapwise.Problem) {
		several := 0
		for _, in := range middling(t, p) {
			var first, last model.Result
			lastThreads := 0
			for _, threads := range []int{1, 2, 3, 3} {
				r := require.Value(gapwise.Solve(t.Context(), in,
					gapwise.Options{Settings: model.Settings{Seed: 3, Threads: threads, TimeLimit: time.Minute}}))(t)
				if r.Status != model.StatusOptimal && r.Reason == "stopped by the time limit" {
					t.Fatalf("%s isn't solved in a minute", in.ID())
				}
				if r.Elapsed = 0; threads == 1 {
					first = r
					if r.Nodes > 0 {
						several++
					}
				}
				if r.Status != first.Status || r.Objective != first.Objective || r.Bound != first.Bound {
					t.Errorf("%s: with %d threads %s %v to %v, with one %s %v to %v", in.ID(), threads, r.Status, r.Objective, r.Bound,
						first.Status, first.Objective, first.Bound)
				}
				if a, b := string(marshal(t, last)), string(marshal(t, r)); lastThreads == threads && a != b {
					t.Errorf("%s: with %d threads\n%s\nand then\n%s", in.ID(), threads, a, b)
				}
				last, lastThreads = r, threads
			}
		}
		if several == 0 {
			t.Error("no instance needs an engine")
		}
	})
}

// middling draws instances that auto proves by engines within seconds.
func middling(t *testing.T, p *gapwise.Problem) []model.Instance { return middlings(t, p, 1) }

func middlings(t *testing.T, p *gapwise.Problem, draws int) []model.Instance {
	t.Helper()
	all := map[model.Kind]map[string][]string{
		model.KindBatch:         {"jobs": {"10", "14"}, "processors": {"8"}, "tiers": {"1"}},
		model.KindConsolidation: {"hosts": {"12", "14"}, "load": {"0.8"}, "churn": {"0.3"}, "sizes": {"2"}, "limit": {"0.7"}},
		model.KindDAG:           {"tasks": {"24", "34"}, "machines": {"3"}},
		model.KindReservation:   {"requests": {"80", "110"}, "arrival_factor": {"6"}},
		model.KindTVC:           {"requests": {"18", "24"}, "k": {"2"}, "load": {"3"}},
		model.KindVCSched:       {"hosts": {"6"}, "jobs": {"20", "22"}},
	}
	return instancesOf(t, p, all[p.Kind], draws)
}

// Auto is no worse than each algorithm that takes part in it, whichever they are.
func TestAutoAtLeast(t *testing.T) {
	eachProblem(t, func(t *testing.T, p *gapwise.Problem) {
		for _, in := range slices.Concat(smallInstances(t, p, 2), middling(t, p)) {
			auto := require.Value(gapwise.Solve(t.Context(), in,
				gapwise.Options{Settings: model.Settings{Seed: 1, TimeLimit: 2 * time.Second}}))(t)
			for _, name := range p.Auto {
				if a, err := gapwise.Find(p.Kind, name); err != nil || a.Exact || a.Seeded {
					continue
				}
				r, err := gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: name, Settings: model.Settings{Seed: 1}})
				if errors.Is(err, model.ErrUnsupported) || err == nil && r.Solution == nil {
					continue
				}
				require.OK(t, err)
				sense := model.SenseOf(in)
				if auto.Solution == nil || sense.Better(r.Objective, auto.Objective) && auto.Status != model.StatusOptimal {
					t.Errorf("%s: auto %v, %s %v", in.ID(), auto.Objective, name, r.Objective)
				}
			}
		}
	})
}

// Auto's reports while it runs only get better, and its solutions are the instance's.
func TestAutoTells(t *testing.T) {
	eachProblem(t, func(t *testing.T, p *gapwise.Problem) {
		in := middling(t, p)[1]
		sense := model.SenseOf(in)
		best, bound, told, elapsed := math.NaN(), math.NaN(), 0, time.Duration(0)
		set := model.Settings{Seed: 1, TimeLimit: time.Minute, Progress: func(x model.Progress) {
			if x.Done && x.Solution != nil {
				t.Errorf("the best solution, %v, is told at the end alone", x.Incumbent)
			}
			if x.Elapsed < elapsed {
				t.Errorf("%v after %v", x.Elapsed, elapsed)
			}
			elapsed = x.Elapsed
			if x.Solution != nil {
				told++
				o, err := in.Objective(x.Solution)
				if err != nil || o.Value != x.Incumbent || !math.IsNaN(best) && !sense.Better(x.Incumbent, best) {
					t.Errorf("told %v after %v: %v", x.Incumbent, best, err)
				}
				best = x.Incumbent
			}
			if !math.IsNaN(bound) && sense.Better(x.Bound, bound) {
				t.Errorf("told the bound %v after %v", x.Bound, bound)
			}
			bound = x.Bound
		}}
		r, err := gapwise.Solve(t.Context(), in, gapwise.Options{Settings: set})
		if err != nil || told == 0 || r.Objective != best {
			t.Errorf("ends with %v, told %v, %d times: %v", r.Objective, best, told, err)
		}
	})
}

// A context that has ended leaves the cheapest heuristic's solution.
func TestAutoStopped(t *testing.T) {
	eachProblem(t, func(t *testing.T, p *gapwise.Problem) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, in := range middling(t, p) {
			r, err := gapwise.Solve(ctx, in, gapwise.Options{Settings: model.Settings{Seed: 1}})
			if err != nil || r.Solution == nil || r.Status == model.StatusOptimal && r.Gap > model.DefaultGap {
				t.Errorf("%s: %v %v", in.ID(), fmt.Sprint(r.Status), err)
			}
		}
	})
}

// Auto's proofs agree with its engines' own, also when its workers learn of each other all the time.
func TestAutoProves(t *testing.T) {
	defer gapwise.ShortTurns()()
	draws := 2
	if testing.Short() {
		draws = 1
	}
	for _, p := range gapwise.Problems() {
		optimal := 0
		for _, in := range slices.Concat(smallInstances(t, p, draws), middlings(t, p, 3*draws)) {
			set := model.Settings{Seed: 1, TimeLimit: time.Second}
			auto := require.Value(gapwise.Solve(t.Context(), in, gapwise.Options{Settings: set}))(t)
			if auto.Status == model.StatusOptimal {
				optimal++
			}
			results := []model.Result{auto}
			set.TimeLimit = time.Second / 2
			for _, engine := range []string{p.Default, "kernel"} {
				r, err := gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: "exact", Engine: engine, Settings: set})
				if err == nil {
					results = append(results, r)
				} else if !errors.Is(err, model.ErrUnsupported) {
					t.Fatal(err)
				}
			}
			if err := gapwise.Join(in, results, model.DefaultGap); err != nil {
				t.Errorf("%s: %v", in.ID(), err)
			}
		}
		if t.Logf("%s: %d proved", p.Kind, optimal); optimal < 3*draws {
			t.Errorf("%s: auto proves %d", p.Kind, optimal)
		}
	}
}

// Auto without a worker goes on with the others, also without the only one of the first round.
func TestAutoWithout(t *testing.T) {
	eachProblem(t, func(t *testing.T, p *gapwise.Problem) {
		for _, in := range smallInstances(t, p, 1) {
			whole := require.Value(gapwise.Solve(t.Context(), in,
				gapwise.Options{Settings: model.Settings{Seed: 1, TimeLimit: 10 * time.Second}}))(t)
			for _, name := range p.Auto {
				if name == "search" || name == "kernel" || name == "highs" {
					continue // which may be the one that proves it
				}
				left := require.Value(p.Portfolio.Without(name))(t)
				r, err := gapwise.Solve(t.Context(), in, gapwise.Options{Solver: left, Settings: model.Settings{Seed: 1, TimeLimit: 10 * time.Second}})
				if err != nil || whole.Status != r.Status || whole.Status == model.StatusOptimal && math.Abs(whole.Objective-r.Objective) > 1e-6*math.Abs(whole.Objective) {
					t.Errorf("%s without %s: %v %v, %v; with it %v %v", in.ID(), name, fmt.Sprint(r.Status), r.Objective, err, fmt.Sprint(whole.Status), whole.Objective)
				}
			}
		}
	})
}

// byEffort solves to an effort, counts the runs that it stopped, and returns the result's text but for its time.
func byEffort(t *testing.T, in model.Instance, o gapwise.Options, stopped *int) (r model.Result, text string, err error) {
	if r, err = gapwise.Solve(t.Context(), in, o); err != nil {
		return r, "", err
	}
	if r.Reason == "stopped by the limit of its effort" {
		*stopped++
	}
	r.Elapsed = 0
	return r, string(marshal(t, r)), nil
}

// An effort ends a run in the same place, however fast the machine is and with any number
// of threads, and more of it is no worse.
func TestEffort(t *testing.T) {
	eachProblem(t, func(t *testing.T, p *gapwise.Problem) {
		stopped := 0
		for _, in := range middling(t, p) {
			var last model.Result
			var before string
			for k, effort := range []int64{2_000, 2_000, 20_000, 100_000} {
				r, text := require.Pair(byEffort(t, in, gapwise.Options{Settings: model.Settings{Seed: 3, Threads: 1 + k%2, Effort: effort}}, &stopped))(t)
				if k == 1 && text != before {
					t.Errorf("%s: once\n%s\nthen\n%s", in.ID(), before, text)
				}
				if k > 0 && last.Solution != nil && model.SenseOf(in).Better(last.Objective, r.Objective) {
					t.Errorf("%s: %v by more effort, %v by less", in.ID(), r.Objective, last.Objective)
				}
				last, before = r, text
			}
		}
		if stopped == 0 {
			t.Error("nothing was stopped")
		}
	})
}

// An effort ends HiGHS in the same place in each run, before it is done.
func TestEffortOfHiGHS(t *testing.T) {
	require.HiGHS(t)
	t.Parallel()
	stopped := 0
	for _, p := range gapwise.Problems() {
		for _, in := range middling(t, p) {
			o := gapwise.Options{Algorithm: "highs", Settings: model.Settings{Seed: 3, Effort: 30_000}}
			_, once, err := byEffort(t, in, o, &stopped)
			if errors.Is(err, model.ErrUnsupported) {
				continue
			}
			require.OK(t, err)
			if _, again, err := byEffort(t, in, o, &stopped); err != nil || again != once {
				t.Errorf("%s: once\n%s\nthen\n%s %v", in.ID(), once, again, err)
			}
		}
	}
	if stopped == 0 {
		t.Error("nothing was stopped")
	}
}
