// SPDX-License-Identifier: MIT

package model_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

const threeRequests = `{"kind":"reservation","version":1,"name":"three","goal":"pe_seconds","pes":64,"requests":[
{"id":"a","arrival_s":0,"ready_s":10,"duration_s":60,"deadline_s":200,"pes":33},
{"id":"b","arrival_s":5,"ready_s":5,"duration_s":0.5,"deadline_s":5.5,"pes":64,"runtime_s":0.25,"cancel_s":30},
{"id":"c","arrival_s":5,"ready_s":100,"duration_s":100,"deadline_s":1000,"pes":1,"runtime_s":100,"cancel_s":400}]}`

// Every rule, with the line that its violation prints.
func TestReservationBadInput(t *testing.T) {
	t.Parallel()
	const where = "invalid reservation instance: "
	checkChanges(t, threeRequests, map[string]change{
		"unknown goal":       {`"pe_seconds"`, `"most"`, where + `goal is "most", must be one of ["accepted" "pe_seconds" "reserved_pe_seconds" "all"]`},
		"no PEs":             {`"pes":64,"requests"`, `"pes":0,"requests"`, where + `pes is 0, must be from 1 to 10000000`},
		"negative PEs":       {`"pes":64,"requests"`, `"pes":-1,"requests"`, where + `pes is -1, must be from 1 to 10000000`},
		"too many PEs":       {`"pes":64,"requests"`, `"pes":10000001,"requests"`, where + `pes is 10000001, must be from 1 to 10000000`},
		"no id":              {`"id":"b"`, `"id":""`, where + `line 3: requests[1]: id "": id is missing or empty`},
		"id twice":           {`"id":"c"`, `"id":"a"`, where + `line 4: requests[2]: id "a": the id is taken by requests[0] already`},
		"negative arrival":   {`"arrival_s":0`, `"arrival_s":-1`, where + `line 2: requests[0]: id "a": arrival_s is -1, must be from 0 to 4e+15`},
		"negative ready":     {`"ready_s":10`, `"ready_s":-1`, where + `line 2: requests[0]: id "a": ready_s is -1, must be from 0 to 4e+15`},
		"negative duration":  {`"duration_s":60`, `"duration_s":-1`, where + `line 2: requests[0]: id "a": duration_s is -1, must be from 1e-09 to 4e+15`},
		"deadline too late":  {`"deadline_s":200`, `"deadline_s":1e17`, where + `line 2: requests[0]: id "a": deadline_s is 1e+17, must be from 0 to 4e+15`},
		"order of arrival":   {`"c","arrival_s":5`, `"c","arrival_s":4`, where + `line 4: requests[2]: id "c": arrival_s is 4, after one at 5; sort the requests by arrival`},
		"ready too early":    {`"ready_s":5`, `"ready_s":4`, where + `line 3: requests[1]: id "b": ready_s is 4, before its arrival at 5`},
		"no duration":        {`"duration_s":60`, `"duration_s":0`, where + `line 2: requests[0]: id "a": duration_s is 0, must be from 1e-09 to 4e+15`},
		"deadline too early": {`"deadline_s":200`, `"deadline_s":69.5`, where + `line 2: requests[0]: id "a": deadline_s is 69.5, before ready_s + duration_s = 70`},
		"needs no PEs":       {`"pes":33`, `"pes":0`, where + `line 2: requests[0]: id "a": pes is 0, must be from 1 to 10000000`},
		"needs too many":     {`"pes":33`, `"pes":65`, where + `line 2: requests[0]: id "a": pes is 65, the cluster has 64`},
		"no runtime":         {`"runtime_s":0.25`, `"runtime_s":0`, where + `line 3: requests[1]: id "b": runtime_s is 0, must be from 1e-09 to 4e+15`},
		"runtime too long":   {`"runtime_s":0.25`, `"runtime_s":0.75`, where + `line 3: requests[1]: id "b": runtime_s is 0.75, must be at most duration_s = 0.5`},
		"cancelled before":   {`"cancel_s":30`, `"cancel_s":4`, where + `line 3: requests[1]: id "b": cancel_s is 4, before its arrival at 5`},
		"cancelled never":    {`"cancel_s":30`, `"cancel_s":1e17`, where + `line 3: requests[1]: id "b": cancel_s is 1e+17, must be from 0 to 4e+15`},
		"NaN":                {`"ready_s":10`, `"ready_s":NaN`, "invalid JSON: line 2: invalid character 'N' looking for beginning of value"},
		"beyond floats":      {`"ready_s":10`, `"ready_s":1e999`, `invalid JSON: line 2: requests[0].ready_s: a number is wanted, 1e999 is too large`},
		"fraction of a PE":   {`"pes":33`, `"pes":33.5`, `invalid JSON: line 2: requests[0].pes: a whole number is wanted, 33.5 isn't one, or too large`},
		"no requests":        {`"requests"`, `"request"`, `invalid JSON: line 1: unknown key "request"; known here: account, goal, kind, name, pes, requests, start_time, version`},
		"null":               {`"cancel_s":30`, `"cancel_s":null`, `invalid JSON: line 3: "requests[1].cancel_s" is null, must be a value`},
		"missing":            {`,"deadline_s":200`, ``, `invalid JSON: line 2: the key "requests[0].deadline_s" is missing`},
	}, decodes(model.DecodeInstance))
}

// Values that no file can have: NaN and infinities.
func TestReservationValidateNumbers(t *testing.T) {
	t.Parallel()
	for key, set := range map[string]func(*model.Request, float64){
		"arrival_s":  func(q *model.Request, x float64) { q.ArrivalS = x },
		"ready_s":    func(q *model.Request, x float64) { q.ReadyS = x },
		"duration_s": func(q *model.Request, x float64) { q.DurationS = x },
		"deadline_s": func(q *model.Request, x float64) { q.DeadlineS = x },
		"runtime_s":  func(q *model.Request, x float64) { q.RuntimeS = &x },
		"cancel_s":   func(q *model.Request, x float64) { q.CancelS = &x },
	} {
		for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			in := decodeInstance[*model.Reservation](t, threeRequests)
			set(&in.Requests[1], x)
			var element *model.ElementError
			if err := in.Validate(); !errors.As(err, &element) || element.Index != 1 || !strings.Contains(err.Error(), fmt.Sprintf("%s is %v", key, x)) {
				t.Errorf("%s = %v: error %v", key, x, err)
			}
		}
	}
}

func TestReservationEdgeCases(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no requests":       `{"kind":"reservation","version":1,"name":"","pes":1,"requests":[]}`,
		"goal by default":   strings.Replace(threeRequests, `"pe_seconds"`, `""`, 1),
		"immediate":         strings.Replace(threeRequests, `"deadline_s":200`, `"deadline_s":70`, 1),
		"all at once":       strings.Replace(threeRequests, `"arrival_s":0`, `"arrival_s":5`, 1),
		"shortest":          strings.Replace(threeRequests, `"duration_s":60`, `"duration_s":1e-9`, 1),
		"cancelled at once": strings.Replace(threeRequests, `"cancel_s":30`, `"cancel_s":5`, 1),
		// 0.1 + 0.2 is above 0.3 in floats: rounding, not a mistake.
		"rounded sum": `{"kind":"reservation","version":1,"name":"","pes":1,"requests":[{"id":"a","arrival_s":0,"ready_s":0.1,"duration_s":0.2,"deadline_s":0.3,"pes":1}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			in := decodeInstance[*model.Reservation](t, text)
			for _, q := range in.Requests {
				if q.Latest() < q.ReadyS {
					t.Errorf("the latest start %v is before the ready time %v", q.Latest(), q.ReadyS)
				}
			}
		})
	}
}

// drawReservation draws valid instances, and bookings of their requests.
func drawReservation(t *rapid.T) (*model.Reservation, *model.Bookings) {
	time := rapid.Float64Range(0, 1e6)
	const shortest = 1e-4 // of figures of any digits until 1e7 s
	in := &model.Reservation{Name: rapid.String().Draw(t, "name"), Goal: rapid.SampledFrom(append(model.Goals, "")).Draw(t, "goal"),
		PEs: rapid.IntRange(1, 100).Draw(t, "pes"), Requests: []model.Request{}}
	b := &model.Bookings{Online: rapid.Bool().Draw(t, "online"), Bookings: []model.Booking{}}
	arrival := 0.0
	for i := range rapid.IntRange(0, 6).Draw(t, "requests") {
		arrival += time.Draw(t, "arrival")
		q := model.Request{ID: fmt.Sprint(i), ArrivalS: arrival, ReadyS: arrival + time.Draw(t, "ready"), DurationS: rapid.Float64Range(shortest, 1e6).Draw(t, "duration"),
			PEs: rapid.IntRange(1, in.PEs).Draw(t, "needs")}
		q.DeadlineS = q.ReadyS + q.DurationS + time.Draw(t, "slack")
		if rapid.Bool().Draw(t, "ends early") {
			x := rapid.Float64Range(shortest, q.DurationS).Draw(t, "runtime")
			q.RuntimeS = &x
		}
		if rapid.Bool().Draw(t, "is cancelled") {
			x := arrival + time.Draw(t, "cancel")
			q.CancelS = &x
		}
		in.Requests = append(in.Requests, q)
		if rapid.Bool().Draw(t, "accepted") {
			x := model.Booking{ID: q.ID, StartS: rapid.Float64Range(q.ReadyS, q.Latest()).Draw(t, "start"), PEs: model.PEList{}}
			for pe := range in.PEs {
				if rapid.Bool().Draw(t, "pe") {
					x.PEs = x.PEs.Append(pe)
				}
			}
			b.Bookings = append(b.Bookings, x)
		}
	}
	return in, b
}

func TestReservationRoundTrips(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in, b := drawReservation(t)
		data := require.Value(json.Marshal(in))(t)
		if !strings.HasPrefix(string(data), `{"kind":"reservation","version":1,"name":`) {
			t.Fatalf("kind and version don't come first: %s", data)
		}
		back := require.Value(model.DecodeInstance(data))(t)
		if diff := cmp.Diff(model.Instance(in), back); diff != "" {
			t.Fatalf("(-want,+got)\n%s", diff)
		}
		r := model.NewResult("x", 3)
		if rapid.Bool().Draw(t, "solved") {
			require.OK(t, r.SetSolution(in, b))
		} else if rapid.Bool().Draw(t, "infeasible") {
			r.Status, r.Details = model.StatusInfeasible, model.NewReservationDetails(rapid.SliceOfN(rapid.String(), 1, 3).Draw(t, "conflict"))
		}
		r.Kind, r.Instance = in.Kind(), in.Name
		resultRoundTrip(t, r)
	})
}

// nil lists are written as empty ones.
func TestReservationEmptyLists(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value any
		want  string
	}{
		{&model.Reservation{PEs: 1}, `{"kind":"reservation","version":1,"name":"","pes":1,"requests":[]}`},
		{&model.Bookings{}, `{"kind":"reservation","version":1,"bookings":[]}`},
		{&model.Bookings{Online: true, Bookings: []model.Booking{{ID: "a"}}}, `{"kind":"reservation","version":1,"online":true,"bookings":[{"id":"a","start_s":0,"pes":""}]}`},
	} {
		data, err := json.Marshal(c.value)
		if err != nil || string(data) != c.want {
			t.Errorf("%s, error %v, want %s", data, err, c.want)
		}
	}
}

func TestReservationObjective(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		goal          model.Goal
		starts        string // id and start of each booking
		value, second float64
		want          string // error
	}{
		"none":           {model.GoalAccepted, "", 0, 1, ""},
		"default goal":   {"", "a 10 b 5", 2, 1, ""},
		"late":           {model.GoalAccepted, "a 40 b 5", 2, 1.25, ""},
		"another order":  {model.GoalAccepted, "b 5 a 40", 2, 1.25, ""},
		"used":           {model.GoalPESeconds, "a 10 b 5 c 200", 33*60 + 64*0.25 + 100, (1. + 1 + 2) / 3, ""},
		"reserved":       {model.GoalReservedPESeconds, "a 10 b 5 c 200", 33*60 + 64*0.5 + 100, (1. + 1 + 2) / 3, ""},
		"used at cancel": {model.GoalPESeconds, "c 400", 100, 4, ""},
		"unused":         {model.GoalPESeconds, "a 40 c 400.5", 33 * 60, 1.5, ""},
		"withdrawn":      {model.GoalReservedPESeconds, "a 40 c 400.5", 33*60 + 100, 1.5, ""},
		"all":            {model.GoalAll, "a 10", 1, 1, ""},
		"at its cancel":  {model.GoalAccepted, "c 400", 1, 4, ""},
		"cancelled":      {model.GoalAccepted, "a 40 c 400.5", 2, 1.5, ""},
		"only cancelled": {model.GoalAccepted, "c 401", 1, 1, ""},
		"unknown":        {model.GoalAccepted, "a 10 x 5", 0, 0, `invalid bookings: bookings[1] is of "x", there is no such request`},
		"twice":          {model.GoalAccepted, "a 10 a 20", 0, 0, `invalid bookings: request "a" is booked twice`},
		"NaN":            {model.GoalAccepted, "a NaN", 0, 0, `invalid bookings: request "a" starts at NaN`},
		"infinite":       {model.GoalAccepted, "a -Inf", 0, 0, `invalid bookings: request "a" starts at -Inf`},
	} {
		t.Run(name, func(t *testing.T) {
			in := decodeInstance[*model.Reservation](t, threeRequests)
			in.Goal = c.goal
			b := &model.Bookings{}
			for words := strings.Fields(c.starts); len(words) > 0; words = words[2:] {
				x := model.Booking{ID: words[0]}
				require.OK(t, require.Err(fmt.Sscan(words[1], &x.StartS)))
				b.Bookings = append(b.Bookings, x)
			}
			o, err := in.Objective(b)
			if c.want != "" {
				if !errors.Is(err, model.ErrInvalid) || err.Error() != c.want {
					t.Errorf("error %v, want %s", err, c.want)
				}
				return
			}
			if diff := cmp.Diff(model.Objective{Value: c.value, Second: c.second, Sense: model.Maximise, SecondSense: model.Minimise, Others: []float64{100 * float64(len(b.Bookings)) / float64(len(in.Requests))}}, o); err != nil || diff != "" {
				t.Errorf("error %v (-want,+got)\n%s", err, diff)
			}
		})
	}
	in := decodeInstance[*model.Reservation](t, threeRequests)
	if _, err := in.Objective(&model.Bookings{Goal: model.GoalAccepted}); !errors.Is(err, model.ErrInvalid) || err.Error() != `invalid bookings: they are for the goal "accepted", the instance has "pe_seconds"` {
		t.Errorf("another goal: error %v", err)
	}
	require.Refused(t, "a schedule", require.Err(in.Objective(&model.Schedule{})), model.ErrInvalid, "")
	index, err := in.Index(&model.Bookings{Goal: model.GoalPESeconds, Bookings: []model.Booking{{ID: "c"}, {ID: "a"}}})
	if diff := cmp.Diff([]int{2, 0}, index); err != nil || diff != "" {
		t.Errorf("error %v (-want,+got)\n%s", err, diff)
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	in := decodeInstance[*model.Reservation](t, threeRequests)
	a, b, c := &in.Requests[0], &in.Requests[1], &in.Requests[2]
	for _, x := range []struct {
		what      string
		got, want any
	}{
		{"latest start", a.Latest(), 140.}, {"latest start at once", b.Latest(), 5.},
		{"runtime", a.Runtime(), 60.}, {"its own runtime", b.Runtime(), 0.25},
		{"runs", a.Runs(1e9), true}, {"runs from its cancellation", c.Runs(400), true}, {"is cancelled before", c.Runs(math.Nextafter(400, 500)), false},
		{"slowdown at once", a.Slowdown(10), 1.}, {"slowdown", a.Slowdown(40), 1.5}, {"slowdown by what is reserved", b.Slowdown(5.5), 2.},
		{"weight", in.Weight(0), 33 * 60.}, {"aim", in.EffectiveGoal(), model.GoalPESeconds}, {"aim by default", (&model.Reservation{}).EffectiveGoal(), model.GoalAccepted},
	} {
		require.Same(t, x.what, x.want, x.got)
	}
}

// The hash is of the content: not of the order of the keys, the white space or the way
// a number is written.
func TestReservationHash(t *testing.T) {
	t.Parallel()
	hash := func(text string) string {
		t.Helper()
		return require.Value(model.Hash(decodeInstance[*model.Reservation](t, text)))(t)
	}
	var any map[string]any
	require.OK(t, json.Unmarshal([]byte(threeRequests), &any))
	sorted, err := json.MarshalIndent(any, "", "  ") // keys in alphabetical order
	require.OK(t, err)
	want := hash(threeRequests)
	for name, text := range map[string]string{"keys": string(sorted), "number": strings.Replace(threeRequests, `"duration_s":60`, `"duration_s":6.0e1`, 1)} {
		if got := hash(text); text == threeRequests || got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for _, c := range [][2]string{{`"pes":33`, `"pes":32`}, {`,"cancel_s":400`, ``}, {`"pe_seconds"`, `"all"`}, {`"three"`, `"four"`}, {`,"runtime_s":100`, ``}} {
		if text := strings.Replace(threeRequests, c[0], c[1], 1); text == threeRequests || hash(text) == want {
			t.Errorf("%s in place of %s gives the same hash", c[1], c[0])
		}
	}
}

// The errors of a solution file, with their lines.
func TestBookingsBadInput(t *testing.T) {
	t.Parallel()
	const good = `{"kind":"reservation","version":1,"online":true,"bookings":[
{"id":"a","start_s":10,"pes":"0-31,40"},
{"id":"c","start_s":100,
 "pes":"7"}]}`
	require.OK(t, require.Err(model.DecodeSolution([]byte(good))))
	checkChanges(t, good, map[string]change{
		"range backwards": {`"7"`, `"7-6"`, `invalid JSON: line 4: "bookings[1].pes": invalid PE list: "7-6" is neither a PE number nor a range like 0-31`},
		"descending":      {`"0-31,40"`, `"40,0-31"`, `invalid JSON: line 2: "bookings[0].pes": invalid PE list: "0-31" comes after 40, list each PE once and in ascending order`},
		"a number":        {`"7"`, `7`, `invalid JSON: line 4: "bookings[1].pes" must be a string`},
		"a list":          {`"7"`, `["7"]`, `invalid JSON: line 4: "bookings[1].pes" must be a string`},
		"an object":       {`"7"`, `{}`, `invalid JSON: line 4: "bookings[1].pes" must be a string`},
		"null":            {`"7"`, `null`, `invalid JSON: line 4: "bookings[1].pes" is null, must be a value`},
		"missing":         {`,"pes":"0-31,40"`, ``, `invalid JSON: line 2: the key "bookings[0].pes" is missing`},
		"start":           {`"start_s":10,`, `"start_s":"x",`, `invalid JSON: line 2: bookings[0].start_s: a number is wanted, "x" is a string`},
		"online":          {`true`, `1`, `invalid JSON: line 1: online: true or false is wanted, 1 is a number`},
	}, decodes(model.DecodeSolution))
}
