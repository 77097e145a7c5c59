// SPDX-License-Identifier: MIT

package gridengine

import (
	"strings"
	"time"

	"github.com/gapwise/gapwise/instances/internal/jobs"
)

// The accounting file has 45 fields, separated by colons. Only the category, the 40th, may hold colons of its own.
const (
	leastFields  = 45
	beforeOthers = 39 // fields before the category
	afterOthers  = 5  // fields behind it
)

// places are the fields of the accounting file, from 1, by their names in qacct.
var places = map[string]int{"qname": 1, "group": 3, "owner": 4, "jobname": 5, "jobnumber": 6, "qsub_time": 9, "start_time": 10, "end_time": 11,
	"failed": 12, "exit_status": 13, "project": 32, "slots": 35, "taskid": 36}

// readAccounting reads lines of runs in the order of their ends.
func (r *Records) readAccounting(text string, zone *time.Location) error {
	r.Format = "accounting"
	record := map[string]string{}
	for k, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, ":")
		if len(f) < leastFields {
			return invalid(k+1, "it has %d of %d fields; is the file cut off?", len(f), leastFields)
		}
		for name, place := range places {
			record[name] = f[place-1]
		}
		record["category"], record["pe_taskid"] = strings.Join(f[beforeOthers:len(f)-afterOthers], ":"), f[len(f)-4]
		if err := r.run(record, k+1, zone); err != nil {
			return err
		}
	}
	return nil
}

// readQacct reads records of lines with a key and a value.
func (r *Records) readQacct(text string, zone *time.Location) error {
	r.Format, r.local = "qacct -j", true
	first, record := 0, map[string]string{}
	for k, line := range strings.Split(text+"\n====", "\n") {
		if key, value, _ := strings.Cut(strings.TrimSpace(line), " "); !strings.HasPrefix(line, "====") {
			record[key] = strings.TrimSpace(value)
			continue
		}
		if record["jobnumber"] != "" { // else it is the total
			if err := r.run(record, first, zone); err != nil {
				return err
			}
		}
		first = k + 1
		clear(record)
	}
	r.ownRuns()
	return nil
}

// run adds the run of a record.
func (r *Records) run(record map[string]string, line int, zone *time.Location) error {
	j := jobs.New(line)
	var number, task, failedCode, exit int64
	for _, x := range []struct {
		key  string
		into *int64
	}{{"jobnumber", &number}, {"taskid", &task}, {"slots", &j.CPUs}, {"failed", &failedCode}, {"exit_status", &exit}} {
		value, _, _ := strings.Cut(record[x.key], " ") // failed: 37 : qmaster enforced h_rt limit
		if value != "undefined" && !whole(x.into, value) {
			return invalid(line, "%s is %s, must be a whole number", x.key, jobs.Quote(record[x.key]))
		}
	}
	for _, x := range []struct {
		key  string
		into *int64
	}{{"qsub_time", &j.Submit}, {"start_time", &j.Start}, {"end_time", &j.End}} {
		if !moment(x.into, record[x.key], zone) {
			return invalid(line, "%s is %s, which Grid Engine doesn't write there", x.key, jobs.Quote(record[x.key]))
		}
	}
	j.ID, j.Name, j.User, j.Account, j.Partition = named(number, task), record["jobname"], record["owner"], record["project"], record["qname"]
	if j.Account == "NONE" || j.Account == "" {
		j.Account = record["group"]
	}
	if !demands(&j, record["category"]) {
		return invalid(line, "the category %s has a time that isn't one", jobs.Quote(record["category"]))
	}
	outcome(&j, failedCode, exit)
	switch part := record["pe_taskid"]; {
	case part != "NONE" && part != "":
		j.ID, j.Left = j.ID+" "+part, aTask
	case j.Start <= 0 || j.End <= 0:
		if j.Left = "runs that never started"; j.State == requeued {
			j.Left = "runs that never started, of jobs that were re-queued"
		}
	}
	r.Jobs = append(r.Jobs, j)
	return nil
}

// aTask tells why a record of a task is left out.
const aTask = "records of tasks of parallel jobs, whose job has its own"

// ownRuns leaves out the tasks of parallel jobs in records that don't mark them: they run within another run of the
// job.
func (r *Records) ownRuns() {
	of := map[string][]int{}
	for k := range r.Jobs {
		of[r.Jobs[k].ID] = append(of[r.Jobs[k].ID], k)
	}
	for k := range r.Jobs {
		for _, other := range of[r.Jobs[k].ID] {
			a, b := &r.Jobs[k], &r.Jobs[other]
			if a.Left == "" && a.Start >= b.Start && a.End <= b.End && (a.Start > b.Start || a.End < b.End || k < other) {
				a.Left = aTask
			}
		}
	}
}

// moment reads seconds since 1970, or a local time as one of Grid Engine's commands writes it; -/- is none.
func moment(into *int64, s string, zone *time.Location) bool {
	if s == "-/-" || s == "" || whole(into, s) {
		return true
	}
	for _, layout := range []string{time.ANSIC, "01/02/2006 15:04:05", "2006-01-02T15:04:05"} {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			*into = t.Unix()
			return *into >= 0 && *into <= most
		}
	}
	return false
}
