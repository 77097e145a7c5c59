// SPDX-License-Identifier: MIT

package verify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// recorded is a transcript with its instance and its solution.
type recorded struct {
	in     model.Instance
	s      model.Solution
	header string
	turns  []string // a line each
}

// newRecorded returns a transcript of turns whose header has some more keys.
func newRecorded(t testing.TB, in model.Instance, s model.Solution, more string, turns ...string) *recorded {
	hash, err := model.Hash(in)
	if err != nil {
		t.Fatal(err)
	}
	return &recorded{in, s, fmt.Sprintf(`{"kind":%q,"version":1,"transcript":"online","instance":%q,"instance_hash":%q%s}`, in.Kind(), in.ID(), hash, more), turns}
}

// verify judges the solution with a text as its transcript.
func (r *recorded) verify(t *testing.T, text string) (verify.Report, error) {
	return verify.Verify(t.Context(), r.in, r.s, verify.Options{Transcript: strings.NewReader(text)})
}

// changedTurn is a line in place of a turn, and what the judge says of it: nothing if it is online.
type changedTurn struct {
	turn int
	by   string
	want string
}

// check has the transcript judged with each change of it.
func (r *recorded) check(t *testing.T, all map[string]changedTurn) {
	t.Helper()
	for name, c := range all {
		lines := append([]string{r.header}, r.turns...)
		lines[c.turn+1] = c.by
		report, err := r.verify(t, strings.Join(lines, "\n"))
		got := fmt.Sprint(report.Violations)
		if err != nil {
			got = err.Error()
		}
		if c.want == "" && (!report.Online || !report.Feasible()) || c.want != "" && (report.Online || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// transcribed is an instance of 4 processors, its execution, and the transcript of a policy
// that has made it: b waits for the end of a, c starts when it is submitted.
func transcribed(t testing.TB) *recorded {
	in := &model.Batch{Name: "jobs", Processors: 4, Tiers: 1, Jobs: []model.BatchJob{
		{ID: "a", RuntimeS: 100, EstimateS: 300, Processes: 3}, {ID: "b", SubmitS: 10, RuntimeS: 50, Processes: 4}, {ID: "c", SubmitS: 20, RuntimeS: 50, Processes: 1}}}
	run := func(id string, from, to float64, on ...int32) model.Run[model.BatchPlace] {
		return model.Run[model.BatchPlace]{ID: id, Segments: []model.Segment[model.BatchPlace]{{StartS: from, EndS: to, Place: model.BatchPlace{Processors: on}}}}
	}
	e := &model.Execution{Runs: []model.Run[model.BatchPlace]{run("a", 0, 100, 0, 1, 2), run("b", 100, 150, 0, 1, 2, 3), run("c", 20, 70, 3)}}
	return newRecorded(t, in, e, `,"order":"batch"`,
		`{"at_s":0,"told":[{"type":"submitted","job":"a"}],"decided":[{"type":"start","job":"a"}]}`,
		`{"at_s":10,"told":[{"type":"submitted","job":"b"}]}`,
		`{"at_s":20,"told":[{"type":"submitted","job":"c"}],"decided":[{"type":"start","job":"c","processors":"3"}]}`,
		`{"at_s":70,"told":[{"type":"ended","job":"c"}]}`,
		`{"at_s":100,"told":[{"type":"ended","job":"a"}],"decided":[{"type":"start","job":"b"}]}`,
		`{"at_s":150,"told":[{"type":"ended","job":"b"}]}`)
}

// Cheating policies, each found by what it couldn't know.
func TestOnline(t *testing.T) {
	t.Parallel()
	r := transcribed(t)
	r.check(t, map[string]changedTurn{
		"none": {0, r.turns[0], ""},
		"it decides on a job that isn't submitted": {1, `{"at_s":10,"told":[{"type":"submitted","job":"b"}],"decided":[{"type":"start","job":"c","at_s":20}]}`,
			`impossible_decision: at 10 s, start of job "c": it wasn't told of then, it is submitted at 20 s`},
		"it starts a job in the past": {2, `{"at_s":20,"told":[{"type":"submitted","job":"c"}],"decided":[{"type":"start","job":"c","at_s":15}]}`,
			`impossible_decision: at 20 s, start of job "c": 15 s is in the past`},
		"it is told of a job before": {1, `{"at_s":10,"told":[{"type":"submitted","job":"b"},{"type":"submitted","job":"c","at_s":20}]}`,
			`told_early: at 10 s it is told that job "c" is submitted, at 20 s`},
		"it is told of an end before": {3, `{"at_s":70,"told":[{"type":"ended","job":"c"},{"type":"ended","job":"a"}]}`,
			`told_early: at 70 s it is told that job "a" is ended, at 100 s`},
		"it knows when a job ends": {3, `{"at_s":70,"told":[{"type":"ended","job":"c"}],"decided":[{"type":"start","job":"b","at_s":100}]}`,
			`impossible_decision: at 70 s, start of job "b": it needs 4 processors, 1 were free`},
		"it is called though it hasn't asked": {3, `{"at_s":70,"told":[{"type":"ended","job":"c"},{"type":"called"}]}`, `told_wrong: at 70 s the policy is called, and hasn't asked for that`},
		"it takes what another job holds":     {2, `{"at_s":20,"told":[{"type":"submitted","job":"c"}],"decided":[{"type":"start","job":"c","processors":"2"}]}`, `undecided: job "c" is started`},
		"it has called":                       {1, `{"at_s":10,"told":[{"type":"submitted","job":"b"}],"decided":[{"type":"call","at_s":90}]}`, ""},
		"it was busy, and is told too late":   {2, `{"at_s":20,"told":[{"type":"submitted","job":"c"}],"decided":[{"type":"start","job":"c"},{"type":"busy","at_s":80}]}`, "with the policy busy until 80 s"},
	})
	apart := &model.Execution{Runs: slices.Clone(r.s.(*model.Execution).Runs)}
	apart.Runs[0].Segments = []model.Segment[model.BatchPlace]{{EndS: 100, Place: model.BatchPlace{Processors: []int32{0, 1, 3}}}}
	for placement, want := range map[string]string{`,"placement":"contiguous"}`: `processor 3 after 1 is no neighbour`, `,"placement":"near"}`: `placement is "near"`} {
		text := strings.Replace(r.header, "}", placement, 1) + "\n" + r.turns[0]
		if r, err := (&recorded{in: r.in, s: apart}).verify(t, text); !strings.Contains(fmt.Sprint(r.Violations, err), want) {
			t.Errorf("%s: %v, %v", placement, r.Violations, err)
		}
	}
	if _, err := verify.Verify(t.Context(), &model.DAG{Machines: []model.Machine{{ID: "m"}}}, &model.Schedule{}, verify.Options{Transcript: strings.NewReader(r.header)}); err == nil {
		t.Error("a task graph has a transcript")
	}
}

// booked is an instance of 4 PEs, its bookings, and the transcript of a policy that has made
// them: a ends early, b is withdrawn, c is moved.
func booked(t testing.TB) *recorded {
	three, eight := 3.0, 8.0
	in := &model.Reservation{Name: "requests", PEs: 4, Requests: []model.Request{{ID: "a", DurationS: 10, DeadlineS: 10, PEs: 3, RuntimeS: &three},
		{ID: "b", ArrivalS: 1, ReadyS: 1, DurationS: 5, DeadlineS: 30, PEs: 2, CancelS: &eight}, {ID: "c", ArrivalS: 2, ReadyS: 2, DurationS: 5, DeadlineS: 30, PEs: 2}}}
	b := &model.Bookings{Bookings: []model.Booking{{ID: "a", PEs: model.PEList{{First: 0, Last: 2}}},
		{ID: "b", StartS: 10, PEs: model.PEList{{First: 0, Last: 1}}}, {ID: "c", StartS: 4, PEs: model.PEList{{First: 2, Last: 3}}}}}
	return newRecorded(t, in, b, "",
		`{"at_s":0,"told":[{"type":"submitted","request":"a"}],"decided":[{"type":"accept","request":"a","start_s":0,"pes":"0-2"}]}`,
		`{"at_s":1,"told":[{"type":"submitted","request":"b"}],"decided":[{"type":"accept","request":"b","start_s":10},{"type":"call","at_s":2}]}`,
		`{"at_s":2,"told":[{"type":"called"},{"type":"submitted","request":"c"}],"decided":[{"type":"accept","request":"c","start_s":11,"pes":"2-3"}]}`,
		`{"at_s":3,"told":[{"type":"ended","request":"a"}],"decided":[{"type":"move","request":"c","start_s":4,"pes":"2-3"}]}`,
		`{"at_s":8,"told":[{"type":"withdrawn","request":"b"}]}`)
}

// What a policy of reservation can't have been told, or can't have decided.
func TestOnlineReservation(t *testing.T) {
	t.Parallel()
	r := booked(t)
	r.check(t, map[string]changedTurn{
		"none":         {0, r.turns[0], ""},
		"no answer":    {2, `{"at_s":2,"told":[{"type":"called"},{"type":"submitted","request":"c"}]}`, `request "c" isn't answered when it arrives, at 2 s`},
		"answered":     {3, `{"at_s":3,"told":[{"type":"ended","request":"a"}],"decided":[{"type":"accept","request":"c","start_s":4}]}`, `it didn't arrive then`},
		"promised":     {2, `{"at_s":2,"told":[{"type":"called"},{"type":"submitted","request":"c"}],"decided":[{"type":"accept","request":"c","start_s":4,"pes":"2-3"}]}`, `PE 2 was that of request "a" from 0 s to 10 s`},
		"known before": {2, `{"at_s":2,"told":[{"type":"ended","request":"a"},{"type":"submitted","request":"c"}],"decided":[{"type":"reject","request":"c"}]}`, `told_early`},
		"not called":   {1, `{"at_s":1,"told":[{"type":"called"},{"type":"submitted","request":"b"}],"decided":[{"type":"accept","request":"b","start_s":10}]}`, `hasn't asked for that`},
		"moved late":   {4, `{"at_s":8,"told":[{"type":"withdrawn","request":"b"}],"decided":[{"type":"move","request":"c","start_s":9}]}`, `it wasn't waiting for its start`},
		"no request":   {4, `{"at_s":8,"told":[{"type":"withdrawn","request":"z"}]}`, `line 6: there is no request "z"`},
		"no time":      {1, `{"at_s":1,"told":[{"type":"submitted","request":"b"}],"decided":[{"type":"accept","request":"b"}]}`, `there is no start_s`},
		"half a tick":  {1, `{"at_s":1.5}`, `line 3: at_s is 1.5, which isn't a time`},
	})
}

// embedded is an instance of two servers with a queue, its embeddings, and the transcript of
// a policy that has made them: a is suspended for b, and goes on on the other server.
func embedded(t testing.TB) *recorded {
	in := &model.TVC{Name: "clusters", FatTree: model.FatTree{K: 2, Slots: 2, LinkMbps: 10}, Queue: true, MigrationS: 2, Requests: []model.TVCRequest{
		{ID: "a", VMs: 2, BandwidthMbps: 1, DurationS: 10}, {ID: "b", ArrivalS: 5, VMs: 4, BandwidthMbps: 1, DurationS: 3}}}
	on := func(from, to float64, servers ...model.ServerVMs) model.Segment[model.Embedding] {
		return model.Segment[model.Embedding]{StartS: from, EndS: to, Place: model.Embedding{Switch: model.Switch{Layer: model.LayerCore}, Servers: servers}}
	}
	e := &model.Embeddings{Runs: []model.Run[model.Embedding]{
		{ID: "a", Segments: []model.Segment[model.Embedding]{on(0, 5, model.ServerVMs{Server: 0, VMs: 2}), on(8, 15, model.ServerVMs{Server: 1, VMs: 2})}},
		{ID: "b", Segments: []model.Segment[model.Embedding]{on(5, 8, model.ServerVMs{Server: 0, VMs: 2}, model.ServerVMs{Server: 1, VMs: 2})}}}}
	start := func(id string, servers string) string {
		return fmt.Sprintf(`{"type":"start","request":%q,"place":{"switch":"core-0-0","servers":[%s]}}`, id, servers)
	}
	return newRecorded(t, in, e, "",
		`{"at_s":0,"told":[{"type":"submitted","request":"a"}],"decided":[`+start("a", `{"server":0,"vms":2}`)+`]}`,
		`{"at_s":5,"told":[{"type":"submitted","request":"b"}],"decided":[{"type":"suspend","request":"a"},`+start("b", `{"server":0,"vms":2},{"server":1,"vms":2}`)+`]}`,
		`{"at_s":8,"told":[{"type":"ended","request":"b"}],"decided":[`+start("a", `{"server":1,"vms":2}`)+`]}`,
		`{"at_s":15,"told":[{"type":"ended","request":"a"}]}`)
}

// What a policy of tvc can't have been told, or can't have decided.
func TestOnlineTVC(t *testing.T) {
	t.Parallel()
	r := embedded(t)
	r.check(t, map[string]changedTurn{
		"none":            {0, r.turns[0], ""},
		"it knows of b":   {0, strings.Replace(r.turns[0], `"decided":[`, `"decided":[{"type":"reject","request":"b"},`, 1), `it wasn't told of then, it arrives at 5 s`},
		"not suspended":   {1, strings.Replace(r.turns[1], `{"type":"suspend","request":"a"},`, "", 1), `start of request "a": it wasn't waiting`},
		"elsewhere":       {2, strings.Replace(r.turns[2], `"server":1`, `"server":0`, 1), `undecided`},
		"ended too early": {2, strings.Replace(r.turns[2], `{"type":"ended","request":"b"}`, `{"type":"ended","request":"b"},{"type":"ended","request":"a"}`, 1), `which isn't running`},
		"no place":        {2, `{"at_s":8,"told":[{"type":"ended","request":"b"}],"decided":[{"type":"start","request":"a"}]}`, `line 4: a start has no place`},
		"no migration":    {3, `{"at_s":13,"told":[{"type":"ended","request":"a"}]}`, `told_early`},
	})
}

// tiered is an instance of a processor with two tiers, its execution, and the transcript of
// a policy that has made it: b goes up when a has ended, is killed and starts anew.
func tiered(t testing.TB) *recorded {
	in := &model.Batch{Name: "tiers", Processors: 1, Tiers: 2, Jobs: []model.BatchJob{
		{ID: "a", RuntimeS: 10, Processes: 1, CPU: []float64{0.5}}, {ID: "b", SubmitS: 2, RuntimeS: 10, Processes: 1, BgEfficiency: 1}}}
	on := func(from, to float64, tier model.Tier, lost bool) model.Segment[model.BatchPlace] {
		return model.Segment[model.BatchPlace]{StartS: from, EndS: to, Lost: lost, Place: model.BatchPlace{Tier: tier, Processors: []int32{0}}}
	}
	e := &model.Execution{Runs: []model.Run[model.BatchPlace]{{ID: "a", Segments: []model.Segment[model.BatchPlace]{on(0, 10, "", false)}},
		{ID: "b", Segments: []model.Segment[model.BatchPlace]{on(2, 10, model.TierBackground, false), on(10, 12, "", true), on(12, 22, "", false)}}}}
	return newRecorded(t, in, e, `,"tiers":2`,
		`{"at_s":0,"told":[{"type":"submitted","job":"a"}],"decided":[{"type":"start","job":"a","processors":"0"}]}`,
		`{"at_s":2,"told":[{"type":"submitted","job":"b"}],"decided":[{"type":"start","job":"b","tier":"background","processors":"0"},{"type":"call","at_s":12}]}`,
		`{"at_s":10,"told":[{"type":"ended","job":"a"}],"decided":[{"type":"move","job":"b","processors":"0"}]}`,
		`{"at_s":12,"told":[{"type":"called"}],"decided":[{"type":"kill","job":"b"},{"type":"start","job":"b","processors":"0"}]}`,
		`{"at_s":22,"told":[{"type":"ended","job":"b"}]}`)
}

// What a policy of two tiers can't have been told, or can't have decided.
func TestOnlineTwoTier(t *testing.T) {
	t.Parallel()
	r := tiered(t)
	r.check(t, map[string]changedTurn{
		"none":         {0, r.turns[0], ""},
		"it knows b":   {0, strings.Replace(r.turns[0], `"decided":[`, `"decided":[{"type":"reject","job":"b"},`, 1), `it wasn't told of then, it is submitted at 2 s`},
		"it knows a":   {1, strings.Replace(r.turns[1], `"told":[`, `"told":[{"type":"ended","job":"a"},`, 1), `told_early: at 2 s it is told that job "a" is ended, at 10 s`},
		"another tier": {1, strings.Replace(r.turns[1], `"tier":"background",`, "", 1), `undecided: job "b" comes to "0" (foreground) at 2 s`},
		"not moved":    {2, `{"at_s":10,"told":[{"type":"ended","job":"a"}]}`, `job "b" leaves its processors at 10 s, and no decision moves or kills it then`},
		"not killed":   {3, `{"at_s":12,"told":[{"type":"called"}],"decided":[{"type":"move","job":"b","processors":"0"}]}`, `at 12 s there was a move`},
		"not told":     {4, `{"at_s":23}`, `untold: that job "b" ends at 22 s`},
		"of one tier":  {4, `{"at_s":22,"told":[{"type":"killed","job":"b"}]}`, `line 6: an event is "killed", must be submitted, ended or called`},
	})
}

// No text makes the replay panic, and none that can't be read makes the solution online.
func FuzzTranscript(f *testing.F) {
	all := []*recorded{transcribed(f), booked(f), embedded(f), tiered(f)}
	for k, r := range all {
		f.Add(uint8(k), strings.Join(r.turns, "\n"))
	}
	f.Add(uint8(0), `{"at_s":0,"told":[{"type":"submitted","job":"a"}],"decided":[{"type":"start","job":"a"},{"type":"busy","at_s":5},{"type":"call","at_s":6}]}`)
	f.Add(uint8(0), `{"at_s":10,"told":[{"type":"submitted","job":"a","at_s":0},{"type":"submitted","job":"b"}],"decided":[{"type":"kill","job":"a"},{"type":"reject","job":"b"}]}`)
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		x := all[int(kind)%len(all)]
		r, err := x.verify(t, x.header+"\n"+text)
		if r.Online && (err != nil || !r.Feasible()) {
			t.Errorf("online: %v\n%v\n%s", err, r, text)
		}
	})
}
