// SPDX-License-Identifier: MIT

package slurm_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gapwise/gapwise/instances/internal/jobs"
	"github.com/gapwise/gapwise/instances/internal/slurm"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// The queue of a Slurm 22.05 as squeue prints it in both forms, without the keys that don't matter; and as later data
// parsers write it.
const (
	queueTable = `JOBID|USER|ACCOUNT|PARTITION|QOS|SUBMIT_TIME|START_TIME|END_TIME|TIME|TIME_LIMIT|CPUS|NODES|TRES_PER_NODE|STATE|REASON|PRIORITY|FEATURES|LICENSES
2|root|(null)|main|(null)|1795943702|1795943703|1795943823|0:10|2:00|4|1|N/A|RUNNING|None|4294901758|(null)|(null)
4_[1-3%2]|root|(null)|main|(null)|1795943702|1795945080|1795945380|N/A|5:00|2|1|N/A|PENDING|Priority|4294901756|(null)|(null)
5|root|chem|main|low|1795943702|N/A|N/A|N/A|5:00|2|1|N/A|PENDING|JobHeldUser|0|(null)|(null)
8|root|(null)|main,side|(null)|1795943702|1795945380|1795945680|N/A|5:00|2|1|gres:gpu:1|PENDING|Priority|4294901753|big|matlab:1
9+1|root|(null)|side|(null)|1795943702|1795945680|1795945980|N/A|5:00|1|1|N/A|PENDING|Resources|4294901751|(null)|(null)
11|root|(null)|main|(null)|1795943702|1795945680|6090912916|N/A|UNLIMITED|1|1|N/A|PENDING|Priority|4294901750|(null)|(null)
12_7|root|(null)|main|(null)|1795943702|1795943703|1795943743|0:05|1:00|1|1|N/A|CONFIGURING|None|4294901749|(null)|(null)
`
	queue2205 = `{"meta":{"plugin":{"type":"openapi/v0.0.38","name":"Slurm OpenAPI v0.0.38"},"Slurm":{"release":"22.05.8"}},"errors":[],"jobs":[
{"account":"","array_job_id":0,"array_task_id":null,"array_task_string":"","eligible_time":0,"end_time":1795943823,"features":"","het_job_id":0,"het_job_offset":0,"job_id":2,
"job_state":"RUNNING","last_sched_evaluation":1795943703,"licenses":"","cpus":4,"node_count":1,"partition":"main","pre_sus_time":0,"priority":4294901758,"qos":"","resv_name":"",
"start_time":1795943703,"state_reason":"None","submit_time":1795943702,"suspend_time":0,"time_limit":2,"tres_per_node":"","user_name":"root"},
{"account":"","array_job_id":4,"array_task_id":null,"array_task_string":"1-3%2","end_time":1795945380,"features":"","het_job_id":0,"het_job_offset":0,"job_id":4,
"job_state":"PENDING","last_sched_evaluation":1795943713,"licenses":"","cpus":2,"node_count":1,"partition":"main","priority":4294901756,"qos":"",
"start_time":1795945080,"state_reason":"Priority","submit_time":1795943702,"time_limit":5,"tres_per_node":"","user_name":"root"},
{"account":"chem","array_job_id":0,"array_task_id":null,"end_time":0,"features":"","het_job_id":0,"job_id":5,"job_state":"PENDING","licenses":"","cpus":2,"node_count":1,"partition":"main",
"priority":0,"qos":"low","start_time":0,"state_reason":"JobHeldUser","submit_time":1795943702,"time_limit":5,"user_name":"root"},
{"account":"","array_job_id":0,"array_task_id":null,"end_time":1795945680,"features":"big","het_job_id":0,"job_id":8,"job_state":"PENDING","licenses":"matlab:1","cpus":2,"node_count":1,
"partition":"main,side","priority":4294901753,"qos":"","start_time":1795945380,"state_reason":"Priority","submit_time":1795943702,"time_limit":5,"tres_per_node":"gres:gpu:1","user_name":"root"},
{"account":"","array_job_id":0,"array_task_id":null,"end_time":1795945980,"features":"","het_job_id":9,"het_job_offset":1,"job_id":10,"job_state":"PENDING","licenses":"","cpus":1,"node_count":1,
"partition":"side","priority":4294901751,"qos":"","start_time":1795945680,"state_reason":"Resources","submit_time":1795943702,"time_limit":5,"user_name":"root"},
{"account":"","array_job_id":0,"array_task_id":null,"end_time":6090912916,"features":"","het_job_id":0,"job_id":11,"job_state":"PENDING","licenses":"","cpus":1,"node_count":1,
"partition":"main","priority":4294901750,"qos":"","start_time":1795945680,"state_reason":"Priority","submit_time":1795943702,"time_limit":null,"user_name":"root"},
{"account":"","array_job_id":12,"array_task_id":7,"end_time":1795943743,"features":"","het_job_id":0,"job_id":13,"job_state":"CONFIGURING","licenses":"","cpus":1,"node_count":1,
"partition":"main","pre_sus_time":2,"priority":4294901749,"qos":"","start_time":1795943703,"state_reason":"None","submit_time":1795943702,"suspend_time":1795943710,"time_limit":1,"user_name":"root"}]}`
	queue2311 = `{"jobs":[
{"account":"","array_job_id":{"set":true,"infinite":false,"number":0},"array_task_id":{"set":false,"infinite":false,"number":0},"array_task_string":"","eligible_time":{"set":true,"infinite":false,"number":0},
"end_time":{"set":true,"infinite":false,"number":1795943823},"features":"","het_job_id":{"set":true,"infinite":false,"number":0},"het_job_offset":{"set":true,"infinite":false,"number":0},"job_id":2,
"job_state":["RUNNING"],"licenses":"","cpus":{"set":true,"infinite":false,"number":4},"node_count":{"set":true,"infinite":false,"number":1},"partition":"main","pre_sus_time":{"set":true,"infinite":false,"number":0},
"priority":{"set":true,"infinite":false,"number":4294901758},"qos":"","resv_name":"","start_time":{"set":true,"infinite":false,"number":1795943703},"state_reason":"None",
"submit_time":{"set":true,"infinite":false,"number":1795943702},"suspend_time":{"set":true,"infinite":false,"number":0},"time_limit":{"set":true,"infinite":false,"number":2},"tres_per_node":"","user_name":"root"},
{"account":"","array_job_id":{"set":true,"infinite":false,"number":4},"array_task_id":{"set":false,"infinite":false,"number":0},"array_task_string":"1-3%2","end_time":{"set":true,"number":1795945380},"job_id":4,
"job_state":["PENDING"],"cpus":{"set":true,"number":2},"node_count":{"set":true,"number":1},"partition":"main","priority":{"set":true,"number":4294901756},
"start_time":{"set":true,"number":1795945080},"state_reason":"Priority","submit_time":{"set":true,"number":1795943702},"time_limit":{"set":true,"number":5},"user_name":"root"},
{"account":"chem","array_task_id":{"set":false,"number":0},"end_time":{"set":false,"number":0},"job_id":5,"job_state":["PENDING"],"cpus":{"set":true,"number":2},"node_count":{"set":true,"number":1},"partition":"main",
"priority":{"set":true,"number":0},"qos":"low","start_time":{"set":true,"number":0},"state_reason":"JobHeldUser","submit_time":{"set":true,"number":1795943702},"time_limit":{"set":true,"number":5},"user_name":"root"},
{"end_time":{"set":true,"number":1795945680},"features":"big","job_id":8,"job_state":["PENDING"],"licenses":"matlab:1","cpus":{"set":true,"number":2},"node_count":{"set":true,"number":1},
"partition":"main,side","priority":{"set":true,"number":4294901753},"start_time":{"set":true,"number":1795945380},"state_reason":"Priority","submit_time":{"set":true,"number":1795943702},
"time_limit":{"set":true,"number":5},"tres_per_node":"gres/gpu:1","user_name":"root"},
{"end_time":{"set":true,"number":1795945980},"het_job_id":{"set":true,"number":9},"het_job_offset":{"set":true,"number":1},"job_id":10,"job_state":["PENDING"],"cpus":{"set":true,"number":1},"node_count":{"set":true,"number":1},
"partition":"side","priority":{"set":true,"number":4294901751},"start_time":{"set":true,"number":1795945680},"state_reason":"Resources","submit_time":{"set":true,"number":1795943702},"time_limit":{"set":true,"number":5},"user_name":"root"},
{"end_time":{"set":true,"number":6090912916},"job_id":11,"job_state":["PENDING"],"cpus":{"set":true,"number":1},"node_count":{"set":true,"number":1},
"partition":"main","priority":{"set":true,"number":4294901750},"start_time":{"set":true,"number":1795945680},"state_reason":"Priority","submit_time":{"set":true,"number":1795943702},
"time_limit":{"set":true,"infinite":true,"number":0},"user_name":"root"},
{"array_job_id":{"set":true,"number":12},"array_task_id":{"set":true,"number":7},"end_time":{"set":true,"number":1795943743},"job_id":13,"job_state":["RUNNING","CONFIGURING"],"cpus":{"set":true,"number":1},"node_count":{"set":true,"number":1},
"partition":"main","pre_sus_time":{"set":true,"number":2},"priority":{"set":true,"number":4294901749},"start_time":{"set":true,"number":1795943703},"state_reason":"None",
"submit_time":{"set":true,"number":1795943702},"suspend_time":{"set":true,"number":1795943710},"time_limit":{"set":true,"number":1},"user_name":"root"}],
"last_backfill":{"set":true,"number":1795943711},"last_update":{"set":true,"infinite":false,"number":1795943713},
"meta":{"plugin":{"type":"","name":"","data_parser":"data_parser/v0.0.40"},"slurm":{"release":"23.11.4"}},"errors":[],"warnings":[]}`
)

const (
	ranTable = `JobID|User|Account|Partition|QOS|JobName|Submit|Eligible|Start|End|Elapsed|Suspended|Timelimit|NNodes|ReqTRES|AllocTRES|State|Reason|Priority
1_3|ann|chem|p|normal|a b|1000|1010|1100|1200|00:01:30|00:00:10|01:00:00|1|cpu=4,mem=1000M,node=1|cpu=4,gres/gpu=2,mem=1000M,node=1|COMPLETED|None|7
2+1|ann|chem|p|normal|h|1000|1000|1100|1200|00:01:40|00:00:00|UNLIMITED|2|cpu=4,node=2|cpu=4,license/matlab=1,node=2|CANCELLED|None|7
3|ann|chem|p|normal|w|1000|Unknown|Unknown|Unknown|00:00:00|00:00:00|5|1|cpu=1,node=1||PENDING|Dependency|7
`
	ran2205 = `{"meta":{},"errors":[],"jobs":[
{"account":"chem","allocation_nodes":1,"array":{"job_id":1,"task":null,"task_id":3},"het":{"job_id":0,"job_offset":null},"constraints":"","job_id":5,"name":"a b","partition":"p","priority":7,"qos":"normal",
"required":{"CPUs":4,"memory":0},"reservation":{"id":0,"name":0},"state":{"current":"COMPLETED","reason":"None"},"steps":[{"step":{"id":{"job_id":5}}}],
"time":{"elapsed":90,"eligible":1010,"end":1200,"start":1100,"submission":1000,"suspended":10,"limit":60,"system":{"seconds":0}},
"tres":{"allocated":[{"type":"cpu","name":null,"id":1,"count":4},{"type":"mem","name":null,"id":2,"count":1000},{"type":"node","name":null,"id":4,"count":1},{"type":"gres","name":"gpu","id":1001,"count":2}],
"requested":[{"type":"cpu","name":null,"id":1,"count":4},{"type":"mem","name":null,"id":2,"count":1000}]},"user":"ann"},
{"account":"chem","allocation_nodes":2,"array":{"job_id":0,"task_id":null},"het":{"job_id":2,"job_offset":1},"job_id":6,"name":"h","partition":"p","priority":7,"qos":"normal",
"state":{"current":"CANCELLED","reason":"None"},"time":{"elapsed":100,"eligible":1000,"end":1200,"start":1100,"submission":1000,"suspended":0,"limit":null},
"tres":{"allocated":[{"type":"cpu","name":null,"count":4},{"type":"node","name":null,"count":2},{"type":"license","name":"matlab","count":1}],"requested":[{"type":"cpu","count":4}]},"user":"ann"},
{"account":"chem","allocation_nodes":1,"array":{"job_id":0},"het":{"job_id":0},"job_id":3,"name":"w","partition":"p","priority":7,"qos":"normal","state":{"current":"PENDING","reason":"Dependency"},
"time":{"elapsed":0,"eligible":0,"end":0,"start":0,"submission":1000,"suspended":0,"limit":5},"tres":{"allocated":[],"requested":[{"type":"cpu","count":1},{"type":"node","count":1}]},"user":"ann"}]}`
)

// ran2405 is ran2205 as later data parsers write it.
var ran2405 = strings.NewReplacer(`"current":"COMPLETED"`, `"current":["COMPLETED"]`, `"current":"CANCELLED"`, `"current":["CANCELLED"]`, `"current":"PENDING"`, `"current":["PENDING"]`,
	`"limit":60`, `"limit":{"set":true,"infinite":false,"number":60}`, `"limit":null`, `"limit":{"set":false,"infinite":true,"number":0}`, `"limit":5`, `"limit":{"set":true,"infinite":false,"number":5}`,
	`"task_id":3`, `"task_id":{"set":true,"infinite":false,"number":3}`, `"task_id":null`, `"task_id":{"set":false,"infinite":false,"number":0}`, `"job_offset":null`, `"job_offset":{"set":false,"number":0}`,
	`"job_offset":1`, `"job_offset":{"set":true,"infinite":false,"number":1}`, `"priority":7`, `"priority":{"set":true,"infinite":false,"number":7}`, `"name":null`, `"name":""`, `"name":0`, `"name":""`,
	`"task":null`, `"task":""`).Replace(ran2205)

// JSON of any data parser holds the jobs of the table.
func TestJSON(t *testing.T) {
	for name, c := range map[string]struct{ table, json string }{
		"squeue 22.05": {queueTable, queue2205}, "squeue 23.11": {queueTable, queue2311}, "sacct 22.05": {ranTable, ran2205}, "sacct 24.05": {ranTable, ran2405},
	} {
		want := require.Value(slurm.Read([]byte(c.table), time.UTC))(t)
		got := require.Value(slurm.Read([]byte(c.json), time.UTC))(t)
		require.Same(t, name, want.Jobs, got.Jobs, cmpopts.IgnoreFields(jobs.Job{}, "Line", "Eligible"), cmpopts.EquateEmpty())
	}
	got := require.Value(slurm.Read([]byte(ran2405), time.UTC))(t)
	require.Same(t, "eligible", []int64{1010, 1000, -1}, []int64{got.Jobs[0].Eligible, got.Jobs[1].Eligible, got.Jobs[2].Eligible})
	for text, want := range map[string]string{
		`{"meta":{},"jobs":[{"job_id":1,"submit_time":"soon"}]}`:                     `jobs[0].submit_time is "soon"`,
		`{"meta":{},"jobs":[{"job_id":1,"cpus":{"set":true,"number":-4}}]}`:          `jobs[0].cpus is "-4"`,
		`{"meta":{},"jobs":[{"submit_time":5}]}`:                                     `jobs[0].job_id is ""`,
		`{"meta":{},"jobs":[{"job_id":1,"array_job_id":1,"array_task_string":"x"}]}`: "jobs[0].the tasks of",
		`{"meta":{},"jobs":{}}`: "it isn't the JSON of sacct or squeue",
	} {
		require.Refused(t, text, require.Err(slurm.Read([]byte(text), time.UTC)), model.ErrInvalid, want)
	}
}

// Nodes are those of scontrol's text, in the JSON of any data parser; sinfo lists groups of equal nodes.
func TestNodesJSON(t *testing.T) {
	want := require.Value(slurm.ReadNodes([]byte(`NodeName=one CPUEfctv=7 CPUTot=8 RealMemory=1024 Gres=gpu:2 State=ALLOCATED Partitions=main
NodeName=two CPUEfctv=4 CPUTot=4 RealMemory=1024 State=IDLE+DRAIN Partitions=main,side
NodeName=c1 CPUEfctv=4 CPUTot=4 RealMemory=1024 State=IDLE+CLOUD+POWERED_DOWN Partitions=main
`)))(t)
	for name, text := range map[string]string{
		"22.05": `{"meta":{},"nodes":[{"cpus":8,"gres":"gpu:2","name":"one","state":"allocated","state_flags":[],"partitions":["main"],"real_memory":1024,"tres":"cpu=7,mem=1G,billing=7"},
{"cpus":4,"gres":"","name":"two","state":"idle","state_flags":["DRAIN"],"partitions":["main","side"],"real_memory":1024,"tres":"cpu=4,mem=1G"},
{"cpus":4,"gres":"","name":"c1","state":"idle","state_flags":["CLOUD","POWERED_DOWN"],"partitions":["main"],"real_memory":1024,"tres":"cpu=4"}]}`,
		"scontrol 23.11": `{"nodes":[{"cpus":8,"effective_cpus":7,"gres":"gpu:2","name":"one","state":["ALLOCATED"],"partitions":["main"],"real_memory":1024,"tres":"cpu=8"},
{"cpus":4,"effective_cpus":4,"name":"two","state":["IDLE","DRAIN"],"partitions":["main","side"],"real_memory":1024},
{"cpus":4,"effective_cpus":4,"name":"c1","state":["IDLE","CLOUD","POWERED_DOWN"],"partitions":["main"],"real_memory":1024}],"last_update":{"set":true,"number":5},"meta":{}}`,
		"sinfo 23.11": `{"sinfo":[{"node":{"state":["ALLOCATED"]},"nodes":{"total":1,"nodes":["one"]},"cpus":{"total":7,"minimum":7,"maximum":7},"memory":{"minimum":1024},"gres":{"total":"gpu:2"},"partition":{"name":"main"}},
{"node":{"state":["IDLE","DRAIN"]},"nodes":{"total":1,"nodes":["two"]},"cpus":{"total":4},"memory":{"minimum":1024},"gres":{"total":""},"partition":{"name":"main"}},
{"node":{"state":["IDLE","DRAIN"]},"nodes":{"total":1,"nodes":["two"]},"cpus":{"total":4},"memory":{"minimum":1024},"gres":{"total":""},"partition":{"name":"side"}},
{"node":{"state":["IDLE","CLOUD","POWERED_DOWN"]},"nodes":{"total":1,"nodes":["c1"]},"cpus":{"total":4},"memory":{"minimum":1024},"gres":{"total":""},"partition":{"name":"main"}}],"meta":{}}`,
	} {
		require.Same(t, name, want, require.Value(slurm.ReadNodes([]byte(text)))(t))
	}
	group := require.Value(slurm.ReadNodes([]byte(`{"sinfo":[{"nodes":{"nodes":["a","b","c"]},"cpus":{"total":20},"partition":{"name":"p"},"node":{"state":"IDLE"}}]}`)))(t)
	require.Same(t, "CPUs of a group", []int64{6, 7, 7}, []int64{group[0].CPUs, group[1].CPUs, group[2].CPUs})
	for text, want := range map[string]string{`{"nodes":[{"name":"n[1-4]","cpus":4}]}`: "isn't the name of one node", `{"nodes":[{"name":"a"}]}`: "has no number of CPUs", `{"nodes":[]}`: "it tells no nodes"} {
		require.Refused(t, text, require.Err(slurm.ReadNodes([]byte(text))), model.ErrInvalid, want)
	}
}

// Any JSON gives an error of one line, or the same jobs when it is read again.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{queue2205, queue2311, ran2205, ran2405} {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"nodes":[{"name":"a","cpus":4,"state":["IDLE"],"tres":"cpu=3"}],"sinfo":[{"nodes":{"nodes":["b","c"]},"cpus":{"total":9}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) == 0 || text[0] != '{' {
			return
		}
		for _, err := range []error{require.Err(slurm.ReadNodes(text)), require.Err(slurm.Read(text, time.UTC))} {
			if err != nil && (!errors.Is(err, model.ErrInvalid) || strings.ContainsAny(err.Error(), "\n\r")) {
				t.Fatalf("error %q", err)
			}
		}
		table, err := slurm.Read(text, time.UTC)
		if err != nil {
			return
		}
		for _, j := range table.Jobs {
			if j.ID == "" || min(j.Submit, j.Start, j.End, j.Elapsed) < jobs.Unknown || j.Limit < jobs.NoLimit || j.Elapsed > 1<<41 {
				t.Fatalf("%+v", j)
			}
		}
		if again := require.Value(slurm.Read(text, time.UTC))(t); !cmp.Equal(table.Jobs, again.Jobs) {
			t.Fatal("other jobs at the second reading")
		}
		for _, o := range []jobs.Options{{}, {Pending: true}} {
			if _, err := table.Log(&o, model.NewAccount("", "")); err != nil && !errors.Is(err, model.ErrInvalid) {
				t.Fatal(err)
			}
		}
	})
}
