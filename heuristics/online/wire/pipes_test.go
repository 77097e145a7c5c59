// SPDX-License-Identifier: MIT

//go:build unix

package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gapwise/gapwise/internal/run/process"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// answering is a program that gives one answer after the other to any questions.
func answering(answers ...string) string {
	name := onlinePrefix + `sh -c 'for a in "$@"; do read -r line; echo "$line" >> "${KEPT:-/dev/null}"; echo "$a"; done' sh`
	for _, a := range answers {
		name += " '" + a + "'"
	}
	return name
}

func solve(t *testing.T, name string, set model.Settings) model.Result {
	t.Helper()
	s := require.Value(New(model.KindBatch, name))(t)
	r := require.Value(s.Solve(t.Context(), one, set))(t)
	return r
}

// A whole session, with processors that are named and without, a kill, a call, an answer that
// takes its time; the judge accepts its schedule.
func TestPipes(t *testing.T) {
	t.Parallel()
	r := solve(t, answering(at(0),
		at(1.5, execute(1.25, "w0!1", "3 0-1"), do(1.5, callMeLater, `{"timestamp":2}`)),
		at(2, do(2, killJob, `{"job_ids":["w0!1"]}`), do(2, notify, `{"type":"registration_finished"}`)),
		at(2, do(2, executeJob, `{"job_id":"w0!2"}`)),
		at(3), at(17, execute(17, "w0!3", "3"), execute(17, "w0!1", "0-2")), at(22), at(27), at(27)), model.Settings{})
	if r.Status != model.StatusFeasible || r.Reason != "" {
		t.Fatalf("%+v", r)
	}
	got := ""
	for _, x := range r.Solution.(*model.Execution).Runs {
		got += x.ID
		for _, s := range x.Segments {
			got += fmt.Sprintf(" %g-%g on %v", s.StartS, s.EndS, s.Place.Processors)
		}
		got += "; "
	}
	require.Same(t, "the schedule", "a 1.25-2 on 3,0-1 17-27 on 0-2; b 2-17 on 0-1; c 17-22 on 3; ", got)
	require.Feasible(verify.Verify(t.Context(), one, r.Solution, verify.Options{}))(t)
}

// Each failure of a policy is reported in one line, with the request. The runs until then are kept.
func TestFailures(t *testing.T) {
	t.Parallel()
	begun := []string{at(0), at(1, execute(1, "w0!1", "0-2"))}
	then := func(answers ...string) string { return answering(append(begun[:2:2], answers...)...) }
	const third = "request 3 (now 3 s: JOB_SUBMITTED of w0!3 and 1 more): "
	for name, c := range map[string]struct {
		name string
		runs int
		want string
	}{
		"dead":                 {then(), 1, third + "it has ended without an answer"},
		"dead with a reason":   {onlinePrefix + `sh -c 'read -r l; echo one >&2; echo "KeyError: x" >&2; exit 3'`, 0, `request 1 (now 0 s: SIMULATION_BEGINS): it has ended without an answer; it ended with the exit code 3; its standard error: one; KeyError: x`},
		"killed":               {onlinePrefix + `sh -c 'kill -9 $$'`, 0, "request 1 (now 0 s: SIMULATION_BEGINS): it has ended without an answer; it was killed"},
		"nonsense":             {then("hello"), 1, third + `its answer is no JSON object: "hello`},
		"a number":             {then("17"), 1, third + `its answer isn't as the protocol has it`},
		"a text for a number":  {then(`{"now":"3","events":[]}`), 1, third + "its answer isn't as the protocol has it: now can't be a string"},
		"no events":            {then(`{"now":3}`), 1, third + "its answer has no now or no events"},
		"no type":              {then(at(3, `{"timestamp":3}`)), 1, third + "event 1 of its answer has no timestamp or no type"},
		"events at once":       {answering(at(0, execute(0, "w0!1", "0"))), 0, "request 1 (now 0 s: SIMULATION_BEGINS): its answer to SIMULATION_BEGINS holds EXECUTE_JOB, must hold no events"},
		"started twice":        {then(at(3, execute(3, "w0!1", "0-2"))), 1, third + `start of job "a": it is running since 1 s`},
		"busy processors":      {then(at(3, execute(3, "w0!3", "1"))), 1, third + `start of job "c": processor 1 isn't free`},
		"too few":              {then(at(3, execute(3, "w0!2", "2-3"))), 1, third + `start of job "b": it needs 2 processors, 1 are free`},
		"a processor too much": {then(at(3, execute(3, "w0!3", "2-3"))), 1, third + `start of job "c": it has 1 processes, on 2 processors`},
		"none":                 {then(at(3, execute(3, "w0!3", ""))), 1, third + `start of job "c": it has 1 processes, on 0 processors`},
		"no processor":         {then(at(3, execute(3, "w0!3", "4"))), 1, third + `EXECUTE_JOB of "w0!3": alloc is "4", there are the processors 0 to 3`},
		"no intervals":         {then(at(3, execute(3, "w0!3", "3-"))), 1, third + `EXECUTE_JOB of "w0!3": alloc is "3-", must be intervals`},
		"an endless interval":  {then(at(3, execute(3, "w0!3", "0-99999999999999"))), 1, third + `EXECUTE_JOB of "w0!3": alloc is "0-99999999999999", there are`},
		"in the past":          {then(at(3, execute(2.5, "w0!3", "3"))), 1, third + "EXECUTE_JOB has the timestamp 2.5 s, in the past"},
		"now in the past":      {then(at(2)), 1, third + "now of its answer is 2 s, before that of the request"},
		"after its now":        {then(at(3, execute(4, "w0!3", "3"))), 1, third + "EXECUTE_JOB has the timestamp 4 s, after the answer's now, 3 s"},
		"out of order":         {then(at(5, execute(4, "w0!3", "3"), do(3, rejectJob, `{"job_id":"w0!2"}`))), 1, third + "REJECT_JOB has the timestamp 3 s, before that of the event before it"},
		"no time":              {then(`{"now":1e300,"events":[]}`), 1, third + "now of its answer is 1e+300 s, must be from 0 to 1e+10"},
		"not submitted":        {answering(at(0), at(1, execute(1, "w0!3", "0"))), 0, "request 2 (now 1 s: JOB_SUBMITTED of w0!1 and 1 more): EXECUTE_JOB of \"w0!3\": no such job has been submitted"},
		"another workload":     {then(at(3, execute(3, "w1!3", "0"))), 1, `EXECUTE_JOB of "w1!3": no such job has been submitted`},
		"killed, not running":  {then(at(3, do(3, killJob, `{"job_ids":["w0!3"]}`))), 1, third + `kill of job "c": it isn't running`},
		"called in the past":   {then(at(3, do(3, callMeLater, `{"timestamp":3}`))), 1, third + `call at 3 s: this isn't later than now`},
		"dynamic jobs":         {then(at(3, do(3, "REGISTER_JOB", `{"job_id":"w0!9"}`))), 1, third + `"REGISTER_JOB" isn't offered here; an answer may hold EXECUTE_JOB, REJECT_JOB, KILL_JOB and CALL_ME_LATER`},
		"no data":              {then(at(3, `{"timestamp":3,"type":"EXECUTE_JOB"}`)), 1, third + `EXECUTE_JOB: its data aren't as the protocol has them`},
		"nothing is started":   {answering(at(0), at(1), at(3)), 0, "request 3 (now 3 s: JOB_SUBMITTED of w0!3 and 1 more): no solution found: after 3 s nothing happens any more, and 3 jobs haven't been started"},
		"all is rejected": {answering(at(0), at(1, do(1, rejectJob, `{"job_id":"w0!1"}`), do(1, rejectJob, `{"job_id":"w0!2"}`)), at(3, do(3, rejectJob, `{"job_id":"w0!3"}`)), at(3)), 0,
			"request 4 (now 3 s: SIMULATION_ENDS): no solution found: the policy has rejected 3 of 3 jobs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := solve(t, c.name, model.Settings{})
			d, _ := r.Details.(*model.BatchDetails)
			runs := 0
			if d != nil {
				runs = len(d.Partial)
			}
			if r.Status != model.StatusUnknown || !strings.Contains(r.Reason, c.want) || strings.Contains(r.Reason, "\n") || runs != c.runs {
				t.Errorf("%d runs, %q, want %q", runs, r.Reason, c.want)
			}
		})
	}
}

// A policy that hangs is stopped by the limit of an answer, and by the limit of all, with its processes.
func TestHangs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		name string
		set  model.Settings
		want string
	}{
		"at once":       {`sh -c 'echo waiting >&2; sleep 60'`, model.Settings{AnswerLimit: 300 * time.Millisecond}, "request 1 (now 0 s: SIMULATION_BEGINS): no answer within 300ms; its standard error: waiting"},
		"it goes on":    {`sh -c 'trap "" TERM; while :; do sleep 0.01; done'`, model.Settings{AnswerLimit: 100 * time.Millisecond}, "no answer within 100ms"},
		"in all":        {`sh -c 'sleep 60'`, model.Settings{TimeLimit: 200 * time.Millisecond}, "request 1 (now 0 s: SIMULATION_BEGINS): stopped by the time limit"},
		"it closes all": {`sh -c 'exec <&- >&-; sleep 60'`, model.Settings{AnswerLimit: 100 * time.Millisecond}, "no answer within 100ms"},
		"calls for ever": {`sh -c 'read -r l; echo "{\"now\":0,\"events\":[]}"; while read -r l; do n=${l#*:}; n=${n%%,*}; echo "{\"now\":$n,\"events\":[{\"timestamp\":$n,\"type\":\"CALL_ME_LATER\",\"data\":{\"timestamp\":$((n+1))}}]}"; done'`,
			model.Settings{TimeLimit: 500 * time.Millisecond}, "stopped"},
		"a long answer": {`sh -c 'tr "\\0" x </dev/zero'`, model.Settings{}, "its answer is longer than 64 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if r := solve(t, onlinePrefix+c.name, c.set); r.Status != model.StatusUnknown || !strings.Contains(r.Reason, c.want) {
				t.Errorf("%q", r.Reason)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := require.Value(New(model.KindBatch, onlinePrefix+"sh -c 'sleep 60'"))(t)
	if r, err := s.Solve(ctx, one, model.Settings{}); err != nil || r.Status != model.StatusUnknown {
		t.Errorf("%+v %v", r, err)
	}
}

// A solution counts however the program ends, and the reason says how.
func TestAfterwards(t *testing.T) {
	t.Parallel()
	all := []string{at(0), at(1, execute(1, "w0!1", "0-2")), at(3, execute(3, "w0!3", "3")), at(8), at(11, execute(11, "w0!2", "0-1")), at(26), at(26)}
	for end, want := range map[string]string{"": "", "; exit 4": "it ended with the exit code 4", "; echo done >&2": "", "; echo no >&2; exit 4": "it ended with the exit code 4; its standard error: no", "; sleep 60": "it didn't end within 1s of the end of its input"} {
		name := strings.Replace(answering(all...), "; done'", "; done"+end+"'", 1)
		if r := solve(t, name, model.Settings{}); r.Status != model.StatusFeasible || r.Reason != want {
			t.Errorf("%s: %q, %+v", end, r.Reason, r)
		}
	}
	if r := solve(t, answering(all[:6]...), model.Settings{}); r.Status != model.StatusFeasible || r.Reason != "" {
		t.Errorf("it hangs up at the end: %+v", r)
	}
	for _, name := range []string{"online:", "online:a 'b", "online:there-is-no-such-program", "online:sh {in}"} {
		if _, err := New(model.KindBatch, name); !errors.Is(err, model.ErrInvalid) && !errors.Is(err, model.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s, err := New(model.KindBatch, "online:sh"); err != nil {
		t.Error(err)
	} else if _, err := s.Solve(t.Context(), &model.DAG{}, model.Settings{}); !errors.Is(err, model.ErrUnsupported) {
		t.Error(err)
	}
	if s, err := New(model.KindBatch, "online:sh"); err != nil {
		t.Error(err)
	} else if _, err := s.Solve(t.Context(), &model.Batch{Processors: 1e7, Tiers: 1}, model.Settings{}); !errors.Is(err, model.ErrUnsupported) {
		t.Error(err)
	}
	p := require.Value(launch(process.Options{Args: []string{"/there/is/none"}}))(t)
	require.Refused(t, "p.ask", require.Err(p.ask(t.Context(), []byte("{}"), time.Minute)), errOver, "")
	if how, _ := p.close(t.Context()); !strings.Contains(how, "can't run /there/is/none") {
		t.Error(how)
	}
}

// The schema of messages accepts what goes either way in recorded sessions and in ours.
func TestMessageSchema(t *testing.T) {
	t.Parallel()
	schema := require.Value(jsonschema.NewCompiler().Compile("../../../docs/reference/schema/batch-message.json"))(t)
	accepts := func(text []byte) error {
		x := require.Value(jsonschema.UnmarshalJSON(bytes.NewReader(text)))(t)
		return schema.Validate(x)
	}
	kept := filepath.Join(t.TempDir(), "kept")
	answers := []string{at(0), at(1.5, execute(1.25, "w0!1", "3 0-1"), do(1.5, callMeLater, `{"timestamp":2}`)), at(2, do(2, killJob, `{"job_ids":["w0!1"]}`)),
		at(2, do(2, executeJob, `{"job_id":"w0!2"}`)), at(3), at(17, execute(17, "w0!3", "3"), execute(17, "w0!1", "0-2")), at(22), at(27), at(27)}
	if r := solve(t, strings.ReplaceAll(answering(answers...), "${KEPT:-/dev/null}", kept), model.Settings{}); r.Status != model.StatusFeasible {
		t.Fatalf("%+v", r)
	}
	asked := require.Value(os.ReadFile(kept))(t)
	if !strings.Contains(string(asked), `"log":{"user":"u","queue":"long"}`) || strings.Contains(string(asked), "cancelled") {
		t.Errorf("of the log is told: %s", asked)
	}
	lines := append(strings.Split(strings.TrimSpace(string(asked)), "\n"), answers...)
	require.Same(t, "messages", 2*len(answers), len(lines))
	for _, text := range lines {
		if err := accepts([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{`{"now":1}`, at(1, execute(1, "job 1", "0")), at(1, execute(1, "w0!1", "all")), at(1, do(1, "REGISTER_JOB", `{}`)), at(1, do(1, executeJob, `{}`))} {
		if accepts([]byte(text)) == nil {
			t.Errorf("accepted: %s", text)
		}
	}
	files := require.Files(t, filepath.Join(require.Data(t, "batsim"), "transcripts", "tiny-*.gz"))
	for _, file := range files {
		_, r := replay(t, file)
		for _, text := range append(r.requests, r.answers...) {
			if err := accepts(text); err != nil {
				t.Errorf("%s: %s: %v", file, text, err)
			}
		}
	}
}
