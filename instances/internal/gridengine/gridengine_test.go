// SPDX-License-Identifier: MIT

package gridengine_test

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gapwise/gapwise/instances/internal/gridengine"
	"github.com/gapwise/gapwise/instances/internal/jobs"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func sample(t require.T, path ...string) string {
	file := require.Data(t, append([]string{"found", "0.10.0", "batch-systems", "gridengine"}, path...)...)
	return string(require.Value(os.ReadFile(file))(t))
}

// The runs of real accounting files are those that their independent reader counts, field by field.
func TestRealAccounting(t *testing.T) {
	for _, name := range []string{"default", "traps"} {
		t.Run(name, func(t *testing.T) {
			r := require.Value(gridengine.Read([]byte(sample(t, name, "accounting")), time.UTC))(t)
			table := csv.NewReader(strings.NewReader(sample(t, name, "right-jobs.tsv")))
			table.Comma = '\t'
			var want, got []string
			for _, row := range require.Value(table.ReadAll())(t)[1:] {
				want = append(want, fmt.Sprint(row[0], ".", row[1], " ", row[3:10]))
			}
			for _, j := range r.Jobs {
				if j.Left != "" {
					continue
				}
				id, limit := j.ID, ""
				if !strings.Contains(id, ".") {
					id += ".0"
				}
				if j.Limit != jobs.NoLimit {
					limit = strconv.FormatInt(j.Limit, 10)
				}
				row := []string{fmt.Sprint(j.Submit), fmt.Sprint(j.Start), fmt.Sprint(j.End), fmt.Sprint(j.CPUs), limit, j.User, j.State}
				got = append(got, fmt.Sprint(id, " ", row))
			}
			slices.Sort(want)
			slices.Sort(got)
			require.Same(t, "runs", want, got)
			a := model.NewAccount("accounting", "")
			log := require.Value(r.Log(&jobs.Options{}, a))(t)
			require.Same(t, "jobs of the log", len(want), len(log.Jobs))
			left := 0.0
			for _, x := range a.LeftOut {
				left += x.Count
			}
			lines := strings.Count(sample(t, name, "left-out.tsv"), "\n") - 1
			require.Same(t, "lines that are no jobs", float64(lines), left)
		})
	}
}

// Queues of a real qstat hold what runs and waits, with the tasks of arrays one by one.
func TestRealQueues(t *testing.T) {
	for name, want := range map[string]string{
		"qstat-array.txt":                     "4.1 4.3 | 4.5 4.7 4.9",
		"qstat-array.xml":                     "4.1 4.3 | 4.5 4.7 4.9",
		"qstat-r-reserved.xml":                "25 28 | 26 27 29",
		"qstat-f-advance-reservation.txt":     "63 | 64",
		"qstat-32-lines.txt":                  "117 | 120 96 97 106 109 110 112 115 116 101 102 103 107 114 119 72 73 74.2 74.4 74.6 74.8 74.10 76 77 79 85 88 90 95.2 95.4 95.6 95.8 95.10 98 100 104 111 113 118",
		filepath.Join("qacct-j-parallel.txt"): "",
	} {
		t.Run(name, func(t *testing.T) {
			r := require.Value(gridengine.Read([]byte(sample(t, "queue", name)), time.UTC))(t)
			if want == "" { // of four records one is the job's own
				log := require.Value(r.Log(&jobs.Options{}, model.NewAccount(name, "")))(t)
				require.Same(t, "runtimes", 9.0, log.Jobs[0].Runtime)
				require.Same(t, "jobs", 1, len(log.Jobs))
				return
			}
			require.Same(t, "order", want, phases(r))
		})
	}
	r := require.Value(gridengine.Read([]byte(sample(t, "queue", "qstat-r-reserved.xml")), time.UTC))(t)
	a := model.NewAccount("qstat", "")
	log := require.Value(r.Log(&jobs.Options{Pending: true}, a))(t)
	var got []float64
	for _, j := range log.Jobs {
		got = append(got, j.RequestedTime)
	}
	require.Same(t, "rest of limits, and limits", []float64{21, 9, 10, 60, 60}, got) // 11:13:27, and 29 has none
	nodes := require.Value(gridengine.ReadNodes([]byte(sample(t, "queue", "qstat-f-advance-reservation.txt"))))(t)
	require.Same(t, "queues", []jobs.Node{{Name: "all.q@node1", CPUs: 8, MemoryMB: jobs.Unknown, Partitions: []string{"all.q"}, Up: true},
		{Name: "short.q@node1", CPUs: 2, MemoryMB: jobs.Unknown, Partitions: []string{"short.q"}, Up: true}}, nodes)
}

func phases(r *gridengine.Records) string {
	var running, waiting []string
	for _, j := range r.Jobs {
		switch {
		case j.Left != "":
		case j.Phase == jobs.Runs:
			running = append(running, j.ID)
		default:
			waiting = append(waiting, j.ID)
		}
	}
	return strings.Join(running, " ") + " | " + strings.Join(waiting, " ")
}

// line is a line of the accounting file.
type line struct {
	id, task, submit, start, end, failed, exit, slots int
	category, part, queue                             string
}

func (l line) String() string {
	f := strings.Split(strings.Repeat("0:", 38)+"0", ":")
	for k, x := range map[int]string{0: cmp.Or(l.queue, "all.q"), 2: "staff", 3: "ann", 4: "fit", 31: "NONE", 33: "smp"} {
		f[k] = x
	}
	for k, x := range map[int]int{5: l.id, 8: l.submit, 9: l.start, 10: l.end, 11: l.failed, 12: l.exit, 34: max(1, l.slots), 35: l.task} {
		f[k] = strconv.Itoa(x)
	}
	return strings.Join(f, ":") + ":" + cmp.Or(l.category, "NONE") + ":0.0:" + cmp.Or(l.part, "NONE") + ":0.0:0:0\n"
}

// Each trap of the accounting file is read right, or told.
func TestAccounting(t *testing.T) {
	const head = "# Version: 8.1.9\n#\n"
	for name, c := range map[string]struct {
		lines []line
		want  string // jobs of the log: submission+wait+runtime processors limit
		tells string // separated by |
	}{
		"a task of a parallel job": {[]line{{id: 2, submit: 101, start: 102, end: 108, slots: 4, part: "1.node1"}, {id: 2, submit: 100, start: 101, end: 110, slots: 4}},
			"2: 0+1+9 4 9", "1 record of tasks of parallel jobs, whose job has its own (\"2 1.node1\")"},
		"re-queued by qmod":            {[]line{{id: 7, failed: 25}, {id: 7, submit: 100, start: 110, end: 120}}, "7: 0+10+10 1 10", "1 run that never started, of jobs that were re-queued (7)"},
		"exit 99":                      {[]line{{id: 7, submit: 100, start: 101, end: 105, failed: 25, exit: 99}, {id: 7, submit: 106, start: 110, end: 120}}, "7: 0+1+4 1 10, 7#2: 6+4+10 1 10", "1 run ended by a re-queue"},
		"couldn't start":               {[]line{{id: 7, submit: 100, failed: 28}, {id: 8, submit: 100, start: 110, end: 120}}, "8: 0+10+10 1 10", "1 run that never started (7)"},
		"colons in a request":          {[]line{{id: 7, submit: 100, start: 101, end: 105, category: "-l arch=a:b:c,h_rt=60"}}, "7: 0+1+4 1 60", "1 job asking for further resources"},
		"a task with a colon":          {[]line{{id: 7, submit: 100, start: 101, end: 105, category: "-l arch=x:y", part: "1.n"}, {id: 7, submit: 100, start: 101, end: 106}}, "7: 0+1+5 1 5", ""},
		"the limit of a soft request":  {[]line{{id: 7, submit: 100, start: 101, end: 105, category: "-soft -l h_rt=100"}}, "7: 0+1+4 1 4", "1 job without a time limit, each with 4 s|the limits of queues"},
		"a limit in hours":             {[]line{{id: 7, submit: 100, start: 101, end: 105, category: "-q a.q -l h_rt=1:0:1,mem_free=1M -pe smp 2-5", slots: 5}}, "7: 0+1+4 5 3601", "certain queues or hosts, 100 % of the work (7)"},
		"tasks of an array":            {[]line{{id: 7, task: 10, submit: 100, start: 101, end: 105}, {id: 7, task: 2, submit: 100, start: 102, end: 107}}, "7.2: 0+2+5 1 5, 7.10: 0+1+4 1 5", ""},
		"lines in the order of ends":   {[]line{{id: 8, submit: 100, start: 101, end: 102}, {id: 7, submit: 100, start: 101, end: 105}}, "7: 0+1+4 1 4, 8: 0+1+1 1 4", ""},
		"a limit of the queue":         {[]line{{id: 7, submit: 100, start: 101, end: 105, failed: 37, exit: 137, category: "-q short.q"}}, "7: 0+1+4 1 4", "which hold for jobs that ask for none and ended 1 of them|a replay is another policy"},
		"an advance reservation":       {[]line{{id: 7, submit: 100, start: 101, end: 105, category: "-pe smp 4 -ar 1", slots: 4}}, "7: 0+1+4 4 4", "1 job in an advance reservation"},
		"two queues":                   {[]line{{id: 7, submit: 100, start: 101, end: 105}, {id: 8, submit: 100, start: 101, end: 105, queue: "short.q"}}, "7: 0+1+4 1 4, 8: 0+1+4 1 4", "queues: one machine for all.q (1 jobs), short.q (1 jobs)"},
		"waits, suspensions, deletion": {[]line{{id: 7, submit: 100, start: 101, end: 105}}, "7: 0+1+4 1 4", "no record tells dependencies|deleted while they waited have no record|under Grid Engine they waited 1 s"},
	} {
		t.Run(name, func(t *testing.T) {
			text := head
			for _, l := range c.lines {
				text += l.String()
			}
			a := model.NewAccount("accounting", "")
			r := require.Value(gridengine.Read([]byte(text), time.UTC))(t)
			log := require.Value(r.Log(&jobs.Options{}, a))(t)
			var got []string
			for k, j := range log.Jobs {
				got = append(got, fmt.Sprintf("%s: %v+%v+%v %d %v", log.Names.Jobs[k], j.Submit, j.Wait, j.Runtime, j.Procs, j.RequestedTime))
			}
			require.Same(t, "jobs", c.want, strings.Join(got, ", "))
			require.Says(t, "the account", strings.Join(a.Lines(), "\n"), strings.Split(c.tells, "|")...)
		})
	}
}

// Records of qacct have local times, words behind numbers, and tasks of parallel jobs without a mark.
func TestQacct(t *testing.T) {
	record := func(id, start, end, failed, pe string) string {
		return "====\nqname all.q   \ngroup staff\nowner ann\nproject fusion\njobname a b\njobnumber " + id + "\ntaskid undefined\nqsub_time Sat Nov 28 11:07:00 2026\nstart_time " +
			start + "\nend_time " + end + "\ngranted_pe " + pe + "\nslots 4\nfailed " + failed + "\nexit_status 0\ncategory -l h_rt=60\n"
	}
	at := func(seconds string) string { return "Sat Nov 28 11:07:" + seconds + " 2026" }
	text := record("7", at("12"), at("20"), "0", "mpi") + record("7", at("12"), at("20"), "0", "mpi") + record("8", "-/-", "-/-", "26  : opening input/output file", "NONE") +
		record("9", at("01"), at("05"), "25  : rescheduling", "mpi") + record("9", at("07"), at("09"), "37  : qmaster enforced h_rt limit", "mpi")
	a := model.NewAccount("qacct", "")
	zone := require.Value(time.LoadLocation("America/New_York"))(t)
	log := require.Value(require.Value(gridengine.Read([]byte(text), zone))(t).Log(&jobs.Options{}, a))(t)
	require.Same(t, "jobs", []string{"7", "9", "9#2"}, log.Names.Jobs)
	require.Same(t, "groups", []string{"fusion"}, log.Names.Groups)
	require.Same(t, "names", []string{"a b"}, log.Names.Executables)
	require.Same(t, "the beginning", "2026-11-28 11:07:00 -0500 EST", log.Header.Time(0).In(zone).String())
	require.Says(t, "the account", strings.Join(a.Lines(), "\n"), "Grid Engine, qacct -j", "1 record of tasks", "1 run that never started (8)", "are UTC")
}

// Of qstat, jobs that are held or failed are left out, equal priorities stay in order, and -r tells limits.
func TestQstat(t *testing.T) {
	const head = "job-ID  prior   name       user         state submit/start at     queue                          slots ja-task-ID \n------\n"
	text := head + "      1 0.5 a job      ann          Rr    11/28/2026 11:00:00 all.q@n1                           2        \n" +
		"       Full jobname:     a job\n       Hard Resources:   h_vmem=1G (0.000000)\n                         h_rt=600 (0.000000)\n       Soft Resources:   h_rt=9 (0.0)\n" +
		"      2 0.3 b          ann          Rq    11/28/2026 11:00:30                                    1        \n" +
		"      3 0.3 c          ann          qw    11/28/2026 11:01:00                                    1 1,4-6:2\n" +
		"      4 0.9 d          ann          qw    11/28/2026 11:00:10                                    1        \n" +
		"      5 0.0 e          ann          hqw   11/28/2026 11:00:10                                    1        \n" +
		"      6 0.0 f          ann          Eqw   11/28/2026 11:00:10                                    1        \n" +
		"      7 0.1 g          ann          S     11/28/2026 11:00:20 all.q@n1                           1        \n"
	r := require.Value(gridengine.Read([]byte(text), time.UTC))(t)
	require.Same(t, "order", "1 7 | 4 2 3.1 3.4 3.6", phases(r))
	a := model.NewAccount("qstat", "")
	log := require.Value(r.Log(&jobs.Options{Pending: true}, a))(t)
	require.Same(t, "the rest of the limit", 540.0, log.Jobs[0].RequestedTime) // since 11:01:00
	require.Says(t, "the account", strings.Join(a.Lines(), "\n"), "1 job on hold (state h) (5)", "1 job that failed to start (state E) (6)", "now is 2026-11-28 11:01:00",
		"-tc may let only some", "5 jobs without a time limit, each with 600 s", "1 job without a time limit, still running, each with 600 s from now", "are UTC")
	_, err := r.Log(&jobs.Options{}, model.NewAccount("qstat", ""))
	require.Refused(t, "jobs that haven't run", err, model.ErrInvalid, "none of its 9 jobs has run; jobs that run and wait are taken by --pending")
}

// qstat -f tells the slots of queues, which of them take jobs, and what reservations hold.
func TestQueues(t *testing.T) {
	const text = "queuename                      qtype resv/used/tot. load_avg arch          states\n---\nall.q@n1      BIP   4/4/8          10.35    lx-amd64      \n" +
		"     63 0.555 long       ann          r     11/28/2026 11:18:54     4        \n---\nold.q@n1      BIP   0/0/2          10.35    lx-amd64      d\n\n" +
		"####\n - PENDING JOBS - PENDING JOBS\n####\n     64 0.555 other      ann          qw    11/28/2026 11:18:52     4        \n"
	a := model.NewAccount("qstat", "")
	r := require.Value(gridengine.Read([]byte(text), time.UTC))(t)
	log := require.Value(r.Log(&jobs.Options{Pending: true}, a))(t)
	require.Same(t, "order", "63 | 64", phases(r))
	require.Same(t, "processors", "8", log.Header[0].Value)
	inQueue := require.Value(r.Log(&jobs.Options{Pending: true, Partition: "all.q"}, model.NewAccount("qstat", "")))(t)
	require.Same(t, "a job that waits has no queue yet", 2, len(inQueue.Jobs))
	require.Says(t, "the account", strings.Join(a.Lines(), "\n"), "4 slots that reservations hold", "1 node down or drained", "1 job without a time limit, each with 3,600 s, as no job tells one", "1 job without a time limit, still running, each with 3,600 s from now, as no job tells one")
}

// What isn't as Grid Engine writes it is named with its line.
func TestRefused(t *testing.T) {
	good := line{id: 7, submit: 100, start: 101, end: 105}.String()
	for name, c := range map[string]struct{ text, want string }{
		"cut off":       {good + good[:40] + "\n", "line 2: it has"},
		"milliseconds":  {good + strings.Replace(good, ":101:", ":1795864873000:", 1), "line 2: start_time is"},
		"a limit":       {line{id: 7, category: "-l h_rt=soon"}.String(), "line 1: the category"},
		"something":     {"job-IDs\n", "doesn't begin as one"},
		"a qstat line":  {"job-ID  prior\n---\n   12 0.5 a\n", "line 3: it is no line of qstat"},
		"cut off XML":   {"<?xml version='1.0'?>\n<job_info>\n<job_list>", "line 3: XML"},
		"a state":       {"<job_info><job_list><JB_job_number>1</JB_job_number><slots>1</slots><state>x</state></job_list></job_info>", "line 1: job 1: its state"},
		"endless tasks": {"<job_info><job_list><JB_job_number>1</JB_job_number><slots>1</slots><state>qw</state><tasks>1-99999999:1</tasks></job_list></job_info>", "its tasks"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := gridengine.Read([]byte(c.text), time.UTC)
			require.Refused(t, "the text", err, model.ErrInvalid, c.want)
		})
	}
}

// FuzzRead checks that no text ends in a panic, and that the jobs of a log have sizes and times.
func FuzzRead(f *testing.F) {
	f.Add(line{id: 7, submit: 100, start: 101, end: 105}.String())
	f.Add("====\nqname all.q\njobnumber 7\nslots 1\nfailed 0\nexit_status 0\nstart_time Sat Nov 28 11:07:12 2026\n")
	f.Add("job-ID  prior\n--\n 4 0.5 a ann qw 11/28/2026 11:08:23 1 5-9:2\n")
	f.Add("<job_info><job_list><JB_job_number>1</JB_job_number><slots>1</slots><state>qw</state></job_list></job_info>")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := gridengine.Read([]byte(text), time.UTC)
		if err != nil {
			return
		}
		for _, pending := range []bool{false, true} {
			log, err := r.Log(&jobs.Options{Pending: pending}, model.NewAccount("", ""))
			if err != nil {
				continue
			}
			for _, j := range log.Jobs {
				if j.Procs < 1 || j.Runtime < 0 || j.Submit < 0 || j.RequestedTime < 1 {
					t.Errorf("job %+v", j)
				}
			}
		}
	})
}

// On nodes: the slots of each queue on a host are one, and a job stays in its queue.
func TestQueuesAsNodes(t *testing.T) {
	const queues = "queuename                      qtype resv/used/tot. load_avg arch          states\n" +
		"all.q@node1                    BIP   4/4/8          10.35    lx-amd64      \n" +
		"     63 0.55500 long       ada          r     11/28/2026 11:18:54     6        \n" +
		"short.q@node1                  BIP   0/0/2          10.35    lx-amd64      \n" +
		"     64 0.55500 other      ada          qw    11/28/2026 11:18:52     12        \n"
	a := model.NewAccount("x", "")
	r := require.Value(gridengine.Read([]byte(queues), time.UTC))(t)
	log := require.Value(r.Log(&jobs.Options{Placed: true, Pending: true}, a))(t)
	require.Same(t, "nodes", []model.NodeGroup{{ID: "all.q@node1", Count: 1, Capacity: []int64{8}, Partitions: []string{"all.q"}},
		{ID: "short.q@node1", Count: 1, Capacity: []int64{2}, Partitions: []string{"short.q"}}}, log.Placed.Nodes)
	require.Same(t, "jobs", 1, len(log.Jobs)) // the other one needs two nodes of eight, there is one
	require.Same(t, "needs", &model.NodeNeeds{Each: []int64{6}, Partitions: []string{"all.q"}}, log.Placed.Needs[0])
	require.Says(t, "account", strings.Join(a.Lines(), "\n"), "the slots of each queue on a host are a node", "1 job that fit no nodes")
	require.Refused(t, "by nodes", require.Err(r.Log(&jobs.Options{ByNodes: true}, model.NewAccount("x", ""))), model.ErrInvalid, "give --unit resources")
}
