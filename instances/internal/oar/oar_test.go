// SPDX-License-Identifier: MIT

package oar_test

import (
	"encoding/csv"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/instances/internal/jobs"
	"github.com/gapwise/gapwise/instances/internal/oar"
	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func sample(t require.T, path ...string) string {
	return require.Data(t, append([]string{"found", "0.10.0", "batch-systems", "oar"}, path...)...)
}

// read reads a file with its neighbours.
func read(t require.T, file string) *oar.Records {
	beside := func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(filepath.Dir(file), name)) }
	return require.Value(oar.Read(require.Value(os.ReadFile(file))(t), beside))(t)
}

// rows returns the jobs of a log as job, submission, start, end, processors, limit, user and queue.
func rows(log *swf.Log) (all []string) {
	var begin float64
	fmt.Sscan(log.Header[1].Value, &begin)
	for k, j := range log.Jobs {
		start := begin + j.Submit + j.Wait
		all = append(all, fmt.Sprintf("%s %.0f %.0f %.0f %d %.0f %s %s", log.Names.Jobs[k], begin+j.Submit, start, start+j.Runtime, j.Procs, j.RequestedTime,
			log.Names.Users[j.User], log.Names.Queues[j.Queue]))
	}
	return all
}

// The jobs of real records in three formats are those that their independent reader counts, field by field.
func TestReal(t *testing.T) {
	log := require.Value(read(t, sample(t, "finished", "oarstat-f-J.json")).Log(&jobs.Options{}, model.NewAccount("full", "")))(t)
	require.Says(t, "the machine", log.Assumed, "8 CPUs, the most")
	table := csv.NewReader(strings.NewReader(string(require.Value(os.ReadFile(sample(t, "finished", "right-jobs.tsv")))(t))))
	table.Comma = '\t'
	var want []string
	for _, row := range require.Value(table.ReadAll())(t)[1:] {
		want = append(want, strings.Join(row[:8], " "))
	}
	for name, c := range map[string]struct {
		file []string
		says string
	}{
		"full":   {[]string{"finished", "oarstat-f-J.json"}, "3 jobs that never started (8, 29, 32)|5 jobs of the type besteffort|2 jobs that are moldable|1 job of advance reservations|1 job submitted again"},
		"gantt":  {[]string{"finished", "oarstat-g-J.json"}, "oarstat -g tells no dependencies|5 jobs of the type besteffort"},
		"tables": {[]string{"tables", "jobs.csv"}, "3 jobs that never started (8, 29, 32)|5 jobs of the type besteffort|2 jobs that are moldable|1 job of advance reservations|1 job submitted again"},
	} {
		t.Run(name, func(t *testing.T) {
			a := model.NewAccount(name, "")
			log := require.Value(read(t, sample(t, c.file...)).Log(&jobs.Options{}, a))(t)
			require.Same(t, "jobs", want, rows(log))
			require.Same(t, "processors", "8", log.Header[0].Value)
			require.Says(t, "the account", strings.Join(a.Lines(), "\n"), strings.Split(c.says, "|")...)
			require.Same(t, "keys of unknown meaning", false, strings.Contains(strings.Join(a.Lines(), "\n"), "unknown meaning"))
		})
	}
	nodes := require.Value(oar.ReadNodes(require.Value(os.ReadFile(sample(t, "tables", "resources.csv")))(t)))(t)
	require.Same(t, "nodes", 2, len(nodes))
	require.Same(t, "cores of the first", int64(4), nodes[0].CPUs)
}

// A real queue is what runs and then what waits, by the Karma; OAR's plans stand in the account.
func TestRealQueue(t *testing.T) {
	for name, c := range map[string]struct{ want, says string }{
		"oarstat-f-J.json": {"75:577 76:7177 79:163 81:223 78:720 80:1200 84:3600 77:600 82:900 83:1800",
			"1 job of advance reservations, waiting for their time (85)|1 job on hold (86)|now is 2026-11-28 11:41:48|78 in 638 s, 80 in 1419 s, 84 in 2680 s, 77 in 7238 s, 82 in 224 s, 83 in 284 s|1 job that are moldable|1 job of the type besteffort"},
		"oarstat-J.json": {"75:577 76:7177 79:163 81:223 78:720 80:1200 84:3600 77:600 82:900 83:1800", "oarstat -J tells no planned starts"},
		"gantt.json":     {"75:591 76:7191 79:177 81:237 77:600 78:720 80:1200 82:900 84:3600 85:300", "oarstat -g tells no dependencies|77 in 7252 s"},
	} {
		t.Run(name, func(t *testing.T) {
			a := model.NewAccount(name, "")
			log := require.Value(read(t, sample(t, "queue", name)).Log(&jobs.Options{Pending: true}, a))(t)
			var got []string
			for k, j := range log.Jobs {
				got = append(got, fmt.Sprintf("%s:%.0f", log.Names.Jobs[k], j.RequestedTime))
			}
			require.Same(t, "queue", c.want, strings.Join(got, " "))
			require.Says(t, "the account", strings.Join(a.Lines(), "\n"), strings.Split(c.says, "|")...)
		})
	}
}

// object is oarstat's object of jobs, each written as its id and what isn't as usual. A job ran from 101 to 105 on two
// cores of a host for at most 60 s.
func object(all ...string) string {
	var parts []string
	for _, one := range all {
		id, changes, _ := strings.Cut(one, " ")
		keys := map[string]string{"Job_Id": id, "owner": `"ann"`, "queue": `"default"`, "name": "null", "state": `"Terminated"`, "submissionTime": "100", "startTime": "101",
			"stopTime": "105", "walltime": "60", "assigned_resources": "[1,2]", "assigned_network_address": `["n1"]`, "reservation": `"None"`, "message": "null", "exit_code": "0",
			"wanted_resources": `"-l \"{type = 'default'}/resource_id=2\" "`, "properties": `"(desktop_computing = 'NO') AND drain='NO'"`}
		for _, change := range strings.Split(changes, ";") {
			if key, value, ok := strings.Cut(change, "="); ok {
				keys[key] = value
			}
		}
		var fields []string
		for key, value := range keys {
			fields = append(fields, fmt.Sprintf("%q:%s", key, value))
		}
		parts = append(parts, fmt.Sprintf("%q:{%s}", id, strings.Join(fields, ",")))
	}
	return "{" + strings.Join(parts, ",\n") + "}"
}

// Each trap of OAR's records is read right, or told.
func TestTraps(t *testing.T) {
	const never = `state="Error";startTime=0;stopTime=0;assigned_resources=[];assigned_network_address=[];walltime=null;exit_code=null`
	const waits = `state="Waiting";startTime=0;stopTime=0;assigned_resources=[]`
	for name, c := range map[string]struct {
		jobs    []string
		pending bool
		want    string // jobs: submission+wait+runtime processors limit status
		says    string
	}{
		"never started":           {[]string{"7", "8 " + never}, false, "7: 0+1+4 2 60 1", "1 job that never started (8)"},
		"killed before its start": {[]string{"7", `8 state="Error";startTime=0`}, false, "7: 0+1+4 2 60 1", "1 job that never started (8)"},
		"a refused reservation":   {[]string{"7", `8 state="Error";startTime=900;stopTime=900;assigned_resources=[];reservation="Scheduled"`}, false, "7: 0+1+4 2 60 1", "1 reservation that were refused (8)"},
		"killed at its walltime":  {[]string{`7 state="Error";exit_code=null;walltime=2;events=[{"type":"FRAG_JOB_REQUEST"},{"type":"WALLTIME"}]`}, false, "7: 0+1+4 2 2 0", ""},
		"killed for another":      {[]string{`7 state="Error";types=["besteffort"];events=[{"type":"BESTEFFORT_KILL"},{"type":"FRAG_JOB_REQUEST"}]`}, false, "7: 0+1+4 2 60 0", "1 job of the type besteffort"},
		"deleted":                 {[]string{`7 state="Error";events=[{"type":"FRAG_JOB_REQUEST"}]`}, false, "7: 0+1+4 2 60 5", ""},
		"a wait status":           {[]string{`7 exit_code=768`}, false, "7: 0+1+4 2 60 0", ""},
		"a copy":                  {[]string{`7 state="Error"`, "9 resubmit_job_id=7;submissionTime=105;startTime=106;stopTime=107"}, false, "7: 0+1+4 2 60 0, 9: 5+1+1 2 60 1", "1 job submitted again for others"},
		"out of order":            {[]string{"10", "9"}, false, "9: 0+1+4 2 60 1, 10: 0+1+4 2 60 1", ""},
		"moldable":                {[]string{`7 wanted_resources="-l \"/resource_id=2\" -l \"/resource_id=1\" "`}, false, "7: 0+1+4 2 60 1", "1 job that are moldable, each as its first"},
		"dependencies":            {[]string{`7 dependencies=[6]`}, false, "7: 0+1+4 2 60 1", "1 job with dependencies, on which a part of the wait is spent, 100 % of the work (7)"},
		"properties":              {[]string{`7 properties="(gpu='YES') AND desktop_computing = 'NO'"`}, false, "7: 0+1+4 2 60 1", "1 job asking for resources with properties"},
		"a reservation that ran":  {[]string{`7 reservation="Scheduled";walltime=35`}, false, "7: 0+1+4 2 35 1", "1 job of advance reservations, taken as jobs"},
		"resources listed twice":  {[]string{`7 assigned_resources=[1,2,1,2]`}, false, "7: 0+1+4 2 60 1", ""},
		"an unknown key":          {[]string{`7 colour=1`}, false, "7: 0+1+4 2 60 1", "keys of unknown meaning: *.colour"},
		"still running":           {[]string{"7", `8 state="Running";stopTime=0`, "9 " + waits}, false, "7: 0+1+4 2 60 1", "2 jobs still running or waiting (8, 9)"},
		"a queue": {[]string{"7", `8 state="Running";stopTime=0`, "9 " + waits + `;message="R=3,W=0:2:0,J=B (Karma=2.5,quota_ok)";walltime=null;submissionTime=104;scheduledStart=130`,
			"11 " + waits + `;message="R=5,W=0:2:0,J=B (Karma=0.5)"`, "10 " + waits + `;message="R=4,W=1:0:0 (Karma=0.5)";types=["besteffort"]`}, true,
			"8: 0+-1+57 2 57 -1, 11: 0+-1+60 5 60 -1, 9: 0+-1+120 3 120 -1, 10: 0+-1+60 4 60 -1", "now is 1970-01-01 00:01:44|1 job ended already|9 in 26 s|3 jobs waiting in the order"},
		"a waiting reservation": {[]string{`8 state="Running";stopTime=0`, "9 " + waits + `;reservation="Scheduled";startTime=900`}, true, "8: 0+-1+60 2 60 -1", "1 job of advance reservations, waiting for their time (9)"},
		"on hold":               {[]string{`8 state="Running";stopTime=0`, `9 state="Hold";startTime=0;message="R=1"`}, true, "8: 0+-1+60 2 60 -1", "1 job on hold (9)"},
		"waiting for others": {[]string{`8 state="Running";stopTime=0`, "9 " + waits + `;message="R=1";dependencies=[8]`, "10 " + waits + `;message="R=1";dependencies=[3]`}, true,
			"8: 0+-1+60 2 60 -1, 10: 0+-1+60 1 60 -1", "1 job waiting for others to end (dependencies) (9)"},
		"without walltimes": {[]string{`8 walltime=null;state="Running";stopTime=0`}, true, "8: 0+-1+3600 2 3600 -1", "1 job without a time limit, still running, each with 3,600 s from now, as no job tells one"},
	} {
		t.Run(name, func(t *testing.T) {
			a := model.NewAccount(name, "")
			r := require.Value(oar.Read([]byte(object(c.jobs...)), nil))(t)
			log := require.Value(r.Log(&jobs.Options{Pending: c.pending}, a))(t)
			var got []string
			for k, j := range log.Jobs {
				got = append(got, fmt.Sprintf("%s: %v+%v+%v %d %v %d", log.Names.Jobs[k], j.Submit, j.Wait, j.Runtime, j.Procs, j.RequestedTime, j.Status))
			}
			require.Same(t, "jobs", c.want, strings.Join(got, ", "))
			require.Says(t, "the account", strings.Join(a.Lines(), "\n"), strings.Split(c.says, "|")...)
		})
	}
}

// oarstat -g has other keys and the resources; it gives a start to jobs that wait.
func TestGantt(t *testing.T) {
	const text = `{"dead_resources":{},"resources":[{"type":"default","network_address":"n1","state":"Alive"},{"type":"default","network_address":"n1","state":"Alive"}],"jobs":{
"7":{"job_id":7,"user":"ann","state":"Running","queue_name":"default","submission_time":100,"start_time":101,"stop_time":161,"walltime":60,"resource_id":[1],"network_address":["n1"]},
"8":{"job_id":8,"user":"ann","state":"Waiting","queue_name":"default","submission_time":103,"start_time":161,"stop_time":200,"walltime":30,"resource_id":[1,2],"network_address":["n1","n1"]}}}`
	a := model.NewAccount("gantt", "")
	log := require.Value(require.Value(oar.Read([]byte(text), nil))(t).Log(&jobs.Options{Pending: true}, a))(t)
	require.Same(t, "limits", [2]float64{58, 30}, [2]float64{log.Jobs[0].RequestedTime, log.Jobs[1].RequestedTime})
	require.Same(t, "sizes", [2]int64{1, 2}, [2]int64{log.Jobs[0].Procs, log.Jobs[1].Procs})
	require.Same(t, "processors", "2", log.Header[0].Value)
	require.Says(t, "the account", strings.Join(a.Lines(), "\n"), "8 in 58 s", "oarstat -g tells no dependencies")
}

// Earlier releases give a job no number but its key, and call its resources so.
func TestEarlyGantt(t *testing.T) {
	const text = `{"dead_resources":{},"jobs":{"6":{"user":"ann","state":"Terminated","queue_name":"default","submission_time":100,"start_time":102,` +
		`"stop_time":383,"walltime":420,"limit_stop_time":522,"resources":[10,11],"command":"x","job_type":"PASSIVE"}}}`
	a := model.NewAccount("gantt", "")
	log := require.Value(require.Value(oar.Read([]byte(text), nil))(t).Log(&jobs.Options{}, a))(t)
	require.Same(t, "jobs", []string{"6 100 102 383 2 420 ann default"}, rows(log))
	if text := strings.Join(a.Lines(), "\n"); strings.Contains(text, "unknown meaning") {
		t.Error(text)
	}
}

// In the table of jobs the ids of moldable descriptions aren't those of jobs, and a waiting reservation has a start.
func TestTables(t *testing.T) {
	tables := map[string]string{
		"moldable_job_descriptions.csv": "moldable_id,moldable_job_id,moldable_walltime\n8,7,60\n9,7,90\n10,8,120\n11,9,30\n",
		"assigned_resources.csv":        "moldable_job_id,resource_id\n9,1\n9,3\n10,1\n",
		"resources.csv":                 "resource_id,type,network_address,state\n1,default,n1,Alive\n2,default,n1,Dead\n3,default,n2,Alive\n4,licence,,Alive\n5,default,n3,Absent\n",
		"job_dependencies.csv":          "job_id,job_id_required\n8,7\n",
	}
	beside := func(name string) ([]byte, error) {
		if text, ok := tables[name]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
	const text = "job_id,state,job_user,queue_name,submission_time,start_time,stop_time,assigned_moldable_job,reservation\n" +
		"7,Terminated,ann,default,100,101,105,9,None\n8,Error,ann,default,100,106,109,10,None\n9,Waiting,ann,default,100,900,0,0,Scheduled\n"
	a := model.NewAccount("tables", "")
	log := require.Value(require.Value(oar.Read([]byte(text), beside))(t).Log(&jobs.Options{}, a))(t)
	require.Same(t, "jobs", []string{"7 100 101 105 2 90 ann default", "8 100 106 109 1 120 ann default"}, rows(log))
	require.Same(t, "processors", "2", log.Header[0].Value)
	require.Says(t, "the account", strings.Join(a.Lines(), "\n"), "1 job that are moldable", "1 job with dependencies", "1 job of advance reservations, waiting", "1 node down or drained")
	log = require.Value(require.Value(oar.Read([]byte(text), beside))(t).Log(&jobs.Options{ByNodes: true}, model.NewAccount("tables", "")))(t)
	require.Same(t, "nodes of a job", int64(2), log.Jobs[0].Procs)
	for name, c := range map[string]struct{ text, leave, want string }{
		"no neighbour":    {text, "assigned_resources.csv", "jobs.csv needs assigned_resources.csv beside it"},
		"another table":   {tables["assigned_resources.csv"], "", "there is no column job_id"},
		"a wrong number":  {strings.Replace(text, "7,Term", "x,Term", 1), "", "row 1: \"x\" is no whole number"},
		"cut off":         {text + "10,Wai\n", "", "is the file cut off?"},
		"broken JSON":     {"{\"7\":{\"Job_Id\":", "", "unexpected end"},
		"an odd state":    {strings.Replace(text, "Terminated", "Gone", 1), "", "job 7: its state \"Gone\" isn't known"},
		"a negative time": {strings.Replace(text, "101", "-1", 1), "", "job 7: its number, a time or its walltime is negative"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := oar.Read([]byte(c.text), func(name string) ([]byte, error) {
				if name == c.leave {
					return nil, fs.ErrNotExist
				}
				return beside(name)
			})
			if err == nil {
				_, err = r.Log(&jobs.Options{}, model.NewAccount("", ""))
			}
			require.Refused(t, "the text", err, model.ErrInvalid, c.want)
		})
	}
}

// FuzzRead checks that no text ends in a panic, and that the jobs of a log have sizes and times.
func FuzzRead(f *testing.F) {
	f.Add(object("7", `8 state="Running";stopTime=0`, `9 state="Waiting";message="R=1,W=0:1:0"`))
	f.Add(`{"dead_resources":{},"jobs":{"7":{"job_id":7,"state":"Running","resource_id":[1],"start_time":3}},"resources":[{"type":"default","state":"Alive"}]}`)
	f.Add("job_id,state,job_user,queue_name,submission_time,start_time,stop_time,assigned_moldable_job\n7,Terminated,ann,default,100,101,105,8\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := oar.Read([]byte(text), func(name string) ([]byte, error) {
			return []byte("moldable_id,moldable_job_id,moldable_walltime,resource_id,type,network_address,state,job_id,job_id_required\n8,8,60,1,default,n1,Alive,7,6\n"), nil
		})
		if err != nil {
			return
		}
		for _, pending := range []bool{false, true} {
			log, err := r.Log(&jobs.Options{Pending: pending}, model.NewAccount("", ""))
			if err != nil {
				continue
			}
			for _, j := range log.Jobs {
				if j.Procs < 1 || j.Runtime < 0 || j.Submit < 0 || j.RequestedTime < 1 && (pending || j.RequestedTime != jobs.Unknown) {
					t.Errorf("job %+v", j)
				}
			}
		}
	})
}
