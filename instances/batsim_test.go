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
	in, err := Load(write(t, "two.json", goodBatsim))
	account := model.AccountOf(in)
	model.SetAccount(in, nil)
	want := &model.Batch{Name: "two", Processors: 4, Tiers: 1, KillAtEstimate: true, Jobs: []model.BatchJob{
		{ID: "7", SubmitS: 1.5, RuntimeS: 50, EstimateS: 100, Processes: 3}, {ID: "late", SubmitS: 10, RuntimeS: 20.25, Processes: 4}}}
	if diff := cmp.Diff(want, in); err != nil || diff != "" {
		t.Error(err, diff)
	}
	require.Same(t, "account", []string{"two.json: Batsim workload, taken: 2 jobs, 4 processors",
		"assumed: 1 job without a walltime, of which schedulers know the runtime", "not modelled: keys of unknown meaning: jobs.user"}, account.Lines())
	in, err = Load(write(t, "fine.json", strings.NewReplacer("1.5", "1.50000001", `"id":"late",`, `"id":"late","walltime":30,`).Replace(goodBatsim)))
	require.OK(t, err)
	require.Same(t, "account", "note: 1 time rounded to microseconds", model.AccountOf(in).Lines()[2])
}

// Batsim 5 has other names of types. Runtimes are those of delays and of sequences of them; what else a workload says is
// told, or its jobs are left out and counted.
func TestBatsim5(t *testing.T) {
	const text = `{"nb_res":4,"jobs":[{"id":"a","subtime":0,"res":2,"profile":"d"},{"id":"b","subtime":0,"res":2,"walltime":70,"profile":"s","dependencies":["a"]},
{"id":"c","subtime":1,"res":2,"profile":"n","extra_data":"{}","dependencies":[ ]},{"id":"d","subtime":2,"res":5,"profile":"d"},{"id":"e","subtime":3,"res":1,"profile":"p"},
{"id":"f","subtime":4,"res":1,"profile":"m"}],"profiles":{"d":{"type":"DelayProfile","delay":10,"walltime":15,"np":3},"e":{"type":"delay","delay":2.5},
"s":{"type":"SequentialCompositionProfile","repeat":3,"seq":["w0!d","e"]},"n":{"type":"composed","nb":2,"seq":["s"]},"p":{"type":"ParallelTaskProfile","cpu":[1]},
"m":{"type":"SequentialProfile","seq":["d","p"]}}}`
	in := require.Value(Load(write(t, "five.json", text)))(t)
	require.Same(t, "account", []string{"five.json: Batsim workload, taken: 3 jobs, 4 processors",
		"left out: 1 job larger than the machine (d); 2 jobs with a profile of the type \"ParallelTaskProfile\": only a platform tells its runtime (e, f)",
		"assumed: 1 job without a walltime, of which schedulers know the runtime", "not modelled: 1 job with dependencies (b); 1 job with extra_data for their scheduler (c); keys of unknown meaning: profiles.*.np"}, model.AccountOf(in).Lines())
	want := []model.BatchJob{{ID: "a", RuntimeS: 10, EstimateS: 15, Processes: 2}, {ID: "b", RuntimeS: 37.5, EstimateS: 70, Processes: 2},
		{ID: "c", SubmitS: 1, RuntimeS: 75, Processes: 2}}
	require.Same(t, "jobs", want, in.(*model.Batch).Jobs)
	for name, c := range map[string]struct{ old, new, want string }{
		"a part of itself": {`"seq":["w0!d","e"]`, `"seq":["n"]`, `profile "s" is a part of itself`},
		"repeat":           {`"repeat":3`, `"repeat":0`, `profile "s": seq is empty, or repeat isn't at least 1`},
		"no part":          {`"seq":["s"]`, `"seq":["x"]`, `jobs[2]: id "c": there is no profile "x"`},
		"nothing left":     {`DelayProfile","delay":10,"walltime":15`, `ParallelTaskProfile"`, `no job is left: 6 jobs with a profile of the type "ParallelTaskProfile"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(write(t, "x.json", strings.Replace(text, c.old, c.new, 1)))
			require.Refused(t, "the workload", err, model.ErrInvalid, c.want)
		})
	}
	file := require.Value(Open(write(t, "five.json", text)))(t)
	_, err := file.Instance(Options{Jobs: SWFJobs{RefuseLarge: true}})
	require.Refused(t, "a job larger than the machine", err, model.ErrInvalid, `id "d": processes is 5, there are 4 processors`)
}

// The workloads of the data set are its instances, with the jobs' places as their ids.
func TestBatsimWorkloads(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(require.Data(t, "batsim"), "workloads", "*.json"))
	if err != nil || len(files) != 26 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		got := require.Value(Load(file))(t)
		want := require.Value(Load(filepath.Join(filepath.Dir(filepath.Dir(file)), "instances",
			filepath.Base(file))))(t)
		for k := range want.(*model.Batch).Jobs {
			want.(*model.Batch).Jobs[k].ID = strconv.Itoa(k + 1)
		}
		model.SetAccount(got, nil)
		require.Same(t, file, want, got)
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
		"id twice":        {`"late"`, `"7"`, `id "7": the id is taken`},
		"negative":        {`"subtime":1.5`, `"subtime":-1`, `id "7": submit_s is -1`},
		"no runtime":      {`"delay":50`, `"delay":0`, `id "7": runtime_s is 0`},
		"no number":       {`"walltime":100`, `"walltime":"long"`, "line 3: "},
		"NaN":             {`"walltime":100`, `"walltime":NaN`, "invalid"},
		"a brace after":   {`"cpu":1e9,"com":0}}}`, `"cpu":1e9,"com":0}}} }`, "invalid"},
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
	require.Refused(t, "two", require.Err(loadOn(write(t, "two.json", goodBatsim), "uniform,machines=3")),
		model.ErrInvalid, "leave the platform out")
}

func FuzzReadBatsim(f *testing.F) {
	f.Add([]byte(goodBatsim))
	f.Add([]byte(`{"jobs":[],"profiles":{},"nb_res":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		in, err := readBatsim(fileOf(string(text)), false)
		switch {
		case err == nil:
			view.OfBatch(in)
		case !errors.Is(err, model.ErrInvalid) || strings.Contains(err.Error(), "\n"):
			t.Errorf("error %v", err)
		}
	})
}
