// SPDX-License-Identifier: MIT

package online_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// machines are the decisions of a policy, one call after the other.
func machines(turns [][]online.VCSchedDecision) *script[online.VCSchedPlatform, online.VCSchedEvent, online.VCSchedDecision] {
	return &script[online.VCSchedPlatform, online.VCSchedEvent, online.VCSchedDecision]{turns: turns, name: func(e online.VCSchedEvent) string {
		return fmt.Sprintf("%g %s %d %s", float64(e.At)/second, e.Type, e.Number, e.Job.ID)
	}}
}

// course has two hosts and the jobs a of two tasks, 0 to 10 s, b, 2 to 6 s, and c, 6 to 8 s.
func course() (*model.VCSched, []online.VCSchedStay) {
	return &model.VCSched{Hosts: 2, Jobs: []model.VCSchedJob{{ID: "c", Tasks: 1, CPU: 0.45, Memory: 0.6}, {ID: "a", Tasks: 2, CPU: 0.8, Memory: 0.4}, {ID: "b", Tasks: 1, CPU: 0.8, Memory: 0.6}}},
		[]online.VCSchedStay{{6, 8}, {0, 10}, {2, 6}}
}

func host(job int32, task, host int) online.VCSchedDecision {
	return online.VCSchedDecision{Type: online.Start, Job: job, Task: task, Host: host}
}

func shift(job int32, task, host int) online.VCSchedDecision {
	return online.VCSchedDecision{Type: online.Move, Job: job, Task: task, Host: host}
}

// Impossible decisions are refused in a line, and the runs until then are kept.
func TestVCSchedRefused(t *testing.T) {
	t.Parallel()
	type turns = [][]online.VCSchedDecision
	a := []online.VCSchedDecision{host(0, 0, 0), host(0, 1, 1)}
	reject := func(job int32) online.VCSchedDecision {
		return online.VCSchedDecision{Type: online.Reject, Job: job}
	}
	for name, c := range map[string]struct {
		turns  turns
		budget float64
		want   string
		steps  int
	}{
		"not arrived":       {turns: turns{{host(1, 0, 0)}}, want: `invalid decision at 0 s (call 1): start of job number 1: no such job has arrived, the policy knows numbers below 1`},
		"negative":          {turns: turns{{host(-1, 0, 0)}}, want: `start of job number -1: no such job has arrived`},
		"no decision":       {turns: turns{{{Type: online.Kill}}}, want: `kill of job "a": there is no such decision, there are "start", "move" and "reject"`},
		"no task":           {turns: turns{{host(0, 2, 0)}}, want: `start of job "a": there is no task 2, it has 2 from 0 on`},
		"no host":           {turns: turns{{host(0, 0, 2)}}, want: `start of job "a": there is no host 2, there are 0 to 1`},
		"negative host":     {turns: turns{{host(0, 0, -1)}}, want: `there is no host -1`},
		"twice":             {turns: turns{{host(0, 0, 0), host(0, 0, 1)}}, want: `start of job "a": task 0 gets host 0 at this instant already`},
		"runs":              {turns: turns{a, {host(0, 0, 1)}}, want: `at 2 s (call 2): start of job "a": task 0 is on host 0`, steps: 1},
		"moved, waits":      {turns: turns{{shift(0, 0, 1)}}, want: `move of job "a": task 0 isn't on a host`},
		"onto itself":       {turns: turns{a, {shift(0, 1, 1)}}, want: `move of job "a": task 1 is on host 1 already`, steps: 1},
		"moved twice":       {turns: turns{a, {shift(0, 0, 1), shift(0, 0, 0)}}, want: `move of job "a": task 0 gets host 1 at this instant already`, steps: 1},
		"memory":            {turns: turns{{host(0, 0, 0), host(0, 1, 0)}, {host(1, 0, 0)}}, want: `start of job "b": after all decisions of this instant host 0 hasn't the memory for its tasks`, steps: 1},
		"memory by a move":  {turns: turns{a, {host(1, 0, 1), shift(0, 0, 1)}}, want: `move of job "a": after all decisions of this instant host 1 hasn't the memory`, steps: 1},
		"a task left":       {turns: turns{{host(0, 0, 0)}}, want: `none on job "a": task 1 has no host, and a job is placed or rejected when it arrives`},
		"not answered":      {turns: turns{{}}, want: `none on job "a": task 0 has no host`},
		"rejected, started": {turns: turns{{host(0, 1, 0), reject(0)}}, want: `reject of job "a": it has a host`},
		"rejected, runs":    {turns: turns{a, {reject(0)}}, want: `reject of job "a": it has a host`, steps: 1},
		"was rejected":      {turns: turns{{reject(0), host(0, 0, 0)}}, want: `start of job "a": it has left, or is rejected`},
		"has left":          {turns: turns{a, {host(1, 0, 0)}, {shift(1, 0, 1)}}, want: `move of job "b": it has left, or is rejected`, steps: 2},
		"budget":            {turns: turns{a, {host(1, 0, 0), shift(0, 0, 1), shift(0, 1, 0)}}, budget: 0.79, want: `move of job "a": with it more memory moves at this instant than the migration budget, 0.79`, steps: 1},
	} {
		in, stays := course()
		if c.budget > 0 {
			in.MigrationBudget = &c.budget
		}
		run, err := online.VCSched(t.Context(), in, stays, machines(c.turns))
		checkRefused(t, name, err, c.want)
		require.Same(t, name+": steps", c.steps, len(run.Steps))
	}
	for name, change := range map[string]func(*model.VCSched, *[]online.VCSchedStay){
		"fewer stays":     func(_ *model.VCSched, s *[]online.VCSchedStay) { *s = (*s)[:2] },
		"before 0":        func(_ *model.VCSched, s *[]online.VCSchedStay) { (*s)[1].ArrivalS = -1 },
		"never leaves":    func(_ *model.VCSched, s *[]online.VCSchedStay) { (*s)[1].DepartureS = math.Inf(1) },
		"no number":       func(_ *model.VCSched, s *[]online.VCSchedStay) { (*s)[1].DepartureS = math.NaN() },
		"leaves too soon": func(_ *model.VCSched, s *[]online.VCSchedStay) { (*s)[1].DepartureS = 4e-7 },
		"runs before":     func(in *model.VCSched, _ *[]online.VCSchedStay) { in.Jobs[0].CurrentHosts = []int{1} },
	} {
		in, stays := course()
		change(in, &stays)
		if run, err := online.VCSched(t.Context(), in, stays, machines(nil)); !errors.Is(err, model.ErrInvalid) || run != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Events come in time. The results are right for two tasks that change places while full hosts leave no room between,
// for a rejected job, and for a context that has ended.
func TestVCSchedTold(t *testing.T) {
	t.Parallel()
	in, stays := course()
	p := machines([][]online.VCSchedDecision{{host(0, 0, 0), host(0, 1, 1)}, {host(1, 0, 0)}, {host(2, 0, 1), shift(0, 0, 1), shift(0, 1, 0)}})
	run, err := online.VCSched(t.Context(), in, stays, p)
	require.OK(t, err)
	p.checkTold(t, "changing places", "0 submitted 0 a, ?, 2 submitted 1 b, ?, 6 ended 1 b, 6 submitted 2 c, ?, 8 ended 2 c, ?, 10 ended 0 a, ?")
	// From 2 to 6 s host 0 is asked for 1.6, from 6 to 8 s host 1 for 1.25.
	y := []float64{1, 1 / 1.6, 1 / 1.25, 1, 1}
	want := &online.VCSchedRun{Steps: []online.VCSchedStep{{0, 1, y[0], 0, 0}, {2, 2, y[1], 0, 0}, {6, 2, y[2], 2, 0.8}, {8, 1, 1, 0, 0}, {10, 0, 1, 0, 0}},
		LeastYield: y[1], MeanYield: (2e6*y[0] + 4e6*y[1] + 2e6*y[2] + 2e6*y[3]) / 10e6, Migrations: 2, Moved: 0.8}
	if !reflect.DeepEqual(run, want) {
		t.Errorf("%+v, want %+v", run, want)
	}
	reject := func(k int32) online.VCSchedDecision { return online.VCSchedDecision{Type: online.Reject, Job: k} }
	p = machines([][]online.VCSchedDecision{{reject(0)}, {reject(1)}, {reject(2)}})
	if run, err = online.VCSched(t.Context(), in, stays, p); err != nil || len(run.Steps) != 3 || !slices.Equal(run.Rejected, []string{"a", "b", "c"}) || !math.IsNaN(run.MeanYield) || !math.IsNaN(run.LeastYield) {
		t.Errorf("%+v, %v", run, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if run, err = online.VCSched(ctx, in, stays, p); !errors.Is(err, model.ErrNoSolution) || len(run.Steps) > 0 {
		t.Errorf("%+v, %v", run, err)
	}
}

// juggler is a policy that places and moves at random, mostly where the memory suffices. It keeps the events that it
// got and its decisions.
type juggler struct {
	rng     *rand.Rand
	cluster *model.VCSched
	careful bool
	jobs    []online.VCSchedEvent
	here    map[int32]bool
	on      map[[2]int]int
	log     []string
	past    []instantOf
}

// instantOf is an instant as a policy has seen it: the jobs with their hosts before and after.
type instantOf struct {
	at     int64
	in     model.VCSched
	hosts  []int32
	moves  int
	memory float64
}

func (p *juggler) Begin(platform online.VCSchedPlatform) error {
	p.cluster, p.here, p.on = platform.Cluster, map[int32]bool{}, map[[2]int]int{}
	if len(p.cluster.Jobs) > 0 {
		return errors.New("it knows jobs")
	}
	return nil
}

func (p *juggler) Event(e online.VCSchedEvent) error {
	p.log = append(p.log, fmt.Sprint(e.At, e.Type, e.Number, *e.Job))
	if len(p.past) == 0 || p.past[len(p.past)-1].hosts != nil || p.past[len(p.past)-1].at != e.At {
		p.past = append(p.past, instantOf{at: e.At})
	}
	if e.Type == online.Submitted {
		p.jobs, p.here[e.Number] = append(p.jobs, e), true
	} else {
		delete(p.here, e.Number)
	}
	return nil
}

// room reports whether the rigid needs fit on a host, without one task and with one of a job.
func (p *juggler) room(h int, but [2]int, j *model.VCSchedJob) bool {
	for r := -1; r < len(p.cluster.Resources); r++ {
		used := j.Rigid(r)
		for k, on := range p.on {
			if on == h && k != but && p.here[int32(k[0])] {
				used += p.jobs[k[0]].Job.Rigid(r)
			}
		}
		if used > p.cluster.Capacity(h).Rigid(r) {
			return false
		}
	}
	return true
}

func (p *juggler) Decide() (all []online.VCSchedDecision, err error) {
	now := &p.past[len(p.past)-1]
	now.in, now.hosts = *p.cluster, []int32{}
	left := math.Inf(1)
	if b := p.cluster.MigrationBudget; b != nil {
		left = *b
	}
	for n := range p.jobs {
		e := &p.jobs[n]
		if !p.here[e.Number] {
			continue
		}
		j, hosts, known := *e.Job, []int32{}, true
		for task := range j.Tasks {
			k := [2]int{n, task}
			at, runs := p.on[k]
			if known = runs; runs {
				j.CurrentHosts = append(j.CurrentHosts, at)
			}
			h := p.rng.IntN(p.cluster.Hosts)
			if p.careful || p.rng.IntN(8) > 0 {
				for i := 0; i < p.cluster.Hosts && !p.room(h, k, &j); i++ {
					h = (h + 1) % p.cluster.Hosts
				}
				if p.careful && !p.room(h, k, &j) && !runs {
					h = -1
				}
			}
			switch {
			case runs && (h == at || p.rng.IntN(2) == 0 || p.careful && (!p.room(h, k, &j) || j.Memory > left)):
				h = at
			case runs:
				left -= j.Memory
				now.moves, now.memory = now.moves+1, now.memory+j.Memory
				all = append(all, shift(e.Number, task, h))
			case h >= 0:
				all = append(all, host(e.Number, task, h))
			}
			p.on[k] = h
			hosts = append(hosts, int32(h))
		}
		if slices.Contains(hosts, -1) || !known && !p.careful && p.rng.IntN(10) == 0 {
			all = slices.DeleteFunc(all, func(d online.VCSchedDecision) bool { return d.Job == e.Number })
			all = append(all, online.VCSchedDecision{Type: online.Reject, Job: e.Number})
			delete(p.here, e.Number)
			continue
		}
		now.in.Jobs, now.hosts = append(now.in.Jobs, j), append(now.hosts, hosts...)
	}
	p.log = append(p.log, fmt.Sprint(all))
	return all, nil
}

// draw draws a course: an instance with jobs that come and go, at times together.
func draw(rng *rand.Rand) (*model.VCSched, []online.VCSchedStay) {
	in := testkit.VCSched(rng, 4+rng.IntN(20), 1+rng.IntN(4), rng.IntN(2) == 0)
	if rng.IntN(2) == 0 {
		in = testkit.Vectors(rng, in)
	}
	stays := make([]online.VCSchedStay, len(in.Jobs))
	for i := range in.Jobs {
		in.Jobs[i].CurrentHosts = nil
		from := float64(rng.IntN(20))
		stays[i] = online.VCSchedStay{ArrivalS: from, DepartureS: from + float64(1+rng.IntN(10))}
	}
	return in, stays
}

// The loop refuses the first instant of a random policy that the judge refuses, and no other. The yields of the
// instants before equal the plainly computed ones, and the judge's.
func TestVCSchedPlainly(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(27, 11))
	refused, whole, rejected, steps, migrations := map[string]int{}, 0, 0, 0, 0
	for range require.Rounds(600) {
		in, stays := draw(rng)
		p := &juggler{rng: rng, careful: rng.IntN(3) > 0}
		run, err := online.VCSched(t.Context(), in, stays, p)
		var wrong *online.DecisionError
		if err != nil && !errors.As(err, &wrong) {
			t.Fatal(err)
		}
		least, area, length, moves := math.NaN(), 0.0, 0.0, 0
		for k := range p.past {
			x := &p.past[k]
			broken := ""
			if len(x.in.Jobs) > 0 {
				solution := x.in.NewPlacement(x.hosts, plainYield(&x.in, x.hosts))
				r := require.Value(verify.Verify(t.Context(), &x.in, solution, verify.Options{}))(t)
				for _, v := range r.Violations {
					broken = v.Constraint
				}
				if y := plainYield(&x.in, x.hosts); broken == "" && math.Abs(r.Objective-y) > 1e-9 {
					t.Fatalf("the judge's yield %v isn't %v", r.Objective, y)
				}
			}
			if last := k == len(p.past)-1; last && wrong != nil {
				if broken == "" {
					t.Fatalf("refused for nothing: %v", err)
				}
				refused[broken]++
				break
			}
			if broken != "" {
				t.Fatalf("at %d: %s isn't refused: %v", x.at, broken, err)
			}
			step := run.Steps[k]
			yield := plainYield(&x.in, x.hosts)
			if math.Abs(step.Yield-yield) > 1e-12 || step.AtS != float64(x.at)/second || step.Jobs != len(x.in.Jobs) || step.Migrations != x.moves || math.Abs(step.Moved-x.memory) > 1e-9 {
				t.Fatalf("%+v, want %v, %d moves of %v", step, yield, x.moves, x.memory)
			}
			moves += x.moves
			if steps++; len(x.in.Jobs) == 0 {
				continue
			}
			least = min(cmpNaN(least, yield), yield)
			if k+1 < len(run.Steps) {
				dt := float64(p.past[k+1].at - x.at)
				area, length = area+dt*yield, length+dt
			}
		}
		mean := area / length // NaN if there was no time
		if !same(run.LeastYield, least) || !same(run.MeanYield, mean) || run.Migrations != moves {
			t.Fatalf("least %v, mean %v, %d moves, want %v, %v, %d", run.LeastYield, run.MeanYield, run.Migrations, least, mean, moves)
		}
		rejected += len(run.Rejected)
		migrations += moves
		if wrong == nil {
			whole++
		}
	}
	t.Log(whole, "whole,", steps, "steps,", migrations, "moves,", rejected, "rejected, refused by", refused)
	if short := testing.Short(); whole == 0 || rejected == 0 || migrations == 0 || refused["host_memory"] == 0 || !short && (refused["migration_budget"] == 0 || refused["host_resource"] == 0) {
		t.Errorf("%d whole, %d rejected, %d moves, refused %v", whole, rejected, migrations, refused)
	}
}

// cmpNaN returns x, y if x is NaN.
func cmpNaN(x, y float64) float64 {
	if math.IsNaN(x) {
		return y
	}
	return x
}

func same(x, y float64) bool {
	return math.Abs(x-y) <= 1e-9 || math.IsNaN(x) && math.IsNaN(y)
}

// plainYield returns the least share of its CPU need that a task gets where each host gives
// all its tasks the same.
func plainYield(in *model.VCSched, hosts []int32) float64 {
	yield := 1.0
	for h := range in.Hosts {
		sum, k := 0.0, 0
		for _, j := range in.Jobs {
			for range j.Tasks {
				if int(hosts[k]) == h {
					sum += j.CPU
				}
				k++
			}
		}
		if sum > 0 {
			yield = min(yield, in.Capacity(h).CPU/sum)
		}
	}
	return yield
}

// Events and decisions until an instant are the same whatever comes after it.
func TestVCSchedTellsNothingBefore(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(27, 12))
	compared := 0
	for range require.Rounds(300) {
		in, stays := draw(rng)
		cut := float64(rng.IntN(20)) + 0.5
		other := *in
		other.Jobs = nil
		var otherStays []online.VCSchedStay
		for i, s := range stays {
			j := in.Jobs[i]
			if s.ArrivalS > cut {
				if rng.IntN(2) == 0 {
					continue
				}
				j.CPU, s.ArrivalS = j.CPU/2, s.ArrivalS+1
			}
			if s.DepartureS > cut {
				s.DepartureS = max(s.ArrivalS, cut) + 0.5 + 20*rng.Float64()
			}
			other.Jobs, otherStays = append(other.Jobs, j), append(otherStays, s)
		}
		if len(other.Jobs) == 0 {
			continue
		}
		seed := rng.Uint64()
		run := func(in *model.VCSched, stays []online.VCSchedStay) string {
			p := &juggler{rng: rand.New(rand.NewPCG(seed, 1)), careful: true}
			require.OK(t, require.Err(online.VCSched(t.Context(), in, stays, p)))
			at := slices.IndexFunc(p.log, func(l string) bool {
				var now int64
				n, err := fmt.Sscanf(l, "%d", &now)
				return err == nil && n == 1 && float64(now) > cut*second
			})
			if at < 0 {
				at = len(p.log)
			}
			return strings.Join(p.log[:at], "\n")
		}
		a, b := run(in, stays), run(&other, otherStays)
		if a != b {
			t.Fatalf("until %v s\n%s\nbut\n%s", cut, a, b)
		}
		if a != "" {
			compared++
		}
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
}
