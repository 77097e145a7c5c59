// SPDX-License-Identifier: MIT

package instances

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// goodBatsim has the variety of Batsim's files: numbers and texts as ids, other keys, jobs in any order.
const goodBatsim = `{"description":"two","nb_res": 4, "jobs": [
{"id":"late","subtime":10,"res":4,"profile":"p","user":"x"},
{"id":7,"subtime":1.5,"walltime":100,"res":3,"profile":2}],
"profiles": {"p":{"type":"delay","delay":20.25}, "2":{"type":"delay","delay":50,"ret":0}, "q":{"type":"parallel_homogeneous","cpu":1e9,"com":0}}}`

func TestReadBatsim(t *testing.T) {
	in, assumed, err := LoadAssuming(write(t, "two.json", goodBatsim), "", true)
	want := &model.Batch{Name: "two", Processors: 4, Tiers: 1, KillAtEstimate: true, Jobs: []model.BatchJob{
		{ID: "7", SubmitS: 1.5, RuntimeS: 50, EstimateS: 100, Processes: 3}, {ID: "late", SubmitS: 10, RuntimeS: 20.25, Processes: 4}}}
	if diff := cmp.Diff(want, in); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if assumed != "assumed, not told by the file: schedulers know the runtimes of 1 of 2 jobs, which have no walltime" {
		t.Error(assumed)
	}
	_, assumed, err = LoadAssuming(write(t, "fine.json", strings.NewReplacer("1.5", "1.50000001", `"id":"late",`, `"id":"late","walltime":30,`).Replace(goodBatsim)), "", true)
	if err != nil || assumed != "1 times were rounded to microseconds" {
		t.Error(assumed, err)
	}
}

// The workloads of the data set are its instances, with the jobs' places as their ids.
func TestBatsimWorkloads(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(require.Data(t, "batsim"), "workloads", "*.json"))
	if err != nil || len(files) != 26 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		got, err := Load(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Load(filepath.Join(filepath.Dir(filepath.Dir(file)), "instances", filepath.Base(file)))
		if err != nil {
			t.Fatal(err)
		}
		for k := range want.(*model.Batch).Jobs {
			want.(*model.Batch).Jobs[k].ID = strconv.Itoa(k + 1)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}

func TestBatsimErrors(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"no nb_res":       {`"nb_res"`, `"res"`, "nb_res, the number of processors, is missing"},
		"no processors":   {`"nb_res": 4`, `"nb_res": 0`, "processors is 0"},
		"half a res":      {`"res":3`, `"res":2.5`, "line 3: "},
		"no id":           {`"id":7`, `"id":""`, "jobs[1]: id is missing"},
		"no subtime":      {`"subtime":1.5,`, ``, `jobs[1]: id "7": subtime, res or profile is missing`},
		"no profile":      {`"profile":2`, `"profile":3`, `jobs[1]: id "7": there is no profile "3"`},
		"no delay":        {`"delay":50,`, ``, `profile "2": delay is missing`},
		"another type":    {`"profile":2`, `"profile":"q"`, `the profile "q" is of the type "parallel_homogeneous"; only delay tells a runtime`},
		"too wide":        {`"res":3`, `"res":5`, `id "7": processes is 5, there are 4 processors`},
		"id twice":        {`"late"`, `"7"`, `id "7": the id is taken`},
		"negative":        {`"subtime":1.5`, `"subtime":-1`, `id "7": submit_s is -1`},
		"no runtime":      {`"delay":50`, `"delay":0`, `id "7": runtime_s is 0`},
		"no number":       {`"walltime":100`, `"walltime":"long"`, "line 3: "},
		"NaN":             {`"walltime":100`, `"walltime":NaN`, "invalid"},
		"something after": {`"cpu":1e9,"com":0}}}`, `"cpu":1e9,"com":0}}} {}`, "invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(goodBatsim, c.old, c.new, 1)
			if text == goodBatsim {
				t.Fatal("nothing replaced")
			}
			_, err := Load(write(t, "x.json", text))
			wantError(t, err, "")
			if err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	if _, err := LoadOn(write(t, "two.json", goodBatsim), "uniform,machines=3"); !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), "leave the platform out") {
		t.Error(err)
	}
}

func FuzzReadBatsim(f *testing.F) {
	f.Add([]byte(goodBatsim))
	f.Add([]byte(`{"jobs":[],"profiles":{},"nb_res":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		in, _, err := readBatsim("x", text)
		switch {
		case err == nil:
			view.OfBatch(in)
		case !errors.Is(err, model.ErrInvalid) || strings.Contains(err.Error(), "\n"):
			t.Errorf("error %v", err)
		}
	})
}
