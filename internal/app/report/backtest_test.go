// SPDX-License-Identifier: MIT

package report

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// busy is a queue with more work than queue has, so that policies differ.
func busy(seed uint64) *model.Batch {
	in := queue(rand.New(rand.NewPCG(27, seed)))
	for k := range in.Jobs {
		in.Jobs[k].SubmitS = math.Round(in.Jobs[k].SubmitS * 0.7)
	}
	return in
}

// waitsOf returns the waits of the jobs in seconds.
func waitsOf(in *model.Batch, e *model.Execution) ([]float64, error) {
	index, err := in.Index(e)
	if err != nil {
		return nil, err
	}
	waits := make([]float64, len(in.Jobs))
	for i, k := range index {
		waits[k] = e.Runs[i].Segments[0].StartS - in.Jobs[k].SubmitS
	}
	return waits, nil
}

// A replay starts jobs at its passes alone, and leaves its time between two jobs of a processor.
func TestReplay(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		in := busy(seed)
		r := replay{policy: "easy", passS: 60, turnoverS: 10}
		before := slices.Clone(in.Jobs)
		e := require.Value(r.run(t.Context(), in, gapwise.Options{}))(t)
		require.Same(t, "the instance", in.Jobs, before)
		require.OK(t, require.Value(verify.Verify(t.Context(), in, e, verify.Options{}))(t).Err())
		type use struct{ start, end float64 }
		uses := map[int32][]use{}
		for _, run := range e.Runs {
			s := run.Segments[0]
			if math.Mod(s.StartS, 60) != 0 {
				t.Fatalf("job %s starts at %v, between passes", run.ID, s.StartS)
			}
			for _, p := range s.Place.Processors {
				uses[p] = append(uses[p], use{s.StartS, s.EndS})
			}
		}
		least := math.Inf(1)
		for _, all := range uses {
			slices.SortFunc(all, func(a, b use) int { return int(a.start - b.start) })
			for k := 1; k < len(all); k++ {
				least = min(least, all[k].start-all[k-1].end)
			}
		}
		if !(least >= 10 && least < 70) {
			t.Errorf("%v s between two jobs", least)
		}
	}
}

// A log that a replay made is fitted by it, without error; one without a replay that fits keeps its error.
func TestFit(t *testing.T) {
	t.Parallel()
	for k, r := range []replay{{"easy-sjbf", 0, 0}, {"easy", 60, 0}, {"conservative", 0, 10}, {"easy-saf", 30, 5}, {"fcfs", 300, 60}} {
		in := busy(uint64(k))
		ran := require.Value(r.run(t.Context(), in, gapwise.Options{}))(t)
		log := &Log{Name: "log", Ran: ran}
		x := require.Value(Solving{Seed: 1, Effort: 1000}.whatIf(t.Context(), in, "", changesOf(t, "processors=2x"), log))(t)
		if x.today.replay != r {
			t.Errorf("the log of %+v is fitted by %+v, off by %v", r, x.today.replay, x.today.fit)
		}
		wait := &whatIfMeasures[0]
		if x.today.replay == r && x.off(wait) != 0 {
			t.Errorf("%+v: error %v", r, x.off(wait))
		}
		require.Same(t, "jobs of the log", x.log.waits, require.Value(waitsOf(in, ran))(t))
		plain := require.Value(Solving{Seed: 1, Effort: 1000}.whatIf(t.Context(), in, "sjf", changesOf(t, "processors=1.01x,policy=sjf"), log))(t)
		_, held := plain.halves()
		sum := 0.0
		for _, j := range held {
			sum += plain.cases[0].waits[j] - plain.log.waits[j]
		}
		if off := plain.off(wait); math.Abs(off-sum/float64(len(held))) > 1e-6*math.Max(1, math.Abs(off)) || off == 0 {
			t.Errorf("the error of sjf for %+v is %v, by jobs %v", r, off, sum/float64(len(held)))
		}
		if far := plain.farWords() != ""; far != (math.Abs(plain.off(wait)) > wait.valueOf(plain.log)/5) || x.off(wait) == 0 && x.farWords() != "" {
			t.Errorf("off by %v of %v: %q; by none: %q", plain.off(wait), wait.valueOf(plain.log), plain.farWords(), x.farWords())
		}
		var b bytes.Buffer
		require.OK(t, plain.text(&b))
		if !strings.Contains(b.String(), "error of today") || !strings.Contains(b.String(), "(0") {
			t.Errorf("a change of nothing isn't in parentheses, or there is no error:\n%s", b.String())
		}
		require.Says(t, "the error", strings.Join(strings.Fields(b.String()), " "), "that of figures of the whole machine, which the jobs of all")
		m := &plain.measures()[len(whatIfMeasures)]
		if off := m.valueOf(plain.cases[0]) - m.valueOf(plain.log); m.name != "started unfairly" || plain.off(m) != off {
			t.Errorf("the error of %s is %v, want %v", m.name, plain.off(m), off)
		}
		m = &plain.measures()[0]
		if off := m.valueOf(plain.held[0]) - m.valueOf(plain.held[1]); !strings.Contains(plain.sentence(m, plain.cases[1]), "; the error of today is "+signed(off)+" min.") {
			t.Errorf("error %v: %s", off, plain.sentence(m, plain.cases[1]))
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if n := len([]rune(line)); n > 80 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
		// The clairvoyant can copy the log's own scheduler.
		if *plain.cases[0].seer.Objective > *plain.log.run.Objective {
			t.Errorf("the clairvoyant has %v, the log %v", *plain.cases[0].seer.Objective, *plain.log.run.Objective)
		}
	}
}

// The price of a larger machine is that of its processors for the time of today's schedule, beside the waits that it saves.
func TestNodeCost(t *testing.T) {
	t.Parallel()
	in := busy(7)
	x := require.Value(Solving{Seed: 1, Effort: 1000, NodeCost: 0.5}.whatIf(t.Context(), in, "easy", changesOf(t, "policy=sjf", "processors=10", "processors=7"), nil))(t)
	said := x.costWords()
	last, saved := 0.0, 0.0
	for k, c := range x.cases[0].waits {
		last = max(last, in.Jobs[k].SubmitS+c+in.Work(k))
		saved += (c - x.cases[2].waits[k]) / 3600
	}
	cost := 0.5 * 2 * last / 3600
	want := fmt.Sprintf("B: 2 processors more for the log's %s hours cost %s; all jobs together wait %s hours less, %s for each hour.", shown(last/3600), shown(cost), shown(saved), shown(cost/saved))
	require.Same(t, "words", []string{want}, said)
	x.nodeCost = 0
	require.Same(t, "words without a price", 0, len(x.costWords()))
}

// The log's own scheduler is on the page of a log beside the policies, and is none of them.
func TestLogOnPage(t *testing.T) {
	t.Parallel()
	in := busy(3)
	ran := require.Value((&replay{policy: "easy-saf"}).run(t.Context(), in, gapwise.Options{}))(t)
	var said []string
	s := Solving{TimeLimit: 1, Said: func(line string) { said = append(said, line) }}
	var b bytes.Buffer
	require.OK(t, Instance(t.Context(), &b, in, &Log{Name: "log", Ran: ran}, s, Options{}))
	all := strings.Join(said, "\n")
	for _, want := range []string{"as it ran: log, mean response time", "Under the log's own scheduler the mean response time was", "The best of 6 policies is "} {
		if !strings.Contains(all, want) {
			t.Errorf("%q isn't said in:\n%s", want, all)
		}
	}
	if strings.Contains(all, "is log:") || !strings.Contains(b.String(), "<td>log</td>") {
		t.Error("the log is a policy, or has no row")
	}
	said = nil
	require.OK(t, Instance(t.Context(), &b, in, &Log{Name: "log", Unran: "no machine had room"}, s, Options{}))
	if !strings.Contains(strings.Join(said, "\n"), "isn't beside them: no machine had room.") {
		t.Error("it isn't said why the log isn't there")
	}
}

// The comparison by goals equals plain computations: each best is least, ties are equal, and a policy is beaten by
// another exactly if that is nowhere worse.
func TestGoals(t *testing.T) {
	t.Parallel()
	beaten, free := 0, 0
	for seed := range uint64(6) {
		in := busy(seed)
		var found []Run
		for _, name := range []string{"fcfs", "sjf", "conservative", "easy", "easy-sjbf", "easy-saf", "list"} {
			e := require.Value((&replay{policy: name}).run(t.Context(), in, gapwise.Options{}))(t)
			found = append(found, require.Value(Solving{}.judged(t.Context(), gapwise.NewCase(in), nil, runs.Given{Label: name, Solution: e}))(t))
		}
		all, _, err := parts(found)
		require.OK(t, err)
		for g, name := range Goals() {
			x := require.Value(all[0].compareGoals(in, name, 1))(t)
			for k, c := range x.cases {
				if k > 0 && x.values[k-1][g] > x.values[k][g] {
					t.Errorf("%s isn't in the order of %s", c.name, name)
				}
				if x.values[k][g] < x.values[x.best[g]][g] || c.run.Class() != model.Online {
					t.Errorf("%s is better than the best, or no policy", c.name)
				}
				dominated := false
				for _, o := range x.cases {
					no, some := false, false
					for h := range goals {
						a, b := goals[h].valueOf(o), goals[h].valueOf(c)
						no, some = no || a > b, some || a < b
					}
					dominated = dominated || !no && some
				}
				require.Same(t, fmt.Sprint(c.name, " is beaten"), x.beaten[k] != "", dominated)
				if dominated {
					beaten++
				} else {
					free++
				}
			}
			last := 0.0
			for _, end := range x.cases[0].ends {
				last = max(last, end)
			}
			require.Same(t, "makespan", goals[4].valueOf(x.cases[0]), last)
		}
	}
	if beaten == 0 || free == 0 {
		t.Errorf("%d policies are beaten, %d aren't", beaten, free)
	}
}
