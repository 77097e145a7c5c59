// SPDX-License-Identifier: MIT

// Package slurm reads what Slurm prints: the tables of sacct -P and of squeue with a format, their JSON, and the nodes of
// scontrol show node and sinfo.
package slurm

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/gapwise/gapwise/instances/internal/jobs"
)

// Table holds the records of jobs.
type Table struct {
	Jobs  []jobs.Job
	Steps int // lines of steps, which aren't jobs
	// Untold lists the resources without a column: memory, GPUs. Unread lists the columns that aren't read.
	Untold, Unread []string
	Unknown        []string // keys of JSON, in alphabetical order

	has   map[string]bool // columns
	clock clock
	twice []string // jobs with times that are two, when the clocks go back
	tasks int      // of arrays, beyond one a line
}

// column is a column that is read. Its names are in lower case and without _; paths are its places in JSON.
type column struct {
	names []string
	paths []string
	read  func(j *jobs.Job, s string, c *clock) bool
}

// columns are in the order of reading: allocated amounts come before requested ones, which fill the gaps.
var columns = []column{
	{names: []string{"jobid", "jobidraw"}, read: func(j *jobs.Job, s string, _ *clock) bool { j.ID = s; return s != "" }},
	{[]string{"user"}, []string{"user", "user_name"}, func(j *jobs.Job, s string, _ *clock) bool { return named(&j.User, s) }},
	{[]string{"account"}, []string{"account"}, func(j *jobs.Job, s string, _ *clock) bool { return named(&j.Account, s) }},
	{[]string{"partition"}, []string{"partition"}, func(j *jobs.Job, s string, _ *clock) bool { return named(&j.Partition, s) }},
	{[]string{"qos"}, []string{"qos"}, func(j *jobs.Job, s string, _ *clock) bool { return named(&j.QOS, s) }},
	{[]string{"jobname", "name"}, []string{"name"}, func(j *jobs.Job, s string, _ *clock) bool { return named(&j.Name, s) }},
	{[]string{"submit", "submittime"}, []string{"time/submission", "submit_time"}, func(j *jobs.Job, s string, c *clock) bool { return c.moment(&j.Submit, s) }},
	{[]string{"eligible", "eligibletime"}, []string{"time/eligible", "eligible_time"}, func(j *jobs.Job, s string, c *clock) bool { return c.moment(&j.Eligible, s) }},
	{[]string{"start", "starttime"}, []string{"time/start", "start_time"}, func(j *jobs.Job, s string, c *clock) bool { return c.moment(&j.Start, s) }},
	{[]string{"end", "endtime"}, []string{"time/end", "end_time"}, func(j *jobs.Job, s string, c *clock) bool { return c.moment(&j.End, s) }},
	{[]string{"elapsedraw"}, []string{"time/elapsed"}, func(j *jobs.Job, s string, _ *clock) bool { return number(&j.Elapsed, s) }},
	{[]string{"elapsed", "time", "timeused"}, nil, func(j *jobs.Job, s string, _ *clock) bool { return length(&j.Elapsed, s) }},
	{[]string{"suspended"}, []string{"time/suspended"}, func(j *jobs.Job, s string, _ *clock) bool {
		return digits(&j.Suspended, s) && j.Suspended <= mostTime || length(&j.Suspended, s)
	}},
	{[]string{"timelimitraw"}, []string{"time/limit", "time_limit"}, func(j *jobs.Job, s string, _ *clock) bool {
		return !strings.Contains(s, ":") && limit(&j.Limit, s) // minutes: 90, not 1:30:00
	}},
	{[]string{"timelimit"}, nil, func(j *jobs.Job, s string, _ *clock) bool { return limit(&j.Limit, s) }},
	{[]string{"alloccpus", "ncpus", "cpus"}, []string{"cpus"}, func(j *jobs.Job, s string, _ *clock) bool { return positive(&j.CPUs, s) }},
	{[]string{"nnodes", "allocnodes", "nodes"}, []string{"allocation_nodes", "node_count"}, func(j *jobs.Job, s string, _ *clock) bool { return positive(&j.Nodes, s) }},
	{[]string{"alloctres", "tresalloc"}, []string{"tres/allocated", "tres_alloc_str"}, func(j *jobs.Job, s string, _ *clock) bool {
		if ok := tres(j, s); !ok || nothing(s) {
			return ok
		}
		j.MemoryMB = max(0, j.MemoryMB) // what isn't allocated isn't shared out
		return true
	}},
	{[]string{"reqcpus"}, []string{"required/CPUs"}, func(j *jobs.Job, s string, _ *clock) bool { return positive(&j.CPUs, s) }},
	{[]string{"reqtres"}, []string{"tres/requested", "tres_req_str"}, func(j *jobs.Job, s string, _ *clock) bool { return tres(j, s) }},
	{[]string{"reqmem", "minmemory"}, nil, func(j *jobs.Job, s string, _ *clock) bool { return memory(j, s) }},
	{[]string{"trespernode", "gres"}, []string{"tres_per_node"}, func(j *jobs.Job, s string, _ *clock) bool { return perNode(j, s) }},
	{[]string{"constraints", "features"}, []string{"constraints", "features"}, func(j *jobs.Job, s string, _ *clock) bool {
		if !nothing(s) && strings.ContainsAny(s, "|[]()*") { // alternatives, or numbers of nodes
			return asks(j, s, asksFeatures)
		}
		if !nothing(s) {
			j.Features = strings.FieldsFunc(s, func(c rune) bool { return c == '&' || c == ',' })
		}
		return true
	}},
	{[]string{"licenses"}, []string{"licenses"}, func(j *jobs.Job, s string, _ *clock) bool { return asks(j, s, asksLicences) }},
	{[]string{"reqnodes"}, []string{"required_nodes"}, func(j *jobs.Job, s string, _ *clock) bool { return asks(j, s, asksNodes) }},
	{[]string{"excnodes"}, []string{"excluded_nodes"}, func(j *jobs.Job, s string, _ *clock) bool { return asks(j, s, asksNodes) }},
	{[]string{"exclusive"}, []string{"exclusive"}, func(j *jobs.Job, s string, _ *clock) bool {
		return no(s) || asks(j, s, "jobs that take whole nodes")
	}},
	{[]string{"contiguous"}, []string{"contiguous"}, func(j *jobs.Job, s string, _ *clock) bool { return no(s) || asks(j, s, asksNodes) }},
	{[]string{"clusterfeatures"}, []string{"cluster_features"}, func(j *jobs.Job, s string, _ *clock) bool { return asks(j, s, asksFeatures) }},
	{[]string{"burstbuffer"}, []string{"burst_buffer"}, func(j *jobs.Job, s string, _ *clock) bool { return asks(j, s, "jobs with a burst buffer") }},
	{[]string{"reservation"}, []string{"reservation/name", "resv_name"}, func(j *jobs.Job, s string, _ *clock) bool {
		return asks(j, s, "jobs of a reservation")
	}},
	{[]string{"state", "st"}, []string{"state/current", "job_state"}, func(j *jobs.Job, s string, _ *clock) bool { j.State = state(s); return true }},
	{[]string{"reason", "nodelist(reason)"}, []string{"state/reason", "state_reason"}, func(j *jobs.Job, s string, _ *clock) bool {
		j.Reason = strings.Trim(s, "()")
		return true
	}},
	{[]string{"dependency"}, []string{"dependency"}, func(j *jobs.Job, s string, _ *clock) bool {
		if !nothing(s) && nothing(j.Reason) {
			j.Reason = "Dependency"
		}
		return true
	}},
	{[]string{"nodelist"}, []string{"nodes"}, func(j *jobs.Job, s string, _ *clock) bool {
		j.Hosts, _ = hosts(s) // or none: (null), None assigned
		return true
	}},
	{[]string{"priority"}, []string{"priority"}, func(j *jobs.Job, s string, _ *clock) bool { return priority(j, s) }},
}

// columnOf returns the index of the column with a name, -1 for one that isn't read.
func columnOf(name string) int {
	key := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "")
	return slices.IndexFunc(columns, func(c column) bool { return slices.Contains(c.names, key) })
}

// Advice is the command for a table with all columns that are read.
const Advice = "sacct -a -X -P --format=JobID,User,Account,Partition,QOS,JobName,Submit,Eligible,Start,End,Elapsed,Suspended,Timelimit,AllocCPUS,ReqCPUS,NNodes,ReqTRES,AllocTRES,State,NodeList"

// QueueAdvice is the command for a table of the jobs that run and wait.
const QueueAdvice = "squeue -a -r -S -p -o '%i|%u|%a|%P|%q|%V|%S|%e|%M|%l|%C|%D|%m|%b|%T|%r|%Q|%f|%W'"

// Begins reports whether a text begins as a table of sacct or squeue does.
func Begins(text []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(text, " \t\r\n"), []byte("\n"))
	id, others := false, 0
	for _, name := range strings.FieldsFunc(string(line), func(c rune) bool { return strings.ContainsRune("|,;\t\r ", c) }) {
		c := columnOf(name)
		if c < 0 {
			continue
		}
		switch columns[c].names[0] {
		case "jobid":
			id = strings.EqualFold(strings.TrimSuffix(strings.ToLower(name), "raw"), "jobid")
		case "alloccpus", "jobname", "state", "submit", "elapsed", "elapsedraw", "partition", "timelimit":
			others++
		}
	}
	return id && (others >= 2 || bytes.ContainsRune(line, '|'))
}

// newTable returns a table of some columns. Its times without a zone are local to the given one.
func newTable(zone *time.Location, has func(column) bool) *Table {
	t := &Table{has: map[string]bool{}, clock: clock{zone: zone, second: map[*int64]int64{}}}
	for _, c := range columns {
		if has(c) {
			t.has[c.names[0]] = true
		}
	}
	for _, x := range []struct {
		name string
		by   []string
	}{{"memory", []string{"alloctres", "reqtres", "reqmem"}}, {"GPUs", []string{"alloctres", "reqtres", "trespernode"}}} {
		if !slices.ContainsFunc(x.by, func(name string) bool { return t.has[name] }) {
			t.Untold = append(t.Untold, x.name)
		}
	}
	return t
}

// add adds the job of a record; an array that waits as a whole becomes its tasks. The function cell returns the text of a
// column and its name in the file, which is "" if the record lacks it.
func (t *Table) add(line int, where string, cell func(column int) (text, name string)) error {
	j := jobs.New(line)
	clear(t.clock.second)
	for c := range columns {
		text, name := cell(c)
		if name != "" && !columns[c].read(&j, strings.TrimSpace(text), &t.clock) {
			remedy := ""
			if slices.Contains([]string{"submit", "eligible", "start", "end"}, columns[c].names[0]) {
				remedy = "; SLURM_TIME_FORMAT=%s has it write times that are read"
			}
			return invalid(line, "%s%s is %s, which Slurm doesn't write there%s", where, name, jobs.Quote(text), remedy)
		}
	}
	if strings.Contains(j.ID, ".") && !strings.Contains(j.ID, "[") {
		t.Steps++
		return nil
	}
	if t.clock.settle(&j) {
		t.twice = append(t.twice, j.ID)
	}
	ids, few, ok := tasks(j.ID)
	if t.tasks += len(ids) - 1; !ok || t.tasks > mostTasks {
		return invalid(line, "%sthe tasks of %s aren't told one by one; write them so: %s", where, jobs.Quote(j.ID), QueueAdvice)
	}
	if few || j.Reason == "JobArrayTaskLimit" {
		j.Ask("tasks of arrays with a limit of tasks at once")
	}
	for _, id := range ids {
		j.ID = id
		t.Jobs = append(t.Jobs, j)
	}
	return nil
}

// mostTasks bounds the tasks of arrays, of which a short line may have many.
const mostTasks = 1_000_000

// Read reads a table, or JSON. Times without an offset are local to the zone. Errors wrap model.ErrInvalid and
// name the line, or the job.
func Read(text []byte, zone *time.Location) (*Table, error) {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return readJSON(text)
	}
	lines := strings.Split(string(text), "\n")
	first := slices.IndexFunc(lines, func(l string) bool { return strings.TrimSpace(l) != "" })
	if first < 0 {
		return nil, invalid(0, "it is empty")
	}
	head := strings.TrimSpace(lines[first])
	header := strings.Split(head, "|") // sacct -p: the last one has no name
	form := shape{want: len(header)}
	at, err := form.places(header, first+1)
	if err != nil {
		return nil, err
	}
	t := newTable(zone, func(c column) bool { return at[columnOf(c.names[0])] >= 0 })
	for _, name := range header {
		if columnOf(name) < 0 && name != "" {
			t.Unread = append(t.Unread, name)
		}
	}
	t.Jobs = make([]jobs.Job, 0, len(lines))
	for k := first + 1; k < len(lines); k++ {
		n := k + 1
		if trimmed := strings.TrimSpace(lines[k]); trimmed == "" || trimmed == head {
			continue
		}
		line := lines[k]
		for form.breaks(line) && k+1 < len(lines) {
			k++
			line += "\n" + lines[k]
		}
		fields, err := form.split(line, n)
		if err != nil {
			return nil, err
		}
		if err := t.add(n, "", func(c int) (string, string) {
			if at[c] < 0 {
				return "", ""
			}
			return fields[at[c]], header[at[c]]
		}); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// shape is the form of a table's lines.
type shape struct {
	want int // fields
	free int // the place of the only column of free text: -1 if there are none or several
}

// places returns the columns' places, -1 for those that the table lacks. The error names the missing ones.
func (s *shape) places(header []string, line int) (at []int, err error) {
	at = slices.Repeat([]int{-1}, len(columns))
	s.free = -1
	texts := 0
	for c, name := range header {
		if k := columnOf(name); k >= 0 && (at[k] < 0 || strings.EqualFold(name, "JobID") || strings.EqualFold(name, "AllocCPUS")) {
			at[k] = c
		}
		switch strings.ToLower(name) {
		case "jobname", "name", "comment", "admincomment", "systemcomment", "submitline", "workdir", "wckey":
			texts, s.free = texts+1, c
		}
	}
	if texts != 1 {
		s.free = -1
	}
	if len(header) < 2 {
		return nil, invalid(line, "its columns aren't separated by |; write the table by %s or, of the queue, %s", Advice, QueueAdvice)
	}
	for _, need := range [][]string{{"JobID"}, {"Submit"}, {"State"}, {"AllocCPUS", "ReqCPUS", "AllocTRES", "ReqTRES"}, {"Start"}, {"Elapsed", "ElapsedRaw", "End"}} {
		if !slices.ContainsFunc(need, func(name string) bool { return at[columnOf(name)] >= 0 }) {
			return nil, invalid(line, "there is no column %s; write the table by %s", need[0], Advice)
		}
	}
	return at, nil
}

// breaks reports whether a line ends in the midst of its free text, in which there may be a line break.
func (s *shape) breaks(line string) bool {
	return s.free >= 0 && strings.Count(line, "|") == s.free && s.free < s.want-1
}

// split returns the fields of a line. If it has more than the header, a | is part of the only column of free text.
func (s *shape) split(line string, n int) ([]string, error) {
	fields := strings.Split(strings.TrimRight(line, "\r"), "|")
	if more := len(fields) - s.want; more > 0 && s.free >= 0 && !strings.Contains(line, "\n") {
		name := strings.Join(fields[s.free:s.free+more+1], "|")
		fields = slices.Concat(fields[:s.free], []string{name}, fields[s.free+more+1:])
	}
	switch {
	case len(fields) < s.want:
		return nil, invalid(n, "it has %d of %d fields; is the file cut off, or is a line break in a name? leave out JobName", len(fields), s.want)
	case len(fields) > s.want:
		return nil, invalid(n, "it has %d fields, the header %d; leave out columns of free text, in which a | may stand", len(fields), s.want)
	}
	return fields, nil
}

func invalid(line int, format string, args ...any) error {
	return jobs.Invalid("Slurm table", line, format, args...)
}
