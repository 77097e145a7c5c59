// SPDX-License-Identifier: MIT

package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// component is a scheduler for Batsim 5 with the recorded answers of one for Batsim 3: it has its own words for them.
type component struct {
	*recorded
	hello string
	heard map[string]int // events, by type
	jobs  map[string]map[string]any
}

var words = map[string]string{executeJob: "ExecuteJobEvent", rejectJob: "RejectJobEvent"}

func (c *component) ask(ctx context.Context, request []byte, limit time.Duration) ([]byte, error) {
	if c.heard == nil {
		c.heard, c.jobs = map[string]int{}, map[string]map[string]any{}
		require.Same(c.t, "the first message", []byte{0, 0, 0, 0}, request)
		return []byte(c.hello), nil
	}
	var got struct {
		Now    float64 `json:"now"`
		Events []struct {
			Timestamp float64        `json:"timestamp"`
			Type      string         `json:"event_type"`
			Event     map[string]any `json:"event"`
		} `json:"events"`
	}
	require.OK(c.t, json.Unmarshal(request, &got))
	for _, e := range got.Events {
		if c.heard[e.Type]++; e.Type == "JobSubmittedEvent" {
			c.jobs[e.Event["job_id"].(string)] = e.Event["job"].(map[string]any)
		}
		if e.Type == "JobCompletedEvent" && (e.Event["state"] == "COMPLETED_SUCCESSFULLY") != (e.Event["return_code"] == 0.0) {
			c.t.Errorf("state and return code of %v", e.Event)
		}
		if e.Type == "SimulationBeginsEvent" {
			require.Same(c.t, "hosts", e.Event["computation_host_number"].(float64), float64(len(e.Event["computation_hosts"].([]any))))
		}
	}
	text, err := c.recorded.ask(ctx, request, limit)
	if err != nil {
		return nil, err
	}
	var was answer
	require.OK(c.t, json.Unmarshal(text, &was))
	say := map[string]any{"now": was.Now, "events": []any{}}
	for _, e := range was.Events {
		var d map[string]any
		require.OK(c.t, json.Unmarshal(e.Data, &d))
		if e.Type == executeJob {
			d = map[string]any{"job_id": d["job_id"], "allocation": map[string]any{"host_allocation": d["alloc"]}, "profile_allocation_override": []any{}}
		}
		say["events"] = append(say["events"].([]any), map[string]any{"timestamp": e.Timestamp, "event_type": words[e.Type], "event": d})
	}
	text, err = json.Marshal(say)
	return append(text, 0), err // C's schedulers end it so
}

const hello = "\x02\x00\x00\x00" + `{"now":0,"events":[{"timestamp":0,"event_type":"EDCHelloEvent","event":{"batprotocol_version":"0.1.0"}}]}`

// The recorded schedulers come to the same schedules by the messages of Batsim 5.
func TestBatprotocol(t *testing.T) {
	t.Parallel()
	folder := require.Data(t, "batsim")
	for _, file := range require.Files(t, filepath.Join(folder, "transcripts", "random-0*.jsonl.gz")) {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl.gz")
		of, _, _ := strings.Cut(name, ".")
		in := instance(t, filepath.Join(folder, "instances", of+".json"))
		_, line1 := replay(t, file)
		line1.loose = true
		c := &component{recorded: line1, hello: hello}
		s := &solver{name: "batsim:five", silent: strings.Contains(file, "Notopo"),
			open: func(context.Context, model.Settings, time.Duration) (line, error) { return &batprotocol{line: c}, nil }}
		r := require.Value(s.Solve(t.Context(), in, model.Settings{}))(t)
		want := require.Value(model.DecodeSolution(require.Value(os.ReadFile(filepath.Join(folder, "schedules", name+".json")))(t)))(t)
		if r.Status != model.StatusFeasible || !reflect.DeepEqual(runs(want), runs(r.Solution)) {
			t.Errorf("%s: %v, %s", name, r.Status, r.Reason)
		}
		heard := map[string]int{"SimulationBeginsEvent": 1, "SimulationEndsEvent": 1, "JobSubmittedEvent": len(in.Jobs), "JobCompletedEvent": len(in.Jobs)}
		if !s.silent {
			heard["AllStaticJobsHaveBeenSubmittedEvent"] = 1
		}
		require.Same(t, name+": events", heard, c.heard)
		first := map[string]any{"resource_request": float64(in.Jobs[0].Processes), "walltime": cmp.Or(in.Jobs[0].EstimateS, in.Jobs[0].RuntimeS),
			"extra_data": "", "rigid": true, "profile_id": "w0!1"}
		require.Same(t, name+": the first job", first, c.jobs[jobName(0)])
	}
}

// said is a line that answers with the next of its texts.
type said struct {
	texts []string
	asked []string
}

func (s *said) ask(_ context.Context, request []byte, _ time.Duration) ([]byte, error) {
	s.asked = append(s.asked, string(request))
	if len(s.texts) == 0 {
		return nil, errOver
	}
	text := s.texts[0]
	s.texts = s.texts[1:]
	return []byte(text), nil
}

func (*said) close(context.Context) (how, said string) { return "", "" }

// Calls, kills and rejections have their words, and a call comes back by its name.
func TestBatprotocolWords(t *testing.T) {
	one := func(event, data string) string {
		return `{"now":3,"events":[{"timestamp":2,"event_type":"` + event + `","event":` + data + `}]}`
	}
	for name, c := range map[string]struct{ says, want string }{
		"call":       {one("CallMeLaterEvent", `{"call_me_later_id":"c","when_type":"OneShot","when":{"time":7.5}}`), `{"now":3,"events":[{"timestamp":2,"type":"CALL_ME_LATER","data":{"timestamp":7.5}}]}`},
		"kill":       {one("KillJobsEvent", `{"job_ids":["w0!1"]}`), `{"now":3,"events":[{"timestamp":2,"type":"KILL_JOB","data":{"job_ids":["w0!1"]}}]}`},
		"reject":     {one("RejectJobEvent", `{"job_id":"w0!1"}`), `{"now":3,"events":[{"timestamp":2,"type":"REJECT_JOB","data":{"job_id":"w0!1"}}]}`},
		"periodic":   {one("CallMeLaterEvent", `{"when_type":"Periodic"}`), `{"now":3,"events":[{"timestamp":2,"type":"CallMeLaterEvent","data":{"when_type":"Periodic"}}]}`},
		"override":   {one("ExecuteJobEvent", `{"job_id":"w0!1","profile_allocation_override":[1]}`), "it places parts of profiles or storage"},
		"no JSON":    {"\x14\x00", "isn't batprotocol's JSON"},
		"wrong type": {one("RejectJobEvent", `{"job_id":1}`), "isn't as batprotocol has it"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &said{texts: []string{hello, c.says, `{"now":8,"events":[]}`}}
			b := &batprotocol{line: s}
			got, err := b.ask(t.Context(), []byte(`{"now":1,"events":[{"timestamp":1,"type":"JOB_KILLED","data":{"job_ids":["w0!2"]}}]}`), 0)
			if err != nil {
				got = []byte(err.Error())
			}
			require.Says(t, "the answer", string(got), c.want)
			require.Says(t, "the request", s.asked[1], `"event_type":"JobsKilledEvent","event":{"job_ids":["w0!2"],"progresses":[]}`)
			if name == "call" {
				b.calls[7500000] = append(b.calls[7500000], "d")
				_, err := b.ask(t.Context(), []byte(`{"now":7.5,"events":[{"timestamp":7.5,"type":"REQUESTED_CALL","data":{}},{"timestamp":7.5,"type":"REQUESTED_CALL","data":{}}]}`), 0)
				require.OK(t, err)
				require.Says(t, "the calls", s.asked[2], `"event_type":"RequestedCallEvent","event":{"call_me_later_id":"c"}`, `"event":{"call_me_later_id":"d"}`)
			}
		})
	}
	for name, c := range map[string]struct{ hello, want string }{
		"binary":   {"\x01\x00\x00\x00{}", "gapwise doesn't speak binary FlatBuffers"},
		"no flag":  {"\x00\x00\x00\x00EDCHelloEvent", "with the flag 2"},
		"no hello": {"\x02\x00\x00\x00{}", "holds no EDCHelloEvent"},
		"nothing":  {"", "with the flag 2"},
	} {
		_, err := (&batprotocol{line: &said{texts: []string{c.hello}}}).ask(t.Context(), []byte(`{"now":0,"events":[]}`), 0)
		require.Says(t, name, err.Error(), c.want)
	}
}

// FuzzBatprotocol checks that no answer ends in a panic.
func FuzzBatprotocol(f *testing.F) {
	f.Add([]byte(`{"now":3,"events":[{"timestamp":2,"event_type":"ExecuteJobEvent","event":{"job_id":"w0!1","allocation":{"host_allocation":"0-1"}}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, err := (&batprotocol{calls: map[int64][]string{}}).answer(text); err == nil && !json.Valid(got) {
			t.Errorf("%q", got)
		}
	})
}
