// SPDX-License-Identifier: MIT

package slurm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gapwise/gapwise/instances/internal/jobs"
)

// object is a JSON object of which few keys are read.
type object map[string]json.RawMessage

// text returns the value at a path (time/start) as a table has it, and whether it is there.
func (o object) text(path string) (string, bool) {
	key, rest, deeper := strings.Cut(path, "/")
	raw, there := o[key]
	if !there {
		return "", false
	}
	if deeper {
		var inner object
		if json.Unmarshal(raw, &inner) != nil || inner == nil {
			return "", false
		}
		return inner.text(rest)
	}
	var v any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return "", false
	}
	return plain(v), true
}

// first returns the first text that is there.
func (o object) first(paths ...string) (text, path string) {
	for _, p := range paths {
		if text, ok := o.text(p); ok {
			return text, p
		}
	}
	return "", ""
}

// number returns a number, Unknown if there is none.
func (o object) number(paths ...string) int64 {
	x := int64(jobs.Unknown)
	text, _ := o.first(paths...)
	if !digits(&x, text) {
		return jobs.Unknown
	}
	return x
}

// plain returns a value as a table has it. A number may be an object that says whether it is set or infinite, since the
// data parser of 23.02; lists are of names or of resources.
func plain(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case json.Number:
		return x.String()
	case bool:
		return map[bool]string{true: "true"}[x]
	case []any:
		var all []string
		for _, y := range x {
			all = append(all, plain(y))
		}
		return strings.Join(all, ",")
	case map[string]any:
		name := plain(x["type"])
		switch {
		case x["infinite"] == true:
			return unlimited
		case x["set"] == false:
			return ""
		case name == "":
			return plain(x["number"])
		}
		if more := plain(x["name"]); more != "" {
			name += "/" + more
		}
		return name + "=" + plain(x["count"])
	}
	return ""
}

const unlimited = "UNLIMITED"

// readJSON reads the jobs that sacct --json or squeue --json prints, as Slurm 22.05 and later have it.
func readJSON(text []byte) (*Table, error) {
	var file struct {
		Jobs       []object        `json:"jobs"`
		LastUpdate json.RawMessage `json:"last_update"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, invalid(0, "it isn't the JSON of sacct or squeue: %v", err)
	}
	t := newTable(time.UTC, func(c column) bool { return c.paths != nil || c.names[0] == "jobid" })
	now := object{"now": file.LastUpdate}.number("now")
	if now <= 0 { // 22.05 doesn't tell it
		for _, o := range file.Jobs {
			now = max(now, o.number("submit_time"), o.number("last_sched_evaluation"))
		}
	}
	for k, o := range file.Jobs {
		t.unknown(o)
		where := fmt.Sprintf("jobs[%d].", k)
		first := len(t.Jobs)
		err := t.add(0, where, func(c int) (string, string) {
			name := columns[c].names[0]
			if name == "jobid" {
				return o.id(), "job_id"
			}
			text, path := o.first(columns[c].paths...)
			if name == "timelimitraw" && path != "" && text == "" { // null, or not set
				text = unlimited
			}
			return text, path
		})
		if err != nil {
			return nil, err
		}
		for i := first; i < len(t.Jobs); i++ {
			if j := &t.Jobs[i]; j.Elapsed < 0 && runs(j.State) && j.Start >= 0 { // squeue
				since, before := j.Start, int64(0)
				if at := o.number("suspend_time"); at > 0 {
					since, before = at, max(0, o.number("pre_sus_time"))
				}
				if j.Elapsed = before; j.State != "SUSPENDED" {
					j.Elapsed += max(0, now-since)
				}
			}
		}
	}
	return t, nil
}

// id returns the name of a job as a table has it: with its task, its tasks or its component.
func (o object) id() string {
	id, _ := o.first("job_id")
	if whole := o.number("het/job_id", "het_job_id"); whole > 0 {
		return fmt.Sprintf("%d+%d", whole, max(0, o.number("het/job_offset", "het_job_offset")))
	}
	array := o.number("array/job_id", "array_job_id")
	if array <= 0 {
		return id
	}
	if task := o.number("array/task_id", "array_task_id"); task >= 0 {
		return fmt.Sprintf("%d_%d", array, task)
	}
	if list, _ := o.first("array/task", "array_task_string"); list != "" {
		return fmt.Sprintf("%d_[%s]", array, list)
	}
	return id
}

// readNodesJSON reads the nodes of scontrol show node --json, and of sinfo --json, which lists groups of nodes since 23.02.
func readNodesJSON(text []byte) (all []jobs.Node, err error) {
	var file struct {
		Nodes []object `json:"nodes"`
		Sinfo []object `json:"sinfo"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, invalid(0, "it isn't the JSON of nodes: %v", err)
	}
	for _, o := range slices.Concat(file.Nodes, file.Sinfo) {
		names, path := o.first("nodes/nodes", "name")
		each := strings.Split(names, ",")
		if path == "" || names == "" || strings.Contains(names, "[") {
			return nil, invalid(0, "%s isn't the name of one node; give the output of %s", jobs.Quote(names), NodesAdvice)
		}
		n := jobs.Node{MemoryMB: o.number("real_memory", "memory/minimum"), CPUs: o.number("effective_cpus", "cpus/total", "cpus")}
		if _, ok := o["effective_cpus"]; !ok { // 22.05
			usable := jobs.New(0)
			if text, _ := o.text("tres"); tres(&usable, text) && usable.CPUs > 0 {
				n.CPUs = usable.CPUs
			}
		}
		if n.CPUs < 0 {
			return nil, invalid(0, "node %s has no number of CPUs; give the output of %s", jobs.Quote(names), NodesAdvice)
		}
		gres, _ := o.first("gres/total", "gres")
		n.GPUs = gpus(gres)
		states, _ := o.first("node/state", "state")
		flags, _ := o.text("state_flags")
		n.State = strings.ToUpper(strings.ReplaceAll(strings.TrimSuffix(states+","+flags, ","), ",", "+"))
		features, _ := o.first("features/active", "active_features")
		n.Features = listed(features)
		partitions, _ := o.first("partition/name", "partitions")
		n.Partitions = strings.Split(partitions, ",")
		cpus := n.CPUs
		for k, name := range each { // a group tells its CPUs in all
			n.Name, n.CPUs = name, cpus*int64(k+1)/int64(len(each))-cpus*int64(k)/int64(len(each))
			all = append(all, n)
		}
	}
	return all, nil
}
