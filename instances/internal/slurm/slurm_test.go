// SPDX-License-Identifier: MIT

package slurm_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gapwise/gapwise/instances/internal/jobs"
	"github.com/gapwise/gapwise/instances/internal/slurm"
	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

const header = "JobID|User|Account|Partition|QOS|JobName|Submit|Eligible|Start|End|Elapsed|Timelimit|AllocCPUS|ReqCPUS|NNodes|ReqMem|ReqTRES|AllocTRES|State\n"

// line returns the line of a job on the third of May: its times are hours and minutes.
func line(id, state, submit, eligible, start, end, elapsed, limit, rest string) string {
	at := func(t string) string {
		if len(t) == 5 {
			return "2026-05-03T" + t + ":00"
		}
		return t
	}
	return strings.Join([]string{id, "ann", "physics", "main", "normal", "fit", at(submit), at(eligible), at(start), at(end), elapsed, limit, rest, state}, "|") + "\n"
}

// logOf makes a log of a text, and returns its account as text, too.
func logOf(t *testing.T, text string, o jobs.Options) (*swf.Log, string) {
	t.Helper()
	zone := o.Zone
	if zone == nil {
		zone = time.UTC
	}
	a := model.NewAccount("sacct.txt", "Slurm")
	log := require.Value(require.Value(slurm.Read([]byte(text), zone))(t).Log(&o, a))(t)
	return log, strings.Join(a.Lines(), "\n")
}

// rows returns the jobs of a log: name, submission, start, runtime, processors and limit.
func rows(log *swf.Log) (all []string) {
	for k, j := range log.Jobs {
		all = append(all, fmt.Sprintf("%s %g %g %g %d %g", log.Names.Jobs[k], j.Submit, j.Submit+max(0, j.Wait), j.Runtime, j.Procs, j.RequestedTime))
	}
	return all
}

const four = "4|4|1|4Gn||billing=4,cpu=4,mem=8G,node=1"

// Tables are read as Slurm writes them, and become the jobs that have started.
func TestLog(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []swf.Job // Submit, Wait, Runtime, Procs, RequestedTime, Status
		ids  string
		says string // all stand in the account, separated by |
	}{
		"plain":     {line("7", "COMPLETED", "10:00", "10:00", "10:01", "10:03", "00:02:00", "01:00:00", four), []swf.Job{{Wait: 60, Runtime: 120, Procs: 4, RequestedTime: 3600, Status: 1}}, "7", "waited 60 s"},
		"days":      {line("7", "TIMEOUT", "10:00", "10:00", "10:00", "Unknown", "1-02:03:04", "1-02:00:00", four), []swf.Job{{Runtime: 93784, Procs: 4, RequestedTime: 93600, Status: 0}}, "7", ""},
		"by":        {line("7", "CANCELLED by 1000", "10:00", "10:00", "10:00", "10:01", "00:01:00", "5", four), []swf.Job{{Runtime: 60, Procs: 4, RequestedTime: 300, Status: 5}}, "7", ""},
		"unlimited": {line("7", "COMPLETED", "10:00", "10:00", "10:00", "10:01", "00:01:00", "UNLIMITED", four), []swf.Job{{Runtime: 60, Procs: 4, RequestedTime: 60, Status: 1}}, "7", "1 job without a time limit"},
		"later":     {line("7", "COMPLETED", "10:00", "10:05", "10:06", "10:07", "00:01:00", "5", four), []swf.Job{{Wait: 60, Runtime: 60, Procs: 4, RequestedTime: 300, Status: 1}}, "7", "1 job submitted when they became eligible"},
		"running":   {line("7", "RUNNING", "10:00", "10:00", "10:00", "Unknown", "00:30", "5", four), []swf.Job{{Runtime: 30, Procs: 4, RequestedTime: 300, Status: -1}}, "7", "1 job still running"},
		"left out": {line("7", "COMPLETED", "10:00", "10:00", "10:00", "10:01", "00:01:00", "5", four) + line("8_[1-5%2]", "PENDING", "10:00", "Unknown", "Unknown", "Unknown", "00:00:00", "5", four) +
			line("9", "CANCELLED by 1", "10:00", "10:00", "None", "10:02", "00:00:00", "5", four) +
			line("10", "CANCELLED by 1", "10:00", "10:00", "Unknown", "10:02", "00:02:00", "5", four) + line("7.batch", "COMPLETED", "10:00", "10:00", "10:00", "10:01", "00:01:00", "", four),
			[]swf.Job{{Runtime: 60, Procs: 4, RequestedTime: 300, Status: 1}}, "7", "5 jobs still pending (8_1, 8_2, 8_3, ...)|2 jobs never started (9, 10)|1 step of jobs"},
		"requeued": {line("7", "REQUEUED", "10:00", "10:00", "10:00", "10:01", "00:01:00", "5", four) + line("7", "COMPLETED", "10:01", "10:02", "10:02", "10:03", "00:01:00", "5", four),
			[]swf.Job{{Runtime: 60, Procs: 4, RequestedTime: 300}, {Submit: 120, Runtime: 60, Procs: 4, RequestedTime: 300, Status: 1}}, "7 7#2", "1 run ended by a requeue"},
		"heterogeneous": {line("7+0", "COMPLETED", "10:00", "10:00", "10:01", "10:02", "00:01:00", "5", four) + line("7+1", "COMPLETED", "10:00", "10:00", "10:01", "10:03", "00:02:00", "6", four),
			[]swf.Job{{Wait: 60, Runtime: 120, Procs: 8, RequestedTime: 360, Status: 1}}, "7", "1 component of heterogeneous jobs"},
		"array, out of order": {line("7_2", "COMPLETED", "10:05", "10:05", "10:06", "10:07", "00:01:00", "5", four) + line("7_1", "COMPLETED", "10:00", "10:00", "10:01", "10:02", "00:01:00", "5", four),
			[]swf.Job{{Wait: 60, Runtime: 60, Procs: 4, RequestedTime: 300, Status: 1}, {Submit: 300, Wait: 60, Runtime: 60, Procs: 4, RequestedTime: 300, Status: 1}}, "7_1 7_2", ""},
		"GPUs": {line("7", "COMPLETED", "10:00", "10:00", "10:01", "10:02", "00:01:00", "5", "4|4|1|0||cpu=4,gres/gpu:a100=2,gres/gpu=2,node=1"),
			[]swf.Job{{Wait: 60, Runtime: 60, Procs: 4, RequestedTime: 300, Status: 1}}, "7", "1 job with GPUs, 100 % of the work (7)"},
		"a bar in a name": {strings.Replace(line("7", "COMPLETED", "10:00", "10:00", "10:01", "10:02", "00:01:00", "5", four), "fit", "a|b||", 1),
			[]swf.Job{{Wait: 60, Runtime: 60, Procs: 4, RequestedTime: 300, Status: 1}}, "7", ""},
	} {
		t.Run(name, func(t *testing.T) {
			log, says := logOf(t, header+c.text, jobs.Options{})
			var got []swf.Job
			for _, j := range log.Jobs {
				got = append(got, swf.Job{Submit: j.Submit, Wait: j.Wait, Runtime: j.Runtime, Procs: j.Procs, RequestedTime: j.RequestedTime, Status: j.Status})
			}
			require.Same(t, "result", c.want, got)
			require.Same(t, "ids", c.ids, strings.Join(log.Names.Jobs, " "))
			require.Says(t, "the account", says, strings.Split(c.says, "|")...)
		})
	}
}

// A table of squeue has other names of the same columns.
func TestQueue(t *testing.T) {
	text := `JOBID|USER|ACCOUNT|PARTITION|QOS|NAME|SUBMIT_TIME|START_TIME|END_TIME|TIME|TIME_LIMIT|CPUS|NODES|STATE|PRIORITY
37|bob|physics|main|normal|train|2026-05-03T10:00:00|2026-05-03T10:00:10|2026-05-03T10:03:10|0:36|3:00|2|1|R|4294901723
38|ann|(null)|main|normal|fit|2026-05-03T10:00:01|N/A|N/A|0:00|1-00:00:00|1K|2-4|PENDING|4294901722
`
	if !slurm.Begins([]byte(text)) {
		t.Error("the table isn't recognised")
	}
	table := require.Value(slurm.Read([]byte(text), time.UTC))(t)
	begin := time.Date(2026, 5, 3, 10, 0, 0, 0, time.UTC).Unix()
	running, waits := jobs.New(2), jobs.New(3)
	running.ID, running.User, running.Account, running.Partition, running.QOS, running.Name = "37", "bob", "physics", "main", "normal", "train"
	running.Submit, running.Start, running.End, running.Elapsed, running.Limit = begin, begin+10, begin+190, 36, 180
	running.CPUs, running.Nodes, running.State, running.Priority = 2, 1, "RUNNING", 4294901723
	waits.ID, waits.User, waits.Account, waits.Partition, waits.QOS, waits.Name = "38", "ann", "", "main", "normal", "fit"
	waits.Submit, waits.Elapsed, waits.Limit = begin+1, 0, 86400
	waits.CPUs, waits.Nodes, waits.State, waits.Priority = 1000, 2, "PENDING", 4294901722
	want := []jobs.Job{running, waits}
	require.Same(t, "jobs", want, table.Jobs)
}

// Running and waiting jobs are planned with the rest of their time limits.
func TestPending(t *testing.T) {
	log, says := logOf(t, `JOBID|SUBMIT_TIME|START_TIME|TIME|TIME_LIMIT|CPUS|STATE
40|2026-05-03T10:00:00|2026-05-03T11:00:00|0:00|3:00|8|PENDING
39|2026-05-03T10:00:01|N/A|0:00|UNLIMITED|2|PENDING
37|2026-05-03T10:00:00|2026-05-03T10:00:10|0:36|5:00|2|RUNNING
36|2026-05-03T10:00:00|2026-05-03T10:00:10|0:36|5:00|2|COMPLETED
`, jobs.Options{Pending: true, Nodes: []jobs.Node{{Name: "n1", CPUs: 8, Up: true}}})
	require.Same(t, "jobs", []string{"37 0 0 264 2 264", "40 0 0 180 8 180", "39 0 0 300 2 300"}, rows(log))
	require.Same(t, "now", "10:00:46", log.Header.Time(0).Format(time.TimeOnly))
	require.Says(t, "the account", says, "1 job ended already (36)", "1 job without a planned start, put last", "memory and GPUs, of which no column tells")
}

// Memory is read per node, per CPU and in all.
func TestMemory(t *testing.T) {
	for text, want := range map[string]int64{"4Gn": 8192, "4Gc": 16384, "4G": 4096, "512": 512, "512M": 512, "1500K": 2, "1T": 1 << 20, "0": -1, "": -1} {
		table, err := slurm.Read([]byte("JobID|Submit|State|AllocCPUS|Start|Elapsed|NNodes|ReqMem\n1||PENDING|4||00:00:00|2|"+text), time.UTC)
		if err != nil || table.Jobs[0].MemoryMB != want {
			t.Errorf("%s: %v, %v, want %d", text, table, err, want)
		}
	}
}

// squeue's %b gives the GPUs of a node. Missing columns are reported.
func TestUntold(t *testing.T) {
	for text, want := range map[string]int64{"gres/gpu:2": 4, "gpu:a100:1": 2, "gres/gpu:1,gres/shard:4": 2, "gres:gpu:a100:1": 2, "gres/gpu=1": 2, "N/A": -1, "": -1} {
		table, err := slurm.Read([]byte("JOBID|SUBMIT_TIME|STATE|CPUS|START_TIME|TIME|NODES|TRES_PER_NODE\n1||PENDING|4||0:00|2|"+text), time.UTC)
		if err != nil || table.Jobs[0].GPUs != want || strings.Join(table.Untold, " ") != "memory" {
			t.Errorf("%s: %v, %v, want %d GPUs and memory untold", text, table, err, want)
		}
	}
}

// The machine is a partition's nodes that are up, in either table.
func TestNodes(t *testing.T) {
	scontrol := `NodeName=n1 Arch=x86_64 CoresPerSocket=8
   CPUAlloc=14 CPUEfctv=16 CPUTot=16 CPULoad=6.00
   Gres=gpu:a100:4(S:0-1),nvme:1
   RealMemory=65536 AllocMem=19456
   State=MIXED ThreadsPerCore=1
   Partitions=main,gpu
   Reason=a b=c

NodeName=n2 CPUTot=32 RealMemory=1024 State=IDLE+DRAIN Partitions=main
NodeName=n3 CPUTot=32 RealMemory=1024 Gres=(null) State=IDLE Partitions=main
`
	sinfo := `Mon Nov 23 12:37:50 2026
NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY GRES REASON
n1             1     main*       mixed 16     16:1:1  65536 gpu:a100:4(S:0-1),nvme:1 none
n1             1       gpu       mixed 16     16:1:1  65536 gpu:a100:4(S:0-1),nvme:1 none
n2             1     main*    drained* 32     16:1:1   1024 (null) broken
n3             1     main*        idle 32     16:1:1   1024 (null) none
`
	a := require.Value(slurm.ReadNodes([]byte(scontrol)))(t)
	b := require.Value(slurm.ReadNodes([]byte(sinfo)))(t)
	for k := range a {
		if a[k].Up != b[k].Up || a[k].Up != (k != 1) {
			t.Errorf("%v and %v, up", a[k], b[k])
		}
	}
	if d := cmp.Diff(a, b, cmpopts.IgnoreFields(jobs.Node{}, "State")); d != "" || a[0].GPUs != 4 {
		t.Errorf("%v\n%s", a, d)
	}
	text := header + line("7", "COMPLETED", "10:00", "10:00", "10:01", "10:03", "00:02:00", "01:00:00", "4|4|1|4Gn||cpu=4,mem=80G,node=1")
	for _, c := range []struct {
		o    jobs.Options
		want string
	}{{jobs.Options{Nodes: b}, "48"}, {jobs.Options{Nodes: b, ByNodes: true}, "2"}, {jobs.Options{}, "4"}, {jobs.Options{ByNodes: true}, "1"}} {
		log, says := logOf(t, text, c.o)
		if procs, _ := log.Header.Get("MaxProcs"); procs != c.want {
			t.Errorf("%v: %s processors, want %s", c.o, procs, c.want)
		}
		require.Same(t, "told of memory", c.o.Nodes != nil, strings.Contains(says, "1 job with more memory"))
	}
	table := require.Value(slurm.Read([]byte(text), time.UTC))(t)
	require.Refused(t, "another partition", require.Err(table.Log(&jobs.Options{Nodes: b, Partition: "gpu"}, model.NewAccount("", ""))),
		model.ErrInvalid, "main (1 jobs)")
}

// An unreadable table is refused in a line that says where.
func TestBroken(t *testing.T) {
	good := line("7", "COMPLETED", "10:00", "10:00", "10:01", "10:03", "00:02:00", "01:00:00", four)
	for name, c := range map[string]struct{ text, want string }{
		"empty":       {"", "it is empty"},
		"header":      {header, "none of its 0 jobs has run"},
		"delimiter":   {strings.ReplaceAll(header+good, "|", ";"), "line 1: its columns aren't separated by |"},
		"blanks":      {"JobID JobName State\n----- ------ -----\n", "line 1: its columns aren't separated by |"},
		"cut off":     {header + good + good[:60], "line 3: it has 8 of 19 fields; is the file cut off"},
		"columns":     {"JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode\n", "line 1: there is no column Submit; write the table by sacct -a"},
		"a time":      {header + strings.Replace(good, "2026-05-03T10:01:00", "10:01", 1), `line 2: Start is "10:01", which Slurm doesn't write there; SLURM_TIME_FORMAT=%s`},
		"a length":    {header + strings.Replace(good, "00:02:00", "2 h", 1), `line 2: Elapsed is "2 h"`},
		"a number":    {header + strings.Replace(good, "|4|4|", "|four|4|", 1), `line 2: AllocCPUS is "four"`},
		"a resource":  {header + strings.Replace(good, "cpu=4", "cpu", 1), `line 2: AllocTRES is `},
		"two texts":   {"JobID|Submit|State|AllocCPUS|Start|Elapsed|JobName|Comment\n1||PENDING|4||00:00:00|a|b|c", "line 2: it has 9 fields, the header 8"},
		"too long":    {header + strings.Replace(good, "01:00:00", "9999999-01:00:00", 1), `line 2: Timelimit is `},
		"no nodes in": {header + line("7", "COMPLETED", "", "", "10:01", "10:03", "00:02:00", "01:00:00", four), "none of its 1 jobs has run"},
	} {
		table, err := slurm.Read([]byte(c.text), time.UTC)
		if err == nil {
			_, err = table.Log(&jobs.Options{}, model.NewAccount("", ""))
		}
		require.Refused(t, name, err, model.ErrInvalid, c.want)
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":   {"", "it tells no nodes"},
		"sinfo":   {"PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\nmain* up infinite 1 idle one\n", "there is no column CPUS"},
		"several": {"NODELIST|PARTITION|CPUS\nn[1-4]|main|8\n", `line 2: "n[1-4]" is several nodes`},
		"cut off": {"NODELIST|PARTITION|CPUS\nn1|main\n", "line 2: it has 2 of 3 fields"},
		"number":  {"NodeName=n1 CPUTot=x\n", `line 1: CPUTot is "x"`},
		"no CPUs": {"NodeName=n1 State=IDLE\n", "has no CPUTot"},
	} {
		require.Refused(t, name, require.Err(slurm.ReadNodes([]byte(c.text))), model.ErrInvalid, c.want)
	}
}

// Other tables aren't taken for Slurm's.
func TestBegins(t *testing.T) {
	for text, want := range map[string]bool{header: true, "JobIDRaw|State\n": true, "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n": true,
		"JobID,JobName,State\n": true, "": false, "{}": false, "job_id,submit,runtime\n": false, "id|state|start\n": false, "1 2 3 4\n": false} {
		if slurm.Begins([]byte(text)) != want {
			t.Errorf("%q: not %v", text, want)
		}
	}
}

// Any text gives an error of one line that wraps ErrInvalid, or jobs with times in order.
func FuzzRead(f *testing.F) {
	f.Add([]byte(header + line("7", "COMPLETED", "10:00", "10:00", "10:01", "10:03", "00:02:00", "01:00:00", four)))
	f.Add([]byte("JobID|Submit|State|AllocCPUS|Start|Elapsed|Timelimit|AllocTRES\n1+0|5|RUNNING|4|6|00:00:09|UNLIMITED|cpu=4,gres/gpu=1\n1+1|5|TO|1K|6|1-00:00:00.5|5|mem=1.5T"))
	f.Add([]byte("NodeName=n1 CPUTot=16 Gres=gpu:a:4(S:0-1)\n"))
	f.Add([]byte("NODELIST|PARTITION|CPUS|GRES\nn1|main*|4|gpu:2\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		wrong := func(err error) bool {
			return !errors.Is(err, model.ErrInvalid) || strings.ContainsAny(err.Error(), "\n\r")
		}
		nodes, err := slurm.ReadNodes(text)
		if err != nil && wrong(err) {
			t.Fatalf("error %q", err)
		}
		table, err := slurm.Read(text, time.UTC)
		if err == nil {
			var log *swf.Log
			for _, o := range []jobs.Options{{}, {ByNodes: true, Nodes: nodes}, {Pending: true}} {
				if log, err = table.Log(&o, model.NewAccount("", "")); err != nil {
					break
				}
				last := 0.0
				for k, j := range log.Jobs {
					if j.Submit < last || (j.Wait < 0 && !o.Pending) || j.Runtime < 0 || j.Size() < 1 || log.Names.Jobs[k] == "" {
						t.Fatalf("job %d: %+v", k, j)
					}
					last = j.Submit
				}
			}
		}
		if err != nil && wrong(err) {
			t.Fatalf("error %q", err)
		}
	})
}
