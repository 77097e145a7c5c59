// SPDX-License-Identifier: MIT

// Package slurm reads what Slurm prints: the tables of sacct -P and of squeue with a
// format, and the nodes of scontrol show node and sinfo -N.
package slurm

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gapwise/gapwise/model"
)

// Unknown is a time, a length or a number that a table doesn't give.
const Unknown = -1

// NoLimit is the time limit of a job without one (UNLIMITED).
const NoLimit = -2

// Job is a line of a table: a job, a task of an array, or a component of a
// heterogeneous job. Times are seconds since 1970; sizes are at least 0, or Unknown.
type Job struct {
	Line       int    // from 1
	ID         string // 12, 12_3 of an array, 12+1 of a heterogeneous job
	User       string
	Account    string
	Partition  string
	QOS        string
	Name       string
	Submit     int64
	Eligible   int64 // from when on it might start: after dependencies and begin times
	Start      int64
	End        int64
	Elapsed    int64 // seconds, without suspensions
	Limit      int64 // seconds, or NoLimit
	CPUs       int64 // allocated or, before, requested
	Nodes      int64
	MemoryMB   int64 // in all
	GPUs       int64
	Restricted bool // to nodes with features
	State      string
}

// Table holds the contents of a table.
type Table struct {
	Jobs  []Job
	Steps int // lines of steps, which aren't jobs
	// Untold lists the resources without a column: memory, GPUs.
	Untold []string
}

// columns are the names of the columns that are read, in lower case and without _, with their readers.
var columns = map[string]func(*Job, string, *time.Location) bool{
	"jobid":      func(j *Job, s string, _ *time.Location) bool { j.ID = s; return s != "" },
	"user":       func(j *Job, s string, _ *time.Location) bool { j.User = s; return true },
	"account":    func(j *Job, s string, _ *time.Location) bool { j.Account = s; return true },
	"partition":  func(j *Job, s string, _ *time.Location) bool { j.Partition = s; return true },
	"qos":        func(j *Job, s string, _ *time.Location) bool { j.QOS = s; return true },
	"jobname":    func(j *Job, s string, _ *time.Location) bool { j.Name = s; return true },
	"submit":     func(j *Job, s string, z *time.Location) bool { return moment(&j.Submit, s, z) },
	"eligible":   func(j *Job, s string, z *time.Location) bool { return moment(&j.Eligible, s, z) },
	"start":      func(j *Job, s string, z *time.Location) bool { return moment(&j.Start, s, z) },
	"end":        func(j *Job, s string, z *time.Location) bool { return moment(&j.End, s, z) },
	"elapsed":    func(j *Job, s string, _ *time.Location) bool { return length(&j.Elapsed, s) },
	"elapsedraw": func(j *Job, s string, _ *time.Location) bool { return number(&j.Elapsed, s) },
	"timelimit":  func(j *Job, s string, _ *time.Location) bool { return limit(&j.Limit, s) },
	"timelimitraw": func(j *Job, s string, _ *time.Location) bool {
		if strings.Contains(s, ":") {
			return false // minutes: 90, not 1:30:00
		}
		return limit(&j.Limit, s)
	},
	"alloccpus":   func(j *Job, s string, _ *time.Location) bool { return positive(&j.CPUs, s) },
	"reqcpus":     func(j *Job, s string, _ *time.Location) bool { return j.CPUs > 0 || positive(&j.CPUs, s) },
	"nnodes":      func(j *Job, s string, _ *time.Location) bool { return positive(&j.Nodes, s) },
	"alloctres":   func(j *Job, s string, _ *time.Location) bool { return j.tres(s) },
	"reqtres":     func(j *Job, s string, _ *time.Location) bool { return j.tres(s) },
	"reqmem":      func(j *Job, s string, _ *time.Location) bool { return j.memory(s) },
	"trespernode": func(j *Job, s string, _ *time.Location) bool { return j.perNode(s) },
	"constraints": func(j *Job, s string, _ *time.Location) bool {
		j.Restricted = s != "" && s != "(null)" && s != "N/A"
		return true
	},
	"state": func(j *Job, s string, _ *time.Location) bool { j.State = state(s); return true },
}

// reading is the order in which columns are read: allocated amounts come before requested ones, which fill the gaps.
var reading = []string{"jobid", "user", "account", "partition", "qos", "jobname", "submit", "eligible", "start", "end", "elapsedraw", "elapsed",
	"timelimitraw", "timelimit", "alloccpus", "reqcpus", "nnodes", "alloctres", "reqtres", "reqmem", "trespernode", "constraints", "state"}

// also are other names of columns, including squeue's.
var also = map[string]string{"jobidraw": "jobid", "name": "jobname", "submittime": "submit", "eligibletime": "eligible", "starttime": "start", "endtime": "end",
	"time": "elapsed", "timeused": "elapsed", "ncpus": "alloccpus", "cpus": "alloccpus", "allocnodes": "nnodes", "nodes": "nnodes", "minmemory": "reqmem",
	"tresalloc": "alloctres", "st": "state", "features": "constraints", "gres": "trespernode"}

// Advice is the command for a table with all columns that are read.
const Advice = "sacct -a -X -P --format=JobID,User,Account,Partition,QOS,JobName,Submit,Eligible,Start,End,Elapsed,Timelimit,AllocCPUS,ReqCPUS,NNodes,ReqTRES,AllocTRES,State"

// Begins reports whether a text begins as a table of sacct or squeue does.
func Begins(text []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(text, " \t\r\n"), []byte("\n"))
	id, others := false, 0
	for _, name := range strings.FieldsFunc(string(line), func(c rune) bool { return strings.ContainsRune("|,;\t\r ", c) }) {
		switch key := column(name); key {
		case "jobid":
			id = strings.EqualFold(strings.TrimSuffix(strings.ToLower(name), "raw"), "jobid")
		case "alloccpus", "jobname", "state", "submit", "elapsed", "elapsedraw", "partition", "timelimit":
			others++
		}
	}
	return id && (others >= 2 || bytes.ContainsRune(line, '|'))
}

// column returns the key of columns for a name, "" for a column that isn't read.
func column(name string) string {
	key := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "")
	if other := also[key]; other != "" {
		key = other
	}
	if columns[key] == nil {
		return ""
	}
	return key
}

// Read reads a table. Its times are local to the zone. Errors wrap model.ErrInvalid and
// name the line.
func Read(text []byte, zone *time.Location) (*Table, error) {
	lines := strings.Split(string(text), "\n")
	first := slices.IndexFunc(lines, func(l string) bool { return strings.TrimSpace(l) != "" })
	if first < 0 {
		return nil, invalid(0, "it is empty")
	}
	header := fieldsOf(lines[first])
	at, free, err := places(header, first+1)
	if err != nil {
		return nil, err
	}
	t := &Table{}
	for _, x := range []struct {
		name string
		by   []string
	}{{"memory", []string{"alloctres", "reqtres", "reqmem"}}, {"GPUs", []string{"alloctres", "reqtres", "trespernode"}}} {
		if !slices.ContainsFunc(x.by, func(key string) bool { _, ok := at[key]; return ok }) {
			t.Untold = append(t.Untold, x.name)
		}
	}
	for k, line := range lines[first+1:] {
		if strings.TrimSpace(line) == "" {
			continue
		}
		n := first + 2 + k
		fields, err := split(line, len(header), free, n)
		if err != nil {
			return nil, err
		}
		if id := fields[at["jobid"]]; strings.Contains(id, ".") {
			t.Steps++
			continue
		}
		j := Job{Line: n, Submit: Unknown, Eligible: Unknown, Start: Unknown, End: Unknown, Elapsed: Unknown, Limit: Unknown, CPUs: Unknown, Nodes: Unknown,
			MemoryMB: Unknown, GPUs: Unknown}
		for _, key := range reading {
			if c, ok := at[key]; ok && !columns[key](&j, strings.TrimSpace(fields[c]), zone) {
				return nil, invalid(n, "%s is %s, which Slurm doesn't write there", header[c], quote(fields[c]))
			}
		}
		t.Jobs = append(t.Jobs, j)
	}
	return t, nil
}

// places returns the columns' places, and the place of the only column of free text: -1 if there are none or several.
// The error names the missing columns.
func places(header []string, line int) (at map[string]int, free int, err error) {
	at, free = map[string]int{}, -1
	texts := 0
	for c, name := range header {
		if key := column(name); key != "" {
			if _, twice := at[key]; !twice || strings.EqualFold(name, "JobID") || strings.EqualFold(name, "AllocCPUS") {
				at[key] = c
			}
		}
		switch strings.ToLower(name) {
		case "jobname", "name", "comment", "admincomment", "systemcomment", "submitline", "workdir", "reason", "wckey", "nodelist(reason)":
			texts, free = texts+1, c
		}
	}
	if texts != 1 {
		free = -1
	}
	if len(header) < 2 {
		return nil, 0, invalid(line, "its columns aren't separated by |; write the table by %s", Advice)
	}
	has := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(k string) bool { _, ok := at[k]; return ok })
	}
	for _, need := range []struct {
		name string
		ok   bool
	}{{"JobID", has("jobid")}, {"Submit", has("submit")}, {"State", has("state")}, {"AllocCPUS", has("alloccpus", "reqcpus", "alloctres", "reqtres")},
		{"Start", has("start")}, {"Elapsed", has("elapsed", "elapsedraw", "end")}} {
		if !need.ok {
			return nil, 0, invalid(line, "there is no column %s; write the table by %s", need.name, Advice)
		}
	}
	return at, free, nil
}

func fieldsOf(line string) []string {
	return strings.Split(strings.TrimSuffix(strings.TrimSpace(line), "|"), "|")
}

// split returns the fields of a line. If it has more than the header, a | is part of the only column of free text.
func split(line string, want, free, n int) ([]string, error) {
	fields := strings.Split(strings.TrimRight(line, "\r"), "|")
	if len(fields) == want+1 && fields[want] == "" { // sacct -p
		fields = fields[:want]
	}
	if more := len(fields) - want; more > 0 && free >= 0 {
		name := strings.Join(fields[free:free+more+1], "|")
		fields = slices.Concat(fields[:free], []string{name}, fields[free+more+1:])
	}
	switch {
	case len(fields) < want:
		return nil, invalid(n, "it has %d of %d fields; is the file cut off?", len(fields), want)
	case len(fields) > want:
		return nil, invalid(n, "it has %d fields, the header %d; leave out columns of free text, in which a | may stand", len(fields), want)
	}
	return fields, nil
}

func invalid(line int, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if line > 0 {
		text = fmt.Sprintf("line %d: %s", line, text)
	}
	return fmt.Errorf("%w Slurm table: %s", model.ErrInvalid, text)
}

// quote returns text for a message: on one line, and not long.
func quote(text string) string {
	if len(text) > 40 {
		text = text[:40]
	}
	return fmt.Sprintf("%q", text)
}
