// SPDX-License-Identifier: MIT

package slurm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gapwise/gapwise/instances/internal/jobs"
	"github.com/gapwise/gapwise/instances/internal/slurm"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

const (
	ran   = "JobID|User|Partition|JobName|Submit|Eligible|Start|End|Elapsed|Timelimit|AllocCPUS|State\n"
	queue = "JOBID|PARTITION|SUBMIT_TIME|START_TIME|END_TIME|TIME|TIME_LIMIT|CPUS|STATE|REASON\n"
	day   = "2026-05-03T"
)

// on puts the day before times like 10:00:00 that stand in columns of their own and aren't lengths.
func on(text string) string { return strings.ReplaceAll(text, "@", day) }

// Records that aren't a job each, or not at that time, or not of that size, become the jobs that ran and waited.
func TestRecords(t *testing.T) {
	berlin := require.Value(time.LoadLocation("Europe/Berlin"))(t)
	for name, c := range map[string]struct {
		text  string
		o     jobs.Options
		nodes string
		want  []string // name, submission, start, runtime, processors and limit
		procs string
		says  string // all stand in the account, separated by /; what begins with ! doesn't
	}{
		"resized": {text: ran + on(`1|a|p|x|@10:00:00|@10:00:00|@10:00:00|@10:00:05|00:00:05|00:05:00|3|RESIZING
2|a|p|x|@10:00:00|@10:00:00|@10:00:00|@10:00:15|00:00:15|00:05:00|1|COMPLETED
1|a|p|x|@10:00:05|@10:00:05|@10:00:00|@10:00:20|00:00:20|00:05:00|1|COMPLETED
`), want: []string{"1 0 0 20 3 300", "2 0 0 15 1 300"}, procs: "4", says: "1 job resized as they ran/!still running/!at odds"},
		"resized, with a start of its own": {text: ran + on(`1|a|p|x|@10:00:00|@10:00:00|@10:00:00|@10:00:05|00:00:05|00:05:00|1|RESIZING
1|a|p|x|@10:00:05|@10:00:05|@10:00:05|@10:00:20|00:00:15|00:05:00|3|COMPLETED
`), want: []string{"1 0 0 20 3 300"}, procs: "3", says: "1 job resized"},
		"a run in two tables": {text: ran + on(`1|a|p|x|@10:00:00|@10:00:00|@10:00:00|@12:00:00|02:00:00|05:00:00|8|RUNNING
1|a|p|x|@10:00:00|@10:00:00|Unknown|Unknown|00:00:00|05:00:00|8|PENDING
2|a|p|x|@10:00:00|@10:00:00|Unknown|Unknown|00:00:00|05:00:00|8|CANCELLED
3|a|p|x|@10:00:00|@10:00:00|Unknown|Unknown|00:00:00|05:00:00|8|PENDING
`) + ran + on(`2|a|p|x|@10:00:00|@10:00:00|Unknown|Unknown|00:00:00|05:00:00|8|CANCELLED
3|a|p|x|@10:00:00|@10:00:00|Unknown|Unknown|00:00:00|05:00:00|8|PENDING
1|a|p|x|@10:00:00|@10:00:00|@10:00:00|@14:00:00|04:00:00|05:00:00|8|COMPLETED
1|a|p|x|@10:00:00|@10:00:00|@10:00:00|@14:00:00|04:00:00|05:00:00|8|COMPLETED
1|a|p|x|@14:00:00|@14:00:00|@14:00:00|@15:00:00|01:00:00|05:00:00|8|COMPLETED
`), want: []string{"1 0 0 14400 8 18000", "1#2 14400 14400 3600 8 18000"}, procs: "8", says: "5 records of a job that has another record (1, 1, 1, ...)/1 job still pending (3)/1 job never started (2)/!resized/!still running"},
		"trailing bars": {text: strings.ReplaceAll(ran, "\n", "|\n") + on("1|a|p|x|y z|@10:00:00|@10:00:00|@10:00:00|@10:00:05|00:00:05|00:05:00|1|COMPLETED|\r\n"),
			want: []string{"1 0 0 5 1 300"}, procs: "1", says: "under Slurm"},
		"a bar at the end of a name": {text: "JobID|Submit|Start|Elapsed|AllocCPUS|State|JobName|User|\n" + on("1|@10:00:00|@10:00:00|00:00:05|1|COMPLETED|x||ann|\n"),
			want: []string{"1 0 0 5 1 -1"}, procs: "1", says: "no column Eligible"},
		"a line break in a name": {text: ran + on("1|a|p|x\ny\n\nz|@10:00:00|@10:00:00|@10:00:00|@10:00:05|00:00:05|00:05:00|1|COMPLETED\n2|a|p|x|@10:00:00|@10:00:00|@10:00:01|@10:00:05|00:00:04|00:05:00|1|COMPLETED\n"),
			want: []string{"1 0 0 5 1 300", "2 0 1 4 1 300"}, procs: "2"},
		"suspended": {text: ran + on("1|a|p|x|@10:00:00|@10:00:00|@10:00:00|@13:00:00|01:00:00|05:00:00|8|COMPLETED\n2|a|p|x|@10:00:00|@10:00:00|@10:30:00|@11:00:00|00:30:00|05:00:00|8|COMPLETED\n"),
			want: []string{"1 0 0 3600 8 18000", "2 0 1800 1800 8 18000"}, procs: "16", says: "1 suspension of jobs, which were suspended for 7,200 s in all/with a mean response of 7200 s"},
		"suspended, by a column": {text: "JobID|Submit|Start|Elapsed|Suspended|AllocCPUS|State\n" + on("1|@10:00:00|@10:00:00|00:00:05|00:00:21|1|COMPLETED\n"),
			want: []string{"1 0 0 5 1 -1"}, procs: "1", says: "1 suspension of jobs, which were suspended for 21 s in all"},
		"never ran": {text: ran + on(`1|a|p|x|@10:00:00|@10:00:00|@10:00:05|@10:00:05|00:00:00|00:05:00|1|DEADLINE
2|a|p|x|@10:00:00|@10:00:00|@10:00:05|@10:00:09|00:00:04|00:05:00|1|DEADLINE
3|a|p|x|@10:00:00|@10:00:00|@10:00:05|@10:00:05|00:00:00|00:05:00|1|BOOT_FAIL
4|a|p|x|@10:00:00|@10:00:00|@10:00:05|@10:00:05|00:00:00|00:05:00|1|COMPLETED
`), want: []string{"2 0 5 4 1 300", "4 0 5 0 1 300"}, procs: "2", says: "2 jobs never started (1, 3)"},
		"offsets": {text: ran + strings.NewReplacer("@", day, "#", "+0100", "~", "+01:00", "^", "Z").Replace("1|a|p|x|@10:00:00#|@10:00:00~|@09:00:10^|@10:00:20#|00:00:10|00:05:00|1|COMPLETED\n"),
			o: jobs.Options{Zone: berlin}, want: []string{"1 0 10 10 1 300"}, procs: "1", says: "!at odds"},
		"seconds": {text: ran + "1|a|p|x|1777802400|1777802400|1777802410|1777802420|00:00:10|00:05:00|1|COMPLETED\n",
			want: []string{"1 0 10 10 1 300"}, procs: "1", says: "!--tz"},
		"the hour that comes twice": {text: ran + `1|a|p|x|2026-10-25T02:59:50|2026-10-25T02:59:50|2026-10-25T02:00:10|2026-10-25T02:00:20|00:00:10|00:10:00|1|COMPLETED
2|a|p|x|2026-10-25T02:10:00|2026-10-25T02:10:00|2026-10-25T02:10:10|2026-10-25T02:10:40|01:00:30|02:00:00|1|COMPLETED
3|a|p|x|2026-10-25T01:50:00|2026-10-25T01:50:00|2026-10-25T02:10:10|2026-10-25T02:30:10|00:20:00|02:00:00|1|COMPLETED
4|a|p|x|2026-10-25T02:50:00|2026-10-25T02:50:00|2026-10-25T02:05:00|2026-10-25T03:05:00|01:00:00|02:00:00|8|COMPLETED
`, o: jobs.Options{Zone: berlin}, want: []string{"3 0 1210 1200 1 7200", "2 1200 1210 3630 1 7200", "4 3600 4500 3600 8 7200", "1 4190 4210 10 1 600"}, procs: "9",
			says: "1 job with times in the hour that comes twice, taken for the first (3)/!at odds"},
		"clocks go forward": {text: ran + "1|a|p|x|2026-03-29T01:59:30|2026-03-29T01:59:30|2026-03-29T01:59:40|2026-03-29T03:00:10|00:00:30|00:10:00|1|COMPLETED\n",
			o: jobs.Options{Zone: berlin}, want: []string{"1 0 10 30 1 600"}, procs: "1", says: "!suspension/!at odds"},
		"clocks in an unknown zone": {text: ran + `1|a|p|x|2026-10-25T02:50:00|2026-10-25T02:50:00|2026-10-25T02:05:00|2026-10-25T03:05:00|01:00:00|02:00:00|8|COMPLETED
2|a|p|x|2026-10-25T00:30:00|2026-10-25T00:30:00|2026-10-25T00:30:00|2026-10-25T02:05:00|02:35:00|03:00:00|8|COMPLETED
3|a|p|x|2026-10-25T00:30:00|2026-10-25T00:30:00|2026-10-25T00:30:10|2026-10-25T02:30:40|01:00:30|02:00:00|1|COMPLETED
`, want: []string{"2 0 0 9300 8 10800", "3 0 10 3630 1 7200", "1 5700 5700 3600 8 7200"}, procs: "16",
			says: "3 jobs with times at odds with each other, as by a change of the clocks: --tz/!suspension"},
		"specialised cores": {text: ran + on("1|a|p|x|@10:00:00|@10:00:00|@10:00:00|@10:00:05|00:00:05|00:05:00|1|COMPLETED\n"),
			nodes: "NodeName=a CPUEfctv=3 CPUTot=4\n CoreSpecCount=1 CPUSpecList=3 ThreadsPerCore=1 State=IDLE\nNodeName=b CPUTot=8\n CoreSpecCount=1 ThreadsPerCore=2 State=IDLE\n",
			want:  []string{"1 0 0 5 1 300"}, procs: "9"},
		"nodes that are powered down": {text: ran + on("1|a|p|x|@10:00:00|@10:00:00|@10:00:00|@10:00:05|00:00:05|00:05:00|1|COMPLETED\n"),
			nodes: "NODELIST|PARTITION|CPUS(A/I/O/T)|STATE\na|p|0/8/0/8|idle~\nb|p|0/4/0/4|powered_down\nc|p|0/2/0/2|IDLE+CLOUD+POWERING_DOWN\nd|p|0/0/16/16|down~\ne|p|0/0/32/32|IDLE+DRAIN+POWERED_DOWN\n",
			want:  []string{"1 0 0 5 1 300"}, procs: "14", says: "3 nodes powered down, which Slurm starts for jobs (a, b, c)/2 nodes down or drained"},
		"memory that isn't shared out": {text: "JobID|Submit|Start|Elapsed|AllocCPUS|State|ReqTRES|AllocTRES|Licenses|Constraints|Reservation\n" +
			on("1|@10:00:00|@10:00:00|00:00:05|1|COMPLETED|cpu=1,mem=1000M,node=1|cpu=1,node=1|matlab:1|big|\n2|@10:00:00|@10:00:00|00:00:15|1|COMPLETED|cpu=1,mem=1000M,node=1|cpu=1,license/x=1,mem=1000M,node=1|||day\n"),
			nodes: "NODELIST|PARTITION|CPUS|MEMORY|STATE\na|p|4|1000|idle\n", want: []string{"1 0 0 5 1 -1", "2 0 0 15 1 -1"}, procs: "4",
			says: "1 job with more memory than their CPUs' share of the nodes, 75 % of the work (2)/2 jobs with a need for licences, 100 % of the work (1, 2)/1 job with a need for features of nodes/1 job of a reservation, 75 %"},
		"columns that aren't read": {text: "JobID|Submit|Start|Elapsed|AllocCPUS|State|ExitCode|WorkDir\n" + on("1|@10:00:00|@10:00:00|00:00:05|1|COMPLETED|0:0|n1\n"),
			want: []string{"1 0 0 5 1 -1"}, procs: "1", says: "columns that aren't read: ExitCode, WorkDir"},
		"holds, dependencies and begin times": {text: queue + on(`1|p|@10:00:00|@10:00:00|@11:00:00|30:00|1:00:00|4|RUNNING|None
2|p|@10:00:00|N/A|N/A|0:00|5:00|4|PENDING|JobHeldUser
3|p|@10:00:00|N/A|N/A|0:00|5:00|4|PENDING|Dependency
4|p|@10:00:00|N/A|N/A|0:00|5:00|4|PENDING|DependencyNeverSatisfied
5|p|@10:00:00|@12:00:00|@12:05:00|0:00|5:00|1|PENDING|BeginTime
6|p|@10:00:00|N/A|N/A|0:00|5:00|1|PENDING|launch_failed_requeued_held
7|p|@10:00:00|N/A|N/A|0:00|5:00|1|PENDING|BadConstraints
8|q,p|@10:00:00|N/A|N/A|0:00|5:00|2|PENDING|(QOSMaxJobsPerUserLimit)
9|p|@10:00:00|N/A|N/A|0:00|5:00|2|PENDING|BeginTime
`), o: jobs.Options{Pending: true, Partition: "p"}, nodes: "NODELIST|PARTITION|CPUS|STATE\na|p|4|idle\n",
			want: []string{"1 0 0 1800 4 1800", "8 0 0 300 2 300", "5 5400 5400 300 1 300"}, procs: "4",
			says: "2 jobs on hold (2, 6)/2 jobs with unmet dependencies (3, 4)/1 job unable to start, as Slurm says: BadConstraints (7)/1 job with a begin time that no column tells (9)/" +
				"1 job held back by a limit of their account, QOS or user/5 in 5400 s/priorities are the table's order"},
		"states that hold CPUs": {text: queue + on(`1|p|@10:00:00|@10:00:00|@11:00:00|0:21|1:00|1|CONFIGURING|None
2|p|@10:00:00|@10:00:00|@11:00:00|0:02|4:00|4|SUSPENDED|None
3|p|@10:00:00|@10:00:00|@11:00:00|0:20|1:00|1|STOPPED|None
4|p|@10:00:00|@10:00:00|@11:00:00|0:20|1:00|1|COMPLETING|None
5|p|@10:00:00|N/A|@11:00:00|0:00|1:00|1|REQUEUE_HOLD|None
`), o: jobs.Options{Pending: true}, nodes: "NODELIST|PARTITION|CPUS|STATE\na|p|4|idle\n",
			want: []string{"1 0 0 39 1 39", "3 0 0 40 1 40", "4 0 0 1 1 1"}, procs: "4", says: "1 job suspended: their CPUs are free/1 job on hold (5)"},
		"arrays": {text: queue + on(`1_[1,3,5-9:2%2]|p|@10:00:00|N/A|N/A|0:00|1:00|2|PENDING|Priority
2_[0-3]|p|@10:00:00|N/A|N/A|0:00|1:00|1|PENDING|JobHeldAdmin
`), o: jobs.Options{Pending: true}, nodes: "NODELIST|PARTITION|CPUS|STATE\na|p|4|idle\n",
			want:  []string{"1_1 0 0 60 2 60", "1_3 0 0 60 2 60", "1_5 0 0 60 2 60", "1_7 0 0 60 2 60", "1_9 0 0 60 2 60"},
			procs: "4", says: "4 jobs on hold (2_0, 2_1, 2_2, ...)/5 tasks of arrays with a limit of tasks at once, 100 % of the work"},
		"order and components": {text: "JOBID|PARTITION|SUBMIT_TIME|START_TIME|TIME|TIME_LIMIT|CPUS|STATE|REASON|PRIORITY\n" + on(`7+1|q|@10:00:00|N/A|0:00|5:00|1|PENDING|Priority|20
5|p|@10:00:00|N/A|0:00|1:00|2|PENDING|Priority|10
6|p,q|@10:00:00|N/A|0:00|1:00|2|PENDING|Resources|30
7+0|p|@10:00:00|N/A|0:00|5:00|2|PENDING|Priority|20
8|p|@10:00:00|N/A|0:00|1:00|2|PENDING|None|0
`), o: jobs.Options{Pending: true}, nodes: "NODELIST|PARTITION|CPUS|STATE\na|p|4|idle\n",
			want: []string{"6 0 0 60 2 60", "7 0 0 300 3 300", "5 0 0 60 2 60"}, procs: "4",
			says: "1 job on hold (8)/1 component of heterogeneous jobs/1 job of several partitions/!table's order"},
		"components of one partition": {text: queue + on(`7+1|q|@10:00:00|N/A|N/A|0:00|5:00|1|PENDING|Priority
7+0|p|@10:00:00|N/A|N/A|0:00|5:00|2|PENDING|Priority
`), o: jobs.Options{Pending: true, Partition: "p"}, nodes: "NODELIST|PARTITION|CPUS|STATE\na|p|4|idle\na|q|4|idle\n",
			want: []string{"7 0 0 300 2 300"}, procs: "4", says: "1 job of other partitions or queues (7+1)/1 node shared with the jobs of other partitions, which have part of them"},
		"dependencies instead of reasons": {text: "JOBID|SUBMIT_TIME|START_TIME|TIME|TIME_LIMIT|CPUS|STATE|DEPENDENCY\n" + on(`1|@10:00:00|N/A|0:00|5:00|1|PENDING|(null)
2|@10:00:00|N/A|0:00|5:00|1|PENDING|afterok:1(unfulfilled)
`), o: jobs.Options{Pending: true}, nodes: "NODELIST|PARTITION|CPUS|STATE\na|p|4|idle\nb|p|4|inval\nc|p|4|unk*\n",
			want: []string{"1 0 0 300 1 300"}, procs: "4", says: "1 job with unmet dependencies (2)/1 job without a planned start"},
		"eligible instead of reasons": {text: "JOBID|SUBMIT_TIME|START_TIME|TIME|TIME_LIMIT|CPUS|STATE|ELIGIBLE_TIME\n" + on(`1|@10:00:00|N/A|0:00|5:00|1|PENDING|@10:00:00
2|@10:00:00|N/A|0:00|5:00|1|PENDING|N/A
3|@10:00:00|N/A|0:00|5:00|1|PENDING|@11:00:00
`), o: jobs.Options{Pending: true}, nodes: "NODELIST|PARTITION|CPUS|STATE\na|p|4|idle\n",
			want: []string{"1 0 0 300 1 300", "3 3600 3600 300 1 300"}, procs: "4", says: "1 job not eligible yet (on hold or dependent) (2)"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.nodes != "" {
				c.o.Nodes = require.Value(slurm.ReadNodes([]byte(c.nodes)))(t)
			}
			log, says := logOf(t, c.text, c.o)
			require.Same(t, "jobs", c.want, rows(log))
			procs, _ := log.Header.Get("MaxProcs")
			require.Same(t, "processors", c.procs, procs)
			for _, word := range strings.Split(c.says, "/") {
				if not, ok := strings.CutPrefix(word, "!"); ok {
					require.Same(t, "said of "+not, false, strings.Contains(says, not))
				} else {
					require.Says(t, "the account", says, word)
				}
			}
		})
	}
}

// Arrays of which the tasks can't be told apart are refused with the command that lists them.
func TestArrays(t *testing.T) {
	for _, id := range []string{"1_[1-3,...]", "1_[]", "1_[3-1]", "1_[1-9:0]", "1_[0-4000001]", "1_[0-18446744073709551615]"} {
		_, err := slurm.Read([]byte(queue+id+"|p|||||1:00|1|PENDING|None\n"), time.UTC)
		require.Refused(t, id, err, model.ErrInvalid, "aren't told one by one; write them so: squeue -a -r")
	}
	table := require.Value(slurm.Read([]byte(queue+"1_[0-467]|p|||||1:00|1|PENDING|None\n2_[9201-10000%500]|p|||||1:00|1|PENDING|None\n"), time.UTC))(t)
	require.Same(t, "tasks", 468+800, len(table.Jobs))
}
