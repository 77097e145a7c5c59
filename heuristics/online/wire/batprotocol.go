// SPDX-License-Identifier: MIT

package wire

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// batprotocol is a line to a scheduler for Batsim 5, in the JSON of its protocol (batprotocol). It has other messages
// than Batsim 3 and 4 for what a session asks and hears.
type batprotocol struct {
	line
	met   bool               // the scheduler has introduced itself
	calls map[int64][]string // names of calls that are asked for, by their microseconds
}

// event5 is an event of batprotocol.
type event5 struct {
	Timestamp *float64        `json:"timestamp"`
	Type      string          `json:"event_type"`
	Data      json.RawMessage `json:"event"`
}

type message5 struct {
	Now    *float64 `json:"now"`
	Events []event5 `json:"events"`
}

// writesJSON is the flag of a scheduler that writes JSON, and not the binary form of FlatBuffers.
const writesJSON = 2

func (b *batprotocol) ask(ctx context.Context, request []byte, limit time.Duration) ([]byte, error) {
	if !b.met { // the length of the initial data, and none
		hello, err := b.line.ask(ctx, make([]byte, 4), limit)
		switch {
		case err != nil:
			return nil, err
		case len(hello) < 4 || binary.LittleEndian.Uint32(hello)&writesJSON == 0:
			return nil, errors.New("it doesn't introduce itself with the flag 2, for JSON: gapwise doesn't speak binary FlatBuffers")
		case !strings.Contains(string(hello[4:]), "EDCHelloEvent"):
			return nil, fmt.Errorf("its first message holds no EDCHelloEvent: %.60q", hello[4:])
		}
		b.met, b.calls = true, map[int64][]string{}
	}
	text, err := b.request(request)
	if err == nil {
		text, err = b.line.ask(ctx, text, limit)
	}
	if err != nil {
		return nil, err
	}
	return b.answer([]byte(strings.TrimRight(string(text), "\x00")))
}

// request translates a request.
func (b *batprotocol) request(text []byte) ([]byte, error) {
	var from answer
	if err := json.Unmarshal(text, &from); err != nil {
		return nil, err
	}
	to := message5{Now: from.Now, Events: []event5{}}
	for _, e := range from.Events {
		var d struct {
			Processors int      `json:"nb_resources"`
			JobID      string   `json:"job_id"`
			JobIDs     []string `json:"job_ids"`
			Job        jobData  `json:"job"`
			State      string   `json:"job_state"`
			Code       int      `json:"return_code"`
		}
		if err := json.Unmarshal(e.Data, &d); err != nil {
			return nil, err
		}
		x, what := map[string]any{}, ""
		switch e.Type {
		case simulationBegins:
			what, x = "SimulationBeginsEvent", begins5(d.Processors)
		case jobSubmitted:
			what, x["job_id"], x["submission_time"] = "JobSubmittedEvent", d.JobID, d.Job.Submit
			x["job"] = map[string]any{"resource_request": d.Job.Res, "walltime": d.Job.Walltime, "extra_data": "", "rigid": true, "profile_id": workload + "!" + d.Job.Profile}
		case notify:
			what = "AllStaticJobsHaveBeenSubmittedEvent"
		case jobCompleted:
			what, x["job_id"], x["state"], x["return_code"] = "JobCompletedEvent", d.JobID, d.State, d.Code
		case jobKilled:
			what, x["job_ids"], x["progresses"] = "JobsKilledEvent", d.JobIDs, []any{}
		case requestedCall:
			what = "RequestedCallEvent"
			at := int64(math.Round(*e.Timestamp * 1e6))
			if names := b.calls[at]; len(names) > 0 {
				x["call_me_later_id"], b.calls[at] = names[0], names[1:]
			}
		case simulationEnds:
			what = "SimulationEndsEvent"
		}
		data, err := json.Marshal(x)
		if err != nil {
			return nil, err
		}
		to.Events = append(to.Events, event5{e.Timestamp, what, data})
	}
	return json.Marshal(to)
}

// begins5 is a scheduler's knowledge of the platform.
func begins5(processors int) map[string]any {
	hosts := make([]any, processors)
	for p, r := range begins(processors).Compute {
		hosts[p] = map[string]any{"id": p, "name": r.Name, "pstate": 0, "pstate_count": 1, "state": "IDLE", "properties": []any{}, "zone_properties": []any{},
			"core_count": 1, "computation_speed": []float64{1e9}}
	}
	return map[string]any{"host_number": processors, "computation_host_number": processors, "computation_hosts": hosts, "storage_host_number": 0,
		"storage_hosts": []any{}, "batsim_execution_context_json": "{}", "profiles": []any{}, // which would tell the runtimes
		"workloads": []any{map[string]any{"name": workload, "filename": "workload.json"}}}
}

// answer translates an answer. Events that a session doesn't offer keep their names.
func (b *batprotocol) answer(text []byte) ([]byte, error) {
	var from message5
	if err := json.Unmarshal(text, &from); err != nil {
		return nil, fmt.Errorf("its answer isn't batprotocol's JSON: %.60q", text)
	}
	to := answer{Now: from.Now, Events: []answerEvent{}}
	for _, e := range from.Events {
		var d struct {
			JobID      string `json:"job_id"`
			Allocation struct {
				Hosts *string `json:"host_allocation"`
			} `json:"allocation"`
			Override []any  `json:"profile_allocation_override"`
			Storage  []any  `json:"storage_placement"`
			Call     string `json:"call_me_later_id"`
			Trigger  string `json:"when_type"`
			When     struct {
				Time float64 `json:"time"`
			} `json:"when"`
		}
		if err := json.Unmarshal(e.Data, &d); err != nil {
			return nil, fmt.Errorf("%.60q: its event isn't as batprotocol has it: %.60q", e.Type, e.Data)
		}
		x := answerEvent{Timestamp: e.Timestamp, Type: e.Type, Data: e.Data}
		switch {
		case e.Type == "ExecuteJobEvent" && len(d.Override)+len(d.Storage) > 0:
			return nil, fmt.Errorf("%s of %.60q: it places parts of profiles or storage, which jobs here don't have", e.Type, d.JobID)
		case e.Type == "ExecuteJobEvent":
			x.Type = executeJob
			x.Data, _ = json.Marshal(map[string]any{"job_id": d.JobID, "alloc": d.Allocation.Hosts})
		case e.Type == "RejectJobEvent":
			x.Type = rejectJob
		case e.Type == "KillJobsEvent":
			x.Type = killJob
		case e.Type == "CallMeLaterEvent" && d.Trigger == "OneShot":
			x.Type = callMeLater
			x.Data, _ = json.Marshal(map[string]any{"timestamp": d.When.Time})
			at := int64(math.Round(d.When.Time * 1e6))
			b.calls[at] = append(b.calls[at], d.Call)
		}
		to.Events = append(to.Events, x)
	}
	return json.Marshal(to)
}
