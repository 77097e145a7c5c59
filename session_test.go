// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// changing draws a cluster with jobs that come and go.
type changing struct {
	rng  *rand.Rand
	in   model.VCSched
	next int
}

func newChanging(seed uint64, hosts, jobs int, budget float64) *changing {
	c := &changing{rng: rand.New(rand.NewPCG(seed, 0)), in: model.VCSched{Name: "changing", Hosts: hosts}}
	if budget > 0 {
		c.in.MigrationBudget = &budget
	}
	c.change(jobs, 0)
	return c
}

// change returns the instance after some jobs have arrived and others left.
func (c *changing) change(arrive, leave int) *model.VCSched {
	jobs := slices.Clone(c.in.Jobs)
	for range min(leave, len(jobs)-1) {
		k := c.rng.IntN(len(jobs))
		jobs = slices.Delete(jobs, k, k+1)
	}
	for range arrive {
		// 200 jobs of these fill about two thirds of the memory of 64 hosts.
		jobs = append(jobs, model.VCSchedJob{ID: fmt.Sprint("j", c.next), Tasks: 1, CPU: 0.05 + 0.6*c.rng.Float64(), Memory: 0.42 * c.rng.Float64()})
		c.next++
	}
	c.in.Jobs = jobs
	now := c.in
	return &now
}

// No step of a chain of changes is worse than the last placement completed greedily, and none moves more than the
// budget allows, counted from that placement.
func TestSession(t *testing.T) {
	for _, budget := range []float64{0, 0.5} {
		c := newChanging(7, 8, 20, budget)
		s := gapwise.Session{Options: gapwise.Options{Settings: model.Settings{Seed: 1, TimeLimit: 100 * time.Millisecond}}}
		var in model.Instance = c.change(0, 0)
		better := 0
		for step := range 15 {
			solved, r, start := kept(t, &s, in)
			if r.Solution == nil {
				t.Fatalf("step %d: %s, %s", step, r.Status, r.Reason)
			}
			if r.Objective > start {
				better++
			}
			moved := 0.0
			for i, j := range solved.(*model.VCSched).Jobs {
				if p := r.Solution.(*model.Placement).Jobs[i]; len(j.CurrentHosts) > 0 && j.CurrentHosts[0] != p.Hosts[0] {
					moved += j.Memory
				}
			}
			if budget > 0 && moved > budget+1e-9 {
				t.Errorf("step %d: %v of memory moves, %v may", step, moved, budget)
			}
			in = c.change(3, 3)
		}
		if better == 0 {
			t.Errorf("budget %v: no step is better than its start", budget)
		}
	}
}

// kept takes a step, reports one that is worse than the last solution completed where that is feasible, and returns the
// value of that, else NaN.
func kept(t *testing.T, s *gapwise.Session, in model.Instance) (model.Instance, model.Result, float64) {
	t.Helper()
	last := s.Last()
	solved, r := require.Pair(s.Step(t.Context(), in))(t)
	if last == nil || r.Solution == nil {
		return solved, r, math.NaN()
	}
	start, _, err := gapwise.CompleteStart(t.Context(), solved, last)
	if err != nil {
		return solved, r, math.NaN() // they have nothing in common
	}
	report := require.Value(verify.Verify(t.Context(), solved, start, verify.Options{}))(t)
	if !report.Feasible() {
		return solved, r, math.NaN()
	}
	if model.SenseOf(in).Better(report.Objective, r.Objective) && model.Gap(r.Objective, report.Objective) > 1e-9 {
		t.Errorf("%s: %v, the last solution completed has %v", in.ID(), r.Objective, report.Objective)
	}
	return solved, r, report.Objective
}

// moves returns how many tasks of jobs that both placements have are on other hosts.
func moves(before, after *model.Placement) (n int) {
	of := map[string][]int{}
	for _, j := range before.Jobs {
		of[j.ID] = j.Hosts
	}
	for _, j := range after.Jobs {
		for k, h := range of[j.ID] {
			if len(of[j.ID]) == len(j.Hosts) && j.Hosts[k] != h {
				n++
			}
		}
	}
	return n
}

// sessionEffort is the effort that SessionTimeLimit allows a search on an idle machine, or so.
const sessionEffort = 20_000

// A step without a budget moves few: some twenty of 192 virtual machines on 64 hosts when one comes and one goes. The
// yield stays within two hundredths of the bound, a hundredth given up for that. An effort ends the search, so this
// holds on a slow machine: another session of the same effort finds the same placements.
func TestSessionMovesFew(t *testing.T) {
	t.Parallel()
	c := newChanging(5, 64, 192, 0)
	s := gapwise.Session{Options: gapwise.Options{Settings: model.Settings{Seed: 1, Effort: sessionEffort}}}
	again := s
	for _, one := range []*gapwise.Session{&s, &again} {
		if _, _, err := one.Step(t.Context(), c.change(0, 0)); err != nil {
			t.Fatal(err)
		}
	}
	moved := 0
	for step := range 30 {
		before, in := s.Last().(*model.Placement), c.change(1, 1)
		_, r := require.Pair(s.Step(t.Context(), in))(t)
		if _, _, err := again.Step(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(s.Last(), again.Last()) {
			t.Fatalf("step %d: a session of the same effort has another placement", step)
		}
		if step < 10 { // the first step may have been stopped by its limit
			continue
		}
		moved += moves(before, r.Solution.(*model.Placement))
		if r.Gap > 0.02 {
			t.Errorf("step %d: gap %v", step, r.Gap)
		}
	}
	if moved > 20*40 {
		t.Errorf("%d tasks move in 20 steps", moved)
	}
}

// Sessions of hosts of several sizes, further resources and parallel jobs keep the rule: never worse than the completed
// start, and with a gap of 0 asked for not worse than the search's result. Each solution was judged by Solve.
func TestSessionRule(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(41, 42))
	compared, strict := 0, 0
	for k := range 40 {
		all := testkit.Vectors(rng, testkit.VCSched(rng, 10+rng.IntN(10), 2+rng.IntN(3), false))
		o := gapwise.Options{Algorithm: "gr", Settings: model.Settings{Seed: 1}}
		if k%2 == 0 {
			o.Algorithm, o.Gap, o.TimeLimit = "search", 1e-6, time.Minute
		}
		s := gapwise.Session{Options: o}
		for range 4 {
			now := *all
			now.Jobs = nil
			for _, j := range all.Jobs {
				if rng.IntN(10) < 8 || len(now.Jobs) == 0 {
					now.Jobs = append(now.Jobs, j)
				}
			}
			_, r, start := kept(t, &s, &now)
			if r.Solution == nil {
				continue
			}
			if k%2 == 0 && r.Gap > 1e-6 {
				t.Errorf("%d: gap %v", k, r.Gap)
			}
			if strict += 1 - k%2; !math.IsNaN(start) {
				compared++
			}
		}
	}
	if compared < 40 || strict < 30 {
		t.Errorf("%d steps compared, %d with a gap of 0", compared, strict)
	}
}

// A session of any problem starts from its last solution, and is never worse than that completed, for jobs that come and
// go. It begins again for instances that have nothing in common, and an infeasible one leaves it as it was.
func TestSessionAnyProblem(t *testing.T) {
	eachProblem(t, func(t *testing.T, p *gapwise.Problem) {
		var s gapwise.Session
		s.Options.Seed, s.Options.TimeLimit = 1, 5*time.Millisecond
		compared := 0
		for _, in := range smallInstances(t, p, 2) {
			_, r, start := kept(t, &s, in)
			if r.Solution != nil && s.Last() == nil {
				t.Errorf("%s: its solution isn't kept", in.ID())
			}
			if !math.IsNaN(start) {
				compared++
			}
		}
		if compared < 3 {
			t.Errorf("%d steps compared", compared)
		}
	})
	full := &model.VCSched{Name: "full", Hosts: 1, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 1, CPU: 0.5, Memory: 0.6}}}
	over := &model.VCSched{Name: "over", Hosts: 1, Jobs: append(full.Jobs[:1:1], model.VCSchedJob{ID: "b", Tasks: 1, CPU: 0.5, Memory: 0.6})}
	var s gapwise.Session
	if _, _, err := s.Step(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	kept := s.Last()
	if _, r, err := s.Step(t.Context(), over); err != nil || r.Status != model.StatusInfeasible || s.Last() != kept {
		t.Errorf("%v, %v, kept %v", r.Status, err, s.Last() == kept)
	}
}

// ExampleSession places jobs again after one has arrived; running ones may move within the budget.
func ExampleSession() {
	budget := 0.5
	in := &model.VCSched{Name: "cluster", Hosts: 2, MigrationBudget: &budget, Jobs: []model.VCSchedJob{
		{ID: "web", Tasks: 1, CPU: 0.5, Memory: 0.4}, {ID: "db", Tasks: 1, CPU: 0.7, Memory: 0.6},
	}}
	var s gapwise.Session
	_, before, err := s.Step(context.Background(), in)
	if err != nil {
		fmt.Println(err)
		return
	}
	arrived := *in
	arrived.Jobs = append(slices.Clone(in.Jobs), model.VCSchedJob{ID: "batch", Tasks: 1, CPU: 0.5, Memory: 0.3})
	_, after, err := s.Step(context.Background(), &arrived)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(before.Status, before.Objective, after.Status, after.Objective)
	// Output: optimal 1 optimal 1
}

// BenchmarkSession is one step: two jobs arrive, two leave. The times include the
// judge's.
func BenchmarkSession(b *testing.B) {
	for _, budget := range []float64{0, 2} {
		b.Run(fmt.Sprintf("hosts=64/jobs=200/budget=%v", budget), func(b *testing.B) {
			c := newChanging(5, 64, 200, budget)
			var s gapwise.Session
			s.Options.Seed = 1
			if _, _, err := s.Step(b.Context(), c.change(0, 0)); err != nil {
				b.Fatal(err)
			}
			gap, longest := 0.0, time.Duration(0)
			for b.Loop() {
				in := c.change(2, 2)
				began := time.Now()
				_, r := require.Pair(s.Step(b.Context(), in))(b)
				longest = max(longest, time.Since(began))
				gap += r.Gap
			}
			b.ReportMetric(float64(longest.Microseconds())/1000, "ms-longest")
			b.ReportMetric(100*gap/float64(b.N), "gap-%")
		})
	}
}
