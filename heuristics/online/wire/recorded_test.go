// SPDX-License-Identifier: MIT

package wire

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// recorded is a line to a scheduler that knows its answers by heart.
type recorded struct {
	t        *testing.T
	requests []json.RawMessage
	answers  []json.RawMessage // may be one less: the scheduler died
	at       int
	loose    bool // other requests do
}

func (r *recorded) ask(_ context.Context, request []byte, _ time.Duration) ([]byte, error) {
	if r.at == len(r.requests) {
		r.t.Errorf("request %d isn't in the recording: %s", r.at+1, request)
		return nil, errOver
	}
	if !r.loose && !sameJSON(r.t, request, r.requests[r.at]) {
		r.t.Errorf("request %d: %s\nwant %s", r.at+1, request, r.requests[r.at])
	}
	if r.at++; r.at > len(r.answers) {
		return nil, errOver
	}
	return r.answers[r.at-1], nil
}

func (*recorded) close(context.Context) (how, said string) { return "", "" }

// sameJSON reports whether two texts have the same values.
func sameJSON(t *testing.T, a, b []byte) bool {
	var x, y any
	if err := errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)); err != nil {
		t.Error(err)
	}
	return reflect.DeepEqual(x, y)
}

// replay returns the solver of a recording.
func replay(t *testing.T, file string) (*solver, *recorded) {
	f := require.Value(os.Open(file))(t)
	defer f.Close()
	z := require.Value(gzip.NewReader(f))(t)
	r := &recorded{t: t}
	for lines := json.NewDecoder(z); ; {
		var x struct {
			Direction string          `json:"direction"`
			Message   json.RawMessage `json:"message"`
		}
		if err := lines.Decode(&x); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if x.Direction == "request" {
			r.requests = append(r.requests, x.Message)
		} else {
			r.answers = append(r.answers, x.Message)
		}
	}
	return &solver{name: "batsim:recorded", silent: strings.Contains(file, "Notopo"), open: func(context.Context, model.Settings, time.Duration) (line, error) { return r, nil }}, r
}

func instance(t *testing.T, file string) *model.Batch {
	data := require.Value(os.ReadFile(file))(t)
	in := require.Value(model.DecodeInstance(data))(t)
	return in.(*model.Batch)
}

// Our side of 172 sessions with schedulers of pybatsim 3.2 sends exactly the recorded requests
// and comes to the recorded schedules, which the judge accepts.
func TestRecorded(t *testing.T) {
	t.Parallel()
	folder := require.Data(t, "batsim")
	files, err := filepath.Glob(filepath.Join(folder, "transcripts", "*.jsonl.gz"))
	if err != nil || len(files) != 172 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl.gz")
		of, _, _ := strings.Cut(name, ".")
		if testing.Short() && of == "kth-500" && !strings.HasSuffix(name, "fillerSched") {
			continue
		}
		in := instance(t, filepath.Join(folder, "instances", of+".json"))
		s, line := replay(t, file)
		r, err := s.Solve(t.Context(), in, model.Settings{})
		if err != nil || r.Status != model.StatusFeasible || r.Reason != "" || line.at != len(line.requests) {
			t.Fatalf("%s: %v, %v, %d of %d requests", name, r.Reason, err, line.at, len(line.requests))
		}
		require.Feasible(verify.Verify(t.Context(), in, r.Solution, verify.Options{}))(t, name)
		data := require.Value(os.ReadFile(filepath.Join(folder, "schedules", name+".json")))(t)
		want := require.Value(model.DecodeSolution(data))(t)
		got, places := runs(r.Solution), runs(want)
		if !reflect.DeepEqual(got, places) {
			t.Errorf("%s: %v, want %v", name, got, places)
		}
	}
}

// runs returns where each job runs, times to the microsecond.
func runs(s model.Solution) map[string]string {
	all := map[string]string{}
	for _, r := range s.(*model.Execution).Runs {
		x := r.Segments[0]
		all[r.ID] = fmt.Sprint(len(r.Segments), math.Round(x.StartS*1e6), math.Round(x.EndS*1e6), x.Place.Processors)
	}
	return all
}

// Sessions that break the protocol end in one line, and keep what ran until then.
func TestRecordedBad(t *testing.T) {
	t.Parallel()
	folder := require.Data(t, "batsim")
	expected := require.Value(os.ReadFile(filepath.Join(folder, "bad", "expected.txt")))(t)
	for _, text := range strings.Split(strings.TrimSpace(string(expected)), "\n") {
		name, why, _ := strings.Cut(text, ": ")
		of, _, _ := strings.Cut(name, ".")
		file := filepath.Join(folder, "instances", of+".json")
		if of == "zero" {
			file = filepath.Join(folder, "bad", "zero.json")
		}
		in := instance(t, file)
		s, line := replay(t, filepath.Join(folder, "bad", name+".jsonl.gz"))
		line.loose = of == "zero" // we shift the time, so that no scheduler dies of submissions at 0
		r, err := s.Solve(t.Context(), in, model.Settings{})
		if err != nil || r.Status != model.StatusUnknown || line.at != len(line.requests) || strings.Contains(r.Reason, "\n") {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
		want := "request 2 (now 1 s: JOB_SUBMITTED of w0!1 and 2 more): it has ended without an answer"
		if _, needs, ok := strings.Cut(why, "needs "); ok { // job w0!6 needs 16 resources, got [2, 3]
			count, got, _ := strings.Cut(needs, " resources, got ")
			want = fmt.Sprintf("it has %s processes, on %d processors", count, len(strings.FieldsFunc(got, func(r rune) bool { return strings.ContainsRune("[], ", r) })))
		}
		if !strings.HasPrefix(r.Reason, fmt.Sprintf("request %d (", len(line.requests))) || !strings.HasSuffix(r.Reason, want) {
			t.Errorf("%s: %s, want %s", name, r.Reason, want)
		}
	}
}
