// SPDX-License-Identifier: MIT

package instances

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/model"
)

// jobLogs makes the instances' copies of the fields 11 to 18 of a log's jobs, once for equal fields.
type jobLogs struct {
	names  *swf.Names
	queues map[int64]string // by the header
	known  map[model.JobLog]*model.JobLog
}

// logOf returns the log's fields of a job, nil if it has none.
func (l *jobLogs) logOf(j *swf.Job) *model.JobLog {
	queue := l.queues[j.Queue]
	if queue == "" {
		queue = tag(j.Queue)
	}
	x := model.JobLog{User: tag(j.User), Group: tag(j.Group), Executable: tag(j.Executable), Queue: queue, Partition: tag(j.Partition)}
	if n := l.names; n != nil {
		x = model.JobLog{User: named(n.Users, j.User), Group: named(n.Groups, j.Group), Executable: named(n.Executables, j.Executable),
			Queue: named(n.Queues, j.Queue), Partition: named(n.Partitions, j.Partition)}
	}
	if j.Preceding > 0 { // jobs are numbered from 1
		x.Preceding, x.ThinkS = tag(j.Preceding), min(float64(max(0, j.Think)), mostThink)
	}
	if statuses := model.JobStatuses(); j.Status >= 0 && j.Status < int64(len(statuses)) {
		x.Status = statuses[j.Status]
	}
	if x == (model.JobLog{}) {
		return nil
	}
	if l.known[x] == nil {
		l.known[x] = &x
	}
	return l.known[x]
}

// mostThink bounds times between jobs, as an instance does.
const mostThink = 1e9

// tag returns a number in place of a name, "" if it isn't known.
func tag(n int64) string {
	if n < 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// named returns the name of a number, "" if it isn't known.
func named(names []string, n int64) string {
	if n < 0 || n >= int64(len(names)) {
		return ""
	}
	return names[n]
}

// namesOf returns the names of queues or partitions, the key, in the header ("; Queue: 1 batch"), if they are unique and
// aren't numbers.
func namesOf(h swf.Header, key string) map[int64]string {
	names, times := map[int64]string{}, map[string]int{}
	for _, f := range h {
		var n int64
		var name string
		if !strings.EqualFold(f.Key, key) {
			continue
		}
		if _, err := fmt.Sscan(f.Value, &n, &name); err != nil || n < 0 || names[n] != "" {
			continue
		}
		if _, err := strconv.Atoi(name); err == nil {
			continue
		}
		names[n] = name
		times[name]++
	}
	for n, name := range names {
		if times[name] > 1 {
			delete(names, n)
		}
	}
	return names
}
