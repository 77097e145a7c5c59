// SPDX-License-Identifier: MIT

package instances

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// smallLog has a job of each sort; its first usable one is submitted at 100.
const smallLog = `; MaxNodes: 4
; MaxProcs: 16
 1  90 -1  0  4 -1 -1 -1  -1 -1 1 1 1 1 1 -1 -1 -1
 2 100 -1 60  4 -1 -1 -1 120 -1 1 1 1 1 1 -1 -1 -1
 3 110 -1 50 -1 -1 -1  2  40 -1 1 1 1 1 1 -1 -1 -1
 4 130 -1 70 16 -1 -1 16  -1 -1 1 1 1 1 1 -1 -1 -1
 5 125 -1 80  1 -1 -1 -1  80 -1 1 1 1 1 1 -1 -1 -1
 6 140 -1 80 17 -1 -1 -1  80 -1 1 1 1 1 1 -1 -1 -1
 7 141 -1 80 -1 -1 -1 -1  80 -1 1 1 1 1 1 -1 -1 -1
 8  -1 -1 80  1 -1 -1 -1  80 -1 1 1 1 1 1 -1 -1 -1
 9 150 -1 -1  1 -1 -1 -1  80 -1 1 1 1 1 1 -1 -1 -1
-1 161 -1 30  8 -1 -1 -1   0 -1 1 1 1 1 1 -1 -1 -1
`

// leftOut counts the jobs that an account says were left out.
func leftOut(a *model.Account) (n float64) {
	for _, x := range a.LeftOut {
		n += x.Count
	}
	return n
}

func readLog(t *testing.T, text string) *swf.Log {
	t.Helper()
	return require.Value(swf.ReadAll(strings.NewReader(text)))(t)
}

func TestReservationFromSWF(t *testing.T) {
	// request has the shortest window there is.
	request := func(id string, arrival, duration float64, pes int) model.Request {
		return model.Request{ID: id, ArrivalS: arrival, ReadyS: arrival, DurationS: duration, DeadlineS: arrival + duration, PEs: pes}
	}
	cut := func(r model.Request, runtime float64) model.Request { r.RuntimeS = &runtime; return r }
	const one = "1 job without a runtime (1)"
	const all = "log: Standard Workload Format, taken: 5 jobs, 16 processors|left out: 2 jobs without a runtime (1, 9); 1 job larger than the machine (6); " +
		"1 job without processors (7); 1 job without a submit time (8)"
	const unsorted = "|note: 1 job submitted before an earlier one of the log, put in order"
	five := []model.Request{request("2", 0, 60, 4), request("3", 10, 50, 2), request("5", 25, 80, 1), request("4", 30, 70, 16), request("record-10", 61, 30, 8)}
	for name, c := range map[string]struct {
		options swfOptions
		pes     int
		want    []model.Request
		lines   string
	}{
		"all": {swfOptions{}, 16, five, all + unsorted},
		"the first two": {swfOptions{SWFJobs: SWFJobs{First: 2}}, 16, five[:2],
			"log: Standard Workload Format, taken: 2 jobs, 16 processors|left out: " + one + "; 7 jobs after those asked for"},
		"the next one, which begins anew": {swfOptions{SWFJobs: SWFJobs{Skip: 2, First: 1}}, 16, []model.Request{request("4", 0, 70, 16)},
			"log: Standard Workload Format, taken: 1 job, 16 processors|left out: " + one + "; 2 jobs before those asked for; 6 jobs after those asked for"},
		"a larger machine": {swfOptions{SWFJobs: SWFJobs{Skip: 4, First: 1}, PEs: 20}, 20, []model.Request{request("6", 0, 80, 17)},
			"log: Standard Workload Format, taken: 1 job, 20 processors|left out: " + one + "; 4 jobs before those asked for; 4 jobs after those asked for"},
		"a smaller machine": {swfOptions{PEs: 2}, 2, []model.Request{request("3", 0, 50, 2), request("5", 15, 80, 1)},
			"log: Standard Workload Format, taken: 2 jobs, 2 processors|left out: 2 jobs without a runtime (1, 9); 4 jobs larger than the machine (2, 4, 6, ...); " +
				"1 job without processors (7); 1 job without a submit time (8)"},
		"twice the arrivals": {swfOptions{SWFJobs: SWFJobs{First: 3}, ArrivalFactor: 2}, 16, []model.Request{request("2", 0, 60, 4), request("3", 5, 50, 2), request("4", 15, 70, 16)},
			"log: Standard Workload Format, taken: 3 jobs, 16 processors|left out: " + one + "; 6 jobs after those asked for|" +
				"assumed: chosen: the times of arrival are divided by 2"},
		"windows": {swfOptions{SWFJobs: SWFJobs{First: 1, Seed: 3}, ARTime: 1e-9, Deadline: 1e-9}, 16, []model.Request{request("2", 0, 60, 4)},
			"log: Standard Workload Format, taken: 1 job, 16 processors|left out: " + one + "; 8 jobs after those asked for|" +
				"assumed: drawn with seed 3: lead times, from 0 to 1e-09 durations (artime); drawn with seed 3: windows, with a slack from 0 to 1e-09 durations (deadline)"},
		"estimates": {swfOptions{SWFJobs: SWFJobs{Estimate: true}}, 16,
			[]model.Request{cut(request("2", 0, 120, 4), 60), request("3", 10, 40, 2), request("5", 25, 80, 1), request("4", 30, 70, 16), request("record-10", 61, 30, 8)},
			all + "|assumed: 1 job cut at the estimate; 2 jobs without an estimate, which is their runtime" + unsorted},
	} {
		t.Run(name, func(t *testing.T) {
			in := require.Value(reservationFromSWF("n", readLog(t, smallLog), c.options))(t)
			a := in.Account
			require.Same(t, "account", strings.Split(c.lines, "|"), a.Lines())
			in.Account = nil
			require.Same(t, "result", &model.Reservation{Name: "n", PEs: c.pes, Requests: c.want}, in)
			if n := float64(len(in.Requests)) + leftOut(a); n != 10 {
				t.Errorf("%v of 10 jobs are accounted for", n)
			}
		})
	}
}

func TestReservationFromSWFErrors(t *testing.T) {
	job := func(number, submit, runtime string) string {
		return strings.Join([]string{number, submit, "0", runtime, "1 -1 -1 -1 -1 -1 1 1 1 1 1 -1 -1 -1\n"}, " ")
	}
	for name, c := range map[string]struct {
		text    string
		options swfOptions
		want    string
	}{
		"no size":           {job("1", "0", "9"), swfOptions{}, "invalid: the log's header tells no usable number of processors (MaxProcs, MaxNodes); give the machine's size by gapwise convert --pes N"},
		"a size in words":   {"; MaxProcs: many\n" + job("1", "0", "9"), swfOptions{}, `invalid SWF: the header's MaxProcs is "many", must be a whole number; give the machine's size by gapwise convert --pes N`},
		"a huge size":       {"; MaxProcs: 9999999999\n" + job("1", "0", "9"), swfOptions{}, "invalid: the log's header tells no usable"},
		"PEs":               {smallLog, swfOptions{PEs: -1}, "invalid: pes is -1, must be at least 1, or 0 for the log's"},
		"first":             {smallLog, swfOptions{SWFJobs: SWFJobs{First: 6}}, "invalid: the log has 5 usable jobs, 6 after the first 0 are asked for"},
		"skip":              {smallLog, swfOptions{SWFJobs: SWFJobs{First: 1, Skip: 5}}, "invalid: the log has 5 usable jobs, 1 after the first 5 are asked for"},
		"skip all":          {smallLog, swfOptions{SWFJobs: SWFJobs{Skip: 5}}, "invalid: the log has no usable job of 10, left out: 2 jobs without a runtime (1, 9); 1 job larger"},
		"negative":          {smallLog, swfOptions{SWFJobs: SWFJobs{Skip: -1}}, "invalid: 0 jobs after -1 are asked for, both must be at least 0"},
		"arrival factor":    {smallLog, swfOptions{ArrivalFactor: math.NaN()}, "invalid: the arrival factor is NaN, must be from 0.001 to 1000"},
		"artime factor":     {smallLog, swfOptions{ARTime: -1}, "invalid: the artime factor is -1"},
		"cancelled":         {smallLog, swfOptions{SWFJobs: SWFJobs{Cancelled: 1.5}}, "invalid: the share of cancelled requests is 1.5, must be from 0 to 1"},
		"NaN cancelled":     {smallLog, swfOptions{SWFJobs: SWFJobs{Cancelled: math.NaN()}}, "invalid: the share of cancelled requests is NaN"},
		"a number twice":    {job("1", "0", "9") + job("1", "1", "9"), swfOptions{PEs: 1}, `line 2: invalid reservation instance: requests[1]: id "1": the id is taken by requests[0] already`},
		"too long a time":   {job("1", "0", "9") + job("2", "9000000000000000000", "9"), swfOptions{PEs: 1}, "invalid SWF: line 2: job 2: submit time 9e+18, runtime 9 or estimate -1 is longer than 1000000000000 s"},
		"too long a job":    {job("1", "0", "9000000000000000000"), swfOptions{PEs: 1}, "invalid SWF: line 1: job 1: submit time 0, runtime 9e+18 or estimate -1 is longer"},
		"nothing in it":     {"", swfOptions{PEs: 1}, "invalid: the log has no usable job of 0"},
		"all factors' most": {smallLog, swfOptions{PEs: 1 << 30, ARTime: 1001}, "invalid: the artime factor is 1001, must be from 0 to 1000"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := reservationFromSWF("n", readLog(t, c.text), c.options)
			if err == nil {
				t.Fatal("it is accepted")
			}
			wantError(t, err, c.want)
		})
	}
}

// For any log and options the instance is valid, all jobs are accounted for, and the factors and the estimates change
// nothing but their own values.
func TestReservationFromSWFProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := &swf.Log{}
		for k := range rapid.IntRange(1, 60).Draw(t, "jobs") {
			time := rapid.Map(rapid.IntRange(-1, 5000), func(n int) float64 { return float64(n) })
			log.Jobs = append(log.Jobs, swf.Job{Number: int64(k), Submit: time.Draw(t, "submit"), Runtime: time.Draw(t, "runtime"),
				Procs: rapid.Int64Range(-1, 10).Draw(t, "procs"), RequestedProcs: rapid.Int64Range(-1, 10).Draw(t, "requested"),
				RequestedTime: time.Draw(t, "estimate")})
		}
		factor := rapid.Float64Range(0, 5)
		o := swfOptions{PEs: 8, ARTime: factor.Draw(t, "artime"), Deadline: factor.Draw(t, "deadline"), ArrivalFactor: 0.1 + factor.Draw(t, "arrival"),
			SWFJobs: SWFJobs{Estimate: rapid.Bool().Draw(t, "estimates"), Cancelled: rapid.Float64Range(0, 1).Draw(t, "cancelled"), Seed: rapid.Uint64().Draw(t, "seed")}}
		usable := slices.ContainsFunc(log.Jobs, func(j swf.Job) bool { return j.Submit >= 0 && j.Size() >= 1 && j.Size() <= 8 && j.Runtime >= 1 })
		in, err := reservationFromSWF("n", log, o)
		if !usable && errors.Is(err, model.ErrInvalid) {
			return
		}
		if err != nil || !usable {
			t.Fatalf("a usable job: %v; error %v", usable, err)
		}
		if float64(len(in.Requests))+leftOut(in.Account) != float64(len(log.Jobs)) || in.Requests[0].ArrivalS != 0 {
			t.Fatalf("%v; the first arrival is at %v", in.Account.Lines(), in.Requests[0].ArrivalS)
		}
		plain := require.Value(reservationFromSWF("n", log, swfOptions{PEs: 8}))(t)
		for k, r := range in.Requests {
			p, j := plain.Requests[k], log.Jobs[mustInt(t, r.ID)]
			if r.ID != p.ID || r.PEs != p.PEs || r.ArrivalS != math.Floor(p.ArrivalS/o.ArrivalFactor) {
				t.Fatalf("%+v, without options %+v", r, p)
			}
			for _, x := range []float64{r.ReadyS, r.DurationS, r.DeadlineS, r.Runtime()} {
				if x != math.Floor(x) {
					t.Fatalf("%+v: a time isn't whole", r)
				}
			}
			if !o.Estimate && r.DurationS != p.DurationS || r.Runtime() != min(j.Runtime, r.DurationS) {
				t.Fatalf("%+v of %+v", r, j)
			}
			if r.CancelS != nil && (*r.CancelS < r.ArrivalS || *r.CancelS > r.Latest() || *r.CancelS != math.Floor(*r.CancelS)) {
				t.Fatalf("%+v is cancelled at %v", r, *r.CancelS)
			}
		}
	})
}

func mustInt(t *rapid.T, s string) int {
	return require.Value(strconv.Atoi(s))(t)
}

// The three logs, whole.
func TestReservationFromArchive(t *testing.T) {
	for name, c := range map[string]struct {
		pes    int
		load   float64
		report string
	}{
		"KTH-SP2-1996-2.1-cln":   {100, 0.701, "28,467 jobs|8 jobs without a runtime|1 job without processors"},
		"NASA-iPSC-1993-3.1-cln": {128, 0.466, "18,066 jobs|173 jobs without a runtime"},
		"LANL-CM5-1994-4.1-cln":  {1024, 0.744, "122,055 jobs|3 jobs without processors|2 jobs without a runtime"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GAPWISE_DATA", filepath.Dir(filepath.Dir(require.Data(t, "swf", name+".swf.gz"))))
			log := require.Value(LoadLog(name, LogOptions{}))(t)
			in := require.Value(reservationFromSWF(name, log,
				swfOptions{SWFJobs: SWFJobs{Estimate: true, Cancelled: 0.1, Seed: 1}, ARTime: 3, Deadline: 3}))(t)
			lines := strings.Join(in.Account.Lines(), "|")
			for part := range strings.SplitSeq(c.report, "|") {
				if !strings.Contains(lines, part) || in.PEs != c.pes {
					t.Errorf("%s on %d PEs, want %s", lines, in.PEs, part)
				}
			}
			cancelled := 0
			for _, r := range in.Requests {
				if r.CancelS != nil {
					cancelled++
				}
			}
			if share := float64(cancelled) / float64(len(in.Requests)); math.Abs(share-0.1) > 0.015 {
				t.Errorf("a share of %v is cancelled, want 0.1", share)
			}
			if in, err := reservationFromSWF(name, log, swfOptions{}); err != nil || math.Abs(load(in)-c.load) > 0.001 {
				t.Errorf("load %v, want %v; %v", load(in), c.load, err)
			}
		})
	}
}

func TestLoadLog(t *testing.T) {
	t.Setenv("GAPWISE_DATA", "")
	path := write(t, "a.swf", smallLog)
	log, err := LoadLog(path, LogOptions{})
	if err != nil || len(log.Jobs) != 10 {
		t.Fatal(log, err)
	}
	if zipped, err := LoadLog(write(t, "a.gz", zipped(t, smallLog)), LogOptions{}); err != nil || !slices.Equal(zipped.Jobs, log.Jobs) {
		t.Error(zipped, err)
	}
	path = write(t, "b.swf", "; x\n1 2\n")
	_, err = LoadLog(path, LogOptions{})
	wantError(t, err, path+": invalid SWF: line 2: it has 2 of the 18 fields")
	_, err = LoadLog(filepath.Dir(path), LogOptions{})
	wantError(t, err, "invalid: "+filepath.Dir(path)+" is a folder")
	_, err = LoadLog("none.swf", LogOptions{})
	wantError(t, err, "invalid input: can't read none.swf: no such file or directory here, nor in GAPWISE_DATA/swf (set GAPWISE_DATA to the folder of data sets); give its path, or put it there")
}
