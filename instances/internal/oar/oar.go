// SPDX-License-Identifier: MIT

// Package oar reads what OAR writes: oarstat -J, with -f and with -g, and the tables of its database as CSV. It follows
// OAR 2.5.9.
package oar

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/instances/internal/jobs"
	"github.com/gapwise/gapwise/instances/internal/keys"
	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/model"
)

// Records are the jobs of a file.
type Records struct {
	format string
	lacks  string // what the format doesn't tell
	jobs   []record
	nodes  []jobs.Node // nil: untold
	text   []byte      // of all jobs, with the keys of oarstat -f -J
}

// record is a job, with the keys of oarstat -f -J.
type record struct {
	Number       int64             `json:"Job_Id"`
	Owner        string            `json:"owner"`
	Name         string            `json:"name"`
	Queue        string            `json:"queue"`
	Project      string            `json:"project"`
	State        string            `json:"state"`
	Submit       int64             `json:"submissionTime"`
	Start        int64             `json:"startTime"`
	Stop         int64             `json:"stopTime"`
	Planned      int64             `json:"scheduledStart"`
	Walltime     int64             `json:"walltime"` // 0, null: unknown
	Resources    []json.RawMessage `json:"assigned_resources"`
	Hosts        []string          `json:"assigned_network_address"`
	Reservation  string            `json:"reservation"`
	Message      string            `json:"message"` // R=4,W=0:10:0,J=B,N=r1 (Karma=1.724,quota_ok)
	Wanted       *string           `json:"wanted_resources"`
	Properties   string            `json:"properties"`
	Types        []string          `json:"types"`
	Dependencies []json.RawMessage `json:"dependencies"`
	Events       []event           `json:"events"`
	Resubmitted  int64             `json:"resubmit_job_id"`
	Exit         int64             `json:"exit_code"`

	// These tell nothing for an instance.
	Array    keys.Ignored `json:"array_id"`
	Index    keys.Ignored `json:"array_index"`
	Command  keys.Ignored `json:"command"`
	CPUSet   keys.Ignored `json:"cpuset_name"`
	Request  keys.Ignored `json:"initial_request"`
	Kind     keys.Ignored `json:"jobType"`
	JobUser  keys.Ignored `json:"job_user"`
	Folder   keys.Ignored `json:"launchingDirectory"`
	Reserved keys.Ignored `json:"reserved_resources"`
	Output   keys.Ignored `json:"stdout_file"`
	Latest   keys.Ignored `json:"limit_stop_time"` // of oarstat -g, the start and the walltime
	Error    keys.Ignored `json:"stderr_file"`

	alternatives int // moldable ones
	line         int
}

type event struct {
	Type   string       `json:"type"`
	Date   keys.Ignored `json:"date"`
	Text   keys.Ignored `json:"description"`
	Number keys.Ignored `json:"event_id"`
	Job    keys.Ignored `json:"job_id"`
	Check  keys.Ignored `json:"to_check"`
}

// others are the keys of oarstat -f -J by what they are in oarstat -g -J. Earlier releases call resources so.
var others = map[string]string{"job_id": "Job_Id", "user": "owner", "job_name": "name", "queue_name": "queue", "submission_time": "submissionTime",
	"start_time": "startTime", "stop_time": "stopTime", "resource_id": "assigned_resources", "resources": "assigned_resources", "network_address": "assigned_network_address", "job_type": "jobType",
	"launching_directory": "launchingDirectory"}

// renamed gives jobs the keys of oarstat -f -J. Earlier releases tell a job's number as its key alone.
func renamed(all map[string]json.RawMessage) error {
	for id, text := range all {
		var job map[string]json.RawMessage
		if err := json.Unmarshal(text, &job); err != nil {
			return err
		}
		for other, key := range others {
			if value, ok := job[other]; ok {
				job[key] = value
				delete(job, other)
			}
		}
		if _, err := strconv.ParseUint(id, 10, 63); err == nil && job["Job_Id"] == nil {
			job["Job_Id"] = json.RawMessage(id)
		}
		all[id], _ = json.Marshal(job)
	}
	return nil
}

// BeginsJSON reports whether the keys of an object are those of oarstat's.
func BeginsJSON(object map[string]json.RawMessage) bool {
	if object["jobs"] != nil && object["dead_resources"] != nil {
		return true
	}
	for id, job := range object {
		if _, err := strconv.ParseUint(id, 10, 63); err != nil || !bytes.Contains(job, []byte(`"Job_Id"`)) {
			return false
		}
	}
	return len(object) > 0
}

// Advice names the commands with output that is read.
const Advice = "give oarstat -f -J, oarstat -g -J or the table jobs.csv with the others beside it"

// Read reads a file. Of a table, beside returns the others by their names. Errors wrap model.ErrInvalid.
func Read(text []byte, beside func(name string) ([]byte, error)) (*Records, error) {
	if BeginsTable(text) {
		return readTables(text, beside)
	}
	var object, all map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, invalid("%w", model.JSONError(text, err))
	}
	r := &Records{format: "oarstat -f -J"}
	if all = object; BeginsJSON(object) && object["jobs"] != nil {
		r.format, r.lacks = "oarstat -g -J", "oarstat -g tells no dependencies, advance reservations, Karma and waiting besteffort jobs: oarstat -f -J does"
		var resources []resource
		all = nil
		if err := json.Unmarshal(object["jobs"], &all); err != nil {
			return nil, invalid("jobs: %w", err)
		}
		if object["resources"] != nil {
			if err := json.Unmarshal(object["resources"], &resources); err != nil {
				return nil, invalid("resources: %w", err)
			}
			r.nodes = nodes(resources)
		}
	}
	var made map[string]record
	full := r.lacks != ""
	err := renamed(all)
	if err == nil {
		r.text, _ = json.Marshal(all)
		err = json.Unmarshal(r.text, &made)
	}
	if err != nil {
		return nil, invalid("%w", err)
	}
	for _, id := range slices.Sorted(maps.Keys(made)) {
		x := made[id]
		if full = full || x.Wanted != nil; x.Wanted != nil {
			x.alternatives = strings.Count(" "+*x.Wanted, " -l ")
		}
		r.jobs = append(r.jobs, x)
	}
	if !full {
		r.format, r.lacks = "oarstat -J", "oarstat -J tells no planned starts, ends, moldable alternatives and events: oarstat -f -J does"
	}
	return r, nil
}

// The message of a job tells its size, its walltime and the Karma of its user.
var (
	wantsSize = jobs.Pattern(`\bR=(\d{1,9})\b`)
	wantsTime = jobs.Pattern(`\bW=(\d{1,6}):(\d{1,2}):(\d{1,2})\b`)
	karmaOf   = jobs.Pattern(`\bKarma=(-?[0-9.]+)`)
	// usual are the properties that OAR itself adds.
	usual = jobs.Pattern(`(besteffort|desktop_computing|drain) *= *'(YES|NO)'|\bAND\b|[() ]`)
)

// mostTime bounds times, so that their sums don't overflow.
const mostTime = 1 << 40

// Log makes a log of the jobs; see jobs.Take.
func (r *Records) Log(o *jobs.Options, a *model.Account) (*swf.Log, error) {
	a.Files[0].Format = "OAR, " + r.format
	open := map[string]bool{} // jobs that haven't ended
	for k := range r.jobs {
		if x := &r.jobs[k]; x.State != "Terminated" && x.State != "Error" {
			open[strconv.FormatInt(x.Number, 10)] = true
		}
	}
	all := make([]jobs.Job, len(r.jobs))
	priority := make(map[string]float64, len(all))
	again := 0
	for k := range r.jobs {
		x := &r.jobs[k]
		j, err := x.job(open)
		if err != nil {
			return nil, err
		}
		if all[k] = j; j.Phase == jobs.Waits {
			priority[j.ID] = x.priority()
		}
		if x.Resubmitted > 0 && j.Left == "" {
			again++
		}
	}
	order.Stable(all, func(a, b jobs.Job) int {
		return cmp.Or(cmp.Compare(priority[a.ID], priority[b.ID]), jobs.BySubmission(a, b))
	})
	log, err := jobs.Take("OAR", all, r.nodes, o, a)
	if err != nil {
		return nil, err
	}
	if r.lacks != "" {
		a.NotModelled.Say("%s", r.lacks)
	}
	a.Remarks.Count(again, "jobs submitted again for others, which were killed")
	a.Remarks.Say("OAR's default queues share fairly (Karma), plan 61 s behind each walltime and leave holes under 300 s empty: a replay is another policy")
	if r.text != nil {
		keys.Tell(r.text, map[string]record{}, a)
	}
	return log, nil
}

// priority returns the place of a waiting job: besteffort jobs are last, the others by the Karma.
func (x *record) priority() float64 {
	p := 0.0
	if m := karmaOf().FindStringSubmatch(x.Message); m != nil {
		p, _ = strconv.ParseFloat(m[1], 64)
	}
	if x.besteffort() {
		p += 1e9
	}
	return p
}

func (x *record) besteffort() bool {
	return x.Queue == "besteffort" || slices.Contains(x.Types, "besteffort")
}

// job returns the job of a record. Jobs of open haven't ended.
func (x *record) job(open map[string]bool) (jobs.Job, error) {
	j := jobs.New(x.line)
	j.ID, j.User, j.Account, j.Partition, j.Name = strconv.FormatInt(x.Number, 10), x.Owner, x.Project, x.Queue, x.Name
	if min(x.Number, x.Submit, x.Start, x.Stop, x.Planned, x.Walltime) < 0 || max(x.Submit, x.Start, x.Stop, x.Planned, x.Walltime) > mostTime {
		return j, invalid("job %d: its number, a time or its walltime is negative or too large", x.Number)
	}
	j.Submit, j.State, j.Limit = x.Submit, x.State, x.Walltime
	j.CPUs = distinct(x.Resources, func(id json.RawMessage) string { return string(id) }) // -g lists them once for each type of the job
	if j.Hosts = slices.Compact(slices.Sorted(slices.Values(x.Hosts))); j.Hosts != nil {
		j.Nodes = int64(len(j.Hosts))
	}
	if m := wantsTime().FindStringSubmatch(x.Message); m != nil && j.Limit == 0 {
		for _, part := range m[1:] {
			n, _ := strconv.ParseInt(part, 10, 64)
			j.Limit = 60*j.Limit + n
		}
	}
	if j.Limit == 0 {
		j.Limit = jobs.Unknown
	}
	x.asks(&j)
	reserved := x.Reservation != "" && x.Reservation != "None"
	switch x.State {
	case "Terminated", "Error", "toError":
		x.ended(&j, reserved)
	case "Waiting", "Hold", "toAckReservation":
		j.Phase = jobs.Waits
		if m := wantsSize().FindStringSubmatch(x.Message); m != nil && j.CPUs == 0 {
			j.CPUs, _ = strconv.ParseInt(m[1], 10, 64)
		}
		if j.Planned = cmp.Or(x.Planned, x.Start); j.Planned == 0 {
			j.Planned = jobs.Unknown
		}
		switch {
		case x.State == "Hold":
			j.Left = "jobs on hold"
		case reserved || x.State == "toAckReservation":
			j.Left = "jobs of advance reservations, waiting for their time"
		case slices.ContainsFunc(x.Dependencies, func(d json.RawMessage) bool { return open[strings.Trim(string(d), `"`)] }):
			j.Left = "jobs waiting for others to end (dependencies)"
		}
	case "toLaunch", "Launching", "Running", "Suspended", "Resuming", "Finishing":
		j.Phase = jobs.Runs
		if j.Start = x.Start; x.Start == 0 {
			j.Start = jobs.Unknown
		}
	default:
		return j, invalid("job %d: its state %s isn't known", x.Number, jobs.Quote(x.State))
	}
	return j, nil
}

// distinct returns the number of different things.
func distinct[T any](all []T, name func(T) string) int64 {
	seen := map[string]bool{}
	for _, x := range all {
		seen[name(x)] = true
	}
	return int64(len(seen))
}

// ended completes a job that has ended. The state Error is many things.
func (x *record) ended(j *jobs.Job, reserved bool) {
	switch {
	case len(x.Resources) > 0 && x.Start > 0:
		j.Start, j.End = x.Start, x.Stop
	case reserved:
		j.Left = "reservations that were refused"
	default:
		j.Left = "jobs that never started"
	}
	happened := func(what string) bool {
		for _, e := range x.Events {
			if e.Type == what {
				return true
			}
		}
		return false
	}
	j.Status = swf.StatusFailed
	switch {
	case x.State == "Terminated":
		if j.State = "ended"; x.Exit == 0 {
			j.Status = swf.StatusCompleted
		}
	case happened("WALLTIME"):
		j.State = "killed at its walltime"
	case happened("BESTEFFORT_KILL"):
		j.State = "killed for another"
	case happened("FRAG_JOB_REQUEST"):
		j.State, j.Status = "deleted", swf.StatusCancelled
	}
}

// asks notes for what a job asks that no instance has a place for.
func (x *record) asks(j *jobs.Job) {
	for _, ask := range []struct {
		has  bool
		text string
	}{
		{x.besteffort(), "jobs of the type besteffort, made to give way to others"},
		{len(x.Dependencies) > 0, "jobs with dependencies, on which a part of the wait is spent"},
		{x.alternatives > 1, "jobs that are moldable, each as its first or its chosen alternative"},
		{x.Reservation != "" && x.Reservation != "None", "jobs of advance reservations, taken as jobs of the queue"},
		{usual().ReplaceAllString(x.Properties, "") != "", "jobs asking for resources with properties"},
	} {
		if ask.has {
			j.Ask(ask.text)
		}
	}
}

// resource is a row of the table of resources, in oarstat -g -J, too.
type resource struct {
	Type    string `json:"type"`
	Address string `json:"network_address"`
	State   string `json:"state"`
}

// nodes joins the resources of a host that are alive to a node, which is down without any.
func nodes(all []resource) (made []jobs.Node) {
	at := map[string]int{}
	for _, x := range all {
		if x.Type != "default" && x.Type != "" {
			continue // licences, disks
		}
		k, ok := at[x.Address]
		if !ok {
			k, at[x.Address] = len(made), len(made)
			made = append(made, jobs.Node{Name: x.Address, MemoryMB: jobs.Unknown, Partitions: []string{jobs.AnyPartition}, State: x.State})
		}
		if n := &made[k]; x.State == "Alive" {
			n.CPUs, n.Up = n.CPUs+1, true
		}
	}
	return made
}

func invalid(format string, args ...any) error {
	return jobs.Invalid("file of OAR", 0, format, args...)
}
