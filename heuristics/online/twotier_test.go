// SPDX-License-Identifier: MIT

package online_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// tiers are the decisions of a policy, one call after the other.
func tiers(turns [][]online.TwoTierDecision) *script[online.TwoTierPlatform, online.TwoTierEvent, online.TwoTierDecision] {
	return &script[online.TwoTierPlatform, online.TwoTierEvent, online.TwoTierDecision]{turns: turns, name: func(e online.TwoTierEvent) string {
		id := ""
		if e.Job != nil {
			id = " " + e.Job.ID
		}
		return fmt.Sprintf("%g %s%s", float64(e.At)/second, e.Type, id)
	}}
}

// tiered has two processors of two tiers. The jobs are a of 10 s, and b of 4 s, which does half as much in the
// background where nothing runs above.
func tiered() *model.Batch {
	return &model.Batch{Processors: 2, Tiers: 2, MigrationS: 1, Jobs: []model.BatchJob{
		{ID: "a", RuntimeS: 10, Processes: 1, CPU: []float64{0.97}}, {ID: "b", SubmitS: 2, RuntimeS: 4, Processes: 1, BgEfficiency: 0.5, CPU: []float64{0.5}}}}
}

func up(k int32, on ...int32) online.TwoTierDecision {
	return online.TwoTierDecision{Type: online.Start, Job: k, Processors: on}
}

func down(k int32, on ...int32) online.TwoTierDecision {
	return online.TwoTierDecision{Type: online.Start, Job: k, Tier: model.TierBackground, Processors: on}
}

// moving makes a move of a start.
func moving(d online.TwoTierDecision) online.TwoTierDecision {
	d.Type = online.Move
	return d
}

// Impossible decisions are refused in a line, and the runs until then are kept.
func TestTwoTierRefused(t *testing.T) {
	t.Parallel()
	type turns = [][]online.TwoTierDecision
	of := func(k int32, what online.DecisionType) online.TwoTierDecision {
		return online.TwoTierDecision{Type: what, Job: k}
	}
	for name, c := range map[string]struct {
		turns turns
		want  string
	}{
		"not submitted":     {turns{{up(1, 0)}}, `invalid decision at 0 s (call 1): start of job number 1: no such job has been submitted, the policy knows numbers below 1`},
		"twice at once":     {turns{{up(0, 0), up(0, 1)}}, `start of job "a": it gets a place already`},
		"running":           {turns{{up(0, 0)}, {up(0, 1)}}, `start of job "a": it is running, here since 0 s`},
		"moved, waits":      {turns{{moving(up(0, 1))}}, `move of job "a": it isn't running`},
		"ended":             {turns{{up(0, 0)}, {up(1, 1)}, {}, {up(1, 0)}}, `it has ended, or is rejected`},
		"wrong number":      {turns{{up(0, 0, 1)}}, `it has 1 processes, on 2 processors`},
		"no processor":      {turns{{up(0, 2)}}, `there is no processor 2, there are 0 to 1`},
		"busy foreground":   {turns{{up(0, 0)}, {up(1, 0)}}, `start of job "b": the foreground of processor 0 isn't idle`},
		"busy background":   {turns{{down(0, 0)}, {down(1, 0)}}, `start of job "b": the background of processor 0 isn't idle`},
		"too much use":      {turns{{up(0, 0)}, {down(1, 0)}}, `start of job "b": the foreground use of processor 0 is 0.97, must be below 0.96`},
		"no tier":           {turns{{{Type: online.Start, Tier: "cellar", Processors: []int32{0}}}}, `there is no tier "cellar"`},
		"called before":     {turns{{of(0, online.CallAt)}}, `call at 0 s: this isn't later than now`},
		"there is no such":  {turns{{of(0, online.Suspend)}}, `suspend of job "a": there is no such decision`},
		"rejected, running": {turns{{up(0, 0)}, {of(0, online.Reject)}}, `reject of job "a": it is running`},
	} {
		e, err := online.TwoTier(context.Background(), tiered(), tiers(c.turns))
		checkRefused(t, name, err, c.want)
		if e == nil {
			t.Errorf("%s: what ran until then is lost", name)
		}
	}
	in := tiered()
	in.Tiers = 1
	require.Refused(t, "online.TwoTier", require.Err(online.TwoTier(context.Background(), in, tiers(nil))),
		model.ErrUnsupported, "")
}

// Events come in time, with moves, a migration, a kill, and two jobs that change places.
func TestTwoTierTold(t *testing.T) {
	t.Parallel()
	type turns = [][]online.TwoTierDecision
	call := func(at int64) online.TwoTierDecision {
		return online.TwoTierDecision{Type: online.CallAt, At: at * second}
	}
	for name, c := range map[string]struct {
		turns turns
		told  string
		runs  string
		err   string
	}{
		"in the background": {turns: turns{{up(0, 0)}, {down(1, 1)}}, told: "0 submitted a, ?, 2 submitted b, ?, 10 ended a, 10 ended b, ?", runs: "a 0-10, b 2-10"},
		"changes tier":      {turns: turns{{up(0, 0)}, {down(1, 1), call(4)}, {moving(up(1, 1))}}, told: "0 submitted a, ?, 2 submitted b, ?, 4 called, ?, 7 ended b, ?, 10 ended a, ?", runs: "a 0-10, b 2-4 4-7"},
		"migrates": {turns: turns{{up(0, 0), call(1)}, {moving(up(0, 1))}, {up(1, 0)}}, told: "0 submitted a, ?, 1 called, ?, 2 submitted b, ?, 6 ended b, ?, 11 ended a, ?",
			runs: "a 0-1 1-11, b 2-6"},
		"killed": {turns: turns{{up(0, 0)}, {down(1, 1), call(5)}, {{Type: online.Kill, Job: 1}, up(1, 1)}}, told: "0 submitted a, ?, 2 submitted b, ?, 5 called, ?, 9 ended b, ?, 10 ended a, ?",
			runs: "a 0-10, b 2-5 lost 5-9"},
		"changing places": {turns: turns{{up(0, 0)}, {up(1, 1), call(3)}, {moving(up(0, 1)), moving(up(1, 0))}}, told: "0 submitted a, ?, 2 submitted b, ?, 3 called, ?, 7 ended b, ?, 11 ended a, ?",
			runs: "a 0-3 3-11, b 2-3 3-7"},
		"slowed from above": {turns: turns{{call(4)}, {down(1, 1)}, {up(0, 1)}},
			told: "0 submitted a, ?, 2 submitted b, ?, 4 called, ?, 14 ended a, ?, 19.4 ended b, ?",
			runs: "a 4-14, b 2-19.4"},
		"left waiting": {turns: turns{{up(0, 0)}}, told: "0 submitted a, ?, 2 submitted b, ?, 10 ended a, ?", runs: "a 0-10", err: `after 10 s nothing happens any more, and 1 jobs haven't ended`},
	} {
		p, in := tiers(c.turns), tiered()
		e, err := online.TwoTier(context.Background(), in, p)
		checkError(t, name, err, c.err)
		p.checkTold(t, name, c.told)
		checkRuns(t, name, e.Runs, nowhere, c.runs)
		if c.err == "" {
			require.Feasible(verify.Verify(t.Context(), in, e, verify.Options{}))(t, name)
		}
	}
}
