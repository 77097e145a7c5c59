// SPDX-License-Identifier: MIT

package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// told is a request as a program reads it.
type told struct {
	Now    float64
	Events []struct {
		Type string
		Data map[string]any
	}
}

// player is a line to a scheduler that is a function. It keeps what goes either way.
type player struct {
	answer   func(told) string
	asked    []string
	answered []string
}

func (p *player) ask(ctx context.Context, request []byte, _ time.Duration) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, stopped(ctx)
	}
	var r told
	if err := json.Unmarshal(request, &r); err != nil {
		return nil, err
	}
	a := p.answer(r)
	p.asked, p.answered = append(p.asked, string(request)), append(p.answered, a)
	if a == "" {
		return nil, errOver
	}
	return []byte(a), nil
}

func (*player) close(context.Context) (how, said string) { return "", "" }

// play runs a scheduler on an instance.
func play(t testing.TB, in model.Instance, p *player, set model.Settings) model.Result {
	t.Helper()
	s := &solver{name: "online:player", open: func(context.Context, model.Settings, time.Duration) (line, error) { return p, nil }}
	r := require.Value(s.Solve(t.Context(), in, set))(t)
	return r
}

// byHeart says one answer after the other, and then dies.
func byHeart(answers ...string) *player {
	k := 0
	return &player{answer: func(told) string {
		if k++; k > len(answers) {
			return ""
		}
		return answers[k-1]
	}}
}

// window has 4 PEs, and the requests a of 3 PEs for 10 s that takes 6 s, b of 2 PEs that is
// cancelled at second 8, and c of 2 PEs.
func window() *model.Reservation {
	six, eight := 6.0, 8.0
	return &model.Reservation{PEs: 4, Requests: []model.Request{
		{ID: "a", DurationS: 10, DeadlineS: 30, PEs: 3, RuntimeS: &six},
		{ID: "b", ArrivalS: 1, ReadyS: 2, DurationS: 5, DeadlineS: 40, PEs: 2, CancelS: &eight},
		{ID: "c", ArrivalS: 3, ReadyS: 3.5, DurationS: 5, DeadlineS: 20, PEs: 2}}}
}

// clusters has 2 servers of 2 slots, and the requests a of 3 VMs, b of 1 and c of 4.
func clusters(queue bool) *model.TVC {
	return &model.TVC{FatTree: model.FatTree{K: 2, Slots: 2, LinkMbps: 100}, Queue: queue, Requests: []model.TVCRequest{
		{ID: "a", VMs: 3, BandwidthMbps: 50, DurationS: 10}, {ID: "b", ArrivalS: 1, VMs: 1, BandwidthMbps: 1.5, DurationS: 4}, {ID: "c", ArrivalS: 2, VMs: 4, BandwidthMbps: 50, DurationS: 5}}}
}

// tiers has 2 processors of two tiers, and the jobs a of 10 s on 2, b of 4 s on 1 and c of 2 s
// on 1.
func tiers() *model.Batch {
	return &model.Batch{Processors: 2, Tiers: 2, Threshold: 0.96, MigrationS: 1, Jobs: []model.BatchJob{
		{ID: "a", RuntimeS: 10, EstimateS: 20, Processes: 2, CPU: []float64{0.5, 0.97}, FgLoss: 0.1, BgEfficiency: 0.5}, {ID: "b", SubmitS: 1, RuntimeS: 4, Processes: 1, BgEfficiency: 0.5}, {ID: "c", SubmitS: 2, RuntimeS: 2, Processes: 1}}}
}

// at is an answer at an instant.
func at(now float64, events ...string) string {
	return fmt.Sprintf(`{"now":%v,"events":[%s]}`, now, strings.Join(events, ","))
}

func do(at float64, what, data string) string {
	return fmt.Sprintf(`{"timestamp":%v,"type":"%s","data":%s}`, at, what, data)
}

func execute(at float64, job, alloc string) string {
	return do(at, executeJob, fmt.Sprintf(`{"job_id":"%s","alloc":"%s"}`, job, alloc))
}

func tier(at float64, what, job, tier, alloc string) string {
	return do(at, what, fmt.Sprintf(`{"job_id":"%s","tier":"%s","alloc":"%s"}`, job, tier, alloc))
}

func accept(at float64, id, start, pes string) string {
	if pes != "" {
		pes = fmt.Sprintf(`,"pes":"%s"`, pes)
	}
	return do(at, acceptRequest, fmt.Sprintf(`{"request_id":"%s","start_s":%s%s}`, id, start, pes))
}

func embed(at float64, id, host string, vms ...int) string {
	var servers []string
	for s, n := range vms {
		if n > 0 {
			servers = append(servers, fmt.Sprintf(`{"server":%d,"vms":%d}`, s, n))
		}
	}
	return do(at, embedRequest, fmt.Sprintf(`{"request_id":"%s","place":{"switch":"%s","servers":[%s]}}`, id, host, strings.Join(servers, ",")))
}

func reject(at float64, id string) string { return do(at, rejectRequest, `{"request_id":"`+id+`"}`) }
func call(at, later float64) string {
	return do(at, callMeLater, fmt.Sprintf(`{"timestamp":%v}`, later))
}

// sessions are whole ones of each problem: the decisions, and the requests in the end.
var sessions = map[string]struct {
	in      model.Instance
	answers []string
	runs    string // the solution
	asked   string // the types and times of what is told
}{
	"reservation": {window(), []string{at(0), at(0, accept(0, "a", "0", "0-2"), call(0, 2)), at(1, accept(1, "b", "15", "")),
		at(2, do(2, moveRequest, `{"request_id":"b","start_s":30}`)), at(3, accept(3, "c", "12.5", "2-3")), at(6, do(6, moveRequest, `{"request_id":"c","start_s":6,"pes":"2,3"}`)), at(8), at(8)},
		`[{"id":"a","start_s":0,"pes":"0-2"},{"id":"b","start_s":30,"pes":"0-1"},{"id":"c","start_s":6,"pes":"2-3"}]`,
		"SIMULATION_BEGINS 0 REQUEST_SUBMITTED 1 REQUEST_SUBMITTED 2 REQUESTED_CALL 3 REQUEST_SUBMITTED 6 REQUEST_COMPLETED 8 REQUEST_WITHDRAWN 8 SIMULATION_ENDS"},
	"tvc": {clusters(false), []string{at(0), at(0, embed(0, "a", "core-0-0", 2, 1), call(0, 1.5)), at(1, embed(1, "b", "edge-1-0", 0, 1)), at(1.5), at(2, reject(2, "c")), at(5), at(10), at(10)},
		`[{"id":"a","segments":[{"start_s":0,"end_s":10,"place":{"switch":"core-0-0","servers":[{"server":0,"vms":2},{"server":1,"vms":1}]}}]},{"id":"b","segments":[{"start_s":1,"end_s":5,"place":{"switch":"edge-1-0","servers":[{"server":1,"vms":1}]}}]}]`,
		"SIMULATION_BEGINS 0 REQUEST_SUBMITTED 1 REQUEST_SUBMITTED 1.5 REQUESTED_CALL 2 REQUEST_SUBMITTED 5 REQUEST_COMPLETED 10 REQUEST_COMPLETED 10 SIMULATION_ENDS"},
	"two tiers": {tiers(), []string{at(0), at(0, do(0, executeJob, `{"job_id":"w0!1"}`)), at(1, tier(1, executeJob, "w0!2", "background", "0")), at(2, call(2, 3)),
		at(3, do(3, killJob, `{"job_ids":["w0!1"]}`), do(3, moveJob, `{"job_id":"w0!2","tier":"foreground"}`), execute(3, "w0!3", "1")), at(5), at(6.5, do(6.5, executeJob, `{"job_id":"w0!1"}`)), at(17.611112), at(17.611112)},
		`[{"id":"a","segments":[{"start_s":0,"end_s":3,"place":{"processors":"0-1"},"lost":true},{"start_s":6.5,"end_s":17.611112,"place":{"processors":"0-1"}}]},{"id":"b","segments":[{"start_s":1,"end_s":3,"place":{"tier":"background","processors":"0"}},{"start_s":3,"end_s":6.5,"place":{"processors":"0"}}]},{"id":"c","segments":[{"start_s":3,"end_s":5,"place":{"processors":"1"}}]}]`,
		"SIMULATION_BEGINS 0 JOB_SUBMITTED 1 JOB_SUBMITTED 2 JOB_SUBMITTED NOTIFY 3 REQUESTED_CALL 5 JOB_COMPLETED 6.5 JOB_COMPLETED 17.611112 JOB_COMPLETED 17.611112 SIMULATION_ENDS"},
	"tvc with a queue": {clusters(true), []string{at(0), at(0, embed(0, "a", "core-0-0", 2, 1)), at(1), at(2, do(2, suspendRequest, `{"request_id":"a"}`), embed(2, "c", "core-0-0", 2, 2)),
		at(7, embed(7, "b", "edge-0-0", 1), embed(7, "a", "core-0-0", 1, 2)), at(11), at(15), at(15)},
		`[{"id":"a","segments":[{"start_s":0,"end_s":2,"place":{"switch":"core-0-0","servers":[{"server":0,"vms":2},{"server":1,"vms":1}]}},{"start_s":7,"end_s":15,"place":{"switch":"core-0-0","servers":[{"server":0,"vms":1},{"server":1,"vms":2}]}}]},{"id":"b","segments":[{"start_s":7,"end_s":11,"place":{"switch":"edge-0-0","servers":[{"server":0,"vms":1}]}}]},{"id":"c","segments":[{"start_s":2,"end_s":7,"place":{"switch":"core-0-0","servers":[{"server":0,"vms":2},{"server":1,"vms":2}]}}]}]`,
		"SIMULATION_BEGINS 0 REQUEST_SUBMITTED 1 REQUEST_SUBMITTED 2 REQUEST_SUBMITTED 7 REQUEST_COMPLETED 11 REQUEST_COMPLETED 15 REQUEST_COMPLETED 15 SIMULATION_ENDS"},
}

// Whole sessions: the events reported at each time, and the schedule that follows from the answers, which the judge
// accepts. The schema of messages accepts what goes either way.
func TestSessions(t *testing.T) {
	t.Parallel()
	for name, c := range sessions {
		p := byHeart(c.answers...)
		r := play(t, c.in, p, model.Settings{})
		if r.Status != model.StatusFeasible || r.Reason != "" || len(p.asked) != len(c.answers) {
			t.Fatalf("%s: %+v after %d requests", name, r, len(p.asked))
		}
		solution, err := json.Marshal(r.Solution)
		if err != nil || !strings.Contains(string(solution), c.runs) {
			t.Errorf("%s: %s %v, want %s", name, solution, err, c.runs)
		}
		var all []string
		for _, text := range p.asked {
			var m told
			require.OK(t, json.Unmarshal([]byte(text), &m))
			all = append(all, fmt.Sprint(m.Now))
			for _, e := range m.Events {
				all = append(all, e.Type)
			}
		}
		require.Same(t, name, c.asked, strings.Join(all[1:], " "))
		require.Feasible(verify.Verify(t.Context(), c.in, r.Solution, verify.Options{}))(t, name)
		for _, text := range append(p.asked, p.answered...) {
			if err := accepts(t, c.in.Kind(), text); err != nil {
				t.Errorf("%s: %s: %v", name, text, err)
			}
		}
	}
	for kind, texts := range map[model.Kind][]string{
		model.KindReservation: {at(1, accept(1, "a", `"0"`, "0")), at(1, accept(1, "a", "0", "all")), at(1, do(1, rejectRequest, `{}`)), at(1, execute(1, "w0!1", "0"))},
		model.KindTVC:         {at(1, embed(1, "a", "core", 1)), at(1, embed(1, "a", "core-0-0")), at(1, do(1, embedRequest, `{"request_id":"a"}`)), at(1, do(1, moveRequest, `{}`))}} {
		for _, text := range texts {
			if accepts(t, kind, text) == nil {
				t.Errorf("%s: accepted: %s", kind, text)
			}
		}
	}
}

// accepts checks a message by the schema of its problem.
func accepts(t testing.TB, kind model.Kind, text string) error {
	c, base := jsonschema.NewCompiler(), "https://raw.githubusercontent.com/gapwise/gapwise/main/docs/reference/schema/"
	for _, name := range []string{string(kind) + "-message.json", string(kind) + ".json", "account.json"} {
		file := require.Value(os.Open("../../../docs/reference/schema/" + name))(t)
		doc, err := jsonschema.UnmarshalJSON(file)
		if file.Close(); err != nil {
			t.Fatal(err)
		}
		require.OK(t, c.AddResource(base+name, doc))
	}
	schema := require.Value(c.Compile(base + string(kind) + "-message.json"))(t)
	x := require.Value(jsonschema.UnmarshalJSON(strings.NewReader(text)))(t)
	return schema.Validate(x)
}

// Failures of policies of requests and of two tiers are reported in one line, with the request. Accepted requests and
// runs until then are kept.
func TestRequestFailures(t *testing.T) {
	t.Parallel()
	all := window()
	all.Goal = model.GoalAll
	narrow := clusters(false)
	narrow.FatTree.LinkMbps = 40
	booked := []string{at(0), at(0, accept(0, "a", "0", "0-2"))}
	placed := []string{at(0), at(0, embed(0, "a", "core-0-0", 2, 1))}
	begun := []string{at(0), at(0, do(0, executeJob, `{"job_id":"w0!1"}`))}
	then := func(first []string, next ...string) []string { return append(slices.Clone(first), next...) }
	const second, third = `request 2 (now 0 s: REQUEST_SUBMITTED of "a"): `, `request 3 (now 1 s: REQUEST_SUBMITTED of "b"): `
	const tiersThird = `request 3 (now 1 s: JOB_SUBMITTED of w0!2): `
	for name, c := range map[string]struct {
		in      model.Instance
		answers []string
		partial int
		want    string
	}{
		"dead":                  {window(), booked, 1, third + "it has ended without an answer"},
		"nonsense":              {window(), then(booked, "yes"), 1, third + `its answer is no JSON object: "yes"`},
		"no answer":             {window(), then(booked, at(1)), 1, third + `none on request "b": a request is accepted or rejected when it arrives`},
		"it takes its time":     {window(), then(booked, at(2, accept(2, "b", "2", ""))), 1, third + "now of its answer is 2 s, after that of the request: it decides at once"},
		"in the past":           {window(), then(booked, at(1, reject(1, "b")), at(3, accept(3, "c", "2", ""))), 1, `request 4 (now 3 s: REQUEST_SUBMITTED of "c"): accept of request "c": its start, 2 s, is in the past`},
		"before it is told":     {window(), then(booked[:1], at(0, accept(0, "c", "12", "2-3"))), 0, second + `ACCEPT_REQUEST of "c": no such request has been submitted`},
		"twice":                 {window(), then(booked, at(1, accept(1, "a", "0", "0-2"))), 1, third + `accept of request "a": it is answered already`},
		"promised":              {window(), then(booked, at(1, accept(1, "b", "2", "2-3"))), 1, third + `accept of request "b": PE 2 is that of request "a" from 0 s to 10 s`},
		"no PEs":                {window(), then(booked, at(1, accept(1, "b", "2", "3-2"))), 1, third + `ACCEPT_REQUEST of "b": its data aren't as the protocol has them`},
		"no start":              {window(), then(booked, at(1, do(1, acceptRequest, `{"request_id":"b"}`))), 1, third + `ACCEPT_REQUEST of "b": there is no start_s`},
		"no time":               {window(), then(booked, at(1, accept(1, "b", "-1", ""))), 1, third + `ACCEPT_REQUEST of "b": start_s is -1 s, must be from 0 to 4.504e+14`},
		"no such decision":      {window(), then(booked, at(1, execute(1, "b", "0"))), 1, third + `"EXECUTE_JOB" isn't offered here; an answer may hold ACCEPT_REQUEST, REJECT_REQUEST, MOVE_REQUEST and CALL_ME_LATER`},
		"called in the past":    {window(), then(booked, at(1, call(1, 1))), 1, third + "call at 1 s: this isn't later than now"},
		"it declines":           {all, []string{at(0), at(0, reject(0, "a")), at(1, accept(1, "b", "9", "0-1")), at(3, accept(3, "c", "3.5", "0-1")), at(8), at(8)}, 2, "SIMULATION_ENDS): no solution found: the policy has rejected 1 of 3 requests"},
		"it neither":            {clusters(false), then(placed, at(1)), 1, third + `none on request "b": without a queue a request starts or is rejected when it arrives`},
		"no slots":              {clusters(false), then(placed, at(1, embed(1, "b", "edge-0-0", 1))), 1, third + `start of request "b": server 0 gets 1 VMs and has 0 free slots`},
		"no bandwidth":          {narrow, []string{at(0), at(0, embed(0, "a", "core-0-0", 2, 1))}, 0, second + `start of request "a": a link on the way to its switch hasn't the bandwidth`},
		"not below":             {clusters(false), then(placed, at(1, embed(1, "b", "edge-0-0", 0, 1))), 1, third + `start of request "b": server 1 isn't below the switch edge-0-0`},
		"no switch":             {clusters(false), then(placed, at(1, embed(1, "b", "edge-7-0", 0, 1))), 1, third + `start of request "b": there is no switch edge-7-0`},
		"no name of a switch":   {clusters(false), then(placed, at(1, embed(1, "b", "roof", 0, 1))), 1, third + `EMBED_REQUEST of "b": its data aren't as the protocol has them`},
		"no place":              {clusters(false), then(placed, at(1, do(1, embedRequest, `{"request_id":"b"}`))), 1, third + `EMBED_REQUEST of "b": there is no place`},
		"too many":              {clusters(false), then(placed, at(1, embed(1, "b", "edge-1-0", 0, 2))), 1, third + `start of request "b": server 1 gets 2 VMs, it asks for 1 in all`},
		"not running":           {clusters(true), then(placed, at(1, do(1, suspendRequest, `{"request_id":"b"}`))), 1, third + `suspend of request "b": it isn't running`},
		"none waits":            {clusters(false), then(placed, at(1, do(1, suspendRequest, `{"request_id":"a"}`))), 1, third + `suspend of request "a": without a queue none is suspended`},
		"it serves none":        {clusters(true), then(placed, at(1), at(2), at(10)), 1, "no solution found: 2 requests that fit haven't run to their ends, and nothing happens any more"},
		"no idle foreground":    {tiers(), then(begun, at(1, do(1, executeJob, `{"job_id":"w0!2"}`))), 1, tiersThird + `EXECUTE_JOB of "w0!2": it needs 1 processors, 0 are idle in the foreground`},
		"taken":                 {tiers(), then(begun, at(1, execute(1, "w0!2", "0"))), 1, tiersThird + `start of job "b": the foreground of processor 0 isn't idle`},
		"above the threshold":   {tiers(), then(begun, at(1, tier(1, executeJob, "w0!2", "background", "1"))), 1, tiersThird + `start of job "b": the foreground use of processor 1 is 0.97, must be below 0.96`},
		"no such tier":          {tiers(), then(begun, at(1, tier(1, executeJob, "w0!2", "cellar", "1"))), 1, tiersThird + `start of job "b": there is no tier "cellar"`},
		"no alloc":              {tiers(), then(begun, at(1, do(1, executeJob, `{"job_id":"w0!2","tier":"background"}`))), 1, tiersThird + `EXECUTE_JOB of "w0!2": there is no alloc, which only the foreground may lack`},
		"moved, not running":    {tiers(), then(begun, at(1, tier(1, moveJob, "w0!2", "background", "0"))), 1, tiersThird + `move of job "b": it isn't running`},
		"killed, not running":   {tiers(), then(begun, at(1, do(1, killJob, `{"job_ids":["w0!2"]}`))), 1, tiersThird + `kill of job "b": it isn't running`},
		"not submitted":         {tiers(), then(begun, at(1, do(1, rejectJob, `{"job_id":"w0!3"}`))), 1, tiersThird + `REJECT_JOB of "w0!3": no such job has been submitted`},
		"a job twice":           {tiers(), then(begun, at(1, execute(1, "w0!1", "0-1"))), 1, tiersThird + `start of job "a": it is running, here since 0 s`},
		"no such tier decision": {tiers(), then(begun, at(1, reject(1, "b"))), 1, tiersThird + `"REJECT_REQUEST" isn't offered here; an answer may hold EXECUTE_JOB, MOVE_JOB, REJECT_JOB, KILL_JOB and CALL_ME_LATER`},
		"none is left":          {tiers(), then(begun, at(1, do(1, rejectJob, `{"job_id":"w0!2"}`)), at(2, do(2, rejectJob, `{"job_id":"w0!3"}`)), at(11.111112), at(11.111112)), 1, "SIMULATION_ENDS): no solution found: the policy has rejected 2 of 3 jobs"},
		"no such tvc decision":  {clusters(true), then(placed, at(1, accept(1, "b", "1", ""))), 1, third + `"ACCEPT_REQUEST" isn't offered here; an answer may hold EMBED_REQUEST, REJECT_REQUEST, SUSPEND_REQUEST and CALL_ME_LATER`},
	} {
		r := play(t, c.in, byHeart(c.answers...), model.Settings{})
		partial := 0
		switch d := r.Details.(type) {
		case *model.BatchDetails:
			partial = len(d.Partial)
		case *model.ReservationDetails:
			partial = len(d.Partial)
		case *model.TVCDetails:
			partial = len(d.Partial)
		}
		if r.Status != model.StatusUnknown || !strings.Contains(r.Reason, c.want) || strings.Contains(r.Reason, "\n") || partial != c.partial || partial > 0 && !strings.Contains(strings.Join(r.Details.Lines(r), " "), "until then") {
			t.Errorf("%s: %d kept, %q, want %q", name, partial, r.Reason, c.want)
		}
	}
	for want, c := range map[string]struct {
		in model.Instance
		p  *player
	}{
		`request 4 (now 6 s: REQUEST_COMPLETED of "a"): interrupted`: {window(), byHeart(then(booked, at(1, reject(1, "b")))...)},
		third + "interrupted": {clusters(false), byHeart(then(placed, at(1, reject(1, "b")))...)}} {
		ctx, cancel := context.WithCancel(t.Context())
		s := &solver{name: "online:player", open: func(context.Context, model.Settings, time.Duration) (line, error) { return c.p, nil }}
		answer := c.p.answer
		c.p.answer = func(m told) string {
			if m.Now == 1 {
				cancel()
			}
			return answer(m)
		}
		if r, err := s.Solve(ctx, c.in, model.Settings{}); err != nil || r.Status != model.StatusUnknown || r.Reason != want {
			t.Errorf("%v, %v, want %s", r.Reason, err, want)
		}
	}
}
