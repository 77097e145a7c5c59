// SPDX-License-Identifier: MIT

package online_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// decided are the decisions of a policy, one call after the other.
func decided(turns [][]online.BatchDecision) *script[online.BatchPlatform, online.BatchEvent, online.BatchDecision] {
	return &script[online.BatchPlatform, online.BatchEvent, online.BatchDecision]{turns: turns, name: func(e online.BatchEvent) string {
		id := ""
		if e.Job != nil {
			id = " " + e.Job.ID
		}
		return fmt.Sprintf("%g %s%s", float64(e.At)/second, e.Type, id)
	}}
}

// platform has 4 processors, and the jobs a of 10 s on 3, b of 5 s on 2 from second 1 on,
// and c of 5 s on 1 from second 20 on.
func platform() *model.Batch {
	return &model.Batch{Processors: 4, Tiers: 1, Jobs: []model.BatchJob{
		{ID: "a", RuntimeS: 10, EstimateS: 20, Processes: 3}, {ID: "b", SubmitS: 1, RuntimeS: 5, Processes: 2}, {ID: "c", SubmitS: 20, RuntimeS: 5, Processes: 1}}}
}

const second = 1_000_000

func start(k int32, on ...int32) online.BatchDecision {
	return online.BatchDecision{Type: online.Start, Job: k, Processors: on}
}

// contiguous, in place of an order, asks for that placement.
const contiguous model.BatchOrder = "contiguous"

// Impossible decisions are refused in a line, and the runs until then are kept.
func TestDecisionError(t *testing.T) {
	t.Parallel()
	type turns = [][]online.BatchDecision
	for name, c := range map[string]struct {
		turns turns
		order model.BatchOrder
		want  string
	}{
		"not submitted yet":   {turns{{start(0), start(1)}}, "", `invalid decision at 0 s (call 1): start of job number 1: no such job has been submitted, the policy knows numbers below 1`},
		"no job":              {turns{{start(-1)}}, "", `no such job`},
		"started twice":       {turns{{start(0), start(0)}}, "", `start of job "a": it is running since 0 s`},
		"ended":               {turns{{start(0)}, {}, {start(0)}}, "", `invalid decision at 10 s (call 3): start of job "a": it has ended`},
		"too few processors":  {turns{{start(0)}, {start(1)}}, "", `start of job "b": it needs 2 processors, 1 are free`},
		"wrong number":        {turns{{start(0, 0, 1)}}, "", `it has 3 processes, on 2 processors`},
		"busy processor":      {turns{{start(0, 0, 1, 2)}, {start(1, 3, 2)}}, "", `needs 2 processors, 1 are free`},
		"taken processor":     {turns{{}, {start(1, 3, 2), start(0, 0, 1, 2)}}, "", `needs 3 processors, 2 are free`},
		"held processor":      {turns{{}, {start(1, 0, 3)}, {}, {start(0, 0, 1, 2), start(2, 2)}}, "", `start of job "c": processor 2 isn't free`},
		"processor twice":     {turns{{start(0, 1, 2, 1)}}, "", `processor 1 isn't free`},
		"no processor":        {turns{{start(0, 1, 2, 4)}}, "", `there is no processor 4, there are 0 to 3`},
		"in the past":         {turns{{}, {{Type: online.Start, Job: 0, At: 1}}}, "", `start of job "a": its start, 1e-06 s, is in the past`},
		"called in the past":  {turns{{{Type: online.CallAt}}}, "", `call at 0 s: this isn't later than now`},
		"much too late":       {turns{{{Type: online.Start, Job: 0, At: 9e15}}}, "", `after 8e+09 s`},
		"killed, not running": {turns{{{Type: online.Kill, Job: 0}}}, "", `kill of job "a": it isn't running`},
		"killed at its start": {turns{{start(0), {Type: online.Kill, Job: 0}}}, "", `it hasn't run yet`},
		"killed twice":        {turns{{start(0)}, {{Type: online.Kill}, {Type: online.Kill}}}, "", `it is killed already`},
		"rejected, running":   {turns{{start(0), {Type: online.Reject, Job: 0}}}, "", `reject of job "a": it is running`},
		"no decision":         {turns{{{Type: "stop"}}}, "", `stop of job "a": there is no such decision`},
		"no neighbours":       {turns{{start(0, 0, 1, 3)}}, contiguous, `start of job "a": processor 3 after 1 is no neighbour, as the placement "contiguous" demands`},
		"too few neighbours":  {turns{{}, {}, {start(2, 1), start(0)}}, contiguous, `start of job "a": it needs 3 neighbouring processors, of the 3 that are free fewer are neighbours`},
		"busy by event":       {turns{{{Type: online.Busy, At: 1}}}, model.BatchOrderEvent, `in the order "event" a policy decides at once`},
		"busy in pyss":        {turns{{{Type: online.Busy, At: 1}}}, model.BatchOrderPyss, `in the order "pyss" a policy decides at once`},
	} {
		o := online.BatchOptions{Order: c.order}
		if c.order == contiguous {
			o = online.BatchOptions{Placement: model.BatchContiguous}
		}
		e, err := online.Batch(context.Background(), platform(), decided(c.turns), o)
		checkRefused(t, name, err, c.want)
		if e == nil {
			t.Errorf("%s: what ran until then is lost", name)
		}
	}
}

// Events come in time, with kills, calls and a policy that takes its time.
func TestTold(t *testing.T) {
	t.Parallel()
	type turns = [][]online.BatchDecision
	for name, c := range map[string]struct {
		turns turns
		order model.BatchOrder
		told  string
		runs  string
		err   string
	}{
		"all start at once": {turns: turns{{start(0)}, nil, {start(1)}, nil, {start(2)}},
			told: "0 submitted a, ?, 1 submitted b, ?, 10 ended a, ?, 15 ended b, ?, 20 submitted c, ?, 25 ended c, ?",
			runs: "a 0-10 on 0-2, b 10-15 on 0-1, c 20-25 on 0"},
		"in the order of pyss": {order: model.BatchOrderPyss, turns: turns{{start(0)}, nil, nil, nil, {start(1)}, nil, nil, nil, {start(2)}},
			told: "0 submitted a, ?, ?, 1 submitted b, ?, ?, 10 ended a, ?, ?, 15 ended b, ?, ?, 20 submitted c, ?, ?, 25 ended c, ?, ?",
			runs: "a 0-10 on 0-2, b 10-15 on 0-1, c 20-25 on 0"},
		"by event": {order: model.BatchOrderEvent, turns: turns{{start(0)}, nil, {start(1)}, nil, {start(2)}},
			told: "0 submitted a, ?, 1 submitted b, ?, 10 ended a, ?, 15 ended b, ?, 20 submitted c, ?, 25 ended c, ?",
			runs: "a 0-10 on 0-2, b 10-15 on 0-1, c 20-25 on 0"},
		"called by event": {order: model.BatchOrderEvent, turns: turns{{start(0)}, {{Type: online.CallAt, At: 10 * second}}, nil, {start(1)}, nil, {start(2)}},
			told: "0 submitted a, ?, 1 submitted b, ?, 10 ended a, ?, 10 called, ?, 15 ended b, ?, 20 submitted c, ?, 25 ended c, ?",
			runs: "a 0-10 on 0-2, b 10-15 on 0-1, c 20-25 on 0"},
		"killed and started anew": {turns: turns{{start(0)}, {{Type: online.Kill, Job: 0}}, {start(1), {Type: online.CallAt, At: 6 * second}}, {start(0)}, nil, {start(2)}},
			told: "0 submitted a, ?, 1 submitted b, ?, 1 killed a, ?, 6 ended b, 6 called, ?, 16 ended a, ?, 20 submitted c, ?, 25 ended c, ?",
			runs: "a 0-1 on 0-2 lost 6-16 on 0-2, b 1-6 on 0-1, c 20-25 on 0"},
		"busy": {turns: turns{{start(0), {Type: online.Busy, At: 12 * second}}, {start(1), {Type: online.Start, Job: 1, At: 13 * second}}},
			told: "0 submitted a, ?, 1 submitted b, 10 ended a, ?", runs: "a 0-10 on 0-2, b 12-17 on 0-1", err: "it is running since 12 s"},
		"later": {turns: turns{{start(0)}, nil, {{Type: online.Start, Job: 1, At: 13 * second, Processors: []int32{3, 1}}}, nil, {start(2)}},
			told: "0 submitted a, ?, 1 submitted b, ?, 10 ended a, ?, 18 ended b, ?, 20 submitted c, ?, 25 ended c, ?",
			runs: "a 0-10 on 0-2, b 13-18 on 3,1, c 20-25 on 0"},
		"rejected": {turns: turns{{start(0)}, {{Type: online.Reject, Job: 1}}, nil, {start(2)}},
			told: "0 submitted a, ?, 1 submitted b, ?, 10 ended a, ?, 20 submitted c, ?, 25 ended c, ?", runs: "a 0-10 on 0-2, c 20-25 on 0", err: "no solution found: the policy has rejected 1 of 3 jobs"},
		"left waiting": {turns: turns{{start(0)}}, told: "0 submitted a, ?, 1 submitted b, ?, 10 ended a, ?, 20 submitted c, ?",
			runs: "a 0-10 on 0-2", err: `nothing happens any more, and 2 jobs haven't been started, the first is "b"`},
	} {
		p, in := decided(c.turns), platform()
		e, err := online.Batch(context.Background(), in, p, online.BatchOptions{Order: c.order})
		checkError(t, name, err, c.err)
		p.checkTold(t, name, c.told)
		checkRuns(t, name, e.Runs, onProcessors, c.runs)
		if c.err == "" {
			require.Feasible(verify.Verify(t.Context(), in, e, verify.Options{}))(t, name)
		}
	}
}

// onProcessors says where a segment is.
func onProcessors(p model.BatchPlace) string { return fmt.Sprintf(" on %v", p.Processors) }

// inquisitive starts every job that is submitted, and notes the logs.
type inquisitive struct {
	logs  []*model.JobLog
	start []online.BatchDecision
}

func (*inquisitive) Begin(online.BatchPlatform) error { return nil }

func (p *inquisitive) Event(e online.BatchEvent) error {
	if e.Type == online.Submitted {
		p.logs, p.start = append(p.logs, e.Job.Log), append(p.start, start(e.Job.Number))
	}
	return nil
}

func (p *inquisitive) Decide() ([]online.BatchDecision, error) {
	now := p.start
	p.start = nil
	return now, nil
}

// A policy learns a log's fields at submission, and never how the job ended in it.
func TestToldOfLogs(t *testing.T) {
	t.Parallel()
	whole := model.JobLog{User: "u", Group: "g", Executable: "x", Queue: "q", Partition: "p", Preceding: "a", ThinkS: 2, Status: "cancelled"}
	public := whole
	public.Status = ""
	in := &model.Batch{Processors: 8, Tiers: 1, Jobs: []model.BatchJob{{ID: "a", RuntimeS: 1, Processes: 1}, {ID: "b", RuntimeS: 1, Processes: 1, Log: &whole},
		{ID: "c", RuntimeS: 1, Processes: 1, Log: &whole}, {ID: "d", RuntimeS: 1, Processes: 1, Log: &public}}}
	p := &inquisitive{}
	require.OK(t, require.Err(online.Batch(t.Context(), in, p, online.BatchOptions{})))
	if len(p.logs) != 4 || p.logs[0] != nil || *p.logs[1] != public || p.logs[1] != p.logs[2] || p.logs[3] != &public || whole.Status != "cancelled" {
		t.Errorf("told %v", p.logs)
	}
}

// The error of a policy stops the run, as does the end of ctx.
func TestStopped(t *testing.T) {
	t.Parallel()
	lost := errors.New("the line is dead")
	dead := decided([][]online.BatchDecision{{start(0)}})
	dead.fails = lost
	e, err := online.Batch(context.Background(), platform(), dead, online.BatchOptions{})
	if !errors.Is(err, lost) || !strings.Contains(err.Error(), "at 1 s, when asked what to do") || len(e.Runs) != 1 {
		t.Errorf("%v, %v", err, e)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.Refused(t, "online.Batch", require.Err(online.Batch(ctx, platform(), &narrowest{}, online.BatchOptions{})),
		model.ErrNoSolution, "")
	e, err = online.Batch(ctx, platform(), &narrowest{}, online.BatchOptions{Complete: true})
	if err != nil || len(e.Runs) != 3 || !slices.Equal(e.Runs[1].Segments[0].Place.Processors, []int32{0, 1}) || e.Runs[1].Segments[0].StartS != 10 {
		t.Errorf("%v, %v", err, e)
	}
}
